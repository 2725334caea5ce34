"""The two exact retrievers over all segments of a file: nearest vectors and BM25, by row.

Each segment answers with its own k best. The answers are merged by score, ties by (document id, chunk
index), so a file in many segments answers as one that was built at once. Statistics are those of the
live rows of the whole file.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, NamedTuple, TypedDict

import numpy as np

from ragfile import _core
from ragfile.file import remote_prefetch
from ragfile.ground.lru import Lru

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ragfile.file.row_segment import RowSegment
    from ragfile.ingest.analysis import Analysis, Statistics
    from ragfile.types import Float32s, Int64s

    Words = NDArray[np.uint64]  # a bit for each row of a segment
    Sets = Sequence[Words | None] | _core.Filters  # rows by segment, or such for each question
    Answers = tuple[Int64s, Float32s]  # rows and their scores, [questions, k]
    RowNumbers = Int64s | Sequence[int]

NOTHING = -np.inf
BATCH_ROWS = 1 << 20  # of all segments' answers together, before they are merged
FIRST_OF_ALL = 256  # rows; eight times as many where those were not all
QUESTIONS = 64  # whose statistics are kept


class ScoreOptions(TypedDict, total=False):
    """Arguments of `_core.Lexicon.score`, without rows and queries."""

    stats: Statistics | None
    of: int
    k1: float | None
    b: float | None


class LiveDictionary(NamedTuple):
    """The analysis of a file, and what turns texts into terms."""

    analysis: Analysis
    asker: _core.Asker

    def terms(self, text: str) -> list[tuple[str, float]]:
        """Return the distinct terms of a text with their counts, analyzed as a question."""
        return self.asker.queries([text]).terms()[0]

    def queries(self, texts: Sequence[str]) -> _core.Queries:
        """Return texts as terms."""
        return self.asker.queries(texts)


class Segments(list["RowSegment"]):
    """The segments of one commit that are searched together, with the structures of a search.

    They are made on first use.
    """

    _living: list[Words | None] | None
    _lexicons: _core.Lexicons | None
    _matrices: list[_core.Matrix] | None
    _parts: _core.Parts | None
    _asker: _core.Lexicon | None
    _dictionary: LiveDictionary | None

    def __init__(self, segments: Sequence[RowSegment], has_vectors: bool) -> None:
        super().__init__(segments)
        self._lexicons = self._matrices = self._parts = self._asker = None
        self._dictionary = None
        self._living = None
        self._has_vectors = has_vectors
        self.is_elsewhere = bool(segments) and segments[0].reader.is_elsewhere
        self._questions: Lru[str, _core.Queries] = Lru(QUESTIONS)

    # functools.cached_property would hold a lock before Python 3.12, which a fork can leave closed.

    @property
    def living(self) -> list[Words | None]:
        """Return the live rows of each segment for the core; None for all of them."""
        if self._living is None:
            self._living = [s.alive for s in self]
        return self._living

    @property
    def asker(self) -> _core.Lexicon:
        """Return the first lexicon, which answers by itself if it is the only one."""
        if self._asker is None:
            self._asker = self[0].lexicon
        return self._asker

    @property
    def dictionary(self) -> LiveDictionary:
        """Return what turns texts into terms, by the languages of the live rows."""
        if self._dictionary is None:
            if self.is_elsewhere:
                remote_prefetch.terms(self)
            each = (s.lexicon.languages(s.alive) for s in self)
            numbers = tuple(sorted({number for numbers in each for number in numbers}))
            first = self.asker
            is_first = first.asker.numbers == numbers
            asker = first.asker if is_first else _core.Asker(first.analysis, numbers)
            self._dictionary = LiveDictionary(first.analysis, asker)
        return self._dictionary

    @property
    def lexicons(self) -> _core.Lexicons | None:
        """Return all lexicons as one, or None if there is one that counts live rows only.

        A question to a file in several languages counts its words before it is asked.
        """
        is_single = len(self) == 1 and self.living[0] is None and not self.dictionary.asker.numbers
        return None if is_single else self.all_lexicons

    @property
    def all_lexicons(self) -> _core.Lexicons:
        """Return all lexicons as one, also where there is only one."""
        if self._lexicons is None:
            self._lexicons = _core.Lexicons(
                [(s.lexicon, s.alive, s.base) for s in self], self.dictionary.asker
            )
        return self._lexicons

    def attach_fields(self, path: str) -> None:
        """Open the postings that single BM25 fields have."""
        without = sum(not segment.has_fields for segment in self)
        if without:
            raise ValueError(
                f"{path} does not keep its fields apart in {without} of {len(self)} segments, which "
                "fields= needs: `ragfile compact` makes a file that does"
            )
        remote_prefetch.fields(self)
        for segment in self:
            segment.attach_fields()

    @property
    def matrices(self) -> list[_core.Matrix]:
        """Return the matrix of each segment."""
        if self._matrices is None:
            self._matrices = [s.matrix for s in self]
        return self._matrices

    @property
    def parts(self) -> _core.Parts:
        """Return the merger of the segments' answers."""
        if self._parts is None:
            several, vectors = len(self) > 1, self._has_vectors
            self._parts = _core.Parts(
                [
                    (s.base, s.rows, s.records if several else None, s.matrix if vectors else None)
                    for s in self
                ]
            )
        return self._parts

    def parts_with(self, near: Iterable[RowSegment]) -> _core.Parts:
        """Return the merger for fusion, where only the segments `near` have vectors."""
        matrices = {s.base: s.matrix for s in near}
        return _core.Parts([(s.base, s.rows, s.records, matrices.get(s.base)) for s in self])

    def questions(
        self, texts: Sequence[str], terms: Sequence[str] = (), weights: Sequence[int] | None = None
    ) -> _core.Queries:
        """Return texts as terms, with their frequencies in all segments if there are several.

        The frequencies of the last questions are kept. weights are of attached fields.
        """
        if weights is not None:
            return self.all_lexicons.weighed(texts, terms, weights)
        lexicons = self.lexicons
        if terms:  # beside the words of the one text
            if lexicons is None:
                return self.dictionary.asker.queries_with(texts[0], terms)
            return lexicons.queries(texts, terms)
        if lexicons is None:
            return self.dictionary.queries(texts)
        if len(texts) != 1:
            return lexicons.queries(texts)
        known = self._questions.get(texts[0])
        if known is None:
            known = lexicons.queries(texts)
            self._questions.put(texts[0], known)
        return known


