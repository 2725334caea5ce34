"""The two exact legs over all segments of a file: nearest vectors and BM25, by row.

Each segment answers with its own k best; what they say is merged by score, and ties by (document id, chunk index), so that
a file in many segments answers as one that was built at once. Statistics are those of the live rows of the whole file.
"""

import bisect
import heapq
import itertools

import numpy as np

from . import _core
from .analysis import Statistics

NOTHING = -np.inf


def words(mask):
    """A bool for each row as uint64 words."""
    packed = np.packbits(mask, bitorder="little")
    return np.pad(packed, (0, -len(packed) % 8)).view("<u8")


def row_sets(segments, mask):
    """For each segment the rows that live and pass, as words, or None for all of them."""
    if mask is None:
        return [segment.alive for segment in segments]
    sets = [words(mask[s.base : s.base + s.rows]) for s in segments]
    return [w if s.alive is None else w & s.alive for s, w in zip(segments, sets, strict=True)]


def nearest(segments, queries, k, sets, threads, least=None):
    """(rows int64[m, k], scores float32[m, k]); what is left over is row -1, score -inf."""
    if len(segments) == 1:
        found, scores = segments[0].matrix.nearest(queries, k, sets[0], threads, least)
        return numbered(segments[0], found), scores
    found, scores = _core.nearest([s.matrix for s in segments], queries, k, sets, threads, least)
    return merge(segments, found, scores, k)


def vector_scores(segments, rows, query):
    """The canonical score of each row."""
    return _by_segment(segments, rows, lambda segment, local: segment.matrix.scores(local, query))


def match(segments, texts, k, sets, threads, k1, b):
    """As nearest, by BM25."""
    queries = segments[0].lexicon.queries(texts)
    stats = statistics(segments, queries)
    answers = [
        s.lexicon.match(queries, k, where=w, threads=threads, stats=stats, k1=k1, b=b)
        for s, w in zip(segments, sets, strict=True)
    ]
    for found, scores in answers:
        scores[found < 0] = NOTHING
    if len(answers) == 1:
        return numbered(segments[0], answers[0][0]), answers[0][1]
    return merge(segments, np.stack([a[0] for a in answers], axis=1), np.stack([a[1] for a in answers], axis=1), k)


def bm25_scores(segments, rows, text, k1, b):
    """The exact BM25 score of each row; 0 where no term occurs."""
    queries = segments[0].lexicon.queries([text])
    stats = statistics(segments, queries)
    return _by_segment(segments, rows, lambda s, local: s.lexicon.score(local, queries, stats=stats, k1=k1, b=b))


def statistics(segments, queries):
    """Of the live rows of all segments; None where a segment's own are those."""
    if len(segments) == 1 and segments[0].alive is None:
        return None
    terms = {term for asked in queries.terms() for term, _ in asked}
    sizes = [s.lexical_size for s in segments]
    df = {term: sum(s.lexicon.df(term, s.alive) for s in segments) for term in terms}
    return Statistics(sum(rows for rows, _ in sizes), sum(length for _, length in sizes), df)


def numbered(segment, found):
    """A segment's rows as rows of the file."""
    return found if segment.base == 0 else np.where(found < 0, found, found + segment.base)


def merge(segments, found, scores, k):
    """The k best of [m, segment, k], by score and then by key."""
    many, count, each = found.shape
    bases = np.array([s.base for s in segments], dtype=np.int64)[None, :, None]
    rows = np.where(found < 0, -1, found + bases).reshape(many, count * each)
    scores = np.where(found < 0, NOTHING, scores).reshape(many, count * each)
    order = np.argsort(-scores, axis=1, kind="stable")
    rows, scores = np.take_along_axis(rows, order, 1), np.take_along_axis(scores, order, 1)
    tied = (scores[:, 1:] == scores[:, :-1]) & (rows[:, 1:] >= 0)
    for query in np.flatnonzero(tied[:, :k].any(axis=1)):
        rows[query, :k] = _by_key(segments, rows[query], scores[query], k)
    if rows.shape[1] < k:
        short = ((0, 0), (0, k - rows.shape[1]))
        return np.pad(rows, short, constant_values=-1), np.pad(scores, short, constant_values=NOTHING)
    return np.ascontiguousarray(rows[:, :k]), np.ascontiguousarray(scores[:, :k]).astype(np.float32, copy=False)


def _by_key(segments, rows, scores, k):
    """The first k rows, runs of equal scores in order of (document id, chunk index).

    In a run, rows ascend: segment after segment, and in each of them by key. So a run is a merge of as many lists, of which only
    what is wanted is drawn; ids of long runs of ties are not read.
    """
    ordered, first = rows[:k].copy(), 0
    bases = [segment.base for segment in segments[1:]]
    for last in [*(np.flatnonzero(scores[1:] != scores[:-1]) + 1).tolist(), len(rows)]:
        if first >= k or rows[first] < 0:
            break
        if last - first > 1:
            run = rows[first:last].tolist()
            cuts = [0, *(bisect.bisect_left(run, base) for base in bases), len(run)]
            parts = [run[a:b] for a, b in itertools.pairwise(cuts) if a < b]
            if len(parts) > 1:
                wanted = min(last, k) - first
                merged = heapq.merge(*parts, key=lambda row: key(segments, row))
                ordered[first : first + wanted] = list(itertools.islice(merged, wanted))
        first = last
    return ordered


def key(segments, row):
    """What ties go by."""
    segment = next(s for s in segments if row < s.base + s.rows)
    return segment.records.key(row - segment.base)


def _by_segment(segments, rows, score):
    """score(segment, its rows) for rows in any order, put together; 0 for a row of none of these segments."""
    rows = np.asarray(rows, dtype=np.int64)
    if (
        len(segments) == 1
        and len(rows)
        and rows.min() >= segments[0].base
        and rows.max() < segments[0].base + segments[0].rows
    ):
        return score(segments[0], rows - segments[0].base if segments[0].base else rows)
    if len(rows) > 1 and (rows[1:] < rows[:-1]).any():
        order, out = np.argsort(rows, kind="stable"), np.empty(len(rows), dtype=np.float32)
        out[order] = _by_segment(segments, rows[order], score)
        return out
    out = np.zeros(len(rows), dtype=np.float32)
    firsts = np.searchsorted(rows, [s.base for s in segments]).tolist()
    ends = np.searchsorted(rows, [s.base + s.rows for s in segments]).tolist()
    for segment, first, end in zip(segments, firsts, ends, strict=True):
        if first < end:
            out[first:end] = score(segment, rows[first:end] - segment.base)
    return out
