"""Messages in, messages out: JSON-RPC and the two eras of the Model Context Protocol.

    server = Server(Tools(Files(["kb.ragfile"])))
    server.handle({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})       the answer, or None

Since 2026-07-28 there is no handshake: each request carries its version and its client's
capabilities in `_meta`, and over HTTP the headers must agree with the body. Before, a connection
began with `initialize`. The server keeps no state for either, so any number of connections and
threads can share one. Nothing that a handshake needs opens a file or imports more than this.
"""

from __future__ import annotations

import base64
import binascii
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragfile import __version__

if TYPE_CHECKING:
    from typing import Any

    from ragfile.doors.mcp.tools import Tools

log = logging.getLogger("ragfile.mcp")

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
INFO = {"name": "ragfile", "version": __version__}
META = "io.modelcontextprotocol/"
TTL = 60_000  # ms for which lists may be kept

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR, HEADER_MISMATCH, UNSUPPORTED_VERSION = -32603, -32020, -32022
HTTP_STATUS = {
    PARSE_ERROR: 400, INVALID_REQUEST: 400, NO_METHOD: 404, INVALID_PARAMS: 400,
    INTERNAL_ERROR: 500, HEADER_MISMATCH: 400, UNSUPPORTED_VERSION: 400,
}  # fmt: skip
# Lists that a client may ask for though the server does not offer them.
EMPTY = {
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


class ProtocolError(Exception):
    """A request that has no result: a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None):
        super().__init__(message)
        self.code, self.data = code, data

    def to_dict(self) -> dict[str, Any]:
        """The error object of a response."""
        data = {} if self.data is None else {"data": self.data}
        return {"code": self.code, "message": str(self), **data}


class Server:
    """Answers messages about a set of tools."""

    def __init__(self, tools: Tools):
        self.tools = tools

    def handle(
        self, message: Any, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any] | None:
        """The response to a message; None to what wants none.

        headers are those of an HTTP request, in any case of letters, or None on other doors.
        """
        if isinstance(message, dict) and "id" not in message and "method" in message:
            return None  # a notification
        if (
            isinstance(message, dict)
            and "method" not in message
            and {"result", "error"} & set(message)
        ):
            return None  # a response, and nothing was asked
        number = _number(message)
        try:
            return _response(number, result=self._result(_request(message), headers))
        except ProtocolError as error:
            return _response(number, error=error.to_dict())
        except Exception:  # one question's failure must not end the server
            log.exception("a message could not be answered")
            failed = ProtocolError(
                INTERNAL_ERROR, "this failed inside the server; its log says how"
            )
            return _response(number, error=failed.to_dict())

    def _result(self, request, headers):
        method, params = request["method"], request.get("params", {})
        meta = params.get("_meta")
        if _is_modern(method, meta, headers):
            check_modern(method, params, headers)
            result = self._modern(method, params)
            return result | {"resultType": "complete", "_meta": {META + "serverInfo": INFO}}
        return self._legacy(method, params)

    def _modern(self, method, params):
        cached = {"ttlMs": TTL, "cacheScope": "private"}
        if method == "server/discover":
            return {
                "supportedVersions": [MODERN], "capabilities": {"tools": {}},
                "instructions": self.tools.instructions, **cached,
            }  # fmt: skip
        return self._shared(method, params, cached)

    def _legacy(self, method, params):
        if method == "initialize":
            asked = params.get("protocolVersion")
            return {
                "protocolVersion": asked if asked in LEGACY else LEGACY[0], "serverInfo": INFO,
                "capabilities": {"tools": {}}, "instructions": self.tools.instructions,
            }  # fmt: skip
        if method == "ping":
            return {}
        return self._shared(method, params, {})

    def _shared(self, method, params, cached):
        if method == "tools/list":
            return {"tools": self.tools.listed(), **cached}
        if method == "tools/call":
            return self._called(params)
        if method in EMPTY:
            return {EMPTY[method]: [], **cached}
        raise ProtocolError(NO_METHOD, f"there is no method {method!r}")

    def _called(self, params):
        name, arguments = params.get("name"), params.get("arguments")
        if name not in self.tools.names:
            known = ", ".join(self.tools.names)
            raise ProtocolError(INVALID_PARAMS, f"there is no tool {name!r}; there are {known}")
        if arguments is not None and not isinstance(arguments, dict):
            raise ProtocolError(INVALID_PARAMS, "the arguments of a tool are an object")
        return self.tools.call(name, arguments or {})


def http_status(response: dict[str, Any] | None) -> int:
    """The HTTP status that goes with a response of `handle`."""
    if response is None:
        return 202
    error = response.get("error")
    return HTTP_STATUS.get(error["code"], 400) if error else 200


def refusal(code: int, message: str) -> dict[str, Any]:
    """The response to what is no request at all."""
    return _response(None, error=ProtocolError(code, message).to_dict())


def _response(number, **outcome):
    return {"jsonrpc": "2.0", "id": number, **outcome}


def _number(message):
    """The id of a request; None where the id is missing or is not one that a response may repeat."""
    number = message.get("id") if isinstance(message, dict) else None
    return number if isinstance(number, str | int) and not isinstance(number, bool) else None


def _request(message):
    """The message, if it is a request; ProtocolError else."""
    if not isinstance(message, dict):
        kind = "batches are not served" if isinstance(message, list) else "a message is an object"
        raise ProtocolError(INVALID_REQUEST, kind)
    if _number(message) is None:
        raise ProtocolError(INVALID_REQUEST, "the id of a request is a string or a whole number")
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        raise ProtocolError(INVALID_REQUEST, "a request has jsonrpc 2.0 and the name of a method")
    if not isinstance(message.get("params", {}), dict):
        raise ProtocolError(INVALID_PARAMS, "params is an object")
    return message


# ---------------------------------------------------------------------------- the era of 2026 ---


def _is_modern(method, meta, headers):
    """Whether a request is of the era without handshakes: it says its version, or asks for ours."""
    says = isinstance(meta, dict) and META + "protocolVersion" in meta
    return (
        says
        or method == "server/discover"
        or (_lower(headers).get("mcp-protocol-version") == MODERN)
    )


def check_modern(
    method: str, params: dict[str, Any], headers: Mapping[str, str] | None = None
) -> None:
    """Refuses a request that contradicts itself or is of a version that is not served."""
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    missing = [META + n for n in ("protocolVersion", "clientCapabilities") if META + n not in meta]
    if missing:
        raise ProtocolError(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
    version = meta[META + "protocolVersion"]
    if headers is not None:
        _check_headers(method, params, version, _lower(headers))
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, "the protocol version is a string")
    if version != MODERN:
        raise ProtocolError(
            UNSUPPORTED_VERSION, f"the version {version} is not served; {MODERN} is",
            {"supported": [MODERN], "requested": version},
        )  # fmt: skip


def _check_headers(method, params, version, headers):
    """The headers that proxies read must say what the body says."""
    said = {"mcp-protocol-version": version, "mcp-method": method}
    key = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}.get(method)
    if key is not None and params.get(key) is not None:
        said["mcp-name"] = params[key]
    for name, value in said.items():
        if name not in headers or _decoded(headers[name]) != value:
            raise ProtocolError(HEADER_MISMATCH, f"the header {name} does not match the body")


def _decoded(value):
    """A header's value; one that is no plain ASCII is written as =?base64?…?=."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _lower(headers):
    return {name.lower(): value for name, value in (headers or {}).items()}
