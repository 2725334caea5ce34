"""A file of this machine behind a file:// URL, read as one on a server is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ragfile.errors import ChangedError, RemoteError
from ragfile.ground.urls import local_path
from ragfile.net.http import FileEnd, Identity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from ragfile.ground.server_time import ServerTime

CHUNK = 1 << 20


class FileObject:
    """One file, opened for each read, so that threads and children can share this."""

    def __init__(self, url: str) -> None:
        self._path = local_path(url)

    def close(self) -> None:
        """Do nothing: no read leaves a file open."""

    def open(self, window: int, limit: ServerTime) -> FileEnd:
        """Read the last bytes of the file, at most `window` of them."""
        with open(self._path, "rb") as file:
            identity = _identity(file)
            if not identity.size:
                raise RemoteError(f"{self._path}: the file is empty")
            at = max(0, identity.size - window)
            file.seek(at)
            return FileEnd(identity, at, file.read(identity.size - at))

    def read(self, at: int, size: int, identity: Identity, limit: ServerTime) -> Iterator[bytes]:
        """Yield the bytes [at, at + size) in chunks."""
        with open(self._path, "rb") as file:
            file.seek(at)
            end = at + size
            while at < end and (part := file.read(min(CHUNK, end - at))):
                at += len(part)
                yield part
            if at < end or _identity(file) != identity:
                raise ChangedError(f"{self._path} was changed while it was read: pull it again")


def _identity(file: BinaryIO) -> Identity:
    found = os.fstat(file.fileno())
    return Identity(found.st_size, f"{found.st_dev}-{found.st_ino}-{found.st_mtime_ns}", None)