def nothing(count: int, k: int) -> Answers:
    """Return answers without a row."""
    return np.full((count, k), -1, np.int64), np.full((count, k), NOTHING, np.float32)


def nearest(
    segments: Segments,
    queries: ArrayLike,
    k: int,
    sets: Sets,
    threads: int | None,
    min_score: Float32s | None = None,
    effort: float = 1.0,
    recall: NDArray[np.float64] | None = None,
) -> Answers:
    """Return the k nearest rows of each query: (rows int64[m, k], scores float32[m, k]).

    Unused places are row -1 with score -inf. With an effort below 1, recall (float64[m]) is set to the
    share of the k best that each answer has.
    """
    if len(segments) == 1:
        one = sets if isinstance(sets, _core.Filters) else sets[0]
        matrix = segments.matrices[0]
        found, scores = matrix.nearest(queries, k, one, threads, min_score, effort, recall)
        return numbered(segments[0], found), scores
    found, scores = _core.nearest(
        segments.matrices, queries, k, sets, threads, min_score, effort, recall
    )
    bases = np.array([s.base for s in segments], dtype=np.int64)[None, :, None]
    return segments.parts.merge(
        np.where(found < 0, found, found + bases), scores, k, _threads(threads)
    )


def all_reaching(ask: Callable[[int], Answers], most: int) -> Answers:
    """Return ask(k), with k raised up to `most` until no answer is full."""
    k = min(FIRST_OF_ALL, most)
    while True:
        rows, scores = ask(k)
        if k >= most or not (rows[:, -1:] >= 0).any():
            width = int((rows >= 0).sum(axis=1).max(initial=0))
            return rows[:, :width], scores[:, :width]
        k = min(8 * k, most)


