"""Chunks that replace chunks, with vectors of the caller's own, and metadata that change alone."""

import numpy as np
import pytest

import ragfile
from ragfile.errors import ModelError


def chunk(doc_id, index, content, **more):
    return {"doc_id": doc_id, "chunk_index": index, "content": content, **more}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path) as w:
        w.add([chunk("a", i, f"a {i}") for i in range(3)], np.eye(3, 4, dtype=np.float32))
        w.add([chunk("b", 0, "b 0")], [None])
    return path


def told(path):
    rf = ragfile.open(path)
    assert ragfile.verify(path)[0] == []
    return {h.id: (h.text, h.metadata, None if h.vector is None else h.vector.tolist())
            for h in map(rf.hit, rf.live_rows().tolist())}  # fmt: skip


def test_chunks_are_replaced_with_their_own_vectors_and_neighbours_stay(path):
    before = told(path)
    with ragfile.edit(path) as w:
        w.upsert([chunk("a", 1, "new"), chunk("c", 0, "c 0")], [[5.0, 0, 0, 0], [6.0, 0, 0, 0]])
    assert told(path) == before | {
        "a#1": ("new", {}, [5.0, 0, 0, 0]), "c#0": ("c 0", {}, [6.0, 0, 0, 0]),
    }  # fmt: skip


def test_another_vector_of_the_same_text_is_a_change_and_the_same_one_is_none(path):
    with ragfile.edit(path) as w:
        w.upsert([chunk("a", 1, "a 1")], [[0, 1, 0, 0]])
    assert ragfile.open(path).generation == 1
    with ragfile.edit(path) as w:
        w.upsert([chunk("a", 1, "a 1"), chunk("b", 0, "b 0")], [None, [1.0, 1, 1, 1]])
    found = told(path)
    assert (found["a#1"][2], found["b#0"][2]) == (None, [1.0, 1, 1, 1])
    assert found["a#0"][2] == [1.0, 0, 0, 0]


def test_what_has_no_vector_is_not_forgotten(path):
    with pytest.raises(ModelError, match="new chunks need some"), ragfile.edit(path) as w:
        w.upsert([chunk("c", 0, "no vector is said")])
    with pytest.raises(ValueError, match="shorter"), ragfile.edit(path) as w:
        w.upsert([chunk("c", 0, "x"), chunk("c", 1, "y")], [[1.0, 1, 1, 1]])
    with pytest.raises(TypeError, match="list of chunks"), ragfile.edit(path) as w:
        w.upsert([{"id": "d", "text": "a document"}], [[1.0, 1, 1, 1]])


def test_metadata_of_a_chunk_change_alone(path):
    before = told(path)
    with ragfile.edit(path) as w:
        w.update("a#2", metadata={"page": 3}, tags=["t"])
    assert told(path) == before | {"a#2": ("a 2", {"page": 3}, [0, 0, 1.0, 0])}
    assert ragfile.open(path).hit(ragfile.open(path).row("a#2")).tags == ("t",)
    for missing in ("a#9", "z#0", "nobody"):
        with pytest.raises(KeyError, match=missing), ragfile.edit(path) as w:
            w.update(missing, metadata={})
    with pytest.raises(ValueError, match="of the document"), ragfile.edit(path) as w:
        w.update("a#2", source="elsewhere")


def test_embedded_chunks_are_replaced_too(tmp_path):
    with ragfile.create(tmp_path / "kb", embedder="default") as w:
        w.add([chunk("a", i, f"text {i}") for i in range(3)])
    with ragfile.edit(tmp_path / "kb") as w:
        w.upsert([chunk("a", 1, "another text")])
        assert w.embedded == 1
    with ragfile.create(tmp_path / "fresh", embedder="default") as w:
        w.add([chunk("a", 0, "text 0"), chunk("a", 1, "another text"), chunk("a", 2, "text 2")])
    assert told(tmp_path / "kb") == told(tmp_path / "fresh")
