"""What the retrievers of a search propose, made one answer: the middle of searching.

    words ─ their vectors' scores ─ the least that a further row's vector must score ─ near rows ─ union ─ fusion ─ cut

Words come first, for they cost least, and under calibrated fusion they say what the vector scan need not look for: k
rows with both scores are known then, and a row that no word brought in would have to beat them by its vector alone. The
answer is that of both in full, to the bit; the vector scan is two to three times faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.query import fusion, reranking
from ragfile.store import exact
from ragfile.store.config import TRANSFORMER_WEIGHT

if TYPE_CHECKING:
    from typing import Any


class Leg(NamedTuple):
    """The ranked rows that one retriever hands to fusion, for one question."""

    rows: np.ndarray
    scores: np.ndarray


class Ranked(NamedTuple):
    """An answer before it is fetched: `parts` are each row's scores by retriever."""

    score_type: str
    rows: list[int]
    scores: list[float]
    parts: list[dict[str, float]]


class Fusing:
    """One question's legs put together. `vectors` and `has_words` say which retrievers there are; `words` and `dense`
    are what they found, as (rows, scores) of arrays [text, depth]."""

    words: Any
    dense: Any
    near: Any
    scales: Any

    def __init__(self, base, question, vectors, has_words):
        self.base, self.question, self.vectors = base, question, vectors
        self.method, self.params = _method(question.fusion, base.config.get("fusion") or {})
        self.is_hybrid = vectors is not None and has_words
        self.is_calibrated = self.is_hybrid and self.method == "calibrated"
        self.words = self.dense = self.near = self.scales = None

    def least(self):
        """What the vector scan must reach for each text, given the words; None where that cannot be said."""
        if not self.is_hybrid:
            return None
        legs = [_leg(self.words, i) for i in range(len(self.vectors))]
        self.near = [
            self.base.scores_of(leg.rows, vector=vector)
            for leg, vector in zip(legs, self.vectors, strict=True)
        ]
        if not self.is_calibrated:
            return None
        moments = [self.base.sample_statistics(vector) for vector in self.vectors]
        weight = self.params.get("w", TRANSFORMER_WEIGHT)
        self.scales = [_core.Calibration(mean, deviation, weight) for mean, deviation in moments]
        self.near = [
            _known(scores, mean) for scores, (mean, _) in zip(self.near, moments, strict=True)
        ]
        if self.question.distinct:
            return None  # rows after the k best can take the places of near-duplicates
        return np.array([self._least(i, leg) for i, leg in enumerate(legs)], dtype=np.float32)

    def _least(self, i, leg):
        """A leg that is full leaves out rows with as much as its last one has, any other only rows with nothing."""
        rest = leg.scores[-1] if len(leg.rows) == self.question.depth > 0 else 0.0
        return self.scales[i].least(leg.scores, self.near[i], self.question.k, rest)

    def ranked(self, i) -> Ranked:
        """The answer to text i."""
        if self.is_hybrid:
            return self._fused(i, _leg(self.words, i), _leg(self.dense, i))
        if self.dense is None and self.words is None:
            return Ranked("none", [], [], [])
        name, found = ("bm25", self.words) if self.dense is None else ("vector", self.dense)
        leg = _leg(found, i)
        order, scores = self._cut(leg.rows, np.arange(len(leg.rows)), leg.scores)
        return Ranked(name, leg.rows[order].tolist(), scores, [{name: score} for score in scores])

    def _fused(self, i, words, dense) -> Ranked:
        """The union of both legs, each row with both exact scores, ranked."""
        rows, bm25 = words
        known = set(rows.tolist())
        new = np.array([row not in known for row in dense.rows.tolist()], dtype=bool)
        added = dense.rows[new]
        if len(added):
            rows = np.concatenate([rows, added])
            text = self.question.texts[i]
            bm25 = np.concatenate([bm25, self.base.scores_of(added, text=text)])
        near, ties = np.concatenate([self.near[i], dense.scores[new]]), self._ties(rows)
        if self.is_calibrated:
            order, scores = self.scales[i].rank(ties, bm25, near)
        else:
            order, scores = self._by_rank(rows, ties, [dense, words])
        order, scores = self._cut(rows, order, scores)
        parts = zip(bm25[order].tolist(), near[order].tolist(), strict=True)
        by_retriever = [{"bm25": b, "vector": v} for b, v in parts]
        return Ranked(self.method, rows[order].tolist(), scores, by_retriever)

    def _by_rank(self, rows, ties, legs):
        """The same by the methods that look at the legs alone."""
        tie = dict(zip(rows.tolist(), ties.tolist(), strict=True))
        ranked = [([tie[row] for row in leg.rows.tolist()], leg.scores) for leg in legs]
        if self.method == "rrf":
            found, scores = fusion.rrf(ranked, self.params.get("rrf_k", fusion.RRF_K))
        else:
            weights = fusion.alpha_weights(self.params.get("alpha", 0.5))
            found, scores = fusion.blend(ranked, weights)
        return np.argsort(ties)[np.searchsorted(np.sort(ties), found)], scores

    def _ties(self, rows):
        """What ties go by: the rows themselves in one segment, the order of their keys in several."""
        segments = self.base.segments
        if len(segments) == 1:
            return rows
        by_key = sorted(range(len(rows)), key=lambda at: exact.key(segments, rows[at]))
        ties = np.empty(len(rows), dtype=np.int64)
        ties[by_key] = np.arange(len(rows))
        return ties

    def _cut(self, rows, order, scores):
        """The k best of rows[order]; with distinct, those that do not repeat a better one."""
        if self.question.distinct and len(order):
            kept = self._distinct(rows[order])
            order, scores = order[kept], scores[kept]
        return order[: self.question.k], scores[: self.question.k].tolist()

    def _distinct(self, rows):
        if self.base.has_vectors:
            return reranking.distinct_vectors(np.array([self.base.vector(row) for row in rows]))
        return reranking.distinct_texts([self.base.chunk(row).content for row in rows])


def _method(chosen, recorded):
    """(method, parameters): the caller's choice before the file's."""
    method, params = chosen if isinstance(chosen, tuple) else (chosen, {})
    method = method or recorded.get("method", "calibrated")
    fusion.check(method, params)
    return method, {**recorded, **params}


def _known(scores, unknown):
    """Scores of vectors as finite numbers: `unknown` where a row has none."""
    missing = np.isnan(scores)
    return np.where(missing, np.float32(unknown), scores) if missing.any() else scores


def _leg(found, i) -> Leg:
    """What a retriever found for text i, without what fills up the array."""
    rows, scores = found[0][i], found[1][i]
    count = int(np.count_nonzero(rows >= 0))
    return Leg(rows[:count], scores[:count])
