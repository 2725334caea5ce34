"""rag.frequencies: the numbers of rows by term, of parts that are added up and taken away, against plain counters."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragfile import _core
from ragfile.errors import FormatError
from ragfile.ingest.analysis import Analysis, Statistics

ANALYSIS = Analysis(stemmer="none", stop_words="none")


def lexicon(rows):
    builder, parts = _core.LexicalBuilder(ANALYSIS), {}
    builder.add(rows)
    sections = [bytearray(), bytearray()]
    builder.finish(sections[0].extend, sections[1].extend)
    parts = [_core.Section.over(bytes(part), "rag.x") for part in sections]
    return _core.Lexicon(parts[1], parts[0])


def counted(rows):
    return Counter(term for row in rows for term in set(row.split()))


def merged(parts, rows):
    out = bytearray()
    live = [row for group in rows for row in group]
    _core.merge_frequencies(parts, out.extend, len(live), sum(len(row.split()) for row in live))
    return _core.Frequencies(_core.Section.over(bytes(out), "rag.frequencies")), bytes(out)


def words(rng, count, vocabulary):
    return [" ".join(rng.choices(vocabulary, k=rng.randint(0, 9))) for _ in range(count)]


VOCABULARY = [f"{'prefix' * (i % 4)}{i:x}" for i in range(3000)]


@given(st.integers(0, 2**32), st.integers(1, 6))
def test_parts_add_up_to_what_a_counter_says(seed, count):
    rng = random.Random(seed)
    vocabulary = rng.sample(VOCABULARY, rng.randint(1, 200))
    rows = [words(rng, rng.randint(1, 30), vocabulary) for _ in range(count)]
    found, raw = merged([(lexicon(part), None, False) for part in rows], rows)
    wanted = counted([row for part in rows for row in part])
    assert {term: found.df(term) for term in vocabulary} == {t: wanted[t] for t in vocabulary}
    assert len(found) == len(wanted)
    assert found.df("nobody") == 0
    one, same = merged([(lexicon([r for part in rows for r in part]), None, False)], rows)
    assert same == raw
    assert (one.rows, one.total_length) == (found.rows, found.total_length)


@given(st.integers(0, 2**32))
def test_what_is_taken_away_leaves_the_bytes_of_the_rest(seed):
    rng = random.Random(seed)
    a, b = words(rng, 20, VOCABULARY[:60]), words(rng, 9, VOCABULARY[30:90])
    both, _ = merged([(lexicon(a), None, False), (lexicon(b), None, False)], [a, b])
    left, raw = merged([(both, None, False), (lexicon(b), None, True)], [a])
    assert raw == merged([(lexicon(a), None, False)], [a])[1]
    assert left.rows == len(a)


@given(st.integers(0, 2**32), st.integers(1, 2))
def test_terms_that_begin_so_or_are_spelled_so_are_those_of_the_dictionary(seed, edits):
    """The dictionary of one lexicon walks its own blocks; a plain comparison judges both."""
    rng = random.Random(seed)
    rows = words(rng, 60, rng.sample(VOCABULARY, 400))
    own, counts = lexicon(rows), counted(rows)
    found, _ = merged([(own, None, False)], [rows])
    known = rng.choice(VOCABULARY)
    for word in ("", known, known[:-1], known[:7], known + "x", "p", "zz", "\udcff"):
        begun = {t: n for t, n in sorted(counts.items()) if t.startswith(word)}
        assert found.beginning(word) == begun
        assert list(found.near(word, edits)) == list(own.near(word, edits))
        assert found.near(word, edits).items() <= counts.items()
        at, size = found.stretch(word) if word.isascii() else (0, 0)
        assert (at + size) % 4096 == 0 or not size


def test_deleted_rows_do_not_count():
    rows = ["red fox", "red red", "blue fox", "green"]
    alive = np.array([0b1001], np.uint64)
    found, _ = merged([(lexicon(rows), alive, False)], [[rows[0], rows[3]]])
    assert [found.df(term) for term in ("red", "fox", "blue", "green")] == [1, 1, 0, 1]


def test_many_terms_with_the_same_beginning_fill_many_blocks():
    vocabulary = [f"sameprefix{i:06}" for i in range(6000)]
    rows = [" ".join(vocabulary[i::50]) for i in range(50)]
    found, raw = merged([(lexicon(rows), None, False)], [rows])
    assert len(raw) > 4 * 4096
    assert all(found.df(term) == 1 for term in vocabulary)
    assert found.df("sameprefix") == 0
    assert found.df("sameprefix006000") == 0


def test_taking_away_more_than_there_is_is_refused():
    with pytest.raises(FormatError, match="add up"):
        merged([(lexicon(["a b"]), None, False), (lexicon(["a c"]), None, True)], [["b"]])


def test_queries_carry_the_frequencies_to_any_lexicon():
    import pickle

    rows = [["red fox", "red hen"], ["red", "fox fox"]]
    found, _ = merged([(lexicon(part), None, False) for part in rows], rows)
    whole = lexicon([row for part in rows for row in part])
    queries = pickle.loads(pickle.dumps(found.queries(["red fox", "hen"])))
    stats = Statistics(found.rows, found.total_length)
    ids, scores = whole.match(["red fox", "hen"], 9)
    wanted = [
        dict(zip(i.tolist(), s.tolist(), strict=True)) for i, s in zip(ids, scores, strict=True)
    ]
    for base, part in zip((0, 2), rows, strict=True):
        ids, scores = lexicon(part).match(queries, 9, stats=stats)
        for query in range(2):
            for row, score in zip(ids[query], scores[query], strict=True):
                assert row < 0 or wanted[query][base + row] == score
    assert lexicon(rows[0]).score([0, 1], queries, stats=stats, of=0).tolist() == [
        wanted[0][0], wanted[0][1],
    ]  # fmt: skip
    with pytest.raises(ValueError, match="no number 2"):
        whole.score([0], queries, of=2)


def test_damaged_sections_are_refused_or_harmless():
    rows = [words(random.Random(3), 40, VOCABULARY)]
    _, raw = merged([(lexicon(rows[0]), None, False)], rows)
    rng = random.Random(8)
    for _ in range(3000):
        data = bytearray(raw)
        for _ in range(rng.randint(1, 6)):
            data[rng.randrange(len(data) if rng.random() < 0.5 else 128)] = rng.randrange(256)
        if rng.random() < 0.2:
            del data[rng.randrange(len(data)) :]
        _tried(bytes(data))


def _tried(data):
    """Whatever a section says, it is refused or gives numbers."""
    try:
        found = _core.Frequencies(_core.Section.over(data, "rag.frequencies"))
        found.queries(["prefix1 2a nobody"])
        found.beginning("pre"), found.near("prefix1", 2)
        out = bytearray()
        _core.merge_frequencies([(found, None, False)], out.extend, found.rows, 1)
    except (FormatError, MemoryError):
        pass
