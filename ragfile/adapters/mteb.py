"""mteb: a .ragfile as a search model of its own, and as the index under any encoder.

    mteb.evaluate(RagfileSearch(), tasks=…)                        words and the built-in model, fused
    mteb.evaluate(RagfileSearch(mode="bm25"), tasks=…)             words alone
    SearchEncoderWrapper(model, index_backend=RagfileIndex(model)) another model's vectors, searched exactly

Both keep their file in a folder that goes with them, or at `path`. A title is the path of its document, as it is
in files that `ragfile build` makes.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np
from mteb.models.model_meta import ModelMeta, ScoringFunction

from ragfile import __version__
from ragfile.opener import open as open_file
from ragfile.options import BATCH
from ragfile.records import Chunk, Document
from ragfile.write.builder import build_from
from ragfile.write.writer import create

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Unpack

    from ragfile.options import BatchOptions
    from ragfile.types import Metric

METRICS: dict[ScoringFunction, Metric] = {
    ScoringFunction.COSINE: "cosine",
    ScoringFunction.DOT_PRODUCT: "ip",
    ScoringFunction.EUCLIDEAN: "l2",
}


class _OwnFile:
    """A file at `path`, or in a folder of its own."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._folder = None if path else tempfile.TemporaryDirectory(prefix="ragfile-")
        folder = self._folder.name if self._folder else ""
        self.path = os.fspath(path) if path else os.path.join(folder, "kb.ragfile")
        self._file: Any = None

    def _opened(self, **options: Any) -> None:
        self._closed()
        self._file = open_file(self.path, **options)

    def _closed(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None


class RagfileSearch(_OwnFile):
    """mteb's SearchProtocol: documents are indexed, and questions asked, by ragfile alone."""

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, embedder: Any = "default",
        **options: Unpack[BatchOptions],
    ) -> None:  # fmt: skip
        """Take an embedder, a name or an object as for ragfile.build, and options of search_batch."""
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

    def index(self, corpus: Iterable[Mapping[str, Any]], **context: Any) -> None:
        """Builds the file: a passage for each document."""
        self._closed()
        build_from(_passages(corpus), self.path, embedder=self._embedder, resume=False)
        is_named = self._embedder in ("default", "none")
        self._opened(embedder=None if is_named else self._embedder)

    def search(
        self, queries: Iterable[Mapping[str, Any]], *, top_k: int,
        top_ranked: Mapping[str, list[str]] | None = None, **context: Any,
    ) -> dict[str, dict[str, float]]:  # fmt: skip
        """{question id: {document id: score}}, of top_ranked's documents alone where it is given."""
        if self._file is None:
            raise ValueError("index() comes before search()")
        asked = {str(query["id"]): _said(query["text"]) for query in queries}
        where = None if top_ranked is None else [_only(top_ranked[name]) for name in asked]
        options: Any = self._options if where is None else {**self._options, "where": where}
        answers = self._file.search_batch(list(asked.values()), top_k, **options)
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


def _said(text: Any) -> str:
    """A question; of a conversation, all that was said."""
    if isinstance(text, str):
        return text
    return "\n".join(turn["content"] if isinstance(turn, dict) else str(turn) for turn in text)


def _only(names: Iterable[str]) -> dict[str, Any]:
    return {"doc_id": {"$in": list(names)}}


class RagfileIndex(_OwnFile):
    """mteb's IndexEncoderSearchProtocol: an encoder's vectors in a file, searched exactly."""

    def __init__(self, model: Any, path: str | os.PathLike[str] | None = None) -> None:
        super().__init__(path)
        name = model.mteb_model_meta.similarity_fn_name
        if name not in METRICS:
            raise ValueError(f"similarity is one of {[m.value for m in METRICS]}, not {name!r}")
        self._metric = METRICS[name]
        self.clear()

    def clear(self) -> None:
        self._closed()
        self.idxs: list[str] = []
        self._vectors: list[np.ndarray] = []

    def add_documents(self, embeddings: Any, idxs: list[str]) -> None:
        """Takes vectors; the file is written when the first question comes."""
        rows = _array(embeddings)
        if len(rows) != len(idxs):
            raise ValueError(f"{len(idxs)} documents need as many vectors, not {len(rows)}")
        self._closed()
        self._vectors.append(rows)
        self.idxs += list(idxs)

    def search(
        self, embeddings: Any, top_k: int, similarity_fn: Callable[..., Any],
        top_ranked: Mapping[str, list[str]] | None = None,
        query_idx_to_id: Mapping[int, str] | None = None,
    ) -> tuple[list[list[float]], list[list[int]]]:  # fmt: skip
        """(scores, places among the added documents), best first. With top_ranked, places count in
        its lists, as mteb's own index has it."""
        if not self.idxs:
            raise ValueError("add_documents() comes before search()")
        if self._file is None:
            self._write()
        questions = _array(embeddings)
        if top_ranked is None:
            rows, scores = self._file.nearest(questions, min(top_k, len(self.idxs)))
            return self._scaled(scores).tolist(), rows.tolist()
        if query_idx_to_id is None:
            raise ValueError("query_idx_to_id is needed with top_ranked")
        places = {name: place for place, name in enumerate(self.idxs)}
        found = [
            self._among([places[n] for n in top_ranked[query_idx_to_id[i]]], question, top_k)
            for i, question in enumerate(questions)
        ]
        return [scores for scores, _ in found], [rows for _, rows in found]

    def _among(self, rows: list[int], question: np.ndarray, k: int):
        local = {row: place for place, row in enumerate(rows)}
        k = min(k, len(rows))
        found, scores = self._file.nearest(question[None], k, where=np.array(rows, np.int64))
        return self._scaled(scores[0]).tolist(), [local[row] for row in found[0].tolist()]

    def _scaled(self, scores: np.ndarray) -> np.ndarray:
        """l2 scores are negated squares; mteb compares negated distances."""
        return -np.sqrt(-scores) if self._metric == "l2" else scores

    def _write(self) -> None:
        rows = np.concatenate(self._vectors)
        with create(self.path, dim=rows.shape[1], metric=self._metric) as writer:
            # names of one width: rows are ordered by name, so a row's number is the document's
            chunks = [
                {"doc_id": f"{n:012d}", "chunk_index": 0, "content": "-"} for n in range(len(rows))
            ]
            writer.add(chunks, rows)
        self._opened()


def _array(embeddings: Any) -> np.ndarray:
    """float32 of numpy's array or torch's tensor."""
    if hasattr(embeddings, "detach"):
        embeddings = embeddings.detach().cpu().numpy()
    return np.ascontiguousarray(embeddings, dtype=np.float32)
