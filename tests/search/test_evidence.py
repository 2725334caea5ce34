"""Further passages of a document raise its best one, in every kind of file exactly as in a slow ranking."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import evidence, fusing
from oracles import search_cases as oracle
from oracles.search_cases import DIM, Hashed, question

import ragfile
from ragfile import _core, dataset

OFF = ("calibrated", {"evidence": 0})
scores_given = st.lists(st.floats(-3, 3), min_size=1, max_size=60).map(
    lambda found: sorted(found, reverse=True)
)


@given(st.floats(-800, 0))
def test_the_exponential_is_that_of_the_rule_and_close_to_the_true_one(x):
    found = evidence.falling_exp(x)
    assert found == pytest.approx(math.exp(x), rel=4e-16, abs=1e-300)


@given(scores_given, st.data())
def test_the_core_raises_what_the_slow_rule_raises(scores, data):
    names = data.draw(st.lists(st.integers(0, 9), min_size=len(scores), max_size=len(scores)))
    share = data.draw(st.sampled_from([0.01, 0.05, 0.3, 1.0]))
    ranked = list(enumerate(scores))
    slow = evidence.raised(ranked, names.__getitem__, lambda row: row, share)
    counted = _core.evidence_count(np.array(scores))
    assert counted == len(evidence.counted(ranked))
    order, raised = _core.evidence_rank(
        np.array(scores[:counted]),
        np.array(names[:counted], np.int64),
        np.arange(counted, dtype=np.int64),
        share,
    )
    fast = list(zip(order.tolist(), raised.tolist(), strict=True)) + ranked[counted:]
    assert fast == slow


def test_rows_that_do_not_fit_are_refused():
    one, many = np.ones(1), np.ones(51)
    with pytest.raises(ValueError, match="at most 50 rows"):
        _core.evidence_rank(many, np.zeros(51, np.int64), np.zeros(51, np.int64), 0.05)
    with pytest.raises(ValueError, match="a document each"):
        _core.evidence_weights(one, np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="a tie"):
        _core.evidence_rank(one, np.zeros(1, np.int64), np.zeros(2, np.int64), 0.05)


@pytest.mark.parametrize("share", [0.05, 0.4])
@pytest.mark.parametrize("seed", range(6))
def test_a_search_is_the_slow_ranking_to_the_bit(asked_file, seed, share):
    rng = np.random.default_rng(seed)
    text, vector = question(rng)
    where = {"year": {"$gte": 2004}} if seed % 2 else None
    for k, pool in ((1, 50), (12, 50), (5, 9), (40, 0), (300, 300)):
        hits = asked_file.search(
            text, k, vector=vector, pool=pool, where=where, cache=False,
            fusion=("calibrated", {"w": 6.0, "evidence": share}),
        )  # fmt: skip
        slow = fusing.fused(asked_file, text, vector, k, pool, "calibrated", 6.0, where, share)
        assert [(asked_file.row(h.id), h.score, *h.scores.values()) for h in hits] == slow


def test_the_best_k_are_the_beginning_of_a_longer_answer(asked_file):
    rng = np.random.default_rng(3)
    for _ in range(10):
        text, vector = question(rng)
        whole = asked_file.search(text, 50, vector=vector)
        for k in (1, 3, 12, 30):
            part = asked_file.search(text, k, vector=vector)
            assert [(h.id, h.score) for h in part] == [(h.id, h.score) for h in whole[:k]]


def corpus(per_document):
    """Documents of some chunks each; two of them are about ponies, one in every chunk."""
    chunks = []
    for d in range(30):
        for i in range(per_document):
            words = f"plain words {d} of {i}"
            if d == 7 and i == 0:
                words = "a pony stands here on a meadow"
            if d == 9:
                words = "a pony stands here on a hill"
            chunks.append({"doc_id": f"d{d:02}", "chunk_index": i, "content": words})
    return chunks


def written(path, per_document, **options):
    with ragfile.create(path, embedder=Hashed(), **options) as w:
        w.add(corpus(per_document))
    return ragfile.open(path, embedder=Hashed())


def test_a_document_with_more_on_the_subject_comes_first(tmp_path):
    with written(tmp_path / "kb", 3) as rf:
        vector = np.ones(DIM, np.float32)
        without = rf.search("pony on a meadow", 3, vector=vector, fusion=OFF)
        assert [h.doc_id for h in without][:1] == ["d07"]
        with_it = rf.search("pony", 3, vector=vector)
        assert with_it[0].doc_id == "d09"
        (raised,) = [h for h in with_it if h.id == "d09#0"]
        (plain,) = [h for h in rf.search("pony", 9, vector=vector, fusion=OFF) if h.id == "d09#0"]
        assert raised.score > plain.score
        assert raised.scores == plain.scores


def test_documents_of_one_chunk_keep_their_scores_to_the_bit(tmp_path):
    with written(tmp_path / "kb", 1) as rf:
        rng = np.random.default_rng(2)
        for text in ("pony", "plain words 4", "meadow or hill"):
            vector = rng.standard_normal(DIM).astype(np.float32)
            a, b = (rf.search(text, 20, vector=vector, fusion=f, cache=False) for f in (None, OFF))
            assert [(h.id, h.score) for h in a] == [(h.id, h.score) for h in b]


def test_a_file_without_a_record_answers_as_before(tmp_path):
    old = {"fusion": {"method": "calibrated", "w": 6}}
    with written(tmp_path / "old", 3, config=old) as rf, written(tmp_path / "new", 3) as new:
        vector = np.ones(DIM, np.float32)
        asked = {"vector": vector, "cache": False}
        off, plain = (rf.search("pony", 9, fusion=f, **asked) for f in (OFF, None))
        assert [(h.id, h.score) for h in off] == [(h.id, h.score) for h in plain]
        share = ("calibrated", {"w": 6, "evidence": 0.05})
        a, b = (one.search("pony", 9, fusion=share, **asked) for one in (rf, new))
        assert [(h.id, h.score) for h in a] == [(h.id, h.score) for h in b]


def test_an_explanation_tells_what_further_passages_add(asked_file):
    count = 0
    for seed in range(5):
        text, vector = question(np.random.default_rng(seed))
        on = {h.id: h.score for h in asked_file.search(text, 20, vector=vector)}
        off = {h.id: h.score for h in asked_file.search(text, 20, vector=vector, fusion=OFF)}
        for name in on.keys() & off.keys():
            found = asked_file.explain(text, name, 20, vector=vector)
            assert found.scale.get("evidence", 0.0) == on[name] - off[name]
            assert ("evidence" in str(found)) is (on[name] != off[name])
            count += on[name] != off[name]
    assert count


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_a_share_out_of_bounds_is_refused(asked_file, share):
    with pytest.raises(ValueError, match="evidence must be between 0 and 1"):
        asked_file.search("waa", fusion=("calibrated", {"evidence": share}))


def test_other_fusions_have_no_evidence(asked_file):
    with pytest.raises(ValueError, match="no parameter 'evidence', only rrf_k"):
        asked_file.search("waa", fusion=("rrf", {"evidence": 0.1}))


def test_a_dataset_answers_as_the_file_of_its_documents(tmp_path):
    rng = np.random.default_rng(4)
    sources = tmp_path / "docs"
    sources.mkdir()
    for d in range(40):
        parts = [" ".join(rng.choice(oracle.WORDS, 30)) for _ in range(int(rng.integers(1, 9)))]
        text = "\n\n".join(f"# Part {i}\n\n{part}" for i, part in enumerate(parts))
        (sources / f"d{d}.md").write_text(text)
    built = {"chunking": "markdown:60"}
    dataset.build(sources, tmp_path / "kb", shards=3, **built)
    ragfile.build(sources, tmp_path / "one.ragfile", **built)
    changed = 0
    with ragfile.open(tmp_path / "kb") as many, ragfile.open(tmp_path / "one.ragfile") as one:
        assert len(one) > 100
        for _ in range(15):
            text = " ".join(rng.choice(oracle.WORDS, 3))
            for options in ({}, {"drop_repeats": True}, {"group": 2}, {"diversity": 0.3}):
                a, b = (rf.search(text, 9, **options) for rf in (one, many))
                assert [(h.id, h.score) for h in a] == [(h.id, h.score) for h in b]
            off = many.search(text, 9, fusion=OFF)
            changed += [h.id for h in off] != [h.id for h in many.search(text, 9)]
    assert changed


@pytest.mark.parametrize("empty", [1, 58, 59, 60, 90])
def test_documents_without_text_change_no_score(tmp_path, empty):
    """As many of them as there are further passages, or more, must not hide these."""
    ids = [f"e{i:02}" for i in range(empty)]
    vector = np.ones(DIM, np.float32)

    def scores(rf):
        return [(hit.id, hit.score) for hit in rf.search("pony on a hill", 9, vector=vector)]

    with written(tmp_path / "plain", 3) as rf:
        expected = scores(rf)
    with ragfile.create(tmp_path / "kb", embedder=Hashed()) as w:
        w.add(corpus(3))
        w.add_documents([{"id": each, "text": ""} for each in ids])
    with ragfile.open(tmp_path / "kb", embedder=Hashed()) as rf:
        assert scores(rf) == expected
        with ragfile.edit(tmp_path / "kb", embedder=Hashed()) as w:
            w.delete(ids)
        rf.refresh()
        assert scores(rf) == expected
