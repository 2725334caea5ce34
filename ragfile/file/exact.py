"""The two exact legs over all segments of a file: nearest vectors and BM25, by row.

Each segment answers with its own k best; what they say is merged by score, and ties by (document id, chunk index), so that
a file in many segments answers as one that was built at once. Statistics are those of the live rows of the whole file.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

import numpy as np

from ragfile import _core
from ragfile.file import prefetch
from ragfile.ground.lru import Lru

if TYPE_CHECKING:
    from typing import Any

NOTHING = -np.inf
BATCH_ROWS = 1 << 20  # of all segments' answers together, before they are merged
FIRST_OF_ALL = 256  # rows; eight times as many where those were not all
QUESTIONS = 64  # whose statistics are kept


class Segments(list):
    """The segments of one commit that are asked together, and what is made of them when they are first asked."""

    def __init__(self, segments, has_vectors):
        super().__init__(segments)
        self._lexicons = self._matrices = self._parts = self._asker = None
        self._living = None
        self._has_vectors = has_vectors
        self.is_elsewhere = bool(segments) and segments[0].reader.is_elsewhere
        self._questions = Lru(QUESTIONS)

    # Without functools.cached_property: before Python 3.12 it holds a lock that a fork can leave closed.

    @property
    def living(self):
        """The rows of each segment that are not deleted, as the core takes them; None for all of them."""
        if self._living is None:
            self._living = [s.alive for s in self]
        return self._living

    @property
    def asker(self):
        """The first lexicon, which answers by itself where it is the only one."""
        if self._asker is None:
            self._asker = self[0].lexicon
        return self._asker

    @property
    def lexicons(self):
        """All lexicons as one, or None for one that can answer by itself: its statistics are those of its live rows."""
        return None if len(self) == 1 and self.living[0] is None else self.all_lexicons

    @property
    def all_lexicons(self):
        """The same where there is one, too."""
        if self._lexicons is None:
            self._lexicons = _core.Lexicons([(s.lexicon, s.alive, s.base) for s in self])
        return self._lexicons

    def attach_fields(self, path):
        """Opens the numbers that the fields of BM25 have of their own."""
        without = sum(not segment.has_fields for segment in self)
        if without:
            raise ValueError(
                f"{path} does not keep its fields apart in {without} of {len(self)} segments, which "
                "fields= needs: `ragfile compact` makes a file that does"
            )
        prefetch.fields(self)
        for segment in self:
            segment.attach_fields()

    @property
    def matrices(self):
        if self._matrices is None:
            self._matrices = [s.matrix for s in self]
        return self._matrices

    @property
    def parts(self):
        """The same for what makes one answer of several."""
        if self._parts is None:
            several, vectors = len(self) > 1, self._has_vectors
            self._parts = _core.Parts(
                [
                    (s.base, s.rows, s.records if several else None, s.matrix if vectors else None)
                    for s in self
                ]
            )
        return self._parts

    def parts_with(self, near):
        """The same where only the segments `near` have vectors."""
        matrices, several = {s.base: s.matrix for s in near}, len(self) > 1
        return _core.Parts(
            [(s.base, s.rows, s.records if several else None, matrices.get(s.base)) for s in self]
        )

    def questions(self, texts, terms=(), weights=None):
        """Texts as terms; with several segments, each with its frequency in all of them, which for the last questions is kept.
        weights are of attached fields."""
        if weights is not None:
            return self.all_lexicons.weighed(texts, terms, weights)
        lexicons = self.lexicons
        if terms:  # beside the words of the one text
            if lexicons is None:
                return self.asker.asker.queries_with(texts[0], terms)
            return lexicons.queries(texts, terms)
        if lexicons is None:
            return self.asker.queries(texts)
        if len(texts) != 1:
            return lexicons.queries(texts)
        known = self._questions.get(texts[0])
        if known is None:
            known = lexicons.queries(texts)
            self._questions.put(texts[0], known)
        return known


def nothing(count, k) -> Any:
    """Answers without a row."""
    return np.full((count, k), -1, np.int64), np.full((count, k), NOTHING, np.float32)


def nearest(segments, queries, k, sets, threads, least=None, effort=1.0, recall=None) -> Any:
    """(rows int64[m, k], scores float32[m, k]); what is left over is row -1, score -inf.

    With an effort below 1, recall (float64[m]) is set to the share of the k best that each answer has.
    """
    if len(segments) == 1:
        one = sets if isinstance(sets, _core.Filters) else sets[0]
        matrix = segments.matrices[0]
        found, scores = matrix.nearest(queries, k, one, threads, least, effort, recall)
        return numbered(segments[0], found), scores
    found, scores = _core.nearest(
        segments.matrices, queries, k, sets, threads, least, effort, recall
    )
    bases = np.array([s.base for s in segments], dtype=np.int64)[None, :, None]
    return segments.parts.merge(
        np.where(found < 0, found, found + bases), scores, k, _threads(threads)
    )


def all_reaching(ask, most) -> Any:
    """ask(k) with k as large as an answer needs it, `most` at most: until no answer is full."""
    k = min(FIRST_OF_ALL, most)
    while True:
        rows, scores = ask(k)
        if k >= most or not (rows[:, -1:] >= 0).any():
            width = int((rows >= 0).sum(axis=1).max(initial=0))
            return rows[:, :width], scores[:, :width]
        k = min(8 * k, most)


def reaching(found, floors) -> Any:
    """Answers without the rows below a floor."""
    rows, scores = found
    is_below = scores < floors[:, None]
    rows[is_below], scores[is_below] = -1, NOTHING
    return rows, scores


def vector_scores(segments, rows, query):
    """The canonical score of each row; NaN for one without a vector."""
    if _are_of_one(segments, rows):
        return segments.matrices[0].scores(_local(segments[0], rows), query)
    return _ascending(
        rows,
        lambda sorted_: _by_segments(
            segments, sorted_, lambda segment, local: segment.matrix.scores(local, query), np.nan
        ),
    )


def match(segments, texts, k, sets, threads, k1, b, queries=None, weights=None) -> Any:
    """As nearest, by BM25. queries are the texts as terms, where they are known; weights are of fields."""
    if segments.is_elsewhere:
        prefetch.lists(segments, texts, weights is not None)
    if segments.lexicons is None:
        queries = segments.questions(texts, weights=weights) if queries is None else queries
        return _match_one(segments, queries, k, sets, threads, k1, b, None)
    answers, each = [], max(1, BATCH_ROWS // max(1, len(segments) * k))
    for first in range(0, len(texts), each) or (0,):
        some = queries if queries is not None and each >= len(texts) else None
        if some is None:
            some = segments.questions(texts[first : first + each], weights=weights)
        part = sets.part(first, first + each) if isinstance(sets, _core.Filters) else sets
        found, scores = segments.lexicons.match(some, k, part, threads=threads, k1=k1, b=b)
        answers.append(segments.parts.merge(found, scores, k, _threads(threads)))
    return (
        answers[0]
        if len(answers) == 1
        else tuple(np.concatenate(part) for part in zip(*answers, strict=True))
    )


def _match_one(segments, queries, k, sets, threads, k1, b, stats) -> Any:
    one = sets if isinstance(sets, _core.Filters) else sets[0]
    found, scores = segments.asker.match(
        queries, k, where=one, threads=threads, k1=k1, b=b, stats=stats
    )
    scores[found < 0] = NOTHING
    return numbered(segments[0], found), scores


def match_queries(segments, queries, k, sets, threads, stats, k1, b) -> Any:
    """As match, of Queries whose terms have their frequency in a whole that these segments are a part of."""
    if segments.is_elsewhere:
        prefetch.lists_of(segments, queries, bool(queries.weights))
    if segments.lexicons is None:
        return _match_one(segments, queries, k, sets, threads, k1, b, stats)
    found, scores = segments.lexicons.match(
        queries, k, sets, threads=threads, k1=k1, b=b, stats=stats
    )
    return segments.parts.merge(found, scores, k, _threads(threads))


def query_scores(segments, rows, queries, of, stats, k1, b):
    """As bm25_scores, for one of such Queries."""
    options = {"stats": stats, "of": of, "k1": k1, "b": b}
    return _scores(segments, rows, queries, options)


def bm25_scores(segments, rows, text, k1, b, weights=None):
    """The exact BM25 score of each row; 0 where no term occurs."""
    if segments.is_elsewhere:
        prefetch.lists(segments, [text], weights is not None)
    queries = segments.questions([text], weights=weights)
    return _scores(segments, rows, queries, {"k1": k1, "b": b})


def _scores(segments, rows, queries, options):
    lexicons = segments.lexicons
    if lexicons is not None:
        return _ascending(rows, lambda sorted_: lexicons.score(sorted_, queries, **options))
    if _are_of_one(segments, rows):
        return segments.asker.score(_local(segments[0], rows), queries, **options)
    return _ascending(
        rows,
        lambda sorted_: _by_segments(
            segments, sorted_, lambda s, local: s.lexicon.score(local, queries, **options), 0
        ),
    )


def _threads(threads):
    return _core.cpu_count() if threads is None else max(1, threads)


def numbered(segment, found):
    """A segment's rows as rows of the file."""
    return found if segment.base == 0 else np.where(found < 0, found, found + segment.base)


