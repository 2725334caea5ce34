"""A time limit for receiving a complete response head.

An HTTP client restarts its time-out with every byte, so a server that sends one header line per
second would never time out. Here a timer shuts down the client's connections at the deadline, which
wakes the threads that read from them.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping


class Watchdog:
    """The connections of one HTTP client, collected by its trace callback `note`."""

    def __init__(self) -> None:
        self._streams: weakref.WeakSet[Any] = weakref.WeakSet()

    def note(self, event: str, info: Mapping[str, Any]) -> None:
        """Remember each new connection that the client traces."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._streams.add(info["return_value"])

    @contextlib.contextmanager
    def within(self, seconds: float) -> Generator[None]:
        """Raise TimeoutError if the block takes longer than `seconds`.

        All connections of the client are shut down then, so its other requests fail too.
        """
        over = threading.Event()
        timer = threading.Timer(seconds, self._expire, (over,))
        timer.daemon = True
        timer.start()
        try:
            yield
        except Exception as error:
            if over.is_set():
                raise TimeoutError from error
            raise
        finally:
            timer.cancel()

    def _expire(self, over: threading.Event) -> None:
        over.set()
        self.end()

    def end(self) -> None:
        """Shut down the connections, which wakes the threads that read from them."""
        for stream in list(self._streams):
            connection = stream.get_extra_info("socket")
            with contextlib.suppress(OSError, TypeError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
