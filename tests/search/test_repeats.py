"""Answers without repeats against a walk over the ranking of all rows: filled up, whatever the pool was."""

import numpy as np
import pytest
from oracles import evidence
from oracles import search_cases as oracle
from oracles.search_cases import DIM, Hashed, pieced, question

import ragfile
from ragfile.search import fusion, reranker

LIKE = 0.98


def repeating(seed, count=240, kinds=70):
    """Rows of which most repeat the vector of another one, nearly or wholly, some of them many times."""
    rng = np.random.default_rng(seed)
    rows = oracle.corpus(rng, count, DIM)
    vectors = [row.vector for row in rows[:kinds]]
    often = 1 / np.arange(1, kinds + 1)
    for i in range(kinds, count):
        kind = vectors[rng.choice(kinds, p=often / often.sum())]
        noise = 1e-3 * rng.standard_normal(DIM).astype(np.float32) * (i % 2)
        rows[i].vector = (kind * rng.uniform(0.5, 2) + noise).astype(np.float32)
    return rows


@pytest.fixture(scope="module", params=[1, 4])
def rf(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("repeats") / "kb.ragfile"
    pieced(path, repeating(request.param), request.param)
    with ragfile.open(path, embedder=Hashed()) as rf:
        yield rf


def key(rf, row):
    doc_id, _, index = rf.hit(row).id.rpartition("#")
    return doc_id.encode(), int(index)


def ranking(rf, text, vector, mode, where, share=0.0):
    """[(id, document, score, unit vector)] of all rows that can be found, raised by evidence."""
    mask = rf.rows.mask(where)
    rows = rf.live_rows() if mask is None else np.flatnonzero(mask)
    bm25, near = rf.score(rows, text=text), rf.score(rows, vector=vector)
    if mode == "hybrid":
        mean, deviation = rf.rows.sample_statistics(vector)
        calibration = {"mean": mean, "deviation": deviation, "w": 6.0}
        rows, scores = fusion.calibrated(rows, bm25, near, **calibration)
    else:
        scores = {"bm25": bm25, "vector": near}[mode].astype(float)
    found = [(int(r), float(s)) for r, s in zip(rows, scores, strict=True)]
    if mode == "bm25":
        found = [(r, s) for r, s in found if s > 0]
    found.sort(key=lambda one: (-one[1], key(rf, one[0])))
    if share:
        found = evidence.raised(
            found, lambda row: rf.hit(row).doc_id, lambda row: key(rf, row), share
        )
    hits = [(rf.hit(row), score) for row, score in found]
    return [(h.id, h.doc_id, score, unit(h.vector)) for h, score in hits]


def unit(vector):
    vector = vector.astype(np.float64)
    return vector / np.linalg.norm(vector)


def is_new(vector, kept):
    return all(float(vector @ other) < LIKE for other in kept)


def walked(ranked):
    """[(id, score)] without those that repeat one before."""
    kept, found = [], []
    for one, _, score, vector in ranked:
        if is_new(vector, kept):
            kept.append(vector)
            found.append((one, score))
    return found


def said(hits):
    return [hit.id for hit in hits], pytest.approx(
        [hit.score for hit in hits], rel=1e-12, abs=1e-12
    )


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
@pytest.mark.parametrize("seed", range(5))
def test_answers_are_those_of_the_whole_ranking(rf, mode, seed):
    text, vector = question(np.random.default_rng(seed))
    where = {"year": {"$gte": 2004}} if seed % 2 else None
    share = 0.05 if mode == "hybrid" else 0.0
    expected = walked(ranking(rf, text, vector, mode, where, share))
    asked = {"vector": vector, "mode": mode, "where": where, "drop_repeats": True, "cache": False}
    for k, pool in ((5, 5), (12, 50), (30, 30), (50, 50), (300, 7)):
        hits = rf.search(text, k, pool=pool, fusion=("calibrated", {"w": 6.0}), **asked)
        assert said(hits) == tuple(map(list, zip(*expected[:k], strict=True)))


@pytest.mark.parametrize("mode", ["hybrid", "vector"])
def test_pages_join_without_a_gap_and_repeat_nothing(rf, mode):
    text, vector = question(np.random.default_rng(8))
    asked = {"vector": vector, "mode": mode, "drop_repeats": True, "pool": 9}
    pages = [rf.search(text, 9, offset=first, **asked) for first in range(0, 90, 9)]
    ids = [hit.id for page in pages for hit in page]
    assert ids == [one for one, _ in walked(ranking(rf, text, vector, mode, None))]


def test_a_least_score_ends_an_answer_before_the_file_does(rf):
    text, vector = question(np.random.default_rng(3))
    expected = walked(ranking(rf, text, vector, "hybrid", None, 0.05))
    min_score = expected[20][1]
    hits = rf.search(text, 50, vector=vector, drop_repeats=True, min_score=min_score, pool=5)
    assert [hit.id for hit in hits] == [one for one, score in expected if score >= min_score]


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_a_batch_is_its_questions_though_some_look_deeper(rf, mode):
    rng = np.random.default_rng(4)
    texts, vectors = zip(*(question(rng) for _ in range(9)), strict=True)
    options = {"mode": mode, "drop_repeats": True, "pool": 25}
    together = rf.search_batch(texts, 25, vectors=np.array(vectors), **options)
    alone = [
        rf.search(t, 25, vector=v, cache=False, **options)
        for t, v in zip(texts, vectors, strict=True)
    ]
    assert [list(hits) for hits in together] == [list(hits) for hits in alone]
    columns = rf.search_batch(texts, 25, vectors=np.array(vectors), columns=True, **options)
    assert [len(hits) for hits in together] == [len(ids) for ids in columns.ids]


@pytest.mark.parametrize("options", [
    {"fusion": "rrf"}, {"fusion": "blend"}, {"rewrites": ["waa wab", "wba"]},
    {"boost": {"field": "year", "weight": 0.5, "reference": 2009, "half_life": 2}}, {"diversity": 0.5},
])  # fmt: skip
def test_what_ranks_its_candidates_alone_is_filled_up_too(rf, options):
    everything = walked(ranking(rf, "waa", np.ones(DIM, np.float32), "vector", None))
    vectors = np.ones((3, DIM), np.float32) if "rewrites" in options else np.ones(DIM, np.float32)
    hits = rf.search("waa", 50, vector=vectors, drop_repeats=True, pool=10, **options)
    assert len(hits) == 50 <= len(everything)
    kept = []
    for hit in hits:
        assert is_new(unit(hit.vector), kept)
        kept.append(unit(hit.vector))
    hits = rf.search("waa", 500, vector=vectors, drop_repeats=True, pool=10, **options)
    assert len(hits) == len(everything)


def grouped(ranked, k, passages, offset):
    """Document after document, each with its best passages that repeat nothing shown before."""
    inside, kept, groups = {}, [], {}
    for one in ranked:
        inside.setdefault(one[1], []).append(one)
    for _, document, _, vector in ranked:
        if document in groups or not is_new(vector, kept) or len(groups) == offset + k:
            continue
        groups[document] = []
        for one in inside[document]:
            if len(groups[document]) < passages and is_new(one[3], kept):
                kept.append(one[3])
                groups[document].append((one[0], one[2]))
    return [one for group in list(groups.values())[offset:] for one in group]


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
@pytest.mark.parametrize("seed", range(4))
def test_groups_are_filled_up_without_repeats(rf, mode, seed):
    text, vector = question(np.random.default_rng(seed))
    where = {"year": {"$gte": 2004}} if seed % 2 else None
    ranked = ranking(rf, text, vector, mode, where)
    asked = {"vector": vector, "mode": mode, "where": where, "drop_repeats": True}
    for k, passages, pool, offset in ((5, 2, 5, 0), (3, 1, 1, 2), (200, 9, 10, 0)):
        hits = rf.search(
            text, k, group=passages, pool=pool, offset=offset, fusion=("calibrated", {"w": 6.0}), **asked
        )  # fmt: skip
        expected = grouped(ranked, k, passages, offset)
        assert said(hits) == tuple(map(list, zip(*expected, strict=True)))


def test_groups_of_a_pool_are_filled_up_too(rf):
    text, vector = question(np.random.default_rng(2))
    asked = {"vector": vector, "fusion": "rrf", "group": 1, "drop_repeats": True}
    assert len({h.doc_id for h in rf.search(text, 30, pool=5, **asked)}) == 30


def test_texts_tell_repeats_where_there_are_no_vectors(tmp_path):
    with ragfile.create(tmp_path / "kb") as w:
        w.add({"doc_id": f"d{i:03}", "chunk_index": 0, "content": f"pods {'abc'[i % 3] * 9} " + "again "} for i in range(200))  # fmt: skip
    with ragfile.open(tmp_path / "kb") as rf:
        assert [h.id for h in rf.search("pods", 5, mode="bm25", drop_repeats=True, pool=5)] == [
            "d000#0", "d001#0", "d002#0"
        ]  # fmt: skip


def test_many_passages_are_told_apart_as_one_by_one():
    rng = np.random.default_rng(7)
    kinds = rng.standard_normal((40, DIM))
    vectors = kinds[rng.integers(0, 40, 500)] + 1e-3 * rng.standard_normal((500, DIM))
    vectors[::50] = 0
    one_by_one, together = reranker.Unlike(), reranker.Unlike()
    flags = [one_by_one.keeps(vector) for vector in vectors]
    pieces = [vectors[at : at + size] for at, size in ((0, 1), (1, 7), (8, 300), (308, 192))]
    assert [is_new for piece in pieces for is_new in together.of(piece)] == flags
    assert sum(flags) == 40 + 10  # what has no direction is like nothing
