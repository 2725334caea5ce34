"""All rows above a score, of vectors and of words, against every score of the file."""

import numpy as np
import pytest
from oracles import search_cases as oracle
from oracles.search_cases import DIM, pieced, question

import ragfile


@pytest.fixture(scope="module", params=[1, 3])
def rf(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("reaching") / "kb.ragfile"
    pieced(path, oracle.corpus(np.random.default_rng(request.param), 700, DIM), request.param)
    with ragfile.open(path) as rf:
        yield rf


def pairs(rows, scores):
    return {(int(r), float(s)) for r, s in zip(rows, scores, strict=True) if r >= 0}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("min_score", [-0.2, 0.1, 0.45, 2.0])
def test_all_rows_that_reach_a_score_are_found(rf, seed, min_score):
    rng = np.random.default_rng(seed)
    asked = [question(rng) for _ in range(3)]
    texts, vectors = [t for t, _ in asked], np.array([v for _, v in asked])
    where = {"year": {"$gte": 2005}} if seed % 2 else None
    mask = rf.rows.mask(where)
    live = rf.live_rows() if mask is None else np.flatnonzero(mask)
    near, words = (
        rf.nearest(vectors, None, min_score=min_score, where=where),
        rf.match(texts, None, min_score=min_score * 5, where=where),
    )
    for i in range(3):
        scores = rf.score(live, vector=vectors[i])
        assert pairs(near[0][i], near[1][i]) == pairs(
            live[scores >= np.float32(min_score)], scores[scores >= np.float32(min_score)]
        )
        scores = rf.score(live, text=texts[i])
        kept = (scores >= np.float32(min_score * 5)) & (scores > 0)
        assert pairs(words[0][i], words[1][i]) == pairs(live[kept], scores[kept])
    for rows, scores in (near, words):
        assert (scores[:, 1:] <= scores[:, :-1]).all()
        assert rows.shape[1] == max((rows >= 0).sum(axis=1))


def test_without_a_score_all_rows_are_found_best_first(rf):
    vector = np.ones(DIM, np.float32)
    rows, scores = rf.nearest(vector, None)
    assert sorted(rows[0].tolist()) == rf.live_rows().tolist()
    assert (np.diff(scores[0]) <= 0).all()
    assert rf.match("waa", None)[0].shape == (
        1,
        int((rf.score(rf.live_rows(), text="waa") > 0).sum()),
    )


def test_least_cuts_a_list_of_k_as_well(rf):
    rows, scores = rf.match(["waa", "wab"], 5)
    min_score = [float(scores[0, 2]), float(scores[1, 4])]
    cut, of = rf.match(["waa", "wab"], 5, min_score=min_score)
    assert (of[cut >= 0] >= np.repeat(min_score, (cut >= 0).sum(axis=1)).astype(np.float32)).all()
    assert cut[0, :3].tolist() == rows[0, :3].tolist()


def test_a_least_that_is_no_score_is_refused(rf):
    with pytest.raises(ValueError, match="min_score"):
        rf.nearest(np.ones(DIM, np.float32), None, min_score=float("nan"))
    with pytest.raises(ValueError, match="min_score"):
        rf.match(["a", "b"], 3, min_score=[1.0, 2.0, 3.0])
