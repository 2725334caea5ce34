"""An open file beside what spec/reader.py decoded of it: what it holds, by every door that reads it."""

import numpy as np


def told(found, life):
    """What was decoded is what the writer was told."""
    rows = {row.id: (row.text, row.start, row.tags, row.metadata, row.source) for row in found.live}
    assert rows == life.told.rows()
    assert len(rows) == len(found.live)
    documents = {
        name: (d["text"] or "", d["said"].get("metadata", {}), tuple(d["said"].get("tags", ())))
        for name, d in found.documents.items()
    }
    assert documents == {
        name: (d["text"], d["metadata"], tuple(d["tags"]))
        for name, d in life.told.documents.items()
    }
    for row in found.live:
        check_vector(row, life)


def check_vector(row, life):
    if life.embedder is None or row.text.startswith("bare"):
        assert row.vector is None, f"{row.id} has a vector"
        return
    kind = np.float16 if life.precision == 16 else np.float32
    wanted = life.embedder.vector(row.text).astype(kind).astype(np.float32)
    assert row.vector is not None, f"{row.id} has no vector"
    assert row.vector.tobytes() == wanted.tobytes(), f"{row.id} has another vector"


def records(rf, slow, rng, seen):
    """What a file holds, by every door that reads it."""
    file = slow.file
    assert (len(rf), rf.rows.count) == (len(file.live), len(file.rows))
    assert rf.live_rows().tolist() == [row.number for row in file.live]
    assert rf.document_ids() == sorted(file.documents)
    segments = [(s["number"], s["rows"], s["live"]) for s in file.found["segments"]]
    assert [(s.number, s.rows, s.live) for s in rf.rows.segments] == segments
    entries = [(e["name"], e["segment"], e["at"], e["size"]) for e in file.found["sections"]]
    assert [(e["name"], e["segment"], e["at"], e["size"]) for e in rf.file.entries] == entries
    for row in rng.sample(file.live, min(12, len(file.live))):
        one_row(rf, row, slow)
    for row in file.rows:
        if not row.is_live:
            refuses(rf, row.number)
            break
    documents(rf, file)
    vectors(rf, file)
    assert rf.rows.sample.tolist() == slow.sample()
    seen["records"] += len(file.live)


def one_row(rf, row, slow):
    hit, chunk = rf.hit(row.number), rf.chunk(row.number)
    expected = (row.id, row.doc_id, row.index, row.text, row.tags, row.metadata, row.source)
    assert (
        hit.id,
        hit.doc_id,
        hit.chunk_index,
        hit.text,
        hit.tags,
        hit.metadata,
        hit.source,
    ) == expected
    assert (hit.start, hit.end) == (row.start, row.end)
    assert (chunk.content, chunk.tags, chunk.metadata, chunk.start) == (
        row.text, row.tags, row.metadata, row.start,
    )  # fmt: skip
    assert rf.rows.metadata_of(row.number) == row.metadata
    assert rf.row(row.id) == row.number
    text = slow.file.documents[row.doc_id]["text"] or ""
    around = text[max(0, row.start - 9) : row.end + 5] if row.start >= 0 and text else row.text
    assert rf.context(row.id, 9, 5) == around


def refuses(rf, number):
    for call in (rf.hit, rf.chunk, rf.vector, rf.rows.metadata_of):
        try:
            call(number)
        except (IndexError, ValueError):
            continue
        raise AssertionError(f"{call.__name__} gives the deleted row {number}")


def documents(rf, file):
    found = {
        d.id: (d.text, d.metadata, tuple(d.tags), d.source) for d in rf.documents()
    }  # fmt: skip
    expected = {
        name: (
            d["text"] or "", d["said"].get("metadata", {}), tuple(d["said"].get("tags", ())),
            d["said"].get("source", ""),
        )
        for name, d in file.documents.items()
    }  # fmt: skip
    assert found == expected
    assert rf.document("never") is None


def vectors(rf, file):
    has = [row.number for row in file.live if row.vector is not None]
    assert np.flatnonzero(rf.vector_mask()).tolist() == has
    assert rf.rows.has_vectors == bool(has)
    if not has:
        return
    width = len(next(row.vector for row in file.live if row.vector is not None))
    none = np.full(width, np.nan, np.float32)
    every = np.array([none if r.vector is None else r.vector for r in file.live], np.float32)
    np.testing.assert_array_equal(np.asarray(rf.vectors(), np.float32), every)
    np.testing.assert_array_equal(rf.rows.vectors_of([row.number for row in file.live]), every)
    np.testing.assert_array_equal(
        np.asarray(rf.vector(has[0]), np.float32), file.rows[has[0]].vector
    )
