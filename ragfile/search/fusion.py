"""Fusion of several ranked lists into one.

The array functions take rows (integers, which decide ties) and return (rows, scores), best first:

    rrf(rankings, k=60)                    Σ 1 / (k + rank), ranks from 1; raw scores do not matter
    blend(rankings, weights)               Σ weight · score, each ranking scaled to 0…1 by its min and max
    calibrated(rows, bm25, dense, ...)     bm25 / max(bm25) + z(dense) / w, from both exact scores of each row

A ranking is (rows, scores) without duplicate rows. All sums are in binary64, in the order of the rankings, so the
same input gives the same bits on every machine; the core adds them up (csrc/fusion/ranked_lists.c). `fuse` does the same for lists of Candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ragfile import _core
from ragfile.records import Candidate, Hit
from ragfile.types import Fields, Float32s, FuseMethod

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ragfile.types import Int64s

RRF_K = 60
PARAMETERS = {  # those of a search
    "rrf": {"rrf_k", "sparse"}, "blend": {"alpha", "sparse"},
    "calibrated": {"w", "evidence", "known", "named", "foreign", "linked", "sparse"},
}  # fmt: skip
Fused: TypeAlias = "tuple[Int64s, NDArray[np.float64]]"


class Ranking(NamedTuple):
    """The rows that one retriever found, best first, with their scores."""

    rows: Sequence[int]
    scores: Sequence[float]


def check(method: str, params: Mapping[str, object]) -> None:
    """Refuse an unknown method or parameter."""
    if method not in PARAMETERS:
        raise ValueError(f"unknown fusion {method!r}: use calibrated, rrf or blend")
    unknown = sorted(params.keys() - PARAMETERS[method])
    if unknown:
        raise ValueError(
            f"fusion {method} has no parameter {unknown[0]!r}, only "
            f"{' and '.join(sorted(PARAMETERS[method]))}"
        )


def check_value(method: str, value: float) -> None:
    """Refuse a parameter's value outside its method's bounds."""
    if method == "calibrated" and not value > 0:
        raise ValueError(f"w must be positive, not {value}")
    if method == "rrf" and not value >= 0:
        raise ValueError(f"rrf_k must not be negative, not {value}")
    if method == "blend":
        alpha_weights(value)


def check_share(name: str, share: float) -> None:
    """Refuse a share, such as that of evidence, outside its bounds."""
    if not 0 <= share <= 1:
        raise ValueError(f"{name} must be between 0 and 1, not {share}")


def check_sparse(weight: float) -> None:
    """Refuse a weight of the sparse retriever that is negative or not finite."""
    if not 0 <= weight < float("inf"):
        raise ValueError(f"sparse must not be negative, not {weight}")


def alpha_weights(alpha: float) -> tuple[float, float]:
    """Return the weights of a vector and a lexical ranking."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must be between 0 and 1, not {alpha}")
    return alpha, 1 - alpha


def rrf(rankings: Sequence[tuple[Sequence[int], object]], k: float = RRF_K) -> Fused:
    """Return reciprocal rank fusion of (rows, scores) in rank order; scores are ignored."""
    check_value("rrf", k)
    return _core.fuse_lists([_rows_of(rows) for rows, *_ in rankings], None, None, k)


def blend(
    rankings: Sequence[tuple[Sequence[int], Sequence[float] | Float32s]], weights: Sequence[float]
) -> Fused:
    """Return the weighted sum of min–max scores. Equal scores count 1.0, missing rows 0."""
    if len(weights) != len(rankings):
        raise ValueError(f"{len(rankings)} lists need as many weights, not {len(weights)}")
    rows = [_rows_of(rows) for rows, _ in rankings]
    scores = [_finite(scores) for _, scores in rankings]
    return _core.fuse_lists(rows, scores, list(weights), 0)


def _rows_of(rows: Sequence[int]) -> Int64s:
    return np.ascontiguousarray(rows, dtype=np.int64)


def calibrated(
    rows: ArrayLike, bm25: ArrayLike, dense: ArrayLike, *, mean: float, deviation: float, w: float
) -> Fused:
    """Return lexical scores as a share of the best, plus dense scores in deviations of a sample's.

    `mean` and `deviation` are those of the query's scores over the collection's sample. `w` deviations
    weigh as much as the best lexical match: 6 for static models, 4 for transformers.
    """
    words, near = _finite(bm25), _finite(dense)
    check_value("calibrated", w)
    best = words.max(initial=0.0)
    lexical = words / best if best > 0 else np.zeros(len(words))
    z = (near - mean) / deviation if deviation > 0 else np.zeros(len(near))
    return _best_first(np.asarray(rows, dtype=np.int64), lexical + z / w)


