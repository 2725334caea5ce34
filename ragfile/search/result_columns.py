"""The answers to a batch as arrays, for programs that rank, judge or join them. No hits are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragfile.ground.extras import optional
from ragfile.records import Hits

if TYPE_CHECKING:
    import pyarrow
    from numpy.typing import NDArray

    from ragfile.file.passages import Passages
    from ragfile.search.retriever_fusion import Ranked


class ResultColumns:
    """The answers to m questions as arrays, best first.

    Attributes:
        rows: Row numbers int64[m, k]; unused places hold -1.
        scores: Scores float64[m, k]; unused places hold -inf.
        parts: Scores float32[m, k] by retriever; NaN in unused places.
        score_type: The kind of `scores`, such as "calibrated" or "bm25".
        degraded: Why a retriever was skipped, or "".
        timings: Milliseconds by stage.
        generation: Number of the commit that was searched.
        estimated_recall: float64[m], the share of the best by vector that each answer has: 1 unless
            `effort` is below 1, then an estimate where nothing proves it.
    """

    def __init__(
        self, ranked: Ranked, passages: Passages, *, degraded: str = "",
        timings: dict[str, float] | None = None, request_id: str = "", generation: int = 0,
        recall: NDArray[np.float64] | None = None,
    ) -> None:  # fmt: skip
        self.rows: NDArray[np.int64] = ranked.rows
        self.scores: NDArray[np.float64] = ranked.scores
        self.parts: dict[str, NDArray[np.float32]] = ranked.parts
        self.score_type, self.degraded, self.request_id = ranked.score_type, degraded, request_id
        self.timings, self.generation = timings or {}, generation
        self.estimated_recall: NDArray[np.float64] = (
            np.ones(len(ranked.rows)) if recall is None else recall
        )
        self._passages = passages

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<ResultColumns of {len(self)} answers, {self.rows.shape[1]} places each>"

    @property
    def ids(self) -> list[list[str]]:
        """The ids of the passages of each answer, read from the file on access."""
        known = self._passages.ids(np.unique(self.rows[self.rows >= 0]).tolist())
        return [[known[row] for row in rows[rows >= 0].tolist()] for rows in self.rows]

    def hits(self, i: int) -> Hits:
        """Return the answer to question i as hits, which are read on first access."""
        parts = {name: part[i] for name, part in self.parts.items()}
        hits = self._passages.hits(self.rows[i], self.scores[i], self.score_type, parts)
        found = Hits(hits, degraded=self.degraded, timings=dict(self.timings))
        found.request_id, found.generation = self.request_id, self.generation
        found.estimated_recall = float(self.estimated_recall[i])
        return found

    def to_arrow(self) -> pyarrow.Table:
        """Return a pyarrow.Table: a line for each passage with question, rank, row, id, score, and a column for each
        retriever."""
        arrow = optional("pyarrow", "answers as Arrow tables")
        questions, places = np.nonzero(self.rows >= 0)
        flat = {
            "question": questions,
            "rank": places + 1,
            "row": self.rows[questions, places],
            "id": arrow.array([one for ids in self.ids for one in ids], arrow.string()),
            "score": self.scores[questions, places],
        }
        return arrow.table(
            flat | {name: part[questions, places] for name, part in self.parts.items()}
        )
