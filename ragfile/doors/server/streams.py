"""Answers that come in steps: a thread goes through them, the loop sends them on.

    data: {"event": "sources", …}     the next step
    :                                 nothing yet, and the connection lives

When the client goes away, the connection to the model is shut, and the thread stops.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from ragfile.doors.server.failures import failure_of
from ragfile.ground.cancellation import waiting

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ragfile.doors.server.operations import Call, EventStream
    from ragfile.doors.server.shared_state import Service

SSE = [
    (b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]  # fmt: skip
SLOWEST = 30.0  # seconds for a client to take what is sent


async def until_gone(receive: Any, call: Call) -> None:
    """Waits for the client to go, and tells the thread that answers."""
    while (await receive())["type"] != "http.disconnect":
        pass
    call.waiter.leave()


async def steps(service: Service, stream: EventStream, call: Call) -> AsyncGenerator[Any]:
    """The steps of an answer; None where there is none for a while."""
    loop, queue = asyncio.get_running_loop(), asyncio.Queue()
    end = object()

    def pump():
        try:
            with waiting(call.waiter):
                for event in stream.events:
                    if call.gone:
                        break
                    loop.call_soon_threadsafe(queue.put_nowait, event)
        except Exception as error:  # noqa: BLE001 - the client is told, in its place in the stream
            loop.call_soon_threadsafe(queue.put_nowait, failure_of(error, service.collections))
        finally:
            stream.close()
            loop.call_soon_threadsafe(queue.put_nowait, end)

    service.asking.keep(loop.run_in_executor(service.asks, pump))
    try:
        while (event := await _next(queue, service.settings.heartbeat)) is not end:
            yield event
            if call.gone:
                break
    finally:
        call.waiter.leave()


async def _next(queue, seconds):
    try:
        async with asyncio.timeout(seconds):
            return await queue.get()
    except TimeoutError:
        return None


async def send_stream(service: Service, stream: EventStream, call: Call, send: Any) -> None:
    """Sends an answer step by step, as server-sent events."""
    await send({"type": "http.response.start", "status": 200, "headers": [*SSE]})
    async with contextlib.aclosing(steps(service, stream, call)) as events:
        async for event in events:
            await _send(send, b": \n\n" if event is None else stream.encode(event))
    await send({"type": "http.response.body", "body": stream.last})


async def _send(send, body):
    async with asyncio.timeout(SLOWEST):  # or the connection is closed
        await send({"type": "http.response.body", "body": body, "more_body": True})
