"""An answer and the steps in which it comes: records, ready for JSON."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from ragfile.answer.citations import Citation, Source, Unsupported
from ragfile.records import Candidate


@dataclass(slots=True)
class Answer:
    """An answer and all that it rests on.

    `degraded` says what could not be had (the model, the embedder), or "". `note` is what to do
    next, or "". `unknown` are numbers that the model cited and no passage has. `used` is False,
    with the reason in `degraded`, where the file could not be read and the caller allowed an answer
    without it. `supported` is False where no passage has enough of the question's words or is near
    to it (see docs/concepts/checked-answers.md). `finish` is "stop", "length", "extract" (no model), "error" or the model's own word.
    `timings` are milliseconds.
    """

    question: str
    text: str = ""
    citations: list[Citation] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    contexts: list[Candidate] = field(default_factory=list)
    dropped: list = field(default_factory=list)
    unsupported: list[Unsupported] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    degraded: str = ""
    note: str = ""
    model: str = ""
    finish: str = "stop"
    used: bool = True
    supported: bool = True
    usage: dict[str, int] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    request_id: str = ""
    generation: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; the passages are under `sources`, and only named under `dropped`."""
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
    """A step of an answer that comes as a stream.

    sources: the list of Source; again, and shorter, where the model has no room for all. delta:
    text. citation: a Citation of what the text has so far. done: the Answer, whole. error: the
    Answer as far as it came, with the reason in `degraded`.
    """

    kind: str
    data: Any

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        if isinstance(self.data, str):
            return {"event": self.kind, "text": self.data}
        if isinstance(self.data, list):
            return {"event": self.kind, "sources": [source.to_dict() for source in self.data]}
        return {"event": self.kind, **self.data.to_dict()}


class Events:
    """The events of an answer, in order. close(), or the end of a with block, hangs up on the
    model.
    """

    def __init__(self, events: Generator[Event]):
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
        """Ends the answer where it is."""
        self._events.close()

    def answer(self) -> Answer:
        """Reads to the end; the Answer."""
        return [event.data for event in self][-1]
