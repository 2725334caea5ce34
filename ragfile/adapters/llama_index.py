"""LlamaIndex: a .ragfile as a vector store with BM25.

    store = RagfileVectorStore(path="kb.ragfile")
    index = VectorStoreIndex.from_vector_store(store, embed_model=…)

Query modes: DEFAULT uses vectors, TEXT_SEARCH and SPARSE use BM25, HYBRID and SEMANTIC_HYBRID use both, and MMR
diversifies by vectors. Filters have the results of LlamaIndex's own function; the engine evaluates all but rare ones.
Embeddings are stored as float32. Nodes are stored whole; metadata can be any JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.indices.query.embedding_utils import get_top_k_mmr_embeddings
from llama_index.core.schema import MetadataMode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)
from llama_index.core.vector_stores.utils import (
    build_metadata_filter_fn,
    metadata_dict_to_node,
    node_to_metadata_dict,
)

from ragfile.adapters.llama_filters import odd, where
from ragfile.adapters.passages import Passage, PassageStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from llama_index.core.schema import BaseNode
    from llama_index.core.vector_stores.types import MetadataFilters

    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.options import SearchOptions
    from ragfile.records import Hit
    from ragfile.types import Int64s, RowFilter, StrPath, Where

MODES = {
    VectorStoreQueryMode.DEFAULT: "vector",
    VectorStoreQueryMode.TEXT_SEARCH: "bm25",
    VectorStoreQueryMode.SPARSE: "bm25",
    VectorStoreQueryMode.HYBRID: "hybrid",
    VectorStoreQueryMode.SEMANTIC_HYBRID: "hybrid",
    VectorStoreQueryMode.MMR: "vector",
}
WIDER = 4  # MMR chooses among this many times the requested nodes


class RagfileVectorStore(BasePydanticVectorStore):
    """A vector store in one .ragfile, which the first write creates if it is missing."""

    stores_text: bool = True
    is_embedding_query: bool = True
    path: str
    _store: PassageStore = PrivateAttr()

    def __init__(self, path: StrPath, **options: Any) -> None:  # Any: pydantic fields
        super().__init__(path=str(path), **options)
        self._store = PassageStore(path)

    @classmethod
    def class_name(cls) -> str:
        return "RagfileVectorStore"

    @property
    def client(self) -> KnowledgeBase | None:
        """The open file; None if it does not exist yet."""
        return self._store.reader()

    def add(self, nodes: Sequence[BaseNode], **options: object) -> list[str]:
        """Upsert nodes by id. Every node needs an embedding."""
        passages = [
            Passage(
                n.node_id,
                n.get_content(MetadataMode.NONE),
                node_to_metadata_dict(n, remove_text=True),
            )
            for n in nodes
        ]
        self._store.put(passages, [node.get_embedding() for node in nodes] if passages else None)
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id: str, **options: object) -> None:
        """Delete the nodes of a document."""
        self._store.delete(self._chosen(None, [ref_doc_id], None))

    def delete_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **options: object
    ) -> None:  # fmt: skip
        """Delete the nodes with these ids that pass the filters."""
        self._store.delete(self._chosen(node_ids, None, filters))

    def clear(self) -> None:
        """Delete all nodes."""
        self._store.delete(self._chosen(None, None, None))

    def get_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        return [_node(p) for p in self._store.get(self._chosen(node_ids, None, filters))]

    def query(
        self,
        query: VectorStoreQuery,
        **options: Any,  # Any: options of a search
    ) -> VectorStoreQueryResult:  # Any: of a search
        """Return the best nodes by the mode of the query. Options are those of a search.

        Raises:
            ValueError: The mode is not supported, or its embedding or text is missing.
        """
        if query.mode not in MODES:
            raise ValueError(f"query mode {query.mode.value!r} is not supported")
        named = query.node_ids or None  # retrievers send an empty list for no restriction
        chosen = self._searched(named, query.doc_ids, query.filters)
        threshold = options.pop("mmr_threshold", query.mmr_threshold)
        if query.mode == VectorStoreQueryMode.MMR:
            return self._diverse(query, chosen, threshold, options)
        return self._result(self._hits(query, chosen, query.similarity_top_k, options))

    def _hits(
        self, query: VectorStoreQuery, chosen: RowFilter | None, k: int, options: dict[str, Any]
    ) -> list[Hit]:
        mode = MODES[query.mode]
        if mode != "bm25" and query.query_embedding is None:
            raise ValueError("this query mode needs query_embedding")
        if mode != "vector" and query.query_str is None:
            raise ValueError("this query mode needs query_str")
        fusion = None
        if mode == "hybrid" and query.alpha is not None:
            fusion = ("blend", {"alpha": query.alpha})
        vector = None if mode == "bm25" else query.query_embedding
        asked = {"mode": mode, "where": chosen, "vector": vector, "fusion": fusion}
        return self._store.search(
            query.query_str or "", k, **cast("SearchOptions", asked | options)
        )

    def _searched(
        self, node_ids: Sequence[str] | None, doc_ids: Sequence[str] | None,
        filters: MetadataFilters | None,
    ) -> RowFilter | None:  # fmt: skip
        """Return the nodes that match all conditions, as a search takes them; None means all."""
        reader = self._store.reader()
        if reader is None or (not doc_ids and node_ids is None and filters is None):
            return None
        condition = _condition(reader, doc_ids, filters)
        if condition is not None and node_ids is None:
            return condition or None
        names = self._chosen(node_ids, doc_ids, filters)
        return _rows_of(reader, names)

    def _diverse(
        self, query: VectorStoreQuery, chosen: RowFilter | None, threshold: float | None,
        options: dict[str, Any],
    ) -> VectorStoreQueryResult:  # fmt: skip
        hits = self._hits(query, chosen, query.similarity_top_k * WIDER, options)
        reader = cast("KnowledgeBase", self._store.reader())
        vectors = (
            [reader.vector(cast("int", reader.row(hit.id))).tolist() for hit in hits]
            if hits
            else []
        )
        scores, places = get_top_k_mmr_embeddings(
            query.query_embedding, vectors, similarity_top_k=query.similarity_top_k,
            embedding_ids=list(range(len(hits))), mmr_threshold=threshold,
        )  # fmt: skip
        return self._result([hits[int(place)] for place in places], scores)

    @staticmethod
    def _result(
        hits: Sequence[Hit], scores: Sequence[float] | None = None
    ) -> VectorStoreQueryResult:
        passages = [Passage(hit.doc_id, hit.text, hit.metadata) for hit in hits]
        return VectorStoreQueryResult(
            nodes=[_node(passage) for passage in passages],
            similarities=[hit.score for hit in hits] if scores is None else list(scores),
            ids=[passage.id for passage in passages],
        )

    def _chosen(
        self, node_ids: Iterable[str] | None, doc_ids: Iterable[str] | None,
        filters: MetadataFilters | None,
    ) -> list[str]:  # fmt: skip
        """Return the ids of nodes that match all conditions, by LlamaIndex's rules."""
        reader = self._store.reader()
        if reader is None:
            return []
        condition = _condition(reader, doc_ids, filters)
        if condition is not None:
            if node_ids is None:
                return _by_engine(reader, condition)
            return _among(reader, node_ids, condition)
        named = None if node_ids is None else set(node_ids)
        of = _by_engine(reader, _of_documents(doc_ids)) if doc_ids else None
        return [
            name
            for name in _by_python(reader, filters)
            if (named is None or name in named) and (of is None or name in of)
        ]


