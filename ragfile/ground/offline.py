"""Offline mode: RAGFILE_OFFLINE, or a `with offline(True)` block.

All clients in net/ check it before they connect, so one switch covers every feature above them.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

VARIABLE = "RAGFILE_OFFLINE"
_ASKED: ContextVar[bool] = ContextVar("ragfile_offline", default=False)


def is_offline() -> bool:
    """Return whether this thread or task must not open a socket."""
    return _ASKED.get() or os.environ.get(VARIABLE, "").lower() not in ("", "0", "false", "no")


@contextmanager
def offline(asked: bool = True) -> Generator[None]:
    """Keep the code in a block from opening sockets, if asked. RAGFILE_OFFLINE applies regardless."""
    token = _ASKED.set(asked or _ASKED.get())
    try:
        yield
    finally:
        _ASKED.reset(token)


def why(what: str) -> str:
    """Return the error message for `what`, which needs the network."""
    return f"{what} is over the network, which offline mode forbids (--offline, {VARIABLE})"
