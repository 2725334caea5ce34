"""Weights of terms: what is written is read, and searches equal sums of exact products, bit for bit."""

import contextlib
import itertools
import random

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given, settings
from oracles import sparse as oracle

from ragfile import _core
from ragfile.errors import FormatError

TERMS = [*"abcdefghij", "##ing", "größe", "犬", "a" * 255]
weight = st.one_of(
    st.floats(2**-18, 10, width=32), st.floats(0, 65520), st.sampled_from([0, 2**-17, 1.0, 65520])
)
row = st.dictionaries(st.sampled_from(TERMS), weight, max_size=8)


def written(rows, memory=1 << 20):
    """The bytes of a section."""
    packed = [_core.sparse_packed(one) for one in rows]
    builder, out = _core.SparseBuilder(memory), bytearray()
    for one in packed:
        builder.count(one)
    _, parts = builder.plan()
    for part in range(parts):
        builder.begin(part, out.extend)
        for one in packed:
            builder.put(one)
        builder.end(out.extend)
    return bytes(out)


def opened(raw):
    return _core.SparseWeights(_core.Section.over(raw))


def searched(weights, question, k, where=None):
    """The rows and scores of one segment."""
    rows, scores = _core.sparse_search([(weights, where)], [_core.SparseQuestion(question)], k)
    return [
        (r, s) for r, s in zip(rows[0, 0].tolist(), scores[0, 0].tolist(), strict=True) if r >= 0
    ]


def stored(one):
    return {term: kept for term, value in one.items() if (kept := oracle.rounded(value))}


@given(weight)
@example(2**-17 - 2**-41)
@example(65519.9)
def test_a_weight_is_rounded_to_twelve_bits(value):
    assert _core.sparse_rounded(value) == oracle.rounded(value)
    assert _core.sparse_rounded(_core.sparse_rounded(value)) == _core.sparse_rounded(value)


@given(st.lists(row, min_size=1, max_size=40), st.sampled_from([1, 40, 1 << 20]))
@settings(max_examples=60)
def test_rows_are_read_as_they_were_written(rows, memory):
    if not any(map(stored, rows)):
        return
    raw = written(rows, memory)
    weights = opened(raw)
    weights.check_all()
    held = weights.by_row(len(rows))
    assert [held.weights(i) for i in range(len(rows))] == [stored(one) for one in rows]
    assert written([held.weights(i) for i in range(len(rows))]) == raw


@given(st.lists(row, min_size=1, max_size=60), row, st.integers(1, 70), st.booleans(), st.data())
@settings(max_examples=100)
def test_a_search_is_the_exact_one(rows, question, k, has_filter, data):
    if not any(map(stored, rows)):
        return
    weights = opened(written(rows))
    passing = None
    if has_filter:
        passing = np.array(
            data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
        )
    where = None if passing is None else _core.row_set(passing, len(rows))
    wanted = oracle.best(rows, question, k, lambda r: passing is None or passing[r])
    assert searched(weights, question, k, where) == wanted
    asked = _core.SparseQuestion(question)
    scores = weights.score(np.arange(len(rows)), asked).tolist()
    assert scores == [oracle.score(one, question) or 0 for one in rows]


def many_rows(count, seed=5, share=1.0):
    """Rows of a vocabulary with frequent and rare terms; a share of the rows has any."""
    rng = random.Random(seed)
    names = [f"t{i}" for i in range(40)]
    weights = [rng.expovariate(1) + 0.01 for _ in range(5000)]
    return [
        {name: rng.choice(weights) for i, name in enumerate(names) if rng.random() < 1 / (1 + i)}
        if share == 1 or rng.random() < share
        else {}
        for _ in range(count)
    ]


@pytest.fixture(scope="module")
def large():
    rows = many_rows(140_000, share=0.05)
    return rows, opened(written(rows, 100_000))


@pytest.mark.parametrize("k", [1, 10, 300, 17_000])
def test_windows_of_rows_are_searched_together(large, k):
    rows, weights = large
    rng = random.Random(k)
    for _ in range(2):
        question = {f"t{rng.randrange(45)}": rng.random() * 3 for _ in range(6)}
        assert searched(weights, question, k) == oracle.best(rows, question, k)


