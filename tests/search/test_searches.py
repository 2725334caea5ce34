"""Search equals a slow plain oracle in every mode, under filters, over one segment or many; and what is missing is said."""

import inspect
import logging
import os
import pickle
import threading

import numpy as np
import pytest
import xxhash
from oracles import search_cases as oracle
from oracles.search_cases import DIM, Hashed, pieced, question, vector_of, write

import ragfile
from ragfile.errors import ModelError, ProviderError
from ragfile.knowledge_base import KnowledgeBase
from ragfile.records import Plan

FILTERS = int(os.environ.get("RAGFILE_FILTERS", "60"))  # `make -C tests filters` runs a thousand


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """(path, live rows) of a file that was built at once."""
    path = tmp_path_factory.mktemp("whole") / "kb.ragfile"
    rows = oracle.corpus(np.random.default_rng(1), 400, DIM)
    write(path, rows)
    return path, sorted(rows, key=lambda row: row.key)


@pytest.fixture(scope="module")
def pieces(tmp_path_factory, whole):
    """The same rows in three segments, after documents that came and went."""
    path = tmp_path_factory.mktemp("pieces") / "kb.ragfile"
    pieced(path, whole[1], 3)
    return path, whole[1]


@pytest.fixture(scope="module", params=["whole", "pieces"])
def file(request):
    path, rows = request.getfixturevalue(request.param)
    with ragfile.open(path) as rf:
        assert (len(rf.rows.segments) > 1) == (request.param == "pieces")
        yield rf, rows


def answers(expected):
    return [(row.id, score) for row, score in expected]


def found(hits):
    return [(hit.id, hit.score) for hit in hits]


def check_all_modes(
    rf, rows, text, vector, k, pool, where=None, tags_any=(), tags_all=(), passes=lambda row: True
):
    slow = oracle.Oracle(rows, text, vector, passes, pool)
    options = {
        "where": where,
        "tags_any": tags_any,
        "tags_all": tags_all,
        "pool": pool,
        "vector": vector,
    }
    assert found(rf.search(text, k, mode="bm25", **options)) == answers(slow.bm25(k))
    assert found(rf.search(text, k, mode="vector", **options)) == answers(slow.dense(k))
    fused = {
        "rrf": slow.rrf(k),
        ("blend", (("alpha", 0.3),)): slow.blend(k, 0.3),
        ("calibrated", (("evidence", 0),)): slow.calibrated(k, 6.0),
        None: slow.calibrated(k, 6.0, oracle.SLOW.EVIDENCE),
    }
    for fusion, expected in fused.items():
        name = (fusion[0], dict(fusion[1])) if isinstance(fusion, tuple) else fusion
        hits = rf.search(text, k, fusion=name, **options)
        assert [h.id for h in hits] == [row.id for row, _ in expected]
        assert [h.score for h in hits] == pytest.approx(
            [score for _, score in expected], rel=1e-12, abs=1e-12
        )
        for hit, (row, _) in zip(hits, expected, strict=True):
            assert hit.scores == {"bm25": slow.words[row.key], "vector": slow.near[row.key]}
            assert (hit.text, hit.metadata, hit.tags) == (row.text, row.metadata, row.tags)


def test_defaults_are_those_of_a_plan(file):
    for method in (KnowledgeBase.search, KnowledgeBase.search_batch):
        found = {p.name: p.default for p in inspect.signature(method).parameters.values()}
        assert (
            (found["k"], found["pool"], found["mode"])
            == (Plan().k, Plan().pool, "hybrid")
            == (12, 50, "hybrid")
        )
        assert (found["where"], found["tags_any"], found["tags_all"], found["drop_repeats"]) == (
            None,
            (),
            (),
            False,
        )


