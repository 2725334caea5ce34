"""An open dataset, with the surface of one file: many shards, asked as one.

    search ─ KnowledgeBase, unchanged ─ match, nearest, scores, passages ─ plan ─ run (executor) ─ merge

A search is that of a file. Only its few calls for rows go another way: each is planned, carried out shard by shard with the
statistics of the whole, and merged. What is not a search (documents, iteration, Arrow, filters as masks) sees the shards'
segments as those of one file, and opens the shards when it is first used.

Rows count through the shards in the order of the manifest. A generation never changes: refresh() goes on to a newer one.
"""

from __future__ import annotations

import bisect
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ragfile.errors import CorruptError, FilterWarning, FormatError
from ragfile.ground.urls import is_remote
from ragfile.ingest.analysis import Statistics
from ragfile.query.searching import KnowledgeBase
from ragfile.records import Hit, Hits
from ragfile.sharding import committing, merging, pruning
from ragfile.sharding import manifest as manifests
from ragfile.sharding.asking import (
    Chosen,
    Counted,
    Failure,
    Lengths,
    Match,
    Nearest,
    Pass,
    Read,
    Score,
)
from ragfile.sharding.executors import executor_of
from ragfile.sharding.executors.here import Here
from ragfile.sharding.fusing import Fusing
from ragfile.sharding.manifest import sha256
from ragfile.sharding.places import place
from ragfile.sharding.planning import LITTLE, UNSIGNED, plan, window_of
from ragfile.sharding.shards import opened
from ragfile.sharding.statistics import Whole
from ragfile.store import exact, filters, row_sets
from ragfile.store.described import signature_fact
from ragfile.store.opened import Closed, of_one_commit
from ragfile.store.passages import Passages
from ragfile.store.row_reading import RowPlace, Standing
from ragfile.store.row_segment import Segment, StoredDocument, copied
from ragfile.store.row_sets import RowSet, RowSets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ragfile.embedding.protocol import Embedder
    from ragfile.ground.signing_keys import PublicKey
    from ragfile.ingest.analysis import Analysis
    from ragfile.sharding.asking import Leg, Task
    from ragfile.sharding.manifest import Manifest, ShardRecord
    from ragfile.types import (
        FieldWeights,
        Float32s,
        Int64s,
        OnMissing,
        RowFilter,
        StrPath,
        TagFilter,
        Vector,
        Vectors,
        Where,
    )


