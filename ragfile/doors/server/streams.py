"""Streamed responses: a thread iterates over their steps, the event loop sends them.

    data: {"event": "sources", …}     the next step
    :                                 a heartbeat: no step yet

When the client disconnects, the connection to the chat model is closed and the thread stops.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from ragfile.doors.server.failures import failure_of
from ragfile.ground.cancellation import waiting

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.types import Receive, Send

    from ragfile.doors.server.operations import Call, EventStream
    from ragfile.doors.server.shared_state import Service

SSE = [
    (b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]  # fmt: skip
SLOWEST = 30.0  # seconds in which a client must accept a step


async def until_gone(receive: Receive, call: Call) -> None:
    """Wait for the client to disconnect, then cancel the call's thread."""
    while (await receive())["type"] != "http.disconnect":
        pass
    call.waiter.leave()


async def steps(service: Service, stream: EventStream, call: Call) -> AsyncGenerator[Any]:
    """Yield the steps of a response, and None after each heartbeat without one."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Any] = asyncio.Queue()
    end = object()

    def pump() -> None:
        try:
            with waiting(call.waiter):
                for event in stream.events:
                    if call.gone:
                        break
                    loop.call_soon_threadsafe(queue.put_nowait, event)
        except Exception as error:  # noqa: BLE001 - the failure is sent as the stream's next step
            loop.call_soon_threadsafe(queue.put_nowait, failure_of(error, service.collections))
        finally:
            stream.close()
            loop.call_soon_threadsafe(queue.put_nowait, end)

    service.asking.keep(loop.run_in_executor(service.asks, pump), call.user)
    try:
        while (event := await _next(queue, service.settings.heartbeat)) is not end:
            yield event
            if call.gone:
                break
    finally:
        call.waiter.leave()


async def _next(queue: asyncio.Queue[Any], seconds: float) -> object:
    """Return the next step, or None after so many seconds without one."""
    try:
        async with asyncio.timeout(seconds):
            return await queue.get()
    except TimeoutError:
        return None


async def send_stream(service: Service, stream: EventStream, call: Call, send: Send) -> None:
    """Send a response step by step, as server-sent events."""
    await send({"type": "http.response.start", "status": 200, "headers": [*SSE]})
    async with contextlib.aclosing(steps(service, stream, call)) as events:
        async for event in events:
            await _send(send, b": \n\n" if event is None else stream.encode(event))
    await send({"type": "http.response.body", "body": stream.last})


async def _send(send: Send, body: bytes) -> None:
    async with asyncio.timeout(SLOWEST):  # a timeout closes the connection
        await send({"type": "http.response.body", "body": body, "more_body": True})
