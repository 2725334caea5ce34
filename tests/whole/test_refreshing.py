"""A file that grows while threads ask it: each call answers from one commit, and a refresh that fails changes nothing."""

import gc
import threading
import types

import numpy as np
import pytest

import ragfile
from ragfile.embedding.protocol import Model
from ragfile.errors import FormatError, ModelError
from ragfile.search.file_rows import FileRows
from ragfile.search.opener import FileOpener


def _chunks(tag, count):
    return [
        {"doc_id": f"{tag}{i}", "chunk_index": 0, "content": "pods", "metadata": {"of": tag}}
        for i in range(count)
    ]


def _made(path, tag, count):
    with ragfile.create(path, dim=2) as w:
        w.add(_chunks(tag, count), np.ones((count, 2), np.float32))


def test_a_search_that_a_refresh_overtakes_answers_from_the_commit_that_it_began_with(
    tmp_path, monkeypatch
):
    path = tmp_path / "kb"
    _made(path, "a", 3)
    kb, select = ragfile.open(path), FileRows.select

    def overtaken(self, *args):
        found = select(self, *args)
        monkeypatch.setattr(FileRows, "select", select)
        with ragfile.edit(path) as w:
            w.delete(["a0"])
            w.add(_chunks("b", 5), np.ones((5, 2), np.float32))
        thread = threading.Thread(target=kb.refresh)
        thread.start()
        thread.join()
        return found

    monkeypatch.setattr(FileRows, "select", overtaken)
    hits = kb.search("pods", vector=[1.0, 1.0], where={"of": "a"})
    assert [hit.doc_id for hit in hits] == ["a0", "a1", "a2"]
    assert [hit.doc_id for hit in kb.search("pods", vector=[1.0, 1.0], where={"of": "a"})] == [
        "a1",
        "a2",
    ]
    assert len(kb.search("pods", vector=[1.0, 1.0])) == 7


def test_metadata_that_was_read_of_one_file_is_not_that_of_the_next(tmp_path):
    path = tmp_path / "kb"
    _made(path, "a", 1)
    kb = ragfile.open(path)
    rows = kb.rows.segments[0]
    kb.hit(0)
    _made(path, "b", 1)
    assert kb.refresh()
    assert rows.document_fields(0, rows.records.document(0)) is not None
    assert kb.hit(0).metadata == {"of": "b"}


def test_a_refresh_that_fails_leaves_the_old_commit_open(tmp_path):
    path = tmp_path / "kb"
    _made(path, "a", 3)
    kb = ragfile.open(path)
    (tmp_path / "other").write_bytes(b"RAGFILE\1" + bytes(5000))
    (tmp_path / "other").rename(path)
    for _ in range(2):
        with pytest.raises(FormatError):
            kb.refresh()
        assert len(kb.search("pods", vector=[1.0, 1.0])) == 3


def test_threads_ask_while_the_file_grows(tmp_path):
    path, wrong, over = tmp_path / "kb", [], threading.Event()
    _made(path, "a", 50)
    kb = ragfile.open(path)

    def ask():
        try:
            while not over.is_set():
                hits = kb.search("pods", 10, mode="bm25", where={"of": "a"}, cache=False)
                assert [hit.metadata for hit in hits] == [{"of": "a"}] * 10
                kb.nearest([1.0, 0.0], 3, where={"of": "a"})
        except BaseException as error:  # noqa: BLE001 - told by the main thread
            wrong.append(error)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for n in range(12):
        with ragfile.edit(path) as w:
            w.add(_chunks(f"b{n}-", 9), np.ones((9, 2), np.float32))
        if n % 5 == 4:
            ragfile.compact(path)
        kb.refresh()
    over.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_older_generation_stays_what_it_is_whatever_becomes_of_the_file(tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path) as w:
        w.add_documents([{"id": "d", "text": "first"}])
    with ragfile.edit(path) as w:
        w.upsert([{"id": "d", "text": "second"}])
    with ragfile.open(path, generation=1) as rf:
        for change in (lambda: ragfile.edit(path).close(), lambda: ragfile.compact(path)):
            change()
            assert rf.refresh() is False
            assert rf.document("d").text == "first"


def test_a_file_that_is_closed_during_a_refresh_stays_closed(tmp_path, monkeypatch):
    path = tmp_path / "kb"
    _made(path, "a", 3)
    kb, opened = ragfile.open(path), FileOpener.open
    with ragfile.edit(path) as w:
        w.delete(["a0"])

    def overtaken(self):
        found = opened(self)
        thread = threading.Thread(target=kb.close)
        thread.start()
        thread.join()
        return found

    monkeypatch.setattr(FileOpener, "open", overtaken)
    assert not kb.refresh()
    monkeypatch.undo()
    for ask in (
        kb.refresh,
        lambda: len(kb),
        lambda: kb.search("pods"),
        lambda: kb.nearest([1.0, 1.0]),
    ):
        with pytest.raises(ValueError, match="closed"):
            ask()
    assert "closed" in repr(kb)


