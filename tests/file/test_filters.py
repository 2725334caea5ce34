"""Filters equal a slow predicate, written from the definition alone; what has no meaning is refused."""

import hypothesis.strategies as st
import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from oracles.filters import find, passes

from ragfile.file.filters import Dicts, compile, resolve, sort_key

NUMBERS = st.sampled_from(
    [0, 1, 2, -1, 1.0, 1.5, -0.0, 2**53, 2**53 + 1, float(2**53), 10**400, 1e300]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    NUMBERS,
    st.sampled_from(["", "1", "a", "ab", "true", "é", "😀", "\uffff"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abx"), inner, max_size=2)
    ),
    max_leaves=4,
)
KEYS = st.sampled_from(["a", "b", "a.b", "b.a", "a.b.x", "x"])
METADATA = st.dictionaries(KEYS, VALUES, max_size=4)
ORDERED = st.one_of(NUMBERS, st.sampled_from(["", "a", "é", "😀", "\uffff"]))
LISTS = st.lists(SCALARS, max_size=3)
OPERATOR = st.one_of(
    st.tuples(st.sampled_from(["$eq", "$ne", "$contains"]), VALUES),
    st.tuples(st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), ORDERED),
    st.tuples(st.sampled_from(["$in", "$nin", "$any", "$all"]), LISTS),
    st.tuples(st.just("$exists"), st.booleans()),
)
OPERATORS = st.lists(OPERATOR, min_size=1, max_size=2).map(dict)
FIELD = st.one_of(VALUES, OPERATORS, OPERATORS.map(lambda o: {"$not": o}))
WHERE = st.recursive(
    st.dictionaries(KEYS, FIELD, max_size=2),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"$not": inner}),
        st.fixed_dictionaries({"$and": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"$or": st.lists(inner, min_size=1, max_size=3)}),
    ),
    max_leaves=4,
)


@settings(max_examples=examples(200))
@given(WHERE, st.lists(METADATA, max_size=12))
def test_a_mask_equals_the_slow_predicate_on_every_row(where, rows):
    mask = compile(where).mask(Dicts(rows))
    assert mask.dtype == bool
    assert mask.tolist() == [passes(where, row) for row in rows]


@given(METADATA, KEYS)
def test_paths_resolve_as_defined(metadata, path):
    missing = object()
    found = find(metadata, path)
    value = resolve(metadata, path, missing)
    assert value == found[0] if found else value is missing


ROWS = [
    {"v": 1},
    {"v": "1"},
    {"v": True},
    {"v": 1.0},
    {"v": None},
    {},
    {"v": [1]},
    {"v": {"n": 1}},
    {"v": False},
    {"v": 0},
]


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ({"v": 1}, [0, 3]),
        ({"v": "1"}, [1]),
        ({"v": True}, [2]),
        ({"v": None}, [4]),
        ({"v": {"$exists": False}}, [5]),
        ({"v": [1]}, [6]),
        ({"v": {"n": 1}}, [7]),
        ({"v.n": 1}, [7]),
        ({"v": {"$ne": 1}}, [1, 2, 4, 5, 6, 7, 8, 9]),
        ({"v": {"$gte": 0, "$lt": 2}}, [0, 3, 9]),
        ({"v": {"$in": []}}, []),
        ({"v": {"$all": []}}, [6]),
        ({"v": {"$contains": 1}}, [6]),
        ({}, list(range(10))),
        ({"$not": {}}, []),
    ],
)
def test_equality_is_typed_and_missing_fails_what_is_positive(where, rows):
    assert np.flatnonzero(compile(where).mask(Dicts(ROWS))).tolist() == rows


# What PostgreSQL answers for `tags && array` and `tags @> array`; an empty argument does not restrict here.
TAGS = [(), ("a",), ("b",), ("a", "b"), ("a", "b", "c"), ("A",)]


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        ({"tags_any": ["a"]}, [1, 3, 4]),
        ({"tags_any": ["a", "b"]}, [1, 2, 3, 4]),
        ({"tags_any": ["x"]}, []),
        ({"tags_any": ["x", "c"]}, [4]),
        ({"tags_any": []}, [0, 1, 2, 3, 4, 5]),
        ({"tags_all": ["a"]}, [1, 3, 4]),
        ({"tags_all": ["a", "b"]}, [3, 4]),
        ({"tags_all": ["b", "a", "a"]}, [3, 4]),
        ({"tags_all": ["a", "x"]}, []),
        ({"tags_all": []}, [0, 1, 2, 3, 4, 5]),
        ({"tags_any": ["b", "c"], "tags_all": ["a"]}, [3, 4]),
        ({"tags_any": ["A"]}, [5]),
    ],
)
def test_tags_overlap_and_contain_as_in_postgres(arguments, rows):
    columns = Dicts([{}] * len(TAGS), TAGS)
    assert np.flatnonzero(compile(**arguments).mask(columns)).tolist() == rows


def test_tags_and_metadata_both_restrict():
    columns = Dicts([{"y": 1}, {"y": 2}, {"y": 1}], [("a",), ("a",), ("b",)])
    assert compile({"y": 1}, tags_any=["a"]).mask(columns).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"a": {"$regex": "x"}}, "unknown operator"),
        ({"$nor": []}, "unknown operator"),
        ({"a": {"$gt": True}}, "number or a string"),
        ({"a": {"$lt": None}}, "number or a string"),
        ({"a": {"$in": "text"}}, "takes a list"),
        ({"a": {"$exists": 1}}, "true or false"),
        ({"a": {"$gt": 1, "b": 2}}, "unknown operator"),
        ({"$and": []}, "one or more"),
        ({"$or": {"a": 1}}, "one or more"),
        ({"$not": [1]}, "is an object"),
        ({"a": {"$not": 5}}, "object of operators"),
        ({"a": float("nan")}, "NaN"),
        ([], "is an object"),
        ({1: 2}, "keys are strings"),
    ],
)
def test_a_filter_without_a_meaning_is_refused_when_compiled(where, message):
    with pytest.raises(ValueError, match=message):
        compile(where)


def test_depth_and_number_are_limited():
    deep = {"a": 1}
    for _ in range(40):
        deep = {"$not": deep}
    with pytest.raises(ValueError, match="nest"):
        compile(deep)
    with pytest.raises(ValueError, match="conditions"):
        compile({"$or": [{"a": i} for i in range(10_001)]})
    value = 1
    for _ in range(300):
        value = [value]
    with pytest.raises(ValueError, match="nest"):
        compile({"a": value})


def test_tags_as_one_string_are_refused():
    with pytest.raises(TypeError, match="list of strings"):
        compile(tags_any="draft")


def test_other_than_json_values_are_refused():
    with pytest.raises(TypeError, match="JSON values"):
        sort_key({1, 2})


def test_a_filter_knows_what_it_reads_and_whether_it_restricts():
    assert compile({"a": 1, "$or": [{"b.c": 2}, {"a": 3}]}).paths == ("a", "b.c")
    assert not compile()
    assert not compile({}, tags_any=[])
    assert compile({"a": 1})


def test_filtering_does_not_change_its_input():
    where, rows = {"a": {"$in": [1, 2]}}, [{"a": 1}, {"a": [2]}]
    compile(where).mask(Dicts(rows))
    assert (where, rows) == ({"a": {"$in": [1, 2]}}, [{"a": 1}, {"a": [2]}])
