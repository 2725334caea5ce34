"""Other weights of fields than a file's, against lists that were built with these weights."""

import random
from dataclasses import replace

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from ragfile import _core
from ragfile.errors import CorruptError
from ragfile.ingest.analysis import Analysis

FIELDS = Analysis("none", "none", fields=(("text", 2), ("headers", 6), ("tags", 1)))
WORDS = [f"w{n}" for n in range(40)]


def lexicon(rows, analysis):
    builder, postings, terms = _core.LexicalBuilder(analysis), bytearray(), bytearray()
    builder.add(rows)
    builder.finish(postings.extend, terms.extend)
    return _core.Lexicon(_core.Section.over(bytes(terms)), _core.Section.over(bytes(postings)))


def with_fields(rows, analysis):
    found = lexicon(rows, analysis)
    own = [
        lexicon([row[n] or "" for row in rows], analysis.of_field(n)) for n in analysis.own_fields
    ]
    found.attach(own, analysis.built_weights)
    return found


def reweighed(analysis, weights):
    """The analysis of a build with these weights; a field of weight 0 is left out."""
    named = zip((analysis.rest, *analysis.own_fields), weights, strict=True)
    kept = sorted((n, weight) for n, weight in named if weight)
    fields = tuple((analysis.fields[n][0], weight) for n, weight in kept)
    return replace(analysis, fields=fields), [n for n, _ in kept]


def oracle(rows, analysis, weights):
    other, kept = reweighed(analysis, weights)
    return lexicon([tuple(row[n] for n in kept) for row in rows], other)


def some_rows(seed, count):
    """Rows with common and rare words; some fields are empty or not there."""
    draw = random.Random(seed)
    weights = [1 / (n + 1) for n in range(len(WORDS))]

    def text(most):
        return " ".join(draw.choices(WORDS, weights, k=draw.randrange(most + 1)))

    return [(text(30), draw.choice([None, text(5)]), text(2)) for _ in range(count)]


def same(one, other):
    for a, b in zip(one, other, strict=True):
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()


WEIGHTS = st.tuples(*[st.sampled_from([0, 1, 2, 3, 6, 50, 255])] * 3).filter(any)


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 5), count=st.sampled_from([0, 1, 30, 40, 3000]), weights=WEIGHTS,
    asked=st.lists(st.sampled_from([*WORDS[:6], *WORDS[-6:]]), min_size=1, max_size=5),
    k=st.sampled_from([1, 5, 40]),
)  # fmt: skip
def test_an_answer_has_the_bits_of_a_build_with_these_weights(seed, count, weights, asked, k):
    rows, text = some_rows(seed, count), " ".join(asked)
    lexicons = _core.Lexicons([(with_fields(rows, FIELDS), None, 0)])
    queries = lexicons.weighed([text], (), weights)
    built = oracle(rows, FIELDS, weights)
    found, scores = lexicons.match(queries, k, [None])
    same((found[:, 0], scores[:, 0]), built.match([text], k))
    every = np.arange(count, dtype=np.int64)
    same((lexicons.score(every, queries),), (built.score(every, text),))


@pytest.mark.parametrize("weights", [(1, 3, 1), (0, 1, 0), (2, 0, 7), (255, 1, 1), (0, 255, 1)])
def test_segments_with_deleted_rows_answer_as_one_without_them(weights):
    parts = [some_rows(seed, count) for seed, count in ((1, 900), (2, 40), (3, 3))]
    draw, segments, kept, base = random.Random(9), [], [], 0
    for rows in parts:
        alive = np.array([draw.random() < 0.8 for _ in rows])
        words = np.packbits(np.resize(alive, -(-len(rows) // 64) * 64), bitorder="little")
        segments.append((with_fields(rows, FIELDS), words.view(np.uint64), base))
        kept += [(base + i, row) for i, row in enumerate(rows) if alive[i]]
        base += len(rows)
    lexicons = _core.Lexicons(segments)
    built = oracle([row for _, row in kept], FIELDS, weights)
    numbers = np.array([number for number, _ in kept])
    for text in ("w0 w3 w30", "w39", "w1 w1 w38 nowhere"):
        queries = lexicons.weighed([text], (), weights)
        same((lexicons.score(numbers, queries),), (built.score(np.arange(len(kept)), text),))
        found, scores = lexicons.match(queries, 20, [alive for _, alive, _ in segments])
        rows, best = _core.ranked(found[0].reshape(-1), scores[0].reshape(-1), 20)
        there, want = built.match([text], 20)
        filled = there[0] >= 0
        same((rows[:20], best[:20]), (numbers[there[0][filled]], want[0][filled]))


def test_queries_travel_with_their_weights():
    import pickle

    rows = some_rows(4, 300)
    lexicons = _core.Lexicons([(with_fields(rows, FIELDS), None, 0)])
    queries = lexicons.weighed(["w0 w1"], (), (1, 9, 0))
    there = pickle.loads(pickle.dumps(queries))
    assert there.weights == (1, 9, 0)
    same(lexicons.match(there, 9, [None]), lexicons.match(queries, 9, [None]))


def test_weights_need_the_lists_of_fields():
    lexicons = _core.Lexicons([(lexicon(some_rows(1, 9), FIELDS), None, 0)])
    queries = lexicons.queries(["w0"])
    queries.weigh((1, 2, 3), 9, 9, 1.2, 0.75)
    with pytest.raises(ValueError, match="other fields with lists of their own than weights"):
        lexicons.match(queries, 3, [None])


def test_a_field_has_as_many_rows_as_the_segment():
    rows = some_rows(1, 9)
    with pytest.raises(CorruptError, match="a field has another number of rows"):
        lexicon(rows, FIELDS).attach(
            [lexicon([""] * 8, FIELDS.of_field(n)) for n in (1, 2)], FIELDS.built_weights
        )


def test_lists_of_many_windows_are_bounded_rightly():
    """Dense and sparse containers, in more windows than one, with thresholds that rise."""
    draw = np.random.default_rng(3)
    share = 1 / np.arange(1, 41)
    words = draw.choice(WORDS, size=(140_000, 6), p=share / share.sum()).tolist()
    rows = [(" ".join(row[2:]), " ".join(row[:2]), "") for row in words]
    lexicons = _core.Lexicons([(with_fields(rows, FIELDS), None, 0)])
    for weights in ((2, 1, 1), (1, 30, 1), (4, 0, 1)):
        built = oracle(rows, FIELDS, weights)
        for text in ("w0 w5", "w39 w2 w0", "w17"):
            queries = lexicons.weighed([text], (), weights)
            for k in (1, 3, 200):
                found, scores = lexicons.match(queries, k, [None])
                same((found[:, 0], scores[:, 0]), built.match([text], k))
