"""Fusion of a dataset's two rankings into one answer, as search/retriever_fusion.py does for a file.

A file fuses in the core, which has its rows. Here scores come from the shards, in one ask for all questions. The same
formulas (search/fusion.py, the core's Calibration) are applied to them, with identical results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ragfile import _core
from ragfile.search import fusion
from ragfile.search.retriever_fusion import Ranked, method_for, nothing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragfile.search.question import Question
    from ragfile.search.rows_protocol import Found
    from ragfile.shards.dataset_rows import DatasetRows
    from ragfile.types import Booleans, Float32s, Floats, Int64s

PARTS = ("bm25", "vector")


Order: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64]]"
"""Positions in a union, best first, and their scores."""


class ScoredRows(NamedTuple):
    """The rows of one retriever for one question, best first."""

    rows: Int64s
    scores: Float32s


class Union(NamedTuple):
    """The rows of both rankings, each with both exact scores, and the rankings, vectors first."""

    rows: Int64s
    bm25: Float32s
    near: Float32s
    rankings: list[ScoredRows]


class RankingFusion:
    """Fuses the rankings for some questions; `words` is the BM25 result for `queries`."""

    near: list[Float32s]

    def __init__(
        self,
        rows: DatasetRows,
        question: Question,
        vectors: Floats,
        words: Found,
        queries: _core.Queries | None = None,
    ) -> None:
        self.rows, self.question, self.vectors, self.queries = rows, question, vectors, queries
        self.how = method_for(rows, question.fusion)
        self.method, self.value = self.how.name, self.how.parameter
        self.words = [_ranking(words, i) for i in range(len(vectors))]
        self.scales: list[_core.Calibration] = []
        self.moments: list[tuple[float, float]] = []

    def floors(self) -> Float32s | None:
        """Return the score that the vector scan must reach for each text; None if there is no such bound."""
        rows = [ranking.rows for ranking in self.words]
        self.near = self.rows.scores_each(rows, self.question.notes, vectors=self.vectors)
        if self.method != "calibrated":
            return None
        self.moments = [self.rows.sample_statistics(vector) for vector in self.vectors]
        self.scales = [
            _core.Calibration(mean, spread, self.how.weight(self.question, i))
            for i, (mean, spread) in enumerate(self.moments)
        ]
        if self.question.looks_beyond:
            return None
        return np.array(
            [self._floor(i, ranking) for i, ranking in enumerate(self.words)], np.float32
        )

    def _floor(self, i: int, ranking: ScoredRows) -> float:
        """Rows that a full ranking leaves out score at most its last score; those of any other score 0."""
        rest = ranking.scores[-1] if len(ranking.rows) == self.question.depth > 0 else 0.0
        has_evidence = self.how.evidence > 0
        wanted = self.question.led
        return self.scales[i].least(ranking.scores, self.near[i], wanted, rest, has_evidence)

    def ranked(self, dense: Found, width: int) -> Ranked:
        """Return the first `width` rows of both rankings, each row with both exact scores."""
        count = len(self.words)
        rankings = [(words, _ranking(dense, i)) for i, words in enumerate(self.words)]
        new = [_new(words, near) for words, near in rankings]
        added = [near.rows[is_new] for (_, near), is_new in zip(rankings, new, strict=True)]
        bm25 = self.rows.scores_each(added, self.question.notes, queries=self.queries)
        unions = [
            _union(*rankings[i], new[i], added[i], bm25[i], self.near[i]) for i in range(count)
        ]
        ties = self.rows.ties_each([union.rows for union in unions], self.question.notes)
        orders = [self._order(i, union, ties[i]) for i, union in enumerate(unions)]
        if self.how.evidence:
            self._raise(orders, unions, ties)
        out = nothing(self.method, count, width, PARTS)
        for i, union in enumerate(unions):
            order, scores = orders[i][0][:width], orders[i][1][:width]
            out.rows[i, : len(order)], out.scores[i, : len(order)] = union.rows[order], scores
            out.parts["bm25"][i, : len(order)] = union.bm25[order]
            out.parts["vector"][i, : len(order)] = union.near[order]
        if not self.moments:
            return out
        best = [float(union.bm25.max(initial=0.0)) for union in unions]
        scales = [(top, *moments) for top, moments in zip(best, self.moments, strict=True)]
        return out._replace(scales=np.array(scales))

    def _raise(self, orders: list[Order], unions: list[Union], ties: list[Int64s]) -> None:
        """Raise the best rows of each order by the evidence of their documents, read in one ask."""
        best = [order[: _core.evidence_count(scores)] for order, scores in orders]
        rows = [union.rows[at] for union, at in zip(unions, best, strict=True)]
        documents = self.rows.documents_each(rows, self.question.notes)
        for i, at in enumerate(best):
            scores = orders[i][1]
            first, raised = _core.evidence_rank(
                scores[: len(at)].copy(), documents[i], ties[i][at], self.how.evidence
            )
            orders[i][0][: len(at)], scores[: len(at)] = at[first], raised

    def _order(self, i: int, union: Union, ties: Int64s) -> Order:
        """Return (positions in the union, scores), best first."""
        if self.method == "calibrated":
            return self.scales[i].rank(ties, union.bm25, union.near)
        tie = dict(zip(union.rows.tolist(), ties.tolist(), strict=True))
        ranked = [
            ([tie[row] for row in ranking.rows.tolist()], ranking.scores)
            for ranking in union.rankings
        ]
        if self.method == "rrf":
            found, scores = fusion.rrf(ranked, self.value)
        else:
            found, scores = fusion.blend(ranked, fusion.alpha_weights(self.value))
        return np.argsort(ties)[np.searchsorted(np.sort(ties), found)], scores


def _union(
    words: ScoredRows,
    dense: ScoredRows,
    is_new: Booleans,
    added: Int64s,
    bm25: Float32s,
    near: Float32s,
) -> Union:
    return Union(
        np.concatenate([words.rows, added]), np.concatenate([words.scores, bm25]),
        np.concatenate([near, dense.scores[is_new]]), [dense, words],
    )  # fmt: skip


def _new(words: ScoredRows, dense: ScoredRows) -> Booleans:
    """Mark the rows of the vector ranking that the other one lacks."""
    known = set(words.rows.tolist())
    return np.array([row not in known for row in dense.rows.tolist()], dtype=bool)


def _ranking(found: Found, i: int) -> ScoredRows:
    """Return the ranking for text i, without the padding of the array."""
    rows, scores = found[0][i], found[1][i]
    count = int(np.count_nonzero(rows >= 0))
    return ScoredRows(rows[:count], scores[:count])
