"""One call into the core answers a file of one segment as the steps do that files of several take."""

import numpy as np
import pytest
from oracles import fusing
from oracles import search_cases as oracle
from oracles.search_cases import DIM, question

import ragfile
from ragfile.search.retriever_fusion import RetrieverFusion

_PARAMETER = {"calibrated": "w", "rrf": "rrf_k", "blend": "alpha"}


def written(path, rng, has_bare):
    """A file of one segment; some rows have no vector."""
    rows = oracle.corpus(rng, 120, DIM)
    vectors = [None if has_bare and i % 3 == 0 else row.vector for i, row in enumerate(rows)]
    with ragfile.create(path) as w:
        w.add(oracle.chunks(rows), vectors)


def asked_in(rng):
    """Options of a batch, at random."""
    options = {"pool": int(rng.integers(0, 70)), "threads": int(rng.integers(1, 4))}
    if rng.random() < 0.5:
        options["fusion"] = str(rng.choice(["rrf", "blend", "calibrated"]))
    if rng.random() < 0.5:
        options["where"] = [{"lang": "en"}, None, {"year": {"$gte": 2004}}] * 2
    for name, value in (
        ("offset", 3),
        ("drop_repeats", True),
        ("diversity", 0.4),
        ("min_score", 0.2),
    ):
        if rng.random() < 0.2:
            options[name] = value
    return options


@pytest.mark.parametrize("has_bare", [False, True])
def test_one_call_gives_what_the_steps_give(tmp_path, monkeypatch, has_bare):
    rng = np.random.default_rng(3)
    path = tmp_path / "kb.ragfile"
    written(path, rng, has_bare)
    calls = []
    at_once = RetrieverFusion.at_once
    monkeypatch.setattr(
        RetrieverFusion, "at_once", lambda *given: calls.append(1) or at_once(*given)
    )
    with ragfile.open(path) as rf:
        for _ in range(40):
            asked = [question(rng) for _ in range(6)]
            texts, vectors = [t for t, _ in asked], np.array([v for _, v in asked])
            options, k = asked_in(rng), int(rng.integers(0, 20))
            ask = {"vectors": vectors, "columns": True, **options}
            fast = rf.search_batch(texts, k, **ask)
            with monkeypatch.context() as patched:
                patched.setattr(RetrieverFusion, "is_at_once", False)
                slow = rf.search_batch(texts, k, **ask)
            for name in ("rows", "scores"):
                assert np.array_equal(getattr(fast, name), getattr(slow, name), equal_nan=True)
            for name, part in slow.parts.items():
                assert np.array_equal(fast.parts[name], part, equal_nan=True)
            assert fast.timings.keys() >= {"bm25", "fuse", "vector"}
            assert min(fast.timings.values()) >= 0
    assert calls


@pytest.mark.parametrize("method", ["calibrated", "rrf", "blend"])
def test_one_call_fuses_as_slowly_in_python(tmp_path, method):
    rng = np.random.default_rng(4)
    path, value = tmp_path / "kb.ragfile", {"calibrated": 6.0, "rrf": 60.0, "blend": 0.3}[method]
    written(path, rng, has_bare=False)
    with ragfile.open(path) as rf:
        assert rf.rows.fusion_core.is_alone
        for k, pool, where in ((5, 9, None), (12, 50, {"lang": "en"}), (30, 0, None)):
            text, vector = question(rng)
            options = {"vector": vector, "pool": pool, "where": where, "cache": False}
            named = method, {_PARAMETER[method]: value}
            hits = rf.search(text, k, fusion=named, **options)
            slow = fusing.fused(rf, text, vector, k, pool, method, value, where)
            assert [(rf.row(h.id), h.score, *h.scores.values()) for h in hits] == slow


def test_one_call_is_for_one_segment_without_deletions(tmp_path):
    path = tmp_path / "kb.ragfile"
    rows = oracle.corpus(np.random.default_rng(1), 40, DIM)
    oracle.pieced(path, rows, 3)
    with ragfile.open(path) as rf:
        assert not rf.rows.fusion_core.is_alone
        text, vector = question(np.random.default_rng(2))
        queries = rf.rows.searched("rag.terms").questions([text])
        with pytest.raises(TypeError):
            rf.rows.fusion_core.answer(
                queries, vector[None], None, 5, 5, 5, ("rrf", 60.0, 0.0, None)
            )
