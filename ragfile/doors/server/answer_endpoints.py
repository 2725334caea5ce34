"""The `ask` endpoint: an answer as JSON, or as a stream of its events."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from ragfile.answer.ask_options import ASK
from ragfile.answer.pipeline import Unreadable
from ragfile.answer.pipeline import ask as answers
from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.native_endpoints import options_of
from ragfile.doors.server.operations import EventStream
from ragfile.doors.server.request import encoded
from ragfile.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragfile.answer.answers import Answer, Event, Events
    from ragfile.answer.citations import Source
    from ragfile.chat.protocol import ChatModel
    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.shared_state import Service
    from ragfile.knowledge_base import KnowledgeBase

NO_MODEL = "none"  # the model name that requests an extract of the file's sentences
SOURCE = 180  # characters of a source's excerpt, which stands beside the answer
NOTE = (
    "this is an extract of the file; for a written answer start the server with a model: "
    "--model openai:MODEL or --model ollama:MODEL"
)


def ask(service: Service, call: Call) -> dict[str, Any] | EventStream:
    """Return an answer, or a stream if the body or the Accept header asks for one."""
    body = dict(call.body)
    is_streamed = body.pop("stream", "text/event-stream" in call.headers.get("accept", ""))
    events = begun(service, call, body)
    if not is_streamed:
        return shown_answer(service, call, last_of(call, events))
    return streamed(events, lambda event: _as_sse(shown(service, call, event)))


def begun(service: Service, call: Call, body: dict[str, Any]) -> Events:
    """Return the events of an answer; iterating starts the work."""
    rf = _opened(service, call.path["c"], body)
    body.pop("excerpts", None)
    model, options = model_of(service, body), options_of(ASK, body)
    options |= {"model": model, "request_id": call.request_id}
    return cast("Events", answers(rf, options.pop("question"), stream=True, **options))


def _opened(service: Service, name: str, body: dict[str, Any]) -> KnowledgeBase | Unreadable:
    """Return the collection, or Unreadable if the body allows an answer without its passages."""
    generation = body.pop("generation", 0)
    try:
        return service.collections.at_commit(name, generation)
    except (FormatError, OSError, HttpFailure) as error:
        is_gone = isinstance(error, HttpFailure) and error.status != 503
        if is_gone or not body.get("allow_ungrounded") or service.model is None:
            raise
        return Unreadable(OSError(service.discreet(str(error))))


def model_of(service: Service, body: dict[str, Any]) -> ChatModel | None:
    """Return the server's model, or None for the name "none"; other names are refused."""
    name = body.pop("model", None)
    if name == NO_MODEL:
        return None
    if name is not None and name != service.model_name:
        known = " or ".join(filter(None, (service.model_name, NO_MODEL)))
        raise HttpFailure(422, f"unknown model {name!r:.80}: use {known}", param="model")
    return service.model


def last_of(call: Call, events: Events) -> Answer:
    """Return the whole answer; stop early if the client disconnects."""
    answer: Answer | None = None
    with events:
        for event in events:
            if call.gone:
                raise ConnectionResetError
            answer = event.data
    return cast("Answer", answer)


def streamed(events: Events, encode: Callable[[Any], bytes], last: bytes = b"") -> EventStream:
    """Return the stream after its first event: a failure before that still sets the status."""
    return EventStream(chain([next(events)], events), events.close, encode, last)


def shown(service: Service, call: Call, event: Event | HttpFailure) -> dict[str, Any]:
    """Return an event ready for JSON; a failure becomes an error event."""
    if isinstance(event, HttpFailure):
        return {"event": "error", "degraded": str(event), "request_id": call.request_id}
    if event.kind in ("done", "error"):
        return {"event": event.kind, **shown_answer(service, call, event.data)}
    excerpts = excerpts_of(service, call, event.data) if event.kind == "sources" else {}
    return event.to_dict() | excerpts


def excerpts_of(service: Service, call: Call, sources: list[Source]) -> dict[str, Any]:
    """Return the excerpts of sources by their ids, if the body asks for them."""
    if not call.body.get("excerpts") or not sources:
        return {}
    rf = service.collections.at_commit(call.path["c"], call.body.get("generation", 0))
    return {"excerpts": source_excerpts(rf, call.body["question"], sources)}


def source_excerpts(rf: KnowledgeBase, question: str, sources: list[Source]) -> dict[str, Any]:
    """Return the excerpts of sources by their ids."""
    from ragfile.search.question_terms import question_terms
    from ragfile.search.shown_passages import PassageViewer

    viewer = PassageViewer(question_terms(rf.rows, question), rf.document)
    found: dict[str, Any] = {}
    for source in sources:
        if (row := rf.row(source.id)) is not None:  # else another commit replaced the passage
            metadata = rf.chunk(row).metadata
            shown = viewer.shown(source.text, metadata, source.doc_id, source.start, SOURCE)
            found[source.id] = shown.to_dict()
    return found


def shown_answer(service: Service, call: Call, answer: Answer) -> dict[str, Any]:
    """Return an answer ready for JSON, without paths and URLs of this machine."""
    note(call, answer)
    fields = answer.to_dict()
    fields["degraded"] = service.discreet(fields["degraded"])
    fields["note"] = NOTE if fields["note"] else ""
    if not fields["rag"]["used"]:
        fields["rag"]["reason"] = fields["degraded"]
    return fields | excerpts_of(service, call, answer.sources)


def note(call: Call, answer: Answer) -> None:
    """Note the facts of an answer for the log and the metrics."""
    call.sink |= {
        "searches": 1, "asks": 1, "timings": dict(answer.timings), "degraded": answer.degraded,
        "finish": answer.finish, "tokens": dict(answer.usage),
    }  # fmt: skip


def facts(service: Service, answer: Answer) -> dict[str, Any]:
    """Return the facts of an answer that OpenAI's formats have no member for."""
    return {
        "degraded": service.discreet(answer.degraded), "finish": answer.finish,
        "unknown": answer.unknown, "unsupported": [u.text for u in answer.unsupported],
        "generation": answer.generation, "request_id": answer.request_id,
    }  # fmt: skip


def _as_sse(event: dict[str, Any]) -> bytes:
    """Encode an event as a server-sent event."""
    kind: str = event["event"]
    return b"event: " + kind.encode() + b"\ndata: " + encoded(event) + b"\n\n"