def test_every_mode_and_fusion_equals_the_oracle(file):
    rng = np.random.default_rng(3)
    for k, pool in (
        (12, 50),
        (1, 1),
        (5, 3),
        (70, 20),
        (12, 400),
        (0, 10),
        (500, 50),
        (3, 1 << 62),
    ):
        check_all_modes(*file, *question(rng), k, pool)


def test_random_filters_equal_brute_force_in_every_mode(file):
    rng = np.random.default_rng(4)
    for _ in range(FILTERS):
        where, tags_any, tags_all, passes = oracle.random_filter(rng)
        check_all_modes(*file, *question(rng), 10, 20, where, tags_any, tags_all, passes)


def test_the_sample_is_of_the_1024_smallest_hashes(tmp_path):
    keys = [(f"d{i % 300}", i // 300) for i in range(1500)]
    with ragfile.create(tmp_path / "kb", dim=2) as w:
        w.add(
            [{"doc_id": d, "chunk_index": i, "content": "x"} for d, i in keys], np.ones((1500, 2))
        )
    hashes = {
        key: xxhash.xxh3_64_intdigest(key[0].encode() + key[1].to_bytes(4, "little"))
        for key in keys
    }
    with ragfile.open(tmp_path / "kb") as rf:
        sampled = [(hit.doc_id, hit.chunk_index) for hit in map(rf.hit, rf.rows.sample)]
    assert sampled == sorted(keys, key=hashes.get)[:1024]


@pytest.mark.parametrize(("is_static", "w"), [(True, 6), (False, 4)])
def test_a_file_records_the_weight_of_its_kind_of_model(tmp_path, is_static, w):
    embedder = Hashed()
    embedder.is_static = is_static
    with ragfile.create(tmp_path / "kb", embedder=embedder) as writer:
        writer.add([{"doc_id": "a", "chunk_index": 0, "content": "x"}])
    with ragfile.open(tmp_path / "kb", embedder=embedder) as rf:
        recorded = {"method": "calibrated", "w": w, "evidence": 0.05, "named": 0.5, "linked": 0.25}
        assert rf.file.config["fusion"] == recorded


def test_a_mask_and_row_numbers_restrict_as_a_condition_does(file):
    rf, _ = file
    text, vector = question(np.random.default_rng(5))
    asked = rf.search(text, 10, where={"lang": "en"}, vector=vector)
    mask = rf.rows.mask({"lang": "en"})
    assert found(rf.search(text, 10, where=mask, vector=vector)) == found(asked)
    assert found(rf.search(text, 10, where=np.flatnonzero(mask), vector=vector)) == found(asked)


def test_a_filter_that_nothing_passes_gives_nothing(file):
    rf, _ = file
    for mode in ("hybrid", "vector", "bm25", "keyword"):
        assert rf.search("waa", mode=mode, where={"lang": "none"}) == []


def test_words_that_do_not_occur_leave_the_vectors_answer(file):
    rf, rows = file
    text, vector = "nowhere", vector_of("x")
    slow = oracle.Oracle(rows, text, vector)
    hits = rf.search(text, 10, vector=vector)
    assert [h.id for h in hits] == [
        row.id for row, _ in slow.calibrated(10, 6.0, oracle.SLOW.EVIDENCE)
    ]
    assert rf.search(text, mode="bm25") == []


def test_a_file_in_pieces_answers_as_one_that_was_built_at_once(whole, pieces):
    rng = np.random.default_rng(6)
    with ragfile.open(whole[0]) as one, ragfile.open(pieces[0]) as many:
        for _ in range(40):
            text, vector = question(rng)
            for fusion in ("calibrated", "rrf", "blend"):
                a, b = (rf.search(text, 15, vector=vector, fusion=fusion) for rf in (one, many))
                assert [(h.id, h.score, h.scores) for h in a] == [
                    (h.id, h.score, h.scores) for h in b
                ]


def test_a_batch_and_any_number_of_threads_answer_as_single_questions_do(file):
    rf, _ = file
    rng = np.random.default_rng(8)
    asked = [question(rng) for _ in range(25)]
    alone = [found(rf.search(text, 9, vector=vector)) for text, vector in asked]
    vectors = np.array([vector for _, vector in asked])
    for threads in (None, 1, 2, 5):
        together = rf.search_batch([text for text, _ in asked], 9, vectors=vectors, threads=threads)
        assert [found(hits) for hits in together] == alone
    assert rf.search_batch([]) == []


def test_equal_rows_come_in_order_of_id_and_index(tmp_path):
    rows = [
        oracle.Row(name, i, "same text", np.ones(DIM, np.float32))
        for name in ("b", "a", "ä", "Z")
        for i in (2, 0, 1)
    ]
    write(tmp_path / "kb", rows[:7])
    with ragfile.edit(tmp_path / "kb") as w:
        w.add(oracle.chunks(rows[7:]), np.array([r.vector for r in rows[7:]]))
    expected = [row.id for row in sorted(rows, key=lambda row: row.key)]
    with ragfile.open(tmp_path / "kb") as rf:
        for options in (
            {"mode": "bm25"},
            {"mode": "vector"},
            {"fusion": ("calibrated", {"evidence": 0})},
            {"fusion": "rrf"},
        ):
            hits = rf.search("same", 50, vector=np.ones(DIM), **options)
            assert [h.id for h in hits][:1] == expected[:1]
            assert sorted(h.id for h in hits) == sorted(expected)
            if options.get("fusion") != "rrf":
                assert [h.id for h in hits] == expected


def test_distinct_leaves_out_what_nearly_repeats_a_better_passage(tmp_path):
    rng = np.random.default_rng(9)
    first = rng.standard_normal(DIM).astype(np.float32)
    rows = [
        oracle.Row("a", 0, "one two", first), oracle.Row("b", 0, "one two", first * 2 + 1e-4),
        oracle.Row("c", 0, "one three", rng.standard_normal(DIM).astype(np.float32)),
    ]  # fmt: skip
    write(tmp_path / "kb", rows)
    with ragfile.open(tmp_path / "kb") as rf:
        assert [h.id for h in rf.search("one", vector=first, drop_repeats=True)] == ["a#0", "c#0"]
        assert len(rf.search("one", vector=first)) == 3
        assert [h.id for h in rf.search("one", 1, vector=first, drop_repeats=True)] == ["a#0"]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "bm25"])
