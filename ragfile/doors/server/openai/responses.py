"""The Responses API: `input` is the question, with the conversation before it.

The collection is the model, or the vector store of the tool file_search. With the tool, a response
begins with a file_search_call, and its annotations are file citations; without it they are the URL
citations of chat completions. Responses are not stored: a request contains its whole conversation.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ragfile.doors.server import answer_endpoints
from ragfile.doors.server import schemas as s
from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.openai.annotations import Annotations
from ragfile.doors.server.openai.models import collection_of
from ragfile.doors.server.openai.stores import file_id_of, file_search_options
from ragfile.doors.server.request import encoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ragfile.answer.answers import Answer, Event
    from ragfile.answer.citations import Citation, Source
    from ragfile.doors.server.operations import Call, EventStream
    from ragfile.doors.server.settings import Settings
    from ragfile.doors.server.shared_state import Service
    from ragfile.ground.json_schema import Schema
    from ragfile.types import Metadata

TOOL, SEARCHED = "file_search", "file_search_call.results"
SYSTEM = ("system", "developer")
TEXT_PARTS = ("input_text", "output_text", "text")
SKIPPED = ("file_search_call", "reasoning")  # items of earlier responses without text to answer
CHOICES = ("auto", "none", "required", TOOL)
ECHOED = ("instructions", "max_output_tokens", "temperature", "top_p", "user")
RESPONSE = s.shown(
    id=s.TEXT, object=s.TEXT, created_at=s.WHOLE, status=s.TEXT, model=s.TEXT,
    output=s.many(s.FREE), usage=s.FREE,
)  # fmt: skip


def response_body(settings: Settings) -> Schema:
    """Return the schema of a request; unknown members are ignored."""
    part = {"type": "object", "properties": {"type": s.TEXT, "text": s.TEXT}, "required": ["type"]}
    item = {
        "type": "object",
        "properties": {"type": s.TEXT, "role": s.TEXT, "content": {"anyOf": [s.TEXT, s.many(part)]}},
    }  # fmt: skip
    format_ = {"type": "object", "properties": {"type": {"type": "string", "enum": ["text"]}}}
    known = {
        "model": s.TEXT, "input": {"anyOf": [s.TEXT, s.many(item, minItems=1)]},
        "instructions": s.TEXT, "stream": s.YES, "temperature": s.TEMPERATURE,
        "max_output_tokens": s.POSITIVE, "tools": s.many(_tool(settings)),
        "tool_choice": {"anyOf": [s.TEXT, s.FREE]}, "include": s.many(s.TEXT),
        "text": {"type": "object", "properties": {"format": format_}}, "metadata": s.FREE,
        "store": s.YES, "reasoning": s.FREE, "user": s.TEXT, "parallel_tool_calls": s.YES,
        "truncation": {"type": "string", "enum": ["auto", "disabled"]},
        "top_p": {"type": "number", "minimum": 0, "maximum": 1},
        "previous_response_id": s.NULL, "conversation": s.NULL,
        "background": {"type": "boolean", "enum": [False]}, "prompt": s.NULL,
        "stream_options": s.FREE, "max_tool_calls": s.POSITIVE, "service_tier": s.TEXT,
        "prompt_cache_key": s.TEXT, "safety_identifier": s.TEXT,
        "top_logprobs": {"type": "integer", "minimum": 0, "maximum": 20},
    }  # fmt: skip
    return s.nullable({"type": "object", "properties": known, "required": ["input"]})


def _tool(settings: Settings) -> Schema:
    """Return the schema of a tool; those other than file_search are never called."""
    ranking = {"type": "object", "properties": {"score_threshold": s.NUMBER}}
    known = {
        "type": s.TEXT, "vector_store_ids": s.many(s.TEXT, minItems=1, maxItems=1),
        "filters": s.FREE, "ranking_options": ranking,
        "max_num_results": {"type": "integer", "minimum": 1, "maximum": min(50, settings.max_k)},
    }  # fmt: skip
    return {"type": "object", "properties": known, "required": ["type"]}


def responses(service: Service, call: Call) -> dict[str, Any] | EventStream:
    """Answer from a collection, at once or as a stream of events."""
    body = s.given(call.body)
    tool = _search_tool(body)
    if tool is not None:
        call.headers = {**call.headers, **_store_of(service, tool)}
    call.path["c"] = name = collection_of(service, call)
    options = _question(body) | _settings(body) | (file_search_options(tool) if tool else {})
    events = answer_endpoints.begun(service, call, options)
    response = _Response(service, call, name, body, is_search=tool is not None)
    if not body.get("stream"):
        return response.whole(answer_endpoints.last_of(call, events))

    def encode(event: Event | HttpFailure) -> bytes:
        return b"".join(map(_as_sse, response.events(event)))

    return answer_endpoints.streamed(events, encode)


def _search_tool(body: dict[str, Any]) -> dict[str, Any] | None:
    """Return the tool file_search, unless `tool_choice` leaves it out."""
    choice: str | dict[str, Any] = body.get("tool_choice", "auto")
    kind = choice if isinstance(choice, str) else choice.get("type")
    found = [s.given(tool) for tool in body.get("tools", ()) if tool["type"] == TOOL]
    if kind not in CHOICES or (kind in CHOICES[2:] and not found):
        reason = (
            f"tool_choice asks for {kind!r:.60}, and a collection calls no tool but {TOOL}: "
            "use auto"
        )
        raise HttpFailure(422, reason, param="tool_choice")
    return found[0] if found and kind != "none" else None


def _store_of(service: Service, tool: dict[str, Any]) -> dict[str, str]:
    """Return the header that names the collection of a tool's vector store."""
    if not tool.get("vector_store_ids"):
        raise HttpFailure(422, f"{TOOL} needs vector_store_ids", param="tools")
    return {"x-ragfile-collection": service.collections.known(tool["vector_store_ids"][0])}


