"""Chat completions: the last message is the question, the collection is the model.

The sources of an answer are annotations of the kind url_citation: one for each passage, with an
address of its own, in the order of the numbers in the text, and none left out. So a client that
counts annotations, as Open WebUI does, shows [3] as the third.
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
    from collections.abc import Iterator

    from ragfile.answer.answers import Answer, Event
    from ragfile.answer.citations import Citation, Source
    from ragfile.doors.server.operations import Call, EventStream
    from ragfile.doors.server.settings import Settings
    from ragfile.doors.server.shared_state import Service
    from ragfile.ground.json_schema import Schema

LISTING = "x-ragfile-sources"  # the header that asks for a list in the text, for one answer
SYSTEM = ("system", "developer")
FINISHED = {"length": "length"}  # else "stop"
COMPLETION = s.shown(
    id=s.TEXT, object=s.TEXT, created=s.WHOLE, model=s.TEXT, choices=s.many(s.FREE), usage=s.FREE
)


def completion_body(settings: Settings) -> Schema:
    """What clients send; members that are not known here are passed over."""
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
    """An answer from a collection, whole or in chunks."""
    body = {name: value for name, value in call.body.items() if value is not None}
    if body.get("n", 1) != 1:
        raise HttpFailure(422, "there is one answer: n is 1", param="n")
    call.path["c"] = name = collection_of(service, call)
    events = answer_endpoints.begun(service, call, _question(body) | _settings(body))
    telling = _Telling(service, call, name)
    if not body.get("stream"):
        return telling.whole(answer_endpoints.last_of(call, events))
    has_usage = body.get("stream_options", {}).get("include_usage") is True

    def encode(event):
        return b"".join(map(_as_sse, telling.chunks(event, has_usage)))

    return answer_endpoints.streamed(events, encode, b"data: [DONE]\n\n")


def _settings(body):
    found = {n: body[n] for n in ("temperature", "stop", "seed") if n in body}
    most = body.get("max_completion_tokens", body.get("max_tokens"))
    return found if most is None else found | {"max_tokens": most}


def _question(body):
    """The last message, and those before it as history and system texts."""
    *before, last = ((m["role"], _text(m.get("content"))) for m in body["messages"])
    if last[0] != "user":
        raise HttpFailure(422, "the last message is the user's question", param="messages")
    history = [{"role": r, "content": t} for r, t in before if r in ("user", "assistant") and t]
    return {
        "question": last[1], "history": history, "system": [t for r, t in before if r in SYSTEM]
    }  # fmt: skip


def _text(content):
    """The text of a message; parts that are no text are refused, since they would be passed over."""
    if content is None or isinstance(content, str):
        return content or ""
    if any(part["type"] != "text" or "text" not in part for part in content):
        raise HttpFailure(422, "only text can be asked", param="messages")
    return "\n".join(part["text"] for part in content)


class _Telling:
    """One answer in OpenAI's words."""

    def __init__(self, service: Service, call: Call, name: str):
        self._service, self._call, self._name = service, call, name
        self._sources: list[Source] = []
        self._told = 0  # sources that have their annotation
        self._size = 0  # characters of the text so far
        said = call.headers.get(LISTING, "")
        self._lists = said == "markdown" or (not said and service.settings.list_sources)
        self._base = service.settings.url or f"http://{call.headers.get('host', 'localhost')}"

    def whole(self, answer: Answer) -> dict[str, Any]:
        """The completion."""
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
        """What a client is sent for an event."""
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

    def _begun(self, sources):
        is_first = not self._sources
        self._sources = sources
        if is_first:
            yield self._chunk({"role": "assistant", "content": ""})

    def _ended(self, event, has_usage):
        answer = event.data
        answer_endpoints.note(self._call, answer)
        if event.kind == "error":
            failure = HttpFailure(502, self._service.discreet(answer.degraded))
            yield failure.to_dict(self._call.request_id)
            return
        if said := self._listed(answer):
            yield self._chunk({"content": said})
        yield self._chunk({}, _finish(answer)) | {"ragfile": self._facts(answer)}
        if has_usage:
            yield self._head("chat.completion.chunk") | {"choices": [], "usage": _usage(answer)}

    def _chunk(self, delta, finish=None):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._head("chat.completion.chunk") | {"choices": [choice]}

    def _head(self, kind):
        return {
            "id": f"chatcmpl-{self._call.request_id}", "object": kind, "created": int(time.time()),
            "model": self._name,
        }  # fmt: skip

    def _facts(self, answer):
        """What OpenAI's words have no place for."""
        return {
            "degraded": self._service.discreet(answer.degraded), "finish": answer.finish,
            "unknown": answer.unknown, "unsupported": [u.text for u in answer.unsupported],
            "generation": answer.generation, "request_id": answer.request_id,
        }  # fmt: skip

    # ------------------------------------------------------------------------------- sources ---

    def _annotations(self, citation: Citation) -> list[dict[str, Any]]:
        """Those of the passages up to the cited one that have none yet."""
        new, self._told = (
            self._sources[self._told : citation.number],
            max(self._told, citation.number),
        )
        return [self._annotation(source, citation) for source in new]

    def _annotation(self, source, citation):
        mark = f"[{source.number}]" if source.number == citation.number else ""
        place = {"start_index": citation.at, "end_index": citation.at + len(mark)}
        about = {"url": self._url(source), "title": _title(source)}
        return {"type": "url_citation", "url_citation": place | about}

    def _url(self, source):
        """Where the page opens the passage."""
        said = {"c": self._name, "doc": source.doc_id}
        if source.start >= 0:
            said["span"] = f"{source.start}-{source.end}"
        return f"{self._base}/?{urlencode(said)}"

    def _listed(self, answer):
        """The sources that were cited, as Markdown."""
        numbers = {citation.number for citation in answer.citations}
        if not self._lists or not numbers:
            return ""
        cited = [source for source in answer.sources if source.number in numbers]
        lines = [f"- [{x.number}] [{_escaped(_title(x))}]({self._url(x)})" for x in cited]
        return "\n\n**Sources**\n\n" + "\n".join(lines)


def _title(source):
    return " · ".join(filter(None, (source.source or source.doc_id, place_name(source))))


def _escaped(text):
    """A title as the text of a Markdown link."""
    return "".join(f"\\{c}" if c in "\\[]<>*_`" else " " if c < " " else c for c in text)


def _finish(answer):
    return FINISHED.get(answer.finish, "stop")


def _usage(answer):
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {name: answer.usage.get(name, 0) for name in names}


def _as_sse(chunk):
    return b"data: " + encoded(chunk) + b"\n\n"
