"""Weights of terms as a retriever beside words and vectors: spec 14.5 has the rule.

candidates of words and vectors ─ rows by weights ─ union ─ exact scores ─ sum ─ order
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragfile import _core
from ragfile.search import retriever_fusion
from ragfile.search.retriever_fusion import Ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragfile.search.question import Question
    from ragfile.search.rows_protocol import Found, SearchedRows, Selection
    from ragfile.types import Float32s, Floats, Int64s

    Scores = NDArray[np.float64]


def ranked(
    base: SearchedRows, question: Question, found: Ranked, vectors: Floats | None, chosen: Selection
) -> Ranked:
    """Return all candidates of each text, with those that its weights of terms propose."""
    depth = question.depth if found.parts else max(question.depth, question.wanted)
    proposed = base.sparse_best(question.weights, depth, chosen, question.notes)
    question.notes.note("sparse")
    if not found.parts:
        return retriever_fusion.alone("sparse", proposed)
    answers = [
        _WeighedCandidates(
            base, question, found, i, None if vectors is None else vectors[i]
        ).ordered(proposed)
        for i in range(len(question.texts))
    ]
    return retriever_fusion.in_turn(answers)


class _WeighedCandidates:
    """The candidates of one text: those that words and vectors found, then those that only weights propose."""

    def __init__(
        self, base: SearchedRows, question: Question, found: Ranked, i: int, vector: Floats | None
    ) -> None:
        self.base, self.question, self.i, self.vector = base, question, i, vector
        self.how = retriever_fusion.method_for(base, question.fusion)
        self.kind, self.scales = found.score_type, found.scales
        count = int((found.rows[i] >= 0).sum())
        self.rows = np.ascontiguousarray(found.rows[i, :count])
        self.scores = found.scores[i, :count].astype(np.float64)
        self.parts = {name: part[i, :count] for name, part in found.parts.items()}

    def ordered(self, proposed: Found) -> Ranked:
        """Add the rows that the weights propose, and return all in their order."""
        count = int((proposed[0][self.i] >= 0).sum())
        own = np.ascontiguousarray(proposed[0][self.i, :count])
        scores = proposed[1][self.i, :count]
        known = len(self.rows)
        new = own[~np.isin(own, self.rows)]
        more = {name: self._exact(name, new) for name in self.parts}
        fused = np.concatenate([self._before(), self._added(more)])
        self.rows = np.concatenate([self.rows, new])
        self.parts = {name: np.concatenate([part, more[name]]) for name, part in self.parts.items()}
        self.parts["sparse"] = self._weighed(own, scores, known)
        fused += self._shares(own, scores)
        ties = self.base.ties_each([self.rows], self.question.notes)[0]
        order = np.lexsort((ties, -fused))
        parts = {name: part[order][None] for name, part in self.parts.items()}
        return Ranked(self.how.name, self.rows[order][None], fused[order][None], parts)

    def _exact(self, name: str, rows: Int64s) -> Float32s:
        question, notes = self.question, self.question.notes
        if not len(rows):
            return np.empty(0, np.float32)
        if name == "vector":
            return self.base.scores_of(rows, vector=self.vector, notes=notes)
        text = question.texts[self.i]
        return self.base.scores_of(rows, text=text, fields=question.fields, notes=notes)

    def _weighed(self, own: Int64s, scores: Float32s, known: int) -> Float32s:
        """Return the exact score by weights of every candidate."""
        found = np.empty(len(self.rows), np.float32)
        place = dict(zip(own.tolist(), scores.tolist(), strict=True))
        others = [n for n, row in enumerate(self.rows[:known].tolist()) if row not in place]
        for n, row in enumerate(self.rows.tolist()):
            found[n] = place.get(row, 0.0)
        if others:
            asked = self.question.weights[self.i]
            found[others] = self.base.sparse_scores(self.rows[others], asked, self.question.notes)
        return found

    # ------------------------------------------------------------------------------- words and vectors --

    def _before(self) -> Scores:
        """Return the scores of the candidates of words and vectors without weights."""
        if self.kind not in ("bm25", "vector") or not len(self.rows):
            return self.scores
        if self.how.name == "rrf":
            return 1 / (self.how.parameter + np.arange(1, len(self.rows) + 1))
        if self.how.name == "blend":
            share = self.how.parameter if self.kind == "vector" else 1 - self.how.parameter
            return share * _scaled(self.scores)
        return self._calibrated(self.parts)

    def _added(self, more: dict[str, Float32s]) -> Scores:
        """Return the same of the rows that only weights propose."""
        if self.how.name == "calibrated":
            return self._calibrated(more)
        return np.zeros(len(next(iter(more.values()))))

    def _calibrated(self, parts: dict[str, Float32s]) -> Scores:
        """Return the calibrated scores of rows by the exact scores of the retrievers that ran."""
        bm25, near = parts.get("bm25"), parts.get("vector")
        best, mean, deviation = self._scale()
        if near is None:
            lexical = np.zeros(0) if bm25 is None else bm25.astype(np.float64)
            return lexical / best if best > 0 else np.zeros(len(lexical))
        words = np.zeros(len(near), np.float32) if bm25 is None else bm25
        weight = self.how.weight(self.question, self.i)
        calibration = _core.Calibration(mean, deviation, weight)
        return calibration.scores(
            np.ascontiguousarray(words),
            np.ascontiguousarray(near),
            best if bm25 is not None else 0.0,
        )

    def _scale(self) -> tuple[float, float, float]:
        """Return the best BM25 score, and mean and deviation of the question's vector over the sample."""
        if self.scales is not None:
            best, mean, deviation = self.scales[self.i].tolist()
            return best, mean, deviation
        if self.kind == "bm25":
            return float(self.scores.max(initial=0.0)), 0.0, 0.0
        assert self.vector is not None  # the vector retriever ran
        return 0.0, *self.base.sample_statistics(self.vector)

    # -------------------------------------------------------------------------------------- weights --

    def _shares(self, own: Int64s, scores: Float32s) -> Scores:
        """Return the weights' addition to the score of each candidate."""
        if self.how.name == "calibrated":
            best = float(scores[0]) if len(scores) else 0.0
            weighed = self.parts["sparse"].astype(np.float64)
            return self.how.sparse * (weighed / best if best > 0 else weighed)
        if self.how.name == "rrf":
            shares = 1 / (self.how.parameter + np.arange(1, len(own) + 1))
        else:
            shares = _scaled(scores.astype(np.float64))
        place = dict(zip(own.tolist(), shares.tolist(), strict=True))
        return self.how.sparse * np.array([place.get(row, 0.0) for row in self.rows.tolist()])


def _scaled(scores: Scores) -> Scores:
    """Return scores from 0 to 1 by their least and largest; 1 if these are equal."""
    if not len(scores):
        return scores
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.ones(len(scores))
