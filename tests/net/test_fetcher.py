"""A file behind a URL answers as the local file does, to the bit, and reads little of it. The server is on loopback and counts."""

import multiprocessing
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from servers.range_server import RangeServer, ask_with_cache

import ragfile
from ragfile.errors import ChangedError, CorruptError, RemoteError
from ragfile.ingest.analysis import Analysis
from ragfile.net import fetcher

pytest.importorskip("httpx2", reason="the http extra is not installed")

DIM = 64
WORDS = [f"w{i}" for i in range(2000)]


def _chunks(rng, first, count):
    share = 1 / np.arange(1, len(WORDS) + 1)
    texts = rng.choice(WORDS, size=(count, 30), p=share / share.sum())
    return [
        {
            "doc_id": f"doc{(first + i) // 3:07d}",
            "chunk_index": (first + i) % 3,
            "content": " ".join(texts[i]),
            "metadata": {"year": (first + i) % 30, "keywords": [f"k{i % 50}"]},
        }
        for i in range(count)
    ]


def _made(path, count, seed=1, **options):
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((count, DIM)).astype(np.float32)
    with ragfile.create(path, dim=DIM, metric="cosine", **options) as w:
        w.add(_chunks(rng, 0, count), vectors)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """one: a segment; many: four segments, deletions, an empty document's name, a stale list."""
    folder = tmp_path_factory.mktemp("remote")
    one, many = str(folder / "one.ragfile"), str(folder / "many.ragfile")
    _made(one, 9000)
    _made(many, 3000)
    rng = np.random.default_rng(5)
    for first in (3000, 4500, 6000):
        with ragfile.edit(many, message=f"from {first}") as w:
            w.add(_chunks(rng, first, 1500), rng.standard_normal((1500, DIM)).astype(np.float32))
            w.delete([f"doc{first // 3 - n:07d}" for n in range(1, 120, 7)])
    return {"one": one, "many": many}


@pytest.fixture
def server(files):
    with RangeServer({name: _bytes(path) for name, path in files.items()}) as server:
        yield server


@pytest.fixture(autouse=True)
def poison(monkeypatch):
    """What was not fetched reads as noise, not as zeros: whoever reads it without asking gets wrong answers."""
    blank = fetcher.Fetcher._blank

    def poisoned(self):
        file = blank(self)
        for at in range(0, self.size, 1 << 20):
            os.pwrite(file.fileno(), b"\xa5" * min(1 << 20, self.size - at), at)
        return file

    monkeypatch.setattr(fetcher.Fetcher, "_blank", poisoned)
    monkeypatch.setattr(fetcher, "FIRST_WAIT", 0.001)


def _bytes(path):
    with open(path, "rb") as file:
        return file.read()


def _questions(rng, count=6):
    return [" ".join(rng.choice(WORDS[5:], size=int(rng.integers(1, 5)))) for _ in range(count)]


# --------------------------------------------------------------------------------------------------------- the same --


@pytest.mark.parametrize("name", ["one", "many"])
@pytest.mark.parametrize("mode", ["bm25", "vector", "hybrid", "keyword"])
def test_every_mode_answers_as_the_local_file_does(files, server, name, mode):
    rng = np.random.default_rng(7)
    with ragfile.open(files[name]) as local, ragfile.open(server.url(name)) as far:
        for question in [*_questions(rng), "k7", "doc0000012", "doc0000012#1"]:
            vector = rng.standard_normal(DIM).astype(np.float32)
            for where in (None, {"year": {"$lt": 9}}, {"year": 3}, [5, 6, 7]):
                options = {"mode": mode, "vector": vector, "where": where, "k": 7}
                expected, found = local.search(question, **options), far.search(question, **options)
                assert found == expected
                assert found.degraded == expected.degraded


