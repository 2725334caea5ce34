"""A batch is answered as its questions are one by one, and as the slow fusion in Python answers them."""

import numpy as np
import pytest
from oracles import fusing
from oracles import search_cases as oracle
from oracles.search_cases import DIM, Hashed, pieced, question

import ragfile
from ragfile import _core
from ragfile.errors import ModelError
from ragfile.file import exact_retrievers

METHODS = {"calibrated": ("w", 6.0), "rrf": ("rrf_k", 60.0), "blend": ("alpha", 0.3)}


@pytest.fixture(scope="module", params=[1, 4])
def rf(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("batches") / "kb.ragfile"
    pieced(path, oracle.corpus(np.random.default_rng(request.param), 300, DIM), request.param)
    with ragfile.open(path, embedder=Hashed()) as rf:
        yield rf


def plain(hits):
    return [(h.id, h.score, h.score_type, h.scores, h.text, h.metadata, h.tags) for h in hits]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_a_batch_is_fused_as_slowly_in_python(rf, method, seed):
    rng = np.random.default_rng(seed)
    name, value = METHODS[method]
    asked = [question(rng) for _ in range(12)]
    texts, vectors = [t for t, _ in asked], np.array([v for _, v in asked])
    k, pool = int(rng.integers(0, 30)), int(rng.integers(0, 60))
    where = {"year": {"$gte": 2004}} if seed % 2 else None
    for threads in (1, 3):
        found = rf.search_batch(
            texts, k, vectors=vectors, pool=pool, where=where, fusion=(method, {name: value}), threads=threads
        )  # fmt: skip
        for text, vector, hits in zip(texts, vectors, found, strict=True):
            slow = fusing.fused(rf, text, vector, k, pool, method, value, where)
            assert [(rf.row(h.id), h.score, *h.scores.values()) for h in hits] == slow


@pytest.mark.parametrize("options", [
    {}, {"mode": "bm25"}, {"mode": "vector"}, {"mode": "keyword"}, {"drop_repeats": True},
    {"fusion": "rrf"}, {"tags_any": ["red"]}, {"pool": 0}, {"mode": "bm25", "drop_repeats": True},
])  # fmt: skip
def test_a_batch_is_its_questions_one_by_one(rf, options):
    rng = np.random.default_rng(5)
    texts = [question(rng)[0] for _ in range(9)] + ["", "waa absent", "d000#0"]
    together = rf.search_batch(texts, 7, **options)
    alone = [rf.search(text, 7, cache=False, **options) for text in texts]
    assert [plain(hits) for hits in together] == [plain(hits) for hits in alone]
    wheres = [{"lang": "en"}, None, {"year": 2003}] * 4
    each = rf.search_batch(texts, 7, where=wheres, **options)
    alone = [
        rf.search(t, 7, where=w, cache=False, **options) for t, w in zip(texts, wheres, strict=True)
    ]
    assert [plain(hits) for hits in each] == [plain(hits) for hits in alone]


def test_no_questions_and_no_places_are_answered(rf):
    assert rf.search_batch([], 5) == []
    assert rf.search_batch(["waa"], 0) == [[]]


@pytest.mark.parametrize("seed", range(6))
def test_answers_of_segments_merge_as_a_plain_sort(tmp_path, seed):
    """Few distinct scores, so that runs of ties reach over segments and beyond the k best."""
    rng = np.random.default_rng(seed)
    parts, k = int(rng.integers(2, 6)), int(rng.integers(1, 20))
    path = tmp_path / "kb.ragfile"
    pieced(path, oracle.corpus(rng, 90, DIM), parts)
    with ragfile.open(path) as rf:
        segments = rf.rows.searched("rag.terms")
        found = np.full((5, parts, k), -1, np.int64)
        scores = np.full((5, parts, k), np.nan, np.float32)
        for q in range(5):
            for s, segment in enumerate(segments):
                live = [r for r in range(segment.rows) if segment.is_live(r)]
                rows = rng.choice(
                    live, size=min(len(live), int(rng.integers(0, k + 1))), replace=False
                )
                given = sorted(
                    ((float(rng.integers(1, 4)), int(r)) for r in rows), key=lambda p: (-p[0], p[1])
                )
                found[q, s, : len(given)] = [segment.base + r for _, r in given]
                scores[q, s, : len(given)] = [score for score, _ in given]
        expected = fusing.merge(segments, found, scores, k)
        rows, best = segments.parts.merge(found.copy(), scores.copy(), k, 2)
        assert np.array_equal(rows, expected[0])
        assert np.array_equal(best, expected[1])
        assert exact_retrievers.key(segments, int(rows[0, 0])) if rows[0, 0] >= 0 else True


def test_vectors_of_another_size_are_refused(rf):
    with pytest.raises(ModelError):
        rf.search_batch(["waa"], 3, vectors=np.ones((1, DIM + 1), np.float32))
    with pytest.raises(ValueError, match="finite"):
        rf.search_batch(["waa"], 3, vectors=np.full((1, DIM), np.nan, np.float32))


def test_arrays_that_do_not_belong_together_are_refused(rf):
    segments = rf.rows.searched("rag.terms")
    with pytest.raises(ValueError, match=r"\[questions, segments, k\]"):
        segments.parts.merge(np.empty((1, 9, 2), np.int64), np.empty((1, 9, 2), np.float32), 2)
    queries = segments.questions(["waa"])
    words = np.zeros((2, 3), np.int64), np.zeros((2, 3), np.float32)
    with pytest.raises(ValueError, match="as many lists"):
        rf.rows.fusion_core.near(
            queries, np.ones((1, DIM), np.float32), words, 1, ("rrf", 60.0, 0.0, None)
        )
    with pytest.raises(ValueError, match="needs a sample"):
        rf.rows.fusion_core.near(
            queries, np.ones((1, DIM), np.float32), words, 1, ("calibrated", 6.0, 0.0, None)
        )
    with pytest.raises(ValueError, match="need their records"):
        _core.Parts([(0, 5, None, None), (5, 5, None, None)])
