"""A lock that a fork leaves open.

Readers are shared by threads, and a process may fork while one of them is inside: in the child that thread is not there to
leave, and whoever asks there would wait for ever. What these locks guard is never left half done between two lines of Python,
so the child simply begins with open ones.
"""

import os
import threading
import weakref

_known = weakref.WeakSet()


class ForkSafeLock:
    """For `with`, as threading.Lock."""

    def __init__(self):
        self.open()
        _known.add(self)

    def open(self):
        """Begins anew, whoever is inside."""
        self._lock = threading.Lock()

    def __enter__(self):
        self._lock.acquire()

    def __exit__(self, kind, error, trace):
        self._lock.release()

    def acquire(self):
        """For compiled code, which must not say `with`: it packs the error for __exit__, and dies if memory has run out for that."""
        self._lock.acquire()

    def release(self):
        """The other end of acquire."""
        self._lock.release()


def _open_all():
    for lock in _known:
        lock.open()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open_all)
