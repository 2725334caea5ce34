"""MCP as HTTP exchanges, without I/O: a request in, a response out. The web server mounts this.

One POST holds one message, and its answer is JSON: the server has nothing to say unasked, so there
are no streams and no sessions. A browser page from elsewhere is refused by its Origin, and a name
that was bent to this address by its Host.
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

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from ragfile.doors.mcp.protocol import Server

LOCAL = ("127.0.0.1", "localhost", "[::1]")
JSON = {"content-type": "application/json"}


class HttpResponse(NamedTuple):
    """A response to send."""

    status: int
    headers: dict[str, str]
    body: bytes


def exchange(
    server: Server, method: str, headers: Mapping[str, str], body: bytes, *,
    hosts: Collection[str] = LOCAL, origins: Collection[str] = (),
) -> HttpResponse:  # fmt: skip
    """The response to a request at the server's one address.

    hosts are the names that it answers to, without ports. origins are pages that may ask it,
    besides those of its own hosts.
    """
    named = {name.lower(): value for name, value in headers.items()}
    if (reason := _foreign(named, hosts, origins)) is not None:
        return _refused(403, reason)
    if method != "POST":
        return HttpResponse(405, {"allow": "POST"}, b"")
    if named.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return _refused(415, "the body of a message is application/json")
    version = named.get("mcp-protocol-version")
    if version is not None and version not in (MODERN, *LEGACY):
        return _refused(400, f"the protocol version {version!r} is not served")
    return _answered(server, named, body)


def _answered(server, headers, body):
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return _shown(400, refusal(PARSE_ERROR, "the body is not JSON"))
    response = server.handle(message, headers)
    return _shown(http_status(response), response)


def _foreign(headers, hosts, origins) -> str | None:
    """Why a request is not for us, or None."""
    if without_port(headers.get("host", "")) not in hosts:
        return "this server does not answer to that Host"
    origin = headers.get("origin")
    if origin is None or origin in origins:
        return None
    scheme, _, host = origin.partition("://")
    is_own = scheme in ("http", "https") and without_port(host) in hosts
    return None if is_own else "a page of that Origin may not ask this server"


def without_port(host: str) -> str:
    """The name of a Host header, in lower case; that of an IPv6 address has its brackets."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower()


def _refused(status: int, reason: str) -> HttpResponse:
    return _shown(status, refusal(INVALID_REQUEST, reason))


def _shown(status: int, response: dict[str, Any] | None) -> HttpResponse:
    if response is None:
        return HttpResponse(status, {}, b"")
    return HttpResponse(status, dict(JSON), json.dumps(response).encode())
