"""Paths enter lists of objects: in stored columns, in metadata, after edits, and in shards."""

import random

import pytest
from oracles.filters import passes
from shards.collections import OneByOne

import ragfile
from ragfile import dataset

FILTERS = [
    {"sources.title": {"$contains": "A"}}, {"sources.title": {"$any": ["B", 1]}}, {"sources.title": {"$all": ["A", "B"]}},
    {"sources.title": ["A"]}, {"sources.title": {"$exists": True}}, {"sources.title": {"$ne": ["A"]}},
    {"sources.by.name": {"$contains": "ann"}}, {"sources.by.name": {"$not": {"$contains": "ann"}}},
    {"sources.by": {"$exists": True}}, {"sources.tags": {"$contains": "x"}}, {"a.sources.title": {"$contains": "A"}},
    {"sources.none": {"$exists": False}}, {"sources": {"$exists": True}}, {"sources.title": "A"},
    {"sources.by.name": None, "sources.title": {"$nin": [["A"], []]}}, {"sources.a.b": {"$contains": 1}},
]  # fmt: skip


def value(rng, depth=0):
    kind = rng.randrange(8 if depth < 3 else 5)
    if kind < 5:
        return rng.choice(["A", "B", "ann", 1, None, True, 1.5, ""])
    if kind == 5:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(["title", "by", "name", "tags", "a", "b", "a.b", "by.name"]): value(rng, depth + 1)
            for _ in range(rng.randrange(4))}  # fmt: skip


def metadata(rng):
    found = {}
    for key in ("sources", "a", "sources.title", "year"):
        if rng.random() < 0.4:
            found[key] = value(rng)
    if rng.random() < 0.6:
        found["sources"] = [value(rng, 1) for _ in range(rng.randrange(4))]
    if rng.random() < 0.3:
        found["a"] = {"sources": [{"title": rng.choice("AB")}, {"by": [{"name": "ann"}]}, 7]}
    return found


def documents(rng, count):
    return [{"id": f"d{i:03}", "text": "a text", "metadata": metadata(rng)} for i in range(count)]


def found(rf, where):
    return {hit.doc_id for hit in rf.search("text", 500, where=where, mode="bm25")}


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@pytest.mark.parametrize("count", [20, 200])  # columns of few rows are read from the metadata
def test_rows_that_pass_are_those_of_the_slow_predicate(tmp_path, count):
    rng = random.Random(count)
    written = documents(rng, count)
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path) as w:
        w.add_documents(written[: count // 2])
    with ragfile.edit(path) as w:
        w.add_documents(written[count // 2 :])
        w.delete(["d003"])
    dataset.convert(path, tmp_path / "set", shards=3)
    live = [one for one in written if one["id"] != "d003"]
    assert ragfile.verify(path)[0] == []
    with (
        ragfile.open(path) as rf,
        ragfile.open(tmp_path / "set") as together,
        ragfile.open(tmp_path / "set", executor=OneByOne()) as apart,
    ):
        for where in FILTERS:
            expected = {one["id"] for one in live if passes(where, one["metadata"])}
            for one in (rf, together, apart):
                assert found(one, where) == expected, where


def test_a_path_into_lists_is_known(tmp_path, recwarn):
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path) as w:
        sources = {"sources": [{"id": "s", "title": "Export schema"}]}
        w.add_documents(
            [
                {"id": f"d{i}", "text": "text of orders", "metadata": sources if i % 2 else {}}
                for i in range(99)
            ]
        )
    where = {"sources.title": {"$contains": "Export schema"}}
    with ragfile.open(path) as rf:
        assert len(found(rf, where)) == 49
        assert not recwarn
