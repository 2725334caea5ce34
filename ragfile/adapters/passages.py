"""A .ragfile as the stores of frameworks see one: texts by id, each whole, with a vector and metadata.

The adapters of frameworks stand on this. A passage is a document of one chunk; writing one whose id is there
replaces it. The file appears with the first passage. Every write is one commit: all of it counts, or none.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ragfile.embedding.protocol import open_embedder
from ragfile.knowledge_base import KnowledgeBase
from ragfile.opener import open as open_file
from ragfile.options import SEARCH, SearchOptions
from ragfile.records import Chunk, Document
from ragfile.write.editor import edit
from ragfile.write.writer import create

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ragfile.records import Hit
    from ragfile.types import Metric

TEXTS_ALONE = {
    "context": None
}  # vectors are of the texts that the framework embeds, and of nothing else


@dataclass(slots=True)
class Passage:
    """What a framework calls a document or a node."""

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


def _row(vector: Any) -> np.ndarray | None:
    return None if vector is None else np.asarray(vector, dtype=np.float32).reshape(-1)


class PassageStore:
    """Passages in one file. `embedder` makes the vectors that are not given; None leaves that to the caller."""

    def __init__(
        self, path: str | os.PathLike[str], embedder: Any = None, *, metric: Metric = "cosine"
    ):
        self.path = os.fspath(path)
        self.embedder = open_embedder(embedder)
        self._spec = embedder if isinstance(embedder, str) else None
        self._metric: Metric = metric
        self._reader, self._lock = None, threading.RLock()

    def __len__(self) -> int:
        reader = self.reader()
        return 0 if reader is None else len(reader)

    def reader(self) -> KnowledgeBase | None:
        """The newest commit, opened; None while there is no file."""
        with self._lock:
            if self._reader is None and os.path.exists(self.path):
                opened = open_file(self.path, embedder=self.embedder)
                if not isinstance(opened, KnowledgeBase):
                    opened.close()
                    raise ValueError(f"{self.path}: a store needs a .ragfile of format 1.0")
                self._reader = opened
            elif self._reader is not None:
                self._reader.refresh()
            return self._reader

    def put(self, passages: Sequence[Passage], vectors: Any = None) -> None:
        """Writes passages; of equal ids the last one counts. vectors has one for each, or None."""
        rows = None if vectors is None else [_row(vector) for vector in vectors]
        widths = {len(row) for row in rows or () if row is not None}
        if rows is not None and (len(rows) != len(passages) or len(widths) > 1):
            raise ValueError(f"{len(passages)} passages need as many vectors of one length")
        last = {passage.id: i for i, passage in enumerate(passages)}
        if not last:
            return
        with self._lock, self._writer(next(iter(widths), None)) as writer:
            if hasattr(writer, "delete"):
                writer.delete(list(last))
            for i in last.values():
                self._add(writer, passages[i], None if rows is None else rows[i : i + 1])

    def _writer(self, dim: int | None) -> Any:
        if os.path.exists(self.path):
            return edit(self.path, embedder=self.embedder)
        return create(
            self.path, dim=dim, embedder=self.embedder, spec=self._spec, metric=self._metric,
            config=TEXTS_ALONE,
        )  # fmt: skip

    @staticmethod
    def _add(writer: Any, passage: Passage, vectors: Any) -> None:
        document = Document(passage.id, passage.text, metadata=dict(passage.metadata))
        chunk = Chunk(passage.id, 0, passage.text, (), {}, 0, len(passage.text))
        writer.add_document(document, [chunk], vectors)

    def delete(self, ids: Iterable[str]) -> list[str]:
        """The ids that were there."""
        ids = list(ids)
        if not ids or not os.path.exists(self.path):
            return []
        with self._lock, edit(self.path) as writer:
            return writer.delete(ids)

    def get(self, ids: Iterable[str]) -> list[Passage]:
        """Those of the ids that are there, in their order."""
        reader = self.reader()
        found = [] if reader is None else [reader.document(name) for name in ids]
        return [Passage(d.id, d.text, dict(d.metadata)) for d in found if d is not None]

    def search(self, text: str, k: int, **options: Unpack[SearchOptions]) -> list[Hit]:
        """Search as KnowledgeBase.search does; find nothing while there is no file."""
        SEARCH.complete(options)  # a wrong name is an error in an empty store, too
        reader = self.reader()
        if reader is None or not len(reader):
            return []
        options.setdefault("pool", max(SEARCH.defaults["pool"], k))
        return reader.search(text, k, **options)

    def close(self) -> None:
        """Closes the reader; the next call opens it again."""
        with self._lock:
            if self._reader is not None:
                self._reader.close()
                self._reader = None
