"""The gate of every request: checks its Host, Origin and key, and the limit on concurrent requests.

It also assigns request ids, adds the headers that all responses share, turns exceptions of
endpoints into responses, and writes the log.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ragfile.doors.mcp.http import LOCAL
from ragfile.doors.server.failures import AGAIN, HttpFailure, failure_of
from ragfile.doors.server.operations import OPEN_TO_ALL, Raw
from ragfile.doors.server.request import encoded, send_before_the_end, send_whole
from ragfile.doors.server.trace_spans import spans
from ragfile.ground import request_id as tracing
from ragfile.ground.urls import without_port

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ragfile.doors.server.operations import Sink
    from ragfile.doors.server.shared_state import Service

log = logging.getLogger("ragfile.serve")

NAME = re.compile(r"[A-Za-z0-9._:-]{1,128}")
TRACE = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})")
# The path that needs no key besides the page: it reveals nothing about the files.
OPEN = ("/v1/health",)
CLOSED = ("/v1/", "/mcp", "/metrics", "/openapi.json")
BOUND = ("/mcp", "/mcp/memory")  # of a key for one collection, they offer that alone
GUARDS = [
    (b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]  # fmt: skip
NO_PAGE = [(b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")]
UNKEPT = [(b"cache-control", b"no-store")]


class Trace(NamedTuple):
    """The trace id and the flags of a W3C traceparent."""

    id: str
    flags: str


class Visit:
    """One request, from its first byte to the log."""

    __slots__ = (
        "began", "bytes", "file", "headers", "held", "hosts", "origin", "request_id", "route", "scopes", "sink", "status",
        "trace", "user", "where",
    )  # fmt: skip

    def __init__(self, scope: Scope) -> None:
        self.began = time.perf_counter()
        self.headers = {n.decode("latin-1"): v.decode("latin-1") for n, v in scope["headers"]}
        self.hosts = sum(name == b"host" for name, _ in scope["headers"])
        name = self.headers.get("x-request-id", "")
        self.request_id = name if NAME.fullmatch(name) else tracing.new()
        self.trace = _trace(self.headers.get("traceparent"))
        self.route, self.user = "", ""
        self.file = ""  # the only collection of the request's key, "" for all
        self.where = ""  # the filter of the request's key as JSON, "" without one
        self.held = ""  # the key of which this request has taken a place
        self.scopes: frozenset[str] = frozenset()
        self.status, self.bytes = 0, 0
        self.origin: str | None = None
        self.sink: Sink = {}

    def require(self, scope: str) -> None:
        """Raise a failure 403 unless the request's key has this scope."""
        if scope != OPEN_TO_ALL and scope not in self.scopes:
            raise HttpFailure(
                403, f"this request needs a key with the scope {scope!r}: see `ragfile keys add`"
            )

    def require_no_filter(self) -> None:
        """Raise a failure 403 if the request's key has a filter."""
        if self.where:
            raise HttpFailure(403, "this request needs a key without a filter")


def _trace(header: str | None) -> Trace | None:
    """Return the trace of a W3C traceparent header, or None if it is missing or invalid."""
    found = TRACE.match(header) if header else None
    return None if found is None else Trace(found[1], found[2])


