"""From a question to an answer: search, pack, ask a model, check its citations, report failures.

Without a model, or if it fails (the reason is in `degraded`), the answer quotes the blocks of the best passages that
have most of the question: a paragraph, a row with its header, an item, code. If no passage supports an answer, the text is a refusal.

A follow-up is searched together with the question before it in `history`, so that "and how often?" finds its subject.
The model reads the whole history.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Unpack, cast

from ragfile.answer.answers import Answer, Event, Events
from ragfile.answer.ask_options import ASK, AskOptions, K
from ragfile.answer.best_blocks import LOOKED_AT, Quotation, quotations
from ragfile.answer.citations import Marks, cited, cited_lines, judged, numbered
from ragfile.answer.code_constants import with_constants
from ragfile.answer.messages import framed, messages
from ragfile.answer.passage_beginnings import from_beginning
from ragfile.answer.passage_budget import pack
from ragfile.chat.protocol import (
    ChatModel,
    ContextTooLongError,
    Ending,
    Message,
    history_of,
    name_of,
    open_chat,
    parameters,
    spoken,
)
from ragfile.errors import FormatError, ProviderError
from ragfile.ground import offline as network
from ragfile.ground import request_id as tracing
from ragfile.ground.option_table import takes
from ragfile.options import SEARCH, SearchOptions
from ragfile.records import Candidate, Hit, Hits, Support
from ragfile.search.blocks import is_source_code
from ragfile.search.named_pages import steps_of
from ragfile.search.question_terms import plain_terms
from ragfile.search.support import AskedQuestion

# Characters and seconds before an answer is cut off: some models never end.
LONGEST, SLOWEST = 200_000, 600.0
# A model repeats itself when its last PHRASE characters fill half of the last REPEATED.
PHRASE, REPEATED = 48, 2400
SETTINGS = ("temperature", "max_tokens", "stop", "seed")  # options of the model
ROOM = 3  # attempts to fit a model's context, each with half the passages of the one before
RECALLED = 500  # characters of the previous question in the search for a follow-up
NO_MODEL = (
    "these are quotations from the file; for a written answer name a model: "
    'model="openai:MODEL" or model="ollama:MODEL"'
)


@takes(ASK)
def ask(
    rf: Searchable, question: str, *, stream: bool = False, **options: Unpack[AskOptions]
) -> Answer | Events:
    """Answer a question with checked citations.

    Args:
        rf: The knowledge base.
        question: The question.
        stream: Return the events of the answer as they are made.
        **options: See docs/reference/answer-options.md.

    Returns:
        An Answer, or with `stream=True` Events, which close the model's connection when closed.

    Raises:
        TypeError: An argument has a wrong type.
        ValueError: The question is empty, or an option is out of bounds.
    """
    asked = ASK.complete(options)
    question = _question(question)
    given = {name: asked[name] for name in SETTINGS}
    settings = parameters(**given) if any(v is not None for v in given.values()) else {}
    search = cast("SearchOptions", {n: asked[n] for n in options if n in SEARCH.options})
    request_id, model = search.get("request_id") or tracing.new(), asked["model"]
    search["request_id"] = request_id
    history = history_of(asked["history"]) if asked["history"] else []
    run = _AnswerRun(
        rf, question, history, _systems(asked["system"]), settings, asked["k"], asked["budget"],
        asked["count"], search, asked["offline"], request_id,
        asked["allow_ungrounded"] and model is not None,
    )  # fmt: skip
    run.open(model)
    events = Events(run.events())
    return events if stream else events.answer()


def _question(question: object) -> str:
    """Return a question without lone surrogates, which are no text."""
    if not isinstance(question, str):
        raise TypeError(f"a question is a str, not {type(question).__name__}")
    if not question.strip():
        raise ValueError("the question is empty")
    return question.encode("utf-8", "replace").decode()


def _systems(system: str | Sequence[str]) -> list[str]:
    texts = [system] if isinstance(system, str) else list(system)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("system is a text or a list of texts")
    return [text for text in texts if text]


class Unreadable:
    """Stands in for a file that cannot be read, so that a model can answer without it."""

    generation = 0

    def __init__(self, error: Exception) -> None:
        self._error = error

    def search(self, query: str, k: int = K, **options: Unpack[SearchOptions]) -> Hits:
        """Raise the reason."""
        raise self._error

    def __enter__(self) -> Unreadable:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Searchable(Protocol):
    """A knowledge base, or a stand-in for one."""

    @property
    def generation(self) -> int: ...
    def search(self, query: str, k: int = ..., **options: Unpack[SearchOptions]) -> Hits: ...


@dataclass(slots=True)
class _AnswerRun:
    """The state of one question's answer."""

    rf: Searchable
    question: str
    history: list[Message]
    system: list[str]
    settings: dict[str, Any]
    k: int
    budget: int
    count: Callable[[str], int]
    search: SearchOptions
    is_offline: bool
    request_id: str
    allow_ungrounded: bool
    model: ChatModel | None = None
    answer: Answer = field(default_factory=lambda: Answer(""))
    hits: Hits = field(default_factory=Hits)
    tokens: int = 0  # of the passages in the prompt
    began: float = 0.0

    def open(self, model: str | ChatModel | None) -> None:
        """Open the model, or note why there is none."""
        self.began = time.perf_counter()
        self.answer = Answer(self.question, request_id=self.request_id)
        if model is None:
            self.answer.note = NO_MODEL
            return
        try:
            self.model = open_chat(model, offline=self.is_offline)
            self.answer.model = name_of(self.model)
        except ProviderError as error:
            if not (isinstance(model, str) and (self.is_offline or network.is_offline())):
                raise
            self.answer.degraded = str(error)

    def events(self) -> Generator[Event]:
        """Yield the events in order; the last one is done or error."""
        self._retrieve()
        self._pack(self.budget)
        yield Event("sources", self.answer.sources)
        answer = self.answer
        found = (
            self.hits.support
        )  # None for passages like a chunk, which the question did not choose
        answer.supported = bool(answer.contexts) if found is None else found.is_enough
        if self.model is not None:
            yield from self._written(self.model)
            if answer.finish == "error" and answer.text.strip():
                yield Event("error", self._finished())
                return
        if self.model is None or answer.finish == "error":
            yield from self._extracted() if answer.supported else self._refused(found or Support())
        yield Event("done", self._finished())

    # ----------------------------------------------------------------------------- the passages ---

    def _retrieve(self) -> None:
        started = time.perf_counter()
        try:
            self.hits = self._asked()
            for hit in self.hits:
                hit.read()  # raises now if the file is damaged
            self._degrade(self.hits.degraded)
            self.answer.generation = getattr(self.rf, "generation", 0)
        except (FormatError, OSError) as error:
            if not self.allow_ungrounded or self.model is None:
                raise
            self.hits = Hits()
            self.answer.used = False
            self._degrade(f"the file cannot be read: {error}")
        self.answer.timings["search"] = _ms(started)

    def _asked(self) -> Hits:
        """Return the hits, found without a socket if offline."""
        if not self.is_offline:
            return self._search()
        with network.offline():
            return self._search()

    def _search(self) -> Hits:
        """Return the hits, by as many steps as the answer needs, unless the caller chose.

        A question that names a page of the file takes two. Otherwise a quotation has to answer by itself: without a
        model, no passage rises because others name its page.
        """
        text, options = self._searched(), self.search
        rows = getattr(self.rf, "rows", None)
        if rows is not None and "hops" not in options:
            steps = steps_of(rows, text)
            options = options | SearchOptions(
                hops=0 if steps == 1 and self.model is None else steps
            )
        return self.rf.search(text, self.k, **options)

    def _searched(self) -> str:
        """Return the question, after the previous one of the history."""
        before = next(
            (turn["content"] for turn in reversed(self.history) if turn["role"] == "user"), ""
        )
        return f"{before[-RECALLED:]}\n{self.question}" if before.strip() else self.question

    def _pack(self, budget: int) -> None:
        """Fit the passages into a budget, dropping the lowest scores first."""
        found, answer = candidates_of(self.hits), self.answer
        if self.model is None:
            found[:LOOKED_AT] = map(from_beginning, found[:LOOKED_AT], self.hits)
        packed = pack(found, budget, count=self.count, frame=self._frame(found))
        answer.contexts, answer.dropped, self.tokens = (
            packed.contexts,
            packed.dropped,
            packed.tokens,
        )
        answer.sources = numbered(packed.contexts, self.hits)

    def _frame(self, found: list[Candidate]) -> int:
        """Return the most tokens that the prompt adds around one of the passages."""
        empty = numbered([c.without_text() for c in found])
        return max((self.count(framed(source, "0" * 16)) for source in empty), default=0)

    def _degrade(self, reason: str) -> None:
        self.answer.degraded = "; ".join(
            dict.fromkeys(part for part in (self.answer.degraded, reason) if part)
        )

    # ----------------------------------------------------------------------------- with a model ---

    def _written(self, model: ChatModel) -> Generator[Event]:
        """Yield the text and citations of a model's answer; a failure is noted, with finish "error"."""
        answer = self.answer
        for attempt in range(ROOM):
            try:
                yield from self._model_events(model)
                return
            except ContextTooLongError as error:
                if attempt == ROOM - 1 or not answer.contexts:
                    self._fail(error)
                    return
                self._pack(self.tokens // 2)
                yield Event("sources", answer.sources)
            except MemoryError:
                raise
            except Exception as error:  # noqa: BLE001 - a user's chat model may raise anything
                self._fail(error)
                return

    def _fail(self, error: Exception) -> None:
        reason = str(error) or type(error).__name__
        self.answer.finish = "error"
        self._degrade(
            f"the answer broke off: {reason}"
            if self.answer.text.strip()
            else f"no answer of {self.answer.model}: {reason}"
        )

    def _model_events(self, model: ChatModel) -> Generator[Event]:
        """Yield the text and citations of one attempt."""
        answer, marks = self.answer, Marks(self.answer.sources)
        started, until = time.perf_counter(), time.monotonic() + SLOWEST
        with tracing.request(self.request_id):
            pieces = spoken(
                model,
                messages(self.question, answer.sources, self.history, self.system),
                self.settings,
            )
        try:
            for piece in self._offline_or_not(pieces):
                answer.timings.setdefault("first", _ms(started))
                if isinstance(piece, Ending):
                    answer.finish, answer.usage = piece.reason, piece.usage
                    break
                yield from self._shown(marks, piece)
                if (reason := _endless(marks.text, until)) is not None:
                    answer.finish = "length"
                    self._degrade(reason)
                    break
            yield from self._shown(marks, "", is_last=True)
            if not marks.text.strip():
                raise ProviderError("the answer is empty")
        finally:
            pieces.close()
            answer.timings["model"] = _ms(started)

    def _offline_or_not(self, pieces: Iterator[str | Ending]) -> Iterator[str | Ending]:
        """Yield the pieces, each made without a socket if offline; the caller's own code runs in between."""
        while True:
            with network.offline(self.is_offline):
                piece = next(pieces, None)
            if piece is None:
                return
            yield piece

    def _shown(self, marks: Marks, piece: str, is_last: bool = False) -> Generator[Event]:
        text, citations = marks.feed(piece, is_last=is_last)
        self.answer.text, self.answer.citations, self.answer.unknown = (
            marks.text,
            marks.citations,
            marks.unknown,
        )
        if text:
            yield Event("delta", text)
        yield from (Event("citation", citation) for citation in citations)

    # -------------------------------------------------------------------------- without a model ---

    def _extracted(self) -> Generator[Event]:
        """Yield the blocks of the passages that answer best, each with its sources."""
        answer = self.answer
        answer.finish, answer.text, answer.citations = "extract", "", []
        for quotation in self._quotations():
            shown = ("\n\n" if answer.text else "") + quotation.text
            shown += "\n\n" if quotation.blocks[0].block.kind in ("row", "code") else " "
            known, constants = len(answer.citations), quotation.constants
            for _, _, source, block in quotation.blocks:
                at = len(answer.text) + len(shown)
                answer.citations += [
                    cited_lines(source, at, one.text, one.span) for one in constants
                ]
                constants = []  # of the first source's file
                answer.citations += [cited(source, at, start, end) for start, end in block.spans]
                shown += f"[{source.number}]"
            answer.text += shown
            yield Event("delta", shown)
            yield from (Event("citation", citation) for citation in answer.citations[known:])

    def _refused(self, found: Support) -> Generator[Event]:
        """Yield the refusal of a question without support; its sources are the nearest passages."""
        answer = self.answer
        answer.finish, answer.citations = "extract", []
        answer.text = found.refusal() if answer.contexts else ""
        if answer.text:
            yield Event("delta", answer.text)

    def _quotations(self) -> list[Quotation]:
        """Return the blocks that answer, by the question's terms in the file, or else by its words."""
        asked = cast("AskedQuestion | None", self.hits.asked)
        terms = plain_terms(self._searched()) if asked is None else asked.terms
        found = quotations(self.question, terms, self.answer.contexts, self.answer.sources)
        return [self._with_constants(quotation) for quotation in found]

    def _with_constants(self, quotation: Quotation) -> Quotation:
        """Return a quotation with the definitions of the constants that its code uses."""
        _, _, source, block = quotation.blocks[0]
        passage = self.answer.contexts[source.number - 1]
        if source.start < 0 or not is_source_code(passage.metadata):
            return quotation
        hits = (h for h in self.hits if (h.doc_id, h.chunk_index) == passage.key)
        start = source.start + block.spans[0].start
        return with_constants(quotation, next(hits), start, block.text(passage.content))

    def _finished(self) -> Answer:
        answer = self.answer
        if self.model is not None and answer.finish != "extract":
            answer.unsupported = judged(answer.text, answer.citations, answer.sources)
        answer.timings["total"] = _ms(self.began)
        return answer


def _endless(text: str, until: float) -> str | None:
    """Return why an answer is cut off, or None; some models never end or repeat themselves forever."""
    if len(text) > LONGEST or time.monotonic() > until:
        return f"cut off after {LONGEST:,} characters or {SLOWEST:g} seconds"
    tail = text[-REPEATED:]
    if len(tail) == REPEATED and tail.count(text[-PHRASE:]) >= REPEATED // PHRASE // 2:
        return "cut off: the model repeats itself"
    return None


def _ms(started: float) -> float:
    """Return the milliseconds since a time of perf_counter."""
    return (time.perf_counter() - started) * 1e3


def candidates_of(hits: Iterable[Hit]) -> list[Candidate]:
    """Return hits as candidates, with their sources in the metadata."""
    return [
        Candidate(
            h.doc_id,
            h.chunk_index,
            h.text,
            h.score,
            h.tags,
            {**h.metadata, **({"source": h.source} if h.source else {})},
            h.start,
            h.end,
        )
        for h in hits
    ]
