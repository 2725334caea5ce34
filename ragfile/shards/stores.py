"""Stores of datasets: a folder, or a prefix of a bucket.

Objects have names and never change. The last step of a commit creates an object, and fails if another writer has created it.

    put_new     creates an object; False if there is one with that name
    put         creates a content-named object, or keeps the equal one that exists
    names       lists (name, bytes, seconds since 1970 of the last write) of the objects under a prefix
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ragfile.ground import system
from ragfile.ground.urls import is_remote, local_path

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import BinaryIO

    from ragfile.types import StrPath


class Listed(NamedTuple):
    """An object in a listing; `written` is in seconds since 1970."""

    name: str
    bytes: int
    written: float


class Temporary(NamedTuple):
    """An open temporary file."""

    file: BinaryIO
    path: str


class Store(Protocol):
    """Holds the objects of a dataset."""

    root: str

    def url(self, name: str) -> str: ...
    def read(self, name: str) -> bytes: ...
    def put_new(self, name: str, data: bytes) -> bool: ...
    def put(self, name: str, path: str) -> None: ...
    def fetch(self, name: str, path: str) -> None: ...
    def size(self, name: str) -> int | None: ...
    def newest(self, prefix: str) -> str | None: ...
    def names(self, prefix: str = "") -> Iterator[Listed]: ...
    def delete(self, name: str) -> None: ...
    def drop_folder(self, prefix: str) -> None: ...
    def now(self) -> float: ...


def place(root: StrPath) -> Store:
    """Return the store at a path or a bucket's URL."""
    if is_remote(root):
        from ragfile.shards.object_store import Bucket

        return Bucket(os.fspath(root))
    return FolderStore(root)


class FolderStore:
    """A folder, on a file system with hard links."""

    def __init__(self, root: StrPath) -> None:
        given: str = os.fspath(root)
        self.root = os.path.abspath(local_path(given))

    def url(self, name: str) -> str:
        return os.path.join(self.root, *name.split("/"))

    def read(self, name: str) -> bytes:
        with open(self.url(name), "rb") as file:
            return file.read()

    def put_new(self, name: str, data: bytes) -> bool:
        """Create an object at once with all of its bytes; False if the name exists."""
        with self._temporary(name) as (file, temporary):
            file.write(data)
            system.sync_file(file)
            if not system.link_new(temporary, self.url(name)):
                return False
        system.sync_folder(os.path.dirname(self.url(name)))
        return True

    def put(self, name: str, path: str) -> None:
        """Store a file's content under its name. An existing one gets a new time, so that vacuum keeps it."""
        target = self.url(name)
        if self.size(name) == os.path.getsize(path):
            with contextlib.suppress(FileNotFoundError):
                system.touch(target)
                return
        with self._temporary(name) as (file, temporary):
            with open(path, "rb") as source:
                shutil.copyfileobj(source, file, 1 << 20)
            system.sync_file(file)
            file.close()  # Windows renames no open file
            system.replace(temporary, target)
        system.sync_folder(os.path.dirname(target))

    def fetch(self, name: str, path: str) -> None:
        """Copy an object to a path."""
        shutil.copyfile(self.url(name), path)

    def size(self, name: str) -> int | None:
        """Return the bytes of an object, None for a missing one."""
        try:
            return os.path.getsize(self.url(name))
        except FileNotFoundError:
            return None

    def newest(self, prefix: str) -> str | None:
        """Return the first name under a prefix that is a folder."""
        folder = self.url(prefix.rstrip("/"))
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            with os.scandir(folder) as found:
                first = min((e.name for e in found if not e.name.startswith(".")), default=None)
            return None if first is None else prefix + first
        return None

    def names(self, prefix: str = "") -> Iterator[Listed]:
        for folder, _, names in os.walk(self.url(prefix.rstrip("/")) if prefix else self.root):
            for name in names:
                path = os.path.join(folder, name)
                with contextlib.suppress(FileNotFoundError):
                    status = os.stat(path)
                    relative = os.path.relpath(path, self.root).replace(os.sep, "/")
                    yield Listed(relative, status.st_size, status.st_mtime)

    def delete(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            system.remove(self.url(name))

    def drop_folder(self, prefix: str) -> None:
        """Remove a folder if it is empty."""
        with contextlib.suppress(OSError):
            system.remove_empty(self.url(prefix.rstrip("/")))

    def now(self) -> float:
        """Return the time by the clock of the file system, which may be another machine's."""
        with contextlib.suppress(OSError), system.unnamed_file(self.root) as file:
            return os.fstat(file.fileno()).st_mtime
        return time.time()

    @contextlib.contextmanager
    def _temporary(self, name: str) -> Generator[Temporary, None, None]:
        """Open a temporary file beside an object."""
        folder = os.path.dirname(self.url(name))
        os.makedirs(folder, exist_ok=True)
        path = system.unused_path(folder, ".", ".part")
        try:
            with open(path, "xb") as file:
                yield Temporary(file, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                system.remove(path)
