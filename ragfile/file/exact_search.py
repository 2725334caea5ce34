"""Exact search in an open file by one retriever: which rows a filter passes, the nearest vectors, BM25, single scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragfile.errors import FilterWarning
from ragfile.file import exact, filters, prefetch, row_sets, stored_columns
from ragfile.file.metadata_columns import Labels
from ragfile.file.open_file import of_one_commit
from ragfile.file.row_reader import RowReading
from ragfile.file.row_sets import RowSet, RowSets
from ragfile.file.stored_columns import SegmentColumns
from ragfile.ground.annotations import deferred
from ragfile.types import (
    FieldWeights,
    Float32s,
    Int64s,
    RowFilter,
    RowFilters,
    Rows,
    TagFilter,
    Vector,
    Vectors,
)

if TYPE_CHECKING:
    from ragfile.ingest.analysis import Analysis
else:
    Analysis = deferred("ragfile.ingest.analysis", "Analysis")


class ExactSearch(RowReading):
    """An open file whose retrievers are asked one by one."""

    @property
    @of_one_commit
    def columns(self) -> Labels:
        """Metadata and tags of every row as columns in memory; made on first use. Filters take segment_columns."""
        columns = self._made.get("columns")
        if columns is None:
            prefetch.whole(self.segments, "rag.meta", "rag.chunks", "rag.documents", "rag.ids")
            columns = self._made["columns"] = Labels(self.segments)
        return columns

    @property
    def segment_columns(self) -> list[SegmentColumns]:
        """Metadata and tags of each segment as columns, for filters; made on first use."""
        columns = self._made.get("segment columns")
        if columns is None:
            stored_columns.heads(self.segments)
            columns = self._made["segment columns"] = [SegmentColumns(s) for s in self.segments]
        return columns

    def passing(self, chosen: filters.Filter) -> RowSet:
        """The live rows that pass a filter."""
        if not chosen:
            return RowSet(None)
        columns = self.segment_columns
        stored_columns.bring(columns, [*chosen.paths, *([None] if chosen.has_tags else [])])
        return RowSet.of_segments(self.segments, [chosen.words(each) for each in columns])

    @of_one_commit
    def mask(
        self, where: RowFilter | None = None, tags_any: TagFilter = (), tags_all: TagFilter = ()
    ) -> NDArray[np.bool_] | None:
        """bool[rows] of a condition, or None when there is none. A mask is passed on; row numbers become one."""
        return self.row_set(where, tags_any, tags_all).mask

    def row_set(
        self,
        where: RowFilter | RowSet | None = None,
        tags_any: TagFilter = (),
        tags_all: TagFilter = (),
    ) -> RowSet:
        """The same as all retrievers take it: made once a question."""
        if isinstance(where, RowSet):
            return where
        if isinstance(where, Mapping) or where is None:
            chosen = filters.compile(where, tags_any=tags_any, tags_all=tags_all)
            found = self.passing(chosen)
            self._warn_of_unknown(chosen.paths)
            return found
        mask, tags = self._mask_of(where), self.mask(None, tags_any, tags_all)
        return RowSet(self.alive(mask) if tags is None else mask & tags)

    def _mask_of(self, where):
        if row_sets.are_ids(where):
            return row_sets.mask_of(self._rows_of(where), self.rows)
        rows = np.asarray(where)
        is_other = rows.ndim != 1 or (rows.size and rows.dtype.kind not in "biu")
        if isinstance(where, str | bytes) or is_other:
            raise TypeError(
                "where is a filter (a dict), a bool for each row, row numbers, or ids, "
                f"not {where!r:.80}"
            )
        return row_sets.mask_of(rows, self.rows)

    def _rows_of(self, ids):
        """The rows of chunks and documents by their ids; unknown ids are passed over."""
        found = [row for name in ids if (row := self.row(name)) is not None]
        for there in (there for name in ids if (there := self.find(name)) is not None):
            found += there.file_rows
        return np.array(found, np.int64)

    def _warn_of_unknown(self, paths):
        """Once a commit and key: a misspelt key finds nothing, and nobody would know why."""
        told = self._made.setdefault("unknown keys", set())
        for path in set(paths) - told if len(self) else ():
            if not self.has_values_at(path):
                told.add(path)
                said = f"{self.path}: no chunk has {path!r} in its metadata, so this filter does not see it"
                warnings.warn(said, FilterWarning, stacklevel=5)

    def has_values_at(self, path: str) -> bool:
        """Whether a row has a value at a path of metadata."""
        return any(len(columns.column(path)) for columns in self.segment_columns)

    def _at_most(self, k):
        """k, or the number of live rows where there are fewer: room for more would be wasted."""
        if index(k) < 0:
            raise ValueError(f"k must not be negative, not {k}")
        return min(index(k), len(self))

    def _searched(self, name):
        """The segments with live rows, all of which must have the section."""
        found = self._made.get(name)
        if found is None:
            live = [segment for segment in self.segments if segment.live]
            found = exact.Segments(self._having(name, live), name == "vector")
            if not all(segment.has(name) for segment in found) or (live and not found):
                raise ValueError(f"{self.path} has no section {name}")
            self._made[name] = found
        return found

    def _having(self, name, live):
        """Segments without those that say that none of their rows has a vector, where vectors are asked."""
        if name != "vector":
            return live
        return [s for s in live if s.vector_count or not (s.has("rag.bare") or s.has("vector"))]

    @of_one_commit
    def nearest(
        self, vectors: Vector | Vectors, k: int | None = 10, *, where: RowFilters | RowSet | RowSets | None = None,
        threads: int | None = None, min_score: Vector | float | None = None, effort: float = 1.0,
        recall: NDArray[np.float64] | None = None,
    ) -> tuple[Int64s, Float32s]:  # fmt: skip
        """The k best rows for each query vector, exactly: rows int64[m, k], scores float32[m, k], best first.

        where is a filter, a bool for each row, row numbers, ids, or a list with one of these for each query. k is at
        most the number of live rows. min_score is a score that rows must reach, one for all queries or one for each: the
        search is faster for knowing it. What is left over is row -1 with score -inf. With k=None, all rows that reach
        least are found, and the arrays are as wide as the longest answer.

        effort is the share of the rows that is looked at, where they lie in clusters: below 1, the most promising
        clusters first. recall, an array of m float64, then takes the share of the k best that each answer has: 1
        where bounds prove that it has all, and else an estimate.
        """
        queries = np.asarray(vectors)
        if min_score is not None:
            min_score = row_sets.one_for_each(min_score, 1 if queries.ndim == 1 else len(queries))
        if k is None:
            return exact.all_reaching(
                lambda k: self.nearest(
                    vectors,
                    k,
                    where=where,
                    threads=threads,
                    min_score=min_score,
                    effort=effort,
                    recall=recall,
                ),
                len(self),
            )
        k = self._at_most(k)
        count = 1 if queries.ndim == 1 else len(queries)
        return self._near(
            queries, k, self._sets_of(where, count), threads, min_score, effort, recall
        )

    def _near(self, queries, k, rows, threads, min_score, effort, recall):
        """The same for one set of rows, or one for each query."""
        if recall is not None:
            recall[:] = 1.0
        segments = self._searched("vector")
        if not segments:
            return exact.nothing(1 if queries.ndim == 1 else len(queries), k)
        prefetch.vectors(segments)
        return exact.nearest(
            segments, queries, k, rows.words(segments), threads, min_score, effort, recall
        )

    @of_one_commit
    def match(
        self, texts: str | Iterable[str], k: int | None = 10, *, where: RowFilters | RowSet | RowSets | None = None,
        threads: int | None = None, k1: float | None = None, b: float | None = None,
        min_score: Vector | float | None = None, fields: FieldWeights | None = None,
    ) -> tuple[Int64s, Float32s]:  # fmt: skip
        """As nearest, by BM25 over the text. A row without any of the terms is not found.

        fields gives fields of the index other weights than the file's, such as {"headers": 3}; scores have the bits of
        a file that was built with these, and 0 leaves a field out.
        """
        texts = [texts] if isinstance(texts, str) else list(texts)
        if min_score is not None or k is None:
            floors = row_sets.one_for_each(-np.inf if min_score is None else min_score, len(texts))
            return exact.all_reaching(
                lambda k: exact.reaching(
                    self.match(texts, k, where=where, threads=threads, k1=k1, b=b, fields=fields),
                    floors,
                ),
                len(self) if k is None else self._at_most(k),
            )
        k = self._at_most(k)
        return self._matched(
            texts, k, self._sets_of(where, len(texts)), threads, k1=k1, b=b, fields=fields
        )

    def _sets_of(self, where, count) -> Any:
        """The rows that all of so many questions may find, or each of them."""
        if isinstance(where, RowSets) or not row_sets.is_one_each(where):
            return where if isinstance(where, RowSets) else self.row_set(where)
        if len(where) != count:
            raise ValueError(f"where has {len(where)} filters for {count} questions")
        return RowSets.of(where, self.row_set)

    def _matched(self, texts, k, rows, threads, *, k1=None, b=None, queries=None, fields=None):
        """The same for one set of rows; queries are the texts as terms, where they are known."""
        segments = self._searched("rag.terms")
        if not segments:
            return exact.nothing(len(texts), k)
        prefetch.terms(segments)
        sets, weights = rows.words(segments), self._weights(segments, fields)
        return exact.match(segments, texts, k, sets, threads, k1, b, queries, weights)

    @property
    def analysis(self) -> Analysis | None:
        """How the texts became the words of the BM25 index; None without one."""
        return self._searched("rag.terms")[0].lexicon.analysis if self.has_bm25 else None

    def _weights(self, segments, fields):
        """The weights of all fields of BM25 that a question asks for by name, or None for the file's own."""
        weights = self.analysis.weights_for(fields) if fields and self.analysis else None
        if weights is not None:
            segments.attach_fields(self.path)
        return weights

    @of_one_commit
    def score(
        self, rows: Rows, *, text: str | None = None, vector: Vector | None = None, k1: float | None = None,
        b: float | None = None, fields: FieldWeights | None = None,
    ) -> Float32s:  # fmt: skip
        """The exact score of each of these rows, for a text by BM25 or for a vector by the file's metric.

        The rows of an answer can be given as they are: -1, which fills it up, scores -inf. A row without a vector
        scores NaN. Deleted rows are refused.
        """
        wanted = np.asarray(rows)
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise TypeError(f"rows are a list of row numbers, not {rows!r:.80}")
        if (text is None) == (vector is None):
            raise ValueError("score needs a text or a vector: give text= or vector=")
        is_plain = wanted.size and wanted.min() >= 0 and wanted.max() < self.rows == len(self)
        asked: Any = {"text": text, "vector": vector, "k1": k1, "b": b, "fields": fields}
        if is_plain:
            return self.scores_of(wanted, **asked)
        self._check_live(row_sets.checked_rows(wanted, self.rows))
        named = wanted != -1
        scores = np.full(len(wanted), exact.NOTHING, np.float32)
        scores[named] = self.scores_of(wanted[named], **asked)
        return scores

    def scores_of(
        self, rows: Int64s, *, text: str | None = None, vector: Vector | None = None,
        k1: float | None = None, b: float | None = None, fields: FieldWeights | None = None,
    ) -> Float32s:  # fmt: skip
        """The same of live rows that a search found."""
        if vector is not None:
            segments = self._searched("vector")
            prefetch.vector_rows(segments, rows)
            return exact.vector_scores(segments, rows, vector)
        segments = self._searched("rag.terms")
        prefetch.terms(segments)
        return exact.bm25_scores(segments, rows, text, k1, b, self._weights(segments, fields))
