"""Connections with time limits: uvicorn's own protocol waits forever for the headers of a request,
and for a client that reads nothing.
"""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from asyncio import BaseTransport, TimerHandle, Transport

HEAD = 20.0  # seconds in which the headers of a request must arrive
TAKE = 60.0  # seconds in which a client must read some of the response
MOST = 8192  # connections, if the limit on open files allows them
SPARE = 256  # descriptors for everything else


def most_connections() -> int:
    """Return the maximum number of connections of one process."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(min(MOST, allowed - SPARE), 16)


class Connection(HttpToolsProtocol):
    """A connection with time limits."""

    _head: TimerHandle | None = None
    _take: TimerHandle | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        connected = cast("Transport", transport)
        super().connection_made(connected)
        self._head = self.loop.call_later(HEAD, connected.abort)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._head is None:
            self._head = self.loop.call_later(HEAD, self.transport.abort)

    def on_headers_complete(self) -> None:
        _cancel(self._head)
        self._head = None
        super().on_headers_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        _cancel(self._take)
        self._take = self.loop.call_later(TAKE, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._take)
        self._take = None

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._head)
        _cancel(self._take)
        self._head = self._take = None
        super().connection_lost(exc)


def _cancel(timer: TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
