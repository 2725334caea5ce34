"""The file of a commit that was opened with trusted keys: its bytes are checked again after any write to it.

A block is compared with the signature when it is first read, and then read in place: the map shows later writes. So a call on
a trusted file asks the system before and after its work whether the file was written to, through a descriptor that stays with the
file when its name moves on. After a write, the blocks that were read are compared again.
"""

from __future__ import annotations

import os
import time
import weakref
from typing import TYPE_CHECKING

from ragfile import _core
from ragfile.errors import ChangedError, FormatError
from ragfile.ground import system

if TYPE_CHECKING:
    from ragfile.file.source import OpenBytes

SETTLED = 2_000_000_000  # nanoseconds: a clock of a file system can show two writes as one


class SealedFile:
    """A file that is open with trusted keys, and its status at the last check."""

    def __init__(self, path: str, opened: OpenBytes, reader: _core.Reader) -> None:
        self.path, self._reader, self._map = path, reader, opened.map
        self._entries, self._commit = reader.entries, reader.commit
        self._descriptor = system.open_to_read(path)
        ending = weakref.finalize(self, system.close, self._descriptor)
        ending.atexit = False
        status = self._status()
        if status[:2] != opened.identity[:2]:
            raise ChangedError(f"{path} was replaced while it was opened: open it again")
        self._settled: tuple[int, ...] = ()
        self.note(status)

    def _status(self) -> tuple[int, ...]:
        found = os.fstat(self._descriptor)
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def note(self, status: tuple[int, ...]) -> None:
        """Take a status as checked, unless a write in the same moment would not change it."""
        is_recent = abs(time.time_ns() - status[-1]) < SETTLED
        self._settled = () if is_recent else status

    def check(self) -> None:
        """Raise ChangedError if bytes that were read are no longer those that were signed."""
        status = self._status()
        if status == self._settled:
            return
        if status[2] < self._commit["end"]:
            raise self._changed("it was truncated")
        try:
            fresh = _core.Reader(self._map, self._commit["generation"])
            is_same = fresh.entries == self._entries
            self._reader.recheck()
        except FormatError as error:
            raise self._changed(str(error)) from error
        if not is_same:
            raise self._changed("the list of sections is not the one that was signed")
        self.note(status)

    def _changed(self, why: str) -> ChangedError:
        return ChangedError(
            f"{self.path} was changed in place while it was open: {why}; replace it by a file that "
            "a trusted key signed, and call refresh()"
        )
