"""The live chunks of a file as columns, for Arrow, DuckDB, pandas and whatever reads JSON lines.

    node_id    document#index          doc_id     the document
    text       the chunk               metadata_  JSON: the document's, then the chunk's own, and "tags"
    embedding  float32[dim], where the file has vectors; null for a chunk without one

Rows come in the order of the file, batch by batch, so that no export needs more memory than a batch.
"""

import json
from typing import Any

import numpy as np

from ragfile import _core
from ragfile.ground.extras import optional

BATCH = 4096
BATCH_BYTES = 64 << 20  # of text, about


def records(archive, vectors=True):
    """A dict for each live chunk, ready for JSON."""
    vectors = vectors and archive.has_vectors
    for row in archive.live_rows().tolist():
        hit = archive.hit(row)
        record = {
            "node_id": hit.id, "uuid": hit.uuid, "doc_id": hit.doc_id, "chunk_index": hit.chunk_index, "text": hit.text, "source": hit.source,
            "start": hit.start, "end": hit.end, "tags": list(hit.tags), "metadata": hit.metadata,
        }  # fmt: skip
        if vectors:
            record["embedding"] = (
                None if hit.vector is None else hit.vector.astype(np.float32).tolist()
            )
        yield record


def metadata_of(hit):
    """What a row says of itself, as one line of JSON."""
    tags = {"tags": list(hit.tags)} if hit.tags else {}
    return json.dumps({**hit.metadata, **tags}, ensure_ascii=False)


class WithoutVectors:
    """An archive as a stream of its texts and metadata."""

    def __init__(self, archive):
        self._archive = archive

    def __arrow_c_stream__(self, requested_schema=None):
        return arrow_stream(self._archive, vectors=False)


def arrow_stream(archive, vectors=True):
    """A PyCapsule of an Arrow stream over the live chunks: no library is needed on this side."""
    vectors = vectors and archive.has_vectors
    columns: list[Any] = [(b"u", name, []) for name in (b"node_id", b"text", b"metadata_")]
    if vectors:
        items = [(b"f", b"item", [])]
        columns.append((b"+w:%d" % archive.dim, b"embedding", items, archive.has_bare_rows))
    return _core.arrow_stream(
        (b"+s", b"", [*columns, (b"u", b"doc_id", [])]), _batches(archive, vectors)
    )


def _batches(archive, vectors):
    rows, first = archive.live_rows().tolist(), 0
    while first < len(rows):
        hits, size = [], 0
        while first + len(hits) < len(rows) and len(hits) < BATCH and size < BATCH_BYTES:
            hits.append(archive.hit(rows[first + len(hits)]))
            size += 4 * len(hits[-1].text)
        yield _batch(archive, hits, rows[first : first + len(hits)], vectors)
        first += len(hits)


def _batch(archive, hits, rows, vectors):
    columns = [
        _texts([hit.id for hit in hits]),
        _texts([hit.text for hit in hits]),
        _texts(map(metadata_of, hits)),
    ]
    if vectors:
        columns.append(_vectors(archive.vectors_of(rows)))
    columns.append(_texts([hit.doc_id for hit in hits]))
    return len(rows), [None], columns


def _vectors(flat):
    """A column of lists of one length; a row of NaN is null."""
    is_there = ~np.isnan(flat[:, 0])
    if is_there.all():
        return len(flat), [None], [(flat.size, [None, flat.tobytes()], [])]
    flat[~is_there] = 0
    bits = np.packbits(is_there, bitorder="little").tobytes()
    return len(flat), [bits], [(flat.size, [None, flat.tobytes()], [])]


def _texts(texts):
    """A column of strings. Lone surrogates, which no other store takes, become question marks."""
    raw = [text.encode("utf-8", "replace") for text in texts]
    offsets = np.zeros(len(raw) + 1, np.int32)
    np.cumsum([len(each) for each in raw], out=offsets[1:])
    return len(raw), [None, offsets.tobytes(), b"".join(raw)], []


def arrow_reader(archive, vectors=True):
    """The stream as a pyarrow.RecordBatchReader."""
    stream = archive if vectors else WithoutVectors(archive)
    return _pyarrow().RecordBatchReader.from_stream(stream)


def _pyarrow():
    return optional("pyarrow", "a RecordBatchReader")
