"""A time for the whole of an answer's head.

An HTTP client's time-out starts again with every byte, so a server that sends a header line a
second is waited for without end. Here a timer shuts the client's connections down when the time is
over, which wakes whoever reads.
"""

import contextlib
import socket
import threading
import weakref


class Watchdog:
    """The connections of one client. `note` is the client's trace callback, which names new
    ones.
    """

    def __init__(self):
        self._streams = weakref.WeakSet()

    def note(self, event, info):
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._streams.add(info["return_value"])

    @contextlib.contextmanager
    def within(self, seconds):
        """TimeoutError if the block takes longer; other requests of the same client break off with
        it.
        """
        over = threading.Event()
        timer = threading.Timer(seconds, self._end, (over,))
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

    def _end(self, over):
        over.set()
        self.end()

    def end(self):
        """Shuts the connections down; those who read from them wake up."""
        for stream in list(self._streams):
            connection = stream.get_extra_info("socket")
            with contextlib.suppress(OSError, TypeError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
