"""What goes wrong, as a status and a sentence. A body says nothing of the machine: files go by the
names of their collections, and addresses of other servers are left out.

    {"error": {"type": "invalid", "message": "…", "param": null, "code": 422, "request_id": "…"}}

The shape is OpenAI's, whose clients read it.
"""

from __future__ import annotations

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
    413: "too_large", 415: "unsupported_type", 422: "invalid", 500: "internal",
    502: "provider_failed", 503: "unavailable",
}  # fmt: skip
AGAIN = {"retry-after": "1"}
_URL = re.compile(r"\b(?:https?|s3)://\S+?(?=[:,;]?(?:\s|$))")
_PATH = re.compile(r"(?<![\w./<])/(?:[\w.+@~-]+/)+[\w.+@~-]*")


class HttpFailure(Exception):
    """An answer that is none."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None,
                 param: str | None = None):  # fmt: skip
        super().__init__(message)
        self.status, self.headers, self.param = status, dict(headers or {}), param

    def to_dict(self, request_id: str = "") -> dict[str, Any]:
        """The body."""
        said = {
            "type": TYPES[self.status], "message": str(self), "param": self.param,
            "code": self.status, "request_id": request_id,
        }  # fmt: skip
        return {"error": said}


def discreet(text: str, files: Files) -> str:
    """A sentence without places: those of the files that are served, of others, and of servers."""
    text = files.without_paths(text)
    return _PATH.sub("(a path)", _URL.sub("(an address)", text))


def failure_of(error: BaseException, files: Files) -> HttpFailure:
    """The failure that an error of the library is. What is not one of ours is logged, and says
    nothing.
    """
    if isinstance(error, HttpFailure):
        return error
    said = discreet(_sentence(error), files)
    for kinds, status in STATUSES:
        if isinstance(error, kinds):
            return HttpFailure(status, said, AGAIN if status == 503 else None)
    if isinstance(error, TimeoutError):
        return HttpFailure(503, "this took too long and was given up", AGAIN)
    if isinstance(error, OSError):
        log.warning("a file cannot be read: %s", error)
        return HttpFailure(503, "the file cannot be read at the moment", AGAIN)
    if isinstance(error, MemoryError):
        return HttpFailure(503, "there is not enough memory for this at the moment", AGAIN)
    log.error("a request could not be answered", exc_info=error)
    return HttpFailure(500, "this failed inside the server; its log says how")


# The first kind that fits; the order is that of the tree of errors, from the leaves.
STATUSES: tuple[tuple[Any, int], ...] = (
    ((LockedError, RemoteError, CorruptError, FormatError), 503),
    (ProviderError, 502),
    ((ModelError, RagfileError), 422),
    (RecursionError, 422),
    ((ValueError, TypeError, LookupError, OverflowError), 422),
)


def _sentence(error):
    if isinstance(error, RecursionError):
        return "the value is nested too deeply"
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    return str(error) or type(error).__name__
