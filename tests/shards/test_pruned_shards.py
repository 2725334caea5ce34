"""What is passed over can hold nothing: bounds against every row, in random metadata, filters and vectors."""

import json

import numpy as np
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from ragfile.file import filters
from ragfile.shards import pruned_shards, shard_description
from ragfile.shards.manifest import ShardRecord
from ragfile.shards.messages import Chosen

VALUES = st.one_of(
    st.integers(-3, 3), st.floats(-3, 3), st.booleans(), st.none(), st.sampled_from(["", "a", "b", "b" * 70, "é"]),
    st.lists(st.integers(0, 2), max_size=2), st.fixed_dictionaries({"z": st.integers(0, 2)}),
    st.just(1 << 60),
)  # fmt: skip
ROWS = st.lists(st.dictionaries(st.sampled_from("xy"), VALUES, max_size=2), min_size=1, max_size=5)
OPERAND = st.one_of(
    st.integers(-4, 4), st.floats(-4, 4), st.sampled_from(["", "a", "aa", "b" * 71])
)
CONDITION = st.one_of(
    VALUES.filter(lambda v: not isinstance(v, dict)),
    st.builds(lambda n, v: {n: v}, st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), OPERAND),
    st.builds(lambda n, v: {n: v}, st.sampled_from(["$eq", "$ne", "$contains"]), VALUES),
    st.builds(lambda n, v: {n: v}, st.sampled_from(["$in", "$nin"]), st.lists(OPERAND, max_size=3)),
    st.builds(lambda v: {"$exists": v}, st.booleans()),
)
FIELD = st.dictionaries(st.sampled_from(["x", "y", "x.z", "w"]), CONDITION, max_size=2)
WHERE = st.recursive(
    FIELD,
    lambda inner: st.one_of(
        st.builds(lambda xs: {"$and": xs}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda xs: {"$or": xs}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda x: {"$not": x}, inner),
    ),
    max_leaves=4,
)


def record_of(rows, tags=None):
    columns = filters.Dicts(rows)
    names = sorted({name for row in rows for name in row})
    bounds = {name: shard_description._bounds_of(columns.column(name).keys) for name in names}
    stored = json.loads(json.dumps(bounds))  # as a manifest has it
    return ShardRecord(
        "", 0, "", "", 1, 1, 1, 1, 1, "a", "m", bounds=stored, knows_all_fields=True, tags=tags
    )


@settings(max_examples=examples(600))
@given(ROWS, WHERE)
def test_a_shard_with_a_row_that_passes_is_never_passed_over(rows, where):
    passing = filters.compile(where).mask(filters.Dicts(rows)).any()
    assert pruned_shards.can_pass(Chosen(where), record_of(rows)) or not passing


def test_bounds_rule_out_what_lies_outside_them():
    shard = record_of([{"x": 3, "y": "b"}, {"x": 5, "y": "d"}])
    for where in ({"x": 9}, {"x": {"$gt": 5}}, {"x": {"$lt": 3}}, {"x": "b"}, {"y": {"$in": ["a", "z"]}},
                  {"w": 1}, {"w.z": 1}, {"$and": [{"x": 3}, {"x": 9}]}, {"$or": [{"x": 9}, {"y": "e"}]}):  # fmt: skip
        assert not pruned_shards.can_pass(Chosen(where), shard), where
    for where in (
        {"x": 4},
        {"x": {"$gte": 5}},
        {"w": {"$ne": 1}},
        {"w": {"$exists": False}},
        {"$not": {"x": 9}},
    ):
        assert pruned_shards.can_pass(Chosen(where), shard), where


def test_tags_and_ids_rule_out_shards_without_them():
    shard = record_of([{}], ["blue", "red"])
    assert pruned_shards.can_pass(Chosen(None, ("red",)), shard)
    assert not pruned_shards.can_pass(Chosen(None, ("green",)), shard)
    assert not pruned_shards.can_pass(Chosen(None, (), ("red", "green")), shard)
    assert pruned_shards.can_pass(Chosen(["b#0"]), shard)
    assert pruned_shards.can_pass(Chosen(["m#7"]), shard)
    assert not pruned_shards.can_pass(Chosen(["z#0", "z"]), shard)
    assert pruned_shards.can_pass(Chosen(None, ("green",)), record_of([{}]))


@given(st.integers(0, 2**32), st.floats(0, 1), st.integers(2, 40))
def test_a_shard_that_is_too_far_has_no_row_that_reaches_the_floor(seed, spread, dim):
    rng = np.random.default_rng(seed)
    centre = rng.standard_normal(dim)
    rows = (centre + spread * rng.standard_normal((30, dim))).astype(np.float32)
    rows *= rng.uniform(0.1, 10, (30, 1)).astype(np.float32)
    query = rng.standard_normal((1, dim)).astype(np.float32)
    mean = pruned_shards.directions(rows).mean(axis=0)
    centroid = np.rint(np.clip(mean, -1, 1) * 127).astype(int).tolist()
    shard = ShardRecord(
        "", 0, "", "", 1, 1, 30, 30, 1, "a", "b", centroid=centroid,
        radius=pruned_shards.radius_of(rows, centroid),
    )  # fmt: skip
    scores = (pruned_shards.directions(rows) @ pruned_shards.directions(query)[0]).astype(
        np.float32
    )
    best = np.array([scores.max()], np.float32)
    assert not pruned_shards.is_too_far(query, best, shard)
    assert not pruned_shards.is_too_far(query, np.array([-np.inf]), shard)
    assert pruned_shards.is_too_far(query, np.array([5.0]), shard)
