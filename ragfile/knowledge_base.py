"""From a question to passages, one way:

    options ─ Question ─ rows that pass ─ [bm25 ─ vector] ─ both exact scores for every row ─ fusion ─ hits

A retriever that cannot run (no vectors in the file, no embedder, a provider that is down) is left out, and `degraded`
says why.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from ragfile.embedding.protocol import Embedder
from ragfile.file.open_file import of_one_commit
from ragfile.file.passages import copy_of
from ragfile.ground import request_id as tracing
from ragfile.ground.annotations import deferred
from ragfile.ground.lru import Lru
from ragfile.records import Candidate, Chunk, Hit, Hits, Span
from ragfile.search import groups, query_rewrites, reranker, retriever_fusion
from ragfile.search.question import Question
from ragfile.search.question_vectors import QuestionVectors
from ragfile.search.reranker import Reranker
from ragfile.search.result_columns import ResultColumns
from ragfile.search.retrieval import Clock, Retrieval
from ragfile.types import (
    BatchOptions,
    Boost,
    FieldWeights,
    FusionChoice,
    Mode,
    Rewrites,
    RowFilter,
    RowFilters,
    SearchOptions,
    StrPath,
    TagFilter,
    Vector,
    Vectors,
)

if TYPE_CHECKING:
    from ragfile.answer.answers import Answer, Events
    from ragfile.answer.async_api import AsyncEvents
    from ragfile.answer.pipeline import AskOptions
    from ragfile.ground.signing_keys import PublicKey
    from ragfile.search.excerpts import Excerpt
    from ragfile.search.explanation import Explanation
    from ragfile.search.llm_tools import Tool
else:
    PublicKey = deferred("ragfile.ground.signing_keys", "PublicKey")
    Answer = deferred("ragfile.answer.answers", "Answer")
    Events = deferred("ragfile.answer.answers", "Events")
    AskOptions = deferred("ragfile.answer.pipeline", "AskOptions")
    AsyncEvents = deferred("ragfile.answer.async_api", "AsyncEvents")
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

    @of_one_commit
    def search(
        self, query: str, k: int = 12, *, mode: Mode = "hybrid", where: RowFilter | None = None,
        tags_any: TagFilter = (), tags_all: TagFilter = (), pool: int = 50,
        fusion: FusionChoice | None = None, vector: Vector | Vectors | None = None,
        drop_repeats: bool = False, offset: int = 0, min_score: float | None = None,
        similar_to: str | int | None = None, rewrites: Rewrites = (), diversity: float = 0.0,
        boost: Boost | Sequence[Boost] = (), group: int = 0, query_syntax: bool = False, fields: FieldWeights | None = None,
        effort: float = 1.0,
        rerank: bool | str | Reranker = False, threads: int | None = None, cache: bool = True, request_id: str | None = None,
    ) -> Hits:  # fmt: skip
        """The k best passages for a question.

        where is a filter on metadata, a bool for each row, row numbers, or ids of chunks and documents; all filters are applied before ranking.
        pool is how many rows each retriever proposes. fusion is "calibrated" (what files record), "rrf" or "blend",
        or such a name with a dict of parameters. vector is the question's own vector, where it is known. drop_repeats
        leaves out passages that nearly repeat a better one. cache=False makes the answer anew; a commit that
        refresh() finds forgets all answers. request_id names the request in the log and to the embedding provider.

        offset is how many places to pass over. min_score leaves out passages that score less. similar_to is a row or the id of a
        chunk: passages like that one, without it. rewrites are other wordings, or a function that makes them of the
        question; their answers are fused by ranks, and vector then has a row for each. diversity (0 to 1) prefers
        passages unlike those before. boost raises scores by a number or date in the metadata. group=n gives the k
        best documents with their n best passages each. query_syntax=True reads "phrases", +word, -word, begin* and
        speling~ in the question. fields gives fields of the BM25 index other weights than the file's, such as
        {"headers": 3}. docs/reference/search-options.md explains all of them.

        effort below 1 looks at that share of the vectors only, the most promising clusters first: hits.estimated_recall then
        estimates what share of the best was found, and hits.exact says whether bounds prove that it is all.

        rerank puts the first 40 passages, or k if that is more, in a new order: True for the built-in measure, a
        cross-encoder's name, or an object with score(query, texts). It reads a passage's header path and text.
        """
        if rerank:
            reranker.check(min_score=min_score, diversity=diversity, group=group)
            hits = self.search(
                query, max(offset + k, reranker.READ), mode=mode, where=where, tags_any=tags_any,
                tags_all=tags_all, pool=max(pool, reranker.READ), fusion=fusion, vector=vector, drop_repeats=drop_repeats,
                similar_to=similar_to, rewrites=rewrites, boost=boost, query_syntax=query_syntax, fields=fields, effort=effort, threads=threads,
                cache=cache, request_id=request_id,
            )  # fmt: skip
            return reranker.reordered(query, hits, rerank, offset, k)
        query, vector, without = self._likeness(query, vector, similar_to)
        options: Any = {
            "mode": mode, "where": where, "tags_any": tags_any, "tags_all": tags_all, "pool": pool,
            "fusion": fusion, "drop_repeats": drop_repeats, "threads": 1 if threads is None else threads,
            "offset": offset, "min_score": min_score, "diversity": diversity, "boost": boost, "without": without,
            "query_syntax": query_syntax, "fields": fields, "effort": effort,
        }  # fmt: skip
        texts = [query, *query_rewrites.worded(rewrites, query)]
        if len(texts) == 1:
            vectors: Any = None if vector is None else [vector]
            question = Question(texts, k, vectors=vectors, **options)
        else:
            question = Question(texts, k, vectors=vector, **options)
        if question.has_filters:
            raise TypeError("where is one filter for one question; a list is for search_batch")
        question.group = groups.checked(group, question)
        key = question.key() if cache else None
        known = None if key is None else self._answers.get(key)
        if known is not None:
            return self._kept(known, question, request_id or tracing.new())
        hits = self._answered(question, request_id)
        if key is not None and not hits.degraded:
            self._answers.put(key, hits)
            return _given(hits)
        return hits

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
    @of_one_commit
    def search_batch(
        self, queries: Iterable[str], k: int = 12, *, mode: Mode = "hybrid", where: RowFilters | None = None,
        tags_any: TagFilter = (), tags_all: TagFilter = (), pool: int = 50,
        fusion: FusionChoice | None = None, vectors: Vectors | None = None, drop_repeats: bool = False,
        offset: int = 0, min_score: float | None = None, diversity: float = 0.0,
        boost: Boost | Sequence[Boost] = (), query_syntax: bool = False, fields: FieldWeights | None = None,
        effort: float = 1.0,
        threads: int | None = None, request_id: str | None = None, columns: bool = False,
    ) -> list[Hits] | ResultColumns:  # fmt: skip
        """As search, for many questions: each retriever is one call into the core. Answers are not kept.

        where can also be a list with a filter for each question. columns=True gives Columns, arrays of all answers,
        in place of a list of Hits.
        """
        question = Question(
            queries, k, mode, where, tags_any, tags_all, pool, fusion, vectors, drop_repeats, threads,
            offset, min_score, diversity, boost, query_syntax=query_syntax, fields=fields, effort=effort,
        )  # fmt: skip
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
        """An Answer with checked citations; with stream=True its Events, as they come.

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

    @of_one_commit
    def explain(
        self, query: str, passage: int | str, k: int = 12, *, vector: Vector | None = None,
        mode: Mode = "hybrid", where: RowFilter | None = None, tags_any: TagFilter = (),
        tags_all: TagFilter = (), pool: int = 50, fusion: FusionChoice | None = None,
        fields: FieldWeights | None = None,
    ) -> Explanation:  # fmt: skip
        """Why a row, or the chunk of an id, has its place in the answer to a question: see Explanation."""
        from ragfile.search.explanation import explained

        row = self.row(passage) if isinstance(passage, str) else passage
        if row is None:
            raise KeyError(f"{self.path} has no chunk {passage!r}")
        options = {
            "mode": mode, "where": where, "tags_any": tags_any, "tags_all": tags_all, "pool": pool,
            "fusion": fusion, "fields": fields,
        }  # fmt: skip
        return explained(self, query, row, k, vector, options)

    async def asearch(self, query: str, k: int = 12, **options: Unpack[SearchOptions]) -> Hits:
        """As search, for programs that must not wait: it runs on a thread of a small pool. A cancelled question that
        has not begun is never asked. On that thread the texts of the hits are read, too."""
        from ragfile.answer.async_api import asked

        return await asked(self._read_search, query, k, **options)

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