def reaching(found: Answers, floors: Float32s) -> Answers:
    """Remove the rows below a floor from answers."""
    rows, scores = found
    is_below = scores < floors[:, None]
    rows[is_below], scores[is_below] = -1, NOTHING
    return rows, scores


def vector_scores(segments: Segments, rows: RowNumbers, query: ArrayLike) -> Float32s:
    """Return the canonical score of each row; NaN for one without a vector."""
    if _are_of_one(segments, rows):
        return segments.matrices[0].scores(_local(segments[0], rows), query)
    return _ascending(
        rows,
        lambda sorted_: _by_segments(
            segments, sorted_, lambda segment, local: segment.matrix.scores(local, query), np.nan
        ),
    )


def match(
    segments: Segments,
    texts: Sequence[str],
    k: int,
    sets: Sets,
    threads: int | None,
    k1: float | None,
    b: float | None,
    queries: _core.Queries | None = None,
    weights: Sequence[int] | None = None,
) -> Answers:
    """Return the k best rows of each text by BM25, as nearest does.

    queries are the texts as terms, if they are known; weights are of fields.
    """
    if segments.is_elsewhere:
        remote_prefetch.lists(segments, texts, weights is not None)
    if segments.lexicons is None:
        queries = segments.questions(texts, weights=weights) if queries is None else queries
        return _match_one(segments, queries, k, sets, threads, k1, b, None)
    answers: list[Answers] = []
    each = max(1, BATCH_ROWS // max(1, len(segments) * k))
    for first in range(0, len(texts), each) or (0,):
        some = queries if queries is not None and each >= len(texts) else None
        if some is None:
            some = segments.questions(texts[first : first + each], weights=weights)
        part = sets.part(first, first + each) if isinstance(sets, _core.Filters) else sets
        found, scores = segments.lexicons.match(some, k, part, threads=threads, k1=k1, b=b)
        answers.append(segments.parts.merge(found, scores, k, _threads(threads)))
    if len(answers) == 1:
        return answers[0]
    return np.concatenate([a[0] for a in answers]), np.concatenate([a[1] for a in answers])


def _match_one(
    segments: Segments,
    queries: _core.Queries,
    k: int,
    sets: Sets,
    threads: int | None,
    k1: float | None,
    b: float | None,
    stats: Statistics | None,
) -> Answers:
    one = sets if isinstance(sets, _core.Filters) else sets[0]
    found, scores = segments.asker.match(
        queries, k, where=one, threads=threads, k1=k1, b=b, stats=stats
    )
    scores[found < 0] = NOTHING
    return numbered(segments[0], found), scores


def match_queries(
    segments: Segments,
    queries: _core.Queries,
    k: int,
    sets: Sets,
    threads: int | None,
    stats: Statistics | None,
    k1: float | None,
    b: float | None,
) -> Answers:
    """Match Queries that carry term frequencies of a collection that includes these segments."""
    if segments.is_elsewhere:
        remote_prefetch.lists_of(segments, queries, bool(queries.weights))
    if segments.lexicons is None:
        return _match_one(segments, queries, k, sets, threads, k1, b, stats)
    found, scores = segments.lexicons.match(
        queries, k, sets, threads=threads, k1=k1, b=b, stats=stats
    )
    return segments.parts.merge(found, scores, k, _threads(threads))


def query_scores(
    segments: Segments,
    rows: RowNumbers,
    queries: _core.Queries,
    of: int,
    stats: Statistics | None,
    k1: float | None,
    b: float | None,
) -> Float32s:
    """Return the BM25 score of each row for one of such Queries."""
    options: ScoreOptions = {"stats": stats, "of": of, "k1": k1, "b": b}
    return _scores(segments, rows, queries, options)


def bm25_scores(
    segments: Segments,
    rows: RowNumbers,
    text: str,
    k1: float | None,
    b: float | None,
    weights: Sequence[int] | None = None,
) -> Float32s:
    """Return the exact BM25 score of each row; 0 where no term occurs."""
    if segments.is_elsewhere:
        remote_prefetch.lists(segments, [text], weights is not None)
    queries = segments.questions([text], weights=weights)
    return _scores(segments, rows, queries, {"k1": k1, "b": b})


def sparse_best(
    segments: Segments,
    questions: Sequence[_core.SparseQuestion],
    k: int,
    sets: Sequence[Words | None],
) -> Answers:
    """Return the k best rows of each question by its weights of terms, as nearest does."""
    if not segments:
        return nothing(len(questions), k)
    legs = [
        (weights, where)
        for segment, where in zip(segments, sets, strict=True)
        if (weights := segment.sparse) is not None
    ]
    found, scores = _core.sparse_search(legs, questions, k)
    if len(segments) == 1:
        return numbered(segments[0], found[:, 0]), scores[:, 0]
    bases = np.array([s.base for s in segments], dtype=np.int64)[None, :, None]
    return segments.parts.merge(np.where(found < 0, found, found + bases), scores, k, 1)


def sparse_scores(segments: Segments, rows: RowNumbers, question: _core.SparseQuestion) -> Float32s:
    """Return the exact score of each row by weights of terms; 0 where it has none of them."""

    def score(segment: RowSegment, local: Int64s) -> Float32s:
        if (weights := segment.sparse) is None:
            return np.zeros(len(local), np.float32)
        return weights.score(np.ascontiguousarray(local), question)

    return _ascending(rows, lambda sorted_: _by_segments(segments, sorted_, score, 0))


def _scores(
    segments: Segments, rows: RowNumbers, queries: _core.Queries, options: ScoreOptions
) -> Float32s:
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


def _threads(threads: int | None) -> int:
    return _core.cpu_count() if threads is None else max(1, threads)


def numbered(segment: RowSegment, found: Int64s) -> Int64s:
    """Return a segment's rows as rows of the file."""
    return found if segment.base == 0 else np.where(found < 0, found, found + segment.base)


def place(segments: Sequence[RowSegment], row: int) -> int:
    """Return the index of the segment that has a row; segments are in order of first row."""
    return bisect.bisect_right(segments, row, key=_base) - 1


def _base(segment: RowSegment) -> int:
    return segment.base


def key(segments: Sequence[RowSegment], row: int) -> tuple[bytes, int]:
    """Return the key that orders rows with equal scores."""
    segment = segments[place(segments, row)]
    return segment.records.key(row - segment.base)


def _ascending(rows: RowNumbers, score: Callable[[Int64s], Float32s]) -> Float32s:
    """Return score(rows) of rows in any order, where score needs them in ascending order."""
    rows = np.asarray(rows, dtype=np.int64)
    if len(rows) < 2 or (rows[1:] >= rows[:-1]).all():
        return score(rows)
    order, out = np.argsort(rows, kind="stable"), np.empty(len(rows), dtype=np.float32)
    out[order] = score(rows[order])
    return out


def _are_of_one(segments: Segments, rows: RowNumbers) -> bool:
    """Return whether the only segment has all of the rows."""
    if len(segments) != 1 or not len(rows):
        return False
    base, rows = segments[0].base, np.asarray(rows, dtype=np.int64)
    return bool(rows.min() >= base and rows.max() < base + segments[0].rows)


def _local(segment: RowSegment, rows: RowNumbers) -> Int64s:
    """Return rows by their numbers in a segment."""
    rows = np.asarray(rows, dtype=np.int64)
    return rows - segment.base if segment.base else rows


def _by_segments(
    segments: Segments,
    rows: Int64s,
    score: Callable[[RowSegment, Int64s], Float32s],
    missing: float,
) -> Float32s:
    """Join score(segment, its rows) for ascending rows; `missing` for a row of no segment."""
    out = np.full(len(rows), missing, dtype=np.float32)
    firsts = np.searchsorted(rows, [s.base for s in segments]).tolist()
    ends = np.searchsorted(rows, [s.base + s.rows for s in segments]).tolist()
    for segment, first, end in zip(segments, firsts, ends, strict=True):
        if first < end:
            out[first:end] = score(segment, rows[first:end] - segment.base)
    return out
