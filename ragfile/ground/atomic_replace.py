"""Replace files atomically, one writer at a time.

New content is written to a temporary file next to the target. That file is locked, gets the
target's owner, group and mode before its first byte, is flushed to disk and then renamed: readers
see the whole old file or the whole new one. A symbolic link is kept, and the file it points to is
replaced. The temporary file of a killed writer is removed by the next one. The core implements this
(`csrc/system/files.c`) for RAGFiles and for every other output.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Collection, Generator

from ragfile._core import Replacement
from ragfile.ground.urls import local_file

Write = Callable[[bytes], object]
HEAD = 64 << 10  # bytes that spare() reads
CHUNK = 1 << 24  # bytes that are written at once


def spare(path: str | os.PathLike[str], is_ours: Callable[[bytes], bool], kind: str) -> None:
    """Raise FileExistsError for a file of another kind, so that a typo does not overwrite it.

    is_ours receives the first 64 KiB. Empty files and special files may be replaced.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return
        with open(path, "rb") as file:
            head = file.read(HEAD)
    except FileNotFoundError:
        return
    if head and not is_ours(head):
        raise FileExistsError(
            errno.EEXIST,
            f"exists and is not a {kind}: delete it or choose another path",
            os.fspath(path),
        )


def spare_unless_ragfile(path: str | os.PathLike[str], is_encrypted: bool = False) -> None:
    """Raise FileExistsError if a path is a file that is not a RAGFile.

    Only an encrypted file (is_encrypted) replaces an encrypted one, or a forgotten key would go unnoticed.
    """
    if is_encrypted:
        spare(path, lambda head: head.startswith((b"RAGFILE", b"RAGCRYPT")), "RAGFile")
    else:
        spare(path, lambda head: head.startswith(b"RAGFILE"), "plain RAGFile")


def spare_folder(path: str | os.PathLike[str], names: Collection[str], kind: str) -> None:
    """Raise FileExistsError if a folder has files but not those that `names` lists."""
    held: set[str] = set(os.listdir(path)) if os.path.isdir(path) else set()
    if held and not held.issuperset(names):
        what = f"exists and is not a {kind} folder: choose another path"
        raise FileExistsError(errno.EEXIST, what, os.fspath(path))


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[Replacement]:
    """Yield a file to write, which replaces `path` if the block succeeds and is removed if not.

    LockedError is raised if another process writes to `path`, and names it.
    """
    path = local_file(path)
    file = Replacement(path)
    try:
        yield file
        file.publish()
    finally:
        file.close()


def replace_with(path: str | os.PathLike[str], data: memoryview, *, is_held: bool) -> None:
    """Replace a file by some bytes; set `is_held` if the caller holds its lock."""
    file = Replacement(path)
    try:
        for at in range(0, len(data), CHUNK):
            file.write(data[at : at + CHUNK])
        file.publish(is_held)
    finally:
        file.close()


class ReplaceLock:
    """Locks a path against other writers while its content is loaded, changed and written."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        path = local_file(path)
        self._path = path
        self._file: Replacement | None = Replacement(path)

    def write(self, render_to: Callable[[Write], object]) -> None:
        """Write the file through render_to(write) and replace the target, which releases the lock."""
        file, self._file = self._file or Replacement(self._path), None
        try:
            render_to(file.write)
            file.publish()
        finally:
            file.close()

    def close(self) -> None:
        """Release the lock without replacing the target."""
        if self._file is not None:
            self._file.close()


@contextlib.contextmanager
def lock(path: str | os.PathLike[str]) -> Generator[ReplaceLock]:
    """Lock a path, for save(…, held=…). LockedError names the process that holds the lock."""
    held = ReplaceLock(path)
    try:
        yield held
    finally:
        held.close()
