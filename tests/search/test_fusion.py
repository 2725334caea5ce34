"""Fusion: golden numbers, ties, order independence, and the same bits as a slow definition."""

import copy
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from oracles.fusion import least_dense, sample_statistics

from ragfile import _core
from ragfile.records import Candidate, Plan
from ragfile.search.fusion import (
    blend,
    calibrated,
    fuse,
    rrf,
)


def candidates(*pairs):
    return [Candidate(doc, 0, f"text of {doc}", score) for doc, score in pairs]


def shown(ranked):
    return [(c.doc_id, c.score) for c in ranked]


def test_first_in_both_lists_scores_two_sixty_firsts():
    assert shown(fuse([candidates(("a", 9.0)), candidates(("a", 0.1))])) == [("a", 2 / 61)]


def test_rrf_adds_one_over_k_plus_rank():
    ranked = fuse([candidates(("a", 3), ("b", 2)), candidates(("b", 5), ("c", 4))])
    assert shown(ranked) == [("b", 1 / 62 + 1 / 61), ("a", 1 / 61), ("c", 1 / 62)]
    assert shown(fuse([candidates(("a", 1))], params={"rrf_k": 1})) == [("a", 0.5)]


def test_defaults_are_those_of_the_canonical_plan():
    assert (Plan().pool, Plan().rrf_k, Plan().k, Plan().fusion) == (50, 60, 12, "rrf")


def test_blend_brings_each_list_to_the_unit_range():
    vector, lexical = (
        candidates(("a", 0.9), ("b", 0.5), ("c", 0.1)),
        candidates(("c", 12.0), ("d", 4.0)),
    )
    ranked = fuse([vector, lexical], "blend", {"alpha": 0.5})
    assert shown(ranked) == [("a", 0.5), ("c", 0.5), ("b", 0.25), ("d", 0.0)]
    assert shown(fuse([vector, lexical], "weighted", {"vector_weight": 0.5})) == shown(ranked)


def test_alpha_one_is_the_vector_order_and_zero_the_lexical_one():
    vector, lexical = (
        candidates(("a", 0.9), ("b", 0.5), ("c", 0.1)),
        candidates(("c", 3.0), ("b", 2.0), ("a", 1.0)),
    )
    assert [c.doc_id for c in fuse([vector, lexical], "blend", {"alpha": 1.0})] == ["a", "b", "c"]
    assert [c.doc_id for c in fuse([vector, lexical], "blend", {"alpha": 0.0})] == ["c", "b", "a"]


def test_a_list_of_equal_scores_counts_one_and_an_empty_one_nothing():
    assert shown(fuse([candidates(("a", 7), ("b", 7)), []], "blend")) == [("a", 0.5), ("b", 0.5)]
    assert shown(fuse([[], candidates(("a", 7))])) == [("a", 1 / 61)]
    assert fuse([[], []]) == fuse([]) == []


def test_calibrated_adds_the_share_of_the_best_and_deviations_over_w():
    rows, scores = calibrated(
        [3, 5, 8], [10.0, 0.0, 5.0], [0.5, 0.9, 0.1], mean=0.1, deviation=0.2, w=4
    )
    assert rows.tolist() == [3, 5, 8]
    assert scores == pytest.approx([1 + 2 / 4, 0 + 4 / 4, 0.5 + 0])


def test_calibrated_stands_without_lexical_matches_or_without_spread():
    _, scores = calibrated([1, 2], [0.0, 0.0], [0.3, 0.4], mean=0.1, deviation=0.1, w=6)
    assert scores == pytest.approx([0.5, 1 / 3])
    _, scores = calibrated([1, 2], [1.0, 4.0], [0.3, 0.4], mean=0.1, deviation=0.0, w=6)
    assert scores.tolist() == [1.0, 0.25]


