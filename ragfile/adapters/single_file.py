"""A retrieval service over two kinds of stores: FAISS + JSON files, or one .ragmd file.

    async with GenericRAGService("ollama", model="nomic-embed-text") as rag:
        results = await rag.search("query")
    async with SingleFileRAGService("ollama", model="nomic-embed-text", ragmd_path=Path("embeddings.ragmd")) as rag:
        results = await rag.search("query")

`vectors-{model}.faiss` and `metadata-{model}.json` are read and written without FAISS. The store is held in
memory; loading, embedding, searching and saving run in threads, so they do not block the event loop.
"""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

import numpy as np

from ragfile.embedding.protocol import open_embedder
from ragfile.errors import ModelError
from ragfile.exchange.collection import chunk_text, empty
from ragfile.exchange.faiss import json_pair
from ragfile.exchange.ragmd import ragmd_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Self

    from ragfile.exchange.collection import Collection
    from ragfile.exchange.faiss.index import Index
    from ragfile.types import Float32s, Int64s, StrPath


class Embedder(Protocol):
    """Turns texts into vectors; `role` is "query" or "document"."""

    def embed(self, texts: list[str], role: str) -> np.ndarray: ...


class ChunkRef(NamedTuple):
    document_id: str
    chunk_key: str


class ChunkResult(NamedTuple):
    """One result. Equal scores are in row order."""

    document_id: str
    chunk_key: str
    text: str
    document_text: str | None = None
    score: float = 0.0


@dataclass
class Document:
    """A document and its chunks: {key: {"i_start", "i_end", "faiss_id"}}.

    The ends are half-open spans of full_text, or null for a field of content. `more` keeps unknown keys.
    """

    id: str
    content: dict[str, Any] = field(default_factory=dict)
    full_text: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    chunks: dict[str, Any] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Document:
        """Read a document; unknown keys and the order of keys are preserved."""
        known = {key: data[key] for key in _DOCUMENT_KEYS if key in data}
        more = {key: value for key, value in data.items() if key not in _DOCUMENT_KEYS}
        document = cls(**known, more=more)
        vars(document)["_order"] = list(data)
        return document

    def to_dict(self) -> dict[str, Any]:
        held = {key: getattr(self, key) for key in _DOCUMENT_KEYS} | self.more
        order = getattr(self, "_order", None) or list(held)
        late = [key for key in held if key not in order and held[key]]
        return {key: held[key] for key in (*order, *late) if key in held}

    def get_chunk_text(self, key: str) -> str | None:
        return chunk_text(self.to_dict(), key)


_DOCUMENT_KEYS = tuple(f.name for f in fields(Document) if f.name != "more")


def provider(service_name: str, model: str | None) -> Embedder:
    """Open the embedder of a service and a model, such as ("ollama", "nomic-embed-text") or ("default", None)."""
    embedder = open_embedder(
        f"{service_name}:{model}" if model and service_name != "default" else service_name
    )
    return cast("Embedder", embedder)


