"""From a question to passages, one way:

    options ─ Question ─ rows that pass ─ [bm25 ─ vector] ─ both exact scores for every row ─ fusion ─ hits

A retriever that cannot run (no vectors in the file, no embedder, a provider that is down) is left out, and `degraded`
says why.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, overload

import numpy as np

from ragfile import _core
from ragfile.ground import request_id as tracing
from ragfile.ground.lru import Recent
from ragfile.query import fusing_legs
from ragfile.query.question import Question
from ragfile.query.question_vectors import QuestionVectors
from ragfile.records import PARTS, Hits
from ragfile.store import filters, prefetch, sampling
from ragfile.store.archive import Archive, of_one_commit
from ragfile.store.passages import copy_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Literal, Unpack

    from numpy.typing import NDArray

    from ragfile.embedding.protocol import Embedder
    from ragfile.ground.signing_keys import PublicKey
    from ragfile.query.answers import Answer, Events
    from ragfile.query.asking import AskOptions
    from ragfile.query.fusing_legs import Ranked
    from ragfile.records import Candidate, Chunk, Hit, Span
    from ragfile.types import (
        FusionChoice,
        Mode,
        RowFilter,
        RowFilters,
        StrPath,
        TagFilter,
        Vector,
        Vectors,
    )

REMEMBERED = 256  # whole answers

log = logging.getLogger("ragfile.search")


class KnowledgeBase(Archive):
    """A 1.0 file opened for asking; see the package's open()."""

    counters: dict[str, int]

    def __init__(
        self, path: StrPath, *, embedder: str | Embedder | None = None, generation: int = 0,
        strict: bool = False, embedding_cache: StrPath | bool | None = None, offline: bool = False,
        trusted: Iterable[PublicKey | StrPath | bytes] | None = None,
    ) -> None:  # fmt: skip
        self.counters = {"searches": 0, "cached": 0, "embedding_calls": 0}
        self._given, self._cache, self._model = embedder, embedding_cache, ...
        self._is_offline = offline
        super().__init__(path, generation=generation, strict=strict, trusted=trusted)
        self._options |= {
            "embedder": embedder,
            "embedding_cache": embedding_cache,
            "offline": offline,
        }

    def _open(self):
        super()._open()
        self._answers = Recent(REMEMBERED)
        model = self.config.get("model"), self.dim
        if self._model != model:  # vectors of another model are of no use
            self._model = model
            self._question_vectors = QuestionVectors(
                self.path,
                *model,
                given=self._given,
                cache=self._cache,
                counters=self.counters,
                offline=self._is_offline,
            )

    def close(self) -> None:
        super().close()
        self._answers = Recent(REMEMBERED)

    @property
    def embedder(self) -> Embedder | None:
        """What turns questions into vectors: the one given, else the model that the file records, where it is on this
        machine. A file never makes anybody talk to a server."""
        return self._question_vectors.embedder

    # ---------------------------------------------------------------------------------------------------- asking --

    @of_one_commit
    def search(
        self, query: str, k: int = 12, *, mode: Mode = "hybrid", where: RowFilter | None = None,
        tags_any: TagFilter = (), tags_all: TagFilter = (), pool: int = 50,
        fusion: FusionChoice | None = None, vector: Vector | None = None, distinct: bool = False,
        threads: int | None = None, cache: bool = True, request_id: str | None = None,
    ) -> Hits:  # fmt: skip
        """The k best passages for a question.

        where is a filter on metadata, a bool for each row, row numbers, or ids of chunks and documents; all filters are applied before ranking.
        pool is how many rows each retriever proposes. fusion is "calibrated" (what files record), "rrf" or "blend",
        or such a name with a dict of parameters. vector is the question's own vector, where it is known. distinct
        leaves out passages that nearly repeat a better one. cache=False makes the answer anew; a commit that
        refresh() finds forgets all answers. request_id names the request in the log and to the embedding provider.
        """
        question = Question(
            [query], k, mode, where, tags_any, tags_all, pool, fusion,
            None if vector is None else [vector], distinct, 1 if threads is None else threads,
        )  # fmt: skip
        if question.has_filters:
            raise TypeError("where is one filter for one question; a list is for search_batch")
        key = question.key() if cache else None
        known = None if key is None else self._answers.get(key)
        if known is not None:
            return self._kept(known, question, request_id or tracing.new())
        hits = self._answered(question, request_id)[0]
        if key is not None and not hits.degraded:
            self._answers.put(key, hits)
            return _given(hits)
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
        self, queries: Iterable[str], k: int = 12, *, mode: Mode = "hybrid", where: RowFilters | None = None,
        tags_any: TagFilter = (), tags_all: TagFilter = (), pool: int = 50,
        fusion: FusionChoice | None = None, vectors: Vectors | None = None, distinct: bool = False,
        threads: int | None = None, request_id: str | None = None,
    ) -> list[Hits]:  # fmt: skip
        """As search, for many questions: each retriever is one call into the core. Answers are not kept.

        where can also be a list with a filter for each question.
        """
        question = Question(
            queries, k, mode, where, tags_any, tags_all, pool, fusion, vectors, distinct, threads
        )
        return self._answered(question, request_id)

    @of_one_commit
    def highlights(self, query: str, passage: Hit | Chunk | Candidate | int) -> list[Span]:
        """Where the text of a passage has the question's words, stems included: in order, without overlaps.

        passage is a hit, a chunk, a candidate or a row. Spans are code points of its text, with the
        markup that it has. A file without a BM25 index has no words to compare.
        """
        from ragfile.query import highlighting  # which a search does not need

        text = self.chunk(passage).text if isinstance(passage, int) else passage.text
        if not self.has_bm25:
            return []
        lexicon = self._searched("rag.terms")[0].lexicon
        return highlighting.spans(lexicon, {term for term, _ in lexicon.terms(query)}, text)

    def _kept(self, known, question, request_id):
        """An answer that was given before."""
        self.counters["cached"] += 1
        clock, hits = _Clock(), _copied(known)
        clock.note("cache")
        hits.timings, hits.request_id = clock.spent, request_id
        self._log(question, 0, hits)
        return hits

    def _answered(self, question, request_id) -> list[Hits]:
        clock = _Clock()
        with tracing.request(request_id or tracing.new()) as request_id:
            parts = self._found(question.limited(len(self)), clock)
        found = [Hits()] * len(question.texts)
        for places, ranked, degraded in parts:
            for i, hits in zip(places, self._hits(ranked, degraded), strict=True):
                found[i] = hits
        clock.note("fetch")
        for i, hits in enumerate(found):
            hits.timings, hits.request_id = clock.spent, request_id
            self._log(question, i, hits)
        return found

    def _found(self, question, clock) -> list[tuple[Sequence[int], Ranked, str]]:
        """What was found, in parts: (which questions, their answers, what was left out and why). Questions that have
        filters of their own are asked filter by filter."""
        asked = [(range(len(question.texts)), question)]
        if question.has_filters:
            asked = question.by_filter()
        ask = self._by_name if question.mode == "keyword" else self._by_content
        answers = [ask(part, clock) for _, part in asked]
        return [
            (places, ranked, why) for (places, _), (ranked, why) in zip(asked, answers, strict=True)
        ]

    def _by_content(self, question, clock):
        rows = self.row_set(question.where, question.tags_any, question.tags_all)
        clock.note("filter")
        vectors, has_words, degraded = self._retrievers(question)
        clock.note("embed")
        fusing_legs.check(question.fusion)
        if has_words and vectors is not None:
            ranked = self._fused(question, vectors, rows, clock)
        else:
            ranked = self._by_one(question, vectors, has_words, rows, clock)
        if question.distinct:
            ranked = fusing_legs.distinct(self, ranked, question.k)
        clock.note("fuse")
        return ranked, degraded

    def _fused(self, question, vectors, rows, clock):
        """The answer of both retrievers."""
        fusing = fusing_legs.Fusing(self, question, vectors)
        depth, threads = question.depth, question.threads
        segments = self._searched("rag.terms")
        prefetch.terms(segments)
        prefetch.lists(segments, question.texts)
        queries = segments.questions(question.texts)
        words = self._matched(question.texts, depth, rows, threads, queries=queries)
        clock.note("bm25")
        least = fusing.least(queries, words)
        clock.note("fuse")
        dense = self.nearest(vectors, depth, where=rows, threads=threads, least=least)
        clock.note("vector")
        return fusing.ranked(dense, 2 * depth if question.looks_beyond else question.k)

    def _by_one(self, question, vectors, has_words, rows, clock):
        """The answer of one retriever, or of none."""
        depth, threads = question.depth, question.threads
        if vectors is None and not has_words:
            return fusing_legs.nothing("none", len(question.texts), 0)
        if has_words:
            found = "bm25", self._matched(question.texts, depth, rows, threads)
        else:
            near: Any = vectors
            found = "vector", self.nearest(near, depth, where=rows, threads=threads)
        clock.note(found[0])
        ranked = fusing_legs.one_leg(*found)
        return ranked if question.looks_beyond else ranked.cut(question.k)

    def _retrievers(self, question):
        """(the questions' vectors or None, whether BM25 is asked, why a retriever of this mode is left out or "")."""
        vectors, degraded = question.vectors, ""
        if not len(self):  # nothing to find, and nothing amiss
            return None, False, ""
        if question.mode == "bm25":
            vectors = None
        elif not self.has_vectors:
            vectors, degraded = None, "the file has no vectors"
        elif vectors is None:
            vectors, degraded = self._question_vectors.of(question.texts)
        has_words = question.mode != "vector" or vectors is None
        if has_words and not self.has_bm25:
            has_words, degraded = False, degraded or "the file has no BM25 index"
        return vectors, has_words, degraded

    def _by_name(self, question, clock):
        chosen = self.mask(question.where, question.tags_any, question.tags_all)
        named = [self._named(text, question.k, chosen) for text in question.texts]
        ranked = fusing_legs.nothing(
            "keyword", len(named), max(map(len, named), default=0), ["keyword"]
        )
        for i, rows in enumerate(named):
            ranked.rows[i, : len(rows)] = rows
            ranked.scores[i, : len(rows)] = ranked.parts["keyword"][i, : len(rows)] = 1.0
        return ranked, ""

    def _named(self, name, k, chosen):
        """Rows whose metadata lists the name among its "keywords", or whose id, document or source it is."""
        listed = filters.compile({"keywords": {"$contains": name}})
        mask = self.alive(listed.mask(self.columns))
        if (there := self.find(name)) is not None:
            mask[there.file_rows.start : there.file_rows.stop] = True
        if (row := self.row(name)) is not None:
            mask[row] = True
        return np.flatnonzero(mask if chosen is None else mask & chosen)[:k]

    def _hits(self, ranked, degraded) -> list[Hits]:
        """The hits of some answers. Those of a file that is elsewhere are read now, in few requests; others on first look."""
        passages, names = self.passages(), list(ranked.parts)
        columns = [ranked.rows.tolist(), ranked.scores.tolist()]
        columns.append(zip(*(part.tolist() for part in ranked.parts.values()), strict=True))
        found = []
        for rows, scores, parts in zip(*columns, strict=True) if names else ():
            each = zip(rows, scores, zip(*parts, strict=True), strict=True)
            hits = [
                passages.hit(row, score, ranked.score_type, dict(zip(names, part, strict=True)))
                for row, score, part in each
                if row >= 0
            ]
            found.append(Hits(hits, degraded=degraded))
        if self.is_elsewhere:
            self._read_now(ranked, found)
        return found or [Hits(degraded=degraded) for _ in ranked.rows]

    def _read_now(self, ranked, found):
        """All that hits of a file that is elsewhere have to say, in few requests for each answer."""
        for rows, hits in zip(ranked.rows, found, strict=True):
            prefetch.passages(self.segments, rows[rows >= 0].tolist())
            for hit in hits:
                for part in PARTS:
                    hit.part(part)

    def _log(self, question, i, hits):
        self.counters["searches"] += 1
        if log.isEnabledFor(logging.INFO):
            record = _record(self, question, i, hits)
            log.info("%s", _said(record), extra={"ragfile": record})

    # -------------------------------------------------------------------------------------------------- the sample --

    @property
    def sample(self) -> NDArray[np.int64]:
        """Rows that stand for the collection: those with the smallest hashes of their keys, whatever the file's history."""
        return sampling.sample(self.segments, with_vectors=False).rows

    @property
    def sample_vectors(self) -> _core.Sample:
        """The vectors of the sample, kept together in memory."""
        sample = self._made.get("sample")
        if sample is None:
            rows = sampling.sample(self.segments).vectors
            vectors = (
                np.array(rows, np.float32) if rows else np.empty((0, self.dim or 0), np.float32)
            )
            sample = self._made["sample"] = _core.Sample(
                vectors, self.config.get("metric", "cosine")
            )
        return sample

    def sample_statistics(self, vector: Vector) -> tuple[float, float]:
        """(mean, deviation) of a question's exact scores over the sample."""
        return self.sample_vectors.moments(vector)

    @property
    def fusion_core(self) -> _core.Fusion:
        """What fuses the answers of both retrievers; made on first use."""
        core = self._made.get("fusion")
        if core is None:
            near, words = self._searched("vector"), self._searched("rag.terms")
            lexicon = words.lexicons or words[0].lexicon
            core = self._made["fusion"] = _core.Fusion(near.parts, lexicon, near[0].matrix)
        return core


