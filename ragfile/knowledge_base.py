"""The knowledge base: one object for searching, asking and reading a file.

    options ─ Question ─ rows that pass ─ [bm25 ─ vector] ─ both exact scores for every row ─ fusion ─ hits

A retriever that cannot run (the file has no vectors, no embedder is available, a provider is down) is skipped;
`degraded` of the answer gives the reason.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    Unpack,
    cast,
    overload,
)

import numpy as np

from ragfile.embedding.protocol import Embedder
from ragfile.errors import CorruptError
from ragfile.file import custom_sections
from ragfile.file.container import Container
from ragfile.file.passages import copy_of
from ragfile.file.source import ByteSource, FileSource
from ragfile.ground import request_id as tracing
from ragfile.ground import server_time
from ragfile.ground.annotations import deferred
from ragfile.ground.option_table import takes
from ragfile.ground.whole_numbers import whole
from ragfile.options import BATCH, EXPLAIN, SEARCH, BatchOptions, ExplainOptions, SearchOptions
from ragfile.records import Candidate, Chunk, Document, Hit, Hits, Link, Span
from ragfile.search import (
    groups,
    one_retriever,
    query_rewrites,
    retriever_fusion,
    search_log,
)
from ragfile.search.current import Current, Embedding, Opened
from ragfile.search.file_rows import FileRows
from ragfile.search.opener import FileOpener
from ragfile.search.question import Question
from ragfile.search.result_columns import ResultColumns
from ragfile.search.retriever_fusion import Part
from ragfile.search.support import AskedQuestion
from ragfile.types import (
    Booleans,
    FieldWeights,
    Float32s,
    Floats,
    Int64s,
    RowFilters,
    Rows,
    StrPath,
    Vector,
    Vectors,
)

if TYPE_CHECKING:
    import pandas
    import pyarrow
    import pyarrow.dataset

    from ragfile.answer.answers import Answer, Events
    from ragfile.answer.ask_options import AskOptions
    from ragfile.answer.async_api import AsyncEvents
    from ragfile.graph.document_graph import DocumentGraph
    from ragfile.ground.signing_keys import PublicKey
    from ragfile.search.excerpts import Excerpt
    from ragfile.search.explanation import Explanation
    from ragfile.search.llm_tools import Tool
    from ragfile.search.rows_protocol import OpenRows

    CallT = TypeVar("CallT", bound=Callable[..., object])
    Base = TypeVar("Base", bound="KnowledgeBase")
else:
    Answer = deferred("ragfile.answer.answers", "Answer")
    Events = deferred("ragfile.answer.answers", "Events")
    AskOptions = deferred("ragfile.answer.ask_options", "AskOptions")
    AsyncEvents = deferred("ragfile.answer.async_api", "AsyncEvents")
    DocumentGraph = deferred("ragfile.graph.document_graph", "DocumentGraph")
    PublicKey = deferred("ragfile.ground.signing_keys", "PublicKey")
    Excerpt = deferred("ragfile.search.excerpts", "Excerpt")
    Explanation = deferred("ragfile.search.explanation", "Explanation")
    Tool = deferred("ragfile.search.llm_tools", "Tool")


def names_file(method: CallT) -> CallT:
    """Add the file's path to errors about damaged sections; guard calls on files that need it."""

    @functools.wraps(method)
    def call(self: KnowledgeBase, /, *args: object, **kwargs: object) -> object:
        opened = self._view or self._current.opened
        try:
            if opened is None or not (opened.rows.is_elsewhere or opened.rows.is_sealed):
                return method(self, *args, **kwargs)
            with _guarded(opened.rows):
                return method(self, *args, **kwargs)
        except CorruptError as error:
            error.name_file(self.path)
            raise

    return cast("CallT", call)


def _is_logged() -> bool:
    """Return whether searches are logged. A program that did not import logging, which takes 3 ms, has no handler."""
    return "logging" in sys.modules and _level_test()()


@functools.cache
def _level_test() -> Callable[[], bool]:
    """Return a test of whether the log of searches takes their level."""
    import logging

    return functools.partial(logging.getLogger(search_log.LOG).isEnabledFor, logging.INFO)


@contextlib.contextmanager
def _guarded(rows: OpenRows) -> Generator[None]:
    """Give the requests of a call one time limit, and check a trusted file after the call."""
    with server_time.one_question():
        yield
    if rows.is_sealed:
        rows.check_unchanged()


