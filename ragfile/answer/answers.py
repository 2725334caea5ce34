"""An answer, and the events of an answer that is streamed: records, ready for JSON."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from ragfile.answer.citations import Citation, Source, Unsupported
from ragfile.answer.passage_budget import Dropped
from ragfile.ground.json_values import is_list
from ragfile.records import Candidate


@dataclass(slots=True, repr=False)
class Answer:
    """An answer with its sources and checks.

    Attributes:
        question: The question.
        text: The answer, with [n] for cited passages.
        citations: Each [n] of the text, checked against the passage.
        sources: The passages that may be cited, by number.
        contexts: The passages in the prompt, best first.
        dropped: Passages that did not fit the budget, with the reason.
        unsupported: Sentences that the passages do not support.
        unknown: Numbers that the model cited and no passage has.
        degraded: The part that was unavailable (the model, the embedder, the file) and why, or "".
        note: A hint what to do next, or "".
        model: Name of the model, or "".
        finish: "stop", "length", "extract" (quotations from the file, without a model), "error", or
            another word of the model's.
        used: Whether the file was used; False if it could not be read and `allow_ungrounded` was set.
        supported: Whether a passage has enough of the question's words or is near to it in meaning
            (see docs/concepts/checked-answers.md).
        usage: Numbers of tokens by kind, as the model reports them.
        timings: Milliseconds by stage.
        request_id: Name of the request in the log.
        generation: Number of the commit that was searched.
    """

    question: str
    text: str = ""
    citations: list[Citation] = field(default_factory=list[Citation])
    sources: list[Source] = field(default_factory=list[Source])
    contexts: list[Candidate] = field(default_factory=list[Candidate])
    dropped: list[Dropped] = field(default_factory=list[Dropped])
    unsupported: list[Unsupported] = field(default_factory=list[Unsupported])
    unknown: list[int] = field(default_factory=list[int])
    degraded: str = ""
    note: str = ""
    model: str = ""
    finish: str = "stop"
    used: bool = True
    supported: bool = True
    usage: dict[str, int] = field(default_factory=dict[str, int])
    timings: dict[str, float] = field(default_factory=dict[str, float])
    request_id: str = ""
    generation: int = 0

    def __repr__(self) -> str:
        cited = len({citation.number for citation in self.citations})
        return f"Answer({self.finish}, {cited} of {len(self.sources)} sources cited, {self.text!r})"

    def _repr_html_(self) -> str:
        """Return the answer for a notebook."""
        from ragfile.answer.html_answers import html_of

        return html_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as a dict, ready for JSON. Dropped passages are named, without their texts."""
        plain = (
            "question",
            "text",
            "unknown",
            "supported",
            "degraded",
            "note",
            "model",
            "finish",
            "usage",
            "timings",
        )
        return {name: getattr(self, name) for name in plain} | {
            "citations": [citation.to_dict() for citation in self.citations],
            "sources": [source.to_dict() for source in self.sources],
            "dropped": [
                {
                    "doc_id": d.candidate.doc_id, "chunk_index": d.candidate.chunk_index,
                    "score": d.candidate.score, "reason": d.reason,
                } for d in self.dropped
            ],
            "unsupported": [asdict(sentence) for sentence in self.unsupported],
            "rag": {"used": self.used} if self.used else {"used": False, "reason": self.degraded},
            "request_id": self.request_id, "generation": self.generation,
        }  # fmt: skip


class Event(NamedTuple):
    """One step of a streamed answer.

    Attributes:
        kind: The kind of step, which decides the type of `data`:

            - sources: a list of Source; sent again, shorter, if the model has no room for all passages.
            - delta: a str, more text of the answer.
            - citation: a Citation of the text so far.
            - done: the whole Answer.
            - error: the Answer so far, with the reason in `degraded`.
        data: The data of the step.
    """

    kind: str
    data: Any  # Any: its type follows from `kind`

    def to_dict(self) -> dict[str, Any]:
        """Return the event as a dict, ready for JSON."""
        if isinstance(self.data, str):
            return {"event": self.kind, "text": self.data}
        if is_list(self.data):
            sources: list[Source] = self.data
            return {"event": self.kind, "sources": [source.to_dict() for source in sources]}
        return {"event": self.kind, **self.data.to_dict()}


class Events:
    """An iterator of the events of an answer. close(), or the end of a with block, closes the model's connection."""

    def __init__(self, events: Generator[Event]) -> None:
        self._events = events

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        return next(self._events)

    def __enter__(self) -> Events:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the answer."""
        self._events.close()

    def answer(self) -> Answer:
        """Read to the end, and return the Answer."""
        answer: Answer = [event.data for event in self][-1]
        return answer
