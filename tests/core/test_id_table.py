"""The id table of a segment that is being written: ids are numbered as they arrive, found again, and sorted by
their UTF-8 bytes."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragfile import _core


def raw(doc_id):
    return doc_id.encode("utf-8", "surrogatepass")


def table_of(ids):
    table = _core.IdTable()
    return table, [table.number(doc_id) for doc_id in ids]


IDS = st.lists(st.text(st.characters(), min_size=1, max_size=6))  # lone surrogates too


@given(IDS)
def test_an_id_keeps_the_number_of_its_first_arrival(ids):
    table, numbers = table_of(ids)
    distinct = list(dict.fromkeys(ids))
    assert numbers == [distinct.index(doc_id) for doc_id in ids]
    assert len(table) == len(distinct)
    assert [table.id(number) for number in range(len(table))] == distinct
    assert [table.find(doc_id) for doc_id in distinct] == list(range(len(distinct)))


@given(IDS, st.text(min_size=0, max_size=6))
def test_an_id_that_never_came_is_not_found(ids, other):
    table, _ = table_of(each for each in ids if each != other)
    assert table.find(other) is None


@given(IDS)
def test_the_order_is_that_of_the_bytes(ids):
    table, _ = table_of(ids)
    assert [table.id(int(i)) for i in table.order()] == sorted(set(ids), key=raw)


@pytest.mark.parametrize("arrival", ["rising", "falling", "shuffled"])
def test_many_ids_are_found_and_ordered_however_they_came(arrival):
    ids = [f"{n}/page" for n in range(20_000)]
    ids.sort(reverse=arrival == "falling")
    if arrival == "shuffled":
        np.random.default_rng(1).shuffle(ids)
    table, numbers = table_of(ids)
    assert numbers == list(range(len(ids)))
    assert [table.find(doc_id) for doc_id in ids] == numbers
    assert [ids[i] for i in table.order()] == sorted(ids)


@pytest.mark.parametrize("long", [1, 70_000, 200_000])
def test_what_is_written_is_a_list_of_strings(long):
    ids = ["b", "a" * long, "é", "\ud800", *(f"n{n}" for n in range(9000))]
    table, _ = table_of(ids)
    out = bytearray()
    table.write(table.order(), out.extend)
    strings = sorted(map(raw, ids))
    ends = np.cumsum([0, *map(len, strings)]).astype("<u8").tobytes()
    assert bytes(out) == struct.pack("<Q", len(ids)) + ends + b"".join(strings)


def test_an_order_of_other_numbers_is_refused():
    table, _ = table_of(["a", "b"])
    with pytest.raises(ValueError, match="as many numbers"):
        table.write(np.zeros(1, np.uint32), bytes)
    with pytest.raises(IndexError):
        table.write(np.array([0, 2], np.uint32), bytes)
    with pytest.raises(IndexError):
        table.id(2)


def test_an_empty_id_is_refused():
    table, _ = table_of([])
    with pytest.raises(ValueError, match="an id is not empty"):
        table.number("")


def test_an_error_of_who_takes_the_bytes_comes_back():
    table, _ = table_of(["a"])

    def full(piece):
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        table.write(table.order(), full)
