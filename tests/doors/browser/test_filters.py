"""Filters in node, decided by the core, equal those of Python on the same files."""

import random
from unittest import mock

import pytest
from doors.browser.node import Reader
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ragfile
from ragfile.file import stored_columns

KEYS = ["a", "b", "a.b", "b.a", "a.b.x", "x", "kéy", 'q"\\\n', "doc_id", "id", "source", "tags"]
NUMBERS = [0, 1, 2, -1, 1.5, -0.0, 2**53, 1e300, 1e-5, 0.1]
TEXTS = ["", "1", "a", "ab", "true", "é", "😀", "\uffff", "d1", "d3#1", "d1#0", "s", "\x00\x01"]
SCALARS = st.none() | st.booleans() | st.sampled_from(NUMBERS) | st.sampled_from(TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abx"), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip
ORDERED = st.sampled_from([*NUMBERS, *TEXTS])
OPERATOR = st.one_of(
    st.tuples(st.sampled_from(["$eq", "$ne", "$contains"]), VALUES),
    st.tuples(st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), ORDERED),
    st.tuples(st.sampled_from(["$in", "$nin", "$any", "$all"]), st.lists(SCALARS, max_size=3)),
    st.tuples(st.just("$exists"), st.booleans()),
)
OPERATORS = st.lists(OPERATOR, min_size=1, max_size=2).map(dict)
FIELD = VALUES | OPERATORS | OPERATORS.map(lambda one: {"$not": one})
WHERE = st.recursive(
    st.dictionaries(st.sampled_from(KEYS), FIELD, max_size=2),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"$not": inner}),
        st.fixed_dictionaries({"$and": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"$or": st.lists(inner, min_size=1, max_size=3)}),
    ),
    max_leaves=4,
)
TAGS = st.lists(st.sampled_from(["r", "g", "é"]), max_size=2)


def value(rng, depth=0):
    made = rng.random()
    if depth < 3 and made < 0.15:
        return [value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    if depth < 3 and made < 0.3:
        return {key: value(rng, depth + 1) for key in rng.sample("abx", rng.randint(0, 2))}
    return rng.choice([*NUMBERS, *TEXTS, None, True, False, 2**53 + 1, -(2**63), 10**25])


def fields(rng):
    names = rng.sample(KEYS, rng.randint(0, 4))
    return {name: value(rng) for name in names}


def file_of(path, seed, count, least):
    """A file of some segments; those of `least` rows or more have columns."""
    rng = random.Random(seed)
    with mock.patch.object(stored_columns, "WORTH", least):
        for part in range(3):
            chunks = [
                {"doc_id": f"d{seed}{part}{i % (count // 2)}", "chunk_index": i // (count // 2), "content": "x",
                 "metadata": fields(rng), "tags": rng.sample(["r", "g", "é"], rng.randint(0, 2))}
                for i in range(count)
            ]  # fmt: skip
            with ragfile.edit(path) if path.exists() else ragfile.create(path) as w:
                w.add(chunks)
    return path


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A file with columns, one without, and one with both kinds of segments and deletions."""
    folder = tmp_path_factory.mktemp("filters")
    paths = [
        file_of(folder / "stored.ragfile", 1, 90, 0),
        file_of(folder / "made.ragfile", 2, 60, 10**9),
        file_of(file_of(folder / "both.ragfile", 3, 60, 0), 4, 30, 10**9),
    ]
    with ragfile.edit(paths[2]) as w:
        w.delete(ragfile.open(paths[2]).document_ids()[::7])
    files = [(ragfile.open(path), Reader(path)) for path in paths]
    for _, there in files:
        there("open")
    yield files
    for _, there in files:
        there.__exit__()


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(WHERE, TAGS, TAGS)
def test_a_filter_finds_the_rows_that_it_finds_in_python(opened, where, tags_any, tags_all):
    options = {"where": where, "tagsAny": tags_any, "tagsAll": tags_all, "k": 10_000}
    for rf, there in opened:
        mask = rf.rows.mask(where, tags_any, tags_all)
        expected = set(rf.live_rows().tolist() if mask is None else mask.nonzero()[0].tolist())
        assert set(there("match", "x", options)["rows"]) == expected, rf.path


def test_a_filter_reads_the_columns_that_it_names_and_no_metadata(tmp_path):
    path, rng = tmp_path / "kb.ragfile", random.Random(9)
    with ragfile.create(path) as w:
        w.add([{"doc_id": f"d{i}", "chunk_index": 0, "content": "x",
                "metadata": {"year": i, "noise": rng.randbytes(700).hex()}} for i in range(3000)])  # fmt: skip
    assert path.stat().st_size > 2_000_000
    with Reader(path) as there:
        there("open")
        before = there("memory")["received"]
        assert len(there("match", "x", {"where": {"year": {"$lt": 3}}, "k": 10})["rows"]) == 3
        assert there("memory")["received"] - before < 500_000


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (3, "an object"),
        ({"$nor": []}, "unknown operator '$nor'"),
        ({"$and": []}, "one or more"),
        ({"a": {"$near": 1}}, "unknown operator '$near' on 'a'"),
        ({"a": {"$gt": [1]}}, "number or a string"),
        ({"a": {"$in": 3}}, "takes a list"),
        ({"a": {"$exists": 1}}, "true or false"),
        ({"a": {"$not": {}}}, "object of operators"),
        ({"a": {"$not": 3}}, "object of operators"),
    ],
)
def test_a_filter_without_a_meaning_is_refused(opened, where, said):
    _, there = opened[0]
    answer = there.answer("match", "x", {"where": where, "k": 3})
    assert (answer["error"], said in answer["message"]) == ("ArgumentError", True), answer
