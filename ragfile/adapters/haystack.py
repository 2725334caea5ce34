"""Haystack: a .ragfile as a document store, with vector, BM25 and hybrid retrievers.

    store = RagfileDocumentStore(path="kb.ragfile")
    store.write_documents([Document(content="…", embedding=[…])])
    RagfileHybridRetriever(store).run(query="…", query_embedding=[…])

A document is stored whole: content (or none), meta of any JSON shape, blob, sparse embedding. Embeddings are
stored as float32; a document without one is found by words alone. Filters are evaluated by Haystack's own
function, with the results of its in-memory store; the meta of every document is held in memory until the next
commit. Each write is one commit.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from haystack import Document, component, default_from_dict, default_to_dict
from haystack.dataclasses import ByteStream, SparseEmbedding
from haystack.document_stores.errors import DocumentStoreError, DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.utils.filters import document_matches_filter

from ragfile.adapters.passages import Passage, PassageStore
from ragfile.errors import RagfileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Self

    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.options import SearchOptions

Filters = dict[str, Any] | None
TYPES: dict[type[object], str] = {bool: "boolean", int: "long", float: "float", str: "keyword"}


class RagfileDocumentStore:
    """A document store in one .ragfile, which the first write creates if it is missing."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._store = PassageStore(self.path)
        self._read: tuple[tuple[int, int] | None, dict[str, Document]] = (None, {})

    def __reduce__(self) -> tuple[type[RagfileDocumentStore], tuple[str]]:
        return RagfileDocumentStore, (self.path,)

    def to_dict(self) -> dict[str, Any]:
        return cast("dict[str, Any]", default_to_dict(self, path=self.path))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RagfileDocumentStore:
        return cast("RagfileDocumentStore", default_from_dict(cls, data))

    @property
    def client(self) -> KnowledgeBase | None:
        """The open file; None if it does not exist yet."""
        return self._store.reader()

    def count_documents(self) -> int:
        return len(self._store)

    def filter_documents(self, filters: Filters = None) -> list[Document]:
        """Return the matching documents with their embeddings."""
        return [self._whole(document) for document in self._passing(filters)]

    def count_documents_by_filter(self, filters: dict[str, Any]) -> int:
        return len(self._passing(filters))

    def _passing(self, filters: Filters) -> list[Document]:
        documents = self._documents().values()
        if not filters:
            return list(documents)
        if "operator" not in filters and "conditions" not in filters:
            raise ValueError(f"a filter needs an operator and conditions, not {sorted(filters)}")
        return [d for d in documents if document_matches_filter(filters, d)]

    def _documents(self) -> dict[str, Document]:
        """Return all documents of the newest commit by id, without embeddings."""
        reader = self._store.reader()
        if reader is None:
            return {}
        state = (reader.file.reader.commit["identity"], reader.generation)
        if self._read[0] != state:
            kept = ((d.id, _document(d.id, d.text, d.metadata)) for d in reader.documents())
            self._read = state, dict(kept)
        return self._read[1]

    def _whole(self, document: Document, score: float | None = None) -> Document:
        """Return a copy with the embedding."""
        reader = self._store.reader()
        fields = document.to_dict(flatten=False)
        row = reader.row(f"{document.id}#0") if reader is not None else None
        if reader is not None and row is not None and reader.vector_mask()[row]:
            fields["embedding"] = reader.vector(row).astype(float).tolist()
        return Document.from_dict({**fields, "score": score})

    def write_documents(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """Write documents in one commit, and return their number.

        Raises:
            DuplicateDocumentError: An id exists, and the policy is neither SKIP nor OVERWRITE.
            DocumentStoreError: Embeddings differ in dimension, or the file cannot be written.
        """
        if not isinstance(documents, list) or not all(isinstance(d, Document) for d in documents):
            raise ValueError("write_documents takes a list of Documents")
        last = {document.id: document for document in documents}
        existing = last.keys() & self._documents().keys()
        repeated = [name for name, times in Counter(d.id for d in documents).items() if times > 1]
        if policy == DuplicatePolicy.SKIP:
            first = {document.id: document for document in reversed(documents)}
            last = {name: first[name] for name in last if name not in existing}
        elif policy != DuplicatePolicy.OVERWRITE and (existing or repeated):
            raise DuplicateDocumentError(f"ID '{min([*existing, *repeated])}' already exists.")
        self._put(list(last.values()))
        return len(last)

    def delete_documents(self, document_ids: list[str]) -> None:
        self._commit(lambda: self._store.delete(document_ids))

    def delete_all_documents(self) -> None:
        self.delete_documents(list(self._documents()))

    def delete_by_filter(self, filters: dict[str, Any]) -> int:
        """Delete the matching documents, and return their number."""
        chosen = [document.id for document in self._passing(filters)]
        self.delete_documents(chosen)
        return len(chosen)

    def update_by_filter(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        """Add fields to the meta of the matching documents, and return their number."""
        chosen = self.filter_documents(filters)
        self._put([replace(document, meta={**document.meta, **meta}) for document in chosen])
        return len(chosen)

    def _put(self, documents: Sequence[Document]) -> None:
        if not documents:
            return
        dims = {len(d.embedding) for d in documents if d.embedding is not None}
        if len(dims) > 1:
            raise DocumentStoreError(f"embeddings of {sorted(dims)} components cannot be compared")
        self._commit(lambda: self._write(documents, dims.pop() if dims else None))

    def _write(self, documents: Sequence[Document], dim: int | None) -> None:
        reader = self._store.reader()
        known = reader.rows.dim if reader is not None else None
        if dim is not None and known is not None and dim != known:
            raise DocumentStoreError(f"the store has embeddings of {known} components, not {dim}")
        vectors = [document.embedding for document in documents]
        self._store.put([_passage(document) for document in documents], vectors)

    def _commit(self, write: Callable[[], object]) -> None:
        try:
            write()
        except RagfileError as error:
            raise DocumentStoreError(str(error)) from error

    def get_metadata_fields_info(self) -> dict[str, dict[str, str]]:
        """Return the type of each meta field, by its first value."""
        found: dict[str, dict[str, str]] = {}
        for document in self._documents().values():
            meta: dict[str, object] = document.meta
            for name, value in meta.items():
                if value is not None:
                    found.setdefault(name, {"type": TYPES.get(type(value), "object")})
        return found

    def get_metadata_field_min_max(self, metadata_field: str) -> dict[str, Any]:
        values = [
            value
            for value in self._values(metadata_field, None)
            if isinstance(value, (int, float)) and not isinstance(value, bool)
        ]
        return {"min": min(values), "max": max(values)} if values else {"min": None, "max": None}

    def get_metadata_field_unique_values(
        self, metadata_field: str, search_term: str | None = None, from_: int = 0,
        size: int = 10, filters: Filters = None,
    ) -> tuple[list[Any], int]:  # fmt: skip
        """Return a page of the distinct values in a stable order, and their total number."""
        distinct = {repr(value): value for value in self._values(metadata_field, filters)}
        if search_term:
            wanted = search_term.lower()
            distinct = {k: v for k, v in distinct.items() if wanted in str(v).lower()}
        values = [distinct[key] for key in sorted(distinct, key=lambda k: (str(distinct[k]), k))]
        return values[from_ : from_ + size], len(values)

    def count_unique_metadata_by_filter(
        self, filters: dict[str, Any], metadata_fields: list[str]
    ) -> dict[str, int]:
        return {
            name.removeprefix("meta."): len({repr(value) for value in self._values(name, filters)})
            for name in metadata_fields
        }

    def _values(self, field: str, filters: Filters) -> Iterable[Any]:
        name = field.removeprefix("meta.")
        values = (document.meta.get(name) for document in self._passing(filters))
        return [value for value in values if value is not None]

    def search(
        self, text: str | None, vector: Sequence[float] | None, filters: Filters, top_k: int,
        mode: str, **options: object,
    ) -> list[Document]:  # fmt: skip
        """Return the best documents. `mode` is "vector", "bm25" or "hybrid"; options are those of a search."""
        reader, documents = self._store.reader(), self._documents()
        if reader is None or not documents or (mode != "bm25" and reader.rows.dim is None):
            return []
        where = None
        if filters:
            rows = [reader.row(f"{d.id}#0") for d in self._passing(filters)]
            where = np.array([row for row in rows if row is not None], dtype=np.int64)
        asked = cast("SearchOptions", {"mode": mode, "where": where, "vector": vector} | options)
        hits = self._store.search(text or "", top_k, **asked)
        return [self._whole(documents[hit.doc_id], hit.score) for hit in hits]

    # Asynchronous variants; each runs in a thread of asyncio's pool.

    async def count_documents_async(self) -> int:
        return await asyncio.to_thread(self.count_documents)

    async def filter_documents_async(self, filters: Filters = None) -> list[Document]:
        return await asyncio.to_thread(self.filter_documents, filters)

    async def write_documents_async(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        return await asyncio.to_thread(self.write_documents, documents, policy)

    async def delete_documents_async(self, document_ids: list[str]) -> None:
        await asyncio.to_thread(self.delete_documents, document_ids)

    async def delete_all_documents_async(self) -> None:
        await asyncio.to_thread(self.delete_all_documents)

    async def delete_by_filter_async(self, filters: dict[str, Any]) -> int:
        return await asyncio.to_thread(self.delete_by_filter, filters)

    async def update_by_filter_async(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        return await asyncio.to_thread(self.update_by_filter, filters, meta)

    async def count_documents_by_filter_async(self, filters: dict[str, Any]) -> int:
        return await asyncio.to_thread(self.count_documents_by_filter, filters)

    async def count_unique_metadata_by_filter_async(
        self, filters: dict[str, Any], metadata_fields: list[str]
    ) -> dict[str, int]:
        return await asyncio.to_thread(
            self.count_unique_metadata_by_filter, filters, metadata_fields
        )

    async def get_metadata_fields_info_async(self) -> dict[str, dict[str, str]]:
        return await asyncio.to_thread(self.get_metadata_fields_info)

    async def get_metadata_field_min_max_async(self, metadata_field: str) -> dict[str, Any]:
        return await asyncio.to_thread(self.get_metadata_field_min_max, metadata_field)

    async def get_metadata_field_unique_values_async(
        self, metadata_field: str, search_term: str | None = None, from_: int = 0,
        size: int = 10, filters: Filters = None,
    ) -> tuple[list[Any], int]:  # fmt: skip
        return await asyncio.to_thread(
            self.get_metadata_field_unique_values, metadata_field, search_term, from_, size, filters
        )


def _passage(document: Document) -> Passage:
    fields = document.to_dict(flatten=False)
    kept = {"meta": fields["meta"]}
    for name in ("blob", "sparse_embedding"):
        if fields.get(name) is not None:
            kept[name] = fields[name]
    if document.content is None:
        kept["has_content"] = False
    return Passage(document.id, document.content or "", kept)


def _document(name: str, text: str, kept: Mapping[str, Any]) -> Document:
    blob, sparse = kept.get("blob"), kept.get("sparse_embedding")
    return Document(
        id=name,
        content=text if kept.get("has_content", True) else None,
        meta=kept.get("meta", {}),
        blob=ByteStream.from_dict(blob) if blob else None,
        sparse_embedding=SparseEmbedding.from_dict(sparse) if sparse else None,
    )


class _Retriever:
    """The common parts of the retrievers. Filters of a call replace those of the retriever.

    `options` are passed to every search, see ragfile.options.SearchOptions.
    """

    def __init__(
        self, document_store: RagfileDocumentStore, filters: Filters = None, top_k: int = 10,
        options: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(document_store, RagfileDocumentStore):
            raise ValueError("document_store must be a RagfileDocumentStore")
        if top_k < 1:
            raise ValueError("top_k must be at least 1")
        self.document_store, self.filters, self.top_k = document_store, filters, top_k
        self.options = options or {}

    def to_dict(self) -> dict[str, Any]:
        store = self.document_store.to_dict()
        found: dict[str, Any] = default_to_dict(
            self, document_store=store, filters=self.filters, top_k=self.top_k, options=self.options
        )
        return found

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        parameters = data["init_parameters"]
        parameters["document_store"] = RagfileDocumentStore.from_dict(parameters["document_store"])
        return cast("Self", default_from_dict(cls, data))

    def _found(
        self,
        text: str | None,
        vector: Sequence[float] | None,
        filters: Filters,
        top_k: int | None,
        mode: str,
    ) -> dict[str, list[Document]]:
        chosen = self.filters if filters is None else filters
        wanted = self.top_k if top_k is None else top_k
        found = self.document_store.search(text, vector, chosen, wanted, mode, **self.options)
        return {"documents": found}


@component
class RagfileEmbeddingRetriever(_Retriever):
    """Retrieve the documents with the nearest embeddings, exactly."""

    @component.output_types(documents=list[Document])
    def run(
        self, query_embedding: list[float], filters: Filters = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        return self._found(None, query_embedding, filters, top_k, "vector")

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query_embedding: list[float], filters: Filters = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        return await asyncio.to_thread(self._found, None, query_embedding, filters, top_k, "vector")


@component
class RagfileBM25Retriever(_Retriever):
    """Retrieve documents by BM25."""

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, filters: Filters = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        return self._found(query, None, filters, top_k, "bm25")

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, filters: Filters = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        return await asyncio.to_thread(self._found, query, None, filters, top_k, "bm25")


@component
class RagfileHybridRetriever(_Retriever):
    """Retrieve documents by words and vectors, fused like in rf.search."""

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, query_embedding: list[float], filters: Filters = None,
        top_k: int | None = None,
    ) -> dict[str, list[Document]]:  # fmt: skip
        return self._found(query, query_embedding, filters, top_k, "hybrid")

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, query_embedding: list[float], filters: Filters = None,
        top_k: int | None = None,
    ) -> dict[str, list[Document]]:  # fmt: skip
        return await asyncio.to_thread(
            self._found, query, query_embedding, filters, top_k, "hybrid"
        )
