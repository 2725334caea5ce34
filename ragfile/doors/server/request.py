"""Requests to one path: read and check them, call the endpoint in a thread, send its result.

Endpoints are plain functions (operations.py); access.py turns their exceptions into responses.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast
from urllib.parse import parse_qsl

from ragfile import _core
from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.operations import Call, EventStream, Operation, Raw
from ragfile.doors.server.streams import send_stream, until_gone
from ragfile.doors.server.validation import checked, of_query
from ragfile.ground.cancellation import waiting
from ragfile.ground.server_time import one_question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import Receive, Scope, Send

    from ragfile.doors.server.access import Visit
    from ragfile.doors.server.multipart import Received
    from ragfile.doors.server.settings import Settings
    from ragfile.doors.server.shared_state import Service

LINGER_SECONDS, LINGER_BYTES = 10.0, 64 << 20  # how long and how much of a refused body is read


class OperationApp:
    """An ASGI application for one path."""

    def __init__(self, service: Service, operations: Sequence[Operation]) -> None:
        self._service = service
        self._operations = {operation.method: operation for operation in operations}
        if "GET" in self._operations:
            self._operations["HEAD"] = self._operations["GET"]
        self._allowed = ", ".join(self._operations)
        self._advice = [operation.advice for operation in operations if operation.advice]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        operation = self._operations.get(scope["method"])
        if operation is None:
            advice = "".join(f"; {one}" for one in self._advice)
            reason = f"{scope['method']:.20} is not supported here; use {self._allowed}{advice}"
            raise HttpFailure(405, reason, {"allow": self._allowed})
        visit: Visit = scope["ragfile"]
        visit.route = operation.path
        visit.require(operation.scope)
        if not operation.is_filtered:
            visit.require_no_filter()
        if operation.makes_file and visit.file:
            make = partial(self._service.collections.make, visit.file)
            await self._service.turns.run(visit.user, make)
        call = Call(
            dict(scope.get("path_params", ())),
            of_query(operation.query, _parameters(scope)),
            await self._body(operation, scope, receive),
            visit.headers, visit.request_id, visit.user, visit.sink,
        )  # fmt: skip
        await self._answer(operation, call, scope, receive, send)

    async def _answer(
        self, operation: Operation, call: Call, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Call the endpoint in the pool of threads for its kind, and send its result."""
        visit: Visit = scope["ragfile"]
        service, held = self._service.seen_with(visit.where), 0
        if operation.is_ask:
            return await self._ask(service, operation, call, receive, send)
        if operation.is_write:
            return await self._write(operation, call, send)
        try:
            async with asyncio.timeout(service.settings.answer_seconds):
                held = await self._held(service, operation, call)
                found = await service.turns.run(
                    call.user, partial(answered_whole, service, operation, call)
                )
            await send_whole(send, found, is_head=scope["method"] == "HEAD")
        except TimeoutError:
            call.waiter.leave()  # which ends its network calls
            raise
        finally:
            service.memory.give_back(held)
        return None

    async def _held(self, service: Service, operation: Operation, call: Call) -> int:
        """Wait for the memory of a call that needs much; return its bytes."""
        weigh = operation.weight
        if weigh is None:
            return 0
        weight = await service.turns.run(call.user, partial(weigh, service, call))
        return await service.memory.take(weight)

    async def _write(self, operation: Operation, call: Call, send: Send) -> None:
        """Call an endpoint that changes a file, after all changes before it.

        Changes that wait one after the other share a commit.
        """
        service = self._service
        service.writing.check(call.user)
        if operation.change is not None:
            call.change = operation.change(service, call)
        else:
            service.end_shared_commits()
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(service.writer, answered_whole, service, operation, call)
        await send_whole(send, await service.writing.keep(running, call.user))

    async def _ask(
        self, service: Service, operation: Operation, call: Call, receive: Receive, send: Send
    ) -> None:
        """Answer with the chat model; cancel the answer if the client disconnects."""
        loop = asyncio.get_running_loop()
        watch = loop.create_task(until_gone(receive, call))
        try:
            service.asking.check(call.user)
            running = loop.run_in_executor(service.asks, answered, service, operation, call)
            found = await service.asking.keep(running, call.user)
            if isinstance(found, EventStream):
                return await send_stream(service, found, call, send)
            return await send_whole(send, found)
        finally:
            watch.cancel()

    async def _body(
        self, operation: Operation, scope: Scope, receive: Receive
    ) -> dict[str, Any] | Received | None:
        """Read and check the body of a request."""
        if operation.body is None:
            return None
        if operation.media != "application/json":
            return await self._files(scope, receive)
        kind = scope["ragfile"].headers.get("content-type", "")
        if kind.partition(";")[0].strip().lower() != "application/json":
            raise HttpFailure(
                415, f"the Content-Type is {kind!r:.80}: send JSON with application/json"
            )
        body = await read_in_time(scope, receive, self._service.settings)
        return checked(operation.body, parsed(body))

    async def _files(self, scope: Scope, receive: Receive) -> Received:
        """Receive the files of a multipart body, for the collection of the path if it names one."""
        from ragfile.doors.server.multipart import receive_files

        named = scope["path_params"].get("c")
        name = "" if named is None else self._service.collections.known(named)
        return await receive_files(self._service, scope, receive, name)


