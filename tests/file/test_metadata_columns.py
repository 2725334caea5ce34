"""The columns of a file's metadata are those of its rows' dicts; stretches that lie over one another do not multiply the work."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragfile.errors import CorruptError
from ragfile.file.filters import Dicts, compile
from ragfile.file.metadata_columns import Labels
from ragfile.file.row_segment import RowSegment

KEYS = ("a", "b", "a.b", "a.b.c", "b.a", "ü")
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.5, 1.0, 1e300, "", "1", "x", "y\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    ),
    max_leaves=5,
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3),
        "tags": st.lists(st.sampled_from(["red", "green"]), max_size=2),
        "source": st.just("s"),
    },
)
OPERATORS = st.sampled_from([
    {"$exists": True}, {"$eq": None}, {"$eq": 1}, {"$ne": True}, {"$in": ["x", 1, False]}, {"$gte": 0}, {"$lt": "x"}, {"$contains": 1},
    {"$any": ["x", None]}, {"$all": []}, {"$eq": {"a": 1}}, {"$nin": [[], "1"]},
])  # fmt: skip


class Said(RowSegment):
    """A segment of which only the metadata are there: a stretch (at, size) for each document and row of a stream."""

    def __init__(self, raw, documents, rows, document_of_row, number=0):
        self.raw, self.number, self.reads = raw, number, 0
        self.of_documents, self.of_rows, self.document_of_row = documents, rows, document_of_row

    records = meta = property(lambda self: self)
    size = property(lambda self: len(self.raw))

    def documents_of_rows(self):
        return np.array(self.document_of_row, dtype=np.uint32)

    def stretches(self, of_rows):
        pairs = np.array(self.of_rows if of_rows else self.of_documents, dtype=np.uint64).reshape(
            -1, 2
        )
        return pairs[:, 0].copy(), pairs[:, 1].astype(np.uint32)

    def read(self, at, size):
        self.reads += 1
        return self.raw[at : at + size]


def written(documents, rows, document_of_row):
    """Each object in a stretch of its own, as writers do it."""
    raw, places = b"", []
    for fields in [*documents, *rows]:
        said = json.dumps(fields).encode() if fields else b""
        places.append((len(raw), len(said)))
        raw += said
    return Said(raw, places[: len(documents)], places[len(documents) :], document_of_row)


@st.composite
def segments(draw):
    documents = draw(st.lists(FIELDS, min_size=1, max_size=4))
    rows = draw(st.lists(FIELDS, max_size=8))
    of_row = sorted(draw(st.integers(0, len(documents) - 1)) for _ in rows)
    return documents, rows, of_row


@given(
    st.lists(segments(), max_size=3),
    st.sampled_from([*KEYS, "a.c", "c"]),
    OPERATORS,
    st.sampled_from(["red", "blue"]),
)
def test_a_filter_passes_the_rows_that_it_passes_over_merged_dicts(parts, path, condition, tag):
    labels = Labels([written(*part) for part in parts])
    metadata, tags = [], []
    for documents, rows, of_row in parts:
        for own, number in zip(rows, of_row, strict=True):
            shared = documents[number]
            metadata.append({**shared.get("metadata", {}), **own.get("metadata", {})})
            tags.append(own["tags"] if "tags" in own else shared.get("tags", ()))
    for chosen in (
        compile({path: condition}), compile(tags_any=[tag]), compile(tags_all=[tag]), compile({"$not": {path: condition}}, tags_any=["red"]),
    ):  # fmt: skip
        np.testing.assert_array_equal(chosen.mask(labels), chosen.mask(Dicts(metadata, tags)))
    assert len(labels) == len(metadata)


def test_a_stretch_that_many_rows_share_is_read_once():
    raw = json.dumps({"metadata": {"a": "x" * 100_000}}).encode()
    segment = Said(raw, [(0, len(raw))], [(0, len(raw))] * 5000, [0] * 5000)
    assert compile({"a": {"$exists": True}}).mask(Labels([segment])).all()
    assert segment.reads == 2


def test_stretches_that_lie_over_one_another_beyond_use_are_refused():
    raw = b" " * 3_000_000 + b"{}"
    few = Said(raw, [(0, 0)], [(len(raw) - 2 - n, 2 + n) for n in range(5)], [0] * 5)
    assert len(Labels([few])) == 5
    many = Said(raw, [(0, 0)], [(n, len(raw) - n) for n in range(5)], [0] * 5)
    with pytest.raises(CorruptError, match="overlap"):
        Labels([many])


@pytest.mark.parametrize("place", [(0, 3), (3, 1), (1 << 62, 2), ((1 << 64) - 1, 2)])
def test_a_stretch_outside_the_stream_is_refused(place):
    with pytest.raises(CorruptError, match="after"):
        Labels([Said(b"{}", [(0, 0)], [place], [0])])


@pytest.mark.parametrize(
    "texts",
    [
        [b'{"metadata":{"a":[{}', b'{}]}}', b"{},{}"], [b"{", b"}"], [b"{}", b"1"], [b'{"tags":1}', b"{}"], [b"{}", b"{} {}"], [b"{}", b"\xff"],
        [b'{"metadata":{"a":' + b"[" * 300 + b"]" * 300 + b"}}", b"{}"], [b" "], [b"[" * 100_000],
    ],
)  # fmt: skip
def test_a_text_that_is_no_object_is_refused_whatever_stands_beside_it(texts):
    ends = np.cumsum([len(text) for text in texts]).tolist()
    places = [(end - len(text), len(text)) for end, text in zip(ends, texts, strict=True)]
    with pytest.raises(CorruptError, match="invalid metadata at"):
        Labels([Said(b"".join(texts), [(0, 0)], places, [0] * len(places))])


def test_no_segments_have_no_rows():
    assert compile({"a": 1}, tags_any=["x"]).mask(Labels([])).tolist() == []
