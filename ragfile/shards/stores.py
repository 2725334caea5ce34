"""Where a dataset lies: a folder, or a prefix of a bucket. Objects have names and never change, and the last step
of a commit is an object that is created only if nobody was faster.

    put_new     creates an object; False where there is one with that name
    put         the same of a content-named object: one that is there is as good as the one at hand
    names       (name, bytes, seconds since 1970 when it was written) of the objects under a prefix
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ragfile.ground.urls import is_remote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile.types import StrPath


class Listed(NamedTuple):
    """An object as a listing shows it."""

    name: str
    bytes: int
    written: float


class Store(Protocol):
    """What a dataset needs of the store that it lies in."""

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
    """The place that a path or an s3:// URL names."""
    if is_remote(root):
        from ragfile.shards.object_store import Bucket

        return Bucket(os.fspath(root))
    return Folder(root)


class Folder:
    """A folder of a file system on which a hard link is made once."""

    def __init__(self, root: StrPath) -> None:
        self.root = os.path.abspath(os.fspath(root))

    def url(self, name: str) -> str:
        return os.path.join(self.root, *name.split("/"))

    def read(self, name: str) -> bytes:
        with open(self.url(name), "rb") as file:
            return file.read()

    def put_new(self, name: str, data: bytes) -> bool:
        """The name appears with all of the bytes, or it was there before."""
        with self._temporary(name) as (file, temporary):
            file.write(data)
            _sync(file)
            try:
                os.link(temporary, self.url(name))
            except FileExistsError:
                return False
        _sync_folder(os.path.dirname(self.url(name)))
        return True

    def put(self, name: str, path: str) -> None:
        """A file's content under its name. One that is there is made young, so that vacuum spares it."""
        target = self.url(name)
        if self.size(name) == os.path.getsize(path):
            with contextlib.suppress(FileNotFoundError):
                os.utime(target)
                return
        with self._temporary(name) as (file, temporary):
            with open(path, "rb") as source:
                shutil.copyfileobj(source, file, 1 << 20)
            _sync(file)
            os.replace(temporary, target)
        _sync_folder(os.path.dirname(target))

    def fetch(self, name: str, path: str) -> None:
        """A copy of an object that may be changed."""
        shutil.copyfile(self.url(name), path)

    def size(self, name: str) -> int | None:
        """The bytes of an object, None where it is not there."""
        try:
            return os.path.getsize(self.url(name))
        except FileNotFoundError:
            return None

    def newest(self, prefix: str) -> str | None:
        """The first name of a prefix that is a folder."""
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
            os.unlink(self.url(name))

    def drop_folder(self, prefix: str) -> None:
        """Removes a folder if nothing is in it."""
        with contextlib.suppress(OSError):
            os.rmdir(self.url(prefix.rstrip("/")))

    def now(self) -> float:
        """The time by the clock that stamps files, which on a network is not this machine's."""
        with contextlib.suppress(OSError), tempfile.NamedTemporaryFile(dir=self.root) as file:
            return os.fstat(file.fileno()).st_mtime
        return time.time()

    @contextlib.contextmanager
    def _temporary(self, name):
        folder = os.path.dirname(self.url(name))
        os.makedirs(folder, exist_ok=True)
        handle, path = tempfile.mkstemp(prefix=".", suffix=".part", dir=folder)
        try:
            with open(handle, "wb") as file:
                os.fchmod(file.fileno(), 0o666 & ~_umask())
                yield file, path
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync(file):
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder):
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
