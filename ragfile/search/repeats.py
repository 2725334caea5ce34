"""Drop passages that nearly repeat a better one, and fill their places from further down the ranking.

Reads vectors or texts of the candidates. The retrievers propose four times as many candidates until there are
enough results, or no more candidates. Under calibrated fusion, and for one retriever alone, the answer equals that
of the whole ranking: a row counts only if no unlisted row could precede it; an unlisted row scores at most what the
last rows of both lists score together. So pages join without gaps. Where scores depend on the candidates (RRF, blend, rewrites, boosts, diversity), the answer is
that of the pool that filled it.

Each round costs a few times the previous one; the last one scans every row at most.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ragfile import _core
from ragfile.ground.cancellation import steps
from ragfile.search import refinement, retriever_fusion
from ragfile.search.retriever_fusion import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.search import reranker
    from ragfile.search.question import Notes, Question
    from ragfile.search.retriever_fusion import Ranked
    from ragfile.search.rows_protocol import SearchedRows

DEEPER = 4
TOGETHER = 1 << 21  # candidates in memory at a time
PIECE = 32  # passages read at a time


def without(base: SearchedRows, question: Question, ask: Callable[[Question], Ranked]) -> Ranked:
    """Return the answers without repeats; `ask` returns all candidates of a question's retrievers, in order."""
    everyone, depth = list(range(len(question.texts))), question.depth
    parts: list[Part] = []
    left = everyone
    while left or not parts:
        short: list[int] = []
        for places in _together(left, depth):
            asked = question if places == everyone else question.part(places, question.where)
            found = _Round(base, replace(asked, pool=depth).limited(base.live), ask)
            done = [i for i in range(len(places)) if found.is_filled[i] or found.is_all[i]]
            if done or not parts:
                parts.append(Part([places[i] for i in done], found.answers(done), ""))
            short += [places[i] for i in range(len(places)) if i not in done]
        left, depth = short, min(depth * DEEPER, base.live)
    return retriever_fusion.together(len(everyone), parts)


def _together(places: list[int], depth: int) -> list[list[int]]:
    """Return places in groups with candidates that fit in memory."""
    size = max(1, TOGETHER // max(depth, 1))
    return [places[at : at + size] for at in range(0, max(len(places), 1), size)]


class _Round:
    """The answers at one depth: whether each `is_filled`, and `is_all` if more depth finds no more."""

    def __init__(
        self, base: SearchedRows, question: Question, ask: Callable[[Question], Ranked]
    ) -> None:
        self.base, self.question = base, question
        found = ask(question)
        counts = (found.rows >= 0).sum(axis=1).tolist()
        self.is_all = [n < question.depth or question.depth >= base.live for n in counts]
        sure = [
            n if is_all else self._sure(found, i, n)
            for i, (n, is_all) in enumerate(zip(counts, self.is_all, strict=True))
        ]
        raised = refinement.raised(base, question, found)
        left = (raised.rows >= 0).sum(axis=1).tolist()  # those that reach min_score
        limit = None if question.diversity else question.wanted
        kept = [
            first(base, rows[: min(n, known)].tolist(), limit, question.notes)
            for rows, n, known in zip(raised.rows, left, sure, strict=True)
        ]
        self.ranked = raised.taken(kept, max(map(len, kept), default=0))
        self.is_filled = [
            len(places) >= question.wanted or n < known
            for places, n, known in zip(kept, left, sure, strict=True)
        ]

    def answers(self, chosen: list[int]) -> Ranked:
        """Return the answers to some of the questions."""
        return refinement.placed(self.base, self.question, self.ranked.of(chosen))

    def _sure(self, found: Ranked, i: int, count: int) -> int:
        """Return how many candidates have the same rank among all rows."""
        question = self.question
        reranks = question.boost or question.diversity or question.ranks_code
        if found.score_type != "calibrated" or reranks:
            return count
        parts, depth = found.parts, question.depth
        mean, deviation = self.base.sample_statistics(question.vectors[i])
        how = retriever_fusion.method_for(self.base, question.fusion)
        bm25, near = parts["bm25"][i, :count], parts["vector"][i, :count]
        near = np.where(np.isnan(near), np.float32(mean), near)
        last = [np.partition(scores, count - depth)[count - depth] for scores in (bm25, near)]
        near_most = max(last[1], np.float32(mean))  # a row without a vector counts as the mean
        scale = _core.Calibration(mean, deviation, how.weight(question, i))
        best = float(bm25.max(initial=0.0))
        beyond = scale.scores(np.array(last[:1]), np.array([near_most]), best)[0]
        if how.evidence:  # which is final once the rows that count for it are
            own = -np.sort(-scale.scores(bm25, near, best))
            if (own > beyond).sum() < _core.evidence_count(own):
                return 0
        return int((found.scores[i, :count] > beyond).sum())


def first(base: SearchedRows, rows: list[int], limit: int | None, notes: Notes) -> NDArray[np.intp]:
    """Return the places of the first `limit` rows that repeat none before them, or of all such rows."""
    seen = unlike(base)
    flags = (is_new for piece in _pieces(base, rows, notes) for is_new in seen.of(piece))
    new = (at for at, is_new in enumerate(flags) if is_new)
    return np.fromiter(itertools.islice(new, limit), np.intp)


def unlike(base: SearchedRows) -> reranker.Unlike | reranker.UnlikeTexts:
    """Return an empty detector of repeats: by vectors if the file has them, else by texts."""
    from ragfile.search import reranker

    return reranker.Unlike() if base.has_vectors else reranker.UnlikeTexts()


def contents(base: SearchedRows, rows: list[int], notes: Notes) -> Iterator[Any]:
    """Yield the vector or text of each row, read in pieces as far as the caller iterates."""
    return itertools.chain.from_iterable(_pieces(base, rows, notes))


def _pieces(base: SearchedRows, rows: list[int], notes: Notes) -> Iterator[Any]:
    """Yield the vectors or texts of rows in pieces. A row without a vector has NaN, which equals no other."""
    for at in steps(range(0, len(rows), PIECE)):
        piece = rows[at : at + PIECE]
        if base.has_vectors:
            yield base.vectors_of(piece, notes)
        else:
            known = base.looked_at("contents", piece, notes)
            yield [known[row] for row in piece]