def _finite(scores: ArrayLike) -> NDArray[np.float64]:
    found = np.ascontiguousarray(scores, dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError("scores must be finite numbers")
    return found


def _best_first(rows: Int64s, scores: NDArray[np.float64]) -> Fused:
    order = np.lexsort((rows, -scores))
    return rows[order], scores[order]


def fuse(
    candidate_sets: Iterable[Iterable[Candidate | Hit | Fields]], method: FuseMethod = "rrf",
    params: Mapping[str, Any] | None = None,
) -> list[Candidate]:  # fmt: skip
    """Fuse several lists of candidates into one.

        fused = ragfile.fuse([vector_hits, keyword_hits], "blend", {"alpha": 0.7})

    Args:
        candidate_sets: Lists of candidates, hits or mappings, each best first. Repeated chunks in one
            list are ignored.
        method: "rrf" (reciprocal ranks), "blend" or its alias "weighted" (weighted sum of scores scaled
            to 0…1), or "calibrated" (see docs/concepts).
        params: Parameters of the method.
            rrf: `rrf_k` (60).
            blend: `alpha` (0.5), the weight of the first of two lists, [vector, lexical]; or `weights`,
                one per list.
            weighted: `vector_weight` (0.5), as `alpha`.
            calibrated: `mean`, `deviation` and `w`, for [vector, lexical]. Every candidate needs a vector
                score; a missing lexical score is 0.
            All methods: `limit`, the maximum number of results (default: no limit).

    Returns:
        Candidates with their fused scores, best first, ties by (doc_id, chunk_index).

    Raises:
        ValueError: The method, a parameter or a score is invalid, or the lists do not fit the method.
    """
    params = dict(params or {})
    limit = params.pop("limit", None)
    if "k" in params:
        raise ValueError(
            "params has no 'k': rrf_k is the constant of reciprocal ranks, "
            "limit is the number of results"
        )
    if method not in _METHODS:
        raise ValueError(
            f"unknown fusion method {method!r}: use one of {', '.join(sorted(_METHODS))}"
        )
    ranked = [_without_repeats(candidates) for candidates in candidate_sets]
    first: dict[tuple[str, int], Candidate] = {}
    for candidates in ranked:
        for candidate in candidates:
            first.setdefault(candidate.key, candidate)
    keys = sorted(first)
    row = {key: i for i, key in enumerate(keys)}
    rankings = [
        Ranking([row[c.key] for c in candidates], [c.score for c in candidates])
        for candidates in ranked
    ]
    rows, scores = _METHODS[method](rankings, **params)
    return [
        first[keys[r]].scored(s)
        for r, s in zip(rows[:limit].tolist(), scores[:limit].tolist(), strict=True)
    ]


def _without_repeats(candidates: Iterable[Candidate | Hit | Fields]) -> list[Candidate]:
    seen: dict[tuple[str, int], Candidate] = {}
    for candidate in map(Candidate.of, candidates):
        seen.setdefault(candidate.key, candidate)
    return list(seen.values())


def _fuse_rrf(rankings: Sequence[Ranking], rrf_k: float = RRF_K) -> Fused:
    return rrf(rankings, rrf_k)


def _fuse_blend(
    rankings: Sequence[Ranking], alpha: float = 0.5, weights: Sequence[float] | None = None
) -> Fused:
    if weights is None:
        weights = alpha_weights(alpha)
        if len(rankings) != 2:
            raise ValueError(
                f"alpha blends a vector and a lexical list; {len(rankings)} lists need weights"
            )
    return blend(rankings, weights)


def _fuse_weighted(rankings: Sequence[Ranking], vector_weight: float = 0.5) -> Fused:
    return _fuse_blend(rankings, alpha=vector_weight)


def _fuse_calibrated(
    rankings: Sequence[Ranking], *, mean: float, deviation: float, w: float
) -> Fused:
    if len(rankings) != 2:
        raise ValueError(f"calibrated fuses a vector and a lexical list, not {len(rankings)} lists")
    dense, lexical = (dict(zip(rows, scores, strict=True)) for rows, scores in rankings)
    if lexical.keys() - dense.keys():
        raise ValueError("calibrated needs the vector score of every candidate")
    rows = sorted(dense)
    bm25 = [lexical.get(r, 0.0) for r in rows]
    return calibrated(rows, bm25, [dense[r] for r in rows], mean=mean, deviation=deviation, w=w)


_METHODS: dict[str, Callable[..., Fused]] = {
    "rrf": _fuse_rrf,
    "blend": _fuse_blend,
    "weighted": _fuse_weighted,
    "calibrated": _fuse_calibrated,
}
