"""What the two legs of a search propose, made one answer: the middle of searching.

    words ─ their vectors' scores ─ the least that a further row's vector must score ─ near rows ─ union ─ fusion ─ cut

Words come first, for they cost least, and under calibrated fusion they say what the vector leg need not look for: k rows
with both scores are known then, and a row that no word brought in would have to beat them by its vector alone (see
fusion.least_dense). The answer is that of both legs in full, to the bit; the vector scan is two to three times faster.
"""

import numpy as np

from . import fusion, legs, reranking


class Asking:
    """One call's questions, and how their legs are put together. `vectors` and `lexical` say which legs there are."""

    def __init__(self, base, queries, vectors, lexical, chosen, k, distinct):
        self.base, self.queries, self.vectors, self.k, self.distinct = base, queries, vectors, k, distinct
        recorded = base.config.get("fusion") or {}
        method, params = chosen if isinstance(chosen, tuple) else (chosen, {})
        self.method, self.params = method or recorded.get("method", "calibrated"), {**recorded, **params}
        fusion.check(self.method, params)
        self.is_hybrid = vectors is not None and lexical
        self.is_calibrated = self.is_hybrid and self.method == "calibrated"
        self.weight = self.params.get("w", fusion.TRANSFORMER_WEIGHT)
        self.words = self.near = self.moments = None

    def take_words(self, leg, depth):
        """The lexical leg as (rows, scores) of arrays [question, depth]. Returns what the vector leg must reach, or None."""
        self.words = [_found(leg, i) for i in range(len(self.queries))]
        if not self.is_hybrid:
            return None
        self.near = [self.base.score(rows, vector=v) for (rows, _), v in zip(self.words, self.vectors, strict=True)]
        if not self.is_calibrated:
            return None
        self.moments = [self.base.sample_statistics(vector) for vector in self.vectors]
        self.near = [_known(scores, mean) for scores, (mean, _) in zip(self.near, self.moments, strict=True)]
        if self.distinct:
            return None  # rows behind the k best may take the places of near-duplicates
        return np.array([self._least(i, depth) for i in range(len(self.queries))], dtype=np.float32)

    def _least(self, i, depth):
        rows, bm25 = self.words[i]
        mean, deviation = self.moments[i]
        rest = float(bm25[-1]) if len(rows) == depth > 0 else 0.0
        return fusion.least_dense(
            bm25, self.near[i], rest=rest, k=self.k, mean=mean, deviation=deviation, w=self.weight
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
        ties = self._tie_order(rows)
        rows, bm25, near = rows[ties], bm25[ties], near[ties]
        if self.is_calibrated:
            mean, deviation = self.moments[i]
            places = np.arange(len(rows))
            order, scores = fusion.calibrated(places, bm25, near, mean=mean, deviation=deviation, w=self.weight)
        else:
            order, scores = self._by_rank(i, rows, (dense_rows, dense_scores))
        order, scores = self._cut(rows, order, scores)
        parts = zip(bm25[order].tolist(), near[order].tolist(), strict=True)
        return self.method, rows[order].tolist(), scores, [{"bm25": b, "vector": v} for b, v in parts]

    def _by_rank(self, i, rows, dense):
        place = {row: at for at, row in enumerate(rows.tolist())}
        ranked = [([place[row] for row in leg[0].tolist()], leg[1]) for leg in (dense, self.words[i])]
        if self.method == "rrf":
            return fusion.rrf(ranked, self.params.get("rrf_k", fusion.RRF_K))
        return fusion.blend(ranked, fusion.alpha_weights(self.params.get("alpha", 0.5)))

    def _tie_order(self, rows):
        """Where the rows are in the order of ties: their own in one segment, that of their keys in several."""
        segments = self.base._segments
        if len(segments) == 1:
            return np.argsort(rows)
        return sorted(range(len(rows)), key=lambda at: legs.key(segments, rows[at]))

    def _cut(self, rows, order, scores):
        """The k best of rows[order]; with distinct, those that do not repeat a better one."""
        if self.distinct and len(order):
            if self.base.has_vectors:
                kept = reranking.distinct_vectors(np.array([self.base.vector(row) for row in rows[order]]))
            else:
                kept = reranking.distinct_texts([self.base.chunk(row).content for row in rows[order]])
            order, scores = order[kept], scores[kept]
        return order[: self.k], scores[: self.k].tolist()


def _known(scores, unknown):
    """Scores of vectors as finite numbers: `unknown` where a row has none."""
    return np.where(np.isnan(scores), np.float32(unknown), scores)


def _found(leg, i):
    """A leg's (rows, scores) for question i, without what is left over."""
    rows, scores = leg[0][i], leg[1][i]
    count = int(np.count_nonzero(rows >= 0))
    return rows[:count], scores[:count]
