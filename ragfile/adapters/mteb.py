"""mteb: a .ragfile as a search model, and as the index of any encoder.

    mteb.evaluate(RagfileSearch(), tasks=…)                        words and the built-in model, fused
    mteb.evaluate(RagfileSearch(mode="bm25"), tasks=…)             words alone
    SearchEncoderWrapper(model, index_backend=RagfileIndex(model)) another model's vectors, searched exactly

Both write a temporary file, or the file `path`. A title becomes the header path of its document, as in files of
`ragfile build`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from mteb.models.model_meta import ModelMeta, ScoringFunction

from ragfile import __version__
from ragfile.ground import system
from ragfile.ground.json_values import is_object
from ragfile.opener import open as open_file
from ragfile.options import BATCH
from ragfile.records import Chunk, Document
from ragfile.write.builder import build_from
from ragfile.write.writer import create

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Unpack

    from mteb.models.models_protocols import EncoderProtocol
    from mteb.types import Array

    from ragfile.embedding.protocol import Embedder
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.options import BatchOptions
    from ragfile.types import Float32s, Floats, Metric

METRICS: dict[ScoringFunction, Metric] = {
    ScoringFunction.COSINE: "cosine",
    ScoringFunction.DOT_PRODUCT: "ip",
    ScoringFunction.EUCLIDEAN: "l2",
}


class _OwnFile:
    """A file at `path`, or in a temporary folder."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._folder = None if path else system.temporary_folder()
        folder = self._folder.name if self._folder else ""
        self.path = os.fspath(path) if path else os.path.join(folder, "kb.ragfile")
        self._file: KnowledgeBase | None = None

    def _opened(self, embedder: str | Embedder | None = None) -> KnowledgeBase:
        self._closed()
        file = self._file = open_file(self.path, embedder=embedder)
        return file

    def _closed(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None


class RagfileSearch(_OwnFile):
    """mteb's SearchProtocol: ragfile indexes the documents and answers the queries."""

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, embedder: str | Embedder = "default",
        **options: Unpack[BatchOptions],
    ) -> None:  # fmt: skip
        """Take an embedder as for ragfile.build, and options of search_batch."""
        super().__init__(path)
        self._embedder, self._options = embedder, options
        self.mode = BATCH.complete(options)["mode"]

    @property
    def mteb_model_meta(self) -> ModelMeta:
        name = self._embedder if isinstance(self._embedder, str) else "own"
        return ModelMeta(
            loader=None, name=f"ragfile/{self.mode}-{name.replace('/', '-').replace(':', '-')}",
            revision=__version__, release_date=None, languages=["eng-Latn"], n_parameters=None,
            memory_usage_mb=None, max_tokens=None, embed_dim=None, license="mit",
            open_weights=True, public_training_code=None, public_training_data=None, framework=[],
            similarity_fn_name=None, use_instructions=False, training_datasets=None,
        )  # fmt: skip

    def index(self, corpus: Iterable[Mapping[str, Any]], **context: object) -> None:
        """Build the file, with one passage per document."""
        self._closed()
        build_from(_passages(corpus), self.path, embedder=self._embedder, resume=False)
        is_named = self._embedder in ("default", "none")
        self._opened(embedder=None if is_named else self._embedder)

    def search(
        self, queries: Iterable[Mapping[str, Any]], *, top_k: int,
        top_ranked: Mapping[str, list[str]] | None = None, **context: object,
    ) -> dict[str, dict[str, float]]:  # fmt: skip
        """Return {query id: {document id: score}}, restricted to the documents of top_ranked if given."""
        if self._file is None:
            raise ValueError("call index() before search()")
        asked = {str(query["id"]): _text(query["text"]) for query in queries}
        where = None if top_ranked is None else [_only(top_ranked[name]) for name in asked]
        options: BatchOptions = (
            self._options if where is None else {**self._options, "where": where}
        )
        texts = list(asked.values())
        answers = self._file.search_batch(texts, top_k, **options)
        return {
            name: {hit.doc_id: float(hit.score) for hit in hits}
            for name, hits in zip(asked, answers, strict=True)
        }


