"""Failures as a status and a message, in the shape that OpenAI's clients read.

    {"error": {"type": "invalid", "message": "…", "param": null, "code": 422, "request_id": "…"}}

A message reveals nothing about the machine: files have the names of their collections, and paths
and URLs are removed.
"""

from __future__ import annotations

import errno
import logging
import re
from typing import TYPE_CHECKING

from ragfile.errors import (
    CorruptError,
    FormatError,
    LockedError,
    ModelError,
    ProviderError,
    RagfileError,
    RemoteError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ragfile.doors.mcp.files import Files

log = logging.getLogger("ragfile.serve")

TYPES = {
    400: "bad_request", 401: "unauthorized", 403: "forbidden", 404: "not_found",
    405: "method_not_allowed", 408: "too_slow", 409: "conflict", 411: "length_required",
    413: "too_large", 415: "unsupported_type", 422: "invalid", 429: "too_many_requests",
    431: "headers_too_large", 500: "internal", 502: "provider_failed", 503: "unavailable",
    507: "disk_full",
}  # fmt: skip
FULL = (errno.ENOSPC, errno.EDQUOT)
AGAIN = {"retry-after": "1"}
_URL = re.compile(r"\b(?:https?|s3)://\S+?(?=[:,;]?(?:\s|$))")
_PATH = re.compile(r"(?<![\w./<])/(?:[\w.+@~-]+/)+[\w.+@~-]*")


class HttpFailure(Exception):
    """A failure that becomes a response with this status."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None,
                 param: str | None = None) -> None:  # fmt: skip
        super().__init__(message)
        self.status, self.headers, self.param = status, dict(headers or {}), param

    def to_dict(self, request_id: str = "") -> dict[str, Any]:
        """Return the body of the response."""
        fields = {
            "type": TYPES[self.status], "message": str(self), "param": self.param,
            "code": self.status, "request_id": request_id,
        }  # fmt: skip
        return {"error": fields}


def discreet(text: str, files: Files) -> str:
    """Remove paths and URLs from a message; served files get the names of their collections."""
    text = files.without_paths(text)
    return _PATH.sub("(a path)", _URL.sub("(a URL)", text))


def failure_of(error: BaseException, files: Files) -> HttpFailure:
    """Return the failure for an exception; an unexpected one is logged and not described."""
    if isinstance(error, HttpFailure):
        return error
    reason = discreet(_sentence(error), files)
    for kinds, status in STATUSES:
        if isinstance(error, kinds):
            return HttpFailure(status, reason, AGAIN if status == 503 else None)
    if isinstance(error, TimeoutError):
        return HttpFailure(503, "the request took too long and was cancelled; retry later", AGAIN)
    if isinstance(error, OSError) and error.errno in FULL:
        log.warning("the disk is full: %s", error)
        return HttpFailure(507, "the disk is full; nothing was changed: free some room and retry")
    if isinstance(error, OSError):
        log.warning("a file cannot be read: %s", error)
        return HttpFailure(503, "the file cannot be read at the moment; retry later", AGAIN)
    if isinstance(error, MemoryError):
        return HttpFailure(503, "the server is out of memory at the moment; retry later", AGAIN)
    log.error("a request failed", exc_info=error)
    return HttpFailure(500, "internal error; the server's log has the details")


# The first match counts, so subclasses come before their bases.
STATUSES: tuple[tuple[tuple[type[BaseException], ...] | type[BaseException], int], ...] = (
    ((LockedError, RemoteError, CorruptError, FormatError), 503),
    (ProviderError, 502),
    ((ModelError, RagfileError), 422),
    (RecursionError, 422),
    ((ValueError, TypeError, LookupError, OverflowError), 422),
)


def _sentence(error: BaseException) -> str:
    """Return the message of an exception, or its type if it has none."""
    if isinstance(error, RecursionError):
        return "the value is nested too deeply"
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    return str(error) or type(error).__name__