@pytest.mark.parametrize("name", ["one", "many"])
def test_raw_answers_and_batches_are_the_same_bits(files, server, name):
    rng = np.random.default_rng(3)
    questions, vectors = _questions(rng, 40), rng.standard_normal((80, DIM)).astype(np.float32)
    with ragfile.open(files[name]) as local, ragfile.open(server.url(name)) as far:
        mask = rng.random(local.rows.count) < 0.004
        for where in (None, mask, ~mask):
            for ask in (
                lambda rf, w=where: rf.match(questions, 20, where=w),
                lambda rf, w=where: rf.nearest(vectors, 20, where=w),
            ):
                expected, found = ask(local), ask(far)
                assert found[0].tobytes() == expected[0].tobytes()
                assert found[1].tobytes() == expected[1].tobytes()


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
def test_vectors_without_a_norm_and_odd_ones_rank_the_same(tmp_path, metric):
    path, rng = str(tmp_path / "kb"), np.random.default_rng(2)
    vectors = rng.standard_normal((700, 16)).astype(np.float32)
    vectors[3], vectors[9] = 0, 1e30
    with ragfile.create(path, dim=16, metric=metric) as w:
        w.add(
            [{"doc_id": f"d{i}", "chunk_index": 0, "content": "pods"} for i in range(700)], vectors
        )
    with RangeServer({"kb": _bytes(path)}) as server, ragfile.open(path) as local:
        for query in (vectors[5], np.zeros(16, np.float32), vectors[9], vectors[:9]):
            for k in (1, 40, 700):
                with ragfile.open(server.url("kb")) as far:
                    expected, found = local.nearest(query, k), far.nearest(query, k)
                    assert found[0].tobytes() == expected[0].tobytes()
                    assert found[1].tobytes() == expected[1].tobytes()


READS = {
    "info": lambda rf: {name: value for name, value in rf.info.items() if name != "path"},
    "entries": lambda rf: rf.file.entries,
    "documents": lambda rf: list(rf.documents()),
    "document": lambda rf: [rf.document(f"doc{i:07d}") for i in (0, 7, 999, 5000)],
    "chunks": lambda rf: [rf.chunk(row) for row in rf.live_rows()[::97].tolist()],
    "row": lambda rf: [rf.row("doc0000007#2"), rf.row("doc0000007#9"), rf.row("nobody#0")],
    "context": lambda rf: rf.context("doc0000001#2"),
    "sources": lambda rf: rf.sources(["doc0000001#0", "doc0000900#1", "nobody#0"]),
    "sample": lambda rf: rf.rows.sample.tobytes(),
    "columns": lambda rf: rf.rows.mask({"year": {"$gte": 20}}).tobytes(),
    "rows in": lambda rf: rf.file.rows_in(0, rf.info["size"]),
    "vectors": lambda rf: [segment.vectors().tobytes() for segment in rf.rows.segments],
    "vector": lambda rf: [rf.vector(row).tobytes() for row in (0, 11, rf.rows.count - 1)],
    "pairs": lambda rf: [(vector.tobytes(), text) for vector, text in rf.file.pairs("vector")],
    "buffers": lambda rf: [
        bytes(rf.file.section(e["name"], e["segment"])) for e in rf.file.entries
    ],
    "views": lambda rf: [
        memoryview(rf.file.section(e["name"], e["segment"]))[-9:].tobytes() for e in rf.file.entries
    ],
    "arrays": lambda rf: [
        np.frombuffer(rf.file.section(e["name"], e["segment"]), np.uint8).sum()
        for e in rf.file.entries
    ],
    "words": lambda rf: [
        word for segment in rf.rows.segments for word in segment.lexicon.vocabulary()
    ],
    "word rows": lambda rf: [
        a.tobytes() for segment in rf.rows.segments for a in segment.lexicon.rows("w3")
    ],
    "lengths": lambda rf: [segment.lexicon.lengths().tobytes() for segment in rf.rows.segments],
    "score": lambda rf: (
        rf.score([1, 5, 7], text="w3 w70").tobytes()
        + rf.score([9, 1], vector=rf.vector(4)).tobytes()
    ),
    "drop_repeats": lambda rf: rf.search("w3 w9", mode="bm25", drop_repeats=True),
    "stale": lambda rf: rf.file.stale_records,
    "verify": lambda rf: rf.file.verify(),
    "raw": lambda rf: [rf.file.raw(at, 300) for at in (0, 5000, rf.info["size"] - 7)],
    "older": lambda rf: rf.file.strategies,
}


