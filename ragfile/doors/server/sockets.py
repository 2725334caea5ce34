"""`ask` over a WebSocket: each message is a question as for POST, each answer the same events.

Questions are answered one after another. When the client closes, the model is told to stop.
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
    from ragfile.doors.server.shared_state import Service

ROUTE = "/v1/collections/{c}/ask"


class Socket:
    """An ASGI application."""

    def __init__(self, service: Service):
        self._service, self._schema = service, ask_body(service.settings)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        scope["ragfile"].route = ROUTE
        scope["ragfile"].require("read")
        await receive()
        await send({"type": "websocket.accept"})
        scope["ragfile"].status = 101
        calls: asyncio.Queue[Any] = asyncio.Queue(maxsize=16)
        current: list[Call] = []
        reading = asyncio.create_task(_read(receive, calls, current))
        try:
            while (text := await calls.get()) is not None:
                await self._answer(scope, text, current, send)
        finally:
            reading.cancel()

    async def _answer(self, scope, text, current, send):
        visit = scope["ragfile"]
        call = Call(dict(scope["path_params"]), {}, None, visit.headers, visit.request_id)
        current[:] = [call]
        try:
            await self._told(call, text, send)
        except Exception as error:  # noqa: BLE001 - told in the place of an answer
            failure = failure_of(error, self._service.collections)
            await _say(send, {"event": "error", **failure.to_dict(call.request_id)})
        finally:
            self._service.board.answered(call.sink)

    async def _told(self, call, text, send):
        service = self._service
        call.body = checked(self._schema, parsed(text.encode("utf-8", "surrogatepass")))
        with service.asking as room:
            stream = await room.keep(
                asyncio.get_running_loop().run_in_executor(service.asks, _begun, service, call)
            )
        async with contextlib.aclosing(steps(service, stream, call)) as events:
            async for event in events:
                if event is not None:
                    await _say(send, answer_endpoints.shown(service, call, event))


def _begun(service, call):
    body = dict(call.body)
    body.pop("stream", None)
    with waiting(call.waiter):
        return answer_endpoints.streamed(answer_endpoints.begun(service, call, body), encoded)


async def _read(receive, calls, current):
    """Questions into the queue; None when the client has gone."""
    while (message := await receive())["type"] == "websocket.receive":
        text = message.get("text")
        await calls.put(
            text if text is not None else (message.get("bytes") or b"").decode("utf-8", "replace")
        )
    for call in current:
        call.waiter.leave()
    await calls.put(None)


async def _say(send, event):
    await send({"type": "websocket.send", "text": encoded(event).decode()})
