"""LangChain: a .ragfile as a vector store or a retriever, and the built-in model as embeddings.

    store = RagfileVectorStore(path="kb.ragfile")                 created by the first write if missing
    retriever = RagfileRetriever(path="kb.ragfile", k=5)          hybrid search over any file
    embeddings = RagfileEmbeddings()                              no download, no key

A store keeps LangChain's ids, and metadata of any JSON shape. Vectors are stored as float32. The default
embeddings are those of the built-in model. A retriever adds the metadata key "_ragfile" with the chunk's id,
span and source, the scores of each retriever, and `degraded`.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from pydantic import ConfigDict, Field, PrivateAttr

from ragfile.adapters.passages import Passage, PassageStore
from ragfile.embedding.protocol import StaticEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from langchain_core.callbacks import CallbackManagerForRetrieverRun

    from ragfile.options import SearchOptions
    from ragfile.records import Hit, Hits
    from ragfile.types import StrPath

FIELD = "_ragfile"


class RagfileEmbeddings(Embeddings):
    """Embeddings by the built-in static model: 256 dimensions, tens of thousands of texts per second."""

    def __init__(self) -> None:
        self._model = StaticEmbedder()

    def __reduce__(self) -> tuple[type[RagfileEmbeddings], tuple[()]]:
        return RagfileEmbeddings, ()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return cast("list[list[float]]", self._model.embed(texts, "document").tolist())

    def embed_query(self, text: str) -> list[float]:
        return cast("list[float]", self._model.embed([text], "query")[0].tolist())


class RagfileVectorStore(VectorStore):
    """A vector store in one .ragfile: exact search, BM25, filters on metadata.

    Args:
        path: The file; the first write creates it if it is missing.
        embedding: LangChain embeddings. Default: the built-in model.
    """

    def __init__(self, *, path: StrPath, embedding: Embeddings | None = None) -> None:
        self._embedding = embedding
        self._store = PassageStore(path, "default" if embedding is None else None)

    @property
    def embeddings(self) -> Embeddings:
        return self._embedding or RagfileEmbeddings()

    @classmethod
    def from_texts(
        cls, texts: list[str], embedding: Embeddings | None = None, metadatas: list[dict[str, Any]] | None = None,
        *, ids: list[str] | None = None, path: StrPath | None = None, **options: object,
    ) -> RagfileVectorStore:  # fmt: skip
        """Open or create the store at `path`, and add texts.

        Raises:
            ValueError: `path` is missing.
        """
        if path is None:
            raise ValueError("from_texts needs path=, the .ragfile to open or create")
        store = cls(path=path, embedding=embedding, **options)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def add_documents(
        self,
        documents: list[Document],
        ids: Sequence[str | None] | None = None,
        **options: object,
    ) -> list[str]:
        """Upsert documents by id; a document without one gets a random id.

        `batch_size`, which LangChain's `index` passes, changes nothing: a call is one commit.
        """
        _known({name: value for name, value in options.items() if name != "batch_size"})
        if ids is not None and len(ids) != len(documents):
            raise ValueError(f"{len(documents)} documents and {len(ids)} ids")
        given = ids if ids is not None else [document.id for document in documents]
        names = [name or str(uuid.uuid4()) for name in given]
        texts = [document.page_content for document in documents]
        vectors = self._embedding.embed_documents(texts) if self._embedding and texts else None
        pairs = zip(names, documents, strict=True)
        self._store.put([Passage(name, d.page_content, d.metadata) for name, d in pairs], vectors)
        return names

    def add_texts(
        self, texts: Iterable[str], metadatas: list[dict[str, Any]] | None = None, *,
        ids: Sequence[str | None] | None = None, **options: object,
    ) -> list[str]:  # fmt: skip
        texts = list(texts)
        if metadatas is not None and len(metadatas) != len(texts):
            raise ValueError(f"{len(texts)} texts and {len(metadatas)} metadatas")
        nothing: list[dict[str, Any]] = [{}] * len(texts)
        pairs = zip(texts, metadatas or nothing, strict=True)
        documents = [Document(page_content=text, metadata=metadata) for text, metadata in pairs]
        return self.add_documents(documents, ids, **options)

    def delete(
        self,
        ids: list[str] | None = None,
        **options: object,
    ) -> bool:
        """Delete by id; unknown ids are ignored.

        Raises:
            ValueError: `ids` is missing; delete never deletes everything.
        """
        _known(options)
        if ids is None:
            raise ValueError("delete needs ids: it never deletes everything")
        self._store.delete(ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        return [
            Document(id=p.id, page_content=p.text, metadata=dict(p.metadata))
            for p in self._store.get(ids)
        ]

    def similarity_search(
        self,
        query: str,
        k: int = 4,
        **options: Any,  # Any: options of a search
    ) -> list[Document]:
        """Return the nearest texts. filter is a ragfile filter; options are those of a search."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **options)]

    def similarity_search_with_score(
        self,
        query: str,
        k: int = 4,
        *,
        filter: dict[str, Any] | None = None,
        **options: object,
    ) -> list[tuple[Document, float]]:
        options = {"mode": "vector", "where": filter} | options
        if options["mode"] != "bm25":
            options.setdefault("vector", self._vector(query))
        return self._scored(query, k, options)

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, *, filter: dict[str, Any] | None = None, **options: object
    ) -> list[Document]:  # fmt: skip
        options = {"mode": "vector", "where": filter, "vector": embedding} | options
        return [document for document, _ in self._scored("", k, options)]

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **options: Any  # Any: options of a search
    ) -> list[Document]:  # fmt: skip
        vector = self._vector(query)
        vector = self.embeddings.embed_query(query) if vector is None else vector
        return self.max_marginal_relevance_search_by_vector(
            vector, k, fetch_k, lambda_mult, **options
        )

    def max_marginal_relevance_search_by_vector(
        self, embedding: list[float], k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5,
        *, filter: dict[str, Any] | None = None, **options: object,
    ) -> list[Document]:  # fmt: skip
        """Choose k of the fetch_k nearest texts, near the question and unlike one another."""
        asked = cast(
            "SearchOptions", {"mode": "vector", "where": filter, "vector": embedding} | options
        )
        hits = self._store.search("", fetch_k, **asked)
        reader = self._store.reader()
        if reader is None or not hits:
            return []
        rows = [reader.row(hit.id) for hit in hits]
        vectors = [np.asarray(reader.vector(row), np.float32) for row in rows if row is not None]
        question = np.asarray(embedding, np.float32)
        chosen = maximal_marginal_relevance(question, vectors, lambda_mult, k)
        return [_document(hits[int(i)]) for i in chosen]

    def _vector(self, query: str) -> list[float] | None:
        """Embed a query with LangChain's embeddings; the built-in model runs inside the search."""
        return self._embedding.embed_query(query) if self._embedding else None

    def _scored(
        self, text: str, k: int, options: Mapping[str, object]
    ) -> list[tuple[Document, float]]:
        hits = self._store.search(text, k, **cast("SearchOptions", options))
        return [(_document(hit), hit.score) for hit in hits]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda cosine: (1.0 + cosine) / 2.0

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._store.close()


