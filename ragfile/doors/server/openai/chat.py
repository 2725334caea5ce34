"""Chat completions: the last message is the question, the collection is the model.

The sources of an answer are annotations of type url_citation. A stream has them all in one chunk,
before its last: of several, OpenAI's client for JavaScript keeps only the last.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ragfile.doors.server import answer_endpoints
from ragfile.doors.server import schemas as s
from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.openai.annotations import Annotations
from ragfile.doors.server.openai.models import collection_of
from ragfile.doors.server.request import encoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragfile.answer.answers import Answer, Event
    from ragfile.answer.citations import Citation, Source
    from ragfile.doors.server.operations import Call, EventStream
    from ragfile.doors.server.settings import Settings
    from ragfile.doors.server.shared_state import Service
    from ragfile.ground.json_schema import Schema

LISTING = "x-ragfile-sources"  # the header that requests a list of sources in the text
SYSTEM = ("system", "developer")
FINISHED = {"length": "length"}  # else "stop"
COMPLETION = s.shown(
    id=s.TEXT, object=s.TEXT, created=s.WHOLE, model=s.TEXT, choices=s.many(s.FREE), usage=s.FREE
)


def completion_body(settings: Settings) -> Schema:
    """Return the schema of a request; unknown members are ignored."""
    part = {"type": "object", "properties": {"type": s.TEXT, "text": s.TEXT}, "required": ["type"]}
    content = {"anyOf": [s.TEXT, s.many(part)]}
    message = {
        "type": "object", "properties": {"role": s.TEXT, "content": content}, "required": ["role"]
    }  # fmt: skip
    known = {
        "model": s.TEXT, "messages": s.many(message, minItems=1), "temperature": s.TEMPERATURE,
        "max_tokens": s.POSITIVE, "max_completion_tokens": s.POSITIVE, "stop": s.STOP_TEXTS,
        "seed": s.WHOLE, "stream": s.YES, "stream_options": s.FREE, "n": s.ONE,
    }  # fmt: skip
    return s.nullable({"type": "object", "properties": known, "required": ["messages"]})


def completions(service: Service, call: Call) -> dict[str, Any] | EventStream:
    """Answer a question from a collection, at once or as a stream of chunks."""
    body = s.given(call.body)
    call.path["c"] = name = collection_of(service, call)
    events = answer_endpoints.begun(service, call, _question(body) | _settings(body))
    completion = _Completion(service, call, name)
    if not body.get("stream"):
        return completion.whole(answer_endpoints.last_of(call, events))
    has_usage = body.get("stream_options", {}).get("include_usage") is True

    def encode(event: Event | HttpFailure) -> bytes:
        return b"".join(map(_as_sse, completion.chunks(event, has_usage)))

    return answer_endpoints.streamed(events, encode, b"data: [DONE]\n\n")


def _settings(body: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `ask` for the parameters of a request."""
    found: dict[str, Any] = {n: body[n] for n in ("temperature", "stop", "seed") if n in body}
    most = body.get("max_completion_tokens", body.get("max_tokens"))
    return found if most is None else found | {"max_tokens": most}


def _question(body: dict[str, Any]) -> dict[str, Any]:
    """Return the last message as the question, and the others as history and system texts."""
    *before, last = ((m["role"], _text(m.get("content"))) for m in body["messages"])
    last_role, question = last
    if last_role != "user":
        raise HttpFailure(
            422, f"the last message must have the role user, not {last_role!r:.40}",
            param="messages",
        )  # fmt: skip
    history = [{"role": r, "content": t} for r, t in before if r in ("user", "assistant") and t]
    return {
        "question": question, "history": history, "system": [t for r, t in before if r in SYSTEM]
    }  # fmt: skip


