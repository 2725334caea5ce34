"""One interface over two stores: `GenericRAGService` keeps FAISS + JSON, `SingleFileRAGService` a .ragmd file.

    async with GenericRAGService("ollama", model="nomic-embed-text") as rag:
        results = await rag.search("query")
    async with SingleFileRAGService("ollama", model="nomic-embed-text", ragmd_path=Path("embeddings.ragmd")) as rag:
        results = await rag.search("query")

`vectors-{model}.faiss` and `metadata-{model}.json` are read and written without FAISS. Everything is in memory; loading, embedding, searching and saving run in a thread, so the event loop goes on meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from ragfile.embedding.protocol import open_embedder
from ragfile.errors import ModelError
from ragfile.exchange.collection import chunk_text, empty
from ragfile.exchange.faiss import json_pair
from ragfile.exchange.ragmd import ragmd_reader

if TYPE_CHECKING:
    from typing import Any


class Embedder(Protocol):
    """Turns texts into vectors; role is "query" or "document"."""

    def embed(self, texts: list[str], role: str) -> np.ndarray: ...


class ChunkRef(NamedTuple):
    document_id: str
    chunk_key: str


class ChunkResult(NamedTuple):
    """One hit. Equal scores come in the order of their rows."""

    document_id: str
    chunk_key: str
    text: str
    document_text: str | None = None
    score: float = 0.0


@dataclass
class Document:
    """A document and its chunks: {key: {"i_start", "i_end", "faiss_id"}}, half-open spans of full_text or nulls for a field
    of content. Keys that are not known here are kept in `more`."""

    id: str
    content: dict = field(default_factory=dict)
    full_text: str = ""
    metadata: dict = field(default_factory=dict)
    source: str = ""
    chunks: dict = field(default_factory=dict)
    more: dict = field(default_factory=dict, repr=False)

    @classmethod
    def from_dict(cls, data):
        """Keeps unknown keys, and which keys there were in which order."""
        known = {key: data[key] for key in _DOCUMENT_KEYS if key in data}
        more = {key: value for key, value in data.items() if key not in _DOCUMENT_KEYS}
        document = cls(**known, more=more)
        vars(document)["_order"] = list(data)
        return document

    def to_dict(self):
        held = {key: getattr(self, key) for key in _DOCUMENT_KEYS} | self.more
        order = getattr(self, "_order", None) or list(held)
        late = [key for key in held if key not in order and held[key]]
        return {key: held[key] for key in (*order, *late) if key in held}

    def get_chunk_text(self, key):
        return chunk_text(self.to_dict(), key)


_DOCUMENT_KEYS = tuple(f.name for f in fields(Document) if f.name != "more")


def provider(service_name, model):
    """The embedder that a service and its model name: ("ollama", "nomic-embed-text"), ("openai", …), ("default", None)."""
    return open_embedder(
        f"{service_name}:{model}" if model and service_name != "default" else service_name
    )


class GenericRAGService:
    """The store in two files of a folder, an index and its JSON. Without an embedder, `connect(service_name, model)` is
    asked for one on first use.
    """

    def __init__(
        self, service_name, model=None, folder=".", *, embedder=None, connect=provider
    ):  # fmt: skip
        self.service_name = service_name
        self.model_name = model
        self.folder = os.fspath(folder)
        self.embedder = embedder
        self._connect = connect
        self._made_embedder = False
        self._collection: Any = None

    async def __aenter__(self):
        await asyncio.to_thread(self.initialize_search_backend)
        return self

    async def __aexit__(self, *_):
        close = getattr(self.embedder, "close", None)
        if close is not None and self._made_embedder:
            close()
        return False

    # ------------------------------------------------------------------------------------------------------- files ---

    @property
    def paths(self):
        """(index, JSON) of this model in the folder."""
        slug = re.sub(r"[^\w.-]+", "-", self.model_name or self.service_name).strip("-.") or "model"
        return json_pair.pair_paths(os.path.join(self.folder, f"vectors-{slug}.faiss"))

    def initialize_search_backend(self):
        """Loads the store; one that is not there yet is empty."""
        index, metadata = self.paths
        if os.path.exists(index) or os.path.exists(metadata):
            self._take(json_pair.read(index, metadata), index)

    def save(self):
        """Writes both files, each whole or not at all."""
        json_pair.write(self._filled(), *self.paths)

    def _filled(self):
        if self._collection is None:
            raise ModelError(
                "there is nothing to save: the store has no documents and so no dimension"
            )
        return self._collection

    def _take(self, found, path):
        """Takes a collection that was read, if it is of this model."""
        if self.model_name is not None and found.model_name not in (None, self.model_name):
            raise ModelError(
                f"{path} was built with {found.model_name}, not with {self.model_name}"
            )
        self.model_name = found.model_name or self.model_name
        self._collection = found

    # ---------------------------------------------------------------------------------------------------- contents ---

    @property
    def collection(self):
        return self._collection

    @property
    def index(self):
        return None if self._collection is None else self._collection.index

    @property
    def embedding_dim(self):
        return None if self._collection is None else self._collection.dim

    @property
    def chunk_refs(self):
        refs = [] if self._collection is None else self._collection.refs
        return [ChunkRef(ref["document_id"], ref["chunk_key"]) for ref in refs]

    @property
    def documents(self):
        """The documents by id, as copies: to change one, add it again."""
        held = {} if self._collection is None else self._collection.documents
        return {
            name: Document.from_dict({"id": name, **document}) for name, document in held.items()
        }

    async def add_document(self, document):
        """Embeds the document's chunks and appends them; a document of the same id is replaced."""
        await asyncio.to_thread(self.add_document_sync, document)

    def add_document_sync(self, document):
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

    # --------------------------------------------------------------------------------------------------- searching ---

    async def search(self, query, k=5, include_documents=False):
        """The k best chunks for a question."""
        return await asyncio.to_thread(self.search_sync, query, k, include_documents)

    def search_sync(self, query, k=5, include_documents=False):
        if self._collection is None or not len(self._collection):
            return []
        rows, scores = nearest(self._collection.index, self._embed([query], "query")[0], k)
        return [
            self._result(int(row), float(score), include_documents)
            for row, score in zip(rows, scores, strict=True)
        ]

    def _result(self, row, score, include_documents):
        ref = self._collection.refs[row]
        document = self._collection.documents.get(ref["document_id"]) or {}
        whole = (
            (document.get("full_text") or str(document.get("content") or ""))
            if include_documents
            else None
        )
        return ChunkResult(
            ref["document_id"], ref["chunk_key"], self._collection.text(row) or "", whole, score
        )

    def _embed(self, texts, role):
        if self.embedder is None:
            self.embedder, self._made_embedder = (
                self._connect(self.service_name, self.model_name),
                True,
            )
        return np.asarray(self.embedder.embed(texts, role), np.float32).reshape(len(texts), -1)


class SingleFileRAGService(GenericRAGService):
    """The same store in one .ragmd file."""

    def __init__(
        self, service_name, model=None, ragmd_path=None, *, embedder=None, connect=provider
    ):
        super().__init__(service_name, model, embedder=embedder, connect=connect)
        self.ragmd_path = os.fspath(ragmd_path) if ragmd_path is not None else None

    def initialize_search_backend(self):
        """Loads the file; a file that is not there yet is an empty store."""
        if self.ragmd_path is not None and os.path.exists(self.ragmd_path):
            self.load_from_ragmd(self.ragmd_path)

    def load_from_ragmd(self, path):
        """Takes the content of a .ragmd file."""
        self._take(ragmd_reader.load(path), path)

    def save_to_ragmd(self, path):
        """Writes a .ragmd file."""
        ragmd_reader.save(path, self._filled())

    def save(self):
        """Writes the file that the store was opened with."""
        self.save_to_ragmd(self.ragmd_path)


def nearest(index, query, k):
    """(rows, scores) of the k best rows of a flat index, exact, as FAISS ranks them: inner products fall, distances rise."""
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
