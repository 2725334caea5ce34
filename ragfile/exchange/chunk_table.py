"""The one layout of Parquet, DuckDB and JSON lines: the chunks of a file as a table that restores it.

    node_id doc_id chunk_index text source tags metadata_ … embedding    as in file/arrow.py
    document    in the first chunk of a document: the whole document, as JSON; else null
    the note    beside the rows: the configuration of the file, the documents without chunks, and the
                origin of a file that was converted from FAISS + JSON, .ragmd or format 0.1.0

`ragfile export` and `ragfile convert` write it, and `restored()` reads it.
"""

from __future__ import annotations

import base64
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.errors import CorruptError, FormatError
from ragfile.exchange import origin
from ragfile.exchange.collection import Collection, JsonObject
from ragfile.exchange.stores import knowledge_base
from ragfile.ground import system
from ragfile.search.file_rows import FileRows, rows_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from ragfile.file.row_segment import StoredDocument
    from ragfile.types import Floats

NOTE = "ragfile"  # the name of the note, wherever a format keeps it
DOCUMENT = "document"


class TableRow(NamedTuple):
    """The parts of a row that restore a file."""

    doc_id: str
    chunk_index: int
    document: str | None
    vector: Sequence[float] | None


@contextmanager
def rows_as_file(collection: Collection) -> Generator[FileRows]:
    """Open a collection as a temporary file."""
    with system.temporary_folder() as folder:
        path = os.path.join(folder, "kb.ragfile")
        knowledge_base.write(collection, path)
        with rows_of(path) as rows:
            yield rows


class StoredBody(NamedTuple):
    """A live document, and the JSON that restores it."""

    stored: StoredDocument
    body: str


def bodies_of(rows: FileRows) -> Iterator[StoredBody]:
    """Yield the live documents in the order of rows."""
    count = 0
    for segment in rows.segments:
        for stored in segment.live_documents():
            bare = stored.vectors[1]
            body = knowledge_base.document_object(stored, count, bare)
            count += int((~bare).sum())
            yield StoredBody(stored, json.dumps(body))


def documents_of(rows: FileRows) -> Iterator[str | None]:
    """Yield for each live row the JSON of its document if it is the first of it, else None."""
    for stored, body in bodies_of(rows):
        for number in range(len(stored.rows)):
            yield None if number else body


def note_of(rows: FileRows) -> str:
    """Return the note of a file, as JSON in ASCII."""
    held: JsonObject = {"record": knowledge_base.record_of(rows)}
    if bare := list(_without_chunks(rows)):
        held["documents"] = bare
    section = rows.file.section(knowledge_base.ORIGIN, 0)
    if section is not None:
        stream = _core.Stream(section)
        held["origin"] = base64.b64encode(bytes(stream.read(0, stream.size))).decode()
    return json.dumps(held)


def _without_chunks(rows: FileRows) -> Iterator[JsonObject]:
    for segment in rows.segments:
        for stored in segment.live_documents():
            if not stored.rows:
                yield knowledge_base.document_object(stored, 0, np.zeros(0, bool))


def restored(note: str, rows: Iterable[TableRow], dim: int | None = None) -> Collection:
    """Return the collection that a table was written from.

    Args:
        note: The note of the table.
        rows: Its rows in order.
        dim: The length of the vectors, for a table without rows.

    Raises:
        FormatError: The table changed since it was written, or is damaged.
    """
    with knowledge_base.fitting("the note of the table"):
        held = json.loads(note)
        table = TableContent(rows, held)
        if "origin" in held:
            blob = base64.b64decode(held["origin"], validate=True)
            return origin.unpack(blob, table.text_of, table.vector_of)
        record: JsonObject = held["record"]
        return table.collection(record, dim or record["config"].get("dim") or 1)


class TableContent:
    """The documents and vectors of a table."""

    def __init__(self, rows: Iterable[TableRow], held: JsonObject) -> None:
        self.documents: dict[str, JsonObject] = {}
        self.vectors: dict[tuple[str, int], Floats] = {}
        for row in rows:
            if row.document is not None:
                self._add(json.loads(row.document))
            if row.doc_id not in self.documents:
                raise FormatError(f"the document {row.doc_id!r} of the table is missing")
            if row.vector is not None:
                self.vectors[row.doc_id, row.chunk_index] = np.asarray(row.vector, np.float32)
        for document in held.get("documents", ()):
            self._add(document)

    def _add(self, document: JsonObject) -> None:
        self.documents[document["id"]] = document

    def text_of(self, doc_id: str) -> str:
        return str(self.documents[doc_id]["full_text"])

    def vector_of(self, doc_id: str, index: int) -> Floats:
        return self.vectors[doc_id, index]

    def collection(self, record: JsonObject, dim: int) -> Collection:
        """Return the collection of a file without an origin."""
        refs: list[JsonObject] = []
        rows: list[Floats] = []
        for doc_id, document in self.documents.items():
            for key, entry in document["chunks"].items():
                vector = self.vectors.pop((doc_id, _number(key)), None)
                entry["faiss_id"] = None if vector is None else len(refs)
                if vector is not None:
                    refs.append({"document_id": doc_id, "chunk_key": key})
                    rows.append(vector)
        if self.vectors:
            raise CorruptError(f"chunk {next(iter(self.vectors))} of the table has no document")
        matrix = np.array(rows, np.float32).reshape(len(rows), len(rows[0]) if rows else dim)
        return knowledge_base.recorded_collection(record, matrix, refs, self.documents)


def _number(key: str) -> int:
    return int(key.removeprefix("chunk-"))
