"""The id of the request that is being answered: one name for it in the caller's log, ours, and the provider's.

with request("7f3a"):
    embedder.embed(...)        # net/json_client.py sends it along
"""

import os
from contextlib import contextmanager
from contextvars import ContextVar

_CURRENT = ContextVar("ragfile_request", default=None)


def new():
    """An id for a request that came without one."""
    return os.urandom(8).hex()


def current():
    """The id of the request that this thread or task is answering, or None."""
    return _CURRENT.get()


@contextmanager
def request(request_id):
    """What happens inside is done for this request."""
    token = _CURRENT.set(request_id)
    try:
        yield request_id
    finally:
        _CURRENT.reset(token)