def _text(content: str | Sequence[dict[str, str]] | None) -> str:
    """Return the text of a message; refuse other parts, which would otherwise be ignored."""
    if content is None or isinstance(content, str):
        return content or ""
    for part in content:
        if part["type"] != "text" or part.get("text") is None:
            reason = f"a message part has the type {part['type']!r:.40}: only text is supported"
            raise HttpFailure(422, reason, param="messages")
    return "\n".join(part["text"] for part in content)


class _Completion:
    """One answer in OpenAI's format."""

    def __init__(self, service: Service, call: Call, name: str) -> None:
        self._service, self._call, self._name = service, call, name
        self._annotations = Annotations(service, call, name)
        self._notes: list[dict[str, Any]] = []  # the annotations of a stream so far
        listing = call.headers.get(LISTING, "")
        self._lists = listing == "markdown" or (not listing and service.settings.list_sources)

    def whole(self, answer: Answer) -> dict[str, Any]:
        """Return the completion of an answer."""
        answer_endpoints.note(self._call, answer)
        if answer.finish == "error":
            raise HttpFailure(502, self._service.discreet(answer.degraded))
        self._annotations.sources = answer.sources
        notes = [note for citation in answer.citations for note in self._new(citation)]
        message = {
            "role": "assistant", "content": answer.text + self._listed(answer), "refusal": None,
            "annotations": notes,
        }  # fmt: skip
        choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
        return self._head("chat.completion") | {
            "choices": [choice | {"logprobs": None}], "usage": _usage(answer),
            "ragfile": answer_endpoints.facts(self._service, answer),
        }  # fmt: skip

    def chunks(self, event: Event | HttpFailure, has_usage: bool) -> Iterator[dict[str, Any]]:
        """Yield the chunks for an event."""
        if isinstance(event, HttpFailure):
            yield event.to_dict(self._call.request_id)
        elif event.kind == "sources":
            yield from self._begun(event.data)
        elif event.kind == "delta":
            yield self._chunk({"content": event.data})
        elif event.kind == "citation":
            self._notes += self._new(event.data)
        else:
            yield from self._ended(event, has_usage)

    def _begun(self, sources: list[Source]) -> Iterator[dict[str, Any]]:
        is_first = not self._annotations.sources
        self._annotations.sources = sources
        if is_first:
            yield self._chunk({"role": "assistant", "content": ""})

    def _ended(self, event: Event, has_usage: bool) -> Iterator[dict[str, Any]]:
        answer: Answer = event.data
        answer_endpoints.note(self._call, answer)
        if event.kind == "error":
            failure = HttpFailure(502, self._service.discreet(answer.degraded))
            yield failure.to_dict(self._call.request_id)
            return
        if listed := self._listed(answer):
            yield self._chunk({"content": listed})
        if self._notes:
            yield self._chunk({"annotations": self._notes})
        yield self._chunk({}, _finish(answer)) | {
            "ragfile": answer_endpoints.facts(self._service, answer)
        }
        if has_usage:
            yield self._head("chat.completion.chunk") | {"choices": [], "usage": _usage(answer)}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._head("chat.completion.chunk") | {"choices": [choice]}

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self._call.request_id}", "object": kind, "created": int(time.time()),
            "model": self._name,
        }  # fmt: skip

    def _new(self, citation: Citation) -> list[dict[str, Any]]:
        """Return the annotations that a citation adds, as chat completions have them."""
        new = self._annotations.new(citation)
        return [{"type": "url_citation", "url_citation": place} for place in new]

    def _listed(self, answer: Answer) -> str:
        """Return the cited sources as Markdown, if the client wants them in the text."""
        return self._annotations.listed(answer.citations) if self._lists else ""


def _finish(answer: Answer) -> str:
    return FINISHED.get(answer.finish, "stop")


def _usage(answer: Answer) -> dict[str, int]:
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {name: answer.usage.get(name, 0) for name in names}


def _as_sse(chunk: dict[str, Any]) -> bytes:
    return b"data: " + encoded(chunk) + b"\n\n"
