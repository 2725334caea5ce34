"""Store whole texts by id in a .ragfile, with vectors and metadata, for the adapters of frameworks.

A passage is a document of one chunk; writing an existing id replaces its passage. The first write creates
the file. Every write is one atomic commit.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ragfile.embedding.protocol import open_embedder
from ragfile.errors import LockedError
from ragfile.ground.lock_patience import DOOR_WAIT, seconds_to_wait
from ragfile.knowledge_base import KnowledgeBase
from ragfile.opener import open as open_file
from ragfile.options import SEARCH, SearchOptions
from ragfile.records import Chunk, Document
from ragfile.write.editor import Editor
from ragfile.write.group_commit import GroupCommits
from ragfile.write.writer import create

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ragfile.embedding.protocol import Embedder
    from ragfile.records import Hit
    from ragfile.types import Float32s, Metric, SomeVectors, Vector
    from ragfile.write.writer import Writer

# Embed texts alone, without context, like the vectors that frameworks pass in.
TEXTS_ALONE = {"context": None}
PAUSE = 0.005  # seconds between attempts to create a file that another process is creating


@dataclass(slots=True)
class Passage:
    """A document or node of a framework."""

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=lambda: {})


def _row(vector: Vector | None) -> Float32s | None:
    return None if vector is None else np.asarray(vector, dtype=np.float32).reshape(-1)


class PassageStore:
    """Passages in one file.

    Args:
        path: The file; the first write creates it.
        embedder: Embeds passages and questions without vectors. None: every vector must be given.
        metric: The metric of a new file.
    """

    def __init__(
        self, path: str | os.PathLike[str], embedder: str | Embedder | None = None,
        *, metric: Metric = "cosine",
    ) -> None:  # fmt: skip
        self.path = os.fspath(path)
        self.embedder = open_embedder(embedder)
        self._spec = embedder if isinstance(embedder, str) else None
        self._metric: Metric = metric
        self._reader: KnowledgeBase | None = None
        self._lock = threading.RLock()
        self._commits = GroupCommits()

    def __reduce__(self) -> tuple[type[PassageStore], tuple[object, ...], dict[str, object]]:
        """Pickle the arguments; a copy opens the file itself."""
        embedder = self.embedder if self._spec is None else self._spec
        return PassageStore, (self.path, embedder), {"_metric": self._metric}

    def __len__(self) -> int:
        reader = self.reader()
        return 0 if reader is None else len(reader)

    def reader(self) -> KnowledgeBase | None:
        """Return the file, open at the newest commit; None if it does not exist yet."""
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

    def put(self, passages: Sequence[Passage], vectors: SomeVectors | None = None) -> None:
        """Write passages in one commit; the last of equal ids wins. `vectors` has one or None for each."""
        rows = None if vectors is None else [_row(vector) for vector in vectors]
        widths = {len(row) for row in rows or () if row is not None}
        if rows is not None and (len(rows) != len(passages) or len(widths) > 1):
            raise ValueError(f"{len(passages)} passages need as many vectors, all of one dimension")
        last = {passage.id: i for i, passage in enumerate(passages)}
        if not last:
            return

        def change(writer: Editor | Writer) -> None:
            if isinstance(writer, Editor):
                writer.delete(list(last))
            for i in last.values():
                self._add(writer, passages[i], None if rows is None else rows[i : i + 1])

        if not self._creates(change, next(iter(widths), None)):
            self._commits.run(self.path, change, embedder=self.embedder)

    def _creates(self, change: Callable[[Writer], None], dim: int | None) -> bool:
        """Create the file with a change, unless it is there or another writer creates it."""
        until = time.monotonic() + seconds_to_wait(default=DOOR_WAIT)
        while not os.path.exists(self.path):
            try:
                made = self._created(dim)
            except LockedError:
                if time.monotonic() >= until:
                    raise
                time.sleep(PAUSE)
                continue
            with made:
                if not os.path.exists(self.path):  # it cannot appear now: `made` holds the name
                    change(made)
                    return True
                made.discard()
        return False

    def _created(self, dim: int | None) -> Writer:
        return create(
            self.path, dim=dim, embedder=self.embedder, spec=self._spec, metric=self._metric,
            config=TEXTS_ALONE,
        )  # fmt: skip

    @staticmethod
    def _add(
        writer: Editor | Writer, passage: Passage, vectors: list[Float32s | None] | None
    ) -> None:
        document = Document(passage.id, passage.text, metadata=dict(passage.metadata))
        chunk = Chunk(passage.id, 0, passage.text, (), {}, 0, len(passage.text))
        writer.add_document(document, [chunk], vectors)

    def delete(self, ids: Iterable[str]) -> list[str]:
        """Delete passages, and return the ids that existed."""
        ids = list(ids)
        if not ids or not os.path.exists(self.path):
            return []
        return self._commits.run(
            self.path, lambda writer: writer.delete(ids), embedder=self.embedder
        )

    def get(self, ids: Iterable[str]) -> list[Passage]:
        """Return the existing passages of ids, in their order."""
        reader = self.reader()
        found = [] if reader is None else [reader.document(name) for name in ids]
        return [Passage(d.id, d.text, dict(d.metadata)) for d in found if d is not None]

    def search(self, text: str, k: int, **options: Unpack[SearchOptions]) -> list[Hit]:
        """Search like KnowledgeBase.search; return nothing if the file does not exist yet."""
        SEARCH.complete(options)  # refuse a wrong name even in an empty store
        reader = self.reader()
        if reader is None or not len(reader):
            return []
        options.setdefault("pool", max(SEARCH.defaults["pool"], k))
        return reader.search(text, k, **options)

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._lock:
            if self._reader is not None:
                self._reader.close()
                self._reader = None
