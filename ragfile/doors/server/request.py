"""One address over HTTP: reads and checks what is asked, has it answered in a thread, sends it.

Endpoints are plain functions (operations.py); what they raise becomes an answer in gate.py.
"""

from __future__ import annotations

import asyncio
import json
import math
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.operations import Call, EventStream, Operation, Raw
from ragfile.doors.server.streams import send_stream, until_gone
from ragfile.doors.server.validation import checked, of_query
from ragfile.ground.cancellation import waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.doors.server.settings import Settings
    from ragfile.doors.server.shared_state import Service


class OperationApp:
    """An ASGI application for one path."""

    def __init__(self, service: Service, operations: Sequence[Operation]):
        self._service = service
        self._operations = {operation.method: operation for operation in operations}
        if "GET" in self._operations:
            self._operations["HEAD"] = self._operations["GET"]
        self._allowed = ", ".join(self._operations)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        operation = self._operations.get(scope["method"])
        if operation is None:
            said = f"{scope['method']:.20} is not served here; {self._allowed} is"
            raise HttpFailure(405, said, {"allow": self._allowed})
        visit = scope["ragfile"]
        visit.route = operation.path
        visit.require(operation.scope)
        call = Call(
            dict(scope.get("path_params", ())),
            of_query(operation.query, _parameters(scope)),
            await self._body(operation, scope, receive),
            visit.headers, visit.request_id, visit.user, visit.sink,
        )  # fmt: skip
        await self._answer(operation, call, scope, receive, send)

    async def _answer(self, operation, call, scope, receive, send):
        loop, service = asyncio.get_running_loop(), self._service
        if operation.is_write:
            with service.writing as room:
                return await send_whole(send, await room.keep(
                    loop.run_in_executor(service.writer, answered, service, operation, call)
                ))  # fmt: skip
        if not operation.is_ask:
            async with asyncio.timeout(service.settings.answer_seconds):
                found = await loop.run_in_executor(
                    service.threads, answered, service, operation, call
                )
            return await send_whole(send, found, is_head=scope["method"] == "HEAD")
        watch = loop.create_task(until_gone(receive, call))
        try:
            with service.asking as room:
                found = await room.keep(
                    loop.run_in_executor(service.asks, answered, service, operation, call)
                )
            if isinstance(found, EventStream):
                return await send_stream(service, found, call, send)
            return await send_whole(send, found)
        finally:
            watch.cancel()

    async def _body(self, operation, scope, receive):
        if operation.body is None:
            return None
        if operation.media != "application/json":
            return await self._files(scope, receive)
        kind = scope["ragfile"].headers.get("content-type", "")
        if kind.partition(";")[0].strip().lower() != "application/json":
            raise HttpFailure(415, "the body is JSON: say Content-Type: application/json")
        body = await read_in_time(scope, receive, self._service.settings)
        return checked(operation.body, parsed(body))

    async def _files(self, scope, receive):
        from ragfile.doors.server.multipart import receive_files

        name = scope["path_params"]["c"]
        if name not in self._service.collections.names:
            raise HttpFailure(404, f"there is no collection {name!r:.80}")
        return await receive_files(self._service, scope, receive, name)


async def read_in_time(scope: Any, receive: Any, settings: Settings) -> bytes:
    """The bytes of a body; Failure where they are too many, or come too slowly."""
    try:
        async with asyncio.timeout(settings.body_seconds):
            return await read_body(scope, receive, settings.max_body)
    except TimeoutError:
        said = f"the body did not come within {settings.body_seconds:g} seconds"
        raise HttpFailure(408, said, {"connection": "close"}) from None


async def read_body(scope: Any, receive: Any, most: int) -> bytes:
    """The bytes of a body, at most so many; Failure where there are more, or the client has gone."""
    said = scope["ragfile"].headers.get("content-length", "")
    if said.isdecimal() and int(said) > most:
        raise _too_large(most)
    pieces, size = [], 0
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


def _too_large(most):
    return HttpFailure(413, f"a body has at most {most:,} bytes", {"connection": "close"})


def parsed(body: bytes) -> Any:
    """A JSON body. NaN, Infinity, repeated names and lone surrogates are no JSON here."""
    try:
        return json.loads(body, parse_constant=_refuse, parse_float=_number)
    except RecursionError:
        raise HttpFailure(400, "the body is nested too deeply") from None
    except UnicodeDecodeError:
        raise HttpFailure(400, "the body is not UTF-8") from None
    except ValueError as error:
        raise HttpFailure(400, f"the body is not JSON: {error}") from None


def _refuse(word):
    raise ValueError(f"{word} is not a JSON value")


def _number(text):
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text:.40} is too large a number")
    return value


def _parameters(scope):
    query = scope["query_string"]
    if not query:
        return []
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict",
                         max_num_fields=100)  # fmt: skip
    except ValueError:
        raise HttpFailure(400, "the parameters of the address are not UTF-8") from None


# ------------------------------------------------------------------------------ in the thread ---


def answered(service: Service, operation: Operation, call: Call) -> Raw | EventStream:
    """What an endpoint gives, ready to be sent."""
    with waiting(call.waiter):
        found = operation.answer(service, call)
    if isinstance(found, Raw | EventStream):
        return found
    return Raw(encoded(found), "application/json", operation.status)


def encoded(value: Any) -> bytes:
    """JSON in ASCII; a number that JSON does not have is null."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    except ValueError:
        return json.dumps(_finite(value), separators=(",", ":")).encode()


def _finite(value):
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(member) for key, member in value.items()}
    return [_finite(member) for member in value] if isinstance(value, list | tuple) else value


async def send_whole(send: Any, found: Any, *, is_head: bool = False) -> None:
    """Sends a Raw."""
    headers = [
        (b"content-type", found.media.encode()), (b"content-length", b"%d" % len(found.body)),
        *((name.encode(), value.encode()) for name, value in found.headers.items()),
    ]  # fmt: skip
    await send({"type": "http.response.start", "status": found.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if is_head else found.body})