class GenericRAGService:
    """A store in two files of a folder, an index and its JSON.

    Args:
        service_name: The embedding service, such as "ollama" or "openai".
        model: The name of the service's model.
        folder: The folder of the two files.
        embedder: The embedder. Default: `connect(service_name, model)`, called on first use.
        connect: Opens an embedder.
    """

    def __init__(
        self, service_name: str, model: str | None = None, folder: StrPath = ".", *, embedder: Embedder | None = None, connect: Callable[[str, str | None], Embedder] = provider
    ) -> None:  # fmt: skip
        self.service_name = service_name
        self.model_name = model
        self.folder = os.fspath(folder)
        self.embedder = embedder
        self._connect = connect
        self._made_embedder = False
        self._collection: Collection | None = None

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.initialize_search_backend)
        return self

    async def __aexit__(self, *_: object) -> bool:
        close = getattr(self.embedder, "close", None)
        if close is not None and self._made_embedder:
            close()
        return False

    @property
    def paths(self) -> tuple[str, str]:
        """The paths of the index and the JSON file of this model."""
        slug = re.sub(r"[^\w.-]+", "-", self.model_name or self.service_name).strip("-.") or "model"
        return json_pair.pair_paths(os.path.join(self.folder, f"vectors-{slug}.faiss"))

    def initialize_search_backend(self) -> None:
        """Load the store; a missing one is empty."""
        index, metadata = self.paths
        if os.path.exists(index) or os.path.exists(metadata):
            self._take(json_pair.read(index, metadata), index)

    def save(self) -> None:
        """Write both files, each atomically."""
        json_pair.write(self._filled(), *self.paths)

    def _filled(self) -> Collection:
        if self._collection is None:
            raise ModelError(
                "nothing to save: the store has no documents, so its dimension is unknown"
            )
        return self._collection

    def _take(self, found: Collection, path: str) -> None:
        """Use a loaded collection; raise ModelError if another model built it."""
        if self.model_name is not None and found.model_name not in (None, self.model_name):
            raise ModelError(
                f"{path} was built with {found.model_name}, not with {self.model_name}"
            )
        self.model_name = found.model_name or self.model_name
        self._collection = found

    @property
    def collection(self) -> Collection | None:
        return self._collection

    @property
    def index(self) -> Index | None:
        return None if self._collection is None else self._collection.index

    @property
    def embedding_dim(self) -> int | None:
        return None if self._collection is None else self._collection.dim

    @property
    def chunk_refs(self) -> list[ChunkRef]:
        refs = [] if self._collection is None else self._collection.refs
        return [ChunkRef(ref["document_id"], ref["chunk_key"]) for ref in refs]

    @property
    def documents(self) -> dict[str, Document]:
        """Copies of the documents by id; to change one, add it again."""
        held = {} if self._collection is None else self._collection.documents
        return {
            name: Document.from_dict({"id": name, **document}) for name, document in held.items()
        }

    async def add_document(self, document: Document | Mapping[str, Any]) -> None:
        """Embed and append the chunks of a document; replace a document of the same id."""
        await asyncio.to_thread(self.add_document_sync, document)

    def add_document_sync(self, document: Document | Mapping[str, Any]) -> None:
        held = document.to_dict() if isinstance(document, Document) else dict(document)
        texts = [chunk_text(held, key) or "" for key in held.get("chunks") or {}]
        vectors = (
            self._embed(texts, "document")
            if texts
            else np.empty((0, self.embedding_dim or 1), np.float32)
        )
        if self._collection is None:
            self._collection = empty(vectors.shape[1], model_name=self.model_name)
        self._collection.replace(held, vectors)

    async def search(
        self, query: str, k: int = 5, include_documents: bool = False
    ) -> list[ChunkResult]:
        """Return the k best chunks for a query."""
        return await asyncio.to_thread(self.search_sync, query, k, include_documents)

    def search_sync(
        self, query: str, k: int = 5, include_documents: bool = False
    ) -> list[ChunkResult]:
        if self._collection is None or not len(self._collection):
            return []
        rows, scores = nearest(self._collection.index, self._embed([query], "query")[0], k)
        return [
            self._result(int(row), float(score), include_documents)
            for row, score in zip(rows, scores, strict=True)
        ]

    def _result(self, row: int, score: float, include_documents: bool) -> ChunkResult:
        collection = self._filled()
        ref = collection.refs[row]
        document = collection.documents.get(ref["document_id"]) or {}
        whole = (
            (document.get("full_text") or str(document.get("content") or ""))
            if include_documents
            else None
        )
        return ChunkResult(
            ref["document_id"], ref["chunk_key"], collection.text(row) or "", whole, score
        )

    def _embed(self, texts: list[str], role: str) -> Float32s:
        if self.embedder is None:
            self.embedder, self._made_embedder = (
                self._connect(self.service_name, self.model_name),
                True,
            )
        return np.asarray(self.embedder.embed(texts, role), np.float32).reshape(len(texts), -1)


class SingleFileRAGService(GenericRAGService):
    """The same service over one .ragmd file."""

    def __init__(
        self,
        service_name: str,
        model: str | None = None,
        ragmd_path: StrPath | None = None,
        *,
        embedder: Embedder | None = None,
        connect: Callable[[str, str | None], Embedder] = provider,
    ) -> None:
        super().__init__(service_name, model, embedder=embedder, connect=connect)
        self.ragmd_path = os.fspath(ragmd_path) if ragmd_path is not None else None

    def initialize_search_backend(self) -> None:
        """Load the file; a missing one is an empty store."""
        if self.ragmd_path is not None and os.path.exists(self.ragmd_path):
            self.load_from_ragmd(self.ragmd_path)

    def load_from_ragmd(self, path: str) -> None:
        """Load a .ragmd file."""
        self._take(ragmd_reader.load(path), path)

    def save_to_ragmd(self, path: str) -> None:
        """Write a .ragmd file."""
        ragmd_reader.save(path, self._filled())

    def save(self) -> None:
        """Write the file of this store."""
        self.save_to_ragmd(cast("str", self.ragmd_path))


def nearest(index: Index, query: Float32s, k: int) -> tuple[Int64s, Float32s]:
    """Return the k best rows of a flat index and their scores, exactly, in FAISS's order.

    Inner products are in descending order, distances ascending.
    """
    if query.shape != (index.dim,):
        raise ModelError(f"the query has {query.size} dimensions, the collection {index.dim}")
    scores = index.vectors @ query
    if index.metric == "l2":
        scores = np.einsum("nd,nd->n", index.vectors, index.vectors) + query @ query - 2 * scores
    keys = scores if index.metric == "l2" else -scores
    k = min(k, len(keys))
    near = np.flatnonzero(keys <= np.partition(keys, k - 1)[k - 1]) if k else np.empty(0, np.int64)
    rows = near[np.argsort(keys[near], kind="stable")][:k]
    return rows, scores[rows]
