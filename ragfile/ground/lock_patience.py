"""How long writers wait for one another: the defaults of every door, in one place."""

from __future__ import annotations

import os

VARIABLE = "RAGFILE_WAIT"
WAIT = 30.0  # seconds that a call waits for other writers
DOOR_WAIT = 60.0  # a server, an MCP server or an adapter, whose callers cannot try again


def seconds_to_wait(wait: float | None = None, default: float = WAIT) -> float:
    """Return `wait` if it is given, else the seconds in RAGFILE_WAIT, else the default."""
    if wait is not None:
        return wait
    told = os.environ.get(VARIABLE)
    try:
        return default if told is None else float(told)
    except ValueError:
        raise ValueError(f"{VARIABLE} is {told!r:.40}: give a number of seconds") from None