def test_the_slower_of_two_refreshes_does_not_bring_back_the_older_commit(tmp_path, monkeypatch):
    path = tmp_path / "kb"
    _made(path, "a", 3)
    kb, opened = ragfile.open(path), FileOpener.open

    def delete(doc_id):
        with ragfile.edit(path) as w:
            w.delete([doc_id])

    def overtaken(self):
        monkeypatch.undo()
        found = opened(self)
        delete("a1")
        thread = threading.Thread(target=kb.refresh)
        thread.start()
        thread.join()
        return found

    delete("a0")
    monkeypatch.setattr(FileOpener, "open", overtaken)
    assert kb.refresh()
    assert kb.generation == 3
    assert len(kb) == 1


def test_threads_close_and_refresh_one_file(tmp_path):
    path, wrong = tmp_path / "kb", []
    _made(path, "a", 3)

    def refresh(kb):
        try:
            for _ in range(100):
                kb.refresh()
        except BaseException as error:  # noqa: BLE001 - told by the main thread
            wrong.append(str(error)) if "closed" not in str(error) else None

    for n in range(20):
        kb = ragfile.open(path)
        threads = [threading.Thread(target=refresh, args=(kb,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        with ragfile.edit(path) as w:
            w.add(_chunks(f"b{n}-", 1), np.ones((1, 2), np.float32))
        kb.close()
        for thread in threads:
            thread.join()
        with pytest.raises(ValueError, match="closed"):
            len(kb)
    assert wrong == []


# ------------------------------------------------------------------------------------------------------------- caches --


def _held(root):
    """Every str, bytes and array that can be reached from an object."""
    seen, waiting, found = set(), [root], []
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | types.ModuleType | types.FunctionType):
            continue
        seen.add(id(one))
        found.append(one) if isinstance(one, str | bytes | np.ndarray) else None
        waiting.extend(gc.get_referents(one))
    return found


def test_no_cache_holds_anything_of_a_deleted_document_after_refresh(tmp_path):
    path, secret = tmp_path / "kb", "xq7zsecret"
    vector = np.array([0.123456, -77.125, 3.1415926, 42.4242], np.float32)
    with ragfile.create(path, dim=4) as w:
        gone = {
            "doc_id": secret + "id",
            "chunk_index": 0,
            "content": f"pods {secret}",
            "tags": [secret + "tag"],
        }
        w.add([{**gone, "metadata": {"of": secret}}], vector[None])
        w.add(_chunks("a", 3), np.ones((3, 4), np.float32))
    kb = ragfile.open(path)
    for mode in ("hybrid", "vector", "bm25"):
        for where in (None, {"of": {"$ne": "nothing"}}):
            found = kb.search("pods", vector=vector, mode=mode, where=where)
            assert secret + "id" in {hit.doc_id for hit in found}
    assert kb.document(secret + "id").text == ""
    assert any(secret in one for one in _held(kb) if isinstance(one, str))
    with ragfile.edit(path) as w:
        w.delete([secret + "id"])
    del found
    assert kb.refresh()
    assert [one for one in _held(kb) if isinstance(one, str) and secret in one] == []
    assert [one for one in _held(kb) if isinstance(one, bytes) and secret.encode() in one] == []
    cached = kb.counters["cached"]
    hits = kb.search("pods", vector=vector)
    assert kb.counters["cached"] == cached
    assert secret + "id" not in {hit.doc_id for hit in hits}
    ragfile.compact(path)
    assert kb.refresh()
    assert [h.id for h in kb.search("pods", vector=vector)] == [h.id for h in hits]


def test_a_reader_of_a_file_whose_model_was_replaced_asks_by_the_new_model(tmp_path):
    class Fixed:
        def __init__(self, name, vector):
            self.model, self.vector = Model(name, len(vector)), vector

        def embed(self, texts, role="document"):
            return np.array([self.vector] * len(texts), np.float32)

    path = tmp_path / "kb"
    with ragfile.create(path, embedder=Fixed("old", [1.0, 0.0])) as w:
        w.add_documents([{"id": "a", "text": "pods"}])
    bound, free = ragfile.open(path, embedder=Fixed("old", [1.0, 0.0])), ragfile.open(path)
    free._current.opened.retrieval.vectors._embedder = Fixed("old", [1.0, 0.0])
    assert free.search("pods", mode="vector")[0].score == 1
    bound.search("pods")
    ragfile.reindex(path, embedder=Fixed("new", [0.0, 3.0, 4.0]))
    with pytest.raises(ModelError, match="built with new"):
        bound.refresh()
    assert bound.search("pods", mode="vector", cache=False)[0].score == 1
    assert free.refresh()
    assert "does not record its embedder" in free.search("pods", mode="vector").degraded
    free._current.opened.retrieval.vectors._embedder = Fixed("new", [0.0, 3.0, 4.0])
    assert free.search("pods", mode="vector")[0].score == 1
