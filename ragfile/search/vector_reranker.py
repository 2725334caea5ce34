"""Re-ranking by the vectors of another model: "onnx:FOLDER", "st:NAME" or any other embedder.

Cosines are standardised over the candidates. A passage of a hybrid search gets

    score + weight * (z of the model's cosine - z of the file's own)

so that the order changes only as far as the two models differ: words, evidence of pages and rules for code
keep their weight, and the file's own model changes nothing. Candidates of other searches get their share
of the best score, plus weight * z. bench/eval.md has the choice of the weight.

The vectors of passages are kept as they are seen, so a passage is embedded once a process; an embedding
cache keeps them between processes.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ragfile.embedding.embedded_text import Context
from ragfile.embedding.protocol import embedded, open_embedder
from ragfile.errors import ModelError
from ragfile.ground.lru import Lru

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from ragfile.embedding.protocol import Embedder
    from ragfile.records import Hit
    from ragfile.types import Float32s

# The weight of z. Fusion divides deviations of a sample by 6 for static models and by 4 for transformers, and the
# best passages of a question spread over some 0.6 of these deviations.
STATIC_WEIGHT, WEIGHT = 0.1, 0.15
KEPT_BYTES = 64 << 20  # of the vectors of passages, for each model
MODELS = 4  # models that stay open


class VectorReranker:
    """Scores texts by the cosines of an embedder's vectors."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.weight = STATIC_WEIGHT if getattr(embedder, "is_static", False) else WEIGHT
        dims = embedder.model.dims or 1024
        self._context = Context.for_embedder(embedder)
        self._kept: Lru[Hashable, Float32s] = Lru(max(1, KEPT_BYTES // (4 * dims)))

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the cosine of each text to the question; 0 for a text without content."""
        return self._cosines(query, texts)

    def score_hits(self, query: str, hits: Iterable[Hit]) -> list[float]:
        """Return the cosines of passages, embedded with their header paths as a build does."""
        return self._cosines(query, [self._context.key_of(h.text, h.metadata) for h in hits])

    def _cosines(self, query: str, keys: Sequence[Hashable]) -> list[float]:
        if not keys:
            return []
        question = np.asarray(embedded(self.embedder, [query], "query"), np.float64)[0]
        rows = np.asarray(self._vectors(keys), np.float64)
        lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(question)
        found: list[float] = np.divide(
            rows @ question, lengths, out=np.zeros(len(rows)), where=lengths > 0
        ).tolist()
        return found

    def _vectors(self, keys: Sequence[Hashable]) -> list[Float32s]:
        """Return the vectors of passages, and embed those that are not known."""
        found = {key: row for key in keys if (row := self._kept.get(key)) is not None}
        new = [key for key in dict.fromkeys(keys) if key not in found]
        if new:
            rows = self._context.embed(self.embedder, new)
            for key, row in zip(new, rows, strict=True):
                found[key] = row.copy()  # the batch is freed
                self._kept.put(key, found[key])
        return [found[key] for key in keys]


@lru_cache(maxsize=MODELS)
def vector_reranker(name: str, cache: str | bool | None = None) -> VectorReranker:
    """Open the embedder of a name once, with the chosen embedding cache."""
    embedder = open_embedder(name, cache=cache)
    if embedder is None:
        raise ModelError(f"{name!r} makes no vectors: name a model such as st:NAME or onnx:FOLDER")
    return VectorReranker(embedder)


def exchanged(
    scores: Sequence[float], old: Sequence[float | None], new: Sequence[float], weight: float
) -> list[float]:
    """Return scores of calibrated fusion with a model's cosines in the place of the file's, where it has any."""
    known = [score for score in old if score is not None]
    before = iter(standard(known))
    moved = [0.0 if score is None else next(before) for score in old]
    after = standard(new)
    return [s + weight * (b - a) for s, a, b in zip(scores, moved, after, strict=True)]


def added(scores: Sequence[float], new: Sequence[float], weight: float) -> list[float]:
    """Return shares of the best score, each with a model's weighted standard score."""
    top = max(scores, default=0.0)
    shares = (score / top if top > 0 else 0.0 for score in scores)
    return [share + weight * z for share, z in zip(shares, standard(new), strict=True)]


def standard(scores: Sequence[float]) -> list[float]:
    """Return scores in standard deviations from their mean; zeros if all are equal."""
    if not scores:
        return []
    mean = math.fsum(scores) / len(scores)
    spread = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    return [(score - mean) / spread if spread > 0 else 0.0 for score in scores]
