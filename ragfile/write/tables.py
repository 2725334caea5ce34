"""Read chunks from tables: data frames, Arrow tables and record batches, DuckDB relations, open files.

Any object with an Arrow stream is read batch by batch; so are a LazyFrame of polars and a Dataset of
Hugging Face. The columns:

    doc_id, chunk_index    the document and the number in it; or node_id ("document#index"), or id for doc_id. Without
                           an index, chunks are numbered as they come, document by document
    text, or content       the passage
    embedding, or vector   a list of numbers; null is a chunk without a vector
    tags                   a list of texts
    sparse                 weights of terms: JSON text, a map, a struct, or a list of (term, weight)
    metadata_, metadata    JSON text, or a struct
    anything else          metadata under the column's name; null is left out

The table of `rf.to_arrow()` is restored exactly. It names the model of the vectors, as do an open file and the
frame of `rf.to_pandas()`. A frame of polars has no place for the name.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, cast

import numpy as np

from ragfile.file.arrow import model_entries, noted_model
from ragfile.ground.extras import optional
from ragfile.ground.json_values import is_object
from ragfile.ground.tagged_metadata import with_own_tags
from ragfile.records import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyarrow import Array, RecordBatch

    from ragfile.types import Floats, Metadata, SomeVectors, Table

ROWS = 4096
# Members by which tables of other libraries are known.
PANDAS, LAZY = ("iloc", "columns"), ("collect_schema", "collect")
HUGGING_FACE = ("with_format", "column_names", "features", "__getitem__")
TEXT, VECTOR, METADATA = ("text", "content"), ("embedding", "vector"), ("metadata_", "metadata")
OWNERS = ("node_id", "doc_id", "id")
# The columns of to_arrow() that a file derives itself are read by no other rule.
PLACES = {*OWNERS, "chunk_index", "row", "start", "end", "uuid", "tags", "sparse"}


def is_table(value: object) -> TypeGuard[Table]:
    """Return whether a value has an Arrow stream, or is a frame or dataset that can be made one."""
    return hasattr(value, "__arrow_c_stream__") or any(
        all(hasattr(value, name) for name in names) for names in (PANDAS, LAZY, HUGGING_FACE)
    )


class LazyTable(Protocol):
    """A LazyFrame of polars."""

    def collect(self) -> Table: ...


class FormattedTable(Protocol):
    """A Dataset of Hugging Face; a slice in the format `arrow` is a table."""

    def with_format(self, kind: str) -> Sequence[object]: ...


def streamed(value: Table) -> Table:
    """Return a table with an Arrow stream: polars computes a lazy frame, a Dataset keeps its selection."""
    if hasattr(value, "__arrow_c_stream__"):
        return value
    if all(hasattr(value, name) for name in LAZY):
        return cast("LazyTable", value).collect()
    if all(hasattr(value, name) for name in HUGGING_FACE):
        return cast("Table", cast("FormattedTable", value).with_format("arrow")[:])
    pyarrow = optional("pyarrow", "a table of chunks")
    return cast("Table", pyarrow.Table.from_pandas(value))  # pandas before 2.2


def model_of(given: object, table: Table) -> Metadata | None:
    """Return the model of its vectors that a table names, or None.

    An open file has a configuration, pandas notes the model in `attrs`, Arrow in the metadata of the schema.

    Args:
        given: The table as the caller gave it.
        table: The same with an Arrow stream.
    """
    config: object = getattr(getattr(given, "file", None), "config", None)
    if is_object(config):
        return model_entries(config)
    noted = noted_model(given)
    return noted_model(getattr(table, "schema", None)) if noted is None else noted


def has_columns_of_a_file(table: object) -> bool:
    """Return whether a table has the columns of `to_arrow()`, with vectors."""
    names: object = getattr(table, "column_names", getattr(table, "columns", ()))
    return {"node_id", "metadata_", "embedding"} <= set(map(str, cast("Sequence[object]", names)))


def chunks_of(table: Table) -> Iterator[tuple[list[Chunk], SomeVectors | None]]:
    """Yield the chunks of a table with their vectors, some thousand at a time."""
    pyarrow = optional("pyarrow", "a table of chunks")
    reader = pyarrow.RecordBatchReader.from_stream(streamed(table))
    columns = TableColumns(reader.schema.names)
    for batch in reader:
        for at in range(0, batch.num_rows, ROWS):
            yield columns.read(batch.slice(at, ROWS))


class TableColumns:
    """The roles of a table's columns, and the number of chunks read of each document."""

    def __init__(self, names: list[str]) -> None:
        self.names = [name for name in names if not name.startswith("__index_level_")]
        self.text, self.vector = self._one_of(TEXT), self._one_of(VECTOR)
        self.metadata, self.owner = self._one_of(METADATA), self._one_of(OWNERS)
        if {"doc_id", "chunk_index"} <= set(self.names):
            self.owner = "doc_id"
        self.counter: Counter[str] = Counter()
        if self.text is None or self.owner is None:
            raise ValueError(
                "a table of chunks has a column text (or content), and one of doc_id, node_id and "
                f"id; this one has {', '.join(self.names) or 'none'}"
            )
        known = {*PLACES, self.text, self.vector, self.metadata}
        if self.metadata == "metadata_":  # from to_arrow(): the column is the document's source
            known.add("source")
        self.others = [name for name in self.names if name not in known and not self._repeats(name)]

    def _one_of(self, names: Sequence[str]) -> str | None:
        return next((name for name in names if name in self.names), None)

    def _repeats(self, name: str) -> bool:
        """Return whether a column repeats one field of the metadata column."""
        return self.metadata is not None and name.startswith("metadata.")

    def read(self, batch: RecordBatch) -> tuple[list[Chunk], SomeVectors | None]:
        """Return the chunks of a record batch, and their vectors or None."""
        used = [name for name in self.names if name != self.vector]
        lists = [batch.column(name).to_pylist() for name in used]
        chunks = [
            self._chunk(dict(zip(used, row, strict=True))) for row in zip(*lists, strict=True)
        ]
        return chunks, None if self.vector is None else _vectors(batch.column(self.vector))

    def _chunk(self, row: dict[str, Any]) -> Chunk:
        doc_id, index = self._place(row)
        self.counter[doc_id] += 1
        metadata = _metadata(None if self.metadata is None else row.get(self.metadata))
        is_own = self.metadata == "metadata_"  # as in to_arrow()
        own = metadata.get("tags", ()) if is_own else ()
        metadata = with_own_tags(metadata) if is_own else metadata
        tags = row.get("tags") if "tags" in row else own
        others = {name: row[name] for name in self.others if row[name] is not None}
        text = None if self.text is None else row[self.text]
        return Chunk(
            doc_id, index, "" if text is None else text, tuple(tags or ()), {**others, **metadata},
            sparse=_weights(row.get("sparse")),
        )  # fmt: skip

    def _place(self, row: dict[str, Any]) -> tuple[str, int]:
        """Return the document id and chunk index of a row."""
        name = None if self.owner is None else row[self.owner]
        if name is None or name == "":
            raise ValueError(f"a row of the table has no {self.owner}")
        if self.owner == "node_id":
            doc_id, _, index = str(name).rpartition("#")
            if not (doc_id and index.isdecimal()):
                raise ValueError(f"node_id is a document's id, # and a number, not {name!r}")
            return doc_id, int(index)
        number = row.get("chunk_index")
        return str(name), self.counter[str(name)] if number is None else number


def _weights(value: object) -> dict[str, float] | None:
    """Return the weights of terms of a row, None without any."""
    found = json.loads(value) if isinstance(value, str) else value
    if isinstance(found, list):  # a map of Arrow
        found = dict(cast("Sequence[tuple[str, float]]", found))
    if found is not None and not is_object(found):
        raise ValueError(f"sparse weights of a row are an object, not {value!r:.80}")
    weights: dict[str, Any] = {k: v for k, v in (found or {}).items() if v is not None}
    return weights or None


def _metadata(value: object) -> dict[str, Any]:
    found = json.loads(value) if isinstance(value, str) else value
    if found is not None and not is_object(found):
        raise ValueError(f"metadata of a row are an object, not {value!r:.80}")
    return dict(found or {})


def _vectors(column: Array) -> SomeVectors:
    """Return vectors as an array if each row has one, else as a list with None."""
    if len(column) and column.null_count == 0:
        flat = column.flatten().to_numpy(zero_copy_only=False)
        if len(flat) % len(column) == 0 and len({len(row) for row in column}) == 1:
            matrix: Floats = flat.reshape(len(column), -1)
            return matrix
    rows = column.to_pylist()
    return [None if row is None else np.asarray(row, np.float32) for row in rows]
