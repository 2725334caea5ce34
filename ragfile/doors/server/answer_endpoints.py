"""`ask` over HTTP: an answer as JSON, or its events as they come."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from ragfile.answer.ask_options import ASK
from ragfile.answer.pipeline import Unreadable
from ragfile.answer.pipeline import ask as answers
from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.native import options_of
from ragfile.doors.server.operations import EventStream
from ragfile.doors.server.request import encoded
from ragfile.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragfile.answer.answers import Answer, Event, Events
    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.shared_state import Service

NO_MODEL = "none"  # the name that asks for sentences of the file
NOTE = (
    "these are sentences of the file; for a written answer start the server with a model: "
    "--model openai:MODEL or --model ollama:MODEL"
)


def ask(service: Service, call: Call) -> dict[str, Any] | EventStream:
    """An answer; a stream of events if the body says so, or the client accepts nothing else."""
    body = dict(call.body)
    is_streamed = body.pop("stream", "text/event-stream" in call.headers.get("accept", ""))
    events = begun(service, call, body)
    if not is_streamed:
        return shown_answer(service, call, last_of(call, events))
    return streamed(events, lambda event: _as_sse(shown(service, call, event)))


def begun(service: Service, call: Call, body: dict[str, Any]) -> Events:
    """The events of an answer, of which none has been asked for."""
    rf = _opened(service, call.path["c"], body)
    model, options = model_of(service, body), options_of(ASK, body)
    options |= {"model": model, "request_id": call.request_id}
    return cast("Events", answers(rf, options.pop("question"), stream=True, **options))


def _opened(service, name, body):
    """The collection; one that cannot be read stands for itself where an answer can do without."""
    generation = body.pop("generation", 0)
    try:
        return service.collections.at_commit(name, generation)
    except (FormatError, OSError, HttpFailure) as error:
        is_gone = isinstance(error, HttpFailure) and error.status != 503
        if is_gone or not body.get("allow_ungrounded") or service.model is None:
            raise
        return Unreadable(OSError(service.discreet(str(error))))


def model_of(service: Service, body: dict[str, Any]) -> Any:
    """The server's model. A client can name it, or "none", and nothing else."""
    name = body.pop("model", None)
    if name == NO_MODEL:
        return None
    if name is not None and name != service.model_name:
        known = " and ".join(filter(None, (service.model_name, NO_MODEL)))
        raise HttpFailure(422, f"there is no model {name!r:.80}; there is {known}", param="model")
    return service.model


def last_of(call: Call, events: Events) -> Answer:
    """The whole answer; what is left of it is not asked for when the client has gone."""
    found: Any = None
    with events:
        for event in events:
            if call.gone:
                raise ConnectionResetError
            found = event.data
    return found


def streamed(events: Events, encode: Callable[[Any], bytes], last: bytes = b"") -> EventStream:
    """The events, the first of which is there: what goes wrong before it has a status."""
    return EventStream(chain([next(events)], events), events.close, encode, last)


def shown(service: Service, call: Call, event: Event | HttpFailure) -> dict[str, Any]:
    """An event ready for JSON; one in the place of an answer that broke off inside the server."""
    if isinstance(event, HttpFailure):
        return {"event": "error", "degraded": str(event), "request_id": call.request_id}
    if event.kind in ("done", "error"):
        return {"event": event.kind, **shown_answer(service, call, event.data)}
    return event.to_dict()


def shown_answer(service: Service, call: Call, answer: Answer) -> dict[str, Any]:
    """An answer ready for JSON, without places of this machine."""
    note(call, answer)
    said = answer.to_dict()
    said["degraded"] = service.discreet(said["degraded"])
    said["note"] = NOTE if said["note"] else ""
    if not said["rag"]["used"]:
        said["rag"]["reason"] = said["degraded"]
    return said


def note(call: Call, answer: Answer) -> None:
    """What the log and the metrics have to know."""
    call.sink |= {
        "searches": 1, "asks": 1, "timings": dict(answer.timings), "degraded": answer.degraded,
        "finish": answer.finish, "tokens": dict(answer.usage),
    }  # fmt: skip


def _as_sse(event):
    return b"event: " + event["event"].encode() + b"\ndata: " + encoded(event) + b"\n\n"
