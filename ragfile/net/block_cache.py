"""An on-disk cache of file blocks fetched from a URL, shared by processes.

One sparse file per object holds the bytes at their own offsets, named by URL, ETag and size. Only
the newest version of a URL is kept. The query of a URL is not part of the name: it is usually a
signature that changes every hour. The cache has no index of its own: a block counts as present if
its bytes match the hash that the RAGFile records for it. A killed process, a concurrent writer or a
changed byte therefore cost one request and nothing else. The files are read, never mapped.
"""

from __future__ import annotations

import contextlib
import logging
import os
from typing import TYPE_CHECKING

from ragfile import _core
from ragfile.ground import system

if TYPE_CHECKING:
    from ragfile.net.http import Identity
    from ragfile.types import StrPath

log = logging.getLogger("ragfile.net.fetcher")
SUFFIX = ".blocks"


class BlockCache:
    """The cached blocks of one object, in one file of the cache folder."""

    def __init__(self, folder: StrPath, url: str, identity: Identity) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        prefix = f"{_core.hash64(url.encode()):016x}"
        name = f"{prefix}-{_core.hash64(repr(tuple(identity)).encode()):016x}{SUFFIX}"
        self._descriptor = system.open_private(os.path.join(folder, name))
        self._is_full = False
        _remove_older(folder, prefix, name)

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            system.close(self._descriptor)

    def read(self, at: int, size: int, expected: int) -> bytes | None:
        """Return `size` bytes at an offset if they have the expected hash, else None."""
        try:
            found = system.read_at(self._descriptor, size, at)
        except OSError:
            return None
        return found if len(found) == size and _core.hash64(found) == expected else None

    def write(self, at: int, data: bytes) -> None:
        """Store bytes at an offset. After the first failed write, store nothing more."""
        if self._is_full:
            return
        try:
            system.write_at(self._descriptor, data, at)
        except OSError as error:
            log.warning("the cache folder for URLs keeps nothing more: %s", error)
            self._is_full = True


def _remove_older(folder: StrPath, prefix: str, name: str) -> None:
    """Delete the files of a URL's older versions."""
    for other in os.listdir(folder):
        if other.startswith(prefix) and other.endswith(SUFFIX) and other != name:
            with contextlib.suppress(OSError):
                system.remove(os.path.join(folder, other))
