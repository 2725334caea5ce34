"""`ask` over a WebSocket: each message is the body of a POST, each event a message in return.

Questions are answered one after another. When the client disconnects, the answer is cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from ragfile.doors.server import answer_endpoints
from ragfile.doors.server.failures import failure_of
from ragfile.doors.server.operations import Call
from ragfile.doors.server.request import encoded, parsed
from ragfile.doors.server.schemas import ask_body
from ragfile.doors.server.streams import steps
from ragfile.doors.server.validation import checked
from ragfile.ground.cancellation import waiting

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from ragfile.doors.server.access import Visit
    from ragfile.doors.server.operations import EventStream
    from ragfile.doors.server.shared_state import Service

ROUTE = "/v1/collections/{c}/ask"


class Socket:
    """An ASGI application that answers questions over a WebSocket."""

    def __init__(self, service: Service) -> None:
        self._service, self._schema = service, ask_body(service.settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["ragfile"].route = ROUTE
        scope["ragfile"].require("read")
        await receive()
        await send({"type": "websocket.accept"})
        scope["ragfile"].status = 101
        questions: asyncio.Queue[str | None] = asyncio.Queue(maxsize=16)
        current: list[Call] = []
        reading = asyncio.create_task(_read(receive, questions, current))
        try:
            while (text := await questions.get()) is not None:
                await self._answer(scope, text, current, send)
        finally:
            reading.cancel()

    async def _answer(self, scope: Scope, text: str, current: list[Call], send: Send) -> None:
        """Answer one question; a failure becomes an error event."""
        visit: Visit = scope["ragfile"]
        call = Call(
            dict(scope["path_params"]), {}, None, visit.headers, visit.request_id, visit.user
        )
        current[:] = [call]
        try:
            service = self._service.seen_with(visit.where)
            await self._send_events(service, call, text, send)
        except Exception as error:  # noqa: BLE001 - sent to the client instead of an answer
            failure = failure_of(error, self._service.collections)
            await _send_json(send, {"event": "error", **failure.to_dict(call.request_id)})
        finally:
            self._service.board.answered(call.sink)

    async def _send_events(self, service: Service, call: Call, text: str, send: Send) -> None:
        call.body = checked(self._schema, parsed(text.encode("utf-8", "surrogatepass")))
        service.asking.check(call.user)
        running = asyncio.get_running_loop().run_in_executor(service.asks, _begun, service, call)
        stream = await service.asking.keep(running, call.user)
        async with contextlib.aclosing(steps(service, stream, call)) as events:
            async for event in events:
                if event is not None:
                    await _send_json(send, answer_endpoints.shown(service, call, event))


def _begun(service: Service, call: Call) -> EventStream:
    """Return the stream of an answer after its first event."""
    body = dict(call.body)
    body.pop("stream", None)
    with waiting(call.waiter):
        return answer_endpoints.streamed(answer_endpoints.begun(service, call, body), encoded)


async def _read(
    receive: Receive, questions: asyncio.Queue[str | None], current: list[Call]
) -> None:
    """Queue the client's questions; once it disconnects, cancel the current call and queue None."""
    while (message := await receive())["type"] == "websocket.receive":
        text = message.get("text")
        await questions.put(
            text if text is not None else (message.get("bytes") or b"").decode("utf-8", "replace")
        )
    for call in current:
        call.waiter.leave()
    await questions.put(None)


async def _send_json(send: Send, event: dict[str, Any]) -> None:
    await send({"type": "websocket.send", "text": encoded(event).decode()})
