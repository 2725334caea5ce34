"""Several ranked lists made into one.

The array functions take rows (integers whose order decides ties) and give (rows, scores), best first:

    rrf(legs, k=60)                        Σ 1 / (k + rank), ranks from 1; raw scores do not matter
    blend(legs, weights)                   Σ weight · score, each leg brought to 0…1 by its min and max
    calibrated(rows, bm25, dense, ...)     bm25 / max(bm25) + z(dense) / w, from both exact scores of each row

A leg is (rows, scores), a row at most once. Everything is binary64 and added in the order of the legs, so
that the same input gives the same bits anywhere. `fuse` does the same on lists of Candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ragfile.records import Candidate, Hit
from ragfile.types import Fields, FuseMethod

RRF_K = 60
PARAMETERS = {
    "rrf": {"rrf_k"},
    "blend": {"alpha"},
    "calibrated": {"w"},
}  # what a search may say of each method


def check(method, params):
    """Refuses a method or a parameter that a search does not know: a misspelt one would change nothing and say nothing."""
    if method not in PARAMETERS:
        raise ValueError(f"unknown fusion {method!r}: use calibrated, rrf or blend")
    unknown = sorted(params.keys() - PARAMETERS[method])
    if unknown:
        raise ValueError(
            f"fusion {method} has no parameter {unknown[0]!r}, only {', '.join(PARAMETERS[method])}"
        )


def check_value(method, value):
    """Refuses a parameter that its method has no use for."""
    if method == "calibrated" and not value > 0:
        raise ValueError(f"w must be positive, not {value}")
    if method == "rrf" and not value >= 0:
        raise ValueError(f"rrf_k must not be negative, not {value}")
    if method == "blend":
        alpha_weights(value)


def alpha_weights(alpha):
    """The weights of a vector and a lexical list."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha lies between 0 and 1, not {alpha}")
    return alpha, 1 - alpha


def rrf(legs, k=RRF_K):
    """Reciprocal rank fusion. The legs' rows are in rank order; their scores are not looked at."""
    check_value("rrf", k)
    return _sum_parts(
        [(rows, 1.0 / (k + np.arange(1, len(rows) + 1, dtype=np.float64))) for rows, *_ in legs]
    )


def blend(legs, weights):
    """Weighted sum of min–max scores.

    A leg whose scores are all equal counts 1.0, a row it does not have 0.
    """
    if len(weights) != len(legs):
        raise ValueError(f"{len(legs)} lists need as many weights, not {len(weights)}")
    return _sum_parts(
        [(rows, w * unit_range(scores)) for (rows, scores), w in zip(legs, weights, strict=True)]
    )


def calibrated(rows, bm25, dense, *, mean, deviation, w):
    """Lexical evidence as a share of the best, dense evidence in deviations of a sample's scores.

    `mean` and `deviation` are those of the query's scores over the collection's sample. w says how
    many deviations weigh as much as the best lexical match: 6 for static models, 4 for transformers.
    """
    bm25, dense = _finite(bm25), _finite(dense)
    check_value("calibrated", w)
    best = bm25.max(initial=0.0)
    lexical = bm25 / best if best > 0 else np.zeros(len(bm25))
    z = (dense - mean) / deviation if deviation > 0 else np.zeros(len(dense))
    return _best_first(np.asarray(rows, dtype=np.int64), lexical + z / w)


def unit_range(scores):
    """Scores brought to 0…1; equal ones become 1.0."""
    scores = _finite(scores)
    if not len(scores):
        return scores
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.ones(len(scores))


def _finite(scores):
    scores = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite numbers")
    return scores


def _sum_parts(parts):
    if not parts:
        return np.empty(0, dtype=np.int64), np.empty(0)
    legs = [np.asarray(rows, dtype=np.int64) for rows, _ in parts]
    union = np.unique(np.concatenate(legs))
    total = np.zeros(len(union))
    for rows, (_, scores) in zip(legs, parts, strict=True):
        if len(np.unique(rows)) != len(rows):
            raise ValueError("a list to be fused holds a row twice")
        total[np.searchsorted(union, rows)] += scores
    return _best_first(union, total)


def _best_first(rows, scores):
    order = np.lexsort((rows, -scores))
    return rows[order], scores[order]


def fuse(
    candidate_sets: Iterable[Iterable[Candidate | Hit | Fields]], method: FuseMethod = "rrf",
    params: Mapping[str, Any] | None = None,
) -> list[Candidate]:  # fmt: skip
    """One list from several lists of Candidate, each best first; a second copy of a chunk in one is ignored.

    rrf          params: rrf_k (60)
    blend        params: alpha (0.5) for [vector, lexical] sets, or weights, one per set
    weighted     the same under its other name: vector_weight (0.5)
    calibrated   [vector, lexical] sets; params: mean, deviation, w. Every candidate needs a vector score; a
                 missing lexical one is 0, as BM25 gives to a text without the query's words

    Every method takes limit, how many to return (all). `k` is refused: elsewhere it is the constant of
    reciprocal ranks, or a number of results.
    """
    params = dict(params or {})
    limit = params.pop("limit", None)
    if "k" in params:
        raise ValueError(
            "params has no 'k': rrf_k is the constant of reciprocal ranks, "
            "limit is how many to return"
        )
    if method not in _METHODS:
        raise ValueError(
            f"unknown fusion method {method!r}: use one of {', '.join(sorted(_METHODS))}"
        )
    ranked = [_distinct(candidates) for candidates in candidate_sets]
    first = {}
    for candidates in ranked:
        for candidate in candidates:
            first.setdefault(candidate.key, candidate)
    keys = sorted(first)
    row = {key: i for i, key in enumerate(keys)}
    legs = [
        ([row[c.key] for c in candidates], [c.score for c in candidates]) for candidates in ranked
    ]
    rows, scores = _METHODS[method](legs, **params)
    return [
        first[keys[r]].scored(s)
        for r, s in zip(rows[:limit].tolist(), scores[:limit].tolist(), strict=True)
    ]


def _distinct(candidates):
    seen = {}
    for candidate in map(Candidate.of, candidates):
        seen.setdefault(candidate.key, candidate)
    return list(seen.values())


def _fuse_rrf(legs, rrf_k=RRF_K):
    return rrf(legs, rrf_k)


def _fuse_blend(legs, alpha=0.5, weights=None):
    if weights is None:
        weights = alpha_weights(alpha)
        if len(legs) != 2:
            raise ValueError(
                f"alpha blends a vector and a lexical list; {len(legs)} lists need weights"
            )
    return blend(legs, weights)


def _fuse_weighted(legs, vector_weight=0.5):
    return _fuse_blend(legs, alpha=vector_weight)


def _fuse_calibrated(legs, *, mean, deviation, w):
    if len(legs) != 2:
        raise ValueError(f"calibrated fuses a vector and a lexical list, not {len(legs)} lists")
    dense, lexical = (dict(zip(rows, scores, strict=True)) for rows, scores in legs)
    if lexical.keys() - dense.keys():
        raise ValueError("calibrated needs the vector score of every candidate")
    rows = sorted(dense)
    bm25 = [lexical.get(r, 0.0) for r in rows]
    return calibrated(rows, bm25, [dense[r] for r in rows], mean=mean, deviation=deviation, w=w)


_METHODS = {
    "rrf": _fuse_rrf,
    "blend": _fuse_blend,
    "weighted": _fuse_weighted,
    "calibrated": _fuse_calibrated,
}