@pytest.mark.parametrize("name", ["one", "many"])
@pytest.mark.parametrize("read", READS)
def test_everything_that_reads_asks_first(files, server, name, read):
    with ragfile.open(files[name]) as local, ragfile.open(server.url(name)) as far:
        assert READS[read](far) == READS[read](local)


def test_portable_pairs_are_the_same(tmp_path):
    path = str(tmp_path / "kb")
    with ragfile.create(path, dim=2, portable=True) as w:
        w.add(
            [{"doc_id": f"d{i}", "chunk_index": 0, "content": f"text {i}"} for i in range(50)],
            np.ones((50, 2), np.float32),
        )
    with (
        RangeServer({"kb": _bytes(path)}) as server,
        ragfile.open(path) as local,
        ragfile.open(server.url("kb")) as far,
    ):
        assert list(far.file.pairs("keyword")) == list(local.file.pairs("keyword"))
        assert far.file.lookup("c0000000003") == local.file.lookup("c0000000003")


def test_older_generations_open_and_are_told_by_the_log(files, server):
    from ragfile.write.history import log

    assert log(server.url("many")) == log(files["many"])
    for generation in (1, 2, 3, 4):
        with (
            ragfile.open(files["many"], generation=generation) as local,
            ragfile.open(server.url("many"), generation=generation) as far,
        ):
            assert far.search("w8 w60", mode="bm25") == local.search("w8 w60", mode="bm25")
    with pytest.raises(ValueError, match="has generations 1 to 4, not 9"):
        ragfile.open(server.url("many"), generation=9)


def test_a_newest_commit_that_is_damaged_is_found_out_from_afar(files):
    data = bytearray(_bytes(files["many"]))
    data[-20] ^= 1
    with RangeServer({"kb": bytes(data)}) as server:
        with ragfile.open(server.url("kb")) as rf:
            assert (rf.generation, rf.info["lost_generation"]) == (3, 4)
        with pytest.raises(CorruptError, match="generation 4"):
            ragfile.open(server.url("kb"), strict=True)


def test_a_commit_behind_megabytes_of_a_dead_writers_bytes_is_found(files):
    data = _bytes(files["one"]) + b"\x5a" * (3 << 20)
    with RangeServer({"kb": data}) as server, ragfile.open(server.url("kb")) as rf:
        assert rf.info["tail"] == 3 << 20
        assert server.count <= 7


def test_old_files_and_texts_are_fetched_whole(tmp_path):
    from ragfile.exchange import conversion

    old, text = str(tmp_path / "old.ragfile"), str(tmp_path / "kb.ragmd")
    ragfile.write_pairs(
        old, [], [(np.arange(4, dtype=np.float32) + i, f"text {i}") for i in range(30000)]
    )
    _made(tmp_path / "kb", 40)
    conversion.convert(str(tmp_path / "kb"), text)
    with RangeServer({"old": _bytes(old), "text": _bytes(text)}) as server:
        with ragfile.open(old) as local, ragfile.open(server.url("old")) as far:
            assert np.array_equal(far.vectors(), local.vectors())
        with ragfile.open(text) as local, ragfile.open(server.url("text")) as far:
            assert far.search("w8", mode="bm25") == local.search("w8", mode="bm25")
            assert {**far.info, "path": 0} == {**local.info, "path": 0}
            assert not far.refresh()
        assert ragfile.verify(server.url("old"))[0] == ragfile.verify(server.url("text"))[0] == []


