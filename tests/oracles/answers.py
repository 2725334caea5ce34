"""Every question to a file answered slowly from its rows, by parts 5 and 6 of the specification: no index, no bounds, no batches.

Scores are what the specification defines, to the bit.
"""

import math

import numpy as np
from oracles import evidence
from oracles.decoded import reader
from oracles.filters import passes
from oracles.vectors import canonical_scores

SAMPLE = 1024


def ln(x):
    """L.2: by the four basic operations alone."""
    m, e = math.frexp(x)
    if m < math.sqrt(0.5):
        m, e = 2 * m, e - 1
    z, total = (m - 1) / (m + 1), 0.0
    for n in range(23, 0, -2):
        total = total * (z * z) + 1 / n
    return 2 * z * total + e * math.log(2)


def ranked(scores, rows):
    """[(row, score)], best first, equal ones by key. scores are by row number."""
    chosen = [(row, scores[row.number]) for row in rows if row.number in scores]
    return sorted(chosen, key=lambda pair: (-pair[1], pair[0].key))


class Answers:
    """The answers of one commit. `terms` makes of a text what the index makes of it."""

    def __init__(self, decoded, terms, metric):
        self.file, self.terms, self.metric = decoded, terms, metric
        self._weighed, self._near = {}, {}

    # ------------------------------------------------------------------------------------------ rows --

    def passing(self, where=None, tags_any=(), tags_all=(), without=None):
        """The live rows that pass: where is a condition, or ids, row numbers or a bool for each row."""
        return [
            row for row in self.file.live
            if self._fits(row, where) and row.number != without
            and (not tags_any or set(tags_any) & set(row.tags)) and set(tags_all) <= set(row.tags)
        ]  # fmt: skip

    def _fits(self, row, where):
        if where is None or isinstance(where, dict):
            return where is None or passes(where, row.labels)
        if isinstance(where, np.ndarray) and where.dtype == bool:
            return bool(where[row.number])
        return any(one in (row.id, row.doc_id, row.number) for one in where)

    # ---------------------------------------------------------------------------------------- scores --

    def _words(self, fields):
        key = tuple(sorted((fields or {}).items()))
        if key not in self._weighed:
            self._weighed[key] = self.file.weighed(fields or None)
        return self._weighed[key]

    def bm25(self, text, k1=None, b=None, fields=None):
        """{row: score} of the rows with a word of the text (L.2, L.7)."""
        asked, (lengths, lists) = self.terms(text), self._words(fields)
        k1 = self.file.parameters[0] if k1 is None else k1
        b = self.file.parameters[1] if b is None else b
        rows, total = len(lengths), sum(lengths.values())
        average, sums = total / rows if total else 1.0, {}
        for term in dict.fromkeys(asked):
            holders = lists.get(term, {})
            weight = asked.count(term) * ln(1 + (rows - len(holders) + 0.5) / (len(holders) + 0.5))
            for row, tf in holders.items():
                norm = k1 * (1 - b) + (k1 * b / average) * lengths[row]
                sums[row] = sums.get(row, 0.0) + weight * (tf / (tf + norm))
        return {row: np.float32(score) for row, score in sums.items()}

    def near(self, vector):
        """{row: score} of the live rows with a vector, by the canonical score."""
        key = np.asarray(vector, np.float32).tobytes()
        if key not in self._near:
            rows = [row for row in self.file.live if row.vector is not None]
            scores = canonical_scores(vector, [r.vector for r in rows], self.metric) if rows else []
            self._near[key] = {
                row.number: score for row, score in zip(rows, scores, strict=True) if score == score
            }
        return self._near[key]

    # -------------------------------------------------------------------------------------- the sample --

    def sample(self):
        """6.3: the rows with a vector and the smallest hashes of their keys."""
        hashed = [
            (reader.xxh3(row.key[0] + row.index.to_bytes(4, "little")), row.number)
            for row in self.file.live if row.vector is not None
        ]  # fmt: skip
        return [row for _, row in sorted(hashed)[:SAMPLE]]

    def moments(self, vector):
        """(mean, deviation) of a question's scores over the sample."""
        near = self.near(vector)
        values = [float(near[row]) for row in self.sample() if row in near]
        if not values:
            return 0.0, 0.0
        mean = math.fsum(values) / len(values)
        squares = [(value - mean) * (value - mean) for value in values]
        return mean, math.sqrt(math.fsum(squares) / len(values))

    # ---------------------------------------------------------------------------------------- fusion --

    def legs(self, text, vector, depth, rows, fields=None):
        """(by vector, by words), as deep as the retrievers go."""
        return (
            ranked(self.near(vector), rows)[:depth],
            ranked(self.bm25(text, fields=fields), rows)[:depth],
        )

    def fused(self, text, vector, depth, rows, method, parameter, fields=None, share=0.0):
        """[(row, score)] of the union of both legs, best first; `share` is that of evidence (6.3)."""
        legs = self.legs(text, vector, depth, rows, fields)
        union = {row.number: row for leg in legs for row, _ in leg}.values()
        if method == "calibrated":
            scores = self._calibrated(text, vector, union, parameter, fields)
        elif method == "rrf":
            scores = _sums(
                [[1.0 / (parameter + n) for n in range(1, len(g) + 1)] for g in legs], legs
            )
        else:
            parts = zip((parameter, 1 - parameter), map(_shares, legs), strict=True)
            scores = _sums([[weight * s for s in shares] for weight, shares in parts], legs)
        found = ranked(scores, union)
        return _raised(found, share) if share and method == "calibrated" else found

    def _calibrated(self, text, vector, union, w, fields):
        words, near = self.bm25(text, fields=fields), self.near(vector)
        mean, deviation = self.moments(vector)
        best = max((float(words.get(row.number, 0)) for row in union), default=0.0)
        scores = {}
        for row in union:
            lexical = float(words.get(row.number, 0)) / best if best > 0 else 0.0
            dense = float(near.get(row.number, np.float32(mean)))
            scores[row.number] = (
                lexical + ((dense - mean) / deviation if deviation > 0 else 0.0) / w
            )
        return scores


def _raised(found, share):
    """The ranking after further passages of a document have raised its best one."""
    rows = {row.number: row for row, _ in found}
    numbers = evidence.raised(
        [(row.number, score) for row, score in found],
        lambda number: rows[number].doc_id,
        lambda number: rows[number].key,
        share,
    )
    return [(rows[number], score) for number, score in numbers]


def _shares(leg):
    """Scores brought to 0…1, equal ones to 1."""
    scores = [float(score) for _, score in leg]
    low, high = min(scores, default=0), max(scores, default=0)
    return [(s - low) / (high - low) if high > low else 1.0 for s in scores]


def _sums(parts, legs):
    """{row: the sum of its parts over the legs that have it}."""
    total = {}
    for part, leg in zip(parts, legs, strict=True):
        for value, (row, _) in zip(part, leg, strict=True):
            total[row.number] = total.get(row.number, 0.0) + value
    return total
