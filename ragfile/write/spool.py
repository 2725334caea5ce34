"""Temporary files that are written once and read at random."""

import contextlib
import os
import tempfile
from collections.abc import Iterator

import numpy as np

COPY = 1 << 20  # bytes that blocks() has in memory at a time
SMALL = 1 << 20  # bytes of a pile that stay in memory


class Spool:
    """A temporary file without a name, next to the file that is being made."""

    def __init__(self, folder: str) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, buffering=COPY)  # noqa: SIM115 - close()
        self._clean, self.folder = True, folder
        self.size = 0

    def append(self, data: bytes | bytearray | memoryview) -> int:
        """Returns where data begins."""
        at = self.size
        try:
            self._file.write(data)
        except OSError as error:
            raise self._named(error) from None
        self.size += len(data)
        self._clean = False
        return at

    def put(self, at: int, data: bytes | memoryview) -> None:
        """Writes data at a place, for a file that is not appended to."""
        try:
            os.pwrite(self._file.fileno(), data, at)
        except OSError as error:
            raise self._named(error) from None
        self.size = max(self.size, at + len(data))

    def read(self, at: int, size: int) -> bytes:
        self._flush()
        return os.pread(self._file.fileno(), size, at) if size else b""

    def blocks(self) -> Iterator[bytes]:
        """All that was appended, in pieces."""
        for first in range(0, self.size, COPY):
            yield self.read(first, min(COPY, self.size - first))

    def matrix(self, dtype: np.dtype, width: int) -> np.ndarray:
        """All that was appended, as rows, mapped."""
        return self.mapped().view(dtype).reshape(-1, width)

    def mapped(self) -> np.ndarray:
        """All that was appended, as bytes, mapped."""
        self._flush()
        return np.memmap(self._file, mode="r") if self.size else np.empty(0, np.uint8)

    def _flush(self) -> None:
        if not self._clean:
            try:
                self._file.flush()
            except OSError as error:
                raise self._named(error) from None
            self._clean = True

    def _named(self, error: OSError) -> OSError:
        """The error with the folder of the file, which has no name."""
        return OSError(error.errno, f"{error.strerror} (temporary file)", self.folder)

    def close(self) -> None:
        with contextlib.suppress(OSError):  # what could not be written is not needed any more
            self._file.close()


class Pile:
    """Bytes that are appended, and read when all are there: in memory while they are few, then in a spool."""

    def __init__(self, folder: str) -> None:
        self.folder, self._few = folder, bytearray()
        self._spool: Spool | None = None

    def append(self, data: bytes) -> None:
        if self._spool is not None:
            self._spool.append(data)
            return
        self._few += data
        if len(self._few) > SMALL:
            self._spool = Spool(self.folder)
            self._spool.append(self._few)
            self._few = bytearray()

    def blocks(self) -> Iterator[bytes | bytearray]:
        """All of it, in pieces."""
        return iter([self._few]) if self._spool is None else self._spool.blocks()

    def view(self) -> bytes | np.ndarray:
        """All of it; a large one is mapped."""
        return bytes(self._few) if self._spool is None else self._spool.mapped()

    def close(self) -> None:
        if self._spool is not None:
            self._spool.close()
