"""An open dataset, with the surface of one file: many shards, asked as one.

    search ─ KnowledgeBase, unchanged ─ match, nearest, scores, passages ─ plan ─ run (executor) ─ merge

A search is that of a file. Only its few calls for rows go another way: each is planned, carried out shard by shard with the
statistics of the whole, and merged. What is not a search (documents, iteration, Arrow, filters as masks) sees the shards'
segments as those of one file, and opens the shards when it is first used.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ragfile.errors import FilterWarning
from ragfile.file import exact, filters, row_sets
from ragfile.file.open_file import of_one_commit
from ragfile.file.passages import Passages
from ragfile.file.row_reader import Standing
from ragfile.file.row_segment import copied
from ragfile.file.row_sets import RowSet, RowSets
from ragfile.ground.urls import is_remote
from ragfile.ingest.analysis import Statistics
from ragfile.records import Hit, Hits
from ragfile.shards import merged_answer, shard_bounds
from ragfile.shards.executors.local import Here
from ragfile.shards.leg_fusion import LegFusion
from ragfile.shards.messages import (
    Chosen,
    Counted,
    Lengths,
    Match,
    Nearest,
    Pass,
    RowRead,
    Score,
    ShardFailure,
)
from ragfile.shards.open_shards import OpenDataset
from ragfile.shards.query_plan import plan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ragfile.ingest.analysis import Analysis
    from ragfile.shards.messages import ShardLeg, Task
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


class Dataset(OpenDataset):
    """A dataset opened for asking; see the package's open()."""

    def documents_passing(self, where: Where) -> list[str]:
        """The ids of the documents of which a chunk passes a filter."""
        passing = np.flatnonzero(np.asarray(self.mask(where)))
        found = {}
        for row in passing.tolist():
            segment, local = self.place(row)
            if segment.is_live(local):
                number = segment.records.chunk(local).document
                found[segment.records.document(number).id] = True
        return list(found)

    def _legs(self, ask: Any) -> tuple[list[Task], list[ShardLeg]]:
        """(tasks, legs) of an ask: those that answered."""
        planned = plan(
            self.manifest, ask, self.store.url, self._cache_folder, self._contents, self._windows
        )
        tasks = [task for task in planned.tasks if task.shard not in self._failures]
        self._skips.append(planned.skipped)
        legs: list[ShardLeg] = []
        for found in self._executor.run(tasks) if tasks else ():
            if isinstance(found, ShardFailure):
                self._note(found)
            else:
                legs.append(found)
        return tasks, legs

    def row_set(self, where: Any = None, tags_any: TagFilter = (), tags_all: TagFilter = ()) -> Any:
        """What retrievers are told: filters go to the shards as they are, rows are cut up for them."""
        if isinstance(where, RowSet):
            return Chosen() if where.mask is None else Chosen(rows=np.flatnonzero(where.mask))
        if isinstance(where, Chosen):
            return where
        filters.compile(None, tags_any=tags_any, tags_all=tags_all)  # which refuses what is no list
        tags: Any = {"tags_any": tuple(tags_any), "tags_all": tuple(tags_all)}
        if where is None or isinstance(where, dict) or row_sets.are_ids(where):
            filters.compile(where if isinstance(where, dict) else None)
            return Chosen(where, **tags)
        return Chosen(rows=np.flatnonzero(self._mask_of(where)), **tags)

    @of_one_commit
    def mask(
        self, where: RowFilter | None = None, tags_any: TagFilter = (), tags_all: TagFilter = ()
    ) -> Any:
        """bool[rows] of a condition, or None when there is none. Its shards say which rows pass."""
        return self._passed(self.row_set(where, tags_any, tags_all))

    def _passed(self, chosen, warns=True):
        """bool[rows]: those that may be found; None for all."""
        if chosen.is_all:
            return None
        _, legs = self._legs(Pass(chosen))
        if warns:
            self._warn_of_missing(chosen, legs)
        return merged_answer.flags(legs, self._bases)

    def _rows_for(self, question):
        chosen = self.row_set(question.where, question.tags_any, question.tags_all)
        return chosen if question.without is None else replace(chosen, without=question.without)

    def _passing(self, question):
        return self._passed(self._rows_for(question))

    def _listing(self, name):
        return self._passed(Chosen({"keywords": {"$contains": name}}), warns=False)

    def _signed(self, question, signs):
        return replace(self._rows_for(question), signs=tuple(signs))

    @property
    def lexicon(self) -> Any:
        """What makes terms of words as the index does."""
        return self.whole.frequencies

    def _spelled(self, word, edits):
        return self.whole.spelled(word, edits)

    @property
    def analysis(self) -> Analysis | None:
        return self.whole.analysis if self.has_bm25 else None

    def _asked_for(self, texts, fields=None, terms=()):
        whole = self.whole
        queries, analysis = whole.queries(list(texts), terms), self.analysis
        weights = analysis.weights_for(fields) if fields and analysis else None
        if weights is None or analysis is None:
            return queries
        total = analysis.reweighed(whole.stats.total_length, self._field_lengths(), weights)
        queries.weigh(weights, whole.stats.rows, total, analysis.k1, analysis.b)
        if 0 in weights:
            self._count(queries)
        return queries

    def _field_lengths(self):
        """The summed length of all rows in each field with lists of its own: asked for once a generation."""
        known = self._made.get("field lengths")
        if known is None:
            _, legs = self._legs(Lengths())
            none = [0] * len(self.analysis.own_fields) if self.analysis else []
            known = [sum(parts) for parts in zip(none, *(leg.value for leg in legs), strict=True)]
            if not self._failures:
                self._made["field lengths"] = known
        return known

    def _count(self, queries):
        """Gives terms their frequencies by weights of which some are 0."""
        _, legs = self._legs(Counted(queries))
        found: dict[str, int] = {}
        for i, terms in enumerate(queries.terms()):
            each = (leg.value[i] for leg in legs)
            counts = [sum(parts) for parts in zip([0] * len(terms), *each, strict=True)]
            found.update(zip((term for term, _ in terms), counts, strict=True))
        queries.set_df(found)

    def _statistics_of(self, query, fields=None):
        analysis = self.analysis
        if fields and analysis and analysis.weights_for(fields):
            return Statistics.weighed(self._asked_for([query], fields))
        return self.whole.of(query)

    def _threads(self, threads):
        """A pool's processes have a thread each."""
        return threads if isinstance(self._executor, Here) else threads or 1

    def _near(self, queries, k, rows, threads, min_score, effort, recall):
        count = 1 if queries.ndim == 1 else len(queries)
        if not len(self) or not k or not count:
            return exact.nothing(count, k)
        if isinstance(rows, RowSets):
            return self._near_by_filter(
                np.atleast_2d(queries), k, rows, threads, min_score, effort, recall
            )
        self._need("vector")
        ask = Nearest(queries, k, rows, self._threads(threads), min_score, effort)
        return self._best(ask, count, k, recall if effort < 1 else None)

    def _near_by_filter(self, queries, k, sets, threads, min_score, effort, recall):
        """The same where each question has a filter of its own."""

        def ask(places, one):
            floors = None if min_score is None else min_score[places]
            part = None if recall is None else np.ones(len(places))
            found = self._near(queries[places], k, one, threads, floors, effort, part)
            if recall is not None:
                recall[places] = part
            return found

        return _by_filter(sets, k, ask)

    def _need(self, name):
        if not self._has(name):
            raise ValueError(f"{self.path} has no section {name}")

    def _best(self, ask, count, k, recall=None):
        _, legs = self._legs(ask)
        self._warn_of_missing(ask.chosen, legs)
        found = merged_answer.best(legs, self._bases, count, k)
        if recall is not None:
            recall[:] = merged_answer.recall_of(legs, self._bases, found)
        tied = [] if self.manifest.is_ordered else merged_answer.ties(found)
        return merged_answer.cut(found, k, self._looked_at("keys", tied) if len(tied) else {})

    def _looked_at(self, what: str, rows: Any) -> dict[int, Any]:
        """What stands at some rows, in one ask where they are elsewhere; nothing, for those of a shard that is missing."""
        wanted = np.asarray(rows, np.int64)
        if not self.is_elsewhere:
            here = [row for row in wanted.tolist() if self.segments_of(self._number(row))]
            found = super()._looked_at(what, here) if here else {}
        else:
            found = self._by_row(RowRead(what, wanted)) if len(wanted) else {}
            if what == "vectors":  # a shard without any does not know their length
                nothing = np.full(self.dim or 0, np.nan, np.float32)
                found = {row: there if len(there) else nothing for row, there in found.items()}
            if what == "standings":
                found = {row: self._moved(row, there) for row, there in found.items()}
        for row in wanted.tolist() if len(found) < len(wanted) and what != "hits" else ():
            found.setdefault(row, _missing(what, row, self.dim or 0))
        return found

    def _moved(self, row, standing):
        """Where a row stands, by the numbers that rows have here."""
        base = self._bases[self._number(row)]
        return standing._replace(first=standing.first + base, end=standing.end + base)

    def _by_row(self, ask):
        tasks, legs = self._legs(ask)
        return merged_answer.by_row(tasks, legs, self._bases)

    def _scattered(self, parts, ask):
        tasks, legs = self._legs(ask)
        return merged_answer.scattered(parts, tasks, legs, self._bases)

    def _warn_of_missing(self, chosen, legs):
        """Says once that no shard has a key of the filter."""
        if not isinstance(chosen.where, dict):
            return
        told = self._made.setdefault("unknown keys", set())
        unknown = {leg.shard: leg.unknown for leg in legs}
        for path in sorted(set(filters.compile(chosen.where).paths) - told):
            shards = enumerate(self.manifest.shards)
            if not all(
                path in unknown.get(n, ()) or shard_bounds.lacks(s, path) for n, s in shards
            ):
                continue
            told.add(path)
            said = f"{self.path}: no chunk has {path!r} in its metadata, so this filter does not see it"
            warnings.warn(said, FilterWarning, stacklevel=6)

    def scores_each(
        self, rows: Sequence[Int64s], *, queries: Any = None, vectors: Vectors | None = None
    ) -> list[Float32s]:
        """The exact scores of rows[i] for question i, by its terms or by its vector."""
        if not any(len(part) for part in rows):
            return [np.empty(0, np.float32) for _ in rows]
        parts = [np.asarray(part, np.int64) for part in rows]
        if vectors is not None:
            ask = Score(parts, vectors=np.asarray(vectors))
        else:
            ask = Score(parts, queries, self.whole.stats)
        return self._scattered(parts, ask)

    @of_one_commit
    def scores_of(
        self, rows: Int64s, *, text: str | None = None, vector: Vector | None = None,
        k1: float | None = None, b: float | None = None, fields: FieldWeights | None = None,
    ) -> Float32s:  # fmt: skip
        if vector is not None:
            return self.scores_each([rows], vectors=np.asarray(vector)[None])[0]
        part, stats = np.asarray(rows, np.int64), self.whole.stats
        ask = Score([part], self._asked_for([text or ""], fields), stats, None, k1, b)
        return self._scattered([part], ask)[0]

    def ties_each(self, rows: Sequence[Int64s]) -> list[Int64s]:
        if self.manifest.is_ordered:
            return list(rows)
        wanted = np.unique(np.concatenate([*rows, np.empty(0, np.int64)]))
        keys = self._looked_at("keys", wanted)
        by_key = merged_answer.by_key(wanted.tolist(), keys)
        order = {row: place for place, row in enumerate(by_key)}
        return [np.array([order[row] for row in part.tolist()], np.int64) for part in rows]

    def sample_statistics(self, vector: Vector) -> tuple[float, float]:
        return self.whole.moments(vector)

    def _matched(self, texts, k, rows, threads, *, k1=None, b=None, queries=None, fields=None):
        if not len(self) or not k or not len(texts):
            return exact.nothing(len(texts), k)
        if isinstance(rows, RowSets):
            return _by_filter(
                rows, k,
                lambda places, one: self._matched(
                    [texts[i] for i in places], k, one, threads, k1=k1, b=b, fields=fields
                ),
            )  # fmt: skip
        self._need("rag.terms")
        whole, threads = self.whole, self._threads(threads)
        queries = queries or self._asked_for(texts, fields)
        return self._best(Match(queries, whole.stats, k, rows, threads, k1, b), len(texts), k)

    def _least(self, question, vectors, words):
        return LegFusion(self, question, vectors, words).least()

    def _fused(self, question, vectors, rows, clock):
        """The answer of both retrievers."""
        depth, threads = question.depth, question.threads
        queries = question.queries or self._asked_for(question.texts, question.fields)
        words = self._matched(question.texts, depth, rows, threads, queries=queries)
        clock.note("bm25")
        fusing = LegFusion(self, question, vectors, words, queries)
        min_score = fusing.least()
        clock.note("fuse")
        dense = self._reached(question, vectors, depth, rows, min_score)
        clock.note("vector")
        return fusing.ranked(dense, 2 * depth if question.looks_beyond else question.wanted)

    @property
    def is_elsewhere(self) -> bool:
        """Whether passages are read at once, in few requests, rather than on first look."""
        return is_remote(self.store.root) or not isinstance(self._executor, Here)

    def passages(self) -> Passages:
        """What reads the rows of the generation that is open now."""
        view = self._pinned()
        view.__dict__.pop("_answers", None)  # which keep hits, which keep this
        return Passages(view)

    def _hits(self, ranked, degraded) -> list[Hits]:
        found = super()._hits(ranked, degraded)
        for hits in found:
            self._say_what_is_missing(hits)
        return found

    def _read_now(self, ranked, found):
        """The hits of all answers, in one ask."""
        there = self._looked_at("hits", np.unique(ranked.rows[ranked.rows >= 0]))
        for rows, hits in zip(ranked.rows.tolist(), found, strict=True):
            scored = zip(rows, list(hits), strict=False)
            hits[:] = [_made_hit(there[row], hit) for row, hit in scored if row in there]

    def _answered(self, question, request_id):
        """Each question begins anew: a shard that could not be asked may be there again."""
        self._failures.clear()
        self._skips.clear()
        return super()._answered(question, request_id)

    def _say_what_is_missing(self, hits):
        hits.skipped = sum(self._skips)
        if self._failures:
            hits.missing_shards = tuple(self._failures[n].reason for n in sorted(self._failures))
            lost = f"{len(hits.missing_shards)} of {len(self.manifest.shards)} shards could not be asked"
            hits.degraded = f"{hits.degraded}; {lost}" if hits.degraded else lost


def _missing(what, row, dim):
    """What is said in the place of a row whose shard failed meanwhile: its key stands after all others."""
    key = b"\xff", row
    return {
        "keys": key, "standings": Standing(key, row, row), "vectors": np.zeros(dim, np.float32),
        "metadata": {}, "contents": "", "ids": "",
    }[what]  # fmt: skip


def _by_filter(sets, k, ask):
    """Rows and scores of questions that have a filter each: those with the same one are asked together."""
    rows, scores = exact.nothing(len(sets.numbers), k)
    for number, one in enumerate(sets.sets):
        places = np.flatnonzero(sets.numbers == number)
        rows[places], scores[places] = ask(places, one)
    return rows, scores


def _made_hit(read, hit):
    """A hit of its own for each answer that a passage is in."""
    metadata: Any = copied(read.metadata)
    made = Hit(
        read.id, read.doc_id, read.chunk_index, read.text, hit.score, hit.score_type, hit.scores,
        read.tags, metadata, read.source, read.start, read.end,
    )  # fmt: skip
    made._source = (
        *hit._source[:2],
        (),
    )  # its vector and what is around it are read when asked for
    return made
