"""From a question to passages, one way:

    options ─ Question ─ rows that pass ─ [bm25 ─ vector] ─ both exact scores for every row ─ fusion ─ hits

A retriever that cannot run (no vectors in the file, no embedder, a provider that is down) is left out, and `degraded`
says why.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    Self,
    TypeVar,
    Unpack,
    overload,
)

import numpy as np
from numpy.typing import NDArray

from ragfile.embedding.protocol import Embedder
from ragfile.errors import CorruptError
from ragfile.file import custom_sections
from ragfile.file.container import Container
from ragfile.file.passages import copy_of
from ragfile.file.source import ByteSource, FileSource
from ragfile.ground import request_id as tracing
from ragfile.ground.annotations import deferred
from ragfile.ground.option_table import takes
from ragfile.options import BATCH, EXPLAIN, SEARCH, BatchOptions, ExplainOptions, SearchOptions
from ragfile.records import Candidate, Chunk, Document, Hit, Hits, Span
from ragfile.search import (
    groups,
    query_rewrites,
    reachable_rows,
    retriever_fusion,
    search_log,
)
from ragfile.search.current import Current, Embedding, Opened
from ragfile.search.file_rows import FileRows
from ragfile.search.opener import FileOpener
from ragfile.search.question import Question
from ragfile.search.result_columns import ResultColumns
from ragfile.search.retrieval import Part
from ragfile.types import (
    FieldWeights,
    Float32s,
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
    from ragfile.ground.signing_keys import PublicKey
    from ragfile.search.excerpts import Excerpt
    from ragfile.search.explanation import Explanation
    from ragfile.search.llm_tools import Tool

    P = ParamSpec("P")
    R = TypeVar("R")
    Base = TypeVar("Base", bound="KnowledgeBase")
else:
    Answer = deferred("ragfile.answer.answers", "Answer")
    Events = deferred("ragfile.answer.answers", "Events")
    AskOptions = deferred("ragfile.answer.ask_options", "AskOptions")
    AsyncEvents = deferred("ragfile.answer.async_api", "AsyncEvents")
    PublicKey = deferred("ragfile.ground.signing_keys", "PublicKey")
    Excerpt = deferred("ragfile.search.excerpts", "Excerpt")
    Explanation = deferred("ragfile.search.explanation", "Explanation")
    Tool = deferred("ragfile.search.llm_tools", "Tool")


def names_file(
    method: Callable[Concatenate[Base, P], R],
) -> Callable[Concatenate[Base, P], R]:
    """Name the file in errors of damaged sections, which do not know it."""

    @functools.wraps(method)
    def call(self: Base, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except CorruptError as error:
            error.name_file(self.path)
            raise

    return call


class KnowledgeBase:
    """A 1.0 file opened for asking; see the package's open().

    Each call answers from one commit, whatever refresh() does in another thread meanwhile.
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
        """Begin with what is open, or with a view of it that stays as it is."""
        self._current, self.path, self.counters = current, current.path, current.counters
        self._view = view

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
        """Live chunks."""
        return self._open.rows.live

    def __repr__(self) -> str:
        opened, kind = self._view or self._current.opened, type(self).__name__
        what = "closed" if opened is None else opened.rows.shown()
        return f"<{kind} {self.path}, {what}>"

    # ------------------------------------------------------------------------------------------------ what is open --

    @property
    def _open(self) -> Opened:
        """What is open; ValueError once it is closed."""
        opened = self._view or self._current.opened
        if opened is None:
            raise ValueError(f"{self.path} is closed")
        return opened

    def _now(self) -> Opened:
        """The same for a call that answers from it: a file that was written over is refused."""
        opened = self._view or self._current.opened
        if opened is None:
            raise ValueError(f"{self.path} is closed")
        opened.rows.check_unchanged()
        return opened

    @property
    def rows(self) -> FileRows:
        """The rows of the commit that is open: what they hold, and exact search by one retriever."""
        return self._now().rows

    @property
    def file(self) -> Container:
        """The file as a container: sections, signatures, raw bytes."""
        return self._open.rows.file

    @property
    def generation(self) -> int:
        """The number of the commit that is open. Compaction does not start it again."""
        return self._open.rows.generation

    @property
    @names_file
    def info(self) -> dict[str, Any]:
        """The file at a glance."""
        return self._now().rows.file.info

    @property
    def embedder(self) -> Embedder | None:
        """What turns questions into vectors: the one given, else the model that the file records, where it is on this
        machine. A file never makes anybody talk to a server."""
        return self._open.retrieval.vectors.embedder

    @names_file
    def strategy(self, name: str) -> Any:  # anything that an opener returns
        """The searcher of a section that an opener was registered for."""
        section = self.file.section(name)
        if section is None:
            raise KeyError(f"{self.path} has no section {name!r}")
        return custom_sections.opener(name)(section, self)

    def at_commit(self) -> Self:
        """The commit that is open now, as an object that stays as it is: its methods agree with one
        another, whatever refresh() does here meanwhile.
        """
        if self._view is not None:
            return self
        view = _empty(type(self))
        view.__setstate__(self._current, self._now())
        return view

    def refresh(self) -> bool:
        """Looks for a newer commit, or a newer file under the same name; True when there was one.

        Calls that are under way in other threads end with the commit that they began with. A new file that cannot be read
        leaves the old one open, and a closed one stays closed. Without effect on an older generation, or on at_commit().
        """
        _ = self._open  # which refuses a closed one
        return self._view is None and self._current.refresh()

    def close(self) -> None:
        """Lets the file go. Views that were handed out stay valid as long as they live; closing at_commit() does nothing."""
        if self._view is None:
            self._current.close()

    # ---------------------------------------------------------------------------------------------------- asking --

    @takes(SEARCH)
    @names_file
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
        """Return k hits in the order of `rerank`, of as many as it reads."""
        from ragfile.search import reranker

        reranker.check(asked)
        wider: dict[str, Any] = {
            **options, "rerank": False, "offset": 0, "pool": max(asked["pool"], reranker.READ),
        }  # fmt: skip
        count = max(asked["offset"] + k, reranker.READ)
        hits = self.at_commit().search(query, count, **wider)
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
    @names_file
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
        opened, notes = self._now(), question.notes
        name = request_id or tracing.new()
        with tracing.request(name):
            parts = opened.retrieval.found(question.limited(opened.rows.live))
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
        """The answers of a batch as arrays."""
        notes = question.notes
        ranked = retriever_fusion.together(len(question.texts), parts)
        why = next((why for _, _, why in parts if why), "")
        self.counters["searches"] += len(question.texts)
        notes.note("fetch")
        return ResultColumns(
            ranked, opened.rows.passages(), degraded=why, timings=notes.spent, request_id=request_id,
            generation=opened.rows.generation,
            recall=None if question.recall is None else question.recall.all,
        )  # fmt: skip

    def _answered(self, opened: Opened, question: Question, request_id: str | None) -> Hits:
        """The answer to one question."""
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
        self.counters["searches"] += 1
        if search_log.log.isEnabledFor(logging.INFO):
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
    def ask(self, question: str, *, stream: bool = False, **options: Any) -> Answer | Events:
        """An Answer with checked citations; with stream=True its Events, as they come.

        The options are those of ragfile.qa.ask.
        """
        from ragfile.answer.pipeline import ask  # with all that chat needs, which a search does not

        return ask(self.at_commit(), question, stream=stream, **options)

    @names_file
    def highlights(self, query: str, passage: Hit | Chunk | Candidate | int) -> list[Span]:
        """Where the text of a passage has the question's words, stems included: in order, without overlaps.

        passage is a hit, a chunk, a candidate or a row. Spans are code points of its text, with the
        markup that it has. A file without a BM25 index has no words to compare.
        """
        from ragfile.search import highlight_spans  # which a search does not need

        rows = self._now().rows
        text = _text_of(rows, passage)
        if not rows.has_bm25:
            return []
        asked = {term for term, _ in rows.lexicon.terms(query)}
        return highlight_spans.spans(rows.lexicon, asked, text)

    @takes(EXPLAIN)
    @names_file
    def explain(
        self, query: str, passage: int | str, k: int = 12, **options: Unpack[ExplainOptions]
    ) -> Explanation:
        """Explain the place of a row, or of the chunk of an id, in the answer to a question."""
        from ragfile.search.explanation import explained

        opened = self._now()
        row = opened.rows.row(passage) if isinstance(passage, str) else passage
        if row is None:
            raise KeyError(f"{self.path} has no chunk {passage!r}")
        return explained(opened.retrieval, query, row, k, EXPLAIN.complete(options))

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

    def _read_search(self, query: str, k: int, **options: Any) -> Hits:
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

    @names_file
    def excerpt(
        self, query: str, passage: Hit | Chunk | Candidate | int, size: int = 300
    ) -> Excerpt:
        """The sentences of a passage that have most of the question's words, up to `size` characters, with these
        words marked. Without any, its first sentences."""
        from ragfile.search import excerpts, highlight_spans

        rows = self._now().rows
        text, found = _text_of(rows, passage), []
        if rows.has_bm25:
            asked = {term for term, _ in rows.lexicon.terms(query)}
            found = [p for p in highlight_spans.places(rows.lexicon, text) if p.term in asked]
        return excerpts.excerpt(text, found, size)

    def nearness(self, question: str, hits: Sequence[Hit]) -> float:
        """How many deviations of the sample the nearest of some hits is above its mean, by the vector of the
        question; -inf where vectors were not asked."""
        return self._now().retrieval.nearness(question, hits)

    def _kept(self, opened: Opened, known: Hits, question: Question, request_id: str) -> Hits:
        """An answer that was given before."""
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
        rows, queries = self._now().rows, np.asarray(vectors)
        chosen = reachable_rows.sets_of(rows, where, 1 if queries.ndim == 1 else len(queries))
        return reachable_rows.nearest(
            rows, queries, k, chosen, threads, min_score=min_score, effort=effort, recall=recall
        )

    @names_file
    def match(
        self, texts: str | Iterable[str], k: int | None = 10, *, where: RowFilters | None = None,
        threads: int | None = None, k1: float | None = None, b: float | None = None,
        min_score: Vector | float | None = None, fields: FieldWeights | None = None,
    ) -> tuple[Int64s, Float32s]:  # fmt: skip
        """As nearest, by BM25 over the text. A row without any of the terms is not found.

        fields gives fields of the index other weights than the file's, such as {"headers": 3}; scores have the bits of
        a file that was built with these, and 0 leaves a field out.
        """
        rows, texts = self._now().rows, [texts] if isinstance(texts, str) else list(texts)
        chosen = reachable_rows.sets_of(rows, where, len(texts))
        return reachable_rows.match(
            rows, texts, k, chosen, threads, min_score=min_score, k1=k1, b=b, fields=fields
        )

    @names_file
    def score(
        self, rows: Rows, *, text: str | None = None, vector: Vector | None = None, k1: float | None = None,
        b: float | None = None, fields: FieldWeights | None = None,
    ) -> Float32s:  # fmt: skip
        """The exact score of each of these rows, for a text by BM25 or for a vector by the file's metric.

        The rows of an answer can be given as they are: -1, which fills it up, scores -inf. A row without a vector
        scores NaN. Deleted rows are refused.
        """
        return reachable_rows.score(
            self._now().rows, rows, text=text, vector=vector, k1=k1, b=b, fields=fields
        )

    # ---------------------------------------------------------------------------------------------------- rows --

    def row(self, chunk_id: str) -> int | None:
        """The live row of a chunk id ("document#index"), or None."""
        return self._now().rows.row(chunk_id)

    def hit(
        self,
        row: int,
        score: float = 0.0,
        score_type: str = "score",
        scores: dict[str, float] | None = None,
    ) -> Hit:
        """The Hit of a row."""
        return self._now().rows.hit(row, score, score_type, scores)

    def chunk(self, row: int) -> Chunk:
        """The Chunk of a row; its metadata includes the document's."""
        return self._now().rows.chunk(row)

    def vector(self, row: int) -> NDArray[np.floating[Any]]:
        """The stored vector of a row, a view of the map."""
        return self._now().rows.vector(row)

    def vectors(self, segment: int | None = None) -> NDArray[np.floating[Any]] | None:
        """The stored vectors of the live rows, in the order of live_rows(); None where there are none.

        They are a view of the map, without a copy, where the file has one segment and no deleted rows. Otherwise
        they are copied together. A row without a vector is NaN. With `segment`, the vectors are those of that segment
        alone. The first call checks all of the section's bytes: seven milliseconds for 150 MB in memory, else a read
        of the section. For single rows there is vector(row), which checks what it gives.
        """
        return self._now().rows.vectors(segment)

    def vector_mask(self) -> NDArray[np.bool_]:
        """bool[rows]: whether a row has a vector. It can be a filter: `where=~rf.vector_mask()`."""
        return self._now().rows.vector_mask()

    def live_rows(self) -> Int64s:
        """The numbers of the rows that are not deleted, in order, as int64. There are len(rf) of them."""
        return self._now().rows.live_rows()

    # ----------------------------------------------------------------------------------------------- documents --

    def documents(self) -> Iterator[Document]:
        """Every document, in order of segment and id."""
        return self._now().rows.documents()

    def document_ids(self) -> list[str]:
        """The ids of all documents, in order; no text is read."""
        return self._now().rows.document_ids()

    def document(self, doc_id: str) -> Document | None:
        """The Document with this id, or None."""
        return self._now().rows.document(doc_id)

    @names_file
    def sources(self, chunk_ids: str | Iterable[str]) -> list[Document]:
        """The documents that these chunks are from, each once, in order of first mention; unknown ids are passed over."""
        return self._now().rows.sources(chunk_ids)

    @names_file
    def context(self, chunk_id: str, before: int = 200, after: int = 200) -> str:
        """The chunk's text with up to so many characters of its document on either side."""
        return self._now().rows.context(chunk_id, before, after)

    # -------------------------------------------------------------------------------------------------- tables --

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The live chunks for anything that takes Arrow streams: texts, ids, metadata with types, vectors. Needs no extra."""
        return self._now().rows.__arrow_c_stream__(requested_schema)

    def to_dataset(self) -> pyarrow.dataset.Dataset:
        """The live chunks as a dataset for DuckDB, polars and pyarrow, which reads the columns that a query
        names of the rows that pass its conditions.
        """
        return self._now().rows.to_dataset()

    def to_arrow(self) -> pyarrow.Table:
        """The live chunks as a pyarrow.Table."""
        return self._now().rows.to_arrow()

    def to_pandas(self) -> pandas.DataFrame:
        """The live chunks as a pandas.DataFrame."""
        return self._now().rows.to_pandas()


def _empty(kind: type[Base]) -> Base:
    """Return a knowledge base that __setstate__ fills."""
    return kind.__new__(kind)


def _likeness(rows: Any, query: str, vector: Any, similar_to: str | int) -> tuple[str, Any, int]:
    """(text, vector, row that is left out) of a question for passages like one that is there."""
    row = rows.row(similar_to) if isinstance(similar_to, str) else similar_to
    if row is None:
        raise KeyError(f"{rows.path} has no chunk {similar_to!r}, which similar_to= names")
    text = query or rows.chunk(row).content
    if vector is None and rows.vector_mask()[row]:
        vector = rows.vectors_of([row])[0]
    return text, vector, row


def _text_of(rows: Any, passage: Any) -> str:
    """The text of a hit or the like, or of a row, as a number of Python's or numpy's."""
    return rows.chunk(passage).text if hasattr(passage, "__index__") else passage.text


def _given(hits: Hits) -> Hits:
    """An answer for its first taker, while the kept one stays as it is."""
    copies = _copied(hits)
    copies.request_id, copies.generation = hits.request_id, hits.generation
    return copies


def _copied(hits: Hits) -> Hits:
    """Hits that their taker may change."""
    copies = [copy_of(hit) for hit in hits]
    found = Hits(copies, degraded=hits.degraded, timings=dict(hits.timings))
    found.missing_shards, found.skipped, found.estimated_recall = (
        hits.missing_shards,
        hits.skipped,
        hits.estimated_recall,
    )
    return found
