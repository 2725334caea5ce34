"""One call into the core answers as its steps do, and as Python does: over one segment, histories and layers."""

import numpy as np
import pytest
from oracles import fusing
from oracles import search_cases as oracle
from oracles.search_cases import DIM, question

import ragfile
from ragfile.file import exact_retrievers
from ragfile.search.retriever_fusion import RetrieverFusion

_PARAMETER = {"calibrated": "w", "rrf": "rrf_k", "blend": "alpha"}
_VALUES = {"calibrated": 6.0, "rrf": 60.0, "blend": 0.3}


def rows_of(seed, count=120, prefix="d"):
    return oracle.corpus(np.random.default_rng(seed), count, DIM, prefix)


def added(w, rows, has_bare=False):
    w.add(oracle.chunks(rows), [None if has_bare and i % 3 == 0 else r.vector for i, r in enumerate(rows)])  # fmt: skip


def one_segment(folder, has_bare=False):
    """A file of one segment; some rows have no vector."""
    with ragfile.create(folder / "kb.ragfile") as w:
        added(w, rows_of(3), has_bare)
    return folder / "kb.ragfile"


def bare(folder):
    return one_segment(folder, has_bare=True)


def deleted(folder):
    """A file of one segment with deleted rows."""
    path = one_segment(folder)
    with ragfile.edit(path) as w:
        w.delete(sorted({r.doc_id for r in rows_of(3)})[::4])
    return path


def history(folder):
    """Small commits that add, replace and delete documents, in segments that were merged or not."""
    path = one_segment(folder)
    ids = sorted({r.doc_id for r in rows_of(3)})
    for n in range(20):
        with ragfile.edit(path) as w:
            w.delete([ids[n], ids[-n - 1]])
            again = [r for r in rows_of(30 + n) if r.doc_id == ids[n]]
            added(w, again + rows_of(n, 9, f"n{n:02d}"), has_bare=n % 4 == 0)
    return path


def pieces(folder):
    oracle.pieced(folder / "kb.ragfile", rows_of(1), 7)
    return folder / "kb.ragfile"


def layers(folder):
    """Two files as one; the upper one replaces and hides documents of the lower one."""
    below, above = history(folder), folder / "above.ragfile"
    ids = sorted({r.doc_id for r in rows_of(3)})
    with ragfile.edit([below, above]) as w:
        w.delete(ids[20:24])
        added(w, [r for r in rows_of(60) if r.doc_id in ids[24:29]] + rows_of(61, 15, "up"))
    return [below, above]


KINDS = [one_segment, bare, deleted, history, pieces, layers]


def asked_in(rng):
    """Options of a batch, at random."""
    options = {"pool": int(rng.integers(0, 70)), "threads": int(rng.integers(1, 4))}
    if rng.random() < 0.5:
        options["fusion"] = str(rng.choice(["rrf", "blend", "calibrated"]))
    if rng.random() < 0.3:
        options["fusion"] = ("calibrated", {"evidence": 0.5})
    if rng.random() < 0.5:
        options["where"] = [{"lang": "en"}, None, {"year": {"$gte": 2004}}] * 2
    elif rng.random() < 0.3:
        options["where"] = {"year": {"$gte": 2006}}
    for name, value in (
        ("offset", 3),
        ("drop_repeats", True),
        ("diversity", 0.4),
        ("min_score", 0.2),
    ):
        if rng.random() < 0.2:
            options[name] = value
    return options