class RagfileRetriever(BaseRetriever):
    """Hybrid search over any RAGFile, written by a store or by `ragfile build`.

    `options` are passed to every search; options of a call take precedence.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    path: Any  # Any: a path; pydantic resolves this when the class is made
    k: int = 4
    mode: str = "hybrid"
    filter: dict[str, Any] | None = None
    embedder: Any = None  # Any: a name or an Embedder, likewise
    options: dict[str, Any] = Field(default_factory=dict)
    _opened: PassageStore = PrivateAttr()

    def model_post_init(self, context: object, /) -> None:
        self._opened = PassageStore(self.path, self.embedder)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None,
        filter: dict[str, Any] | None = None, **options: object,
    ) -> list[Document]:  # fmt: skip
        where = self.filter if filter is None else filter
        wanted = self.k if k is None else k
        if self._opened.reader() is None:
            raise FileNotFoundError(
                f"no such file: {self.path}; a retriever needs an existing file"
            )
        asked = cast("SearchOptions", {"mode": self.mode, "where": where} | self.options | options)
        return list(_with_details(self._opened.search(query, wanted, **asked)))


def _document(hit: Hit) -> Document:
    return Document(id=hit.doc_id, page_content=hit.text, metadata=dict(hit.metadata))


def _with_details(hits: Hits | list[Hit]) -> Iterator[Document]:
    """Yield documents with the details of their hits in the metadata."""
    degraded = getattr(hits, "degraded", "")
    for hit in hits:
        more = {
            "doc_id": hit.doc_id, "chunk_index": hit.chunk_index, "start": hit.start, "end": hit.end,
            "source": hit.source, "score": hit.score, "scores": dict(hit.scores),
            "degraded": degraded,
        }  # fmt: skip
        metadata = {**hit.metadata, FIELD: more}
        yield Document(id=hit.id, page_content=hit.text, metadata=metadata)


def _known(options: Mapping[str, object]) -> None:
    if options:
        raise TypeError(f"unknown option {min(options)!r}")