def test_distinct_fills_an_answer_as_long_as_the_pool(tmp_path, mode):
    rng = np.random.default_rng(9)
    rows = []
    for n in range(60):  # two near copies of each
        vector = rng.standard_normal(DIM).astype(np.float32)
        rows += [oracle.Row(f"d{n}", i, f"one word{n}", vector + 1e-4 * i) for i in range(2)]
    write(tmp_path / "kb", rows)
    with ragfile.open(tmp_path / "kb") as rf:
        asked = {"mode": mode, "vector": rows[0].vector, "drop_repeats": True}
        hits = rf.search("one", 50, pool=50, **asked)
        assert len(hits) == 50
        assert len({hit.doc_id for hit in hits}) == 50


def test_a_keyword_is_found_by_id_and_by_the_metadata_that_lists_it(tmp_path):
    with ragfile.create(tmp_path / "kb") as w:
        w.add([
            {"doc_id": "a", "chunk_index": 0, "content": "x", "metadata": {"keywords": ["apple", "pear"]}},
            {"doc_id": "b", "chunk_index": 0, "content": "y", "metadata": {"keywords": ["pear"], "year": 1}},
            {"doc_id": "b", "chunk_index": 1, "content": "z"},
        ])  # fmt: skip
    with ragfile.open(tmp_path / "kb") as rf:

        def ids(query, **options):
            return [h.id for h in rf.search(query, mode="keyword", **options)]

        assert ids("pear") == ["a#0", "b#0"]
        assert ids("pear", where={"year": 1}) == ["b#0"]
        assert ids("b") == ["b#0", "b#1"]
        assert ids("b#1") == ["b#1"]
        assert ids("peach") == []


