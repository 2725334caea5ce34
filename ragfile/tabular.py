"""The live chunks of a file as columns, for Arrow, DuckDB, pandas and whatever reads JSON lines.

    node_id    document#index          doc_id     the document
    text       the chunk               metadata_  JSON: the document's, then the chunk's own, and "tags"
    embedding  float32[dim], where the file has vectors

Rows come in the order of the file, batch by batch, so that no export needs more memory than a batch.
"""

import json

import numpy as np

COLUMNS = ("node_id", "text", "metadata_", "embedding", "doc_id")
BATCH = 4096


def live_rows(archive):
    """Numbers of the rows that are not deleted, in order, as an array."""
    masks = [segment.live_mask() for segment in archive._segments]
    return np.flatnonzero(np.concatenate(masks)) if masks else np.empty(0, np.int64)


def records(archive):
    """A dict for each live chunk, ready for JSON."""
    for row in live_rows(archive).tolist():
        hit = archive.hit(row)
        record = {
            "node_id": hit.id, "uuid": hit.uuid, "doc_id": hit.doc_id, "chunk_index": hit.chunk_index, "text": hit.text, "source": hit.source,
            "start": hit.start, "end": hit.end, "tags": list(hit.tags), "metadata": hit.metadata,
        }  # fmt: skip
        if archive.has_vectors:
            record["embedding"] = archive.vector(row).astype(np.float32).tolist()
        yield record


def metadata_of(hit):
    """What a row says of itself, as one line of JSON."""
    tags = {"tags": list(hit.tags)} if hit.tags else {}
    return json.dumps({**hit.metadata, **tags}, ensure_ascii=False)


def arrow_reader(archive):
    """A pyarrow.RecordBatchReader over the live chunks."""
    pyarrow = _pyarrow()
    fields = [(name, pyarrow.string()) for name in ("node_id", "text", "metadata_")]
    if archive.has_vectors:
        fields.append(("embedding", pyarrow.list_(pyarrow.float32(), archive.dim)))
    schema = pyarrow.schema([*fields, ("doc_id", pyarrow.string())])
    return pyarrow.RecordBatchReader.from_batches(schema, _batches(archive, schema, pyarrow))


def _batches(archive, schema, pyarrow):
    rows = live_rows(archive)
    for first in range(0, len(rows), BATCH):
        part = rows[first : first + BATCH].tolist()
        hits = [archive.hit(row) for row in part]
        columns = {
            "node_id": [_unicode(hit.id) for hit in hits], "text": [_unicode(hit.text) for hit in hits],
            "metadata_": [_unicode(metadata_of(hit)) for hit in hits], "doc_id": [_unicode(hit.doc_id) for hit in hits],
        }  # fmt: skip
        if archive.has_vectors:
            flat = np.array([archive.vector(row) for row in part], dtype=np.float32).reshape(-1)
            columns["embedding"] = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(flat), archive.dim)
        yield pyarrow.RecordBatch.from_pydict(columns, schema=schema)


def _unicode(text):
    """Text without lone surrogates, which no other store takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _pyarrow():
    try:
        import pyarrow
    except ImportError as missing:
        raise ImportError("Arrow needs an extra: pip install 'ragfile[arrow]'") from missing
    return pyarrow
