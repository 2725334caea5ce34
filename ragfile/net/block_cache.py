"""Bytes of a file behind a URL, kept in a folder for the next process.

One sparse file an object, its bytes at their own offsets, named by URL, ETag and size; of a URL
only the newest is kept. The query of a URL is not part of the name: it is usually a signature that
changes every hour. Nothing says which bytes are there: a stretch is believed when it has the hash
that the RAGFile itself gives it, so that a killed process, another one that writes, or a changed
byte costs a request and nothing else. It is read, never mapped.
"""

import contextlib
import logging
import os

from ragfile import _core

log = logging.getLogger("ragfile.net.fetcher")
SUFFIX = ".blocks"


class BlockCache:
    """What a folder keeps of one object."""

    def __init__(self, folder, url, identity):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        whose = f"{_core.hash64(url.encode()):016x}"
        name = f"{whose}-{_core.hash64(repr(tuple(identity)).encode()):016x}{SUFFIX}"
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._descriptor = os.open(os.path.join(folder, name), flags, 0o600)
        self._is_full = False
        for other in os.listdir(folder):
            if other.startswith(whose) and other.endswith(SUFFIX) and other != name:
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(folder, other))

    def __del__(self):
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)

    def read(self, at, size, expected):
        """The bytes with this hash, or None."""
        try:
            found = os.pread(self._descriptor, size, at)
        except OSError:
            return None
        return found if len(found) == size and _core.hash64(found) == expected else None

    def write(self, at, data):
        """Keeps bytes, as long as there is room."""
        if self._is_full:
            return
        try:
            os.pwrite(self._descriptor, data, at)
        except OSError as error:
            log.warning("the cache folder for URLs keeps nothing more: %s", error)
            self._is_full = True
