"""From a question to passages: the legs that a mode asks for, one fusion, and what a caller wants to know of them.

    query ─ [bm25 leg ─ vector leg] under one filter ─ union, both exact scores for every row ─ fusion ─ hits

A leg that cannot run (no vectors in the file, no embedder, a provider that is down) is left out, and `degraded` says why.
"""

from __future__ import annotations

import json
import logging
import time
from dataclasses import replace
from operator import index
from typing import TYPE_CHECKING, overload

import numpy as np

from ragfile import _core
from ragfile.embedding.protocol import embedded, embedder_of_file, open_embedder
from ragfile.errors import ModelError, ProviderError
from ragfile.ground import offline as network
from ragfile.ground import request_id as tracing
from ragfile.ground.lru import Recent
from ragfile.query.fusing_legs import Asking
from ragfile.records import Hits
from ragfile.store import prefetch
from ragfile.store.archive import Archive, of_one_commit

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal, Unpack

    from numpy.typing import NDArray

    from ragfile.embedding.protocol import Embedder
    from ragfile.query.answers import Answer, Events
    from ragfile.query.asking import AskOptions
    from ragfile.types import FusionChoice, Mode, Rows, StrPath, TagFilter, Vector, Vectors, Where

MODES = ("hybrid", "vector", "bm25", "keyword")
SAMPLE = 1024
NO_EMBEDDER = "the file does not record its embedder: name one (embedder=, --embedder), or give the question's vector"
REMEMBERED = 256  # questions' vectors, and whole answers

log = logging.getLogger("ragfile.search")


