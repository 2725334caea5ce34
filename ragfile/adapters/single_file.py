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
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from ragfile.adapters.single_file_records import (
    ChunkRef,
    ChunkResult,
    Document,
    ServedIndex,
    as_dict,
    documents_of,
    nearest,
    number_chunks,
    whole_text,
)
from ragfile.embedding.protocol import is_scheme, open_embedder, same_model
from ragfile.errors import ModelError
from ragfile.exchange.collection import chunk_text, empty
from ragfile.exchange.faiss import json_pair
from ragfile.exchange.ragmd import ragmd_reader
from ragfile.ground.atomic_replace import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Self

    from ragfile.exchange.collection import Collection
    from ragfile.types import Float32s, Floats, Int64s, StrPath


class Embedder(Protocol):
    """Turns texts into vectors; `role` is "query" or "document"."""

    def embed(self, texts: list[str], role: str) -> np.ndarray: ...


def provider(service_name: str, model: str | None) -> Embedder:
    """Open the embedder of a service and a model, such as ("ollama", "nomic-embed-text") or ("default", None).

    Texts get no prefix, as in stores of the original program. A model named with its service, such as
    "ollama:nomic-embed-text", is one that ragfile recorded, and gets ragfile's prefixes.
    """
    if not model or service_name == "default":
        return cast("Embedder", open_embedder(service_name))
    if model.startswith(f"{service_name}:") or not is_scheme(service_name):
        return cast("Embedder", open_embedder(_with_scheme(service_name, model)))
    spec = f"{service_name}:{model}"
    return cast("Embedder", open_embedder(spec, query_prefix="", document_prefix=""))


def _with_scheme(service_name: str, model: str) -> str:
    return model if model.startswith(f"{service_name}:") else f"{service_name}:{model}"


def model_slug(model: str) -> str:
    """Return the part of a store's file names that stands for a model, as the original names it."""
    return re.sub(r"[^a-z0-9]+", "-", model.removesuffix(":latest").lower()).strip("-") or "model"