def test_a_long_question_is_summed_directly(large):
    rows, weights = large
    question = {f"t{i}": 1 + i / 7 for i in range(40)} | {f"u{i}": 1 for i in range(3000)}
    assert searched(weights, question, 5) == oracle.best(rows, question, 5)
    few = [{f"u{i}": 1.0 + j for i in range(j * 800, 2400)} for j in range(3)]
    assert searched(opened(written(few)), question, 5) == oracle.best(few, question, 5)


@pytest.mark.parametrize("cuts", [[20], [5, 6, 100], [300, 350]])
def test_segments_together_have_the_best_of_all(cuts):
    rows = many_rows(400)
    bounds = [0, *cuts, len(rows)]
    parts = [rows[a:b] for a, b in itertools.pairwise(bounds)]
    legs = [(opened(written(part)), None) for part in parts]
    question = {"t0": 1.0, "t3": 2.0, "t9": 0.5}
    found, scores = _core.sparse_search(legs, [_core.SparseQuestion(question)], 10)
    together = [
        (-score, int(r) + base)
        for leg, some, base in zip(found[0], scores[0], bounds, strict=False)
        for r, score in zip(leg, some.tolist(), strict=True)
        if r >= 0
    ]
    assert [(r, -s) for s, r in sorted(together)[:10]] == oracle.best(rows, question, 10)


@pytest.mark.parametrize(
    ("weights", "kind", "what"),
    [
        ({"a": -1}, ValueError, "'a' is not between 0 and 65,520"),
        ({"a": float("nan")}, ValueError, "not between"),
        ({"a": 65521}, ValueError, "not between"),
        ({"": 1}, ValueError, "1 to 255 bytes"),
        ({"a" * 256: 1}, ValueError, "1 to 255 bytes"),
        ({"a\0": 1}, ValueError, "no NUL"),
        ({"\ud800": 1}, ValueError, "lone surrogate"),
        ({3: 1}, TypeError, "a term of sparse weights is a str, not int"),
        ([("a", 1)], TypeError, "a mapping from terms to numbers, not list"),
    ],
)
def test_bad_weights_are_refused(weights, kind, what):
    for made in (_core.sparse_packed, _core.SparseQuestion):
        with pytest.raises(kind, match=what):
            made(weights)


def test_malformed_rows_are_refused():
    for packed in (b"\5a", b"\0ab", b"\1a\0", b"\1a\0\0\1a\0\0"):
        with pytest.raises(ValueError, match=r"malformed|twice"):
            _core.SparseBuilder(100).count(packed)
    builder = _core.SparseBuilder(100)
    builder.count(_core.sparse_packed({"a": 1}))
    builder.plan()
    builder.begin(0, bytes)
    builder.put(_core.sparse_packed({"a": 1}))
    with pytest.raises(ValueError, match="than was counted"):
        builder.put(_core.sparse_packed({"a": 1}))
    builder.begin(0, bytes)
    with pytest.raises(ValueError, match="fewer rows"):
        builder.end(bytes)


def test_weights_of_another_number_of_rows_are_refused_before_any_memory_is_taken():
    raw = bytearray(written(many_rows(90, 3)))
    at = next(i for i in range(8, 64, 8) if int.from_bytes(raw[i : i + 8], "little") == 90)
    raw[at : at + 8] = (1 << 31).to_bytes(8, "little")
    weights = opened(bytes(raw))
    assert weights.rows == 1 << 31
    with pytest.raises(FormatError, match="2147483648 rows, its segment has 90"):
        weights.by_row(90)


@given(st.data())
@settings(max_examples=150)
def test_damaged_bytes_are_refused_or_searched_safely(data):
    raw = bytearray(written(many_rows(90, 3)))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    raw = raw[: len(raw) - data.draw(st.sampled_from([0, 0, 0, 1, 64, 200]))]
    question = {f"t{i}": 1.0 for i in range(0, 40, 3)}
    with contextlib.suppress(FormatError):
        weights = opened(bytes(raw))
        with contextlib.suppress(FormatError):
            weights.check_all()
        with contextlib.suppress(FormatError):
            weights.by_row(90).weights(0)
        with contextlib.suppress(FormatError):
            weights.score(np.arange(min(weights.rows, 90)), _core.SparseQuestion(question))
        with contextlib.suppress(FormatError):
            searched(weights, question, 5)
