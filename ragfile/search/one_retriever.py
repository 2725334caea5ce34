"""Exact search by one retriever: `match`, `nearest` and `score` of a knowledge base."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, TypedDict, Unpack, cast

import numpy as np

from ragfile.file import exact_retrievers, row_sets
from ragfile.file.row_sets import RowSets
from ragfile.ground.option_table import check_of
from ragfile.options import SEARCH
from ragfile.search.question import Notes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ragfile.search.rows_protocol import Found, SearchedRows, Selection
    from ragfile.types import FieldWeights, Float32s, RowFilter, RowFilters, Rows, Vector, Vectors


class Bm25Options(TypedDict, total=False):
    """Parameters of BM25."""

    k1: float | None
    b: float | None
    fields: FieldWeights | None


_checked_threads = cast("Callable[[int | None], int | None]", check_of(SEARCH.options["threads"]))


def sets_of(base: SearchedRows, where: RowFilters | None, count: int) -> Selection:
    """Return the rows that all of `count` questions may find, or those of each question."""
    if not row_sets.is_one_each(where):
        return base.select(where)
    each = cast("Sequence[RowFilter | None]", where)
    if len(each) != count:
        raise ValueError(f"where has {len(each)} filters for {count} questions")
    return RowSets.of(each, base.select)


def nearest(
    base: SearchedRows, vectors: Vector | Vectors, k: int | None, chosen: Selection, threads: int | None,
    *, min_score: Vector | float | None = None, effort: float = 1.0,
    recall: NDArray[np.float64] | None = None,
) -> Found:  # fmt: skip
    """Return the k best rows for each vector, or with k=None all rows that reach `min_score`."""
    queries, threads = np.asarray(vectors), _checked_threads(threads)
    floors = None
    if min_score is not None:
        floors = row_sets.one_for_each(min_score, 1 if queries.ndim == 1 else len(queries))

    def ask(k: int) -> Found:
        return base.nearest(queries, k, chosen, threads, floors, effort, recall, Notes())

    return exact_retrievers.all_reaching(ask, base.live) if k is None else ask(_at_most(base, k))


def match(
    base: SearchedRows, texts: Sequence[str], k: int | None, chosen: Selection, threads: int | None, *,
    min_score: Vector | float | None = None, k1: float | None = None, b: float | None = None,
    fields: FieldWeights | None = None,
) -> Found:  # fmt: skip
    """Return the k best rows for each text by BM25, or with k=None all rows that reach `min_score`."""
    threads = _checked_threads(threads)

    def ask(k: int) -> Found:
        return base.match(texts, k, chosen, threads, k1=k1, b=b, fields=fields, notes=Notes())

    if min_score is None and k is not None:
        return ask(_at_most(base, k))
    floors = row_sets.one_for_each(-np.inf if min_score is None else min_score, len(texts))
    most = base.live if k is None else _at_most(base, k)
    found: Found = exact_retrievers.all_reaching(
        lambda k: exact_retrievers.reaching(ask(k), floors), most
    )
    return found


def score(
    base: SearchedRows, rows: Rows, *, text: str | None, vector: Vector | None,
    **options: Unpack[Bm25Options],
) -> Float32s:  # fmt: skip
    """Return the exact score of each row; -1, the padding of an answer, scores -inf. Deleted rows are refused."""
    wanted = np.asarray(rows)
    if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
        raise TypeError(f"rows are a list of row numbers, not {rows!r:.80}")
    if (text is None) == (vector is None):
        raise ValueError("score needs a text or a vector: give text= or vector=")
    if text is not None and not isinstance(text, str):
        raise TypeError(f"text is a str, not {type(text).__name__}")
    notes = Notes()
    if wanted.size and wanted.min() >= 0 and wanted.max() < base.count == base.live:
        return base.scores_of(wanted, text=text, vector=vector, notes=notes, **options)
    base.check_live(row_sets.checked_rows(wanted, base.count))
    named = wanted != -1
    scores = np.full(len(wanted), exact_retrievers.NOTHING, np.float32)
    scores[named] = base.scores_of(wanted[named], text=text, vector=vector, notes=notes, **options)
    return scores


def _at_most(base: SearchedRows, k: int) -> int:
    """Return k, or the number of live rows if there are fewer."""
    if index(k) < 0:
        raise ValueError(f"k must not be negative, not {k}")
    return min(index(k), base.live)
