"""The draft of a commit, which building, editing and compaction share.

Additions are staged; nothing is visible before `commit`, and a failure leaves nothing behind.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from ragfile import _core
from ragfile.embedding.embedded_text import NOTHING, Context
from ragfile.errors import ModelError
from ragfile.file.config import CODE_RANKING
from ragfile.file.row_segment import StoredDocument
from ragfile.file.sections import check_own
from ragfile.ingest.analysis import Analysis
from ragfile.records import Chunk, Document
from ragfile.types import Fields, SomeVectors, Table, Vector
from ragfile.write.analysis_record import analysis_record
from ragfile.write.segment_sections import SegmentSections
from ragfile.write.spool import IN_MEMORY
from ragfile.write.staged_rows import Staging
from ragfile.write.tables import chunks_of, is_table

if TYPE_CHECKING:
    from typing_extensions import Buffer
else:
    Buffer = bytes | bytearray | memoryview


CONFIG_NEAR = 8 << 10  # bytes before the end where remote readers find rag.config with the table
BATCH = 1024  # chunks of a generator held at a time
Embed = Callable[[list[Hashable]], "np.ndarray | None"]


def creation_time() -> int:
    """Return SOURCE_DATE_EPOCH in nanoseconds since 1970, else 0: files do not record the clock."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    return int(epoch) * 10**9 if epoch else 0


def batches(
    chunks: Iterable[Chunk | Fields] | Table,
    vectors: SomeVectors | Iterable[Vector | None] | None,
) -> Iterator[tuple[list[Chunk], SomeVectors | None]]:
    """Yield chunks with their vectors in batches, so that generators are never held whole.

    Vectors in one array or list belong to one batch. A table contains its own.
    """
    if is_table(chunks):
        if vectors is not None:
            raise TypeError("the vectors of a table are its column embedding")
        yield from chunks_of(chunks)
        return
    listed = cast("Iterable[Chunk | Fields]", chunks)
    if vectors is not None and hasattr(vectors, "__len__"):
        yield [Chunk.of(chunk) for chunk in listed], cast("SomeVectors", vectors)
        return
    given = None if vectors is None else iter(vectors)
    incoming = iter(listed)
    while batch := [Chunk.of(chunk) for chunk in islice(incoming, BATCH)]:
        yield batch, None if given is None else list(islice(given, len(batch)))
    if given is not None and next(given, None) is not None:
        raise ValueError("there are more vectors than chunks")


def numbered(
    batched: Iterable[tuple[list[Chunk], SomeVectors | None]], name: str, first: int
) -> Iterator[tuple[list[Chunk], SomeVectors | None]]:
    """Add each chunk's number in order of arrival to its metadata."""
    for chunks, vectors in batched:
        chunks = [
            replace(chunk, metadata={**chunk.metadata, name: number})
            for number, chunk in enumerate(chunks, first)
        ]
        first += len(chunks)
        yield chunks, vectors


def no_vectors(keys: list[Hashable]) -> None:
    """Return None, in place of an embedder."""