class KnowledgeBase(Archive):
    """A 1.0 file opened for asking; see the package's open()."""

    counters: dict[str, int]

    def __init__(
        self, path: StrPath, *, embedder: str | Embedder | None = None, generation: int = 0,
        strict: bool = False, embedding_cache: StrPath | bool | None = None, offline: bool = False,
    ) -> None:  # fmt: skip
        self.counters = {"searches": 0, "cached": 0, "embedding_calls": 0}
        self._given, self._cache, self._model = embedder, embedding_cache, ...
        self._is_offline, self._unopened = offline, ""
        super().__init__(path, generation=generation, strict=strict)
        self._options |= {
            "embedder": embedder,
            "embedding_cache": embedding_cache,
            "offline": offline,
        }

    def _open(self):
        super()._open()
        self._answers = Recent(REMEMBERED)
        model = self.config.get("model"), self.dim
        if self._model == model:
            return
        self._model, self._asked = (
            model,
            Recent(REMEMBERED),
        )  # vectors of another model are of no use
        self._opened = {}
        if self._given is not None:
            self._opened["embedder"] = self._checked(self._open_given())

    def _open_given(self):
        """The embedder that was named; None, with the reason kept, for one that offline leaves no way to."""
        with network.offline(self._is_offline):
            try:
                return open_embedder(self._given, cache=self._cache)
            except ProviderError as error:
                if not network.is_offline():
                    raise
                self._unopened = str(error)
                return None

    def close(self) -> None:
        super().close()
        self._answers = Recent(REMEMBERED)

    # ---------------------------------------------------------------------------------------------------- asking --

    @of_one_commit
    def search(
        self, query: str, k: int = 12, *, mode: Mode = "hybrid", where: Where | Rows | None = None,
        tags_any: TagFilter = (), tags_all: TagFilter = (), pool: int = 50,
        fusion: FusionChoice | None = None, vector: Vector | None = None, distinct: bool = False,
        threads: int | None = None, cache: bool = True, request_id: str | None = None,
    ) -> Hits:  # fmt: skip
        """The k best passages for a question.

        where is a filter on metadata, or a bool for each row, or row numbers; all filters are applied before ranking. pool is
        how many candidates each leg proposes. fusion is "calibrated" (what files record), "rrf" or "blend", or such a name
        with a dict of parameters. vector is the question's own vector, where it is known. distinct leaves out passages that
        nearly repeat a better one. cache=False makes the answer anew; a commit that refresh() finds forgets all answers.
        request_id names the request in the log and to the embedding provider.
        """
        request_id = request_id or tracing.new()
        key = (
            self._answer_key(
                query, k, mode, where, tags_any, tags_all, pool, fusion, vector, distinct
            )
            if cache
            else None
        )
        if key is not None and (known := self._answers.get(key)) is not None:
            self.counters["cached"] += 1
            clock, hits = _Clock(), _copied(known, request_id)
            clock.note("cache")
            hits.timings = clock.spent
            return self._logged(hits, query, k, mode)
        vectors = None if vector is None else np.asarray(vector, dtype=np.float32).reshape(1, -1)
        hits = self.search_batch(
            [query], k, mode=mode, where=where, tags_any=tags_any, tags_all=tags_all, pool=pool, fusion=fusion,
            vectors=vectors, distinct=distinct, threads=1 if threads is None else threads, request_id=request_id,
        )[0]  # fmt: skip
        if key is not None and not hits.degraded:
            self._answers.put(key, _copied(hits, request_id))
        return hits

    @overload
    def ask(
        self, question: str, *, stream: Literal[False] = False, **options: Unpack[AskOptions]
    ) -> Answer: ...
    @overload
    def ask(
        self, question: str, *, stream: Literal[True], **options: Unpack[AskOptions]
    ) -> Events: ...
    @of_one_commit
    def ask(self, question: str, *, stream: bool = False, **options: Any) -> Answer | Events:
        """An Answer with checked citations; with stream=True its Events, as they come.

        The options are those of ragfile.answering.ask.
        """
        from ragfile.query.asking import ask  # with all that chat needs, which a search does not

        return ask(self, question, stream=stream, **options)

    @of_one_commit
    def search_batch(
        self, queries: Iterable[str], k: int = 12, *, mode: Mode = "hybrid", where: Where | Rows | None = None,
        tags_any: TagFilter = (), tags_all: TagFilter = (), pool: int = 50,
        fusion: FusionChoice | None = None, vectors: Vectors | None = None, distinct: bool = False,
        threads: int | None = None, request_id: str | None = None,
    ) -> list[Hits]:  # fmt: skip
        """As search, for many questions: each leg is one call into the core. Answers are not kept."""
        if mode not in MODES:
            raise ValueError(f"unknown mode {mode!r}: use one of {', '.join(MODES)}")
        k, pool = min(index(k), len(self)), min(index(pool), len(self))
        if k < 0 or pool < 0:
            raise ValueError(f"k and pool must not be negative, not {k} and {pool}")
        queries, clock = _questions(queries), _Clock()
        if vectors is not None and len(vectors) != len(queries):
            raise ValueError(
                f"{len(queries)} questions have a vector each, not {len(vectors)} together"
            )
        with tracing.request(request_id or tracing.new()) as request_id:
            if mode == "keyword":
                found = [
                    self._keyword(query, k, self.mask(where, tags_any, tags_all))
                    for query in queries
                ]
                clock.note("fetch")
            else:
                chosen = self.mask(where, tags_any, tags_all)
                clock.note("filter")
                found = self._fused(
                    queries,
                    k,
                    mode,
                    chosen,
                    max(k, pool),
                    fusion,
                    vectors,
                    distinct,
                    threads,
                    clock,
                )
        for query, hits in zip(queries, found, strict=True):
            hits.timings, hits.request_id = clock.spent, request_id
            self._logged(hits, query, k, mode)
        return found

    def _fused(self, queries, k, mode, chosen, depth, fusion, vectors, distinct, threads, clock):
        vectors, lexical, degraded = self._legs(queries, mode, vectors)
        clock.note("embed")
        asking = Asking(self, queries, vectors, lexical, fusion, k, distinct)
        least = dense = None
        if lexical:
            words = self.match(queries, depth, where=chosen, threads=threads)
            clock.note("bm25")
            least = asking.take_words(words, depth)
            clock.note("fuse")
        if vectors is not None:
            dense = self.nearest(vectors, depth, where=chosen, threads=threads, least=least)
            clock.note("vector")
        answers = [asking.answer(i, dense) for i in range(len(queries))]
        clock.note("fuse")
        found = [self._hits(answer, degraded) for answer in answers]
        clock.note("fetch")
        return found

    def _legs(self, queries, mode, vectors):
        """(the questions' vectors or None, whether BM25 is asked, why a leg of this mode is left out or "")."""
        degraded = ""
        if mode == "bm25":
            vectors = None
        elif not self.has_vectors:
            vectors, degraded = None, "the file has no vectors"
        elif vectors is None:
            vectors, degraded = self._question_vectors(queries)
        lexical = mode != "vector" or vectors is None
        if lexical and not self.has_bm25:
            lexical, degraded = False, degraded or "the file has no BM25 index"
        return vectors, lexical, degraded

    def _answer_key(
        self, query, k, mode, where, tags_any, tags_all, pool, fusion, vector, distinct
    ):
        """What an answer depends on, for a commit; None for questions that have no short form."""
        if not (where is None or isinstance(where, dict)):
            return None
        raw = None if vector is None else np.asarray(vector, dtype=np.float32).tobytes()
        if where is None and not tags_any and not tags_all and not isinstance(fusion, tuple):
            return query, k, mode, pool, fusion, raw, distinct
        try:
            options = json.dumps([where, list(tags_any), list(tags_all), fusion], sort_keys=True)
        except (TypeError, ValueError):
            return None
        return query, k, mode, pool, options, raw, distinct

    def _logged(self, hits, query, k, mode):
        self.counters["searches"] += 1
        if log.isEnabledFor(logging.INFO):
            log.info("search", extra={"ragfile": _record(self, query, k, mode, hits)})
        return hits

    def _hits(self, answer, degraded):
        kind, rows, scores, by_leg = answer
        prefetch.passages(self.segments, rows)
        hits = [
            self.hit(row, score, kind, parts)
            for row, score, parts in zip(rows, scores, by_leg, strict=True)
        ]
        return Hits(hits, degraded=degraded)

    def _keyword(self, query, k, chosen):
        """Rows whose metadata lists the query among its "keywords", or whose id, document or source it is."""
        mask = self.mask({"keywords": {"$contains": query}})
        if (there := self.find(query)) is not None:
            mask[there.file_rows.start : there.file_rows.stop] = True
        if (row := self.row(query)) is not None:
            mask[row] = True
        for s in self.segments:
            mask[s.base : s.base + s.rows] &= s.live_mask()
        rows = np.flatnonzero(mask if chosen is None else mask & chosen)[:k]
        prefetch.passages(self.segments, rows)
        return Hits([self.hit(int(row), 1.0, "keyword", {"keyword": 1.0}) for row in rows])

    # ------------------------------------------------------------------------------------------------- embedding --

    @property
    def embedder(self) -> Embedder | None:
        """What turns questions into vectors: the one given, else the model that the file records, where it is on this
        machine. A file never makes anybody talk to a server."""
        if self._opened.get("embedder") is None and not self._wants_none:
            spec = (self.config.get("model") or {}).get("spec")
            if spec:
                self._opened["embedder"] = self._checked(embedder_of_file(spec, cache=self._cache))
        return self._opened.get("embedder")

    @property
    def _wants_none(self):
        return isinstance(self._given, str) and self._given == "none"

    def _checked(self, embedder):
        recorded = self.config.get("model")
        if embedder is None or not recorded:
            return embedder
        model = embedder.model
        if model.name != recorded["name"] or (
            model.dims is not None and self.dim is not None and model.dims != self.dim
        ):
            raise ModelError(
                f"{self.path} was built with {recorded['name']} ({self.dim} dimensions), not {model.name} ({model.dims})"
            )
        return embedder

    def _question_vectors(self, queries):
        """(vectors, "") or (None, why there are none)."""
        try:
            if self._wants_none:
                return None, "the embedder none was asked for"
            if self._unopened:
                return None, self._unopened
            if self.embedder is None:
                return None, NO_EMBEDDER
            with network.offline(self._is_offline):
                return self._remembered(queries), ""
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - anybody may write an embedder, and it may raise anything
            return None, f"no embedding: {str(error) or type(error).__name__}"

    def _remembered(self, queries):
        """Vectors of questions; the last few hundred are kept."""
        known = {query: self._asked.get(query) for query in queries}
        new = [query for query, vector in known.items() if vector is None]
        if new:
            self.counters["embedding_calls"] += 1
            for query, vector in zip(new, embedded(self.embedder, new, "query"), strict=True):
                known[query] = vector
                self._asked.put(query, vector)
        return np.array([known[query] for query in queries], dtype=np.float32).reshape(
            len(queries), -1
        )

    # -------------------------------------------------------------------------------------------------- the sample --

    @property
    def sample(self) -> NDArray[np.int64]:
        """Rows that stand for the collection: those with the smallest hashes of their keys, whatever the file's history."""
        prefetch.whole(self.segments, "rag.tombs", "rag.chunks", "rag.documents", "rag.ids")
        picked = sorted(
            (hash_, segment.base + row)
            for segment in self.segments
            for hash_, row in segment.records.sample(SAMPLE, segment.alive)
        )[:SAMPLE]
        return np.array([row for _, row in picked], dtype=np.int64)

    def sample_statistics(self, vector: Vector) -> tuple[float, float]:
        """(mean, deviation) of a question's exact scores over the sample, whose vectors are kept together in memory."""
        sample = self._made.get("sample")
        if sample is None:
            picked = self.sample
            prefetch.vector_rows(self.segments, picked)
            rows = [self.vector(row) for row in picked]
            vectors = (
                np.array(rows, dtype=np.float32) if rows else np.empty((0, len(vector)), np.float32)
            )
            sample = self._made["sample"] = _core.Sample(
                vectors, self.config.get("metric", "cosine")
            )
        return sample.moments(vector)