def _of_documents(doc_ids: Iterable[str]) -> Where:
    return {"ref_doc_id": {"$in": [*doc_ids]}}


def _condition(
    reader: KnowledgeBase, doc_ids: Iterable[str] | None, filters: MetadataFilters | None
) -> Where | None:
    """Return the documents and filters as one filter, or None if it would differ from LlamaIndex's rules."""
    condition, unlike = where(filters), odd(filters)
    if condition is None or (unlike is not None and _has_any(reader, unlike)):
        return None
    if not doc_ids:
        return condition
    of = _of_documents(doc_ids)
    return {"$and": [condition, of]} if condition else of


def _has_any(reader: KnowledgeBase, condition: Where) -> bool:
    mask = reader.rows.mask(condition) if condition else None
    return bool(len(reader) if mask is None else mask.any())


def _rows_of(reader: KnowledgeBase, names: Iterable[str]) -> Int64s:
    """Return the row numbers of nodes; unknown ones are left out."""
    rows = [reader.row(f"{name}#0") for name in names]
    return np.array([row for row in rows if row is not None], dtype=np.int64)


def _among(reader: KnowledgeBase, names: Iterable[str], condition: Where) -> list[str]:
    """Return the ids of the named nodes that pass a filter, in order."""
    rows = _rows_of(reader, names)
    mask = reader.rows.mask(condition) if condition else None
    passing = rows if mask is None else rows[mask[rows]]
    return sorted({reader.chunk(row).doc_id for row in passing.tolist()})


def _by_engine(reader: KnowledgeBase, condition: Where) -> list[str]:
    """Return the ids of the nodes that pass a filter, in order."""
    if not condition:
        return reader.document_ids()
    mask = reader.rows.mask(condition)
    rows = range(len(reader)) if mask is None else np.flatnonzero(mask).tolist()
    return sorted(reader.chunk(row).doc_id for row in rows)


def _by_python(reader: KnowledgeBase, filters: MetadataFilters | None) -> list[str]:
    """Return the same by LlamaIndex's function, which reads the metadata of every node."""

    def of_node(metadata: dict[str, Any]) -> dict[str, Any]:
        return metadata

    passes = build_metadata_filter_fn(of_node, filters)
    return [document.id for document in reader.documents() if passes(document.metadata)]


def _node(passage: Passage) -> BaseNode:
    return metadata_dict_to_node(dict(passage.metadata), text=passage.text)
