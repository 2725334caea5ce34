"""Recipes for embedding a chunk from its text and its path of titles and headers.

A file records its recipe under "context" in rag.config, and every later edit follows it:

    nothing recorded                 the text alone
    {"kind": "sum", "weight": w}     the direction of unit(text) + w · unit(path): for static models
    {"kind": "prefix"}               the vector of "path, newline, text": for models that read in order

Chunks with equal keys have equal vectors. Code that reuses vectors compares keys, never texts.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ragfile import _core
from ragfile.embedding.protocol import embedded
from ragfile.errors import VersionError

if TYPE_CHECKING:
    from ragfile.embedding.protocol import Embedder
    from ragfile.records import Chunk
    from ragfile.types import Float32s

WEIGHT = 1.0  # of the path beside the text; bench/eval.md has the alternatives
FIELD = "headers"  # the metadata that holds the path
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Context:
    """A recipe; `kind` is "text", "sum" or "prefix"."""

    kind: str = "text"
    weight: float = WEIGHT

    @classmethod
    def for_embedder(cls, embedder: Embedder | None) -> Context:
        """Return the recipe of a new file."""
        if embedder is None:
            return cls()
        return cls("sum" if getattr(embedder, "is_static", False) else "prefix")

    @classmethod
    def recorded(cls, record: dict[str, Any]) -> Context:
        """Return the recipe in a file's configuration; without one, texts are embedded alone."""
        fields = record.get("context")
        if fields and fields["kind"] not in ("sum", "prefix"):
            kind = fields["kind"]
            raise VersionError(f"vectors are made by {kind!r}, which this version does not know")
        return cls(fields["kind"], fields.get("weight", WEIGHT)) if fields else cls()

    def record(self) -> dict[str, Any]:
        """Return the fields for a file's configuration."""
        if self.kind == "text":
            return {}
        weight = {"weight": self.weight} if self.kind == "sum" else {}
        return {"context": {"kind": self.kind, **weight}}

    def key(self, chunk: Chunk, shared: Mapping[str, Any] = NOTHING) -> Hashable:
        """Return a key that is equal for equal vectors. `shared` is the document's metadata."""
        return self.key_of(chunk.content, {**shared, **chunk.metadata})

    def key_of(self, text: str, metadata: Mapping[str, Any]) -> Hashable:
        """Return the key of a text with all of its metadata."""
        path = metadata.get(FIELD)
        path = path if isinstance(path, str) else ""
        if not path or self.kind == "text":
            return text
        if self.kind == "prefix":
            return f"{path}\n{text}"
        return path, text

    def embed(self, embedder: Embedder, keys: Sequence[Hashable]) -> Float32s:
        """Return one row per key."""
        pairs = [
            cast("tuple[str, str]", key) if isinstance(key, tuple) else ("", str(key))
            for key in keys
        ]
        rows = embedded(embedder, [text for _, text in pairs], "document")
        paths = list(dict.fromkeys(path for path, _ in pairs if path))
        if paths:
            number = {path: i for i, path in enumerate(paths)}
            rows = np.array(rows, dtype=np.float32, order="C")
            where = np.array([number.get(path, -1) for path, _ in pairs], dtype=np.int64)
            of_paths = np.ascontiguousarray(embedded(embedder, paths, "document"))
            _core.add_context(rows, of_paths, where, self.weight)
        return rows
