"""Fusion of a file's legs the slow way, a question at a time in Python: the oracle of what the core does for whole batches.

It asks the file for its legs in full, gives every row of their union both exact scores, and ranks with the formulas of
ragfile/search/fusion.py.
"""

import numpy as np
from oracles import evidence

from ragfile.file import exact_retrievers
from ragfile.search import fusion


def legs(rf, text, vector, depth, where=None):
    """((rows, scores) by words, (rows, scores) by vector), without what fills them up."""
    found = rf.match([text], depth, where=where), rf.nearest(vector[None], depth, where=where)
    return [(rows[0][rows[0] >= 0], scores[0][rows[0] >= 0]) for rows, scores in found]


def fused(rf, text, vector, k, pool, method, parameter, where=None, share=None):
    """[(row, score, bm25, vector score)] of the k best, by the share of evidence that the file records."""
    words, dense = legs(rf, text, vector, min(max(k, pool), len(rf)), where)
    rows = np.array(list(dict.fromkeys([*words[0].tolist(), *dense[0].tolist()])), np.int64)
    ties = _ties(rf, rows)
    bm25, near = rf.score(rows, text=text), rf.score(rows, vector=vector)
    if method == "calibrated":
        mean, deviation = rf.rows.sample_statistics(vector)
        known = np.where(np.isnan(near), np.float32(mean), near)
        order, scores = fusion.calibrated(
            ties, bm25, known, mean=mean, deviation=deviation, w=parameter
        )
    else:
        place = dict(zip(rows.tolist(), ties.tolist(), strict=True))
        ranked = [([place[row] for row in leg.tolist()], scores) for leg, scores in (dense, words)]
        if method == "rrf":
            order, scores = fusion.rrf(ranked, parameter)
        else:
            order, scores = fusion.blend(ranked, fusion.alpha_weights(parameter))
    at = {tie: i for i, tie in enumerate(ties.tolist())}
    ranked = [(at[tie], score) for tie, score in zip(order.tolist(), scores.tolist(), strict=True)]
    if share is None:
        share = rf.rows.fusion_method.evidence if method == "calibrated" else 0
    if share:
        ranked = evidence.raised(
            ranked, lambda i: rf.hit(int(rows[i])).doc_id, lambda i: ties[i], share
        )
    return [(int(rows[i]), score, float(bm25[i]), float(near[i])) for i, score in ranked[:k]]


def _ties(rf, rows):
    """What ties go by: the place of each row's key among all."""
    by_key = sorted(
        range(len(rows)), key=lambda at: exact_retrievers.key(rf.rows.segments, rows[at])
    )
    ties = np.empty(len(rows), dtype=np.int64)
    ties[by_key] = np.arange(len(rows))
    return ties


def merge(segments, found, scores, k):
    """The k best of [m, segment, k] rows of the file, by score and then by key."""
    many = len(found)
    rows, best = np.full((many, k), -1, np.int64), np.full((many, k), -np.inf, np.float32)
    for query in range(many):
        pairs = zip(
            found[query].reshape(-1).tolist(), scores[query].reshape(-1).tolist(), strict=True
        )
        ranked = sorted(((-s, exact_retrievers.key(segments, r), r) for r, s in pairs if r >= 0))[
            :k
        ]
        rows[query, : len(ranked)] = [row for _, _, row in ranked]
        best[query, : len(ranked)] = [-score for score, _, _ in ranked]
    return rows, best
