"""Tables as chunks: data frames, Arrow tables and record batches, DuckDB relations, open files.

Whatever hands out Arrow streams is read batch by batch. The columns:

    doc_id, chunk_index    whose chunk it is; or node_id ("document#index"), or id for doc_id. Without
                           an index, chunks are numbered as they come, document by document
    text, or content       the passage
    embedding, or vector   a list of numbers; null is a chunk without a vector
    tags                   a list of texts
    metadata_, metadata    JSON text, or a struct
    anything else          metadata under the column's name; null says nothing

What `rf.to_arrow()` gives comes back as it was.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ragfile.ground.extras import optional
from ragfile.records import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = 4096
TEXT, VECTOR, SAID = ("text", "content"), ("embedding", "vector"), ("metadata_", "metadata")
OWNERS = ("node_id", "doc_id", "id")
# Beside them, what a file makes itself.
PLACES = {*OWNERS, "chunk_index", "row", "start", "end", "uuid", "tags"}


def is_table(value: Any) -> bool:
    """Whether a value hands out an Arrow stream, or is a data frame of pandas."""
    return hasattr(value, "__arrow_c_stream__") or (
        hasattr(value, "iloc") and hasattr(value, "columns")
    )


def chunks_of(table: Any) -> Iterator[tuple[list[Chunk], Any]]:
    """(chunks, their vectors or None) of a table, some thousand at a time."""
    pyarrow = optional("pyarrow", "a table of chunks")
    if not hasattr(table, "__arrow_c_stream__"):  # pandas before 2.2
        table = pyarrow.Table.from_pandas(table)
    reader = pyarrow.RecordBatchReader.from_stream(table)
    columns = TableColumns(reader.schema.names)
    for batch in reader:
        for at in range(0, batch.num_rows, ROWS):
            yield columns.read(batch.slice(at, ROWS))


class TableColumns:
    """Which column is what, and how many chunks each document has so far."""

    def __init__(self, names: list[str]) -> None:
        self.names = [name for name in names if not name.startswith("__index_level_")]
        self.text, self.vector = self._one_of(TEXT), self._one_of(VECTOR)
        self.said, self.owner = self._one_of(SAID), self._one_of(OWNERS)
        if {"doc_id", "chunk_index"} <= set(self.names):
            self.owner = "doc_id"
        self.counter: Counter[str] = Counter()
        if self.text is None or self.owner is None:
            raise ValueError(
                "a table of chunks has a column text (or content), and one of doc_id, node_id and "
                f"id; this one has {', '.join(self.names) or 'none'}"
            )
        known = PLACES | {self.text, self.vector, self.said}
        if self.said == "metadata_":  # it is a file's: its sources are those of documents
            known.add("source")
        self.others = [name for name in self.names if name not in known and not self._repeats(name)]

    def _one_of(self, names):
        return next((name for name in names if name in self.names), None)

    def _repeats(self, name):
        """Whether a column says of a path what the whole metadata say, too."""
        return self.said is not None and name.startswith("metadata.")

    def read(self, batch: Any) -> tuple[list[Chunk], Any]:
        """The chunks of a record batch, and their vectors or None."""
        used = [name for name in self.names if name != self.vector]
        lists = [batch.column(name).to_pylist() for name in used]
        chunks = [
            self._chunk(dict(zip(used, row, strict=True))) for row in zip(*lists, strict=True)
        ]
        return chunks, None if self.vector is None else _vectors(batch.column(self.vector))

    def _chunk(self, row):
        doc_id, index = self._place(row)
        self.counter[doc_id] += 1
        metadata = _metadata(row.get(self.said))
        told = metadata.pop("tags", ()) if self.said == "metadata_" else ()  # as to_arrow() says it
        tags = row.get("tags") if "tags" in row else told
        others = {name: row[name] for name in self.others if row[name] is not None}
        text = row[self.text]
        return Chunk(
            doc_id, index, "" if text is None else text, tuple(tags or ()), {**others, **metadata}
        )

    def _place(self, row):
        """(document id, chunk index)."""
        name = row[self.owner]
        if name is None or name == "":
            raise ValueError(f"a row of the table has no {self.owner}")
        if self.owner == "node_id":
            doc_id, _, index = str(name).rpartition("#")
            if not (doc_id and index.isdecimal()):
                raise ValueError(f"node_id is a document's id, # and a number, not {name!r}")
            return doc_id, int(index)
        index = row.get("chunk_index")
        return str(name), self.counter[str(name)] if index is None else index


def _metadata(said) -> dict[str, Any]:
    found = json.loads(said) if isinstance(said, str) else said
    if found is not None and not isinstance(found, dict):
        raise ValueError(f"metadata of a row are an object, not {said!r:.80}")
    return dict(found or {})


def _vectors(column):
    """Vectors as an array where each row has one; else a list with None."""
    if len(column) and column.null_count == 0:
        flat = column.flatten().to_numpy(zero_copy_only=False)
        if len(flat) % len(column) == 0 and len({len(row) for row in column}) == 1:
            return flat.reshape(len(column), -1)
    rows = column.to_pylist()
    return [None if row is None else np.asarray(row, np.float32) for row in rows]
