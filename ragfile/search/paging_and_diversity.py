"""What a question can ask of its ranking, after fusion and before the cut, in this order:

    boosts    score + sum of weight * 0.5 ** (|value - reference| / half_life)
    min_score passages that score less are left out
    drop_repeats  passages that nearly repeat a better one are left out
    diversity each place goes to the passage with the most of (1 - d) * relevance - d * likeness
    page      the places from `offset` on

All of it looks at the candidates that the retrievers proposed; drop_repeats asks them for more where it must. Equal scores keep their order.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ragfile.search import fusion

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.search.question import Notes, Question
    from ragfile.search.retriever_fusion import Ranked
    from ragfile.search.rows import SearchedRows
    from ragfile.types import Int64s

DAY = 86400.0


def refined(base: SearchedRows, question: Question, ranked: Ranked) -> Ranked:
    """The answers as the question wants them: its places, and no others. What repeats is left out in
    search/repeats.py, between the two steps.
    """
    if question.is_whole:
        return ranked
    return placed(base, question, raised(base, question, ranked))


def raised(base: SearchedRows, question: Question, ranked: Ranked) -> Ranked:
    """All candidates with their boosts, without those that score too little."""
    if question.boost:
        ranked = boosted(base, ranked, question.boost, question.notes)
    if question.min_score is not None:
        ranked = reaching(ranked, question.min_score)
    return ranked


def placed(base: SearchedRows, question: Question, ranked: Ranked) -> Ranked:
    """The page of the question, spread out if it wants that."""
    if question.diversity:
        ranked = diverse(base, question, ranked)
    return ranked.page(question.offset, question.k)


# ---------------------------------------------------------------------------------------------------------------- boosts


def boosted(base: SearchedRows, ranked: Ranked, boosts: Any, notes: Notes) -> Ranked:
    """Scores raised by what the passages' metadata say, and ranked anew."""
    scores, found = ranked.scores.copy(), ranked.rows >= 0
    known = base.looked_at("metadata", np.unique(ranked.rows[found]), notes)
    for at in zip(*np.nonzero(found), strict=True):
        metadata = known[int(ranked.rows[at])]
        scores[at] += sum(_gain(boost, metadata) for boost in boosts)
    order = np.argsort(-scores, axis=1, kind="stable")
    return ranked._replace(scores=scores).taken(list(order), scores.shape[1])


def _gain(boost, metadata):
    value, reference = _number(_found(metadata, boost["field"])), _number(boost["reference"])
    if value is None or reference is None or value[1] != reference[1]:
        return 0.0
    return boost["weight"] * 0.5 ** (abs(value[0] - reference[0]) / boost["half_life"])


def _found(metadata, path):
    """The value under a name, or under names that dots join."""
    if path in metadata:
        return metadata[path]
    for name in path.split("."):
        if not isinstance(metadata, Mapping) or name not in metadata:
            return None
        metadata = metadata[name]
    return metadata


def _number(value):
    """(the number, whether it is a date in days), or None."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (float(value), False) if abs(value) < float("inf") else None
    if not isinstance(value, str):
        return None
    try:
        when = datetime.datetime.fromisoformat(value)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=datetime.UTC)
    return when.timestamp() / DAY, True


def checked_boosts(given: Any) -> list[Any]:
    """Boosts with numbers in them; one alone can stand for a list."""
    given = [given] if isinstance(given, Mapping) else list(given)
    for boost in given:
        if not isinstance(boost, Mapping) or set(boost) != {
            "field",
            "weight",
            "reference",
            "half_life",
        }:
            raise ValueError(
                f"a boost has field, weight, reference and half_life, not {boost!r:.80}"
            )
        if _number(boost["reference"]) is None:
            raise ValueError(
                f"the reference of a boost is a number or a date, not {boost['reference']!r}"
            )
        if not boost["half_life"] > 0 or not abs(boost["weight"]) < float("inf"):
            raise ValueError("a boost has a finite weight, and half_life is more than 0")
    return given


# ------------------------------------------------------------------------------------------------------ what stays, and where


def reaching(ranked: Ranked, min_score: float) -> Ranked:
    """Without the passages that score less; they stand at the end."""
    kept = [
        np.flatnonzero((rows >= 0) & (scores >= min_score))
        for rows, scores in zip(ranked.rows, ranked.scores, strict=True)
    ]
    return ranked.taken(kept, ranked.rows.shape[1])


def diverse(base: SearchedRows, question: Question, ranked: Ranked) -> Ranked:
    """Maximal marginal relevance: relevance is the score brought to 0…1 among the candidates, likeness the cosine to
    the most similar passage that has a place."""
    if not base.has_vectors:
        raise ValueError(f"{base.path} has no vectors, which diversity compares")
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
    units = _units(np.array([known[row] for row in rows.tolist()], np.float64))
    relevance = (1 - share) * fusion.unit_range(scores[: len(rows)])
    likeness, is_left, chosen = np.zeros(len(rows)), np.ones(len(rows), bool), []
    for _ in range(min(question.wanted, len(rows))):
        gain = np.where(is_left, relevance - share * likeness, -np.inf)
        chosen.append(best := int(np.argmax(gain)))
        is_left[best] = False
        near = units @ units[best]
        likeness = near if len(chosen) == 1 else np.maximum(likeness, near)
    return np.array(chosen, np.intp)


def _units(vectors):
    """Vectors of length 1; zeros for one without a direction."""
    with np.errstate(all="ignore"):
        found = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(np.isfinite(found).all(axis=1, keepdims=True), found, 0.0)
