"""From a question to an answer: search, pack, ask a model, check what it cites, say what went
wrong.

Without a model the sentences of the best passages that say most about the question are the answer.
So they are, with the reason in `degraded`, when the model cannot be had. Where no passage supports an
answer, that is said instead.

A follow-up is searched together with the question before it in `history`: "and how often?" finds
what it is about. The model reads the whole of the history.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Unpack

from ragfile.answer.answers import Answer, Event, Events
from ragfile.answer.ask_options import ASK, AskOptions
from ragfile.answer.citations import Marks, cited, content, judged, numbered
from ragfile.answer.evidence import NEAR, support
from ragfile.answer.markup import cleaned, prose
from ragfile.answer.messages import framed, messages
from ragfile.answer.passage_budget import Extract, compress, pack
from ragfile.chat.protocol import (
    ContextTooLongError,
    Ending,
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
from ragfile.options import SEARCH
from ragfile.records import Candidate, Hits

# Characters and seconds after which an answer is cut off: some models never end.
LONGEST, SLOWEST = 200_000, 600.0
# A model repeats itself when its last PHRASE characters fill half of the last REPEATED.
PHRASE, REPEATED = 48, 2400
SETTINGS = ("temperature", "max_tokens", "stop", "seed")  # options that models are given
ROOM = 3  # attempts to fit a model's context, each with half the passages of the one before
EXTRACTS = Extract(sentences=2, window=0)
EXTRACTED = 5  # passages that give sentences to an answer without a model
RECALLED = 500  # characters of the question before that a follow-up is searched with
NO_MODEL = (
    "these are sentences of the file; for a written answer name a model: "
    'model="openai:MODEL" or model="ollama:MODEL"'
)


@takes(ASK)
def ask(
    rf: Any, question: str, *, stream: bool = False, **options: Unpack[AskOptions]
) -> Answer | Events:
    """Answer a question, or with stream=True return an iterator of Events, which hangs up when closed.

    Wrong arguments are raised here, before anything is asked.
    """
    asked = ASK.complete(options)
    question = _question(question)
    given = {name: asked[name] for name in SETTINGS}
    settings = parameters(**given) if any(v is not None for v in given.values()) else {}
    search = {name: asked[name] for name in options if name in SEARCH.options}
    request_id, model = search.pop("request_id", None) or tracing.new(), asked["model"]
    history = history_of(asked["history"]) if asked["history"] else []
    asking = _AnswerRun(
        rf, question, history, _systems(asked["system"]), settings, asked["k"], asked["budget"],
        asked["count"], search, asked["offline"], request_id,
        asked["allow_ungrounded"] and model is not None,
    )  # fmt: skip
    asking.open(model)
    events = Events(asking.events())
    return events if stream else events.answer()


def _question(question):
    if not isinstance(question, str):
        raise TypeError(f"a question is a str, not {type(question).__name__}")
    if not question.strip():
        raise ValueError("the question is empty")
    return question.encode("utf-8", "replace").decode()  # lone surrogates are no text


def _systems(system):
    texts = [system] if isinstance(system, str) else list(system)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("system is a text or a list of texts")
    return [text for text in texts if text]


class Unreadable:
    """In the place of a file that cannot be read, for an answer without it."""

    generation = 0

    def __init__(self, error: Exception):
        self._error = error

    def search(self, *_: Any, **__: Any) -> Hits:
        """Raises why."""
        raise self._error

    def __enter__(self) -> Unreadable:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@dataclass(slots=True)
class _AnswerRun:
    """One question on its way to an answer."""

    rf: Any
    question: str
    history: list
    system: list
    settings: dict
    k: int
    budget: int
    count: Callable[[str], int]
    search: dict
    is_offline: bool
    request_id: str
    allow_ungrounded: bool
    model: Any = None
    answer: Any = None
    hits: Any = ()
    tokens: int = 0  # of the passages in the prompt
    began: float = 0.0

    def open(self, model):
        """Opens the model, or notes why there is none."""
        self.began = time.perf_counter()
        self.answer = Answer(self.question, request_id=self.request_id)
        if model is None:
            self.answer.note = NO_MODEL
        elif isinstance(model, str) and (self.is_offline or network.is_offline()):
            self.answer.degraded = network.why(f"the chat model {model.partition('?')[0]}")
        else:
            self.model = open_chat(model)
            self.answer.model = name_of(self.model)

    def events(self):
        """The events, in order; the last one is done or error."""
        self._retrieve()
        self._pack(self.budget)
        yield Event("sources", self.answer.sources)
        answer = self.answer
        found = support(self._searched(), [_with_path(c) for c in answer.contexts])
        answer.supported = found.is_enough or self._is_near()
        if self.model is not None:
            yield from self._written()
            if answer.finish == "error" and answer.text.strip():
                yield Event("error", self._finished())
                return
        if self.model is None or answer.finish == "error":
            yield from self._extracted() if answer.supported else self._refused(found)
        yield Event("done", self._finished())

    # ----------------------------------------------------------------------------- the passages ---

    def _retrieve(self):
        started = time.perf_counter()
        try:
            self.hits = self._asked()
            for hit in self.hits:
                hit.read()  # what cannot be read is known now
            self._degrade(self.hits.degraded)
            self.answer.generation = getattr(self.rf, "generation", 0)
        except (FormatError, OSError) as error:
            if not self.allow_ungrounded or self.model is None:
                raise
            self.hits = Hits()
            self.answer.used = False
            self._degrade(f"the file cannot be read: {error}")
        self.answer.timings["search"] = _ms(started)

    def _asked(self):
        """The hits; no socket is opened for them, if that was said."""
        if not self.is_offline:
            return self.rf.search(
                self._searched(), self.k, request_id=self.request_id, **self.search
            )
        with network.offline():
            return self.rf.search(
                self._searched(), self.k, request_id=self.request_id, **self.search
            )

    def _searched(self):
        """The question, after the one before it."""
        before = next(
            (turn["content"] for turn in reversed(self.history) if turn["role"] == "user"), ""
        )
        return f"{before[-RECALLED:]}\n{self.question}" if before.strip() else self.question

    def _pack(self, budget):
        """Fits the passages; those that are left out are said, the lowest scores first to go."""
        found, answer = candidates_of(self.hits), self.answer
        packed = pack(found, budget, count=self.count, frame=self._frame(found))
        answer.contexts, answer.dropped, self.tokens = (
            packed.contexts,
            packed.dropped,
            packed.tokens,
        )
        answer.sources = numbered(packed.contexts, self.hits)

    def _frame(self, found):
        """The most tokens that stand around one of these passages in the prompt."""
        empty = numbered([c.without_text() for c in found])
        return max((self.count(framed(source, "0" * 16)) for source in empty), default=0)

    def _degrade(self, reason):
        self.answer.degraded = "; ".join(
            dict.fromkeys(part for part in (self.answer.degraded, reason) if part)
        )

    # ----------------------------------------------------------------------------- with a model ---

    def _written(self):
        """deltas and citations of a model's answer; what fails is noted, with finish "error"."""
        answer = self.answer
        for attempt in range(ROOM):
            try:
                yield from self._said()
                return
            except ContextTooLongError as error:
                if attempt == ROOM - 1 or not answer.contexts:
                    self._fail(error)
                    return
                self._pack(self.tokens // 2)
                yield Event("sources", answer.sources)
            except MemoryError:
                raise
            except Exception as error:  # noqa: BLE001 - a chat model may be anybody's
                self._fail(error)
                return

    def _fail(self, error):
        said = str(error) or type(error).__name__
        self.answer.finish = "error"
        self._degrade(
            f"the answer broke off: {said}"
            if self.answer.text.strip()
            else f"no answer of {self.answer.model}: {said}"
        )

    def _said(self):
        answer, marks = self.answer, Marks(self.answer.sources)
        started, until = time.perf_counter(), time.monotonic() + SLOWEST
        with tracing.request(self.request_id):
            pieces = spoken(
                self.model,
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

    def _offline_or_not(self, pieces):
        """The pieces; each is asked for without a socket, if that was said. The reader's own code
        runs in between.
        """
        while True:
            with network.offline(self.is_offline):
                piece = next(pieces, None)
            if piece is None:
                return
            yield piece

    def _shown(self, marks, piece, is_last=False):
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

    def _extracted(self):
        """The sentences that say most, each with its source."""
        answer = self.answer
        answer.finish, answer.text, answer.citations = "extract", "", []
        for sentence, spans in extracts(self._searched(), answer.contexts, answer.sources):
            said = ("\n\n" if answer.text else "") + sentence + " "
            known = len(answer.citations)
            for source, span in spans:
                at = len(answer.text) + len(said)
                answer.citations.append(cited(source, at, span["start"], span["end"]))
                said += f"[{source.number}]"
            answer.text += said
            yield Event("delta", said)
            yield from (Event("citation", citation) for citation in answer.citations[known:])

    def _refused(self, found):
        """What is said where nothing supports an answer; its sources are what is nearest."""
        answer = self.answer
        answer.finish, answer.citations = "extract", []
        answer.text = found.refusal() if answer.contexts else ""
        if answer.text:
            yield Event("delta", answer.text)

    def _is_near(self):
        """Whether a passage is near in meaning, where the question's own vector was asked."""
        nearness = None if "vector" in self.search else getattr(self.rf, "nearness", None)
        return nearness is not None and nearness(self._searched(), self.hits) >= NEAR

    def _finished(self):
        answer = self.answer
        if self.model is not None and answer.finish != "extract":
            answer.unsupported = judged(answer.text, answer.citations, answer.sources)
        answer.timings["total"] = _ms(self.began)
        return answer


def _endless(text, until):
    """Why an answer is cut off, or None: some models never end, or say one thing for ever."""
    if len(text) > LONGEST or time.monotonic() > until:
        return f"cut off after {LONGEST:,} characters or {SLOWEST:g} seconds"
    tail = text[-REPEATED:]
    if len(tail) == REPEATED and tail.count(text[-PHRASE:]) >= REPEATED // PHRASE // 2:
        return "cut off: the model repeats itself"
    return None


def extracts(question, contexts, numbered_sources):
    """[(sentence, [(source, span)])]: the best sentences of the best passages without their markup, in their order, each
    with the passages that have it.

    Code, tables and headings count only where no sentence has a word of the question, and so do sentences without one.
    """
    best, asked = contexts[:EXTRACTED], content(question)
    plain = [replace(c, content=prose(c.content, c.start > 0)) for c in best]
    found = _sentences(question, plain, best, numbered_sources)
    said = {text: spans for text, spans in found.items() if asked & content(text)}
    if not said:
        found = _sentences(question, best, best, numbered_sources, is_code=True)
        said = {text: spans for text, spans in found.items() if asked & content(text)}
    return list((said or found).items())


def _sentences(question, looked_at, contexts, numbered_sources, *, is_code=False):
    """{sentence without its markup: [(source, span)]}; the places are those of the passages as they are."""
    sources = {(source.doc_id, source.chunk_index): source for source in numbered_sources}
    texts = {candidate.key: candidate.content for candidate in contexts}
    found: dict[str, Any] = {}
    for span in compress(question, looked_at, EXTRACTS):
        key = span["doc_id"], span["chunk_index"]
        if text := cleaned(texts[key][span["start"] : span["end"]], is_code=is_code):
            found.setdefault(text, []).append((sources[key], span))
    return found


def _with_path(candidate):
    path = candidate.metadata.get("headers")
    return f"{path}\n{candidate.content}" if isinstance(path, str) else candidate.content


def _ms(started):
    return (time.perf_counter() - started) * 1e3


def candidates_of(hits):
    """Hits as the steps after the search take them, with their sources among the metadata."""
    return [
        Candidate(
            h.doc_id,
            h.chunk_index,
            h.text,
            h.score,
            h.tags,
            {"source": h.source, **h.metadata},
            h.start,
            h.end,
        )
        for h in hits
    ]