class Draft:
    """The additions and the configuration of a commit. embed makes vectors from keys, or returns None."""

    def __init__(
        self, file: _core.FileWriter, record: dict[str, Any], *, dim: int | None = None,
        analysis: Analysis | None = None, created: int | None = None, embed: Embed = no_vectors,
    ) -> None:  # fmt: skip
        self.file, self.record, self.analysis, self.embed = file, record, analysis, embed
        self.created, self.is_over = creation_time() if created is None else created, False
        self.sections: list[tuple[str, bytes, int, int]] = []
        self.others_have_vectors = False  # rows of segments that the commit keeps
        self.others_have_terms = False  # those segments, which then record the word rules
        self.is_parity_new = False  # recompute it for all bytes, not only for new ones
        self.is_lean = False  # leave out of a small segment the sections that questions hardly need
        self.is_listed = False  # have one entry of the table stand for the new segment
        # rag.config of the commit before, and its offset
        self.stored_config: tuple[bytes, int] = b"", 0
        try:
            self.staging = Staging(
                os.path.dirname(os.path.abspath(file.path)) if file.keys is None else IN_MEMORY,
                dim,
                np.float16 if record["precision"] == 16 else np.float32,
                analysis.metadata_fields if analysis else (),
            )
        except BaseException:
            file.close()
            raise

    def __len__(self) -> int:
        """Return the number of chunks added so far."""
        return len(self.staging)

    @property
    def context(self) -> Context:
        """The metadata that are embedded along with the text."""
        return Context.recorded(self.record)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added."""
        return not (self.staging.documents or self.sections)

    def add_chunks(self, chunks: Sequence[Chunk], vectors: SomeVectors | None = None) -> None:
        """Add chunks of any documents, without a text of the document."""
        self.staging.add_chunks(chunks)
        self._add_vectors(chunks, vectors)

    def add_document(
        self, document: Document, chunks: Sequence[Chunk], vectors: SomeVectors | None = None,
        has_text: bool = True,
    ) -> None:  # fmt: skip
        """Add a document with all its chunks."""
        _check_owner(document, chunks)
        raw = self.staging.add_document(document, has_text)
        self.staging.add_chunks(chunks, document.text, raw)
        self._add_vectors(chunks, vectors, document.metadata)

    def carry(self, old: StoredDocument, with_vectors: bool = True) -> int:
        """Copy a document of an open file as stored, and return its number in the draft."""
        number = self.staging.carry(old)
        if not (old.rows and with_vectors):
            return number
        if old.segment.has_bare_rows:
            self.staging.carry_vectors(*old.vectors)
        else:
            self.staging.carry_all_vectors(old.stored_vectors)
        return number

    def add_section(self, name: str, data: bytes, items: int = 0, flags: int = 0) -> None:
        """Add a section of the whole file."""
        self.sections.append((name, data, items, flags))

    def _add_vectors(
        self, chunks: Sequence[Chunk], vectors: SomeVectors | None,
        shared: Mapping[str, Any] = NOTHING,
    ) -> None:  # fmt: skip
        if not chunks:
            return
        if vectors is None:
            context = self.context
            vectors = self.embed([context.key(chunk, shared) for chunk in chunks])
        if vectors is None:
            self.staging.add_no_vectors(len(chunks))
        else:
            self.staging.add_vectors(vectors, len(chunks))
        if self.staging.unsaid and self.staging.vector_rows:
            what = "either every chunk has a vector or none has"
            raise ModelError(f"{what}: in a list of vectors, None stands for a chunk without one")

    def write(self) -> None:
        """Write everything without committing it."""
        self.write_segment()
        self.write_rest()

    def write_segment(self) -> None:
        """Write the staged documents as a new segment."""
        SegmentSections(
            self.file, self.staging, self.record, self.analysis, self.others_have_vectors,
            self.is_lean, self.is_listed,
        ).write()  # fmt: skip

    def write_rest(self) -> None:
        """Write the sections of the whole file."""
        record = {**self.record, "dim": self.staging.dim}
        record.pop("analysis", None)
        self._record_code(record)
        if not (self.staging.documents or self.others_have_terms):
            record |= analysis_record(self.analysis)
        model = record.get("model")
        if model and model.get("dims") is None and self.staging.vector_rows:
            # The dimension of a server's vectors is known after its first answer.
            record["model"] = {**model, "dims": self.staging.dim}
        raw = json.dumps(record, sort_keys=True, ensure_ascii=False).encode()
        stored, at = self.stored_config
        if raw != stored or self.file.size - at > CONFIG_NEAR:
            self.file.add("rag.config", raw, items=1)
        for name, data, items, flags in self.sections:
            self.file.add(name, data, 0, flags, items)

    def _record_code(self, record: dict[str, Any]) -> None:
        """Record the ranking of source code where some was added, and in a new file not without any."""
        documents, is_edit = self.staging.documents, bool(self.stored_config[0])
        if documents.has_code or (documents.carries_code and not is_edit):
            record["code"] = CODE_RANKING
        elif not is_edit:
            record.pop("code", None)

    def commit(self, message: str = "") -> None:
        """Make the written sections durable and visible."""
        self.file.parity(self.record.get("parity", 0), self.is_parity_new)
        self.file.commit(self.created, message)

    def discard(self) -> None:
        """Discard uncommitted changes, and release the file."""
        self.is_over = True
        self.file.close()
        self.staging.close()


def _check_owner(document: Document, chunks: Sequence[Chunk]) -> None:
    """Raise ValueError for a chunk of another document."""
    for chunk in chunks:
        if chunk.doc_id != document.id:
            raise ValueError(
                f"chunk {chunk.chunk_index} is of the document {chunk.doc_id!r:.80}, not of "
                f"{document.id!r:.80}: give each document its own chunks"
            )


class Transaction:
    """The common methods of `Writer` and `Editor`.

    A `with` block ends with `close()`, or with `discard()` after an exception.
    """

    draft: Draft

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if kind is None:
            self.close()
        else:
            self.discard()

    def __len__(self) -> int:
        """Return the number of chunks added so far."""
        return len(self.draft)

    @property
    def record(self) -> dict[str, Any]:
        """The configuration that the file will record."""
        return self.draft.record

    @property
    def context(self) -> Context:
        """The metadata that are embedded along with the text."""
        return self.draft.context

    @property
    def analysis(self) -> Analysis | None:
        """The fields and word rules of BM25, None without it."""
        return self.draft.analysis

    @property
    def created(self) -> int:
        """Time of the commit in ns since 1970."""
        return self.draft.created

    @property
    def is_over(self) -> bool:
        """Whether it was closed or discarded."""
        return self.draft.is_over

    def add_section(
        self, name: str, data: Buffer, *, items: int = 0, must_read: bool = False,
        must_write: bool = False,
    ) -> None:  # fmt: skip
        """Add a section of your own, which `rf.file.section(name)` returns.

        Args:
            name: 1 to 64 letters, digits or `_.+@/`. Names that the format uses or reserves,
                such as those that start with `rag.`, raise `ValueError`.
            data: The bytes of the section.
            items: The number of things in it, for `info`.
            must_read: Readers without code for the section refuse the file.
            must_write: Programs without code for it refuse to write to the file.
        """
        check_own(name)
        self.draft.add_section(name, bytes(data), items, must_read | must_write << 1)

    def close(self) -> None:
        """Commit the changes."""
        raise NotImplementedError

    def discard(self) -> None:
        """Discard uncommitted changes. Does nothing after `close()`."""
        self.draft.discard()