@pytest.mark.parametrize("kind", KINDS)
def test_one_call_gives_what_the_steps_give(tmp_path, monkeypatch, kind):
    rng = np.random.default_rng(3)
    calls = []
    at_once = RetrieverFusion.at_once
    monkeypatch.setattr(
        RetrieverFusion, "at_once", lambda *given: calls.append(1) or at_once(*given)
    )
    with ragfile.open(kind(tmp_path)) as rf:
        for _ in range(40):
            asked = [question(rng) for _ in range(6)]
            texts, vectors = [t for t, _ in asked], np.array([v for _, v in asked])
            options, k = asked_in(rng), int(rng.integers(0, 20))
            ask = {"vectors": vectors, "columns": True, **options}
            before = len(calls)
            fast = rf.search_batch(texts, k, **ask)
            assert len(calls) > before
            with monkeypatch.context() as patched:
                patched.setattr(RetrieverFusion, "is_at_once", False)
                slow = rf.search_batch(texts, k, **ask)
            for name in ("rows", "scores"):
                assert np.array_equal(getattr(fast, name), getattr(slow, name), equal_nan=True)
            for name, part in slow.parts.items():
                assert np.array_equal(fast.parts[name], part, equal_nan=True)
            assert fast.timings.keys() >= {"bm25", "fuse", "vector"}
            assert min(fast.timings.values()) >= 0


@pytest.mark.parametrize("method", ["calibrated", "rrf", "blend"])
@pytest.mark.parametrize("kind", [one_segment, deleted, pieces])
def test_one_call_fuses_as_slowly_in_python(tmp_path, kind, method):
    rng = np.random.default_rng(4)
    with ragfile.open(kind(tmp_path)) as rf:
        assert rf.rows.fusion_core.is_whole
        for k, pool, where in ((5, 9, None), (12, 50, {"lang": "en"}), (30, 0, None)):
            text, vector = question(rng)
            options = {"vector": vector, "pool": pool, "where": where, "cache": False}
            named = method, {_PARAMETER[method]: _VALUES[method]}
            hits = rf.search(text, k, fusion=named, **options)
            slow = fusing.fused(rf, text, vector, k, pool, method, _VALUES[method], where)
            assert [(rf.row(h.id), h.score, *h.scores.values()) for h in hits] == slow


def test_a_segment_without_vectors_takes_the_steps(tmp_path):
    path = one_segment(tmp_path)
    with ragfile.edit(path) as w:
        w.add(oracle.chunks(rows_of(5, 9, "plain")), [None] * 9)
    with ragfile.open(path) as rf:
        assert not rf.rows.fusion_core.is_whole
        text, vector = question(np.random.default_rng(2))
        named = "calibrated", {"w": 6.0}
        hits = rf.search(text, 20, vector=vector, pool=30, fusion=named)
        slow = fusing.fused(rf, text, vector, 20, 30, "calibrated", 6.0)
        assert [(rf.row(h.id), h.score) for h in hits] == [one[:2] for one in slow]
        queries = rf.rows.searched("rag.terms").questions([text])
        with pytest.raises(ValueError, match="no vectors"):
            rf.rows.fusion_core.answer(
                queries, vector[None], None, 5, 5, 5, ("rrf", 60.0, 0.0, None)
            )


def test_lists_beyond_the_limit_take_the_steps(tmp_path, monkeypatch):
    with ragfile.open(pieces(tmp_path)) as rf:
        text, vector = question(np.random.default_rng(2))
        ask = {"vectors": np.array([vector] * 4), "columns": True}
        fast = rf.search_batch([text] * 4, 9, **ask)
        monkeypatch.setattr(exact_retrievers, "BATCH_ROWS", 40)
        monkeypatch.setattr(RetrieverFusion, "at_once", None)
        slow = rf.search_batch([text] * 4, 9, **ask)
        assert np.array_equal(fast.rows, slow.rows)
        assert np.array_equal(fast.scores, slow.scores)


def test_row_sets_must_fit_the_segments(tmp_path):
    with ragfile.open(pieces(tmp_path)) as rf:
        text, vector = question(np.random.default_rng(2))
        queries = rf.rows.searched("rag.terms").questions([text])
        core, rest = rf.rows.fusion_core, (5, 5, 5, ("rrf", 60.0, 0.0, None))
        count = len(rf.rows.searched("vector"))
        with pytest.raises(ValueError, match="row set each"):
            core.answer(queries, vector[None], [None] * (count + 1), *rest)
        short = [np.empty(0, np.uint64)] * count
        with pytest.raises(ValueError, match="too short"):
            core.answer(queries, vector[None], short, *rest)
