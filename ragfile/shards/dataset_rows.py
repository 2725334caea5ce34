"""The rows of a dataset: many shards that answer like one file.

    search ─ select, match, nearest, scores, hits ─┬─ plan ─ run (executor) ─ merge
                                                    └─ the segments of all shards, if they are local (local_rows.py)

A search that is run elsewhere is planned, run shard by shard with the statistics of the whole, and merged. Local shards
are asked together, as segments of one file. Other calls (documents, iteration, Arrow) read the segments of all shards as
those of one file, too. Shards are opened on first use.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ragfile import _core
from ragfile.errors import FilterWarning, FormatError
from ragfile.file import exact_retrievers, filters, row_sets
from ragfile.file.passages import Passages
from ragfile.file.row_sets import RowSet, RowSets
from ragfile.file.stored_rows import RowPlace, Standing, StoredRows, stacked
from ragfile.ground.call_site import stack_level
from ragfile.ground.json_values import is_object
from ragfile.ground.whole_numbers import whole
from ragfile.ingest.analysis import Statistics
from ragfile.search import retriever_fusion
from ragfile.search.file_rows import places, unread, unseen
from ragfile.search.question import Notes
from ragfile.shards import merged_answer, pruned_shards, shard_hits
from ragfile.shards.container import DatasetContainer
from ragfile.shards.dictionary import Dictionary
from ragfile.shards.executors.local import Here
from ragfile.shards.local_rows import row_set, rows_of_shards, set_of
from ragfile.shards.messages import (
    EVERYTHING,
    Chosen,
    Match,
    Nearest,
    Pass,
    RowRead,
    Score,
    ShardFailure,
    Targeted,
    Titled,
    Weighed,
)
from ragfile.shards.query_plan import plan, ruled_out
from ragfile.shards.ranking_fusion import RankingFusion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from ragfile.file.link_targets import FoundTarget
    from ragfile.file.row_segment import RowSegment, StoredDocument
    from ragfile.ingest.analysis import Analysis
    from ragfile.records import Hits
    from ragfile.search.file_rows import FileRows
    from ragfile.search.named_pages import Names, TitleMatch
    from ragfile.search.query_syntax import Sign
    from ragfile.search.question import Question
    from ragfile.search.retriever_fusion import Ranked
    from ragfile.search.rows_protocol import Found
    from ragfile.shards.executors import Executor
    from ragfile.shards.manifest import ShardRecord
    from ragfile.shards.messages import Ask, ShardResult, Task
    from ragfile.shards.snapshot import DatasetSnapshot
    from ragfile.types import (
        FieldWeights,
        Float32s,
        Int64s,
        RowFilter,
        TagFilter,
        Vector,
        Vectors,
        Where,
    )

    Places = NDArray[np.intp]  # numbers of questions


class DatasetRows(StoredRows):
    """The rows of one generation. They count through the shards in the order of the manifest."""

    def __init__(self, snapshot: DatasetSnapshot, executor: Executor) -> None:
        super().__init__()
        manifest = snapshot.manifest
        self.snapshot, self.path, self.config = snapshot, snapshot.path, manifest.config
        self.generation, self.count, self.live = (
            manifest.generation,
            manifest.bases[-1],
            manifest.live,
        )
        self._executor, self._is_here = executor, isinstance(executor, Here)
        self.is_elsewhere, self.is_encrypted = snapshot.is_far or not self._is_here, False
        names = [{entry[0] for entry in shard.sections} for shard in manifest.shards]
        self._sections: set[str] = set().union(*names)
        self._has_vectors = bool(self.live) and "vector" in self._sections
        self._has_bm25 = bool(self.live) and "rag.terms" in self._sections
        with_vectors = sum("vector" in some for some in names)
        self._has_bare_rows = "rag.bare" in self._sections or 0 < with_vectors < len(names)
        self._all_segments: list[RowSegment] | None = None
        self._unknown_keys: set[str] = set()
        self._method: retriever_fusion.Method | None = None
        self._local: FileRows | None = None
        self.file = DatasetContainer(self)
        self._dictionary = Dictionary(snapshot, self._results, self._has_bm25)

    @property
    def local(self) -> FileRows | None:
        """The rows of all shards as those of one file; None if they are asked one by one, because they are
        elsewhere, one cannot be opened, or an answer may lack some."""
        if self._local is None and not (self.is_elsewhere or self.snapshot.allow_partial):
            try:
                segments = [segment for segment in self.segments if segment.rows]
                whole = self._dictionary.whole if self._has_vectors else None
            except (OSError, FormatError):
                return None  # a task names the shard
            self._local = rows_of_shards(self.snapshot, segments, self.file, whole)
        return self._local

    @property
    def are_apart(self) -> bool:
        """Whether questions with filters of their own are asked one by one: no two files share a row."""
        return self.local is None

    @property
    def has_vectors(self) -> bool:
        return self._has_vectors

    @property
    def has_bm25(self) -> bool:
        """Whether there are chunks in a BM25 index."""
        return self._has_bm25

    @property
    def has_further_passages(self) -> bool:
        """Whether a document has several chunks, or may have: some documents have none."""
        return any(shard.rows != shard.documents for shard in self.snapshot.manifest.shards)

    @property
    def has_bare_rows(self) -> bool:
        return self._has_bare_rows

    def check_unchanged(self) -> None:
        """Do nothing: the objects of a dataset never change."""

    def shown(self) -> str:
        """Describe these rows for a repr."""
        shards = len(self.snapshot.urls)
        return f"{self.live:,} chunks in {shards:,} shards, generation {self.generation}"

    # ------------------------------------------------------------------------------------------------- segments --

    @property
    def segments(self) -> Sequence[RowSegment]:
        """The segments of all shards that can be read, as those of one file."""
        if self._all_segments is not None:
            return self._all_segments
        of_shards = list(map(self.snapshot.segments_of, range(len(self.snapshot.urls))))
        found = list(chain.from_iterable(of_shards))
        if all(of_shards):  # a missing one may come back
            self._all_segments = found
        return found

    def place(self, row: int) -> RowPlace:
        """Return the segment of a row, and its number in it; only its shard is opened."""
        row = whole(row, "row")
        if not 0 <= row < self.count:
            raise IndexError(f"row {row} of {self.count}")
        segments = self.snapshot.segments_of(self.snapshot.number(row))
        if not segments:
            raise IndexError(f"row {row} is in a shard that is missing")
        segment = segments[exact_retrievers.place(segments, row)]
        return RowPlace(segment, int(row - segment.base))

    def find(self, doc_id: str) -> StoredDocument | None:
        """Return a live document. Only shards with its id in their range are opened."""
        for number, shard in enumerate(self.snapshot.manifest.shards):
            if not shard.first <= doc_id <= shard.last:
                continue
            segments = reversed(self.snapshot.segments_of(number))
            found = (segment.find(doc_id) for segment in segments)
            document = next((one for one in found if one is not None), None)
            if document is not None:
                return document
        return None

    def shard_of(self, doc_id: str) -> ShardRecord | None:
        """Return the record of the shard of a live document."""
        for number, shard in enumerate(self.snapshot.manifest.shards):
            if shard.first <= doc_id <= shard.last:
                found = (s.find(doc_id) for s in self.snapshot.segments_of(number))
                if any(document is not None for document in found):
                    return shard
        return None

    def documents_passing(self, where: Where) -> list[str]:
        """Return the ids of the documents with a chunk that passes a filter."""
        passing = np.flatnonzero(np.asarray(self.mask(where)))
        found: dict[str, bool] = {}
        for row in passing.tolist():
            segment, local = self.place(row)
            if segment.is_live(local):
                number = segment.records.chunk(local).document
                found[segment.records.document(number).id] = True
        return list(found)

    def vector_mask(self) -> NDArray[np.bool_]:
        masks = [
            np.zeros(record.rows, bool) if shard is None else shard.rows.vector_mask()
            for shard, record in zip(
                self.snapshot.shards(), self.snapshot.manifest.shards, strict=True
            )
        ]
        return np.concatenate(masks) if masks else np.empty(0, bool)

    # --------------------------------------------------------------------------------------------------- asking --

    def _results(self, ask: Ask, notes: Notes | None) -> tuple[list[Task], list[ShardResult]]:
        """Run an ask. Return its tasks, and the results of the shards that answered."""
        notes = Notes() if notes is None else notes
        planned = plan(self.snapshot, ask)
        tasks = [task for task in planned.tasks if task.shard not in notes.failed]
        notes.skips.append(planned.skipped)
        results: list[ShardResult] = []
        for found in self._executor.run(tasks) if tasks else ():
            if isinstance(found, ShardFailure):
                self.snapshot.note(found, notes)
            else:
                results.append(found)
        return tasks, results

    # ----------------------------------------------------------------------------------------------- which rows --

    def select(
        self, where: object = None, tags_any: TagFilter = (),
        tags_all: TagFilter = (), without: int | None = None, signs: Sequence[Sign] = (),
    ) -> Chosen:  # fmt: skip
        """Return the rows that may be found, as a filter for the shards."""
        if where is None and not (tags_any or tags_all or signs) and without is None:
            return EVERYTHING
        found = self._chosen(where, tags_any, tags_all)
        if without is not None:
            found = replace(found, without=without)
        return replace(found, signs=tuple(signs)) if signs else found

    def _chosen(
        self,
        where: object,
        tags_any: TagFilter,
        tags_all: TagFilter,
    ) -> Chosen:
        if isinstance(where, RowSet):
            return Chosen() if where.mask is None else Chosen(rows=np.flatnonzero(where.mask))
        if isinstance(where, Chosen):
            return where
        filters.compile(
            None, tags_any=tags_any, tags_all=tags_all
        )  # refuses a tag that is not in a list
        found = Chosen(tags_any=tuple(tags_any), tags_all=tuple(tags_all))
        if where is None or is_object(where) or row_sets.are_ids(where):
            filters.compile(None if where is None or not is_object(where) else where)
            return replace(found, where=where)
        mask = row_sets.mask_of(row_sets.as_rows(where), self.count)
        return replace(found, rows=np.flatnonzero(mask))

    def flags(self, chosen: Chosen, notes: Notes | None = None) -> NDArray[np.bool_] | None:
        return self._flags(chosen, notes, warns=True)

    def _flags(self, chosen: Chosen, notes: Notes | None, warns: bool) -> NDArray[np.bool_] | None:
        """Return bool[rows] of the rows that may be found, None for all; the shards evaluate the filter."""
        if chosen.is_all:
            return None
        if (local := self.local) is not None:
            return local.flags(set_of(local, chosen))
        _, results = self._results(Pass(chosen), notes)
        if warns:
            self._warn_of_missing(chosen, results)
        return merged_answer.flags(results, self.snapshot.bases)

    def mask(
        self,
        where: RowFilter | RowSet | Chosen | None = None,
        tags_any: TagFilter = (),
        tags_all: TagFilter = (),
    ) -> NDArray[np.bool_] | None:
        """Return bool[rows] of a condition, or None without one."""
        return self.flags(self.select(where, tags_any, tags_all))

    def listing(self, name: str, notes: Notes | None = None) -> NDArray[np.bool_]:
        if (local := self.local) is not None:
            return local.listing(name)
        found = self._flags(Chosen({"keywords": {"$contains": name}}), notes, warns=False)
        assert found is not None
        return found

    def _warn_of_missing(self, chosen: Chosen, results: Sequence[ShardResult]) -> None:
        """Warn once of each key of the filter that no shard has."""
        if chosen.where is None or not is_object(chosen.where):
            return
        unknown = {result.shard: result.unknown for result in results}
        for path in sorted(set(filters.compile(chosen.where).paths) - self._unknown_keys):
            shards = enumerate(self.snapshot.manifest.shards)
            if not all(
                path in unknown.get(n, ()) or pruned_shards.lacks(s, path) for n, s in shards
            ):
                continue
            self._unknown_keys.add(path)
            warnings.warn(unseen(self.path, path), FilterWarning, stacklevel=stack_level())

    # -------------------------------------------------------------------------------------------- one retriever --

    def nearest(
        self, vectors: NDArray[Any], k: int, chosen: Chosen | RowSets, threads: int | None,
        min_score: Float32s | None = None, effort: float = 1.0, recall: NDArray[np.float64] | None = None,
        notes: Notes | None = None,
    ) -> Found:  # fmt: skip
        count = 1 if vectors.ndim == 1 else len(vectors)
        if not self.live or not k or not count:
            return exact_retrievers.nothing(count, k)
        if effort >= 1 and (local := self.local) is not None:
            self._pass_over(chosen, notes)
            return local.nearest(vectors, k, row_set(local, chosen), threads, min_score)
        if isinstance(chosen, RowSets):
            queries = np.atleast_2d(vectors)
            return self._near_by_filter(
                queries, k, chosen, threads, min_score, effort, recall, notes
            )
        self._need("vector")
        ask = Nearest(vectors, k, chosen, self._threads(threads), min_score, effort)
        return self._best(ask, count, k, notes, recall if effort < 1 else None)

    def _near_by_filter(
        self, vectors: NDArray[Any], k: int, sets: RowSets, threads: int | None,
        min_score: Float32s | None, effort: float, recall: NDArray[np.float64] | None,
        notes: Notes | None,
    ) -> Found:  # fmt: skip
        """Find the nearest rows where each question has its own filter."""

        def ask(places: Places, one: Chosen) -> Found:
            floors = None if min_score is None else min_score[places]
            part = None if recall is None else np.ones(len(places))
            found = self.nearest(vectors[places], k, one, threads, floors, effort, part, notes)
            if recall is not None and part is not None:
                recall[places] = part
            return found

        return _by_filter(sets, k, ask)

    def match(
        self, texts: Sequence[str], k: int, chosen: Chosen | RowSets, threads: int | None, *,
        k1: float | None = None, b: float | None = None, queries: _core.Queries | None = None,
        fields: FieldWeights | None = None, notes: Notes | None = None,
    ) -> Found:  # fmt: skip
        if not self.live or not k or not len(texts):
            return exact_retrievers.nothing(len(texts), k)
        if (local := self.local) is not None:
            self._pass_over(chosen, notes)
            sets = row_set(local, chosen)
            return local.match(texts, k, sets, threads, k1=k1, b=b, queries=queries, fields=fields)
        if isinstance(chosen, RowSets):
            listed = list(texts)

            def asked_of(places: Places, one: Chosen) -> Found:
                some = [listed[int(i)] for i in places]
                return self.match(some, k, one, threads, k1=k1, b=b, fields=fields, notes=notes)

            return _by_filter(chosen, k, asked_of)
        self._need("rag.terms")
        stats, threads = self._dictionary.whole.stats, self._threads(threads)
        asked = queries or self.queries(texts, fields, notes=notes)
        ask = Match(asked, stats, k, chosen, threads, k1, b)
        return self._best(ask, len(texts), k, notes)

    def _pass_over(self, chosen: Chosen | RowSets, notes: Notes | None, rounds: int = 1) -> None:
        """Note how many shards a filter rules out, in each round of tasks that these rows save."""
        if notes is None or chosen is EVERYTHING:
            return
        each = cast("list[Chosen]", chosen.sets if isinstance(chosen, RowSets) else [chosen])
        notes.skips += [ruled_out(self.snapshot, one) for one in each] * rounds

    def _threads(self, threads: int | None) -> int | None:
        """Return the threads of a task: one by default in other processes."""
        return threads if self._is_here else threads or 1

    def _need(self, name: str) -> None:
        if name not in self._sections:
            raise ValueError(f"{self.path} has no section {name}")

    @property
    def has_sparse(self) -> bool:
        """Whether chunks bring weights of terms."""
        return bool(self.live) and "rag.sparse" in self._sections

    def sparse_best(
        self, questions: Sequence[_core.SparseQuestion], k: int, chosen: Chosen,
        notes: Notes | None = None,
    ) -> Found:  # fmt: skip
        if not self.live or not k or not len(questions):
            return exact_retrievers.nothing(len(questions), k)
        if (local := self.local) is not None:
            return local.sparse_best(questions, k, set_of(local, chosen))
        return self._best(Weighed(tuple(questions), k, chosen), len(questions), k, notes)

    def sparse_scores(
        self, rows: Int64s, question: _core.SparseQuestion, notes: Notes | None = None
    ) -> Float32s:
        part = np.asarray(rows, np.int64)
        if not len(part):
            return np.empty(0, np.float32)
        if (local := self.local) is not None:
            return local.sparse_scores(part, question)
        return self._scattered([part], Score([part], sparse=question), notes)[0]

    def _best(
        self, ask: Match | Nearest | Weighed, count: int, k: int, notes: Notes | None,
        recall: NDArray[np.float64] | None = None,
    ) -> Found:  # fmt: skip
        _, results = self._results(ask, notes)
        self._warn_of_missing(ask.chosen, results)
        bases, is_ordered = self.snapshot.bases, self.snapshot.manifest.is_ordered
        found = merged_answer.best(results, bases, count, k)
        if recall is not None:
            recall[:] = merged_answer.recall_of(results, bases, found)
        tied = np.empty(0, np.int64) if is_ordered else merged_answer.ties(found)
        return merged_answer.cut(found, k, self.looked_at("keys", tied, notes) if len(tied) else {})

    def scores_each(
        self, rows: Sequence[Int64s], notes: Notes | None, *, queries: _core.Queries | None = None,
        vectors: Vectors | None = None,
    ) -> list[Float32s]:  # fmt: skip
        """Return the exact scores of rows[i] for question i, by its terms or by its vector, from the shards."""
        if not any(len(part) for part in rows):
            return [np.empty(0, np.float32) for _ in rows]
        parts = [np.asarray(part, np.int64) for part in rows]
        if vectors is not None:
            ask = Score(parts, vectors=np.asarray(vectors))
        else:
            ask = Score(parts, queries, self._dictionary.whole.stats)
        return self._scattered(parts, ask, notes)

    def scores_of(
        self, rows: Int64s, *, text: str | None = None, vector: Vector | None = None,
        k1: float | None = None, b: float | None = None, fields: FieldWeights | None = None,
        notes: Notes | None = None,
    ) -> Float32s:  # fmt: skip
        if (local := self.local) is not None:
            return local.scores_of(rows, text=text, vector=vector, k1=k1, b=b, fields=fields)
        if vector is not None:
            return self.scores_each([rows], notes, vectors=np.asarray(vector)[None])[0]
        part, stats = np.asarray(rows, np.int64), self._dictionary.whole.stats
        asked = self.queries([text or ""], fields, notes=notes)
        return self._scattered([part], Score([part], asked, stats, None, k1, b), notes)[0]

    def _scattered(self, parts: list[Int64s], ask: Score, notes: Notes | None) -> list[Float32s]:
        tasks, results = self._results(ask, notes)
        return merged_answer.scattered(parts, tasks, results, self.snapshot.bases)

    # ------------------------------------------------------------------------------------------- the dictionary --

    @property
    def lexicon(self) -> _core.Frequencies:
        """The frequencies of the dataset, which analyze words as the index does."""
        frequencies = self._dictionary.whole.frequencies
        assert frequencies is not None  # only rows with BM25 are asked
        return frequencies

    @property
    def analysis(self) -> Analysis | None:
        """The analysis of the BM25 index; None without an index."""
        return self._dictionary.analysis

    def spelled(self, word: str, edits: int) -> dict[str, int]:
        return self._dictionary.whole.spelled(word, edits)

    def queries(
        self, texts: Sequence[str], fields: FieldWeights | None = None, terms: Sequence[str] = (),
        notes: Notes | None = None,
    ) -> _core.Queries:  # fmt: skip
        if (local := self.local) is not None:
            return local.queries(texts, fields, terms)
        return self._dictionary.queries(texts, fields, terms, notes)

    def statistics_of(
        self, query: str, fields: FieldWeights | None = None, notes: Notes | None = None
    ) -> Statistics:
        return self._dictionary.statistics_of(query, fields, notes)

    # ------------------------------------------------------------------------------------------ both retrievers --

    @property
    def fusion_method(self) -> retriever_fusion.Method:
        """The dataset's fusion, for questions without a fusion of their own: (method, parameter)."""
        if self._method is None:
            self._method = retriever_fusion.recorded_method(self)
        return self._method

    def hybrid(self, question: Question, vectors: NDArray[Any], chosen: Chosen | RowSets) -> Ranked:
        if question.effort >= 1 and (local := self.local) is not None:
            self._pass_over(chosen, question.notes, 2)
            return local.hybrid(question, vectors, row_set(local, chosen))
        depth, threads, notes = question.depth, question.threads, question.notes
        queries = question.queries or self.queries(question.texts, question.fields, notes=notes)
        words = self.match(question.texts, depth, chosen, threads, queries=queries, notes=notes)
        notes.note("bm25")
        fusing = RankingFusion(self, question, vectors, words, queries)
        min_score = fusing.floors()
        notes.note("fuse")
        dense = retriever_fusion.reached(self, question, vectors, depth, chosen, min_score)
        notes.note("vector")
        return fusing.ranked(dense, question.width)

    def rank_code(
        self, texts: Sequence[str], rows: Int64s, scores: NDArray[np.float64],
        notes: Notes | None = None,
    ) -> tuple[Int64s, NDArray[np.float64]]:  # fmt: skip
        if (local := self.local) is not None:
            return local.rank_code(texts, rows, scores)
        keys = self.looked_at("keys", np.unique(rows[rows >= 0]), notes)
        order, ranked = np.empty(rows.shape, np.int64), scores.copy()
        order[:] = np.arange(rows.shape[1])
        for i, text in enumerate(texts):
            count = int((rows[i] >= 0).sum())
            ids = [keys[row][0] for row in rows[i, :count].tolist()]
            found = _core.rank_code(text, ids, scores[i, :count].tolist())
            order[i, :count] = [one.at for one in found]
            ranked[i, :count] = [one.score for one in found]
        return order, ranked

    # ------------------------------------------------------------------------------------------------ named pages --

    @property
    def has_names(self) -> bool:
        """Whether documents have titles or links, so that passages can name pages."""
        return "rag.titles" in self._sections or "graph" in self._sections

    def first_rows(self, rows: Int64s, notes: Notes | None = None) -> Int64s:
        if (local := self.local) is not None:
            return local.first_rows(rows)
        found = self.looked_at("standings", np.unique(rows), notes)
        return np.array([found[row].first for row in rows.tolist()], np.int64)

    def names_each(self, texts: Sequence[str], notes: Notes | None = None) -> list[Names]:
        if (local := self.local) is not None:
            return local.names_each(texts)
        _, results = self._results(Titled(tuple(texts)), notes)
        found: list[list[TitleMatch]] = [[] for _ in texts]
        for result in results:
            base = self.snapshot.bases[result.shard]
            for all_, some in zip(found, result.value, strict=True):
                all_ += [(*place, row + base) for *place, row in some]
        return [_core.names_of(*each) for each in zip(texts, found, strict=True)]

    def linked_each(self, rows: Sequence[int], notes: Notes | None = None) -> list[Names]:
        if (local := self.local) is not None:
            return local.linked_each(rows)
        if "graph" not in self._sections:
            return [[] for _ in rows]
        links = self.looked_at("links", rows, notes)
        targets = list(dict.fromkeys(target for row in rows for _, target in links[row]))
        first = self._first_rows_of(targets, notes) if targets else {}
        return [
            [(text, [first[target]]) for text, target in links[row] if target in first]
            for row in rows
        ]

    def _first_rows_of(self, targets: Sequence[str], notes: Notes | None) -> dict[str, int]:
        """Return the first row of the document of each target that leads to one with rows."""
        _, results = self._results(Targeted(tuple(targets)), notes)
        best: dict[str, FoundTarget] = {}
        for result in results:
            base = self.snapshot.bases[result.shard]
            for target, found in zip(targets, result.value, strict=True):
                if found is not None and (target not in best or found.rank < best[target].rank):
                    row = None if found.row is None else base + found.row
                    best[target] = found._replace(row=row)
        return {target: one.row for target, one in best.items() if one.row is not None}

    def rarest(self, texts: Sequence[str], notes: Notes | None = None) -> list[int]:
        return [min(each, default=0) for each in self.queries(texts, notes=notes).frequencies()]

    def named_pages(self) -> None:
        """Return None: shards are asked step by step."""

    def least(self, question: Question, vectors: NDArray[Any], words: Found) -> Float32s | None:
        return RankingFusion(self, question, vectors, words).floors()

    def sample_statistics(self, vector: Vector) -> tuple[float, float]:
        """Return (mean, deviation) of a vector's exact scores over the sample."""
        return self._dictionary.whole.moments(vector)

    def ties_each(self, rows: Sequence[Int64s], notes: Notes | None) -> list[Int64s]:
        """Return the order of each question's rows among equal scores."""
        if self.snapshot.manifest.is_ordered:
            return list(rows)
        wanted = np.unique(np.concatenate([*rows, np.empty(0, np.int64)]))
        keys = self.looked_at("keys", wanted, notes)
        return places(rows, merged_answer.by_key(wanted.tolist(), keys))

    def documents_each(self, rows: Sequence[Int64s], notes: Notes | None) -> list[Int64s]:
        """Return numbers that are equal for rows of one document."""
        wanted = np.unique(np.concatenate([*rows, np.empty(0, np.int64)]))
        keys = self.looked_at("keys", wanted, notes)
        numbers: dict[bytes, int] = {}
        for row in wanted.tolist():
            numbers.setdefault(keys[row][0], len(numbers))
        return [
            np.array([numbers[keys[row][0]] for row in part.tolist()], np.int64) for part in rows
        ]

    # -------------------------------------------------------------------------------------------------- reading --

    def looked_at(
        self, what: str, rows: Iterable[int] | Int64s, notes: Notes | None = None
    ) -> dict[int, Any]:
        """Read a part of some rows, in one ask if they are elsewhere; rows of a missing shard get placeholders."""
        wanted = np.asarray(rows, np.int64)
        found: dict[int, Any] = {}
        if not self.is_elsewhere:
            here = [row for row in wanted.tolist() if self._is_read(row, notes)]
            found = super().looked_at(what, here) if here else {}
        else:
            if len(wanted):
                found = self._by_row(RowRead(what, wanted), notes)
            if what == "vectors":  # a shard without vectors does not know their length
                nothing = np.full(self.dim or 0, np.nan, np.float32)
                found = {row: one if len(one) else nothing for row, one in found.items()}
            elif what == "standings":
                found = {row: self._moved(row, one) for row, one in found.items()}
        for row in wanted.tolist() if len(found) < len(wanted) and what != "hits" else ():
            found.setdefault(row, shard_hits.missing(what, row, self.dim or 0))
        return found

    def vectors_of(self, rows: Iterable[int], notes: Notes | None = None) -> Float32s:
        wanted = list(rows)
        return stacked(self.looked_at("vectors", wanted, notes), wanted, self.dim or 0)

    def _is_read(self, row: int, notes: Notes | None) -> bool:
        """Return whether the shard of a row can be read."""
        return bool(self.snapshot.segments_of(self.snapshot.number(row), notes))

    def _moved(self, row: int, standing: Standing) -> Standing:
        """Return a standing with row numbers of the dataset."""
        base = self.snapshot.bases[self.snapshot.number(row)]
        return Standing(standing.key, standing.first + base, standing.end + base)

    def _by_row(self, ask: RowRead, notes: Notes | None) -> dict[int, Any]:
        tasks, results = self._results(ask, notes)
        return merged_answer.by_row(tasks, results, self.snapshot.bases)

    def hits(self, ranked: Ranked, degraded: str, notes: Notes) -> list[Hits]:
        """Return the hits of some answers. Hits that are elsewhere are read at once, in one ask."""
        skips_nan = "vector" in ranked.parts and self.has_bare_rows
        found = unread(Passages(self), ranked, degraded, skips_nan)
        if self.is_elsewhere:
            rows = np.unique(ranked.rows[ranked.rows >= 0])
            shard_hits.read(ranked, found, self.looked_at("hits", rows, notes))
        for hits in found:
            hits.skipped = sum(notes.skips)
            if notes.failed:
                shard_hits.note_failed(hits, notes, len(self.snapshot.urls))
        return found


def _by_filter(sets: RowSets, k: int, ask: Callable[[Places, Any], Found]) -> Found:
    """Run questions that have a filter each; those with the same filter run together."""
    rows, scores = exact_retrievers.nothing(len(sets.numbers), k)
    for number, one in enumerate(sets.sets):
        places = np.flatnonzero(sets.numbers == number)
        rows[places], scores[places] = ask(places, one)
    return rows, scores
