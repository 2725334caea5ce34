"""Connections that end in time: uvicorn's own protocol waits for ever for a head that does not come,
and for a client that takes nothing.
"""

from __future__ import annotations

import resource
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD = 20.0  # seconds in which the head of a request must have come
TAKE = 60.0  # seconds in which a client must have taken something of what was sent
MOST = 8192  # connections, where the system allows as many files
SPARE = 256  # descriptors for everything else


def most_connections() -> int:
    """How many connections one process can have."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(min(MOST, allowed - SPARE), 16)


class Connection(HttpToolsProtocol):
    """One connection."""

    _head: Any = None
    _take: Any = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._head = self.loop.call_later(HEAD, transport.abort)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._head is None:
            self._head = self.loop.call_later(HEAD, self.transport.abort)

    def on_headers_complete(self) -> None:
        self._head = _cancelled(self._head)
        super().on_headers_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._take = _cancelled(self._take) or self.loop.call_later(TAKE, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._take = _cancelled(self._take)

    def connection_lost(self, exc: Exception | None) -> None:
        self._head, self._take = _cancelled(self._head), _cancelled(self._take)
        super().connection_lost(exc)


def _cancelled(timer):
    if timer is not None:
        timer.cancel()