class Dataset(KnowledgeBase):
    """A dataset opened for asking; see the package's open()."""

    manifest: Manifest
    has_filters_apart = True  # its files have no rows in common

    def __init__(
        self, path: StrPath, *, embedder: str | Embedder | None = None, generation: int = 0,
        strict: bool = False, embedding_cache: StrPath | bool | None = None, offline: bool = False,
        cache: StrPath | None = None, executor: Any = None, on_missing: OnMissing = "error",
        workers: int | None = None, trusted: Iterable[PublicKey | StrPath | bytes] | None = None,
    ) -> None:  # fmt: skip
        if on_missing not in ("error", "partial"):
            raise ValueError(f"on_missing is 'error' or 'partial', not {on_missing!r}")
        self.store = place(path)
        self._cache_folder = None if cache is None else str(cache)
        self._executor, self._on_missing = executor_of(executor, workers), on_missing
        self._failures: dict[int, Failure] = {}
        self._skips: list[int] = []
        super().__init__(
            self.store.root, embedder=embedder, generation=generation, strict=strict,
            embedding_cache=embedding_cache, offline=offline, trusted=trusted,
        )  # fmt: skip
        self._options: dict[str, Any] = {
            "generation": generation, "strict": strict, "embedder": embedder,
            "embedding_cache": embedding_cache, "offline": offline, "cache": cache,
            "executor": executor, "on_missing": on_missing, "workers": workers,
            "trusted": self._options["trusted"],
        }  # fmt: skip

    # ------------------------------------------------------------------------------- opening --

    def _open(self):
        raw, generation = committing.raw(self.store, self._options["generation"])
        self._contents, self._hash = None, sha256(raw)
        if self._options["trusted"] is not None:
            self._contents = self._signed_contents(generation)
        name = manifests.name_of(generation)
        self._read_manifest(manifests.parse(raw, f"{self.store.root}: {name}", generation))
        super()._open()

    def _signed_contents(self, generation):
        """What a trusted key says of the generation's objects; or it is refused."""
        from ragfile.ground.signing_keys import PublicKey
        from ragfile.sharding import signing

        keys = [PublicKey.of(key) for key in self._options["trusted"]]
        return signing.required(self.store, self._hash, generation, keys, self.store.root)

    def _content(self, path):
        """What an object must contain, "" where everything is good."""
        return "" if self._contents is None else self._contents.get(path, UNSIGNED)

    def _read_manifest(self, manifest):
        self.manifest, self.rows = manifest, manifest.bases[-1]
        self._bases, self._is_shut = manifest.bases, False
        is_far = is_remote(self.store.root)
        self._windows = [window_of(shard) for shard in manifest.shards] if is_far else []

    def _mapped(self) -> Any:
        return None

    def _identity(self) -> Any:
        return ()

    def _reader_of(self, generation: int) -> Any:
        return None

    def _read(self, reader: Any) -> None:
        """In the place of a file's table there is the manifest."""
        self._config: Any = self.manifest.config
        self._made: dict[Any, Any] = {}

    def _pinned(self):
        if self._is_shut:
            raise ValueError(f"{self.path} is closed")
        view = super()._pinned()
        view._failures, view._skips = {}, []
        return view

    def _is_untouched(self):
        return True

    def check_unchanged(self):
        """Objects of a dataset never change."""

    def close(self) -> None:
        self._executor.close()
        super().close()
        self._is_shut = True

    @property
    def _is_closed(self):
        return self._is_shut

    def refresh(self) -> bool:
        """Goes on to the newest generation; True when there was a newer one."""
        if self._is_closed:
            raise ValueError(f"{self.path} is closed")
        if self._options["generation"]:
            return False
        name = self.store.newest(manifests.FOLDER)
        with self._swap:
            if (manifests.generation_of(name or "") or 0) <= self.manifest.generation:
                return False
        fresh = self._pinned()
        fresh._open()
        del fresh._is_pinned
        with self._swap:
            self.__dict__.update(fresh.__dict__)
        return True

    def _all_segments(self) -> Any:
        """The segments of all shards, as those of one file."""
        if self._is_shut:
            return Closed(self.path)
        found = self._made.get("segments")
        if found is None:
            numbers = range(len(self.manifest.shards))
            found = self._made["segments"] = [s for n in numbers for s in self.segments_of(n)]
        return found

    def _set_segments(self, value: Any) -> None:
        """A file's close() puts something in their place."""

    segments: Any = property(_all_segments, _set_segments)

    def segments_of(self, number) -> list[Segment]:
        """The segments of a shard, with the numbers that their rows have here; none of one that is missing."""
        found = self._made.get(number)
        if found is None and (shard := self._shard(number)) is not None:
            base, found = self._bases[number], []
            for record, segment in zip(shard.reader.segments, shard.segments, strict=True):
                one = Segment(shard.reader, record, base + segment.base)
                one.metric, one.room = segment.metric, segment.room
                found.append(one)
            self._made[number] = found
        return found or []

    def place(self, row: int) -> RowPlace:
        """Which segment has a row, and as what number; only its shard is opened."""
        if not 0 <= row < self.rows:
            raise IndexError(f"row {row} of {self.rows}")
        segments = self.segments_of(self._number(row))
        if not segments:
            raise IndexError(f"row {row} is in a shard that is missing")
        segment = segments[exact.place(segments, row)]
        return RowPlace(segment, int(row - segment.base))

    def find(self, doc_id: str) -> StoredDocument | None:
        """Where a live document lies. Only shards whose ids can include it are opened."""
        for number, shard in enumerate(self.manifest.shards):
            if not shard.first <= doc_id <= shard.last:
                continue
            found = (segment.find(doc_id) for segment in reversed(self.segments_of(number)))
            there = next((one for one in found if one is not None), None)
            if there is not None:
                return there
        return None

    def _shards(self):
        """All shards, open; None in the place of one that is missing, where that is allowed."""
        return [self._shard(number) for number in range(len(self.manifest.shards))]

    def _shard(self, number):
        record = self.manifest.shards[number]
        try:
            url, content = self.store.url(record.path), self._content(record.path)
            window = self._windows[number] if self._windows else 0
            shard = opened(url, self._cache_folder, content, window)
            shard.check_identity(record.identity, record.rows)
            return shard
        except (OSError, FormatError) as error:
            self._note(Failure(number, f"{record.path.rpartition('/')[2]}: {error}", error))
            return None

    def shard_of(self, doc_id: str) -> ShardRecord | None:
        """The record of the shard in which a live document lies."""
        for number, shard in enumerate(self.manifest.shards):
            if shard.first <= doc_id <= shard.last:
                found = (segment.find(doc_id) for segment in self.segments_of(number))
                if any(there is not None for there in found):
                    return shard
        return None

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

    # --------------------------------------------------------------------------- what is in it --

    def __len__(self) -> int:
        return self.manifest.live

    def __repr__(self) -> str:
        if self._is_closed:
            return f"<Dataset {self.path}, closed>"
        shards = len(self.manifest.shards)
        return f"<Dataset {self.path}, {len(self):,} chunks in {shards:,} shards, generation {self.generation}>"

    @property
    def generation(self) -> int:
        """The number of the generation that is open."""
        return self.manifest.generation

    @property
    def has_lost_commit(self) -> bool:
        """Never: a manifest is there as a whole, or not."""
        return False

    @property
    def stale_records(self) -> list[dict[str, Any]]:
        numbers = [
            number
            for number, shard in enumerate(self.manifest.shards)
            if any(entry[0] == "rag.stale" for entry in shard.sections)
        ]
        there = (self._shard(number) for number in numbers)
        return [entry for shard in there if shard is not None for entry in shard.stale_records]

    @property
    def compaction(self) -> str:
        """Why compaction would pay, or ""."""
        dead = sum(shard.deletions for shard in self.manifest.shards)
        return f"{dead:,} rows are deleted" if dead > self.rows // 4 else ""

    @property
    def info(self) -> dict[str, Any]:
        """The dataset at a glance. Only shards with stale documents are opened."""
        manifest, config = self.manifest, self.manifest.config
        names = dict.fromkeys(entry[0] for s in manifest.shards for entry in s.sections)
        return {
            "path": self.path, "format": "dataset 1.0", "size": sum(s.bytes for s in manifest.shards),
            "generation": self.generation, "created": manifest.created, "message": manifest.message,
            "chunks": len(self), "deleted": self.rows - len(self), "shards": len(manifest.shards),
            "documents": sum(shard.documents for shard in manifest.shards), "dim": self.dim,
            "metric": config.get("metric"), "model": config.get("model"), "strategies": list(names),
            "assignment": manifest.assignment.get("by"), "compaction": self.compaction,
            "identity": sha256(manifest.dump())[:16], "segments": len(manifest.shards),
            "read_only": bool(manifest.writer_flags), "tail": 0, "recovered": False,
            "lost_generation": 0, "stale": sum(len(e["documents"]) for e in self.stale_records),
            "signatures": [signature_fact(signature) for signature in self.signatures],
        }  # fmt: skip

    @property
    def entries(self) -> list[Any]:
        """The sections of all shards; each one's `at` counts in its shard, whose number from 1 is in `segment`."""
        found = []
        for number, shard in enumerate(self._shards(), 1):
            if shard is not None:
                found += [{**entry, "segment": number} for entry in shard.entries]
        return found

    @property
    def strategies(self) -> list[str]:
        """Names of the sections of the shards."""
        return self.info["strategies"]

    def section(self, name: str, segment: int | None = None) -> Any:
        """A section of a shard, by the number that `entries` gives it; else the first of that name."""
        numbers = range(len(self.manifest.shards)) if segment is None else [segment - 1]
        shards = (self._shard(number) for number in numbers)
        found = (shard.section(name) for shard in shards if shard is not None)
        return next((section for section in found if section is not None), None)

    @property
    def signatures(self) -> list[Any]:
        """Who signed this generation, as far as they say so: `trusted=` of open() checks it."""
        from ragfile.sharding.signing import signatures_of

        return signatures_of(self.store, self._hash, self.generation)

    @property
    def footer(self) -> tuple[int, int]:
        """A dataset has none; its shards do."""
        raise ValueError(f"{self.path} is a dataset: its shards have footers")

    def raw(self, at: int, size: int) -> bytes:
        """A dataset is many files: open a shard for its bytes."""
        raise ValueError(f"{self.path} is a dataset: its bytes are those of its shards")

    def rows_in(self, start: int, end: int) -> list[int]:
        """The live rows that start and end divide by row number: a dataset has no bytes of its own."""
        rows = self.live_rows()
        return rows[(rows >= start) & (rows < end)].tolist()

    def verify(self, full: bool = True) -> Any:
        """(faults, counts) of all shards and statistics."""
        from ragfile.sharding.verifying import verify

        return verify(self.store.root, generation=self.generation)

    @property
    def has_vectors(self) -> bool:
        return bool(len(self)) and self._has("vector")

    @property
    def has_bare_rows(self) -> bool:
        shards = [{entry[0] for entry in shard.sections} for shard in self.manifest.shards]
        with_vectors = sum("vector" in names for names in shards)
        return any("rag.bare" in names for names in shards) or 0 < with_vectors < len(shards)

    def vector_mask(self) -> Any:
        masks = [
            np.zeros(record.rows, bool) if shard is None else shard.vector_mask()
            for shard, record in zip(self._shards(), self.manifest.shards, strict=True)
        ]
        return np.concatenate(masks) if masks else np.empty(0, bool)

    @property
    def has_bm25(self) -> bool:
        return bool(len(self)) and self._has("rag.terms")

    def _has(self, name):
        return any(entry[0] == name for s in self.manifest.shards for entry in s.sections)

    @property
    def whole(self) -> Whole:
        """The statistics of the dataset."""
        found = self._made.get("whole")
        if found is None:
            stored = self.manifest.statistics
            assert stored is not None
            url, content = self.store.url(stored.path), self._content(stored.path)
            window = stored.bytes if self._windows and stored.bytes <= LITTLE else 0
            found = Whole(url, self._cache_folder, content, window)
            if found.frequencies is not None and found.stats.rows != len(self):
                raise CorruptError(f"{self.path}: {stored.path} is of another generation")
            self._made["whole"] = found
        return found

    # ---------------------------------------------------------------------------------- asking --

    def _legs(self, ask: Any) -> tuple[list[Task], list[Leg]]:
        """(tasks, legs) of an ask: those that answered."""
        planned = plan(
            self.manifest, ask, self.store.url, self._cache_folder, self._contents, self._windows
        )
        tasks = [task for task in planned.tasks if task.shard not in self._failures]
        self._skips.append(planned.skipped)
        legs: list[Leg] = []
        for found in self._executor.run(tasks) if tasks else ():
            if isinstance(found, Failure):
                self._note(found)
            else:
                legs.append(found)
        return tasks, legs

    def _note(self, failure):
        if self._on_missing == "error":
            raise failure.error
        self._failures[failure.shard] = failure

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
        return merging.flags(legs, self._bases)

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

    def _near(self, queries, k, rows, threads, least, effort, recall):
        count = 1 if queries.ndim == 1 else len(queries)
        if not len(self) or not k or not count:
            return exact.nothing(count, k)
        if isinstance(rows, RowSets):
            return self._near_by_filter(
                np.atleast_2d(queries), k, rows, threads, least, effort, recall
            )
        self._need("vector")
        ask = Nearest(queries, k, rows, self._threads(threads), least, effort)
        return self._best(ask, count, k, recall if effort < 1 else None)

    def _near_by_filter(self, queries, k, sets, threads, least, effort, recall):
        """The same where each question has a filter of its own."""

        def ask(places, one):
            floors = None if least is None else least[places]
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
        found = merging.best(legs, self._bases, count, k)
        if recall is not None:
            recall[:] = merging.recall_of(legs, self._bases, found)
        tied = [] if self.manifest.is_ordered else merging.ties(found)
        return merging.cut(found, k, self._looked_at("keys", tied) if len(tied) else {})

    def _looked_at(self, what: str, rows: Any) -> dict[int, Any]:
        """What stands at some rows, in one ask where they are elsewhere; nothing, for those of a shard that is missing."""
        wanted = np.asarray(rows, np.int64)
        if not self.is_elsewhere:
            here = [row for row in wanted.tolist() if self.segments_of(self._number(row))]
            found = super()._looked_at(what, here) if here else {}
        else:
            found = self._by_row(Read(what, wanted)) if len(wanted) else {}
            if what == "vectors":  # a shard without any does not know their length
                nothing = np.full(self.dim or 0, np.nan, np.float32)
                found = {row: there if len(there) else nothing for row, there in found.items()}
            if what == "standings":
                found = {row: self._moved(row, there) for row, there in found.items()}
        for row in wanted.tolist() if len(found) < len(wanted) and what != "hits" else ():
            found.setdefault(row, _missing(what, row, self.dim or 0))
        return found

    def _number(self, row):
        """Which shard has a row."""
        return bisect.bisect_right(self._bases, row) - 1

    def _moved(self, row, standing):
        """Where a row stands, by the numbers that rows have here."""
        base = self._bases[self._number(row)]
        return standing._replace(first=standing.first + base, end=standing.end + base)

    def _by_row(self, ask):
        tasks, legs = self._legs(ask)
        return merging.by_row(tasks, legs, self._bases)

    def _scattered(self, parts, ask):
        tasks, legs = self._legs(ask)
        return merging.scattered(parts, tasks, legs, self._bases)

    def _warn_of_missing(self, chosen, legs):
        """Says once that no shard has a key of the filter."""
        if not isinstance(chosen.where, dict):
            return
        told = self._made.setdefault("unknown keys", set())
        unknown = {leg.shard: leg.unknown for leg in legs}
        for path in sorted(set(filters.compile(chosen.where).paths) - told):
            shards = enumerate(self.manifest.shards)
            if not all(path in unknown.get(n, ()) or pruning.lacks(s, path) for n, s in shards):
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
        by_key = merging.by_key(wanted.tolist(), keys)
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
        return Fusing(self, question, vectors, words).least()

    def _fused(self, question, vectors, rows, clock):
        """The answer of both retrievers."""
        depth, threads = question.depth, question.threads
        queries = question.queries or self._asked_for(question.texts, question.fields)
        words = self._matched(question.texts, depth, rows, threads, queries=queries)
        clock.note("bm25")
        fusing = Fusing(self, question, vectors, words, queries)
        least = fusing.least()
        clock.note("fuse")
        dense = self._reached(question, vectors, depth, rows, least)
        clock.note("vector")
        return fusing.ranked(dense, 2 * depth if question.looks_beyond else question.wanted)

    # ------------------------------------------------------------------------------------ hits --

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
            hits.failed = tuple(self._failures[n].reason for n in sorted(self._failures))
            lost = f"{len(hits.failed)} of {len(self.manifest.shards)} shards could not be asked"
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