def test_links_in_passages_are_followed_from_afar(tmp_path):
    path, rng = str(tmp_path / "linked"), np.random.default_rng(3)
    with ragfile.create(path) as w:
        for n in range(400):
            text = " ".join(rng.choice(WORDS[:90], size=30))
            links = f"[there]({(n * 7) % 400}.md) and [[{(n * 11) % 400}]]"
            w.add_documents([{"id": f"notes/{n}.md", "text": f"{text} {links}"}])
    with (
        RangeServer({"linked": _bytes(path)}) as server,
        ragfile.open(path) as local,
        ragfile.open(server.url("linked")) as far,
    ):
        for question in ("w3 w9", "w17 w40 w2", "w66"):
            found = local.search(question, 20)
            assert far.search(question, 20) == found
            assert found != local.search(question, 20, hops=0)


# ---------------------------------------------------------------------------------------------------------- requests --


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """100,000 chunks."""
    path = str(tmp_path_factory.mktemp("large") / "kb.ragfile")
    _made(path, 100_000, seed=9)
    return path


@pytest.fixture
def large_server(large):
    with RangeServer({"kb": _bytes(large)}) as server:
        yield server


def test_open_info_and_schema_take_two_requests(large_server, server, large, monkeypatch):
    for each, name in ((large_server, "kb"), (server, "one"), (server, "many")):
        each.forget()
        with ragfile.open(each.url(name)) as rf:
            _ = (
                rf.file.entries,
                rf.file.strategies,
                rf.rows.dim,
                rf.file.config,
                rf.rows.has_vectors,
                rf.rows.has_bm25,
                len(rf),
                repr(rf),
            )
            assert each.count <= 2
            _ = rf.info
            assert each.count <= (2 if name != "many" else 7)  # deleted documents are counted


def test_a_question_by_words_takes_four_requests_and_little_of_the_file(
    large_server, large, monkeypatch
):
    with ragfile.open(large) as local:
        for question in ("w7", "w30 w900", "w8 w77 w1500", "w12 w40 w700 w1100 w1900"):
            with ragfile.open(large_server.url("kb")) as far:
                large_server.forget()
                found, expected = far.match([question], 10), local.match([question], 10)
                assert found[0].tobytes() == expected[0].tobytes()
                assert found[1].tobytes() == expected[1].tobytes()
                assert large_server.count <= 4
                assert large_server.sent < os.path.getsize(large) / 20
                found = far.search(question, mode="bm25")
                assert found == local.search(question, mode="bm25")
                assert large_server.count <= 16
                assert large_server.sent < os.path.getsize(large) / 6


def test_where_all_but_texts_and_vectors_is_little_an_answer_with_its_texts_takes_four_requests(
    tmp_path,
):
    path = str(tmp_path / "kb.ragfile")
    _made(path, 12_000, seed=3)
    with RangeServer({"kb": _bytes(path)}) as server, ragfile.open(path) as local:
        for question in ("w7", "w8 w77 w1500"):
            with ragfile.open(server.url("kb")) as far:
                server.forget()
                assert far.search(question, mode="bm25") == local.search(question, mode="bm25")
                assert server.count <= 4
                assert server.sent < os.path.getsize(path)


@pytest.mark.parametrize("count", [2000, 60_000])
def test_other_weights_of_fields_take_a_few_requests_more(tmp_path, count):
    path, weighed = str(tmp_path / "kb.ragfile"), {"text": 2, "keywords": 7}
    analysis = Analysis(fields=(("text", 1), ("keywords", 3)))
    with ragfile.create(path, embedder="none", analysis=analysis) as w:
        w.add(_chunks(np.random.default_rng(8), 0, count))
    with RangeServer({"kb": _bytes(path)}) as server, ragfile.open(path) as local:
        for fields in (weighed, {"text": 0}):
            with ragfile.open(server.url("kb")) as far:
                far.match("w9", 5)
                server.forget()
                found = far.match("w7 k3", 10, fields=fields)
                assert server.count <= 6
                expected = local.match("w7 k3", 10, fields=fields)
                assert found[0].tobytes() == expected[0].tobytes()
                assert found[1].tobytes() == expected[1].tobytes()


