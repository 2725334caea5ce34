"""Replacing a file: all of it or nothing, one writer at a time.

New content goes to a temporary file next to the target. That file is locked, has the target's
owner, group and mode before its first byte, is flushed to the disk and then takes the target's
name: a reader sees the whole old file or the whole new one. A symbolic link stays a link; the file
that it points to is replaced. If a writer is killed, the next one removes its temporary file. The
core does this (csrc/system/map.c), for RAGFiles and for everything else that is written.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Collection, Iterator

from ragfile._core import Replacement
from ragfile.ground.urls import refuse_remote

Write = Callable[[bytes], object]
HEAD = 64 << 10  # what spare() looks at


def spare(path: str | os.PathLike[str], is_ours: Callable[[bytes], bool], kind: str) -> None:
    """Refuses to replace a file of another kind: a mistyped name costs nobody a document.

    is_ours is asked about the first 64 KiB. An empty file, or one that is not a regular file,
    holds nothing to lose.
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


def spare_unless_ragfile(path: str | os.PathLike[str]) -> None:
    """Refuses to replace anything but a RAGFile."""
    spare(path, lambda head: head.startswith(b"RAGFILE"), "RAGFile")


def spare_folder(path: str | os.PathLike[str], names: Collection[str], kind: str) -> None:
    """Refuses to write files into a folder that holds anything, unless it holds those names."""
    held = set(os.listdir(path)) if os.path.isdir(path) else set()
    if held and not held.issuperset(names):
        what = f"exists and is not a {kind} folder: choose another path"
        raise FileExistsError(errno.EEXIST, what, os.fspath(path))


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Replacement]:
    """A file to write. It takes the place of `path` if the block succeeds, and vanishes if not.

    LockedError names the process that writes to `path` already.
    """
    refuse_remote(path)
    file = Replacement(path)
    try:
        yield file
        file.publish()
    finally:
        file.close()


class ReplaceLock:
    """Keeps every other writer of a path out while its content is loaded, changed and written."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        refuse_remote(path)
        self._path = path
        self._file: Replacement | None = Replacement(path)

    def write(self, render_to: Callable[[Write], object]) -> None:
        """Fills the file through render_to(write) and makes it the target, which ends the lock."""
        file, self._file = self._file or Replacement(self._path), None
        try:
            render_to(file.write)
            file.publish()
        finally:
            file.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


@contextlib.contextmanager
def lock(path: str | os.PathLike[str]) -> Iterator[ReplaceLock]:
    """The lock of a path, for save(…, held=…). LockedError names the process that holds it."""
    held = ReplaceLock(path)
    try:
        yield held
    finally:
        held.close()