def _passages(corpus: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Document, list[Chunk]]]:
    for record in corpus:
        name, text, title = str(record["id"]), record.get("text") or "", record.get("title") or ""
        fields = {"headers": title} if title else {}
        document = Document(name, text, metadata={"title": title} if title else {})
        yield document, [Chunk(name, 0, text, (), fields, 0, len(text))]


def _text(text: str | Iterable[object]) -> str:
    """Return a query; join the turns of a conversation."""
    if isinstance(text, str):
        return text
    return "\n".join(turn["content"] if is_object(turn) else str(turn) for turn in text)


def _only(names: Iterable[str]) -> dict[str, Any]:
    return {"doc_id": {"$in": list(names)}}


class RagfileIndex(_OwnFile):
    """mteb's IndexEncoderSearchProtocol: exact search over the vectors of an encoder."""

    def __init__(self, model: EncoderProtocol, path: str | os.PathLike[str] | None = None) -> None:
        super().__init__(path)
        name = model.mteb_model_meta.similarity_fn_name
        if name not in METRICS:
            raise ValueError(
                f"similarity must be one of {[m.value for m in METRICS]}, not {name!r}"
            )
        self._metric: Metric = METRICS[name]
        self.clear()

    def clear(self) -> None:
        self._closed()
        self.idxs: list[str] = []
        self._vectors: list[Float32s] = []

    def add_documents(self, embeddings: Array, idxs: list[str]) -> None:
        """Add vectors; the first search writes the file."""
        rows = _array(embeddings)
        if len(rows) != len(idxs):
            raise ValueError(f"{len(idxs)} documents need as many vectors, not {len(rows)}")
        self._closed()
        self._vectors.append(rows)
        self.idxs += list(idxs)

    def search(
        self, embeddings: Array, top_k: int, similarity_fn: Callable[..., object],
        top_ranked: Mapping[str, list[str]] | None = None,
        query_idx_to_id: Mapping[int, str] | None = None,
    ) -> tuple[list[list[float]], list[list[int]]]:  # fmt: skip
        """Return scores and positions of documents, best first.

        Positions count the added documents, or with top_ranked its lists, like mteb's own index.
        """
        if not self.idxs:
            raise ValueError("call add_documents() before search()")
        file = self._written() if self._file is None else self._file
        questions = _array(embeddings)
        if top_ranked is None:
            rows, scores = file.nearest(questions, min(top_k, len(self.idxs)))
            return self._scaled(scores).tolist(), rows.tolist()
        if query_idx_to_id is None:
            raise ValueError("query_idx_to_id is needed with top_ranked")
        places = {name: place for place, name in enumerate(self.idxs)}
        found = [
            self._among(file, [places[n] for n in top_ranked[query_idx_to_id[i]]], question, top_k)
            for i, question in enumerate(questions)
        ]
        return [scores for scores, _ in found], [rows for _, rows in found]

    def _among(
        self, file: KnowledgeBase, rows: list[int], question: Float32s, k: int
    ) -> tuple[list[float], list[int]]:
        local = {row: place for place, row in enumerate(rows)}
        k = min(k, len(rows))
        found, scores = file.nearest(question[None], k, where=np.array(rows, np.int64))
        return self._scaled(scores[0]).tolist(), [local[row] for row in found[0].tolist()]

    def _scaled(self, scores: Floats) -> Floats:
        """Convert l2 scores, negated squares, to the negated distances that mteb compares."""
        return -np.sqrt(-scores) if self._metric == "l2" else scores

    def _written(self) -> KnowledgeBase:
        rows = np.concatenate(self._vectors)
        with create(self.path, dim=rows.shape[1], metric=self._metric) as writer:
            # ids have equal width, so that the order by id is the order of documents
            chunks = [
                {"doc_id": f"{n:012d}", "chunk_index": 0, "content": "-"} for n in range(len(rows))
            ]
            writer.add(chunks, rows)
        return self._opened()


def _array(embeddings: Array) -> Float32s:
    """Convert a numpy array or torch tensor to float32."""
    if hasattr(embeddings, "detach"):
        embeddings = embeddings.detach().cpu().numpy()
    return np.ascontiguousarray(embeddings, dtype=np.float32)
