"""The rows of a file: the rows that pass a filter, and exact search by one retriever or both.

    select ─ match, nearest, scores ─ hybrid (one call into the core, if that can) ─ hits

All rows are of one snapshot. Derived structures are made on first use and live as long as the rows.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ragfile import _core
from ragfile.errors import FilterWarning
from ragfile.file import (
    exact_retrievers,
    filters,
    remote_prefetch,
    row_sets,
    sample_rows,
    stored_columns,
)
from ragfile.file.container import Container
from ragfile.file.link_targets import LinkTargets
from ragfile.file.passages import Passages
from ragfile.file.row_set_cache import RowSetCache, filter_key
from ragfile.file.row_sets import ALL, RowSet, RowSets
from ragfile.file.snapshot import open_snapshot, snapshot_over
from ragfile.file.source import FileSource
from ragfile.file.stored_rows import StoredRows
from ragfile.ground.call_site import stack_level
from ragfile.ground.lru import Lru
from ragfile.ingest.analysis import Statistics
from ragfile.records import Hits
from ragfile.search import query_syntax, retriever_fusion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from numpy.typing import NDArray

    from ragfile.file.row_segment import RowSegment, StoredDocument
    from ragfile.file.snapshot import Snapshot
    from ragfile.ingest.analysis import Analysis
    from ragfile.search.named_pages import Names, TitleMatch
    from ragfile.search.question import Notes, Question
    from ragfile.search.retriever_fusion import Ranked
    from ragfile.search.rows_protocol import Found
    from ragfile.types import (
        FieldWeights,
        Float32s,
        Floats,
        Int64s,
        StrPath,
        TagFilter,
        Vector,
        Where,
    )

Sets = RowSet | RowSets
KEPT_PHRASES = 64


class FileRows(StoredRows):
    """The rows of a snapshot."""

    are_apart = False

    def __init__(
        self, snapshot: Snapshot, *, warns: bool = True, file: Container | None = None,
        sample: Callable[[], _core.Sample] | None = None,
    ) -> None:  # fmt: skip
        """Read the rows of a snapshot. `sample` is that of a dataset, if the segments are files of their own: some may
        have no vectors."""
        super().__init__()
        self._sample_of_all = sample
        self._warns = warns  # of unknown keys in filters
        self.snapshot, self.path, self.config = snapshot, snapshot.path, snapshot.config
        self.generation, self.count, self.live = (
            snapshot.generation,
            snapshot.count,
            snapshot.live,
        )
        self.is_elsewhere, self.is_encrypted = snapshot.is_elsewhere, snapshot.is_encrypted
        self.file = Container(snapshot) if file is None else file
        self.is_sealed = snapshot.sealed is not None
        self._phrases: Lru[tuple[str, ...], list[NDArray[np.uint64]]] | None = None
        self._segments = snapshot.segments
        self._alone = self._segments[0] if len(self._segments) == 1 else None
        self._has_vectors: bool | None = None
        self._has_bm25: bool | None = None
        self._has_bare_rows: bool | None = None
        self._row_sets = RowSetCache()
        self._has_further_passages: bool | None = None
        self._live_segments = [segment for segment in self._segments if segment.live]
        self._searched: dict[str, exact_retrievers.Segments] = {}
        self._weighed_segments: exact_retrievers.Segments | None = None
        self._unknown_keys: set[str] = set()
        self._sample: _core.Sample | None = None
        self._method: retriever_fusion.Method | None = None
        self._core: _core.Fusion | None = None
        self._records: _core.Parts | None = None  # of all segments, to read ids
        self._titles: _core.Titles | None = None
        self._has_names: bool | None = None
        self._has_sparse: bool | None = None
        self._named_pages: _core.NamedPages | None = None
        self._link_targets: LinkTargets | None = None

    def check_unchanged(self) -> None:
        """Raise ChangedError if the file was overwritten since it was opened."""
        self.snapshot.check_unchanged()

    def __reduce__(self) -> tuple[object, ...]:
        return FileRows, (self.snapshot,)

    def shown(self) -> str:
        """Return how a repr shows these rows."""
        return f"{self.live:,} chunks, generation {self.generation}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the file's source."""
        self.snapshot.close()

    @property
    def segments(self) -> Sequence[RowSegment]:
        return self._segments

    @property
    def has_vectors(self) -> bool:
        if self._has_vectors is None:
            self._has_vectors = any(s.live and s.vector_count for s in self._segments)
        return self._has_vectors

    @property
    def has_bm25(self) -> bool:
        """Whether there are chunks in a BM25 index."""
        if self._has_bm25 is None:
            self._has_bm25 = any(s.live and s.has("rag.terms") for s in self._segments)
        return self._has_bm25

    @property
    def has_further_passages(self) -> bool:
        """Whether a document has several chunks, or may have: see RowSegment."""
        if self._has_further_passages is None:
            self._has_further_passages = any(s.has_further_passages for s in self._live_segments)
        return self._has_further_passages

    @property
    def has_bare_rows(self) -> bool:
        if self._has_bare_rows is None:
            found = any(segment.has_bare_rows for segment in self._segments if segment.live)
            self._has_bare_rows = found and 0 < int(self.vector_mask().sum()) < self.live
        return self._has_bare_rows

    @property
    def phrases(self) -> Lru[tuple[str, ...], list[NDArray[np.uint64]]]:
        """The cache of the rows of phrases, as bits of each segment."""
        if self._phrases is None:
            self._phrases = Lru(KEPT_PHRASES)
        return self._phrases

    def read(self, row: int, part: str) -> tuple[Any, ...]:
        if self._alone is not None:
            alone: tuple[Any, ...] = getattr(self._alone, part)(row)
            return alone
        return super().read(row, part)

    def find(self, doc_id: str) -> StoredDocument | None:
        remote_prefetch.ids(self._segments)
        found = (segment.find(doc_id) for segment in reversed(self._segments))
        return next((one for one in found if one is not None), None)

    # ----------------------------------------------------------------------------------------------- which rows --

    def select(
        self, where: object = None, tags_any: TagFilter = (), tags_all: TagFilter = (),
        without: int | None = None, signs: Sequence[query_syntax.Sign] = (),
    ) -> RowSet:  # fmt: skip
        """Return the live rows that pass, once a question for all retrievers."""
        if where is None and not (tags_any or tags_all) and without is None:
            return query_syntax.left(self, signs, ALL) if signs else ALL
        found = where if isinstance(where, RowSet) else self._passing(where, tags_any, tags_all)
        if without is not None:
            mask = self._flags(found.mask)
            mask[without] = False
            found = RowSet(self.alive(mask))
        return query_syntax.left(self, signs, found) if signs else found

    def _flags(self, mask: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        """Return a copy of a mask, all rows for None."""
        return np.ones(self.count, bool) if mask is None else mask.copy()

    def _passing(self, where: object, tags_any: TagFilter, tags_all: TagFilter) -> RowSet:
        if isinstance(where, Mapping) or where is None:
            condition = cast("Where | None", where)
            key = filter_key(condition, tags_any, tags_all)
            known = None if key is None else self._row_sets.get(key)
            return known or self._compiled(key, condition, tags_any, tags_all)
        mask, tags = self._mask_of(where), self._passing(None, tags_any, tags_all).mask
        return RowSet(self.alive(mask) if tags is None else mask & tags)

    def _compiled(
        self, key: bytes | None, where: Where | None, tags_any: TagFilter, tags_all: TagFilter
    ) -> RowSet:
        """Return the live rows that pass a filter, and keep them if it has a key."""
        chosen = filters.compile(where, tags_any=tags_any, tags_all=tags_all)
        found = self.passing(chosen)
        if self._warns:
            self._warn_of_unknown(chosen.paths)
        if key is not None:
            self._row_sets.put(key, found)
        return found

    def passing(self, chosen: filters.Filter) -> RowSet:
        """Return the live rows that pass a filter."""
        if not chosen:
            return ALL
        columns = self.segment_columns
        stored_columns.bring(columns, [*chosen.paths, *([None] if chosen.has_tags else [])])
        return RowSet.of_segments(self._segments, [each.passing(chosen) for each in columns])

    def _mask_of(self, where: object) -> NDArray[np.bool_]:
        """Return the mask of ids, row numbers or a mask."""
        if row_sets.are_ids(where):
            return row_sets.mask_of(self._rows_of(cast("Iterable[str]", where)), self.count)
        return row_sets.mask_of(row_sets.as_rows(where), self.count)

    def _rows_of(self, ids: Iterable[str]) -> Int64s:
        """Return the rows of chunks and documents by their ids; unknown ids are passed over."""
        found = [row for name in ids if (row := self.row(name)) is not None]
        for document in (document for name in ids if (document := self.find(name)) is not None):
            found += document.file_rows
        return np.array(found, np.int64)

    def _warn_of_unknown(self, paths: Iterable[str]) -> None:
        """Warn about keys that no row has, which may be misspelt; once a commit and key."""
        for path in set(paths) - self._unknown_keys if self.live else ():
            if not self.has_values_at(path):
                self._unknown_keys.add(path)
                warnings.warn(unseen(self.path, path), FilterWarning, stacklevel=stack_level())

    def flags(self, chosen: RowSet, notes: Notes | None = None) -> NDArray[np.bool_] | None:
        """Return bool[rows] of the chosen rows, or None for all of them."""
        return chosen.mask

    def mask(
        self, where: object = None, tags_any: TagFilter = (), tags_all: TagFilter = ()
    ) -> NDArray[np.bool_] | None:
        """Return bool[rows] of a condition, or None without one."""
        return self.select(where, tags_any, tags_all).mask

    def listing(self, name: str, notes: Notes | None = None) -> NDArray[np.bool_]:
        mask = self.passing(filters.compile({"keywords": {"$contains": name}})).mask
        assert mask is not None
        return mask

    def ties_each(self, rows: Sequence[Int64s], notes: Notes | None = None) -> list[Int64s]:
        if self._alone is not None:
            return list(rows)
        wanted = np.unique(np.concatenate([*rows, np.empty(0, np.int64)]))
        keys = self.looked_at("keys", wanted, notes)
        return places(rows, sorted(keys, key=keys.__getitem__))

    def searched(self, name: str) -> exact_retrievers.Segments:
        """Return the segments with live rows; ValueError if one lacks the section."""
        found = self._searched.get(name)
        if found is None:
            live = self._live_segments
            found = exact_retrievers.Segments(self._having(name, live), name == "vector")
            if not all(segment.has(name) for segment in found) or (live and not found):
                raise ValueError(f"{self.path} has no section {name}")
            self._searched[name] = found
        return found

    def _having(self, name: str, live: list[RowSegment]) -> list[RowSegment]:
        """Return the segments, for vectors without those that have none."""
        if name != "vector":
            return live
        if self._sample_of_all is not None:
            return [s for s in live if s.vector_count]
        return [s for s in live if s.vector_count or not (s.has("rag.bare") or s.has("vector"))]

    # -------------------------------------------------------------------------------------------- one retriever --

    def nearest(
        self, vectors: NDArray[Any], k: int, chosen: Sets, threads: int | None,
        min_score: Float32s | None = None, effort: float = 1.0, recall: NDArray[np.float64] | None = None,
        notes: Notes | None = None,
    ) -> Found:  # fmt: skip
        if recall is not None:
            recall[:] = 1.0
        segments = self.searched("vector")
        if not segments:
            return exact_retrievers.nothing(1 if vectors.ndim == 1 else len(vectors), k)
        if self.is_elsewhere:
            remote_prefetch.vectors(segments)
        sets = segments.living if chosen is ALL else chosen.words(segments)
        return exact_retrievers.nearest(
            segments, vectors, k, sets, threads, min_score, effort, recall
        )

    def match(
        self, texts: Sequence[str], k: int, chosen: Sets, threads: int | None, *,
        k1: float | None = None, b: float | None = None, queries: _core.Queries | None = None,
        fields: FieldWeights | None = None, notes: Notes | None = None,
    ) -> Found:  # fmt: skip
        segments = self.searched("rag.terms")
        if not segments:
            return exact_retrievers.nothing(len(texts), k)
        if self.is_elsewhere:
            remote_prefetch.terms(segments)
        sets = segments.living if chosen is ALL else chosen.words(segments)
        weights = self._weights(segments, fields) if fields else None
        return exact_retrievers.match(segments, texts, k, sets, threads, k1, b, queries, weights)

    def scores_of(
        self, rows: Int64s, *, text: str | None = None, vector: Vector | None = None,
        k1: float | None = None, b: float | None = None, fields: FieldWeights | None = None,
        notes: Notes | None = None,
    ) -> Float32s:  # fmt: skip
        if vector is not None:
            segments = self.searched("vector")
            if self.is_elsewhere:
                remote_prefetch.vector_rows(segments, rows)
            return exact_retrievers.vector_scores(segments, rows, vector)
        segments = self.searched("rag.terms")
        if self.is_elsewhere:
            remote_prefetch.terms(segments)
        return exact_retrievers.bm25_scores(
            segments, rows, text or "", k1, b, self._weights(segments, fields)
        )

    @property
    def has_sparse(self) -> bool:
        """Whether chunks bring weights of terms."""
        if self._has_sparse is None:
            self._has_sparse = any(s.live and s.has("rag.sparse") for s in self._segments)
        return self._has_sparse

    def sparse_best(
        self, questions: Sequence[_core.SparseQuestion], k: int, chosen: RowSet,
        notes: Notes | None = None,
    ) -> Found:  # fmt: skip
        segments = self._weighed()
        sets = segments.living if chosen is ALL else chosen.words(segments)
        return exact_retrievers.sparse_best(segments, questions, k, sets)

    def sparse_scores(
        self, rows: Int64s, question: _core.SparseQuestion, notes: Notes | None = None
    ) -> Float32s:
        return exact_retrievers.sparse_scores(self._weighed(), rows, question)

    def _weighed(self) -> exact_retrievers.Segments:
        """Return the segments with live rows that bring weights of terms."""
        if self._weighed_segments is None:
            found = [segment for segment in self._live_segments if segment.has("rag.sparse")]
            self._weighed_segments = exact_retrievers.Segments(found, False)
        return self._weighed_segments

    # ------------------------------------------------------------------------------------------- the dictionary --

    @property
    def analysis(self) -> Analysis | None:
        """The analysis of the BM25 index, from texts to terms; None without an index."""
        return self.lexicon.analysis if self.has_bm25 else None

    @property
    def lexicon(self) -> exact_retrievers.LiveDictionary:
        """The dictionary that turns words into terms, as the index does."""
        return self.searched("rag.terms").dictionary

    def _weights(
        self, segments: exact_retrievers.Segments, fields: FieldWeights | None
    ) -> tuple[int, ...] | None:
        """Return the weights of all fields for a question's `fields`, or None for the file's own."""
        if not fields or (analysis := self.analysis) is None:
            return None
        weights = analysis.weights_for(fields)
        if weights is not None:
            segments.attach_fields(self.path)
        return weights

    def queries(
        self, texts: Sequence[str], fields: FieldWeights | None = None, terms: Sequence[str] = (),
        notes: Notes | None = None,
    ) -> _core.Queries:  # fmt: skip
        segments = self.searched("rag.terms")
        return segments.questions(texts, terms, self._weights(segments, fields))

    def statistics_of(
        self, query: str, fields: FieldWeights | None = None, notes: Notes | None = None
    ) -> Statistics:
        segments = self.searched("rag.terms")
        if self._weights(segments, fields) is not None:
            return Statistics.weighed(self.queries([query], fields))
        pairs = [(s.lexicon, s.alive) for s in segments]
        return Statistics.over(pairs, self.lexicon.queries([query]))

    def spelled(self, word: str, edits: int) -> dict[str, int]:
        segments = self.searched("rag.terms")
        if len(segments) == 1 and segments[0].alive is None:
            lexicon = segments[0].lexicon
            return lexicon.near(word, edits) if edits else lexicon.commonest(word)
        each = [
            segment.lexicon.near(word, edits) if edits else segment.lexicon.beginning(word)
            for segment in segments
        ]
        found = dict.fromkeys(itertools.chain(*each), 0)
        for term in found:
            found[term] = sum(s.lexicon.df(term, s.alive) for s in segments)
        return {term: df for term, df in found.items() if df}

    # ------------------------------------------------------------------------------------------ both retrievers --

    def hybrid(self, question: Question, vectors: NDArray[Any], chosen: Sets) -> Ranked:
        """Return the fused answer of both retrievers, in one call into the core if that can."""
        fusing = retriever_fusion.RetrieverFusion(self, question, vectors)
        segments, notes = self.searched("rag.terms"), question.notes
        width = question.width
        if not fusing.is_at_once:
            return self._step_by_step(fusing, segments, chosen, width)
        queries = question.queries or segments.questions(question.texts)
        notes.note("bm25")
        rows = segments.living if chosen is ALL else chosen.words(segments)
        return fusing.at_once(queries, rows, width, notes)

    def _step_by_step(
        self,
        fusing: retriever_fusion.RetrieverFusion,
        segments: exact_retrievers.Segments,
        chosen: Sets,
        width: int,
    ) -> Ranked:
        question, vectors, notes = fusing.question, fusing.vectors, fusing.question.notes
        remote_prefetch.terms(segments)
        weights = self._weights(segments, question.fields)
        remote_prefetch.lists(segments, question.texts, weights is not None)
        queries = question.queries or segments.questions(question.texts, weights=weights)
        words = self.match(
            question.texts, question.depth, chosen, question.threads, queries=queries,
            fields=question.fields,
        )  # fmt: skip
        notes.note("bm25")
        min_score = fusing.least(queries, words)
        notes.note("fuse")
        dense = retriever_fusion.reached(self, question, vectors, question.depth, chosen, min_score)
        notes.note("vector")
        return fusing.ranked(dense, width)

    def least(self, question: Question, vectors: NDArray[Any], words: Found) -> Float32s | None:
        queries = self.queries(question.texts, question.fields)
        return retriever_fusion.RetrieverFusion(self, question, vectors).least(queries, words)

    @property
    def fusion_method(self) -> retriever_fusion.Method:
        """The file's method of fusion and its parameter, for questions that choose none."""
        if self._method is None:
            self._method = retriever_fusion.recorded_method(self)
        return self._method

    @property
    def fusion_core(self) -> _core.Fusion:
        """The core's fusion of both retrievers; made on first use."""
        if self._core is None:
            near, words = self.searched("vector"), self.searched("rag.terms")
            lexicon = words.lexicons or words[0].lexicon
            self._core = _core.Fusion(words.parts_with(near), lexicon, near[0].matrix)
        return self._core

    def rank_code(
        self, texts: Sequence[str], rows: Int64s, scores: NDArray[np.float64],
        notes: Notes | None = None,
    ) -> tuple[Int64s, NDArray[np.float64]]:  # fmt: skip
        if self.is_elsewhere:
            remote_prefetch.whole(self._segments, "rag.chunks", "rag.documents", "rag.ids")
        return self._parts().rank_code(texts, rows, scores)

    def _parts(self) -> _core.Parts:
        """Return the records of all segments."""
        if self._records is None:
            self._records = _core.Parts([(s.base, s.rows, s.records, None) for s in self._segments])
        return self._records

    # ------------------------------------------------------------------------------------------------ named pages --

    @property
    def has_names(self) -> bool:
        """Whether documents have titles or links, so that passages can name pages."""
        if self._has_names is None:
            self._has_names = any(
                s.live and (s.has("rag.titles") or s.has("graph")) for s in self._segments
            )
        return self._has_names

    def first_rows(self, rows: Int64s, notes: Notes | None = None) -> Int64s:
        if self.is_elsewhere:
            remote_prefetch.chunk_records(self._segments, np.unique(rows))
            remote_prefetch.whole(self._segments, "rag.documents")
        return self._parts().first_rows(rows)

    def _all_titles(self) -> _core.Titles:
        """Return the titles of all segments."""
        if self.is_elsewhere:
            remote_prefetch.whole(self._segments, "rag.titles", "rag.documents")
        if self._titles is None:
            found = [
                (titles, s.records, s.alive, s.base)
                for s in self._segments
                if s.live and (titles := s.titles) is not None
            ]
            strips = self.lexicon.analysis.strip_accents
            self._titles = _core.Titles(found, strip_accents=strips)
        return self._titles

    def names_each(self, texts: Sequence[str], notes: Notes | None = None) -> list[Names]:
        titles = self._all_titles()
        return [titles.names(text) for text in texts]

    def title_matches(self, texts: Sequence[str]) -> list[list[TitleMatch]]:
        """Return where titles of live documents stand in each text."""
        titles = self._all_titles()
        return [titles.matches(text) for text in texts]

    def linked_each(self, rows: Sequence[int], notes: Notes | None = None) -> list[Names]:
        if self.is_elsewhere:
            remote_prefetch.chunk_records(self._segments, rows)
            remote_prefetch.whole(self._segments, "graph", "rag.documents", "rag.ids")
        return [self.link_targets.from_passage(row) for row in rows]

    @property
    def link_targets(self) -> LinkTargets:
        """The documents of the file, found by the targets of links."""
        if self._link_targets is None:
            self._link_targets = LinkTargets(self._segments)
        return self._link_targets

    def rarest(self, texts: Sequence[str], notes: Notes | None = None) -> list[int]:
        segments = self.searched("rag.terms")
        if self.is_elsewhere:
            remote_prefetch.terms(segments)
        return segments.all_lexicons.rarest(texts)

    def named_pages(self) -> _core.NamedPages | None:
        if self.is_elsewhere:
            return None
        if self._named_pages is None:
            texts = [(s.base, s.records, s.texts) for s in self._segments if s.rows]
            lexicons = self.searched("rag.terms").all_lexicons
            self._named_pages = _core.NamedPages(
                self._all_titles(), self._parts(), texts, lexicons, self.live,
                self.link_targets.from_passage if any(s.has("graph") for s in self._segments) else None,
            )  # fmt: skip
        return self._named_pages

    @property
    def sample(self) -> Int64s:
        """A sample of the collection: the rows with the smallest hashes of their keys, independent of the file's history."""
        return sample_rows.sample(self._segments, with_vectors=False).rows

    @property
    def sample_vectors(self) -> _core.Sample:
        """The vectors of the sample, kept together in memory."""
        if self._sample is None and self._sample_of_all is not None:
            self._sample = self._sample_of_all()
        if self._sample is None:
            vectors, metric = self._whole_sample(), self.config.get("metric", "cosine")
            if vectors is not None:
                self._sample = _core.Sample(vectors, metric, copy=False)
                return self._sample
            rows = sample_rows.sample(self._segments).vectors
            vectors = (
                np.array(rows, np.float32) if rows else np.empty((0, self.dim or 0), np.float32)
            )
            self._sample = _core.Sample(vectors, metric)
        return self._sample

    def _whole_sample(self) -> Floats | None:
        """Return the sample if the file stores its vectors together, and no row is deleted or bare; None otherwise.

        The vectors of a small file are not copied, since a copy would be most of the memory that it takes.
        """
        if self.is_elsewhere or self._alone is None:
            return None
        segment = self._alone
        if segment.live < segment.rows or segment.has_bare_rows:
            return None
        if segment.has("rag.sample"):
            return sample_rows.stored_whole(segment)
        if segment.rows > sample_rows.TAKEN:
            return None
        vectors: Floats = segment.stored_vectors(0, segment.rows)
        return vectors

    def sample_statistics(self, vector: Vector) -> tuple[float, float]:
        """Return (mean, deviation) of a vector's exact scores over the sample."""
        return self.sample_vectors.moments(vector)

    # ----------------------------------------------------------------------------------------------------- hits --

    def hits(self, ranked: Ranked, degraded: str, notes: Notes | None = None) -> list[Hits]:
        """Return the hits of some answers. Those of a remote file are read at once, in few requests."""
        skips_nan = "vector" in ranked.parts and self.has_bare_rows
        found = unread(Passages(self), ranked, degraded, skips_nan)
        if self.is_elsewhere:
            for rows, hits in zip(ranked.rows, found, strict=True):
                remote_prefetch.passages(self._segments, rows[rows >= 0].tolist())
                for hit in hits:
                    hit.read()
        return found


def rows_of(path: StrPath, *, strict: bool = False) -> FileRows:
    """Open the rows of a file's newest commit."""
    return FileRows(open_snapshot(FileSource(path), strict=strict))


def rows_over(
    reader: _core.Reader, path: StrPath, *, strict: bool = False, before: FileRows | None = None
) -> FileRows:
    """Return the rows of the commit that a reader has open.

    Segments that `before` has, the rows of an older commit, are not read again.
    """
    older = None if before is None else before.snapshot
    return FileRows(snapshot_over(reader, path, strict=strict, before=older))


def unread(passages: Passages, ranked: Ranked, degraded: str, skips_nan: bool) -> list[Hits]:
    """Return the hits of some answers, to be read on first access."""
    parts = ranked.parts.items()
    found: list[Hits] = []
    for i, (rows, scores) in enumerate(zip(ranked.rows, ranked.scores, strict=True)):
        each = {name: part[i] for name, part in parts}
        hits = passages.hits(rows, scores, ranked.score_type, each, skips_nan)
        found.append(Hits(hits, degraded=degraded))
    return found


def places(rows: Sequence[Int64s], ordered: Sequence[int]) -> list[Int64s]:
    """Return the place of each question's rows in an order of all of them."""
    place = {row: number for number, row in enumerate(ordered)}
    return [np.array([place[row] for row in part.tolist()], np.int64) for part in rows]


def unseen(path: str, key: str) -> str:
    """Return the warning about a filter's key that no row has."""
    return f"{path}: no chunk has {key!r} in its metadata, so this filter does not see it"