def test_calibrated_candidates_need_a_vector_score_each():
    vector, lexical = candidates(("a", 0.5), ("b", 0.1)), candidates(("a", 2.0))
    params = {"mean": 0.1, "deviation": 0.1, "w": 4}
    assert shown(fuse([vector, lexical], "calibrated", params)) == [
        ("a", pytest.approx(2.0)),
        ("b", 0.0),
    ]
    with pytest.raises(ValueError, match="vector score of every"):
        fuse([vector, candidates(("z", 1.0))], "calibrated", params)


def test_equal_scores_are_ordered_by_document_then_chunk():
    sets = [
        [Candidate("b", 1, "", 1.0)],
        [Candidate("b", 0, "", 1.0)],
        [Candidate("a", 10, "", 1.0)],
        [Candidate("a", 9, "", 1)],
    ]
    assert [c.key for c in fuse(sets)] == [("a", 9), ("a", 10), ("b", 0), ("b", 1)]


def test_more_lists_than_two_fuse_such_as_variants_of_a_query():
    ranked = fuse([candidates(("a", 1)), candidates(("b", 1)), candidates(("b", 1), ("a", 0.5))])
    assert [c.doc_id for c in ranked] == ["b", "a"]


def test_a_repeated_chunk_counts_where_it_stands_first():
    assert shown(fuse([candidates(("a", 3), ("b", 2), ("a", 1))])) == [("a", 1 / 61), ("b", 1 / 62)]


def test_fusing_leaves_its_input_alone():
    sets = [candidates(("a", 3), ("b", 2)), candidates(("b", 1))]
    before = copy.deepcopy(sets)
    fuse(sets)
    assert sets == before


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("best", None, "unknown fusion method"),
        ("blend", {"alpha": 1.5}, "between 0 and 1"),
        ("blend", {"weights": [1]}, "as many weights"),
        ("rrf", {"rrf_k": -1}, "negative"),
        ("calibrated", {"mean": 0, "deviation": 1, "w": 0}, "positive"),
    ],
)
def test_impossible_parameters_are_refused(method, params, message):
    with pytest.raises(ValueError, match=message):
        fuse([candidates(("a", 1)), candidates(("a", 1))], method, params)


def test_scores_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="finite"):
        blend([([1], [math.nan])], [1.0])


LEGS = st.lists(
    st.lists(
        st.tuples(st.integers(0, 30), st.floats(-1e6, 1e6)),
        max_size=20,
        unique_by=lambda pair: pair[0],
    ),
    max_size=4,
)


@given(LEGS)
def test_rrf_equals_its_definition(legs):
    expected = {}
    for leg in legs:
        for rank, (row, _) in enumerate(leg, 1):
            expected[row] = expected.get(row, 0.0) + 1 / (60 + rank)
    rows, scores = rrf([([r for r, _ in leg], None) for leg in legs])
    assert list(zip(rows.tolist(), scores.tolist(), strict=True)) == sorted(
        expected.items(), key=lambda item: (-item[1], item[0])
    )


@given(LEGS)
def test_blend_equals_its_definition(legs):
    expected = {}
    for leg in legs:
        low, high = min((s for _, s in leg), default=0), max((s for _, s in leg), default=0)
        for row, score in leg:
            expected[row] = expected.get(row, 0.0) + 0.3 * (
                (score - low) / (high - low) if high > low else 1.0
            )
    rows, scores = blend(
        [([r for r, _ in leg], [s for _, s in leg]) for leg in legs], [0.3] * len(legs)
    )
    assert list(zip(rows.tolist(), scores.tolist(), strict=True)) == sorted(
        expected.items(), key=lambda item: (-item[1], item[0])
    )


