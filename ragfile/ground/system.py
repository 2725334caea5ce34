"""All that the package asks of the operating system about files, memory, processes and signals.

Each function states its promise; how a system keeps it is known here alone, and in csrc/system for the
core. This is the implementation for POSIX; at the end, the functions that differ on Windows replace it. Calls with the same meaning on every system are made where
they are needed: os.path, os.stat, os.listdir, os.makedirs, open().
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import mmap
    import tempfile
    from collections.abc import Callable
    from typing import BinaryIO, NoReturn

    Data = bytes | bytearray | memoryview
    StrPath = str | os.PathLike[str]

PIECE = 1 << 20  # bytes of one write


# ---------------------------------------------------------------------------------------- descriptors


def read_at(descriptor: int, size: int, at: int) -> bytes:
    """Read up to `size` bytes at an offset; threads that share the descriptor do not disturb this."""
    return os.pread(descriptor, size, at)


def write_at(descriptor: int, data: Data, at: int) -> None:
    """Write all bytes at an offset; threads that share the descriptor do not disturb this."""
    rest = memoryview(data).cast("B")
    while rest:
        done = os.pwrite(descriptor, rest, at)
        rest, at = rest[done:], at + done


def write(descriptor: int, data: Data) -> None:
    """Write all bytes at the descriptor's position."""
    rest = memoryview(data).cast("B")
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def close(descriptor: int) -> None:
    """Close a descriptor."""
    os.close(descriptor)


def open_to_read(path: StrPath) -> int:
    """Open a file to read at offsets, and to ask for its status even after its name has moved on."""
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def create_private(path: StrPath) -> int:
    """Create a file that only its owner can read, and open it to write bytes.

    FileExistsError is raised if the name exists, even as a link. Child processes do not inherit the
    descriptor.
    """
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def open_private(path: StrPath) -> int:
    """Open a file to read and write bytes; create it if missing, readable only by its owner.

    A symbolic link is refused. Child processes do not inherit the descriptor.
    """
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


# ---------------------------------------------------------------------------------------------- names


def replace(source: StrPath, target: StrPath) -> None:
    """Give a file another's name at once. Readers keep the old file."""
    os.replace(source, target)


def link_new(source: StrPath, name: StrPath) -> bool:
    """Give a complete file a second name at once; return False if the name exists."""
    try:
        os.link(source, name)
    except FileExistsError:
        return False
    return True


def claim(name: StrPath, holder: str) -> bool:
    """Record a holder under a name at once; return False if the name exists."""
    try:
        os.symlink(holder, name)  # never followed
    except FileExistsError:
        return False
    return True


def holder_of(name: StrPath) -> str | None:
    """Return the holder that claim() recorded; None without one."""
    try:
        return os.readlink(name)
    except OSError:
        return None


def touch(path: StrPath) -> None:
    """Set a file's time to now."""
    os.utime(path)


def remove(path: StrPath) -> None:
    """Remove a file's name. Readers keep the file."""
    os.unlink(path)


def remove_empty(folder: StrPath) -> None:
    """Remove a folder; OSError is raised if it is not empty."""
    os.rmdir(folder)


def remove_folder(folder: StrPath) -> None:
    """Remove a folder with its content, as far as possible."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def rename_folder(source: StrPath, target: StrPath) -> None:
    """Give a folder a name that does not exist."""
    os.rename(source, target)


def sync_file(file: BinaryIO) -> None:
    """Return once the bytes of a file are on the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: StrPath) -> None:
    """Return once the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# -------------------------------------------------------------------------------------- temporary files


def can_write_to(folder: StrPath) -> bool:
    """Return whether this process may make files in a folder."""
    return os.access(folder, os.W_OK)


def is_mounted(path: StrPath) -> bool:
    """Return whether a file is mounted by itself: such a file can be written, but not replaced."""
    if os.path.ismount(path):
        return True
    try:
        with open("/proc/self/mountinfo", "rb") as table:
            mounts = [line.split()[4] for line in table]
    except OSError:  # not Linux
        return False
    return os.fsencode(os.path.abspath(path)).replace(b" ", rb"\040") in mounts


def unused_path(folder: StrPath, prefix: str, suffix: str) -> str:
    """Return a path in a folder that no file has, with 64 random bits in its name.

    open(path, "xb") then creates a file with the rights that new files have.
    """
    return os.path.join(folder, f"{prefix}{os.urandom(8).hex()}{suffix}")


def unnamed_file(folder: StrPath | None = None, buffering: int = -1) -> BinaryIO:
    """Open a temporary file without a name: it is gone when it is closed, however the process ends."""
    import tempfile

    file = tempfile.TemporaryFile(dir=folder, prefix="ragfile-", buffering=buffering)  # noqa: SIM115
    return cast("BinaryIO", file)


def has_memory_files() -> bool:
    """Return whether this system has memory_file()."""
    return hasattr(os, "memfd_create")


def memory_file(buffering: int = -1) -> BinaryIO:
    """Open an unnamed file in memory, of which no disk has a byte but for swapped pages."""
    return os.fdopen(os.memfd_create("ragfile"), "w+b", buffering=buffering)


def sparse_file(size: int) -> BinaryIO:
    """Open an unbuffered, unnamed file of zeros, which take no room until they are overwritten."""
    file = unnamed_file(buffering=0)
    try:
        file.truncate(size)
    except BaseException:
        file.close()
        raise
    return file


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a new folder, removed with its content by cleanup() or at the end of `with`.

    Windows keeps a file in it that is still mapped, which is no error.
    """
    import tempfile

    is_windows = sys.platform == "win32"
    return tempfile.TemporaryDirectory(prefix="ragfile-", ignore_cleanup_errors=is_windows)


