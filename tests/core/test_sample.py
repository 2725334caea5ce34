"""A sample's moments are those of the canonical scores of its rows, to the bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.fusion import sample_statistics
from oracles.vectors import METRICS, canonical_scores

from ragfile import _core
from ragfile.errors import ModelError


def expected(rows, query, metric):
    with np.errstate(all="ignore"):
        scores = canonical_scores(query, rows, metric)
    return sample_statistics(scores[np.isfinite(rows).all(axis=1)])


@given(
    st.integers(0, 70),
    st.integers(1, 300),
    st.sampled_from(METRICS),
    st.integers(0, 2**32 - 1),
    st.integers(-30, 15),
)
def test_moments_are_those_of_the_canonical_scores(count, dim, metric, seed, power):
    rng = np.random.default_rng(seed)
    rows = (rng.standard_normal((count, dim)) * 10.0**power).astype(np.float32)
    query = rng.standard_normal(dim).astype(np.float32)
    assert _core.Sample(rows, metric).moments(query) == expected(rows, query, metric)


@pytest.mark.parametrize("metric", METRICS)
def test_rows_without_a_finite_norm_have_no_part(metric):
    rng = np.random.default_rng(1)
    rows, query = (
        rng.standard_normal((50, 33)).astype(np.float32),
        rng.standard_normal(33).astype(np.float32),
    )
    rows[3, 7], rows[8, 0], rows[20] = np.nan, np.inf, 0
    assert _core.Sample(rows, metric).moments(query) == expected(rows, query, metric)


def test_a_sample_keeps_its_own_copy():
    rows = np.eye(3, dtype=np.float32)
    sample = _core.Sample(rows)
    before = sample.moments(rows[0])
    rows[:] = 5
    assert sample.moments(np.eye(3, dtype=np.float32)[0]) == before
    assert len(sample) == 3


def test_a_query_of_other_dimensions_or_of_several_rows_is_refused():
    sample = _core.Sample(np.eye(3, dtype=np.float32))
    with pytest.raises(ModelError):
        sample.moments(np.ones(4, np.float32))
    with pytest.raises(ValueError, match="one query"):
        sample.moments(np.ones((2, 3), np.float32))
