"""JSON-RPC messages of the Model Context Protocol, in its stateless version and in older ones.

    server = Server(Tools(Files(["kb.ragfile"])))
    server.handle({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})    the response, or None

Since version 2026-07-28 the protocol has no handshake: each request carries its version and the
client's capabilities in `_meta`, and over HTTP the headers must agree with the body. In older
versions a connection begins with `initialize`. The server keeps no state in either case, so
connections and threads can share one. A handshake opens no file and imports no other module.
"""

from __future__ import annotations

import base64
import binascii
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from ragfile import __version__

if TYPE_CHECKING:
    from typing import Any

    from ragfile.doors.mcp.connector import ConnectorTools
    from ragfile.doors.mcp.memory_tools import MemoryTools
    from ragfile.doors.mcp.tools import Tools

log = logging.getLogger("ragfile.mcp")

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
INFO = {"name": "ragfile", "version": __version__}
META = "io.modelcontextprotocol/"
STRUCTURED = "ragfile/structured"  # in _meta: true adds the result as JSON
TTL = 60_000  # milliseconds for which clients may cache lists

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR, HEADER_MISMATCH, UNSUPPORTED_VERSION = -32603, -32020, -32022
HTTP_STATUS = {
    PARSE_ERROR: 400, INVALID_REQUEST: 400, NO_METHOD: 404, INVALID_PARAMS: 400,
    INTERNAL_ERROR: 500, HEADER_MISMATCH: 400, UNSUPPORTED_VERSION: 400,
}  # fmt: skip
# Lists that clients request even though the server does not offer them.
EMPTY = {
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


class ProtocolError(Exception):
    """A request that fails with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data

    def to_dict(self) -> dict[str, Any]:
        """Return the error object of a response."""
        data = {} if self.data is None else {"data": self.data}
        return {"code": self.code, "message": str(self), **data}


class Server:
    """Answers the messages of clients that call a set of tools."""

    def __init__(self, tools: Tools | ConnectorTools | MemoryTools) -> None:
        self.tools = tools

    def handle(
        self, message: object, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any] | None:
        """Return the response to a message, or None if it needs none.

        `headers` are those of an HTTP request, in upper or lower case; None over stdio.
        """
        if _needs_no_response(message):
            return None
        number = _number(message)
        try:
            return _response(number, result=self._result(_request(message), headers))
        except ProtocolError as error:
            return _response(number, error=error.to_dict())
        except Exception:  # one question's failure must not end the server
            log.exception("a message could not be answered")
            failed = ProtocolError(
                INTERNAL_ERROR, "internal error; the server's log has the details"
            )
            return _response(number, error=failed.to_dict())

    def _result(self, request: dict[str, Any], headers: Mapping[str, str] | None) -> dict[str, Any]:
        method, params = request["method"], request.get("params", {})
        meta = params.get("_meta")
        if _is_modern(method, meta, headers):
            check_modern(method, params, headers)
            result = self._modern(method, params)
            return result | {"resultType": "complete", "_meta": {META + "serverInfo": INFO}}
        return self._legacy(method, params)

    def _modern(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a request of the stateless version."""
        cached: dict[str, Any] = {"ttlMs": TTL, "cacheScope": "private"}
        if method == "server/discover":
            return {
                "supportedVersions": [MODERN], "capabilities": {"tools": {}},
                "instructions": self.tools.instructions, **cached,
            }  # fmt: skip
        return self._shared(method, params, cached)

    def _legacy(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a request of an older version."""
        if method == "initialize":
            asked = params.get("protocolVersion")
            return {
                "protocolVersion": asked if asked in LEGACY else LEGACY[0], "serverInfo": INFO,
                "capabilities": {"tools": {}}, "instructions": self.tools.instructions,
            }  # fmt: skip
        if method == "ping":
            return {}
        return self._shared(method, params, {})

    def _shared(
        self, method: str, params: dict[str, Any], cached: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the result of a method that all versions have."""
        if method == "tools/list":
            return {"tools": self.tools.listed(), **cached}
        if method == "tools/call":
            return self._called(params)
        if method in EMPTY:
            return {EMPTY[method]: [], **cached}
        raise ProtocolError(NO_METHOD, f"unknown method {method!r:.80}")

    def _called(self, params: dict[str, Any]) -> dict[str, Any]:
        name, arguments = params.get("name"), params.get("arguments")
        if name not in self.tools.names:
            known = ", ".join(self.tools.names)
            raise ProtocolError(INVALID_PARAMS, f"unknown tool {name!r:.80}; the tools are {known}")
        if arguments is not None and not isinstance(arguments, dict):
            raise ProtocolError(INVALID_PARAMS, f"the arguments of {name} must be an object")
        found = self.tools.call(name, cast("dict[str, Any]", arguments or {}))
        return found if _wants_structure(params) else _without_structure(found)


def _wants_structure(params: dict[str, Any]) -> bool:
    """Return whether a call asks for its result as JSON, too."""
    meta = params.get("_meta")
    return isinstance(meta, dict) and cast("dict[str, object]", meta).get(STRUCTURED) is True


def _without_structure(found: dict[str, Any]) -> dict[str, Any]:
    """Return a result as text alone: clients show a model both forms, and passages would be twice in it."""
    return {name: value for name, value in found.items() if name != "structuredContent"}


def http_status(response: dict[str, Any] | None) -> int:
    """Return the HTTP status for a response of `handle`."""
    if response is None:
        return 202
    error = response.get("error")
    return HTTP_STATUS.get(error["code"], 400) if error else 200


def refusal(code: int, message: str) -> dict[str, Any]:
    """Return the response to input that is not a request."""
    return _response(None, error=ProtocolError(code, message).to_dict())


def _response(number: str | int | None, **outcome: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, **outcome}


def _needs_no_response(message: object) -> bool:
    """Return whether a message is a notification, or a response although nothing was requested."""
    if not isinstance(message, dict):
        return False
    names = cast("dict[str, object]", message).keys()
    is_notification = "id" not in names and "method" in names
    is_response = "method" not in names and bool({"result", "error"} & names)
    return is_notification or is_response


def _number(message: object) -> str | int | None:
    """Return the id of a request, or None if it is missing or of a wrong type."""
    number = cast("dict[str, object]", message).get("id") if isinstance(message, dict) else None
    return number if isinstance(number, str | int) and not isinstance(number, bool) else None


def _request(message: object) -> dict[str, Any]:
    """Return a message that is a valid request; raise a ProtocolError for any other."""
    if isinstance(message, list):
        raise ProtocolError(
            INVALID_REQUEST, "batches are not supported: send one message at a time"
        )
    if not isinstance(message, dict):
        raise ProtocolError(INVALID_REQUEST, "a message must be an object")
    request = cast("dict[str, Any]", message)
    if _number(request) is None:
        raise ProtocolError(INVALID_REQUEST, "the id of a request must be a string or an integer")
    if request.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, 'a request must have "jsonrpc": "2.0"')
    if not isinstance(request.get("method"), str):
        raise ProtocolError(INVALID_REQUEST, "the method of a request must be a string")
    if not isinstance(request.get("params", {}), dict):
        raise ProtocolError(INVALID_PARAMS, "params must be an object")
    return request


def _is_modern(method: str, meta: object, headers: Mapping[str, str] | None) -> bool:
    """Return whether a request is of the stateless version."""
    has_version = isinstance(meta, dict) and META + "protocolVersion" in meta
    return (
        has_version
        or method == "server/discover"
        or (_lower(headers).get("mcp-protocol-version") == MODERN)
    )


def check_modern(
    method: str, params: dict[str, Any], headers: Mapping[str, str] | None = None
) -> None:
    """Refuse a request that contradicts its headers or has an unsupported version."""
    given = params.get("_meta")
    meta = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    missing = [META + n for n in ("protocolVersion", "clientCapabilities") if META + n not in meta]
    if missing:
        raise ProtocolError(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
    version = meta[META + "protocolVersion"]
    if headers is not None:
        _check_headers(method, params, version, _lower(headers))
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, "the protocol version must be a string")
    if version != MODERN:
        raise ProtocolError(
            UNSUPPORTED_VERSION, f"protocol version {version:.40} is not supported; use {MODERN}",
            {"supported": [MODERN], "requested": version},
        )  # fmt: skip


def _check_headers(
    method: str, params: dict[str, Any], version: object, headers: dict[str, str]
) -> None:
    """Refuse headers that contradict the body, since proxies act on them."""
    expected = {"mcp-protocol-version": version, "mcp-method": method}
    key = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}.get(method)
    if key is not None and params.get(key) is not None:
        expected["mcp-name"] = params[key]
    for name, value in expected.items():
        if name not in headers or _decoded(headers[name]) != value:
            found = repr(headers[name])[:80] if name in headers else "missing"
            reason = f"the header {name} is {found}, but the body has {value!r:.80}"
            raise ProtocolError(HEADER_MISMATCH, reason)


def _decoded(value: str) -> str | None:
    """Decode a header's value; one that is not plain ASCII is written as =?base64?…?=."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _lower(headers: Mapping[str, str] | None) -> dict[str, str]:
    return {name.lower(): value for name, value in (headers or {}).items()}