class GenericRAGService:
    """A store in two files of a folder, an index and its JSON.

    Args:
        service_name: The embedding service, such as "ollama" or "openai".
        model: The name of the service's model.
        data_dir: The folder of the two files.
        index_path: The index, if not `vectors-{model}.faiss` in data_dir.
        metadata_path: Its JSON file, if not `metadata-{model}.json` in data_dir.
        embedder: The embedder. Default: `connect(service_name, model)`, called on first use.
        connect: Opens an embedder.
    """

    def __init__(
        self, service_name: str, model: str | None = None, data_dir: StrPath = ".",
        index_path: StrPath | None = None, metadata_path: StrPath | None = None, *,
        embedder: Embedder | None = None,
        connect: Callable[[str, str | None], Embedder] = provider,
    ) -> None:  # fmt: skip
        self.service_name = service_name
        self.model_name = model
        self.data_dir = os.fspath(data_dir)
        slug = model_slug(model or service_name)
        self.index_path = os.fspath(index_path or self._in_folder(f"vectors-{slug}.faiss"))
        self.metadata_path = os.fspath(metadata_path or self._in_folder(f"metadata-{slug}.json"))
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

    def _in_folder(self, name: str) -> str:
        return os.path.join(self.data_dir, name)

    @property
    def paths(self) -> tuple[str, str]:
        """The paths of the index and the JSON file."""
        return self.index_path, self.metadata_path

    def initialize_search_backend(self) -> None:
        """Load the store; a missing one is empty."""
        index, metadata = self.paths
        if os.path.exists(index) or os.path.exists(metadata):
            self._take(json_pair.read(index, metadata), index)

    def save(self) -> None:
        """Write both files, each atomically."""
        json_pair.write(self._filled(), *self.paths)

    def save_metadata(self) -> None:
        """Write the JSON file alone."""
        with replacing(self.metadata_path) as file:
            file.write(json_pair.text_of(self._filled()))

    def _filled(self) -> Collection:
        if self._collection is None:
            raise ModelError(
                "nothing to save: the store has no documents, so its dimension is unknown"
            )
        return self._collection

    def _take(self, found: Collection, path: str) -> None:
        """Use a loaded collection; raise ModelError if another model built it."""
        asked, recorded = self._asked_model(), found.model_name
        if asked and recorded and not same_model({"name": asked}, {"name": recorded}):
            raise ModelError(f"{path} was built with {recorded}, not with {asked}")
        self.model_name = recorded or self.model_name
        self._collection = found

    def _asked_model(self) -> str | None:
        """Return the name of the caller's model, with the scheme of a known service."""
        if self.model_name is None or not is_scheme(self.service_name):
            return self.model_name
        return _with_scheme(self.service_name, self.model_name)

    @property
    def collection(self) -> Collection | None:
        return self._collection

    @property
    def index(self) -> ServedIndex:
        """The vectors, with the interface of a FAISS index."""
        return ServedIndex(None if self._collection is None else self._collection.index)

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
        held = as_dict(document)
        chunks: dict[str, object] = held.get("chunks") or {}
        texts = [chunk_text(held, key) or "" for key in chunks]
        vectors = (
            self._embed(texts, "document")
            if texts
            else np.empty((0, self.embedding_dim or 1), np.float32)
        )
        if self._collection is None:
            self._collection = empty(vectors.shape[1], model_name=self.model_name)
        self._collection.replace(held, vectors)
        number_chunks(document, held.get("chunks") or {})

    async def build_embeddings_from_documents(
        self, source: str, doc_type: str | None = None
    ) -> None:
        """Add the documents of a file or glob, and save the store.

        Args:
            source: A CSV file, each row of it a document and each field a chunk; or any files that
                `ragfile build` reads, each a document that is split into chunks.
            doc_type: The start of the ids of a CSV file's documents. Default: the file's name.
        """
        for document in await asyncio.to_thread(documents_of, source, doc_type):
            await self.add_document(document)
        await asyncio.to_thread(self.save)

    async def get_embedding(self, text: str) -> Float32s:
        """Return the vector of a question as an array with one row."""
        return await asyncio.to_thread(self._embed, [text], "query")

    def vector_search(self, query_emb: Floats, k: int) -> tuple[Float32s, Int64s]:
        """Return the scores and rows of the k best for a vector; missing ones have row -1."""
        scores, rows = self.index.search(np.reshape(query_emb, (1, -1)), k)
        return scores[0], rows[0]

    def get_chunk_refs(self, faiss_ids: Sequence[int]) -> list[ChunkRef]:
        """Return the references of rows."""
        refs = self.chunk_refs
        return [refs[row] for row in faiss_ids]

    def get_chunk_text(self, ref: ChunkRef) -> str:
        """Return the text of a chunk; KeyError for an unknown document."""
        return chunk_text(self._filled().documents[ref.document_id], ref.chunk_key) or ""

    def get_document_texts(self, doc_ids: Sequence[str]) -> dict[str, str]:
        """Return the texts of documents by id, or their fields as JSON for those without a text."""
        return {name: whole_text(self._filled().documents[name]) for name in doc_ids}

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
        more = (
            (whole_text(document), document.get("content")) if include_documents else (None, None)
        )
        text = collection.text(row) or ""
        return ChunkResult(ref["document_id"], ref["chunk_key"], text, more[0], score, more[1])

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
        self._digests: dict[str, str] = {}  # of the content that this service may replace, by path

    def initialize_search_backend(self) -> None:
        """Load the file; a missing one is an empty store."""
        if self.ragmd_path is not None:
            self._digests[self.ragmd_path] = ""
            if os.path.exists(self.ragmd_path):
                self.load_from_ragmd(self.ragmd_path)

    def load_from_ragmd(self, path: StrPath) -> None:
        """Load a .ragmd file."""
        found = ragmd_reader.load(path)
        self._take(found, os.fspath(path))
        self._digests[os.fspath(path)] = found.digest

    def save_to_ragmd(self, path: StrPath) -> None:
        """Write a .ragmd file.

        Raises:
            ConflictError: Another program has changed the file since this service loaded or saved it.
        """
        name = os.fspath(path)
        replaces = self._digests.get(name)
        self._digests[name] = ragmd_reader.save(name, self._filled(), replaces=replaces)

    def save(self) -> None:
        """Write the file of this store."""
        self.save_to_ragmd(cast("str", self.ragmd_path))