@given(
    st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=50), st.randoms(use_true_random=False)
)
def test_sample_statistics_do_not_depend_on_order(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    assert sample_statistics(shuffled) == sample_statistics(values)
    mean, deviation = sample_statistics(values)
    assert mean == pytest.approx(np.mean(values), abs=1e-12)
    assert deviation == pytest.approx(np.std(values), abs=1e-12)


def test_an_empty_sample_has_zeros():
    assert sample_statistics([]) == (0.0, 0.0)


# ----------------------------------------------------------------------------------------------- calibrated in the core --

SCORES = st.floats(0, 50, width=32) | st.sampled_from([0.0, 1.0, 1e-45, 3e38])
NEAR = st.floats(-1, 1, width=32) | st.sampled_from([0.5, -3e38, 3e38])
SCALES = st.tuples(
    st.floats(-1, 1),
    st.sampled_from([0.0, 1e-300, 0.1, 1.0]) | st.floats(0.01, 1),
    st.sampled_from([4, 6, 1e-9, 1e200]),
)


@given(st.lists(st.tuples(SCORES, NEAR), max_size=80), SCALES, st.randoms())
def test_the_core_ranks_as_numpy_does(both, scale, random):
    bm25, dense = (np.array([pair[i] for pair in both], np.float32) for i in (0, 1))
    ties = np.array(random.sample(range(1000), len(both)), dtype=np.int64)
    mean, deviation, w = scale
    with np.errstate(all="ignore"):
        rows, expected = calibrated(ties, bm25, dense, mean=mean, deviation=deviation, w=w)
    order, scores = _core.Calibration(mean, deviation, w).rank(ties, bm25, dense)
    assert ties[order].tolist() == rows.tolist()
    assert scores.tolist() == expected.tolist()


@given(
    st.lists(st.tuples(SCORES, NEAR), min_size=1, max_size=60),
    SCALES,
    st.integers(0, 20),
    st.lists(NEAR, max_size=20),
)
def test_no_row_below_the_least_dense_score_comes_among_the_k_best(both, scale, k, others):
    bm25, dense = (np.array([pair[i] for pair in both], np.float32) for i in (0, 1))
    mean, deviation, w = scale
    rest = bm25.min()
    with np.errstate(all="ignore"):
        least = least_dense(bm25, dense, rest=rest, k=k, mean=mean, deviation=deviation, w=w)
        assert _core.Calibration(mean, deviation, w).least(bm25, dense, k, rest) == least
        below = np.nextafter(np.float32(least), np.float32(-3e38))
        near = np.array([min(other, below) for other in others], np.float32)
        rows = np.arange(len(both) + len(near))
        all_bm25, all_dense = np.append(bm25, np.full(len(near), rest)), np.append(dense, near)
        ranked, _ = calibrated(rows, all_bm25, all_dense, mean=mean, deviation=deviation, w=w)
    if least > -math.inf:
        assert (ranked[:k] < len(both)).all()


def test_what_has_no_vector_counts_as_the_mean():
    scale, rows = _core.Calibration(0.1, 0.25, 6), np.arange(2)
    bm25, none = np.array([1, 2], np.float32), np.array([np.nan, 0.5], np.float32)
    mean = np.array([np.float32(0.1), 0.5], np.float32)
    for found, wanted in zip(
        scale.rank(rows, bm25, none), scale.rank(rows, bm25, mean), strict=True
    ):
        assert found.tobytes() == wanted.tobytes()
    assert scale.least(bm25, none, 1, 0.5) == scale.least(bm25, mean, 1, 0.5)


def test_scores_that_are_not_finite_and_weights_that_are_not_positive_are_refused():
    scale, one = _core.Calibration(0.0, 1.0, 6), np.ones(1, np.float32)
    with pytest.raises(ValueError, match="finite"):
        scale.rank(np.zeros(1, np.int64), one, one * np.inf)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="finite"):
            scale.least(one * bad, one, 1, 0.0)
    with pytest.raises(ValueError, match="both scores"):
        scale.rank(np.zeros(2, np.int64), one, one)
    for w in (0, -1, math.nan):
        with pytest.raises(ValueError, match="positive"):
            _core.Calibration(0.0, 1.0, w)


@pytest.mark.parametrize("method", ["rrf", "blend"])
def test_k_has_two_meanings_elsewhere_and_is_refused(method):
    legs = [candidates(("a", 2), ("b", 1)), candidates(("b", 2))]
    with pytest.raises(ValueError, match=r"rrf_k .* limit"):
        fuse(legs, method, {"k": 10})
    assert [c.doc_id for c in fuse(legs, method, {"limit": 1})] == ["b" if method == "rrf" else "a"]