# ------------------------------------------------------------------------------------------------------ degraded modes --


def test_a_provider_that_is_down_leaves_bm25_and_the_reason(whole):
    errors = (
        ProviderError("no answer from the server"),
        ImportError("no package"),
        OSError("unreachable"),
        RuntimeError("own"),
    )
    for error in errors:
        with ragfile.open(whole[0], embedder=Hashed(error)) as rf:
            hits = rf.search("waa wbb")
            assert hits
            assert {h.score_type for h in hits} == {"bm25"}
            assert str(error) in hits.degraded
            assert rf.search("waa wbb", mode="vector").degraded
    with ragfile.open(whole[0], embedder=Hashed(RuntimeError())) as rf:
        assert rf.search("waa").degraded == "no embedding: RuntimeError"


def test_a_file_that_knows_no_embedder_says_so(whole):
    with ragfile.open(whole[0]) as rf:
        assert "embedder" in rf.search("waa").degraded
        assert rf.search("waa", mode="bm25").degraded == ""


@pytest.mark.parametrize("mode", ["hybrid", "vector"])
def test_a_file_without_vectors_answers_by_words(tmp_path, mode):
    with ragfile.create(tmp_path / "kb") as w:
        w.add([{"doc_id": "a", "chunk_index": 0, "content": "alpha beta"}])
    with ragfile.open(tmp_path / "kb") as rf:
        for vector in (None, np.ones(DIM)):
            hits = rf.search("alpha", mode=mode, vector=vector)
            assert [h.id for h in hits] == ["a#0"]
            assert hits.degraded == "the file has no vectors"


def test_a_file_without_bm25_answers_by_vectors(tmp_path):
    with ragfile.create(tmp_path / "kb", dim=2, analysis=None) as w:
        w.add([{"doc_id": n, "chunk_index": 0, "content": "alpha"} for n in "ab"], [[1, 0], [0, 1]])
    with ragfile.open(tmp_path / "kb") as rf:
        hits = rf.search("alpha", vector=[0, 1])
        assert [h.id for h in hits] == ["b#0", "a#0"]
        assert hits.degraded == "the file has no BM25 index"
        assert rf.search("alpha", vector=[0, 1], mode="vector").degraded == ""
        nothing = rf.search("alpha", mode="bm25")
        assert (nothing, nothing.degraded) == ([], "the file has no BM25 index")


def test_an_empty_file_answers_nothing(tmp_path):
    with ragfile.create(tmp_path / "kb"):
        pass
    with ragfile.open(tmp_path / "kb") as rf:
        for mode in ("hybrid", "vector", "bm25", "keyword"):
            assert rf.search("anything", mode=mode) == []


def test_words_alone_do_not_touch_vectors_and_vectors_alone_do_not_touch_postings(
    whole, monkeypatch
):
    def refuse(*args, **kwargs):
        raise AssertionError("this leg was not asked for")

    with ragfile.open(whole[0]) as rf:
        monkeypatch.setattr(rf, "match", refuse)
        assert rf.search("waa", mode="vector", vector=np.ones(DIM))
        monkeypatch.undo()
        monkeypatch.setattr(rf, "nearest", refuse)
        assert {h.score_type for h in rf.search("waa", mode="bm25", vector=np.ones(DIM))} == {
            "bm25"
        }


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"mode": "psychic"}, ValueError), ({"k": -1}, ValueError), ({"pool": -1}, ValueError), ({"fusion": "magic"}, ValueError),
        ({"vector": [1.0, 2.0]}, ModelError), ({"vector": [float("nan")] * DIM}, ValueError),
        ({"where": {"$bad": 1}}, ValueError), ({"where": np.ones(3, dtype=bool)}, ValueError),
        ({"fusion": ("blend", {"alpha": 1.5})}, ValueError), ({"fusion": ("blend", {"alpha": float("nan")})}, ValueError),
        ({"fusion": ("rrf", {"rrf_k": float("nan")})}, ValueError), ({"fusion": ("calibrated", {"w": 0})}, ValueError),
        ({"fusion": ("rrf", {"k": 10})}, ValueError), ({"fusion": ("calibrated", {"alpha": 0.5})}, ValueError),
    ],
)  # fmt: skip
def test_a_question_that_makes_no_sense_is_refused(whole, options, error):
    with ragfile.open(whole[0]) as rf, pytest.raises(error):
        rf.search("waa", **{"vector": np.ones(DIM), **options})


