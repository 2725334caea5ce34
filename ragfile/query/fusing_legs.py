"""What the two legs of a search propose, made one answer: the middle of searching.

    words ─ their vectors' scores ─ the least that a further row's vector must score ─ near rows ─ union ─ fusion ─ cut

Words come first, for they cost least, and under calibrated fusion they say what the vector leg need not look for: k rows
with both scores are known then, and a row that no word brought in would have to beat them by its vector alone (see
fusion.least_dense). The answer is that of both legs in full, to the bit; the vector scan is two to three times faster.
"""

import numpy as np

from ragfile import _core
from ragfile.query import fusion, reranking
from ragfile.store import exact
from ragfile.store.config import TRANSFORMER_WEIGHT


class Asking:
    """One call's questions, and how their legs are put together. `vectors` and `lexical` say which legs there are."""

    def __init__(self, base, queries, vectors, lexical, chosen, k, distinct):
        self.base, self.queries, self.vectors, self.k, self.distinct = (
            base,
            queries,
            vectors,
            k,
            distinct,
        )
        recorded = base.config.get("fusion") or {}
        method, params = chosen if isinstance(chosen, tuple) else (chosen, {})
        self.method, self.params = (
            method or recorded.get("method", "calibrated"),
            {**recorded, **params},
        )
        fusion.check(self.method, params)
        self.is_hybrid = vectors is not None and lexical
        self.is_calibrated = self.is_hybrid and self.method == "calibrated"
        self.words = self.near = self.scales = None

    def take_words(self, leg, depth):
        """The lexical leg as (rows, scores) of arrays [question, depth]. Returns what the vector leg must reach, or None."""
        self.words = [_found(leg, i) for i in range(len(self.queries))]
        if not self.is_hybrid:
            return None
        self.near = [
            self.base.score(rows, vector=v)
            for (rows, _), v in zip(self.words, self.vectors, strict=True)
        ]
        if not self.is_calibrated:
            return None
        moments = [self.base.sample_statistics(vector) for vector in self.vectors]
        weight = self.params.get("w", TRANSFORMER_WEIGHT)
        self.scales = [_core.Calibration(mean, deviation, weight) for mean, deviation in moments]
        self.near = [
            _known(scores, mean) for scores, (mean, _) in zip(self.near, moments, strict=True)
        ]
        if self.distinct:
            return None  # rows behind the k best may take the places of near-duplicates
        return np.array([self._least(i, depth) for i in range(len(self.queries))], dtype=np.float32)

    def _least(self, i, depth):
        """For question i: a leg that is full leaves out rows with as much as its last one has, any other only rows with nothing."""
        rows, bm25 = self.words[i]
        return self.scales[i].least(
            bm25, self.near[i], self.k, bm25[-1] if len(rows) == depth > 0 else 0.0
        )

    def answer(self, i, dense):
        """(score type, rows, scores, scores by leg) of question i, given the vector leg or None."""
        dense = None if dense is None else _found(dense, i)
        if self.is_hybrid:
            return self._fused(i, *dense)
        if dense is None and self.words is None:
            return "none", [], [], []
        name, (rows, scores) = ("bm25", self.words[i]) if dense is None else ("vector", dense)
        order, scores = self._cut(rows, np.arange(len(rows)), scores)
        return name, rows[order].tolist(), scores, [{name: score} for score in scores]

    def _fused(self, i, dense_rows, dense_scores):
        """The union of both legs, each row with both exact scores, ranked."""
        rows, bm25 = self.words[i]
        known = set(rows.tolist())
        new = np.array([row not in known for row in dense_rows.tolist()], dtype=bool)
        added = dense_rows[new]
        if len(added):
            rows = np.concatenate([rows, added])
            bm25 = np.concatenate([bm25, self.base.score(added, text=self.queries[i])])
        near = np.concatenate([self.near[i], dense_scores[new]])
        ties = self._ties(rows)
        if self.is_calibrated:
            order, scores = self.scales[i].rank(ties, bm25, near)
        else:
            order, scores = self._by_rank(i, rows, ties, (dense_rows, dense_scores))
        order, scores = self._cut(rows, order, scores)
        parts = zip(bm25[order].tolist(), near[order].tolist(), strict=True)
        return (
            self.method,
            rows[order].tolist(),
            scores,
            [{"bm25": b, "vector": v} for b, v in parts],
        )

    def _by_rank(self, i, rows, ties, dense):
        """The same by the methods that look at the legs alone."""
        tie = dict(zip(rows.tolist(), ties.tolist(), strict=True))
        ranked = [([tie[row] for row in leg[0].tolist()], leg[1]) for leg in (dense, self.words[i])]
        if self.method == "rrf":
            found, scores = fusion.rrf(ranked, self.params.get("rrf_k", fusion.RRF_K))
        else:
            found, scores = fusion.blend(
                ranked, fusion.alpha_weights(self.params.get("alpha", 0.5))
            )
        return np.argsort(ties)[np.searchsorted(np.sort(ties), found)], scores

    def _ties(self, rows):
        """What ties go by: the rows themselves in one segment, the order of their keys in several."""
        segments = self.base.segments
        if len(segments) == 1:
            return rows
        ties = np.empty(len(rows), dtype=np.int64)
        ties[sorted(range(len(rows)), key=lambda at: exact.key(segments, rows[at]))] = np.arange(
            len(rows)
        )
        return ties

    def _cut(self, rows, order, scores):
        """The k best of rows[order]; with distinct, those that do not repeat a better one."""
        if self.distinct and len(order):
            if self.base.has_vectors:
                kept = reranking.distinct_vectors(
                    np.array([self.base.vector(row) for row in rows[order]])
                )
            else:
                kept = reranking.distinct_texts(
                    [self.base.chunk(row).content for row in rows[order]]
                )
            order, scores = order[kept], scores[kept]
        return order[: self.k], scores[: self.k].tolist()


def _known(scores, unknown):
    """Scores of vectors as finite numbers: `unknown` where a row has none."""
    missing = np.isnan(scores)
    return np.where(missing, np.float32(unknown), scores) if missing.any() else scores


def _found(leg, i):
    """A leg's (rows, scores) for question i, without what is left over."""
    rows, scores = leg[0][i], leg[1][i]
    count = int(np.count_nonzero(rows >= 0))
    return rows[:count], scores[:count]