def _questions(queries):
    """The questions as a list, if they are texts."""
    if isinstance(queries, str):
        raise TypeError("questions are a list of texts, not one text: that is what search is for")
    queries = list(queries)
    for query in queries:
        if not isinstance(query, str):
            raise TypeError(f"a question is a str, not {type(query).__name__}")
    return queries


class _Clock:
    """Milliseconds by stage."""

    def __init__(self):
        self._last, self.spent = time.perf_counter(), {}

    def note(self, stage):
        now = time.perf_counter()
        self.spent[stage] = self.spent.get(stage, 0.0) + (now - self._last) * 1e3
        self._last = now


def _copied(hits, request_id):
    """Hits that their taker may change."""
    copies = Hits(
        replace(hit, scores=dict(hit.scores), metadata=dict(hit.metadata)) for hit in hits
    )
    copies.degraded, copies.timings, copies.request_id = (
        hits.degraded,
        dict(hits.timings),
        request_id,
    )
    return copies


def _record(base, query, k, mode, hits):
    return {
        "request_id": hits.request_id, "path": base.path, "generation": base.generation, "query": query, "k": k, "mode": mode, "found": len(hits),
        "degraded": hits.degraded, "scores": [hit.score for hit in hits], "timings": hits.timings,
    }  # fmt: skip
