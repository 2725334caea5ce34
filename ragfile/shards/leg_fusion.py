"""What the retrievers of a dataset propose, made one answer, as search/retriever_fusion.py does for a file.

A file fuses in the core, where its rows are. Here the rows are elsewhere: their scores come from the shards, in one ask for
all questions, and the same formulas (search/fusion.py, the core's Calibration) are applied to them, with the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.search import fusion
from ragfile.search.retriever_fusion import Ranked, method_of, nothing, recorded

if TYPE_CHECKING:
    from typing import Any

    from ragfile.search.question import Question
    from ragfile.search.rows import Found
    from ragfile.shards.dataset_rows import DatasetRows

PARTS = ("bm25", "vector")


class RetrieverLeg(NamedTuple):
    """The rows of one retriever for one question."""

    rows: np.ndarray
    scores: np.ndarray


class Union(NamedTuple):
    """The rows of both legs, each with both exact scores, and the legs, vectors first."""

    rows: np.ndarray
    bm25: np.ndarray
    near: np.ndarray
    legs: list[RetrieverLeg]


class LegFusion:
    """Both retrievers' answers to some questions put together; `words` is what the first one found for `queries`."""

    near: list[Any]

    def __init__(
        self, rows: DatasetRows, question: Question, vectors: Any, words: Found, queries: Any = None
    ) -> None:
        self.rows, self.question, self.vectors, self.queries = rows, question, vectors, queries
        chosen = question.fusion
        how = rows.fusion_method if chosen is None else method_of(chosen, recorded(rows))
        self.method: str = how[0]
        self.value: Any = how[1]  # a float, or the whole number of rrf
        self.words = [_leg(words, i) for i in range(len(vectors))]
        self.scales: list[Any] = []

    def least(self) -> Any:
        """What the vector scan must reach for each text, given the words; None where that cannot be said."""
        rows = [leg.rows for leg in self.words]
        self.near = self.rows.scores_each(rows, self.question.notes, vectors=self.vectors)
        if self.method != "calibrated":
            return None
        moments = [self.rows.sample_statistics(vector) for vector in self.vectors]
        self.scales = [_core.Calibration(mean, spread, self.value) for mean, spread in moments]
        if self.question.looks_beyond:
            return None
        return np.array([self._least(i, leg) for i, leg in enumerate(self.words)], np.float32)

    def _least(self, i, leg):
        """A leg that is full leaves out rows with as much as its last one has, any other only rows with nothing."""
        rest = leg.scores[-1] if len(leg.rows) == self.question.depth > 0 else 0.0
        return self.scales[i].least(leg.scores, self.near[i], self.question.wanted, rest)

    def ranked(self, dense: Any, width: int) -> Ranked:
        """The first `width` of the union of both legs, each row with both exact scores."""
        count = len(self.words)
        legs = [(words, _leg(dense, i)) for i, words in enumerate(self.words)]
        new = [_new(words, near) for words, near in legs]
        added = [near.rows[is_new] for (_, near), is_new in zip(legs, new, strict=True)]
        bm25 = self.rows.scores_each(added, self.question.notes, queries=self.queries)
        unions = [_union(*legs[i], new[i], added[i], bm25[i], self.near[i]) for i in range(count)]
        ties = self.rows.ties_each([union.rows for union in unions], self.question.notes)
        out = nothing(self.method, count, width, PARTS)
        for i, union in enumerate(unions):
            order, scores = self._order(i, union, ties[i])
            order, scores = order[:width], scores[:width]
            out.rows[i, : len(order)], out.scores[i, : len(order)] = union.rows[order], scores
            out.parts["bm25"][i, : len(order)] = union.bm25[order]
            out.parts["vector"][i, : len(order)] = union.near[order]
        return out

    def _order(self, i, union, ties):
        """(places in the union, scores), the best first."""
        if self.method == "calibrated":
            return self.scales[i].rank(ties, union.bm25, union.near)
        tie = dict(zip(union.rows.tolist(), ties.tolist(), strict=True))
        ranked = [([tie[row] for row in leg.rows.tolist()], leg.scores) for leg in union.legs]
        if self.method == "rrf":
            found, scores = fusion.rrf(ranked, self.value)
        else:
            found, scores = fusion.blend(ranked, fusion.alpha_weights(self.value))
        return np.argsort(ties)[np.searchsorted(np.sort(ties), found)], scores


def _union(words, dense, is_new, added, bm25, near) -> Union:
    return Union(
        np.concatenate([words.rows, added]), np.concatenate([words.scores, bm25]),
        np.concatenate([near, dense.scores[is_new]]), [dense, words],
    )  # fmt: skip


def _new(words, dense):
    """Which rows of the vector leg the words did not bring in."""
    known = set(words.rows.tolist())
    return np.array([row not in known for row in dense.rows.tolist()], dtype=bool)


def _leg(found, i) -> RetrieverLeg:
    """What a retriever found for text i, without what fills up the array."""
    rows, scores = found[0][i], found[1][i]
    count = int(np.count_nonzero(rows >= 0))
    return RetrieverLeg(rows[:count], scores[:count])
