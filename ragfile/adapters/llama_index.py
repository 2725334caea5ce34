"""LlamaIndex: a .ragfile as a vector store that also answers by words.

    store = RagfileVectorStore(path="kb.ragfile")
    index = VectorStoreIndex.from_vector_store(store, embed_model=…)

Query modes: DEFAULT asks vectors, TEXT_SEARCH and SPARSE ask BM25, HYBRID and SEMANTIC_HYBRID ask both, and MMR
takes vectors that differ. Filters are decided by LlamaIndex's own function, so that a missing key means what it
means there. Embeddings are stored as float32. A store keeps whole nodes; metadata can be any JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

from ragfile.adapters.passages import Passage, PassageStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from llama_index.core.schema import BaseNode
    from llama_index.core.vector_stores.types import MetadataFilters

    from ragfile.knowledge_base import KnowledgeBase

MODES = {
    VectorStoreQueryMode.DEFAULT: "vector",
    VectorStoreQueryMode.TEXT_SEARCH: "bm25",
    VectorStoreQueryMode.SPARSE: "bm25",
    VectorStoreQueryMode.HYBRID: "hybrid",
    VectorStoreQueryMode.SEMANTIC_HYBRID: "hybrid",
    VectorStoreQueryMode.MMR: "vector",
}
WIDER = 4  # MMR chooses among so many times the nodes that are asked for


class RagfileVectorStore(BasePydanticVectorStore):
    """One .ragfile, opened, or made with the first node."""

    stores_text: bool = True
    is_embedding_query: bool = True
    path: str
    _store: PassageStore = PrivateAttr()

    def __init__(self, path: Any, **options: Any) -> None:
        super().__init__(path=str(path), **options)
        self._store = PassageStore(path)

    @classmethod
    def class_name(cls) -> str:
        return "RagfileVectorStore"

    @property
    def client(self) -> KnowledgeBase | None:
        """The open file; None while there is none."""
        return self._store.reader()

    # ------------------------------------------------------------------------------------------------- writing --

    def add(self, nodes: Sequence[BaseNode], **options: Any) -> list[str]:
        """Upserts nodes by their ids. Every node needs its embedding."""
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

    def delete(self, ref_doc_id: str, **options: Any) -> None:
        """Deletes the nodes of a document."""
        self._store.delete(self._ids(lambda said: said.get("ref_doc_id") == ref_doc_id))

    def delete_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **options: Any
    ) -> None:  # fmt: skip
        """Deletes the nodes that are named and pass the filters."""
        self._store.delete(self._chosen(node_ids, None, filters))

    def clear(self) -> None:
        """Deletes every node."""
        self._store.delete(self._ids(lambda said: True))

    # ------------------------------------------------------------------------------------------------- reading --

    def get_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        return [_node(p) for p in self._store.get(self._chosen(node_ids, None, filters))]

    def query(self, query: VectorStoreQuery, **options: Any) -> VectorStoreQueryResult:
        """Return the best nodes, by the query's mode; options are those of a search."""
        if query.mode not in MODES:
            raise ValueError(f"query mode {query.mode.value!r} is not supported")
        named = query.node_ids or None  # retrievers send an empty list for no restriction
        chosen = None
        if named or query.doc_ids or query.filters is not None:
            chosen = self._chosen(named, query.doc_ids, query.filters)
        threshold = options.pop("mmr_threshold", query.mmr_threshold)
        if query.mode == VectorStoreQueryMode.MMR:
            return self._diverse(query, chosen, threshold, options)
        return self._result(self._hits(query, chosen, query.similarity_top_k, options))

    def _hits(self, query, chosen, k, options):
        mode = MODES[query.mode]
        if mode != "bm25" and query.query_embedding is None:
            raise ValueError("this query mode needs query_embedding")
        if mode != "vector" and query.query_str is None:
            raise ValueError("this query mode needs query_str")
        fusion = None
        if mode == "hybrid" and query.alpha is not None:
            fusion = ("blend", {"alpha": query.alpha})
        vector = None if mode == "bm25" else query.query_embedding
        asked = {"mode": mode, "where": self._rows(chosen), "vector": vector, "fusion": fusion}
        return self._store.search(query.query_str or "", k, **(asked | options))

    def _rows(self, chosen):
        """Row numbers of the chosen nodes; None for all."""
        if chosen is None:
            return None
        reader = self._store.reader()
        rows = [reader.row(f"{name}#0") for name in chosen] if reader else []
        return np.array([row for row in rows if row is not None], dtype=np.int64)

    def _diverse(self, query, chosen, threshold, options):
        hits = self._hits(query, chosen, query.similarity_top_k * WIDER, options)
        reader: Any = self._store.reader()
        vectors = [reader.vector(reader.row(hit.id)).tolist() for hit in hits] if hits else []
        scores, places = get_top_k_mmr_embeddings(
            query.query_embedding, vectors, similarity_top_k=query.similarity_top_k,
            embedding_ids=list(range(len(hits))), mmr_threshold=threshold,
        )  # fmt: skip
        return self._result([hits[place] for place in places], scores)

    @staticmethod
    def _result(hits, scores=None) -> VectorStoreQueryResult:
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
        """Ids of the nodes that pass everything that is asked, by LlamaIndex's own rules."""
        passes = build_metadata_filter_fn(lambda said: said, filters)
        named = None if node_ids is None else set(node_ids)
        of = set(doc_ids) if doc_ids else None
        return [
            name
            for name, said in self._said()
            if (named is None or name in named)
            and (of is None or said.get("ref_doc_id") in of)
            and passes(said)
        ]

    def _ids(self, passes: Callable[[dict], bool]) -> list[str]:
        return [name for name, said in self._said() if passes(said)]

    def _said(self) -> Iterable[tuple[str, dict]]:
        reader = self._store.reader()
        return ((d.id, d.metadata) for d in reader.documents()) if reader is not None else ()


def _node(passage: Passage) -> BaseNode:
    return metadata_dict_to_node(dict(passage.metadata), text=passage.text)