def test_a_question_by_vector_streams_the_shadow_once(large_server, large, monkeypatch):
    rng = np.random.default_rng(4)
    with ragfile.open(large) as local, ragfile.open(large_server.url("kb")) as far:
        large_server.forget()
        shadow = local.file.reader.entry("rag.shadow", 1)
        for turn in range(3):
            query = rng.standard_normal(DIM).astype(np.float32)
            assert far.nearest(query, 10)[0].tobytes() == local.nearest(query, 10)[0].tobytes()
            at, end = shadow["at"], shadow["at"] + shadow["size"]
            touching = [r for r in large_server.requests if r[1] < end and r[2] > at]
            assert len(touching) == 1
            assert touching[0][1] <= at < end <= touching[0][2]
            assert turn or large_server.count <= 40


def test_hybrid_questions_over_a_large_file_are_the_same(large_server, large, monkeypatch):
    rng = np.random.default_rng(4)
    with ragfile.open(large) as local, ragfile.open(large_server.url("kb")) as far:
        for question in _questions(rng, 3):
            vector = rng.standard_normal(DIM).astype(np.float32)
            assert far.search(question, vector=vector) == local.search(question, vector=vector)
        before = large_server.count
        far.search(question, vector=vector, cache=False)
        assert large_server.count == before


def test_reading_on_takes_more_at_a_time(large_server):
    with ragfile.open(large_server.url("kb")) as rf:
        large_server.forget()
        section = rf.file.section("vector", 1)
        for at in range(0, len(section) - 65536, 65536):
            section.check(at, 65536)
        assert large_server.count <= 14


# ----------------------------------------------------------------------------------------------- processes, threads --


def test_threads_that_need_the_same_bytes_fetch_them_once(server, files):
    server.latency = 0.02
    with ragfile.open(files["one"]) as local, ragfile.open(server.url("one")) as far:
        expected = local.search("w8 w60", mode="bm25")
        with ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(far.search, "w8 w60", mode="bm25", cache=False) for _ in range(16)]
            assert all(future.result() == expected for future in asked)
    got = sorted((start, end) for _, start, end, _ in server.requests)
    assert len(set(got)) == len(got)
    assert server.sent < len(server.files["one"])


def test_threads_of_one_scan_share_what_they_fetch(server, files):
    rng = np.random.default_rng(8)
    queries = rng.standard_normal((64, DIM)).astype(np.float32)
    with ragfile.open(files["one"]) as local, ragfile.open(server.url("one")) as far:
        assert (
            far.nearest(queries, 10, threads=4)[0].tobytes()
            == local.nearest(queries, 10, threads=2)[0].tobytes()
        )


def test_a_pickled_reader_opens_again(server, files, tmp_path):
    with ragfile.open(server.url("one"), cache=tmp_path / "kept") as far:
        copy = pickle.loads(pickle.dumps(far))
        assert copy.search("w8", mode="bm25") == far.search("w8", mode="bm25")
        assert type(copy) is type(far)
        copy.close()


def _in_child(far, connection):
    connection.send(
        [far.search(question, mode="bm25", cache=False) for question in ("w8 w60", "w900 w3")]
    )
    connection.close()


def test_a_forked_child_goes_on_by_itself(server, files):
    context = multiprocessing.get_context("fork")
    with ragfile.open(files["one"]) as local, ragfile.open(server.url("one")) as far:
        far.search("w8 w60", mode="bm25")
        here, there = context.Pipe()
        child = context.Process(target=_in_child, args=(far, there))
        child.start()
        expected = [local.search(question, mode="bm25") for question in ("w8 w60", "w900 w3")]
        assert here.poll(30)
        assert here.recv() == expected
        child.join(30)
        assert child.exitcode == 0
        assert far.search("w900 w3", mode="bm25") == expected[1]