async def read_in_time(scope: Scope, receive: Receive, settings: Settings) -> bytes:
    """Return the bytes of a body; raise a failure if it is too large or arrives too slowly."""
    try:
        async with asyncio.timeout(settings.body_seconds):
            return await read_body(scope, receive, settings.max_body)
    except TimeoutError:
        reason = f"the body did not arrive within {settings.body_seconds:g} seconds"
        raise HttpFailure(408, reason, {"connection": "close"}) from None


async def read_body(scope: Scope, receive: Receive, most: int) -> bytes:
    """Return a body of at most so many bytes; raise a failure if it is larger."""
    declared = scope["ragfile"].headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most:
        raise _too_large(most)
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError
        piece = message.get("body", b"")
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise _too_large(most)
        if not message.get("more_body"):
            return b"".join(pieces)


def _too_large(most: int) -> HttpFailure:
    return HttpFailure(
        413, f"the body exceeds the limit of {most:,} bytes", {"connection": "close"}
    )


def parsed(body: bytes) -> object:
    """Parse a JSON body. NaN, Infinity and numbers beyond the range of a float are refused."""
    try:
        return json.loads(body, parse_constant=_refuse, parse_float=_number)
    except RecursionError:
        raise HttpFailure(400, "the body is nested too deeply") from None
    except UnicodeDecodeError:
        raise HttpFailure(400, "the body is not UTF-8") from None
    except ValueError as error:
        raise HttpFailure(400, f"the body is not JSON: {error}") from None


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value")


def _number(text: str) -> float:
    """Parse a number; refuse one that becomes infinite."""
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text:.40} is out of range")
    return value


def _parameters(scope: Scope) -> list[tuple[str, str]]:
    """Parse the query string."""
    query = scope["query_string"]
    if not query:
        return []
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict",
                         max_num_fields=100)  # fmt: skip
    except ValueError:
        raise HttpFailure(
            400, "the query string is not valid UTF-8, or has more than 100 parameters"
        ) from None


def answered(service: Service, operation: Operation, call: Call) -> Raw | EventStream:
    """Call an endpoint, in its thread; return its result ready to be sent."""
    with waiting(call.waiter), one_question():
        found = operation.answer(service, call)
    if isinstance(found, Raw | EventStream):
        return found
    return Raw(encoded(found), "application/json", operation.status)


def answered_whole(service: Service, operation: Operation, call: Call) -> Raw:
    """Call an endpoint that never streams."""
    return cast("Raw", answered(service, operation, call))


def encoded(value: object) -> bytes:
    """Return ASCII JSON; NaN and infinities become null."""
    return _core.json_bytes(value, _dumped)


def _dumped(value: object) -> bytes:
    """Return the same of a value of another type than those of JSON, or of a deeply nested one."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    except ValueError:
        return json.dumps(_finite(value), separators=(",", ":")).encode()


def _finite(value: object) -> object:
    """Replace NaN and infinities in a JSON value by null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {key: _finite(member) for key, member in members.items()}
    if isinstance(value, list | tuple):
        return [_finite(member) for member in cast("list[Any]", value)]
    return value


async def send_whole(send: Send, found: Raw, *, is_head: bool = False) -> None:
    """Send a response; only its headers for HEAD."""
    await _send_head(send, found)
    await send({"type": "http.response.body", "body": b"" if is_head else found.body})


async def send_before_the_end(send: Send, found: Raw, receive: Receive) -> None:
    """Send a response while the client still sends its body, and read on for a while.

    To close the connection at once would reset it, and the client would lose the response.
    """
    await _send_head(send, found)
    await send({"type": "http.response.body", "body": found.body, "more_body": True})
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            await _discarded(receive, LINGER_BYTES)
    await send({"type": "http.response.body", "body": b""})


async def _discarded(receive: Receive, most: int) -> None:
    """Read the rest of a body, or the given number of bytes, and forget it."""
    size, is_more = 0, True
    while is_more and size < most:
        message = await receive()
        size += len(message.get("body", b""))
        is_more = message["type"] != "http.disconnect" and message.get("more_body", False)


async def _send_head(send: Send, found: Raw) -> None:
    headers = [
        (b"content-type", found.media.encode()), (b"content-length", b"%d" % len(found.body)),
        *((name.encode(), value.encode()) for name, value in found.headers.items()),
    ]  # fmt: skip
    await send({"type": "http.response.start", "status": found.status, "headers": headers})
