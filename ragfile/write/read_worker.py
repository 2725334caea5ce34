"""The process that reads sources for a build: it loads, splits and, with the default model, embeds.

    python -c "…; read_worker.main()"     reads pickled lists of SourceFile, writes lists of SourceRead

It is a plain Python process that imports this module and runs nothing of the program that started it.
Its parent handles interrupts; it ends when its input does.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragfile.embedding.embedded_text import Context
from ragfile.embedding.protocol import open_embedder
from ragfile.ground import system
from ragfile.ingest.chunker import Policy
from ragfile.ingest.document_loader import Loading, SourceFailure
from ragfile.ingest.loaders.contract import Limits
from ragfile.ingest.parser_process import ParserProcess
from ragfile.ingest.source_files import Selection, SourceFile
from ragfile.records import Chunk, Document

if TYPE_CHECKING:
    import numpy as np

    from ragfile.types import Errors, Metadata, Tags

Cut = tuple[int, str, Any, dict[str, Any], int, int]  # a chunk without the fields of its document


@dataclass(slots=True)
class Order:
    """The options of a worker for every source."""

    limits: Limits
    errors: Errors
    encoding: str | None
    tags: tuple[str, ...]
    metadata: dict[str, Any]
    policy: Policy
    embedder: str | None  # the default model, or None if the parent embeds
    record: dict[str, Any]  # the configuration of the file, which determines the keys
    selection: Selection


@dataclass(slots=True)
class SourceRead:
    """The result of reading one source: documents and failures in order."""

    checksum: str = ""
    size: int = 0
    encodings: dict[str, str] = field(default_factory=dict[str, str])  # as Loading has them
    events: list[SourceFailure | BuildPart] = field(default_factory=lambda: [])
    warned: list[tuple[str, type[Warning]]] = field(default_factory=list[tuple[str, type[Warning]]])


@dataclass(slots=True)
class BuildPart:
    """A document and its chunks, sent as spans of its text."""

    document: Document
    cuts: list[Cut]
    vectors: np.ndarray | None = None

    def chunks(self) -> list[Chunk]:
        """Return the chunks with their texts."""
        text, doc_id = self.document.text, self.document.id
        return [
            Chunk(
                doc_id,
                index,
                text[start:end] if start >= 0 else content,
                tags,
                metadata,
                start,
                end,
            )
            for index, content, tags, metadata, start, end in self.cuts
        ]


def with_labels(document: Document, tags: Tags | None, metadata: Metadata | None) -> Document:
    """Add the tags and metadata of a build to a document."""
    document.tags = tuple(dict.fromkeys([*document.tags, *(tags or ())]))
    document.metadata = {**document.metadata, **(metadata or {})}
    return document


class SourceReader:
    """Reads sources with the options of an order."""

    def __init__(self, order: Order) -> None:
        self.order, self.policy = order, order.policy
        self.embedder = None if order.embedder is None else open_embedder(order.embedder)
        self.context = Context.recorded(order.record)
        self.parser = ParserProcess()

    def read(self, source: SourceFile) -> SourceRead:
        """Read one source, as Loading does."""
        order = self.order
        loading = Loading(
            [], limits=order.limits, errors=order.errors, encoding=order.encoding,
            parser=self.parser, selection=order.selection,
        )  # fmt: skip
        found, reported = SourceRead(), 0
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for document in loading.file(source):
                part = self._part(loading, document)
                found.events += loading.failures[reported:]
                reported = len(loading.failures)
                found.events += [] if part is None else [part]
        found.events += loading.failures[reported:]
        found.checksum, found.size = next(iter(loading.first_paths), ""), loading.bytes
        found.encodings = loading.encodings
        found.warned = [(str(each.message), each.category) for each in caught]
        return found

    def _part(self, loading: Loading, document: Document) -> BuildPart | None:
        with_labels(document, self.order.tags, self.order.metadata)
        if (chunks := loading.cut(document, self.policy)) is None:
            return None
        keys = [self.context.key(chunk, document.metadata) for chunk in chunks]
        vectors = self.context.embed(self.embedder, keys) if self.embedder and keys else None
        return BuildPart(document, [_cut(document, chunk) for chunk in chunks], vectors)


def _cut(document: Document, chunk: Chunk) -> Cut:
    content = "" if chunk.start >= 0 else chunk.content
    return chunk.chunk_index, content, chunk.tags, chunk.metadata, chunk.start, chunk.end


def main() -> None:
    """Answer requests on stdin until it ends. Prints of loaders are sent to stderr."""
    system.ignore_interrupts()
    answers = system.take_stdout()
    questions = sys.stdin.buffer
    reader = SourceReader(pickle.load(questions))
    pickle.dump([], answers, protocol=5)
    answers.flush()
    while True:
        try:
            sources = pickle.load(questions)
        except EOFError:
            return
        pickle.dump([reader.read(source) for source in sources], answers, protocol=5)
        answers.flush()