def test_bytes_that_are_there_never_change_whatever_a_server_sends_later(server, files):
    with ragfile.open(files["one"]) as local, ragfile.open(server.url("one")) as far:
        expected = local.search("w8 w60", mode="bm25")
        assert far.search("w8 w60", mode="bm25") == expected
        section = far.file.section("vector", 1)
        seen = [bytes(memoryview(far.file.raw(0, 200)))]
        server.tags["one"] = server.tag("one")
        server.files["one"] = b"\xff" * len(server.files["one"])
        with pytest.raises(CorruptError):
            section.check()
        assert [far.file.raw(0, 200)] == seen
        assert far.search("w8 w60", mode="bm25", cache=False) == expected


def test_a_closed_reader_says_so_and_its_views_live(server):
    far = ragfile.open(server.url("one"))
    vector = far.vector(3)
    kept = vector.copy()
    section = far.file.section("rag.text", 1)
    far.close()
    far.close()
    assert np.array_equal(vector, kept)
    section.check()
    with pytest.raises(ValueError, match="is closed"):
        far.search("w8")


# ----------------------------------------------------------------------------------------------------------- changes --


def test_a_changed_object_is_an_error_that_names_it_and_refresh_opens_it(server, files):
    far = ragfile.open(server.url("one"))
    assert not far.refresh()
    server.files["one"] = server.files["many"]
    with pytest.raises(ChangedError, match="/one is not the file"):
        far.search("w8 w60", mode="bm25")
    assert far.refresh()
    with ragfile.open(files["many"]) as local:
        assert far.search("w8 w60", mode="bm25") == local.search("w8 w60", mode="bm25")
    assert not far.refresh()


def test_a_refresh_that_fails_leaves_what_was_open(server):
    far = ragfile.open(server.url("one"))
    before = far.search("w8", mode="bm25")
    del server.files["one"]
    with pytest.raises(RemoteError, match="404"):
        far.refresh()
    assert far.search("w8", mode="bm25", cache=False) == before


def test_a_file_that_grew_by_a_commit_is_refreshed(tmp_path):
    path = str(tmp_path / "kb")
    _made(path, 60)
    with RangeServer({"kb": _bytes(path)}) as server, ragfile.open(server.url("kb")) as far:
        with ragfile.edit(path) as w:
            w.delete(["doc0000000"])
        server.files["kb"] = _bytes(path)
        assert far.refresh()
        assert (far.generation, len(far)) == (2, 57)


def test_a_url_is_for_reading(server, tmp_path):
    from ragfile.write import compaction

    url = server.url("one")
    for change in (
        lambda: ragfile.edit(url),
        lambda: compaction.compact(url),
        lambda: ragfile.sync(url, [tmp_path]),
        lambda: ragfile.sync(url, [tmp_path], dry_run=True),
        lambda: ragfile.create(url),
        lambda: ragfile.reindex(url),
        lambda: ragfile.build(str(tmp_path), url),
    ):
        with pytest.raises(ValueError, match="is read-only"):
            change()


# ------------------------------------------------------------------------------------------------------- the cache --


def test_what_is_kept_is_not_fetched_again(server, files, tmp_path):
    rng = np.random.default_rng(3)
    vector = rng.standard_normal(DIM).astype(np.float32)

    def ask():
        server.forget()
        with ragfile.open(server.url("one"), cache=tmp_path / "kept") as far:
            found = far.search("w8 w60", vector=vector), far.search("w9 w61", mode="bm25")
        return found, server.count

    with ragfile.open(files["one"]) as local:
        expected = local.search("w8 w60", vector=vector), local.search("w9 w61", mode="bm25")
    first, again = ask(), ask()
    assert first[0] == again[0] == expected
    assert again[1] == 2


