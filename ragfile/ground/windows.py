"""The calls of the operating system on Windows: those of system.py that differ there.

Each function keeps the promise of its namesake in system.py, which imports it from here. Windows has no
forks, no unnamed pipes to wait for, and no limit of address space for a process; the functions for them
do nothing, or are never called.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if sys.platform != "win32":
    raise ModuleNotFoundError("ragfile.ground.windows is for Windows", name="msvcrt")

if TYPE_CHECKING:
    import mmap
    from collections.abc import Callable
    from typing import BinaryIO

    StrPath = str | os.PathLike[str]

_BYTES = os.O_BINARY | os.O_NOINHERIT
_position = threading.Lock()  # descriptors have one position, which every read moves


def read_at(descriptor: int, size: int, at: int) -> bytes:
    with _position:
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, at, os.SEEK_SET)
        try:
            return os.read(descriptor, size)
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)


def write_at(descriptor: int, data: bytes | bytearray | memoryview, at: int) -> None:
    rest = memoryview(data).cast("B")
    with _position:
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, at, os.SEEK_SET)
        try:
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)


def open_to_read(path: StrPath) -> int:
    return os.open(path, os.O_RDONLY | _BYTES)


def create_private(path: StrPath) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BYTES, 0o600)


def open_private(path: StrPath) -> int:
    if os.path.islink(path):
        raise OSError(f"{path}: symbolic links are not opened")
    return os.open(path, os.O_RDWR | os.O_CREAT | _BYTES, 0o600)


def replace(source: StrPath, target: StrPath) -> None:
    """As in system.py. A target that is mapped steps aside, and goes when nobody maps it."""
    try:
        os.replace(source, target)
    except PermissionError:
        if not os.path.exists(target):  # then the source is open
            raise
        aside = f"{os.fspath(target)}.{os.urandom(4).hex()}.old"
        os.rename(target, aside)
        try:
            os.rename(source, target)
        except BaseException:
            os.rename(aside, target)
            raise
        with suppress(OSError):
            os.unlink(aside)


def claim(name: StrPath, holder: str) -> bool:
    try:
        with open(name, "x", encoding="utf-8") as file:  # links need a privilege here
            file.write(holder)
    except FileExistsError:
        return False
    return True


def holder_of(name: StrPath) -> str | None:
    try:
        with open(name, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


def sync_folder(folder: StrPath) -> None:
    """Do nothing: names are durable when the calls that change them return."""


def is_mounted(path: StrPath) -> bool:
    return os.path.ismount(path)


def large_memory(size: int) -> mmap.mmap:
    import mmap

    return mmap.mmap(-1, size)


def most_open_files() -> int:
    return 8192  # of the C library; the system's own limit is far above


def address_space() -> int:
    return 0


def limit_address_space(size: int) -> None:
    """Do nothing: only a job of processes has such a limit."""


def peak_memory() -> int:
    import ctypes
    from ctypes import wintypes

    class Counters(ctypes.Structure):
        _fields_ = [
            ("size", wintypes.DWORD),
            ("faults", wintypes.DWORD),
            *((name, ctypes.c_size_t) for name in ("peak", "now", "a", "b", "c", "d", "e", "f")),
        ]

    counters = Counters(ctypes.sizeof(Counters))
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.GetCurrentProcess.restype = wintypes.HANDLE
    kernel.K32GetProcessMemoryInfo.argtypes = (wintypes.HANDLE, ctypes.c_void_p, wintypes.DWORD)
    process = kernel.GetCurrentProcess()
    kernel.K32GetProcessMemoryInfo(process, ctypes.byref(counters), counters.size)
    return counters.peak


def forbid_core_dumps() -> None:
    """Do nothing: a crash writes none unless the system is set up to."""


def signal_of(code: int) -> str | None:
    return None


def on_stop(call: Callable[[], object] | None) -> None:
    import signal

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGBREAK):
        signal.signal(number, signal.SIG_DFL if call is None else lambda _number, _frame: call())


def take_stdout(buffering: int = -1) -> BinaryIO:
    import msvcrt

    copy = os.dup(1)
    msvcrt.setmode(copy, os.O_BINARY)  # a line of a protocol ends with LF alone
    out = os.fdopen(copy, "wb", buffering=buffering)
    os.dup2(2, 1)
    return out
