"""What was embedded once is not embedded again, by any process; and the cache never changes an answer."""

import contextlib
import logging
import sqlite3
import subprocess
import sys
import threading

import numpy as np
import pytest
import xxhash

import ragfile
from ragfile.embedding.cache import CachedEmbedder
from ragfile.embedding.protocol import Model, StaticEmbedder
from ragfile.errors import ModelError, ProviderError
from ragfile.ground.cache_folder import default_folder


class Counting:
    """An embedder that remembers what it was asked, and like a server tells its dims only with an answer."""

    def __init__(self, name="counting", dims=None, size=4, **prefixes):
        self.model = Model(name, dims, **prefixes)
        self.size = size
        self.asked = []

    def embed(self, texts, role="document"):
        self.asked.append(list(texts))
        self.model = Model(
            self.model.name, self.size, self.model.query_prefix, self.model.document_prefix
        )
        rows = [
            np.frombuffer(text.encode().ljust(self.size, b".")[: self.size], np.uint8) + len(text)
            for text in texts
        ]
        return np.array(rows, np.float32)


TEXTS = ["one", "two", "three", "two", "字\udc80"[:1]]


def test_texts_are_asked_once(tmp_path):
    counting = Counting()
    cached = CachedEmbedder(counting, tmp_path)
    first, second = cached.embed(TEXTS), cached.embed(TEXTS[::-1])
    assert counting.asked == [["one", "two", "three", "字"]]
    assert first.tobytes() == counting.embed(TEXTS).tobytes()
    assert second.tobytes() == first[::-1].tobytes()
    assert (cached.hits, cached.misses) == (5, 5)


def test_a_later_run_asks_nothing_and_knows_the_dims(tmp_path):
    wanted = CachedEmbedder(Counting(), tmp_path).embed(TEXTS)
    counting = Counting()
    cached = CachedEmbedder(counting, tmp_path)
    assert cached.embed(TEXTS).tobytes() == wanted.tobytes()
    assert counting.asked == []
    assert cached.model == Model("counting", 4)


def test_only_what_is_new_is_asked(tmp_path):
    CachedEmbedder(Counting(), tmp_path).embed(["one", "two"])
    counting = Counting()
    found = CachedEmbedder(counting, tmp_path).embed(["zero", "one", "two", "three"])
    assert counting.asked == [["zero", "three"]]
    assert found.tobytes() == Counting().embed(["zero", "one", "two", "three"]).tobytes()


@pytest.mark.parametrize(
    "other",
    [Counting(name="other"), Counting(dims=5, size=5), Counting(document_prefix="passage: ")],
    ids=["name", "dims", "prefix"],
)
def test_another_model_dims_or_prefix_is_another_entry(tmp_path, other):
    CachedEmbedder(Counting(dims=4), tmp_path).embed(["one"])
    CachedEmbedder(other, tmp_path).embed(["one"])
    assert other.asked == [["one"]]


def test_roles_share_entries_only_when_their_prefixes_are_equal(tmp_path):
    alike, different = Counting(), Counting(name="different", query_prefix="query: ")
    for counting in (alike, different):
        cached = CachedEmbedder(counting, tmp_path)
        cached.embed(["one"], "document")
        cached.embed(["one"], "query")
    assert (len(alike.asked), len(different.asked)) == (1, 2)


def test_a_model_that_changed_its_dims_is_an_error(tmp_path):
    CachedEmbedder(Counting(), tmp_path).embed(["one"])
    with pytest.raises(ModelError, match="5 dims, and did with 4"):
        CachedEmbedder(Counting(size=5), tmp_path).embed(["two"])


def test_no_texts_are_no_rows(tmp_path):
    assert CachedEmbedder(Counting(dims=4), tmp_path).embed([]).shape == (0, 4)


def test_many_texts_fit(tmp_path):
    texts = [f"text {i}" for i in range(3000)]
    embedder = StaticEmbedder()
    for _ in range(2):
        cached = CachedEmbedder(embedder, tmp_path)
        assert cached.embed(texts).tobytes() == embedder.embed(texts).tobytes()
    assert cached.hits == 3000


def test_a_failed_call_leaves_nothing_behind(tmp_path):
    class Failing(Counting):
        def embed(self, texts, role="document"):
            raise ProviderError("down")

    with pytest.raises(ProviderError):
        CachedEmbedder(Failing(), tmp_path).embed(["one"])
    counting = Counting()
    CachedEmbedder(counting, tmp_path).embed(["one"])
    assert counting.asked == [["one"]]


@pytest.mark.parametrize(
    "damage", ["substr(vector, 1, 3)", "zeroblob(16)", "NULL", "'text'", "vector || zeroblob(4)"]
)
def test_a_torn_entry_is_as_if_it_were_not_there(tmp_path, damage):
    cached = CachedEmbedder(Counting(), tmp_path)
    wanted = cached.embed(["one", "two"])
    with contextlib.closing(sqlite3.connect(cached.path)) as store, store:
        store.execute(f"UPDATE vectors SET vector = {damage}")
    counting = Counting()
    assert CachedEmbedder(counting, tmp_path).embed(["one", "two"]).tobytes() == wanted.tobytes()
    assert counting.asked == [["one", "two"]]


@pytest.mark.parametrize("at", [0, 30, 4096, 5000])
def test_a_damaged_file_is_put_aside_and_the_answer_is_right(tmp_path, at, caplog):
    cached = CachedEmbedder(Counting(), tmp_path)
    wanted = cached.embed([f"text {i}" for i in range(200)])
    data = bytearray(cached.path.read_bytes())
    data[at : at + 600] = b"\xa5" * 600
    cached.path.write_bytes(data)
    for _ in range(2):
        assert (
            CachedEmbedder(Counting(), tmp_path).embed([f"text {i}" for i in range(200)]).tobytes()
            == wanted.tobytes()
        )


