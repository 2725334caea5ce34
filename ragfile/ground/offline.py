"""Whether sockets may be opened: not where RAGFILE_OFFLINE is set, and not inside `with
offline(True)`.

Every client of ours (net/) asks here before it connects, so one switch holds for whatever stands
above it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

VARIABLE = "RAGFILE_OFFLINE"
_ASKED: ContextVar[bool] = ContextVar("ragfile_offline", default=False)


def is_offline() -> bool:
    """Whether this thread or task must not open a socket."""
    return _ASKED.get() or os.environ.get(VARIABLE, "").lower() not in ("", "0", "false", "no")


@contextmanager
def offline(asked: bool = True) -> Iterator[None]:
    """Nothing inside opens a socket, if that is asked for; RAGFILE_OFFLINE stays in force either
    way.
    """
    token = _ASKED.set(asked or _ASKED.get())
    try:
        yield
    finally:
        _ASKED.reset(token)


def why(what: str) -> str:
    """The sentence for somebody who wanted `what` over a socket."""
    reason = VARIABLE + " is set" if os.environ.get(VARIABLE) else "offline was asked for"
    return f"{what} is over the network, and {reason}"
