"""The id of the current request, the same in the caller's log, in ours and in the provider's.

with request("7f3a"):
    embedder.embed(...)        # net/json_client.py sends it along
"""

import os
from contextvars import ContextVar, Token

_CURRENT: ContextVar[str | None] = ContextVar("ragfile_request", default=None)


def new() -> str:
    """Make an id for a request that has none."""
    return os.urandom(8).hex()


def current() -> str | None:
    """Return the id of the request of this thread or task, or None."""
    return _CURRENT.get()


class request:
    """Set the id of the request within a `with` block."""

    __slots__ = ("_id", "_token")

    _token: Token[str | None]

    def __init__(self, request_id: str | None) -> None:
        self._id = request_id

    def __enter__(self) -> str | None:
        self._token = _CURRENT.set(self._id)
        return self._id

    def __exit__(self, *_: object) -> None:
        _CURRENT.reset(self._token)