def test_a_file_that_is_no_store_is_put_aside(tmp_path, caplog):
    cached = CachedEmbedder(Counting(), tmp_path)
    cached.path.write_bytes(b"not a database, " * 100)
    assert cached.embed(["one"]).shape == (1, 4)
    assert "damaged" in caplog.text
    counting = Counting()
    CachedEmbedder(counting, tmp_path).embed(["one"])  # what was embedded then is in the new one
    assert counting.asked == []


def test_a_store_whose_damage_is_not_even_text_is_put_aside(tmp_path, caplog):
    cached = CachedEmbedder(Counting(), tmp_path)
    wanted = cached.embed(["one"])
    data = cached.path.read_bytes()
    assert b"CREATE TABLE models (" in data
    cached.path.write_bytes(data.replace(b"CREATE TABLE models (", b"CREATE TABL\x87 models ("))
    assert CachedEmbedder(Counting(), tmp_path).embed(["one"]).tobytes() == wanted.tobytes()
    assert "damaged" in caplog.text


@pytest.mark.parametrize("dims", [0, -4, 4.5, "4", "four", b"4"])
def test_dims_that_cannot_be_are_as_if_they_were_not_there(tmp_path, dims):
    cached = CachedEmbedder(Counting(), tmp_path)
    wanted = cached.embed(["one"])
    with contextlib.closing(sqlite3.connect(cached.path)) as store, store:
        store.execute("CREATE TABLE old AS SELECT head FROM models")
        store.execute("DROP TABLE models")
        store.execute("CREATE TABLE models (head TEXT PRIMARY KEY, dims) WITHOUT ROWID")
        store.execute("INSERT INTO models SELECT head, ? FROM old", (dims,))
    assert CachedEmbedder(Counting(), tmp_path).embed(["one"]).tobytes() == wanted.tobytes()


def test_an_entry_that_is_no_finite_vector_is_embedded_again(tmp_path):
    cached = CachedEmbedder(Counting(), tmp_path)
    wanted = cached.embed(["one"])
    value = np.full(4, np.nan, "<f4").tobytes()
    with contextlib.closing(sqlite3.connect(cached.path)) as store, store:
        store.execute(
            "UPDATE vectors SET vector = ?, hash = ?", (value, xxhash.xxh3_64_digest(value))
        )
    assert CachedEmbedder(Counting(), tmp_path).embed(["one"]).tobytes() == wanted.tobytes()


def test_who_has_no_home_or_one_that_cannot_be_looked_into_deletes_as_others_do(
    tmp_path, monkeypatch
):
    def nobody(number):
        raise KeyError(number)

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("RAGFILE_CACHE", raising=False)
    for home in (None, "/" + "x" * 300):
        if home is None:
            monkeypatch.delenv("HOME", raising=False)
            monkeypatch.setattr("pwd.getpwuid", nobody)
        else:
            monkeypatch.setenv("HOME", home)
        with ragfile.create(tmp_path / "kb") as w:
            w.add_documents([{"id": "a", "text": "one"}, {"id": "b", "text": "two"}])
        with ragfile.edit(tmp_path / "kb") as w:
            w.delete(["a"])
        with ragfile.open(tmp_path / "kb") as rf:
            assert [document.id for document in rf.documents()] == ["b"]


def test_a_cache_on_request_needs_a_place(monkeypatch):
    for name in ("XDG_CACHE_HOME", "RAGFILE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("ragfile.ground.cache_folder.user_folder", lambda: None)
    with pytest.raises(ValueError, match="no place for the cache: set RAGFILE_CACHE"):
        CachedEmbedder(Counting())


def test_a_folder_that_cannot_be_used_costs_a_warning_only(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    (tmp_path / "file").write_text("in the way")
    cached = CachedEmbedder(Counting(), tmp_path / "file" / "cache")
    assert cached.embed(["one"]).shape == (1, 4)
    assert "cannot be used" in caplog.text


def test_processes_may_share_a_cache(tmp_path):
    code = (
        "import sys; from ragfile.embedding import StaticEmbedder; from ragfile.embedding.cache import CachedEmbedder;"
        "cached = CachedEmbedder(StaticEmbedder(threads=1), sys.argv[1]); plain = StaticEmbedder(threads=1);"
        "batches = [[f'text {i * 37 % 300 + j}' for j in range(40)] for i in range(25)];"
        "sys.exit(any(cached.embed(b).tobytes() != plain.embed(b).tobytes() for b in batches))"
    )
    running = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", code, str(tmp_path)])
        for _ in range(4)
    ]
    assert [process.wait() for process in running] == [0, 0, 0, 0]


def test_threads_may_share_a_cache(tmp_path):
    cached, plain, wrong = (
        CachedEmbedder(StaticEmbedder(threads=1), tmp_path),
        StaticEmbedder(threads=1),
        [],
    )

    def work(start):
        for i in range(10):
            texts = [f"text {start * i + j}" for j in range(30)]
            wrong.extend(
                [i] if cached.embed(texts).tobytes() != plain.embed(texts).tobytes() else []
            )

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_folder_is_the_users_own(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("RAGFILE_CACHE", raising=False)
    assert default_folder() == tmp_path / "ragfile"
    monkeypatch.setenv("RAGFILE_CACHE", str(tmp_path / "mine"))
    assert default_folder() == tmp_path / "mine"