class KnowledgeBase:
    """An open ragfile. Create one with `ragfile.open`.

    Every call answers from one commit, even if another thread calls `refresh()` meanwhile. An object may
    be shared between threads, sent to other processes by pickle, and used as a context manager.
    `len(rf)` is the number of live chunks.

    Rows number the chunks of a commit from 0. A deleted row keeps its number until the file is compacted.

        with ragfile.open("kb.ragfile") as rf:
            for hit in rf.search("how long do pods live?", k=3):
                print(hit.score, hit.source, hit.text)

    Attributes:
        path: Path or URL of the file.
        counters: Numbers of `searches`, `cached` answers and `embedding_calls` since the file was opened.
    """

    path: str
    counters: dict[str, int]

    def __init__(
        self, path: StrPath, *, embedder: str | Embedder | None = None, generation: int = 0,
        strict: bool = False, embedding_cache: StrPath | bool | None = None, offline: bool = False,
        trusted: Iterable[PublicKey | StrPath | bytes] | None = None, pin: bool = False,
        source: ByteSource | None = None,
    ) -> None:  # fmt: skip
        source = FileSource(path) if source is None else source
        opener = FileOpener(source, generation=generation, strict=strict, trusted=trusted, pin=pin)
        self.__setstate__(Current(opener, Embedding(embedder, embedding_cache, offline)))

    def __reduce__(self) -> tuple[object, ...]:
        return _empty, (type(self),), self._current

    def __setstate__(self, current: Current, view: Opened | None = None) -> None:
        """Share the open commits, or stay with the one in `view`."""
        self._current, self.path, self.counters = current, current.path, current.counters
        self._view = view
        self._graph: tuple[OpenRows, DocumentGraph] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """Return the number of live chunks."""
        return self._open.rows.live

    def __repr__(self) -> str:
        opened, kind = self._view or self._current.opened, type(self).__name__
        state = "closed" if opened is None else opened.rows.shown()
        return f"<{kind} {self.path}, {state}>"

    # ------------------------------------------------------------------------------------------------ the open commit --

    @property
    def _open(self) -> Opened:
        """The open state; ValueError after close()."""
        opened = self._view or self._current.opened
        if opened is None:
            raise ValueError(f"{self.path} is closed")
        return opened

    def _now(self) -> Opened:
        """Return the open state for one call; ChangedError if the file was overwritten."""
        opened = self._view or self._current.opened
        if opened is None:
            raise ValueError(f"{self.path} is closed")
        opened.rows.check_unchanged()
        return opened

    @property
    def rows(self) -> FileRows:
        """The rows of the open commit: the low-level interface to exact search and stored values."""
        return cast("FileRows", self._now().rows)

    @property
    def file(self) -> Container:
        """The file as a container: sections, signatures, raw bytes."""
        return cast("FileRows", self._open.rows).file

    @property
    def generation(self) -> int:
        """The number of the open commit. Numbers keep rising through compaction."""
        return self._open.rows.generation

    @property
    @names_file
    def info(self) -> dict[str, Any]:
        """A summary of the file, ready for JSON: counts, sizes, the model, the sections."""
        return cast("FileRows", self._now().rows).file.info

    @property
    def embedder(self) -> Embedder | None:
        """The embedder of questions, or None without one.

        It is the one given to `ragfile.open`, else the model that the file records if it is installed on
        this machine. A file alone never causes a network request.
        """
        return self._open.retrieval.vectors.embedder

    @names_file
    def strategy(self, name: str) -> Any:  # Any: each opener returns its own type
        """Open a custom section with the opener registered for its name.

        Args:
            name: Name of the section.

        Returns:
            The opener's result.

        Raises:
            KeyError: The file has no such section, or no opener is registered for it.
        """
        section = self.file.section(name)
        if section is None:
            raise KeyError(f"{self.path} has no section {name!r}")
        return custom_sections.opener(name)(section, self)

    def at_commit(self) -> Self:
        """Return this knowledge base fixed at the open commit, so that several calls agree.

        `refresh()` has no effect on it, and closing it does nothing.

            view = rf.at_commit()
            hits = view.search("key rotation")
            documents = view.sources(hit.id for hit in hits)
        """
        if self._view is not None:
            return self
        view = _empty(type(self))
        view.__setstate__(self._current, self._now())
        return view

    def refresh(self) -> bool:
        """Switch to the newest commit, also if the file was replaced by another one.

        Calls in other threads finish with the commit that they began with. If the new file cannot be
        read, the old one stays open. Objects opened at an older generation, and those of `at_commit()`,
        do not change.

        Returns:
            Whether there was a newer commit.

        Raises:
            ValueError: The knowledge base is closed.
        """
        _ = self._open  # raises if closed
        return self._view is None and self._current.refresh()

    def close(self) -> None:
        """Close the file. Arrays and hits already returned stay valid."""
        if self._view is None:
            self._current.close()

    # ---------------------------------------------------------------------------------------------------- asking --

    @takes(SEARCH)
    @names_file
    def search(self, query: str, k: int = 12, **options: Unpack[SearchOptions]) -> Hits:
        """Return the k best passages for a question.

        Filters are applied before ranking. Answers are cached: an identical question is answered from
        memory until the file changes.

            rf.search("rotate keys", k=5, where={"lang": "en"}, drop_repeats=True)

        Args:
            query: The question. It may be empty if `vector` or `similar_to` is given.
            k: Maximum number of passages.
            **options: See docs/reference/search-options.md.

        Returns:
            Hits, best first. `degraded` of the list is not empty if a retriever was skipped. Texts and
            metadata are read from the file on first access.

        Raises:
            TypeError: An option does not exist or has a wrong type.
            ValueError: An option is out of bounds, or two options contradict one another.
            KeyError: `similar_to` names no chunk.
            ChangedError: The file was overwritten while it was open.
        """
        asked = SEARCH.complete(options)
        if asked["rerank"] is not None:
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
        opened, without = self._now(), None
        if similar_to is not None:
            query, vector, without = _likeness(opened.rows, query, vector, similar_to)
        texts = [query, *query_rewrites.worded(rewrites, query)] if rewrites else [query]
        vectors = vector if vector is None or len(texts) > 1 else [vector]
        question = Question(texts, k, vectors=vectors, without=without, **asked)
        if question.has_filters:
            raise TypeError("where is one filter for one question; a list is for search_batch")
        if question.group:
            groups.check(question)
        key = question.key() if is_kept else None
        known = None if key is None else opened.answers.get(key)
        if known is not None:
            return self._kept(opened, known, question, request_id or tracing.new())
        hits = self._answered(opened, question, request_id)
        if key is not None and not hits.degraded:
            opened.answers.put(key, hits)
            return _given(hits)
        return hits

    def _reranked(self, query: str, k: int, options: SearchOptions, asked: dict[str, Any]) -> Hits:
        """Return the k best hits by `rerank`, which reads at least READ candidates."""
        from ragfile.search import reranker

        reranker.check(query, asked)
        pool = max(asked["pool"], reranker.READ)
        wider: SearchOptions = {**options, "rerank": None, "offset": 0, "pool": pool}
        count = max(asked["offset"] + k, reranker.READ)
        hits = self.at_commit().search(query, count, **wider)
        cache = self._current.embedding_cache
        return reranker.reordered(query, hits, asked["rerank"], asked["offset"], k, cache)

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
    @names_file
    def search_batch(
        self, queries: Iterable[str], k: int = 12, *, columns: bool = False,
        **options: Unpack[BatchOptions],
    ) -> list[Hits] | ResultColumns:  # fmt: skip
        """Search for many questions at once, faster than one by one. Answers are not cached.

            first, second = rf.search_batch(["key rotation", "pod lifetime"], k=5)

        Args:
            queries: The questions.
            k: Maximum number of passages for each question.
            columns: Return the answers as arrays instead of hits.
            **options: See docs/reference/search-options.md.

        Returns:
            One Hits for each question in order, or with `columns=True` one ResultColumns for all.

        Raises:
            TypeError: An option does not exist or has a wrong type.
            ValueError: An option is out of bounds, or `where` or `vectors` has not one item per question.
        """
        asked = BATCH.complete(options)
        request_id = asked.pop("request_id")
        question = Question(cast("list[str]", queries), k, **asked)  # makes a list of any iterable
        opened, notes = self._now(), question.notes
        name = request_id or tracing.new()
        with tracing.request(name):
            parts = opened.retrieval.found(question.limited(opened.rows.live))
        if len(parts) > 1 or question.drop_repeats:
            notes.lifts = []  # of some of the questions only
        if columns:
            return self._columns(opened, question, parts, name)
        found: list[Hits] = [Hits()] * len(question.texts)
        for places, ranked, degraded in parts:
            for i, hits in zip(places, opened.rows.hits(ranked, degraded, notes), strict=True):
                found[i] = hits
        notes.note("fetch")
        for i, hits in enumerate(found):
            if question.recall is not None:
                hits.estimated_recall = float(question.recall.all[i])
            self._sign(opened, question, i, hits, name)
        return found

    def _columns(
        self, opened: Opened, question: Question, parts: list[Part], request_id: str
    ) -> ResultColumns:
        """Return the answers of a batch as arrays."""
        notes = question.notes
        ranked = retriever_fusion.together(len(question.texts), parts)
        why = next((part.degraded for part in parts if part.degraded), "")
        self.counters["searches"] += len(question.texts)
        notes.note("fetch")
        return ResultColumns(
            ranked, opened.rows.passages(), degraded=why, timings=notes.spent, request_id=request_id,
            generation=opened.rows.generation,
            recall=None if question.recall is None else question.recall.all,
        )  # fmt: skip

    def _answered(self, opened: Opened, question: Question, request_id: str | None) -> Hits:
        """Return the answer to one question."""
        retrieval, rows, notes = opened.retrieval, opened.rows, question.notes
        question.limited(rows.live)
        name = request_id or tracing.new()
        with tracing.request(name):
            if question.group:
                ranked, degraded = groups.grouped(retrieval, question)
            elif len(question.texts) > 1:
                ranked, degraded = query_rewrites.widened(retrieval, question)
            else:
                ((_, ranked, degraded),) = retrieval.found(question)
        hits = rows.hits(ranked, degraded, notes)[0]
        if question.recall is not None:
            hits.estimated_recall = question.recall.lowest()
        notes.note("fetch")
        self._sign(opened, question, 0, hits, name)
        return hits

    def _sign(
        self, opened: Opened, question: Question, i: int, hits: Hits, request_id: str
    ) -> None:
        """Record in an answer how it was made, and log it."""
        hits.timings, hits.request_id = question.notes.spent, request_id
        hits.generation = opened.rows.generation
        # a kept answer has its question; there is none by name or by likeness
        if hits.asked is None and question.mode != "keyword" and question.without is None:
            hits.asked = asked = AskedQuestion(
                opened.retrieval,
                question.texts[i],
                question.vectors is None,
                question.notes.lifts[i] if i < len(question.notes.lifts) else {},
            )
            for hit in hits:
                hit.asked = asked
        self.counters["searches"] += 1
        if _is_logged():
            search_log.write(self.path, question, i, hits)

    @overload
    def ask(
        self, question: str, *, stream: Literal[False] = False, **options: Unpack[AskOptions]
    ) -> Answer: ...
    @overload
    def ask(
        self, question: str, *, stream: Literal[True], **options: Unpack[AskOptions]
    ) -> Events: ...
    @names_file
    def ask(
        self, question: str, *, stream: bool = False, **options: Unpack[AskOptions]
    ) -> Answer | Events:
        """Answer a question with checked citations.

        Without `model`, the answer quotes the file.

            answer = rf.ask("how often are keys rotated?", model="openai:gpt-4.1-mini")
            print(answer.text, answer.citations)

        Args:
            question: The question.
            stream: Return the steps of the answer as they are made.
            **options: See docs/reference/answer-options.md.

        Returns:
            An Answer, or with `stream=True` an iterator of Event that closes the model's connection when
            it is closed. A model that fails is no error: `degraded` gives the reason.

        Raises:
            TypeError: An option does not exist or has a wrong type.
            ValueError: The question is empty, or an option is out of bounds.
            FormatError, OSError: The file cannot be read, and `allow_ungrounded` is not set.
        """
        from ragfile.answer.pipeline import ask  # imports the chat modules, which no search needs

        return ask(self.at_commit(), question, stream=stream, **options)

    @names_file
    def highlights(self, query: str, passage: Hit | Chunk | Candidate | int) -> list[Span]:
        """Return the places of a question's words in a passage.

        Words are compared as the index does, by their stems.

        Args:
            query: The question.
            passage: A hit, chunk, candidate or row number.

        Returns:
            Spans of the passage's text in code points, in order and without overlaps. Empty if the file
            has no BM25 index.
        """
        from ragfile.search import highlight_spans, question_terms  # no search needs them

        rows = self._now().rows
        text = _text_of(rows, passage)
        if not rows.has_bm25:
            return []
        asked = question_terms.asked_terms(rows.lexicon, query)
        return highlight_spans.spans(rows.lexicon, asked, text)

    @takes(EXPLAIN)
    @names_file
    def explain(
        self, query: str, passage: int | str, k: int = 12, **options: Unpack[ExplainOptions]
    ) -> Explanation:
        """Explain the rank of one passage in the answer to a question.

            print(rf.explain("rotate keys", "security.md#4"))

        Args:
            query: The question.
            passage: A row number or the id of a chunk.
            k: Number of passages that the search would return.
            **options: See docs/reference/search-options.md.

        Returns:
            Every number behind the rank: scores by term and retriever, ranks, and the filters that
            exclude the passage.

        Raises:
            KeyError: No chunk has this id.
            IndexError: The row is deleted or outside the file.
            ValueError: `mode` is "keyword", or `where` is a list of filters.
        """
        from ragfile.search.explanation import explained

        opened = self._now()
        row = opened.rows.row(passage) if isinstance(passage, str) else whole(passage, "passage")
        if row is None:
            raise KeyError(f"{self.path} has no chunk {passage!r}")
        opened.rows.chunk(row)  # refuses a row that is deleted or outside the file
        return explained(opened.retrieval, query, row, k, EXPLAIN.complete(options))

    @takes(SEARCH)
    async def asearch(self, query: str, k: int = 12, **options: Unpack[SearchOptions]) -> Hits:
        """Run `search` on a thread of a small pool, without blocking the event loop.

        The texts of the hits are read on that thread, too. A question cancelled before its turn is
        never asked.

        Args:
            query: The question.
            k: Maximum number of passages.
            **options: See docs/reference/search-options.md.

        Returns:
            Hits, best first, with all fields read.
        """
        from ragfile.answer.async_api import asked

        return await asked(self._read_search, query, k, **options)

    @takes(BATCH)
    async def asearch_batch(
        self, queries: Iterable[str], k: int = 12, **options: Unpack[BatchOptions]
    ) -> list[Hits]:
        """Run `search_batch` on a thread of a small pool, without blocking the event loop.

        Args:
            queries: The questions.
            k: Maximum number of passages for each question.
            **options: See docs/reference/search-options.md.

        Returns:
            One Hits for each question; texts are read on first access.
        """
        from ragfile.answer.async_api import asked

        return await asked(lambda: self.search_batch(queries, k, **options))

    @overload
    async def aask(
        self, question: str, *, stream: Literal[False] = False, **options: Unpack[AskOptions]
    ) -> Answer: ...
    @overload
    async def aask(
        self, question: str, *, stream: Literal[True], **options: Unpack[AskOptions]
    ) -> AsyncEvents: ...
    async def aask(
        self, question: str, *, stream: bool = False, **options: Unpack[AskOptions]
    ) -> Answer | AsyncEvents:
        """Run `ask` on a thread of a small pool, without blocking the event loop.

        Args:
            question: The question.
            stream: Return the steps of the answer as they are made, for `async for`.
            **options: See docs/reference/answer-options.md.

        Returns:
            An Answer, or with `stream=True` AsyncEvents.
        """
        from ragfile.answer.async_api import AsyncEvents, asked

        if stream:
            return AsyncEvents(await asked(lambda: self.ask(question, stream=True, **options)))
        return await asked(lambda: self.ask(question, **options))

    def _read_search(self, query: str, k: int, **options: Unpack[SearchOptions]) -> Hits:
        """Search, and read the fields of the hits."""
        hits = self.search(query, k, **options)
        for hit in hits:
            hit.read()
        return hits

    def as_tool(
        self, *, name: str = "search", description: str = "Find passages by words and meaning.",
        k: int = 5, **options: Unpack[SearchOptions],
    ) -> Tool:  # fmt: skip
        """Return the search as a tool for a language model.

            schema, call = rf.as_tool(where={"lang": "en"})
            response = client.chat.completions.create(model=..., messages=..., tools=[schema])
            passages = call(**json.loads(arguments))

        Args:
            name: Name of the tool.
            description: The description that the model reads.
            k: Default number of passages; the model may ask for 1 to 50.
            **options: Options of every search of the tool. The model can narrow `where`, never widen it.

        Returns:
            A Tool: a JSON schema and a function.
        """
        from ragfile.search.llm_tools import tool

        return tool(self, name, description, k, options)

    @names_file
    def excerpt(
        self, query: str, passage: Hit | Chunk | Candidate | int, size: int = 300
    ) -> Excerpt:
        """Return the sentences of a passage that have most of a question's words.

        Args:
            query: The question.
            passage: A hit, chunk, candidate or row number.
            size: Maximum length in characters.

        Returns:
            The excerpt with its place in the passage and the spans of the words. Without any of the
            words, it is the passage's first sentences.
        """
        from ragfile.search import excerpts, question_terms

        rows = self._now().rows
        text, found = _text_of(rows, passage), []
        if rows.has_bm25:
            asked = question_terms.asked_terms(rows.lexicon, query)
            found = [p for p in question_terms.term_places(rows.lexicon, text) if p.term in asked]
        return excerpts.excerpt(text, found, size)

    def _kept(self, opened: Opened, known: Hits, question: Question, request_id: str) -> Hits:
        """Return a copy of a cached answer."""
        self.counters["cached"] += 1
        hits = _copied(known)
        question.notes.note("cache")
        self._sign(opened, question, 0, hits, request_id)
        return hits

    # ------------------------------------------------------------------------------------------- one retriever --

    @names_file
    def nearest(
        self, vectors: Vector | Vectors, k: int | None = 10, *, where: RowFilters | None = None,
        threads: int | None = None, min_score: Vector | float | None = None, effort: float = 1.0,
        recall: np.ndarray[Any, np.dtype[np.float64]] | None = None,
    ) -> tuple[Int64s, Float32s]:  # fmt: skip
        """Return the k nearest rows for each query vector, by the file's metric.

            rows, scores = rf.nearest(queries, k=10, where={"lang": "en"})

        Args:
            vectors: One query vector, or m of them.
            k: Number of rows for each query, at most the number of live rows. None for all rows that
                reach `min_score`.
            where: A filter, a bool for each row, row numbers, ids, or a list with one of these per query.
            threads: Number of threads. The default is one for each processor.
            min_score: Minimum score: one number, or one per query. A higher minimum makes the search faster.
            effort: Share of the vectors to scan, above 0 and at most 1. Below 1, a file with clusters
                scans the most promising ones first, and the result is approximate.
            recall: Array of m float64 to fill with the share of the k best that was found: 1 if bounds
                prove it, else an estimate.

        Returns:
            Row numbers int64[m, k] and scores float32[m, k], best first. Unused places hold row -1 and
            score -inf. With `k=None` the arrays are as wide as the longest answer.

        Raises:
            ValueError: The file has no vectors, or those given have another dimension.
        """
        rows, queries = self._now().rows, np.asarray(vectors)
        chosen = one_retriever.sets_of(rows, where, 1 if queries.ndim == 1 else len(queries))
        return one_retriever.nearest(
            rows, queries, k, chosen, threads, min_score=min_score, effort=effort, recall=recall
        )

    @names_file
    def match(
        self, texts: str | Iterable[str], k: int | None = 10, *, where: RowFilters | None = None,
        threads: int | None = None, k1: float | None = None, b: float | None = None,
        min_score: Vector | float | None = None, fields: FieldWeights | None = None,
    ) -> tuple[Int64s, Float32s]:  # fmt: skip
        """Return the k best rows for each text by BM25. Rows without any of its terms are not found.

            rows, scores = rf.match(["key rotation"], k=10, fields={"headers": 3})

        Args:
            texts: One text, or m of them.
            k: Number of rows for each text. None for all rows that reach `min_score`.
            where: A filter, a bool for each row, row numbers, ids, or a list with one of these per text.
            threads: Number of threads. The default is one for each processor.
            k1: Saturation of term frequencies. The default is the file's.
            b: Normalization by length, from 0 to 1. The default is the file's.
            min_score: Minimum score: one number, or one per text.
            fields: Weights of fields of the index, from 0 (ignored) to 255. Other fields keep the file's
                weights. Scores equal those of a file built with these weights.

        Returns:
            Row numbers int64[m, k] and scores float32[m, k], as `nearest` returns them.

        Raises:
            ValueError: The file has no BM25 index, or no field of a given name.
        """
        rows, texts = self._now().rows, [texts] if isinstance(texts, str) else list(texts)
        chosen = one_retriever.sets_of(rows, where, len(texts))
        return one_retriever.match(
            rows, texts, k, chosen, threads, min_score=min_score, k1=k1, b=b, fields=fields
        )

    @names_file
    def score(
        self, rows: Rows, *, text: str | None = None, vector: Vector | None = None, k1: float | None = None,
        b: float | None = None, fields: FieldWeights | None = None,
    ) -> Float32s:  # fmt: skip
        """Return the exact score of each of some rows, by BM25 for a text or by the file's metric for a vector.

        Args:
            rows: Row numbers, in any order. -1, the padding of an answer, scores -inf.
            text: Text to score by BM25.
            vector: Vector to compare, instead of `text`.
            k1: Saturation of term frequencies. The default is the file's.
            b: Normalization by length, from 0 to 1. The default is the file's.
            fields: Weights of fields of the BM25 index, as for `match`.

        Returns:
            float32 scores in the order of `rows`. A row without a vector scores NaN.

        Raises:
            ValueError: Neither or both of `text` and `vector` are given.
            IndexError: A row is deleted or outside the file.
        """
        return one_retriever.score(
            self._now().rows, rows, text=text, vector=vector, k1=k1, b=b, fields=fields
        )

    # ---------------------------------------------------------------------------------------------------- rows --

    @names_file
    def row(self, chunk_id: str) -> int | None:
        """Return the live row of a chunk id such as "guide.md#3", or None."""
        return self._now().rows.row(chunk_id)

    @names_file
    def hit(
        self,
        row: int,
        score: float = 0.0,
        score_type: str = "score",
        scores: dict[str, float] | None = None,
    ) -> Hit:
        """Return a row as a Hit, with the scores given.

        Raises:
            IndexError: The row is deleted or outside the file.
        """
        return self._now().rows.hit(row, score, score_type, scores)

    @names_file
    def chunk(self, row: int) -> Chunk:
        """Return a row as a Chunk. Its metadata includes that of its document.

        Raises:
            IndexError: The row is deleted or outside the file.
        """
        return self._now().rows.chunk(row)

    @names_file
    def vector(self, row: int) -> Floats:
        """Return the stored vector of a row, without a copy.

        Raises:
            ValueError: The row has no vector.
            IndexError: The row is deleted or outside the file.
        """
        return self._now().rows.vector(row)

    @names_file
    def vectors(self, segment: int | None = None) -> Floats | None:
        """Return the stored vectors of the live rows, in the order of `live_rows()`.

        The array is a view of the file if there is one segment without deleted rows, else a copy. The
        first call verifies the whole section: about 7 ms for 150 MB in memory, else one read of it.
        `vector(row)` verifies only the row that it returns.

        Args:
            segment: Number of a segment, to return its vectors only.

        Returns:
            An array [rows, dimension], NaN where a row has no vector; None if no row has one.
        """
        return self._now().rows.vectors(segment)

    @names_file
    def vector_mask(self) -> Booleans:
        """Return a bool for each row: whether it has a vector. Use it as a filter: `where=~rf.vector_mask()`."""
        return self._now().rows.vector_mask()

    @names_file
    def live_rows(self) -> Int64s:
        """Return the numbers of the live rows in order, as int64[len(rf)]."""
        return self._now().rows.live_rows()

    # ----------------------------------------------------------------------------------------------- documents --

    def documents(self) -> Iterator[Document]:
        """Yield every document, by segment and id."""
        rows = self._now().rows
        return _watched(rows, rows.documents()) if rows.is_sealed else rows.documents()

    @names_file
    def document_ids(self) -> list[str]:
        """Return the ids of all documents, sorted. No text is read."""
        return self._now().rows.document_ids()

    @names_file
    def document(self, doc_id: str) -> Document | None:
        """Return the document with an id, or None."""
        return self._now().rows.document(doc_id)

    @names_file
    def sources(self, chunk_ids: str | Iterable[str]) -> list[Document]:
        """Return the documents of some chunks, each once, in order of first mention.

        Args:
            chunk_ids: One id or several; unknown ids are ignored.
        """
        return self._now().rows.sources(chunk_ids)

    @names_file
    def context(self, chunk_id: str, before: int = 200, after: int = 200) -> str:
        """Return a chunk's text with the text around it in its document.

        Args:
            chunk_id: Id of the chunk, such as "guide.md#3".
            before: Maximum number of characters before the chunk.
            after: Maximum number of characters after it.

        Raises:
            KeyError: No chunk has this id.
        """
        return self._now().rows.context(chunk_id, before, after)

    # --------------------------------------------------------------------------------------------------- links --

    @property
    @names_file
    def graph(self) -> DocumentGraph:
        """The links between the documents: neighbours, ways, ranks, tables."""
        rows, held = self._now().rows, self._graph
        if held is None or held[0] is not rows:
            from ragfile.graph.document_graph import DocumentGraph

            ask = functools.partial(self.search, mode="bm25", query_syntax=True)
            self._graph = held = rows, DocumentGraph(rows.segments, ask, rows.document)
        return held[1]

    @names_file
    def links(self, doc_id: str) -> list[Link]:
        """Return the links of a document, each with the id of the document that it leads to.

        Raises:
            KeyError: No document has this id.
        """
        return self.graph.links(doc_id)

    @names_file
    def backlinks(self, doc_id: str) -> list[Link]:
        """Return the links that lead to a document, in order of the documents that have them.

        Raises:
            KeyError: No document has this id.
        """
        return self.graph.backlinks(doc_id)

    @names_file
    def broken_links(self) -> list[Link]:
        """Return the links that lead to no document of the file, in order of the documents that have them."""
        return self.graph.broken_links()

    # -------------------------------------------------------------------------------------------------- tables --

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Stream the live chunks to any Arrow library: texts, ids, typed metadata and vectors. No extra is needed."""
        return self._now().rows.__arrow_c_stream__(requested_schema)

    def to_dataset(self) -> pyarrow.dataset.Dataset:
        """Return the live chunks as a dataset for DuckDB, polars and pyarrow.

        A query reads only the columns that it names, of the rows that pass its conditions.
        """
        return self._now().rows.to_dataset()

    def to_arrow(self) -> pyarrow.Table:
        """Return the live chunks as a pyarrow.Table."""
        return self._now().rows.to_arrow()

    def to_pandas(self) -> pandas.DataFrame:
        """Return the live chunks as a pandas.DataFrame."""
        return self._now().rows.to_pandas()


def _watched(rows: OpenRows, documents: Iterator[Document]) -> Iterator[Document]:
    """Yield the documents of a file with trusted keys, which is checked after each of them was read."""
    for document in documents:
        rows.check_unchanged()
        yield document


def _empty(kind: type[Base]) -> Base:
    """Return a knowledge base for __setstate__ to fill."""
    return kind.__new__(kind)


class _Likeness(NamedTuple):
    """A search for passages similar to one: its text, its vector, and the row to leave out."""

    text: str
    vector: Vector | Vectors | None
    row: int


def _likeness(
    rows: OpenRows, query: str, vector: Vector | Vectors | None, similar_to: str | int
) -> _Likeness:
    """Return the search for passages similar to a chunk or row; the caller's text and vector win."""
    row = rows.row(similar_to) if isinstance(similar_to, str) else whole(similar_to, "similar_to")
    if row is None:
        raise KeyError(f"{rows.path} has no chunk {similar_to!r}, which similar_to= names")
    chunk = rows.chunk(row)
    text = query or chunk.content
    if vector is None and rows.vector_mask()[row]:
        (vector,) = stored = rows.vectors_of([row])
        if not np.isfinite(stored).all():
            what = f"the vector of row {row} is not finite"
            raise CorruptError(f"{rows.path}: {what}", section="vector")
    return _Likeness(text, vector, row)


def _text_of(rows: OpenRows, passage: Hit | Chunk | Candidate | int) -> str:
    """Return the text of a passage or of a row; row numbers may be numpy integers."""
    return (
        passage.text if isinstance(passage, Hit | Chunk | Candidate) else rows.chunk(passage).text
    )


def _given(hits: Hits) -> Hits:
    """Return a copy of a new answer for its caller; the original stays in the cache."""
    copies = _copied(hits)
    copies.request_id, copies.generation = hits.request_id, hits.generation
    return copies


def _copied(hits: Hits) -> Hits:
    """Return copies of hits, which the caller may change."""
    asked, copies = hits.asked, [copy_of(hit) for hit in hits]
    for hit in copies:
        hit.asked = asked
    found = Hits(copies, degraded=hits.degraded, timings=dict(hits.timings))
    found.asked = asked
    found.missing_shards, found.skipped, found.estimated_recall = (
        hits.missing_shards,
        hits.skipped,
        hits.estimated_recall,
    )
    return found
