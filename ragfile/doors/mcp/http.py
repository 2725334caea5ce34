"""MCP over HTTP, without I/O: a request in, a response out. The web server mounts this.

Each POST holds one message and gets a JSON response; the server sends no messages of its own, so it
needs no streams and no sessions. Foreign web pages are refused by their Origin, and DNS rebinding
by the Host header.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from ragfile.doors.mcp.protocol import (
    INVALID_REQUEST,
    LEGACY,
    MODERN,
    PARSE_ERROR,
    http_status,
    refusal,
)
from ragfile.ground.urls import without_port

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from ragfile.doors.mcp.protocol import Server

LOCAL = ("127.0.0.1", "localhost", "[::1]")
JSON = {"content-type": "application/json"}


class HttpResponse(NamedTuple):
    """An HTTP response."""

    status: int
    headers: dict[str, str]
    body: bytes


def exchange(
    server: Server, method: str, headers: Mapping[str, str], body: bytes, *,
    hosts: Collection[str] = LOCAL, origins: Collection[str] = (),
) -> HttpResponse:  # fmt: skip
    """Return the response to a request.

    `hosts` are the accepted names in Host, without ports. `origins` are the accepted Origins,
    besides those of the hosts.
    """
    named = {name.lower(): value for name, value in headers.items()}
    if (reason := _foreign(named, hosts, origins)) is not None:
        return _refused(403, reason)
    if method != "POST":
        return HttpResponse(405, {"allow": "POST"}, b"")
    kind = named.get("content-type", "")
    if kind.partition(";")[0].strip().lower() != "application/json":
        return _refused(415, f"the Content-Type is {kind!r:.80}: send application/json")
    version = named.get("mcp-protocol-version")
    if version is not None and version not in (MODERN, *LEGACY):
        return _refused(400, f"protocol version {version!r:.40} is not supported; use {MODERN}")
    return _answered(server, named, body)


def _answered(server: Server, headers: dict[str, str], body: bytes) -> HttpResponse:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return _shown(400, refusal(PARSE_ERROR, "the body is not JSON"))
    response = server.handle(message, headers)
    return _shown(http_status(response), response)


def _foreign(
    headers: dict[str, str], hosts: Collection[str], origins: Collection[str]
) -> str | None:
    """Return the reason to refuse the Host or Origin, or None."""
    host = headers.get("host", "")
    if without_port(host) not in hosts:
        return f"the Host {host!r:.80} is not allowed"
    origin = headers.get("origin")
    if origin is None or origin in origins:
        return None
    scheme, _, host = origin.partition("://")
    is_own = scheme in ("http", "https") and without_port(host) in hosts
    return None if is_own else f"the Origin {origin!r:.80} is not allowed"


def _refused(status: int, reason: str) -> HttpResponse:
    return _shown(status, refusal(INVALID_REQUEST, reason))


def _shown(status: int, response: dict[str, Any] | None) -> HttpResponse:
    if response is None:
        return HttpResponse(status, {}, b"")
    return HttpResponse(status, dict(JSON), json.dumps(response).encode())