def test_a_cache_with_changed_bytes_costs_a_request_and_nothing_else(server, files, tmp_path):
    folder = tmp_path / "kept"
    with ragfile.open(server.url("one"), cache=folder) as far:
        expected = far.search("w8 w60", mode="bm25")
    (kept,) = folder.iterdir()
    data = bytearray(kept.read_bytes())
    data[:] = bytes(b ^ 0x11 for b in data)
    kept.write_bytes(data)
    server.forget()
    with ragfile.open(server.url("one"), cache=folder) as far:
        assert far.search("w8 w60", mode="bm25") == expected
        assert server.count > 2
        kept.write_bytes(b"")
        assert far.search("w900 w3", mode="bm25") is not None
    server.forget()


def test_a_cache_keeps_only_the_newest_of_a_url(server, tmp_path):
    folder = tmp_path / "kept"
    for name in ("one", "many"):
        ragfile.open(server.url(name), cache=folder).search("w8", mode="bm25")
    assert len(list(folder.iterdir())) == 2
    server.files["one"] = server.files["many"]
    ragfile.open(server.url("one"), cache=folder).search("w8", mode="bm25")
    assert len(list(folder.iterdir())) == 2
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())


def test_another_signature_finds_what_was_kept(server, tmp_path):
    for signature, expected in (("a", None), ("b", 2)):
        server.forget()
        with ragfile.open(server.url("one") + f"?signed={signature}", cache=tmp_path) as far:
            far.search("w8 w60", mode="bm25")
        assert expected in (None, server.count)
    assert len(list(tmp_path.iterdir())) == 1


def test_processes_share_a_cache(server, files, tmp_path):
    folder, context = str(tmp_path / "kept"), multiprocessing.get_context("spawn")
    children = [
        context.Process(target=ask_with_cache, args=(server.url("one"), folder, 3))
        for _ in range(2)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    server.forget()
    ask_with_cache(server.url("one"), folder, 3)
    assert server.count == 6


def test_a_cache_without_room_is_done_without(server, files, tmp_path, monkeypatch, caplog):
    from ragfile.net import block_cache

    def full(*_):
        raise OSError(28, "No space left on device")

    with (
        ragfile.open(files["one"]) as local,
        ragfile.open(server.url("one"), cache=tmp_path / "kept") as far,
    ):
        monkeypatch.setattr(
            block_cache.os,
            "pwrite",
            lambda d, data, at, real=os.pwrite: (
                full()
                if d == far.rows.snapshot.bytes.fetcher._kept._descriptor
                else real(d, data, at)
            ),
        )
        assert far.search("w8 w60", mode="bm25") == local.search("w8 w60", mode="bm25")
        assert "keeps nothing more" in caplog.text


# --------------------------------------------------------------------------------------------------- on the command line --


@pytest.fixture
def told():
    from click.testing import CliRunner

    from ragfile.doors.cli.main import ragfile as command

    return lambda *arguments: CliRunner().invoke(command, arguments, catch_exceptions=False).output


def test_commands_that_read_take_urls(server, files, told, tmp_path):
    for arguments in (
        ("search", "FILE", "w8 w60", "--mode", "bm25", "-k", "3"),
        ("info", "FILE"),
        ("inspect", "FILE"),
        ("inspect", "FILE", "--hex", "4096"),
        ("inspect", "FILE", "--vector", "7"),
        ("log", "FILE"),
        ("verify", "FILE", "--full"),
    ):
        url, path = server.url("many"), files["many"]
        expected = told(*(path if a == "FILE" else a for a in arguments))
        assert told(*(url if a == "FILE" else a for a in arguments)) == expected.replace(path, url)
        if arguments[0] != "verify":
            options = ("--cache", str(tmp_path / "kept"))
            assert told(
                *(url if a == "FILE" else a for a in arguments), *options
            ) == expected.replace(path, url)


def test_a_url_that_cannot_be_read_is_one_line_and_code_1(server):
    import subprocess
    import sys

    for arguments in (
        ["info", server.url("nothing")],
        ["delete", server.url("one"), "doc0000001"],
        ["compact", server.url("one")],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "ragfile", *arguments], capture_output=True, text=True
        )
        assert done.returncode == 1
        assert done.stderr.startswith("ragfile: http://")
        assert done.stderr.count("\n") == 1
