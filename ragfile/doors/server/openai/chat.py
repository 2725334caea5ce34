"""Chat completions: the last message is the question, the collection is the model.

The sources of an answer are annotations of type url_citation: one for each passage, each with its
own URL, in the order of the numbers in the text, and without gaps. So a client that counts
annotations, as Open WebUI does, shows [3] as the third.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ragfile.answer.citations import place_name
from ragfile.doors.server import answer_endpoints
from ragfile.doors.server import schemas as s
from ragfile.doors.server.failures import HttpFailure
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
    content = {"anyOf": [s.TEXT, s.many(part), {"type": "null"}]}
    message = {
        "type": "object", "properties": {"role": s.TEXT, "content": content}, "required": ["role"]
    }  # fmt: skip
    null = {"type": "null"}
    maybe = {
        "temperature": s.NUMBER, "max_tokens": s.WHOLE, "max_completion_tokens": s.WHOLE,
        "stop": s.TEXTS, "seed": s.WHOLE, "stream": s.YES, "stream_options": s.FREE, "n": s.WHOLE,
    }  # fmt: skip
    known = {"model": s.TEXT, "messages": s.many(message, minItems=1)}
    known |= {name: {"anyOf": [schema, null]} for name, schema in maybe.items()}
    return {"type": "object", "properties": known, "required": ["messages"]}


def completions(service: Service, call: Call) -> dict[str, Any] | EventStream:
    """Answer a question from a collection, at once or as a stream of chunks."""
    body = {name: value for name, value in call.body.items() if value is not None}
    if body.get("n", 1) != 1:
        raise HttpFailure(422, f"n must be 1, not {body['n']}", param="n")
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
        if part["type"] != "text" or "text" not in part:
            reason = f"a message part has the type {part['type']!r:.40}: only text is supported"
            raise HttpFailure(422, reason, param="messages")
    return "\n".join(part["text"] for part in content)


class _Completion:
    """One answer in OpenAI's format."""

    def __init__(self, service: Service, call: Call, name: str) -> None:
        self._service, self._call, self._name = service, call, name
        self._sources: list[Source] = []
        self._annotated = 0  # the number of sources that have been annotated
        self._size = 0  # characters of the text so far
        listing = call.headers.get(LISTING, "")
        self._lists = listing == "markdown" or (not listing and service.settings.list_sources)
        self._base = service.settings.url or f"http://{call.headers.get('host', 'localhost')}"

    def whole(self, answer: Answer) -> dict[str, Any]:
        """Return the completion of an answer."""
        answer_endpoints.note(self._call, answer)
        if answer.finish == "error":
            raise HttpFailure(502, self._service.discreet(answer.degraded))
        self._sources = answer.sources
        notes = [note for c in answer.citations for note in self._annotations(c)]
        message = {
            "role": "assistant", "content": answer.text + self._listed(answer), "refusal": None,
            "annotations": notes,
        }  # fmt: skip
        choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
        return self._head("chat.completion") | {
            "choices": [choice | {"logprobs": None}], "usage": _usage(answer),
            "ragfile": self._facts(answer),
        }  # fmt: skip

    def chunks(self, event: Event | HttpFailure, has_usage: bool) -> Iterator[dict[str, Any]]:
        """Yield the chunks for an event."""
        if isinstance(event, HttpFailure):
            yield event.to_dict(self._call.request_id)
        elif event.kind == "sources":
            yield from self._begun(event.data)
        elif event.kind == "delta":
            self._size += len(event.data)
            yield self._chunk({"content": event.data})
        elif event.kind == "citation":
            notes = self._annotations(event.data)
            if notes:
                yield self._chunk({"annotations": notes})
        else:
            yield from self._ended(event, has_usage)

    def _begun(self, sources: list[Source]) -> Iterator[dict[str, Any]]:
        is_first = not self._sources
        self._sources = sources
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
        yield self._chunk({}, _finish(answer)) | {"ragfile": self._facts(answer)}
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

    def _facts(self, answer: Answer) -> dict[str, Any]:
        """Return the facts that OpenAI's format has no member for."""
        return {
            "degraded": self._service.discreet(answer.degraded), "finish": answer.finish,
            "unknown": answer.unknown, "unsupported": [u.text for u in answer.unsupported],
            "generation": answer.generation, "request_id": answer.request_id,
        }  # fmt: skip

    def _annotations(self, citation: Citation) -> list[dict[str, Any]]:
        """Return annotations for the passages up to the cited one that have none yet."""
        new = self._sources[self._annotated : citation.number]
        self._annotated = max(self._annotated, citation.number)
        return [self._annotation(source, citation) for source in new]

    def _annotation(self, source: Source, citation: Citation) -> dict[str, Any]:
        mark = f"[{source.number}]" if source.number == citation.number else ""
        place = {"start_index": citation.at, "end_index": citation.at + len(mark)}
        about = {"url": self._url(source), "title": _title(source)}
        return {"type": "url_citation", "url_citation": place | about}

    def _url(self, source: Source) -> str:
        """Return the URL that opens the passage on the web page."""
        query = {"c": self._name, "doc": source.doc_id}
        if source.start >= 0:
            query["span"] = f"{source.start}-{source.end}"
        return f"{self._base}/?{urlencode(query)}"

    def _listed(self, answer: Answer) -> str:
        """Return the cited sources as Markdown."""
        numbers = {citation.number for citation in answer.citations}
        if not self._lists or not numbers:
            return ""
        cited = [source for source in answer.sources if source.number in numbers]
        lines = [f"- [{x.number}] [{_escaped(_title(x))}]({self._url(x)})" for x in cited]
        return "\n\n**Sources**\n\n" + "\n".join(lines)


def _title(source: Source) -> str:
    return " · ".join(filter(None, (source.source or source.doc_id, place_name(source))))


def _escaped(text: str) -> str:
    """Escape a title for the text of a Markdown link."""
    return "".join(f"\\{c}" if c in "\\[]<>*_`" else " " if c < " " else c for c in text)


def _finish(answer: Answer) -> str:
    return FINISHED.get(answer.finish, "stop")


def _usage(answer: Answer) -> dict[str, int]:
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {name: answer.usage.get(name, 0) for name in names}


def _as_sse(chunk: dict[str, Any]) -> bytes:
    return b"data: " + encoded(chunk) + b"\n\n"
