"""The vectors of an edit: stored ones for unchanged texts, new ones by the file's model."""

import os
from collections.abc import Hashable, Iterable, Iterator, Sequence

import numpy as np

from ragfile.embedding.embedded_text import Context
from ragfile.embedding.protocol import Embedder, open_for_model, open_recorded, told
from ragfile.errors import ModelError
from ragfile.file.row_segment import StoredDocument
from ragfile.records import Chunk, Document
from ragfile.search.file_rows import FileRows
from ragfile.types import Metadata
from ragfile.write.staged_rows import Staging

Cache = str | os.PathLike[str] | bool | None


class FileVectors:
    """The vectors of a file and its embedder.

    Without an embedder, the recorded model is opened when a text has to be embedded, so that deletions
    do not wait for it.
    """

    def __init__(self, archive: FileRows, embedder: str | Embedder | None, cache: Cache) -> None:
        self._archive, self._cache = archive, cache
        self._is_recorded = embedder is None and (not self._is_without() or archive.has_vectors)
        self._embedder = None if embedder is None else self._fitting(embedder)
        self.context, self.replaces_all = Context.recorded(archive.config), False
        self.made: dict[Hashable, np.ndarray] = {}  # of a batch, while it is written
        self.embedded = self.calls = 0

    @property
    def embedder(self) -> Embedder | None:
        """The embedder; the recorded one is opened on first use."""
        if self._is_recorded:
            self._is_recorded = False
            self._embedder = open_recorded(self._archive.config.get("model"), cache=self._cache)
        return self._embedder

    @embedder.setter
    def embedder(self, embedder: Embedder | None) -> None:
        self._embedder, self._is_recorded = embedder, False

    def _is_without(self) -> bool:
        """Return whether the file has chunks and no model."""
        return bool(len(self._archive)) and not self._archive.config.get("model")

    def _fitting(self, embedder: str | Embedder) -> Embedder | None:
        """Open the given embedder; raise ModelError unless it is the file's model."""
        path, recorded = self._archive.path, self._archive.config.get("model")
        made = open_for_model(embedder, recorded, cache=self._cache)
        if made is not None and self._is_without() and not self._archive.has_vectors:
            raise ModelError(f"{path} has chunks without vectors: use reindex to give it a model")
        if made is not None and recorded and not made.model.is_of(recorded):
            has = f"{path} has vectors of {told(recorded)}, not {told(made.model.record())}"
            raise ModelError(f"{has}: use reindex to change the model")
        return made

    def change_model(self, embedder: Embedder) -> bool:
        """Set an embedder, and return whether every chunk must be embedded again."""
        recorded: Metadata = self._archive.config.get("model") or {}
        context = Context.for_embedder(embedder)
        is_other = not embedder.model.is_of(recorded) or context != self.context
        self.replaces_all, self.embedder = is_other, embedder
        if is_other:
            self.context = context
        else:
            self._fitting(embedder)
        return is_other

    def embed(self, keys: Sequence[Hashable]) -> np.ndarray | None:
        """Return vectors for the keys of chunks (see Context), or None without an embedder."""
        if not keys:
            return np.empty((0, 0), np.float32)
        if (embedder := self.embedder) is None:
            return None
        new = [key for key in keys if key not in self.made]
        self.embedded += len(new)
        self.calls += bool(new)
        made = iter(self.context.embed(embedder, new) if new else ())
        rows = [self.made[key] if key in self.made else next(made) for key in keys]
        return np.array(rows, dtype=np.float32)

    def embed_ahead(self, keys: Iterable[Hashable]) -> None:
        """Embed the keys of a batch at once, for the following calls of embed()."""
        self.made = {}
        new = list(dict.fromkeys(keys))
        if new and (made := self.embed(new)) is not None:
            self.made = dict(zip(new, made, strict=True))

    def check(self, staging: Staging) -> None:
        """Raise ModelError if new chunks of a file with vectors have neither a vector nor None."""
        if staging.unsaid and self._archive.has_vectors and not self.replaces_all:
            what = f"{self._archive.path} has vectors, so new chunks need some"
            raise ModelError(f"{what}: give embedder= or vectors=")

    def keys(self, old: StoredDocument) -> Iterator[Hashable]:
        """Yield the keys of stored chunks one at a time: overlapping windows repeat their texts many times."""
        return map(self.context.key, self._archive.chunks_of(old))

    def keys_of(self, document: Document, chunks: Iterable[Chunk]) -> list[Hashable]:
        """Return the keys of new chunks."""
        return [self.context.key(chunk, document.metadata) for chunk in chunks]

    def rows_of(
        self, old: StoredDocument, keys: Iterable[Hashable]
    ) -> dict[Hashable, int | None]:  # fmt: skip
        """Return for each key the stored row with its vector, or None."""
        known: dict[Hashable, int | None] = dict.fromkeys(keys)
        for row, key in zip(old.rows, self.keys(old), strict=True):
            if key in known:
                known[key] = row
        return known

    def reused(
        self, old: StoredDocument, document: Document, chunks: Sequence[Chunk]
    ) -> list[np.ndarray | None] | None:  # fmt: skip
        """Return a vector for each chunk: the stored one (or None) for an unchanged key, else a new one.

        Returns None if the file has neither vectors nor a model, or no embedder can make new ones.
        A chunk without a vector stays without one, also if no other chunk has one.
        """
        if self.replaces_all or (self._is_without() and not self._archive.has_vectors):
            return None
        stored, bare = old.vectors
        keys = self.keys_of(document, chunks)
        known = self.rows_of(old, keys)
        new = [key for key, row in known.items() if row is None]
        made = self.embed(new) if new else ()
        if made is None:
            return None
        fresh: dict[Hashable, np.ndarray] = dict(zip(new, made, strict=True))
        same = self._rows_that_stay(old, chunks, keys)

        def vector_of(chunk: Chunk, key: Hashable) -> np.ndarray | None:
            row = same.get(chunk.chunk_index, known[key])
            if row is None:
                return fresh[key]
            at = row - old.rows.start
            if stored is None or bare[at]:
                return None
            vector: np.ndarray = stored[at]
            return vector

        return [vector_of(chunk, key) for chunk, key in zip(chunks, keys, strict=True)]

    def _rows_that_stay(
        self, old: StoredDocument, chunks: Sequence[Chunk], keys: Sequence[Hashable]
    ) -> dict[int, int]:
        """Return the stored rows of unchanged chunks by index.

        Equal texts can have different vectors if the caller made these.
        """
        wanted = {chunk.chunk_index: key for chunk, key in zip(chunks, keys, strict=True)}
        indexes = ((row, old.segment.records.chunk(row).index) for row in old.rows)
        return {
            index: row
            for (row, index), key in zip(indexes, self.keys(old), strict=True)
            if wanted.get(index) == key
        }