def temporary_root() -> str:
    """Return the folder of temporary files."""
    import tempfile

    return tempfile.gettempdir()


# --------------------------------------------------------------------------------------------- memory


def mapped(path: StrPath) -> mmap.mmap:
    """Map a file read-only; the map keeps its bytes if the file is replaced."""
    import mmap

    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def shared_memory(size: int) -> mmap.mmap:
    """Return zeroed memory that forked processes share."""
    import mmap

    return mmap.mmap(-1, size)


def large_memory(size: int) -> mmap.mmap:
    """Return zeroed memory in huge pages if the system has some; a forked child gets a copy."""
    import mmap

    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANON)
    with suppress(OSError):  # the system has none to give
        if hasattr(mmap, "MADV_HUGEPAGE"):
            memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


# --------------------------------------------------------------------------------- processes and limits


def cpu_count() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # not Linux


def most_open_files() -> int:
    """Return how many descriptors this process may have."""
    import resource

    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def address_space() -> int:
    """Return the bytes of addresses that this process has; 0 where it is unknown."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def limit_address_space(size: int) -> None:
    """Refuse memory beyond a size, where the system does that; a higher limit is never set."""
    if sys.platform == "linux":
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        soft = size if most == resource.RLIM_INFINITY else min(size, most)
        resource.setrlimit(resource.RLIMIT_AS, (soft, most))


def peak_memory() -> int:
    """Return the most bytes of memory that this process has used."""
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10


def forbid_core_dumps() -> None:
    """Write no core file when this process crashes."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def before_fork(call: Callable[[], object]) -> None:
    """Call a function before each fork from now on, in the process that forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=call)


def after_fork(call: Callable[[], object]) -> None:
    """Call a function in every child that is forked from now on, before anything else runs there."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)


def fork() -> int:
    """Continue in two processes that share no later change; return 0 in the child, else its pid."""
    if not hasattr(os, "fork"):
        raise OSError("this system cannot fork processes: use one worker")
    return os.fork()


def exit_now(code: int) -> NoReturn:
    """End this process at once, without cleanup: a forked child's is its parent's."""
    os._exit(code)


def has_ended(pid: int) -> bool:
    """Return whether a child has ended; its pid is free from then on."""
    return os.waitpid(pid, os.WNOHANG)[0] != 0


def await_end(pid: int) -> None:
    """Wait for the end of a child."""
    os.waitpid(pid, 0)


def parent() -> int:
    """Return the pid of the parent process; it changes when that ends."""
    return os.getppid()


def signal_of(code: int) -> str | None:
    """Return the name of the signal that ended a process with this exit code, or None."""
    import signal

    return next((number.name for number in signal.Signals if number == -code), None)


def terminate(pid: int) -> None:
    """Ask a process to end."""
    import signal

    os.kill(pid, signal.SIGTERM)


def on_stop(call: Callable[[], object] | None) -> None:
    """Call a function when this process is asked to end or interrupted; None: end as usual."""
    import signal

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL if call is None else lambda _number, _frame: call())


def ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent process."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Line:
    """A line to forked processes: one end sends bytes, the other sees them, and the end of its senders."""

    def __init__(self) -> None:
        self._out, self._in = os.pipe()

    def ring(self) -> None:
        """Send a byte."""
        os.write(self._in, b".")

    def is_rung(self, seconds: float) -> bool:
        """Wait for a byte, or for so long; return whether there is one."""
        import select

        return bool(select.select([self._out], [], [], seconds)[0])

    def leave(self) -> None:
        """Close the sending end of this process."""
        os.close(self._in)

    def await_end(self) -> None:
        """Wait until a byte arrives, or no process can send one any more."""
        os.read(self._out, 1)


# --------------------------------------------------------------------------------------------- streams


def take_stdout(buffering: int = -1) -> BinaryIO:
    """Return stdout as a stream of bytes. All that is printed from now on is redirected to stderr."""
    out = os.fdopen(os.dup(1), "wb", buffering=buffering)
    os.dup2(2, 1)
    return out


def discard(descriptor: int) -> None:
    """Discard all that is written to a descriptor from now on."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)


def write_utf8() -> None:
    """Make stdout and stderr UTF-8 where they are redirected, whatever the locale is.

    A terminal keeps its encoding. Characters that it lacks, and bytes of file names that are not
    UTF-8, are printed as escapes. PYTHONIOENCODING has precedence.
    """
    if os.environ.get("PYTHONIOENCODING"):
        return
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


if sys.platform == "win32":
    from ragfile.ground.windows import (  # noqa: F401 - in place of those above
        address_space,
        claim,
        create_private,
        forbid_core_dumps,
        holder_of,
        is_mounted,
        large_memory,
        limit_address_space,
        most_open_files,
        on_stop,
        open_private,
        open_to_read,
        peak_memory,
        read_at,
        replace,
        signal_of,
        sync_folder,
        take_stdout,
        write_at,
    )


def terminal_columns() -> int:
    """Return the width of the terminal, 80 without one, as shutil does; importing that takes 2 ms."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80
