"""The steps between fusion and the page of a question, in this order:

    boosts        score + sum of weight * 0.5 ** (|value - reference| / half_life)
    min_score     drop passages that score less
    drop_repeats  drop passages that nearly repeat a better one (search/repeats.py)
    diversity     each place takes the passage with the most of (1 - d) * relevance - d * similarity
    page          the k places from `offset` on

All steps read the candidates that the retrievers proposed. Equal scores keep their order. The core computes them
(csrc/fusion/), for browsers too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ragfile import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ragfile.search.question import Notes, Question
    from ragfile.search.retriever_fusion import Ranked
    from ragfile.search.rows_protocol import SearchedRows
    from ragfile.types import Boost, Int64s, Metadata

BOOST_NAMES = {"field", "weight", "reference", "half_life"}


def refined(base: SearchedRows, question: Question, ranked: Ranked) -> Ranked:
    """Return the requested page of each answer, without dropping repeats."""
    if question.is_whole:
        return ranked
    return placed(base, question, raised(base, question, ranked))


def raised(base: SearchedRows, question: Question, ranked: Ranked) -> Ranked:
    """Return the candidates boosted, without those below min_score."""
    if question.boost:
        ranked = boosted(base, ranked, question.boost, question.notes)
    if question.min_score is not None:
        ranked = reaching(ranked, question.min_score)
    return ranked


def placed(base: SearchedRows, question: Question, ranked: Ranked) -> Ranked:
    """Return the requested page, diversified if asked."""
    if question.diversity:
        ranked = diverse(base, question, ranked)
    return ranked.page(question.offset, question.k)


# ---------------------------------------------------------------------------------------------------------------- boosts


def boosted(base: SearchedRows, ranked: Ranked, boosts: Sequence[Boost], notes: Notes) -> Ranked:
    """Return the candidates with scores raised by metadata, in their new order."""
    known = base.looked_at("metadata", np.unique(ranked.rows[ranked.rows >= 0]), notes)
    wanted = [_Number.of(boost["reference"]) for boost in boosts]
    factors = np.array(
        [
            (boost["weight"], reference.value, boost["half_life"])
            for boost, reference in zip(boosts, wanted, strict=True)
            if reference is not None
        ]
    )
    kept: list[NDArray[np.intp]] = []
    scores = ranked.scores.copy()
    for i, rows in enumerate(ranked.rows):
        rows = rows[rows >= 0]
        values = np.array(
            [
                [_value(known[row], b, r) for b, r in zip(boosts, wanted, strict=True)]
                for row in rows.tolist()
            ]
        )
        order, raised = _core.boosts_rank(
            factors, values.reshape(len(rows), len(boosts)), ranked.scores[i, : len(rows)].copy()
        )
        scores[i, order] = raised
        kept.append(order)
    return ranked._replace(scores=scores).taken(kept, scores.shape[1])


class _Number(NamedTuple):
    """A number, or a date as days since 1970."""

    value: float
    is_date: bool

    @classmethod
    def of(cls, value: object) -> _Number | None:
        """Return a number or an ISO date, else None."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return cls(float(value), False) if abs(value) < float("inf") else None
        days = _core.date_days(value) if isinstance(value, str) else None
        return None if days is None else cls(days, True)


def _value(metadata: Metadata, boost: Boost, reference: _Number | None) -> float:
    """Return the value that a boost reads of a passage, NaN if it has none of the reference's kind."""
    found = _Number.of(_found(metadata, boost["field"]))
    if found is None or reference is None or found.is_date != reference.is_date:
        return float("nan")
    return found.value


def _found(metadata: Metadata, path: str) -> object:
    """Look up a value by its name, or by names joined by dots; None if it is missing."""
    if path in metadata:
        return metadata[path]
    value: object = metadata
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = cast("Mapping[str, object]", value)[name]
    return value


def checked_boosts(given: Boost | Sequence[Boost]) -> list[Boost]:
    """Return boosts with valid values, one alone as a list."""
    boosts = [given] if isinstance(given, Mapping) else list(given)
    for boost in boosts:
        if not isinstance(boost, Mapping) or set(boost) != BOOST_NAMES:
            raise ValueError(
                f"a boost has field, weight, reference and half_life, not {boost!r:.80}"
            )
        if _Number.of(boost["reference"]) is None:
            raise ValueError(
                f"the reference of a boost is a number or a date, not {boost['reference']!r}"
            )
        if not boost["half_life"] > 0 or not abs(boost["weight"]) < float("inf"):
            raise ValueError("a boost has a finite weight, and half_life is more than 0")
    return boosts


# ------------------------------------------------------------------------------------------------------ what stays, and where


def reaching(ranked: Ranked, min_score: float) -> Ranked:
    """Return the answers without passages below min_score."""
    kept = [
        np.flatnonzero((rows >= 0) & (scores >= min_score))
        for rows, scores in zip(ranked.rows, ranked.scores, strict=True)
    ]
    return ranked.taken(kept, ranked.rows.shape[1])


def diverse(base: SearchedRows, question: Question, ranked: Ranked) -> Ranked:
    """Return the answers by maximal marginal relevance.

    Relevance is the score scaled to 0…1 among the candidates, similarity the cosine to the most
    similar passage chosen before.
    """
    if not base.has_vectors:
        raise ValueError(f"{base.path} has no vectors, which diversity= compares")
    kept = [
        _spread(base, question, rows, scores)
        for rows, scores in zip(ranked.rows, ranked.scores, strict=True)
    ]
    return ranked.taken(kept, question.wanted)


def _spread(
    base: SearchedRows, question: Question, rows: Int64s, scores: NDArray[np.float64]
) -> NDArray[np.intp]:
    rows, share = rows[rows >= 0], question.diversity
    if not len(rows):
        return np.empty(0, np.intp)
    known = base.looked_at("vectors", rows, question.notes)
    vectors = np.array([known[row] for row in rows.tolist()], np.float64)
    return _core.diverse(scores[: len(rows)].copy(), vectors, question.wanted, share)
