"""The id of the request that is being answered: one name for it in the caller's log, ours, and the provider's.

with request("7f3a"):
    embedder.embed(...)        # net/json_client.py sends it along
"""

import os
from contextvars import ContextVar

_CURRENT = ContextVar("ragfile_request", default=None)


def new():
    """An id for a request that came without one."""
    return os.urandom(8).hex()


def current():
    """The id of the request that this thread or task is answering, or None."""
    return _CURRENT.get()


class request:
    """What happens inside is done for this request."""

    __slots__ = ("_id", "_token")

    def __init__(self, request_id):
        self._id = request_id

    def __enter__(self):
        self._token = _CURRENT.set(self._id)
        return self._id

    def __exit__(self, *_):
        _CURRENT.reset(self._token)