def place(segments, row):
    """Which of the segments, in order of first row, has a row."""
    return bisect.bisect_right(segments, row, key=_base) - 1


def _base(segment):
    return segment.base


def key(segments, row):
    """What ties go by."""
    segment = segments[place(segments, row)]
    return segment.records.key(row - segment.base)


def _ascending(rows, score):
    """score(rows) of rows in any order, where score wants them in theirs."""
    rows = np.asarray(rows, dtype=np.int64)
    if len(rows) < 2 or (rows[1:] >= rows[:-1]).all():
        return score(rows)
    order, out = np.argsort(rows, kind="stable"), np.empty(len(rows), dtype=np.float32)
    out[order] = score(rows[order])
    return out


def _are_of_one(segments, rows) -> bool:
    """Whether there is one segment, which has all of some rows."""
    if len(segments) != 1 or not len(rows):
        return False
    base, rows = segments[0].base, np.asarray(rows, dtype=np.int64)
    return bool(rows.min() >= base and rows.max() < base + segments[0].rows)


def _local(segment, rows):
    """Rows of a segment by its own numbers."""
    rows = np.asarray(rows, dtype=np.int64)
    return rows - segment.base if segment.base else rows


def _by_segments(segments, rows, score, missing):
    """score(segment, its rows) for ascending rows, put together; `missing` for a row of none of these segments."""
    out = np.full(len(rows), missing, dtype=np.float32)
    firsts = np.searchsorted(rows, [s.base for s in segments]).tolist()
    ends = np.searchsorted(rows, [s.base + s.rows for s in segments]).tolist()
    for segment, first, end in zip(segments, firsts, ends, strict=True):
        if first < end:
            out[first:end] = score(segment, rows[first:end] - segment.base)
    return out