def _settings(body: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `ask` for the parameters of a request."""
    found = {"temperature": body.get("temperature"), "max_tokens": body.get("max_output_tokens")}
    return s.given(found)


def _question(body: dict[str, Any]) -> dict[str, Any]:
    """Return the last message as the question, and the others as history and system texts."""
    items = [body["input"]] if isinstance(body["input"], str) else body["input"]
    turns = [turn for item in items if (turn := _turn(item)) is not None]
    if not turns or turns[-1]["role"] != "user":
        raise HttpFailure(422, "the last message must have the role user", param="input")
    system = [body["instructions"]] if body.get("instructions") else []
    before = [turn for turn in turns[:-1] if turn["content"]]
    return {
        "question": turns[-1]["content"],
        "history": [turn for turn in before if turn["role"] not in SYSTEM],
        "system": system + [turn["content"] for turn in before if turn["role"] in SYSTEM],
    }


def _turn(item: str | dict[str, Any]) -> dict[str, str] | None:
    """Return an item of the input as a turn; None for one that has no text."""
    if isinstance(item, str):
        return {"role": "user", "content": item}
    kind, role = item.get("type") or "message", str(item.get("role"))
    if kind in SKIPPED:
        return None
    if kind != "message" or role not in ("user", "assistant", *SYSTEM):
        reason = f"an item of the input has the type {kind!r:.40}: only messages are supported"
        raise HttpFailure(422, reason, param="input")
    return {"role": role, "content": _text(item.get("content"))}


def _text(content: str | Sequence[dict[str, str]] | None) -> str:
    """Return the text of a message; refuse other parts, which would otherwise be ignored."""
    if content is None or isinstance(content, str):
        return content or ""
    for part in content:
        if part["type"] not in TEXT_PARTS or part.get("text") is None:
            reason = (
                f"a part of the input has the type {part['type']!r:.40}: only text is supported"
            )
            raise HttpFailure(422, reason, param="input")
    return "\n".join(part["text"] for part in content)


class _Place(NamedTuple):
    """Where an event of the text belongs."""

    item_id: str
    output_index: int

    def __call__(self, kind: str, **more: object) -> dict[str, Any]:
        """Return an event of this place."""
        return {
            "type": f"response.{kind}", "item_id": self.item_id, "output_index": self.output_index,
            "content_index": 0, **more,
        }  # fmt: skip


class _Response:
    """One answer as a response."""

    def __init__(
        self, service: Service, call: Call, name: str, body: dict[str, Any], *, is_search: bool
    ) -> None:
        self._service, self._call, self._name, self._body = service, call, name, body
        self._annotations, self._is_search = Annotations(service, call, name), is_search
        self._notes: list[dict[str, Any]] = []
        self._text, self._count, self._made = "", 0, int(time.time())
        self._question = str(_question(body)["question"])
        self._place = _Place(f"msg_{call.request_id}", 1 if is_search else 0)

    def whole(self, answer: Answer) -> dict[str, Any]:
        """Return the response of an answer."""
        answer_endpoints.note(self._call, answer)
        if answer.finish == "error":
            raise HttpFailure(502, self._service.discreet(answer.degraded))
        self._annotations.sources, self._text = answer.sources, answer.text
        for citation in answer.citations:
            self._notes += self._new(citation)
        return self._ended(answer)

    def events(self, event: Event | HttpFailure) -> Iterator[dict[str, Any]]:
        """Yield the events of the API for a step of the answer, numbered."""
        for found in self._events(event):
            yield found | {"sequence_number": self._count}
            self._count += 1

    def _events(self, event: Event | HttpFailure) -> Iterator[dict[str, Any]]:
        if isinstance(event, HttpFailure):
            yield {"type": "error", "code": str(event.status), "message": str(event), "param": None}
        elif event.kind == "sources":
            yield from self._begun(event.data)
        elif event.kind == "delta":
            self._text += event.data
            yield self._place("output_text.delta", delta=event.data, logprobs=[])
        elif event.kind == "citation":
            yield from self._cited(event.data)
        else:
            yield from self._finished(event)

    def _begun(self, sources: list[Source]) -> Iterator[dict[str, Any]]:
        """Yield the events before the text; a shorter list of sources adds none."""
        is_first = not self._count
        self._annotations.sources = sources
        if not is_first:
            return
        for kind in ("created", "in_progress"):
            yield {"type": f"response.{kind}", "response": self._head("in_progress")}
        if self._is_search:
            yield from self._searched()
        message: dict[str, Any] = {**self._message("in_progress"), "content": []}
        yield _item("added", self._place.output_index, message)
        yield self._place("content_part.added", part=_part("", []))

    def _searched(self) -> Iterator[dict[str, Any]]:
        found = self._search()
        yield _item("added", 0, found | {"status": "in_progress", "results": None})
        for kind in ("in_progress", "searching", "completed"):
            name = f"response.file_search_call.{kind}"
            yield {"type": name, "item_id": found["id"], "output_index": 0}
        yield _item("done", 0, found)

    def _cited(self, citation: Citation) -> Iterator[dict[str, Any]]:
        for note in self._new(citation):
            self._notes.append(note)
            at = len(self._notes) - 1
            yield self._place("output_text.annotation.added", annotation_index=at, annotation=note)

    def _finished(self, event: Event) -> Iterator[dict[str, Any]]:
        answer: Answer = event.data
        answer_endpoints.note(self._call, answer)
        if event.kind == "error":
            reason = self._service.discreet(answer.degraded)
            error = {"error": {"code": "server_error", "message": reason}}
            yield {"type": "response.failed", "response": self._head("failed") | error}
            return
        done = self._ended(answer)
        part = _part(self._text, self._notes)
        yield self._place("output_text.done", text=self._text, logprobs=[])
        yield self._place("content_part.done", part=part)
        yield _item("done", self._place.output_index, done["output"][-1])
        yield {"type": f"response.{done['status']}", "response": done}

    def _ended(self, answer: Answer) -> dict[str, Any]:
        """Return the whole response."""
        status = "incomplete" if answer.finish == "length" else "completed"
        searched = [self._search()] if self._is_search else []
        facts = answer_endpoints.facts(self._service, answer)
        why = {"incomplete_details": {"reason": "max_output_tokens"}}
        return self._head(status) | (why if status == "incomplete" else {}) | {
            "output": [*searched, self._message(status)], "usage": _usage(answer), "ragfile": facts,
        }  # fmt: skip

    def _head(self, status: str) -> dict[str, Any]:
        """Return the members that every response has."""
        echoed = {name: self._body.get(name) for name in ECHOED}
        return {
            "id": f"resp_{self._call.request_id}", "object": "response",
            "created_at": self._made, "status": status, "model": self._name, "error": None,
            "incomplete_details": None, "output": [], "usage": None, **echoed,
            "parallel_tool_calls": True, "previous_response_id": None, "reasoning": None,
            "store": False, "text": {"format": {"type": "text"}}, "truncation": "disabled",
            "tool_choice": self._body.get("tool_choice", "auto"),
            "tools": self._body.get("tools", []), "metadata": self._body.get("metadata", {}),
        }  # fmt: skip

    def _message(self, status: str) -> dict[str, Any]:
        return {
            "id": self._place.item_id, "type": "message", "role": "assistant", "status": status,
            "content": [_part(self._text, self._notes)],
        }  # fmt: skip

    def _search(self) -> dict[str, Any]:
        """Return the call of the tool, with the passages if the client includes them."""
        is_shown = SEARCHED in self._body.get("include", ())
        return {
            "id": f"fs_{self._call.request_id}", "type": "file_search_call", "status": "completed",
            "queries": [self._question],
            "results": list(map(self._result, self._annotations.sources)) if is_shown else None,
        }  # fmt: skip

    def _new(self, citation: Citation) -> list[dict[str, Any]]:
        """Return the annotations that a citation adds."""
        if not self._is_search:
            return [{"type": "url_citation", **note} for note in self._annotations.new(citation)]
        [cited] = [x for x in self._annotations.sources if x.number == citation.number]
        return [{"type": "file_citation", "index": citation.at, **self._file(cited)}]

    def _result(self, source: Source) -> dict[str, Any]:
        passage = {"score": source.score, "text": source.text, "attributes": None}
        return self._file(source) | passage

    def _file(self, source: Source) -> dict[str, str]:
        """Return the id and name of a passage's file, as the vector store has them."""
        stored = self._service.collections.at_commit(self._name).rows.find(source.doc_id)
        metadata: Metadata = {} if stored is None else stored.fields.get("metadata", {})
        name = file_id_of(source.doc_id, metadata)
        return {"file_id": name, "filename": source.source or source.doc_id}


def _item(kind: str, at: int, item: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": f"response.output_item.{kind}", "output_index": at, "item": item}


def _part(text: str, notes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": list(notes), "logprobs": []}


def _usage(answer: Answer) -> dict[str, Any]:
    return {
        "input_tokens": answer.usage.get("prompt_tokens", 0),
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": answer.usage.get("completion_tokens", 0),
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.usage.get("total_tokens", 0),
    }  # fmt: skip


def _as_sse(event: dict[str, Any]) -> bytes:
    kind: str = event["type"]
    return b"event: " + kind.encode() + b"\ndata: " + encoded(event) + b"\n\n"