class Gate:
    """An ASGI application that wraps another."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service, self._spans = app, service, spans()
        settings = service.settings
        self._hosts = {*LOCAL, settings.host.lower(), *(host.lower() for host in settings.hosts)}
        self._is_any_host = not settings.is_local and not settings.hosts
        self._origins = frozenset(settings.origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        visit = scope["ragfile"] = Visit(scope)
        if scope["type"] == "websocket":
            return await self._socket(visit, scope, receive, send)
        self._service.inside += 1
        span = None if self._spans is None else self._spans.begin(visit, scope)
        try:
            await self._answered(visit, scope, receive, _Sender(visit, send))
        finally:
            self._service.inside -= 1
            self._service.shares.leave(visit.held)
            self._service.count(visit, scope)
            _write(visit, scope)
            if self._spans is not None and span is not None:
                self._spans.end(span, visit, scope)
        return None

    async def _answered(self, visit: Visit, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check(visit, scope)
            if scope["method"] == "OPTIONS" and visit.origin is not None:
                return await send_whole(send, _preflight())
            await self._app(scope, receive, send)
        except ConnectionResetError:
            visit.status = visit.status or 499  # the client has disconnected
        except Exception as error:  # noqa: BLE001 - one request's failure is that request's alone
            failure = failure_of(error, self._service.collections)
            await _refused(visit, failure, receive, send)
        return None

    def _check(self, visit: Visit, scope: Scope) -> None:
        """Refuse a request that the server should not answer."""
        self._check_place(visit)
        self._service.keys.admit(visit, is_open=_is_open(scope["path"]))
        if visit.file and not _is_of(visit.file, scope["path"]):
            raise HttpFailure(403, f"this key opens the collection {visit.file} alone")
        if self._service.inside > self._service.settings.at_once and scope["path"] not in OPEN:
            reason = f"the limit of {self._service.settings.at_once} concurrent requests is reached"
            raise HttpFailure(503, f"{reason}; retry later", AGAIN)
        self._service.shares.check(visit.user)
        self._service.shares.enter(visit.user)
        visit.held = visit.user

    def _check_place(self, visit: Visit) -> None:
        """Refuse foreign pages by their Origin, and DNS rebinding by the Host header."""
        if visit.hosts > 1:
            raise HttpFailure(400, "the request has more than one Host header")
        host = visit.headers.get("host", "")
        if not self._is_any_host and without_port(host) not in self._hosts:
            raise HttpFailure(
                403, f"the Host {host!r:.80} is not allowed: start the server with --allow-host"
            )
        origin = visit.headers.get("origin")
        if origin is None or origin.partition("://")[2].lower() == host.lower() != "":
            return
        if origin not in self._origins:
            raise HttpFailure(
                403,
                f"the Origin {origin!r:.80} is not allowed: start the server with --allow-origin",
            )
        visit.origin = origin

    async def _socket(self, visit: Visit, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check(visit, scope)
            await self._app(scope, receive, send)
        except ConnectionResetError:
            pass
        except Exception as error:  # noqa: BLE001 - as above
            failure = failure_of(error, self._service.collections)
            await send({"type": "websocket.close", "code": 1008, "reason": str(failure)[:120]})
            visit.status = failure.status
        finally:
            self._service.shares.leave(visit.held)
        _write(visit, scope)


def _is_open(path: str) -> bool:
    """Return whether a path needs no key."""
    return path in OPEN or not path.startswith(CLOSED)


def _is_of(file: str, path: str) -> bool:
    """Return whether a path leads to a collection alone, or to none. Any other is refused."""
    parts = path.split("/")
    return _is_open(path) or path in BOUND or parts[:4] == ["", "v1", "collections", file]


def _preflight() -> Raw:
    """Return the response to a CORS preflight."""
    headers = {
        "access-control-allow-methods": "GET, POST, PUT, DELETE",
        "access-control-allow-headers": "authorization, content-type, x-request-id, traceparent",
        "access-control-max-age": "600",
    }
    return Raw(b"", "text/plain", 204, headers)


async def _refused(visit: Visit, failure: HttpFailure, receive: Receive, send: Send) -> None:
    """Send a failure as the response; end the connection if a response has begun."""
    if visit.status:
        raise ConnectionAbortedError(str(failure)) from failure
    found = Raw(encoded(failure.to_dict(visit.request_id)), "application/json", failure.status,
                failure.headers)  # fmt: skip
    if failure.status == 413:
        return await send_before_the_end(send, found, receive)
    return await send_whole(send, found)


class _Sender:
    """Sends messages, with the headers that all responses share."""

    __slots__ = ("_send", "_visit")

    def __init__(self, visit: Visit, send: Send) -> None:
        self._visit, self._send = visit, send

    async def __call__(self, message: Message) -> None:
        visit = self._visit
        if message["type"] == "http.response.start":
            visit.status = message["status"]
            _add_headers(visit, message["headers"])
        else:
            visit.bytes += len(message.get("body", b""))
        await self._send(message)


def _add_headers(visit: Visit, headers: list[tuple[bytes, bytes]]) -> None:
    names = {name for name, _ in headers}
    headers += GUARDS
    if b"content-security-policy" not in names:
        headers += NO_PAGE
    if b"cache-control" not in names:
        headers += UNKEPT
    headers.append((b"x-request-id", visit.request_id.encode()))
    if visit.trace:
        headers.append((b"traceparent", span_of(visit.trace).encode()))
    if visit.origin is not None:
        headers += [(b"access-control-allow-origin", visit.origin.encode()), (b"vary", b"origin")]


def span_of(trace: Trace) -> str:
    """Return the traceparent of a new span in a trace."""
    return f"00-{trace.id}-{os.urandom(8).hex()}-{trace.flags}"


def _write(visit: Visit, scope: Scope) -> None:
    """Log one line. Questions are private: it has neither bodies nor parameters."""
    if log.isEnabledFor(logging.INFO):
        record = record_of(visit, scope)
        log.info("%s", json.dumps(record, default=str), extra={"ragfile": record})


def record_of(visit: Visit, scope: Scope) -> dict[str, Any]:
    """Return the log record of a request."""
    record = {
        "method": scope.get("method", "WEBSOCKET"), "path": scope["path"], "route": visit.route,
        "status": visit.status, "milliseconds": round((time.perf_counter() - visit.began) * 1e3, 3),
        "bytes": visit.bytes, "request_id": visit.request_id,
    }  # fmt: skip
    traced = {"trace_id": visit.trace.id} if visit.trace else {}
    user = {"key": visit.user} if visit.user else {}
    return record | traced | user | visit.sink