def _given(hits):
    """An answer for its first taker, while the kept one stays as it is."""
    copies = _copied(hits)
    copies.request_id = hits.request_id
    return copies


class _Clock:
    """Milliseconds by stage."""

    def __init__(self):
        self._last, self.spent = time.perf_counter(), {}

    def note(self, stage):
        now = time.perf_counter()
        self.spent[stage] = self.spent.get(stage, 0.0) + (now - self._last) * 1e3
        self._last = now


def _copied(hits):
    """Hits that their taker may change."""
    copies = [copy_of(hit) for hit in hits]
    found = Hits(copies, degraded=hits.degraded, timings=dict(hits.timings))
    found.failed, found.skipped = hits.failed, hits.skipped
    return found


def _record(base, question, i, hits):
    """What a log keeps of a search. A question can be private: its text is there at level DEBUG alone."""
    asked = {"query": question.texts[i]} if log.isEnabledFor(logging.DEBUG) else {}
    return {
        "request_id": hits.request_id, "path": base.path, "generation": base.generation, **asked,
        "k": question.k, "mode": question.mode, "found": len(hits), "degraded": hits.degraded,
        "scores": [hit.score for hit in hits], "timings": hits.timings,
    }  # fmt: skip


def _said(record):
    """A search in one sentence."""
    spent = sum(record["timings"].values())
    line = f"{record['path']}: {record['found']} of {record['k']} passages by {record['mode']} search in {spent:.1f} ms"
    asked = f", asked {record['query']!r}" if "query" in record else ""
    why = f", degraded: {record['degraded']}" if record["degraded"] else ""
    return f"{line}{asked}{why} [{record['request_id']}]"
