"""Temporary files that are written once and read at random offsets."""

import contextlib
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from ragfile.ground import system

COPY = 1 << 20  # bytes of a block that blocks() yields
SMALL = 1 << 20  # bytes of a spool or pile that stay in memory
IN_MEMORY = ""  # in place of a folder: for plain bytes of encrypted files, which never reach a disk


class Spool:
    """Bytes in memory while they are few, else in an unnamed temporary file next to the written file.

    In the place of a folder, IN_MEMORY keeps all of them in memory.
    """

    def __init__(self, folder: str) -> None:
        self._few = bytearray()
        self._opened: BinaryIO | None = None
        self._clean, self.folder = True, folder
        self._stays = folder == IN_MEMORY and not system.has_memory_files()
        self.size = 0

    @property
    def _file(self) -> BinaryIO:
        """The temporary file, made on first use from the bytes in memory."""
        if self._opened is None:
            self._opened = (
                system.memory_file(buffering=COPY)
                if self.folder == IN_MEMORY
                else system.unnamed_file(self.folder, buffering=COPY)
            )
            self._opened.write(self._few)
            self._few, self._clean = bytearray(), False
        return self._opened

    def append(self, data: bytes | bytearray | memoryview) -> int:
        """Append data, and return its offset."""
        at = self.size
        self.size += len(data)
        if self._opened is None and (self.size <= SMALL or self._stays):
            self._few += data
            return at
        try:
            self._file.write(data)
        except OSError as error:
            raise self._named(error) from None
        self._clean = False
        return at

    def put(self, at: int, data: bytes | memoryview) -> None:
        """Write data at an offset, in a spool without append()."""
        if self._stays:
            self._few.extend(bytes(max(at + len(data) - len(self._few), 0)))
            self._few[at : at + len(data)] = data
            self.size = len(self._few)
            return
        self._flush()
        try:
            system.write_at(self._file.fileno(), data, at)
        except OSError as error:
            raise self._named(error) from None
        self.size = max(self.size, at + len(data))

    def read(self, at: int, size: int) -> bytes:
        """Read bytes at an offset."""
        if self._opened is None:
            return bytes(self._few[at : at + size])
        self._flush()
        return system.read_at(self._file.fileno(), size, at) if size else b""

    def blocks(self) -> Iterator[bytes]:
        """Yield the whole content in blocks."""
        for first in range(0, self.size, COPY):
            yield self.read(first, min(COPY, self.size - first))

    def matrix(self, dtype: np.dtype, width: int) -> np.ndarray:
        """Map the content as rows."""
        return self.mapped().view(dtype).reshape(-1, width)

    def mapped(self) -> np.ndarray:
        """Return the content as bytes, mapped if it is large."""
        if self._opened is None:
            return np.frombuffer(bytes(self._few), np.uint8)
        self._flush()
        return np.memmap(self._file, mode="r") if self.size else np.empty(0, np.uint8)

    def _flush(self) -> None:
        file = self._file
        if not self._clean:
            try:
                file.flush()
            except OSError as error:
                raise self._named(error) from None
            self._clean = True

    def _named(self, error: OSError) -> OSError:
        """Return the error with the folder of the unnamed file."""
        return OSError(error.errno, f"{error.strerror} (temporary file)", self.folder)

    def close(self) -> None:
        if self._opened is not None:
            with contextlib.suppress(OSError):  # unwritten data are no longer needed
                self._opened.close()


class Pile:
    """Bytes that are appended, then read: in memory while they are few, else in a spool."""

    def __init__(self, folder: str) -> None:
        self.folder, self._few = folder, bytearray()
        self._spool: Spool | None = None

    def append(self, data: bytes) -> None:
        """Append data."""
        if self._spool is not None:
            self._spool.append(data)
            return
        self._few += data
        if len(self._few) > SMALL:
            self._spool = Spool(self.folder)
            self._spool.append(self._few)
            self._few = bytearray()

    def blocks(self) -> Iterator[bytes | bytearray]:
        """Yield the whole content in blocks."""
        return iter([self._few]) if self._spool is None else self._spool.blocks()

    def view(self) -> bytes | np.ndarray:
        """Return the whole content, mapped if it is large."""
        return bytes(self._few) if self._spool is None else self._spool.mapped()

    def close(self) -> None:
        if self._spool is not None:
            self._spool.close()
