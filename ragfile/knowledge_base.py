"""From a question to passages, one way:

    options ─ Question ─ rows that pass ─ [bm25 ─ vector] ─ both exact scores for every row ─ fusion ─ hits

A retriever that cannot run (no vectors in the file, no embedder, a provider that is down) is left out, and `degraded`
says why.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from ragfile.embedding.protocol import Embedder
from ragfile.file.open_file import of_one_commit
from ragfile.file.passages import copy_of
from ragfile.ground import request_id as tracing
from ragfile.ground.annotations import deferred
from ragfile.ground.lru import Lru
from ragfile.ground.option_table import takes
from ragfile.options import BATCH, EXPLAIN, SEARCH, BatchOptions, ExplainOptions, SearchOptions
from ragfile.records import Candidate, Chunk, Hit, Hits, Span
from ragfile.search import groups, query_rewrites, retriever_fusion
from ragfile.search.question import Question
from ragfile.search.question_vectors import QuestionVectors
from ragfile.search.result_columns import ResultColumns
from ragfile.search.retrieval import Clock, Retrieval
from ragfile.types import StrPath

if TYPE_CHECKING:
    from ragfile.answer.answers import Answer, Events
    from ragfile.answer.ask_options import AskOptions
    from ragfile.answer.async_api import AsyncEvents
    from ragfile.ground.signing_keys import PublicKey
    from ragfile.search.excerpts import Excerpt
    from ragfile.search.explanation import Explanation
    from ragfile.search.llm_tools import Tool
else:
    Answer = deferred("ragfile.answer.answers", "Answer")
    Events = deferred("ragfile.answer.answers", "Events")
    AsyncEvents = deferred("ragfile.answer.async_api", "AsyncEvents")
    PublicKey = deferred("ragfile.ground.signing_keys", "PublicKey")
    AskOptions = deferred("ragfile.answer.ask_options", "AskOptions")
    Excerpt = deferred("ragfile.search.excerpts", "Excerpt")
    Explanation = deferred("ragfile.search.explanation", "Explanation")
    Tool = deferred("ragfile.search.llm_tools", "Tool")

REMEMBERED = 256  # whole answers

log = logging.getLogger("ragfile.search")


class KnowledgeBase(Retrieval):
    """A 1.0 file opened for asking; see the package's open()."""

    counters: dict[str, int]

    def __init__(
        self, path: StrPath, *, embedder: str | Embedder | None = None, generation: int = 0,
        strict: bool = False, embedding_cache: StrPath | bool | None = None, offline: bool = False,
        trusted: Iterable[PublicKey | StrPath | bytes] | None = None, pin: bool = False,
    ) -> None:  # fmt: skip
        self._pins = pin
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
        self._answers = Lru(REMEMBERED)
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
        self._answers = Lru(REMEMBERED)

    @property
    def embedder(self) -> Embedder | None:
        """What turns questions into vectors: the one given, else the model that the file records, where it is on this
        machine. A file never makes anybody talk to a server."""
        return self._question_vectors.embedder

    # ---------------------------------------------------------------------------------------------------- asking --

    @takes(SEARCH)
    @of_one_commit
    def search(self, query: str, k: int = 12, **options: Unpack[SearchOptions]) -> Hits:
        """Return the k best passages for a question.

        All filters are applied before ranking. docs/reference/search-options.md explains each option.
        """
        asked = SEARCH.complete(options)
        if asked["rerank"]:
            return self._reranked(query, k, options, asked)
        vector, similar_to, rewrites = (
            asked.pop("vector"),
            asked.pop("similar_to"),
            asked.pop("rewrites"),
        )
        is_kept, request_id = asked.pop("cache"), asked.pop("request_id")
        del asked["rerank"]
        if asked["threads"] is None:
            asked["threads"] = 1
        query, vector, without = self._likeness(query, vector, similar_to)
        texts = [query, *query_rewrites.worded(rewrites, query)]
        vectors = vector if vector is None or len(texts) > 1 else [vector]
        question = Question(texts, k, vectors=vectors, without=without, **asked)
        if question.has_filters:
            raise TypeError("where is one filter for one question; a list is for search_batch")
        groups.check(question)
        key = question.key() if is_kept else None
        known = None if key is None else self._answers.get(key)
        if known is not None:
            return self._kept(known, question, request_id or tracing.new())
        hits = self._answered(question, request_id)
        if key is not None and not hits.degraded:
            self._answers.put(key, hits)
            return _given(hits)
        return hits

    def _reranked(self, query, k, options, asked):
        """Return k hits in the order of `rerank`, of as many as it reads."""
        from ragfile.search import reranker

        reranker.check(asked)
        wider = {"rerank": False, "offset": 0, "pool": max(asked["pool"], reranker.READ)}
        hits = self.search(query, max(asked["offset"] + k, reranker.READ), **(options | wider))
        return reranker.reordered(query, hits, asked["rerank"], asked["offset"], k)

    @overload
    def search_batch(
        self, queries: Iterable[str], k: int = 12, *, columns: Literal[False] = False,
        **options: Unpack[BatchOptions],
    ) -> list[Hits]: ...  # fmt: skip
    @overload
    def search_batch(
        self, queries: Iterable[str], k: int = 12, *, columns: Literal[True],
        **options: Unpack[BatchOptions],
    ) -> ResultColumns: ...  # fmt: skip
    @takes(BATCH)
    @of_one_commit
    def search_batch(
        self, queries: Iterable[str], k: int = 12, *, columns: bool = False,
        **options: Unpack[BatchOptions],
    ) -> list[Hits] | ResultColumns:  # fmt: skip
        """Search many questions at once: each retriever is one call into the core. Answers are not kept.

        columns=True returns Columns, arrays of all answers, instead of a list of Hits.
        """
        asked = BATCH.complete(options)
        request_id = asked.pop("request_id")
        question = Question(queries, k, **asked)
        clock = Clock()
        with tracing.request(request_id or tracing.new()) as request_id:
            parts = self._found(question.limited(len(self)), clock)
        if columns:
            return self._columns(question, parts, clock, request_id)
        found: list[Hits] = [Hits()] * len(question.texts)
        for places, ranked, degraded in parts:
            for i, hits in zip(places, self._hits(ranked, degraded), strict=True):
                found[i] = hits
        clock.note("fetch")
        for i, hits in enumerate(found):
            if question.recall is not None:
                hits.estimated_recall = float(question.recall.all[i])
            self._sign(question, i, hits, clock, request_id)
        return found

    def _columns(self, question, parts, clock, request_id):
        """The answers of a batch as arrays."""
        ranked = retriever_fusion.together(len(question.texts), parts)
        why = next((why for _, _, why in parts if why), "")
        self.counters["searches"] += len(question.texts)
        clock.note("fetch")
        return ResultColumns(
            ranked, self.passages(), degraded=why, timings=clock.spent, request_id=request_id,
            generation=self.generation,
            recall=None if question.recall is None else question.recall.all,
        )  # fmt: skip

    def _likeness(self, query, vector, similar_to):
        """(text, vector, row that is left out) of a question for passages like one that is there."""
        if similar_to is None:
            return query, vector, None
        row = self.row(similar_to) if isinstance(similar_to, str) else similar_to
        if row is None:
            raise KeyError(f"{self.path} has no chunk {similar_to!r}, which similar_to= names")
        text = query or self.chunk(row).content
        if vector is None and self.vector_mask()[row]:
            vector = self.vectors_of([row])[0]
        return text, vector, row

    def _answered(self, question, request_id) -> Hits:
        """The answer to one question."""
        clock = Clock()
        with tracing.request(request_id or tracing.new()) as request_id:
            if question.group:
                ranked, degraded = groups.grouped(self, question.limited(len(self)), clock)
            elif len(question.texts) > 1:
                ranked, degraded = query_rewrites.widened(self, question.limited(len(self)), clock)
            else:
                ((_, ranked, degraded),) = self._found(question.limited(len(self)), clock)
        hits = self._hits(ranked, degraded)[0]
        if question.recall is not None:
            hits.estimated_recall = question.recall.lowest()
        clock.note("fetch")
        self._sign(question, 0, hits, clock, request_id)
        return hits

    def _sign(self, question, i, hits, clock, request_id):
        """What an answer says of how it was made, and the log's record of it."""
        hits.timings, hits.request_id, hits.generation = clock.spent, request_id, self.generation
        self._log(question, i, hits)

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
        """Answer a question with checked citations; with stream=True return its Events, as they come.

        The options are those of ragfile.qa.ask.
        """
        from ragfile.answer.pipeline import ask  # with all that chat needs, which a search does not

        return ask(self, question, stream=stream, **options)

    @of_one_commit
    def highlights(self, query: str, passage: Hit | Chunk | Candidate | int) -> list[Span]:
        """Where the text of a passage has the question's words, stems included: in order, without overlaps.

        passage is a hit, a chunk, a candidate or a row. Spans are code points of its text, with the
        markup that it has. A file without a BM25 index has no words to compare.
        """
        from ragfile.search import highlight_spans  # which a search does not need

        text = self._text_of(passage)
        if not self.has_bm25:
            return []
        asked = {term for term, _ in self.lexicon.terms(query)}
        return highlight_spans.spans(self.lexicon, asked, text)

    @takes(EXPLAIN)
    @of_one_commit
    def explain(
        self, query: str, passage: int | str, k: int = 12, **options: Unpack[ExplainOptions]
    ) -> Explanation:
        """Explain the place of a row, or of the chunk of an id, in the answer to a question."""
        from ragfile.search.explanation import explained

        row = self.row(passage) if isinstance(passage, str) else passage
        if row is None:
            raise KeyError(f"{self.path} has no chunk {passage!r}")
        return explained(self, query, row, k, EXPLAIN.complete(options))

    @takes(SEARCH)
    async def asearch(self, query: str, k: int = 12, **options: Unpack[SearchOptions]) -> Hits:
        """As search, for programs that must not wait: it runs on a thread of a small pool. A cancelled question that
        has not begun is never asked. On that thread the texts of the hits are read, too."""
        from ragfile.answer.async_api import asked

        return await asked(self._read_search, query, k, **options)

    @takes(BATCH)
    async def asearch_batch(
        self, queries: Iterable[str], k: int = 12, **options: Unpack[BatchOptions]
    ) -> list[Hits]:
        """As search_batch, in the way of asearch; texts are read when they are looked at."""
        from ragfile.answer.async_api import asked

        return await asked(self.search_batch, queries, k, **options)

    @overload
    async def aask(
        self, question: str, *, stream: Literal[False] = False, **options: Unpack[AskOptions]
    ) -> Answer: ...
    @overload
    async def aask(
        self, question: str, *, stream: Literal[True], **options: Unpack[AskOptions]
    ) -> AsyncEvents: ...
    async def aask(
        self, question: str, *, stream: bool = False, **options: Any
    ) -> Answer | AsyncEvents:
        """As ask, in the way of asearch; stream=True gives the same Events to `async for`."""
        from ragfile.answer.async_api import AsyncEvents, asked

        answer: Any = self.ask
        found = await asked(answer, question, stream=stream, **options)
        return AsyncEvents(found) if stream else found

    def _read_search(self, query, k, **options):
        """A search whose hits are read."""
        hits = self.search(query, k, **options)
        for hit in hits:
            hit.read()
        return hits

    def as_tool(
        self, *, name: str = "search", description: str = "Find passages by words and meaning.",
        k: int = 5, **options: Unpack[SearchOptions],
    ) -> Tool:  # fmt: skip
        """(schema, call) for a language model: a JSON schema, and a function of its arguments. The options are those of
        every search of the tool."""
        from ragfile.search.llm_tools import tool

        return tool(self, name, description, k, dict(options))

    @of_one_commit
    def excerpt(
        self, query: str, passage: Hit | Chunk | Candidate | int, size: int = 300
    ) -> Excerpt:
        """The sentences of a passage that have most of the question's words, up to `size` characters, with these
        words marked. Without any, its first sentences."""
        from ragfile.search import excerpts, highlight_spans

        text, found = self._text_of(passage), []
        if self.has_bm25:
            asked = {term for term, _ in self.lexicon.terms(query)}
            found = [p for p in highlight_spans.places(self.lexicon, text) if p.term in asked]
        return excerpts.excerpt(text, found, size)

    def _text_of(self, passage):
        """Of a hit or the like, or of a row, as a number of Python's or numpy's."""
        return self.chunk(passage).text if hasattr(passage, "__index__") else passage.text

    def _kept(self, known, question, request_id):
        """An answer that was given before."""
        self.counters["cached"] += 1
        clock, hits = Clock(), _copied(known)
        clock.note("cache")
        self._sign(question, 0, hits, clock, request_id)
        return hits

    def _log(self, question, i, hits):
        self.counters["searches"] += 1
        if log.isEnabledFor(logging.INFO):
            record = _record(self, question, i, hits)
            log.info("%s", _said(record), extra={"ragfile": record})


def _given(hits):
    """An answer for its first taker, while the kept one stays as it is."""
    copies = _copied(hits)
    copies.request_id, copies.generation = hits.request_id, hits.generation
    return copies


def _copied(hits):
    """Hits that their taker may change."""
    copies = [copy_of(hit) for hit in hits]
    found = Hits(copies, degraded=hits.degraded, timings=dict(hits.timings))
    found.missing_shards, found.skipped, found.estimated_recall = (
        hits.missing_shards,
        hits.skipped,
        hits.estimated_recall,
    )
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
