"""Answers without passages that nearly repeat a better one, filled up to the places that were asked for.

Repeats leave places that passages after them must fill, so the retrievers are asked four times as deep until there are
enough, or until they have nothing more to list. Of calibrated fusion, and of a retriever alone, the answer is that of
the whole ranking: a row counts only when no row that is not listed could stand before it, because it would score at most
what the last ones of both lists score together. So pages join without a gap. Where scores are made of the candidates
alone (RRF, blend, rewrites, boosts, diversity), the answer is that of the pool at which it was filled.

A round costs a few times the one before, and the last one at most a look at every row.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ragfile import _core
from ragfile.search import paging_and_diversity, retriever_fusion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.search import reranker
    from ragfile.search.question import Notes, Question
    from ragfile.search.retriever_fusion import Ranked
    from ragfile.search.rows import SearchedRows

DEEPER = 4
TOGETHER = 1 << 21  # candidates that are in memory at a time
PIECE = 32  # passages that are read at a time


def without(base: SearchedRows, question: Question, ask: Callable[[Question], Ranked]) -> Ranked:
    """The answers of a question that wants distinct passages; `ask` gives all candidates of its retrievers, in order."""
    everyone, depth = list(range(len(question.texts))), question.depth
    parts, left = [], everyone
    while left or not parts:
        short = []
        for places in _together(left, depth):
            asked = question if places == everyone else question.part(places, question.where)
            found = _Round(base, replace(asked, pool=depth).limited(base.live), ask)
            done = [i for i in range(len(places)) if found.is_filled[i] or found.is_all[i]]
            if done or not parts:
                parts.append(([places[i] for i in done], found.answers(done), ""))
            short += [places[i] for i in range(len(places)) if i not in done]
        left, depth = short, min(depth * DEEPER, base.live)
    return retriever_fusion.together(len(everyone), parts)


def _together(places, depth):
    """Places in groups whose candidates fit in memory."""
    size = max(1, TOGETHER // max(depth, 1))
    return [places[at : at + size] for at in range(0, max(len(places), 1), size)]


class _Round:
    """What some questions find at one depth: `is_filled`, and `is_all` where a deeper look finds nothing more."""

    def __init__(self, base, question, ask):
        self.base, self.question = base, question
        found = ask(question)
        counts = (found.rows >= 0).sum(axis=1).tolist()
        self.is_all = [n < question.depth or question.depth >= base.live for n in counts]
        sure = [
            n if is_all else self._sure(found, i, n)
            for i, (n, is_all) in enumerate(zip(counts, self.is_all, strict=True))
        ]
        raised = paging_and_diversity.raised(base, question, found)
        left = (raised.rows >= 0).sum(axis=1).tolist()  # without those that score too little
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
        """Those of some of the questions."""
        return paging_and_diversity.placed(self.base, self.question, self.ranked.of(chosen))

    def _sure(self, found, i, count):
        """How many candidates stand where they would stand in the ranking of all rows."""
        question = self.question
        if found.score_type != "calibrated" or question.boost or question.diversity:
            return count
        parts, depth = found.parts, question.depth
        mean, deviation = self.base.sample_statistics(question.vectors[i])
        how = retriever_fusion.method_of(question.fusion, retriever_fusion.recorded(self.base))
        bm25, near = parts["bm25"][i, :count], parts["vector"][i, :count]
        near = np.where(np.isnan(near), np.float32(mean), near)
        last = [np.partition(scores, count - depth)[count - depth] for scores in (bm25, near)]
        near_most = max(last[1], np.float32(mean))  # a row without a vector counts as the mean
        scale = _core.Calibration(mean, deviation, how[1])
        best = float(bm25.max(initial=0.0))
        beyond = scale.scores(np.array(last[:1]), np.array([near_most]), best)[0]
        return int((found.scores[i, :count] > beyond).sum())


def first(base: SearchedRows, rows: list[int], limit: int | None, notes: Notes) -> NDArray[np.intp]:
    """Places of the rows, in order, that do not repeat one before: the first `limit` of them, or all."""
    seen = unlike(base)
    flags = (is_new for piece in _pieces(base, rows, notes) for is_new in seen.of(piece))
    new = (at for at, is_new in enumerate(flags) if is_new)
    return np.fromiter(itertools.islice(new, limit), np.intp)


def unlike(base: SearchedRows) -> reranker.Unlike | reranker.UnlikeTexts:
    """What tells repeats: by vectors where a file has them, else by texts."""
    from ragfile.search import reranker

    return reranker.Unlike() if base.has_vectors else reranker.UnlikeTexts()


def contents(base: SearchedRows, rows: list[int], notes: Notes) -> Iterator[Any]:
    """What it compares of each row, read in pieces as far as somebody looks."""
    return itertools.chain.from_iterable(_pieces(base, rows, notes))


def _pieces(base: SearchedRows, rows: list[int], notes: Notes) -> Iterator[Any]:
    """Vectors, where those of rows without one are unlike all others, or texts."""
    for at in range(0, len(rows), PIECE):
        piece = rows[at : at + PIECE]
        if base.has_vectors:
            yield base.vectors_of(piece, notes)
        else:
            known = base.looked_at("contents", piece, notes)
            yield [known[row] for row in piece]