def test_a_vector_of_other_dimensions_is_refused_when_no_word_is_found_too(whole):
    with ragfile.open(whole[0]) as rf, pytest.raises(ModelError):
        rf.search("nowhere", vector=[1.0, 2.0])


# ------------------------------------------------------------------------------------------- processes, threads, caches --


def test_a_pickled_reader_gives_the_same_answers(whole):
    with ragfile.open(whole[0]) as rf, pickle.loads(pickle.dumps(rf)) as copy:
        assert found(copy.search("waa wbb", vector=np.ones(DIM))) == found(
            rf.search("waa wbb", vector=np.ones(DIM))
        )


def test_many_threads_may_ask_one_reader(whole):
    rng = np.random.default_rng(10)
    texts = [question(rng)[0] for _ in range(400)]
    with ragfile.open(whole[0], embedder=Hashed()) as rf:
        expected, failed = {t: found(rf.search(t, 5, cache=False)) for t in texts}, []

        def ask(offset):
            for text in texts[offset:] + texts[:offset]:
                if found(rf.search(text, 5)) != expected[text]:
                    failed.append(text)

        threads = [threading.Thread(target=ask, args=(n * 97,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == []


def test_a_question_is_embedded_once_and_a_commit_forgets_the_answer(tmp_path):
    write(tmp_path / "kb", oracle.corpus(np.random.default_rng(11), 20, DIM))
    embedder = Hashed()
    with ragfile.open(tmp_path / "kb", embedder=embedder) as rf:
        first = rf.search("waa")
        assert found(rf.search("waa")) == found(first)
        assert embedder.calls == [["waa"]]
        assert rf.counters["cached"] == 1
        assert found(rf.search("waa", cache=False)) == found(first)
        assert (embedder.calls, rf.counters["cached"]) == ([["waa"]], 1)
        with ragfile.edit(tmp_path / "kb") as w:
            w.delete([first[0].doc_id])
        assert rf.refresh()
        assert first[0].doc_id not in {h.doc_id for h in rf.search("waa")}
        assert rf.counters["cached"] == 1


def test_an_answer_is_kept_for_the_very_same_question_only(whole):
    asked = [
        {}, {"k": 5}, {"mode": "bm25"}, {"mode": "vector"}, {"pool": 1}, {"fusion": "rrf"}, {"fusion": ("rrf", {"rrf_k": 1})},
        {"where": {"lang": "en"}}, {"tags_any": ["red"]}, {"tags_all": ["red"]}, {"drop_repeats": True}, {"vector": vector_of("x")},
    ]  # fmt: skip
    with ragfile.open(whole[0], embedder=Hashed()) as rf:
        fresh = [found(rf.search("waa wbb", cache=False, **options)) for options in asked]
        assert [found(rf.search("waa wbb", **options)) for options in asked] == fresh
        assert rf.counters["cached"] == 0
        assert [found(rf.search("waa wbb", **options)) for options in asked] == fresh
        assert rf.counters["cached"] == len(asked)


def test_an_answer_that_lacks_a_leg_is_not_kept(whole):
    embedder = Hashed(OSError("down"))
    with ragfile.open(whole[0], embedder=embedder) as rf:
        assert rf.search("waa").degraded
        embedder.error = None
        assert rf.search("waa").degraded == ""
        assert rf.counters["cached"] == 0


def test_what_one_taker_of_an_answer_read_is_the_next_ones_own(whole):
    with ragfile.open(whole[0]) as rf:
        texts = [hit.text for hit in rf.search("waa", mode="bm25")]
        second = rf.search("waa", mode="bm25")
        second[0].metadata["mine"], second[0].text = 1, "changed"
        third, fresh = rf.search("waa", mode="bm25"), rf.search("waa", mode="bm25", cache=False)
        assert rf.counters["cached"] == 2
        assert [hit.text for hit in third] == texts
        assert list(third) == list(fresh)


def test_a_cached_answer_is_the_callers_own(whole):
    with ragfile.open(whole[0]) as rf:
        first = rf.search("waa", mode="bm25")
        expected = found(first)
        first.clear()
        assert found(rf.search("waa", mode="bm25")) == expected


def test_every_search_leaves_one_record_with_its_request_and_timings(whole, caplog):
    with (
        caplog.at_level(logging.INFO, "ragfile.search"),
        ragfile.open(whole[0], embedder=Hashed()) as rf,
    ):
        hits = rf.search("waa wbb", 3, request_id="r-1")
        other = rf.search("wab")
    records = [record.ragfile for record in caplog.records]
    assert [r["request_id"] for r in records] == ["r-1", other.request_id]
    assert hits.request_id == "r-1" != other.request_id
    assert (records[0]["k"], records[0]["found"], records[0]["mode"]) == (3, 3, "hybrid")
    assert records[0]["scores"] == [hit.score for hit in hits]
    assert set(records[0]["timings"]) == {"filter", "embed", "vector", "bm25", "fuse", "fetch"}
    assert rf.counters["searches"] == 2
    assert rf.counters["embedding_calls"] == 2


def test_the_log_says_what_happened_and_a_question_only_where_that_is_asked_for(whole, caplog):
    for level, is_told in ((logging.INFO, False), (logging.DEBUG, True)):
        caplog.clear()
        with (
            caplog.at_level(level, "ragfile.search"),
            ragfile.open(whole[0], embedder=Hashed()) as rf,
        ):
            rf.search("waa secret", 3, request_id="r-1", mode="bm25", cache=False)
        (record,) = [r for r in caplog.records if r.name == "ragfile.search"]
        assert f"{whole[0]}: 3 of 3 passages by bm25 search in " in record.getMessage()
        assert "[r-1]" in record.getMessage()
        assert ("secret" in record.getMessage()) == is_told
        assert ("query" in record.ragfile) == is_told


def test_a_request_id_reaches_the_provider(whole):
    from ragfile.ground.request_id import current

    class Listening(Hashed):
        def embed(self, texts, role="document"):
            self.heard = current()
            return super().embed(texts, role)

    embedder = Listening()
    with ragfile.open(whole[0], embedder=embedder) as rf:
        rf.search("waa", request_id="r-7")
    assert embedder.heard == "r-7"
    assert current() is None


def test_the_core_sums_a_sample_as_exactly_as_python_does():
    from oracles import fusion

    from ragfile import _core

    rng = np.random.default_rng(12)
    for count in (0, 1, 2, 7, 1024):
        for scale in (1.0, 1e-30, 1e30):
            scores = (
                rng.standard_normal(count) * scale * 10.0 ** rng.integers(-6, 6, count)
            ).astype(np.float32)
            assert _core.moments(scores) == fusion.sample_statistics(scores)
    ties = np.array(
        [1.0, 2.0**-53, 2.0**-106, 1.0, -(2.0**-53), 3e38, -3e38, 1e-45], dtype=np.float32
    )
    for _ in range(50):
        rng.shuffle(ties)
        assert _core.moments(ties) == fusion.sample_statistics(ties)
