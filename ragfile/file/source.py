"""Where the bytes of a file come from: a path, a URL, or another format that is translated when it is opened.

A source opens its bytes, identifies them, and detects changes. A snapshot (file/snapshot.py)
reads one opening of a source. Sources can be pickled; the bytes that they open cannot.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ragfile import _core
from ragfile.ground.encryption_keys import Unlocker, current_key
from ragfile.ground.missing_files import explained
from ragfile.ground.urls import local_path, shown

if TYPE_CHECKING:
    from ragfile.ground.encryption_keys import KeyChoice
    from ragfile.net.fetcher import Fetcher
    from ragfile.types import StrPath


class OpenBytes(NamedTuple):
    """The bytes of a source as they were when it was opened."""

    map: _core.Map | _core.Remote | _core.Decrypted | memoryview
    identity: tuple[object, ...]
    size: int
    fetcher: Fetcher | None = None


class ByteSource(Protocol):
    """Where the bytes of a file come from."""

    @property
    def path(self) -> str:
        """The path or URL, as errors show it."""
        ...

    @property
    def format(self) -> str:
        """The format, as `info` names it."""
        ...

    @property
    def is_watched(self) -> bool:
        """Whether bytes that are open can change."""
        ...

    def open(self) -> OpenBytes:
        """Open the newest bytes."""
        ...

    def identity(self, opened: OpenBytes) -> tuple[object, ...]:
        """Return the identity of the newest bytes, to compare with that of open ones."""
        ...

    def is_same_file(self, opened: OpenBytes, other: OpenBytes) -> bool:
        """Whether two openings read one file, so that bytes of the first can still be read."""
        ...

    def stat(self) -> os.stat_result | None:
        """Return the file's status, or None where bytes that are open cannot change."""
        ...


class FileSource:
    """A file on this machine. After `begin`, the next opening takes the same map.

    It keeps the key that was given when it was made: an encrypted file is opened again with it.
    """

    __slots__ = ("_begun", "_key", "path")
    format, is_watched = "1.0", True

    def __init__(self, path: StrPath) -> None:
        self.path = local_path(os.fspath(path))
        self._begun: OpenBytes | None = None
        self._key: KeyChoice = current_key()

    def begin(self) -> OpenBytes:
        """Open the file for a look at its first bytes."""
        self._begun = self.open()
        return self._begun

    def open(self) -> OpenBytes:
        begun, self._begun = self._begun, None
        if begun is not None:
            return begun
        with explained(self.path):
            identity = file_identity(self.path)
            found = opened_map(self.path, self._key)
        return OpenBytes(found, identity, len(found))

    def identity(self, opened: OpenBytes | None = None) -> tuple[object, ...]:
        return file_identity(self.path)

    def is_same_file(self, opened: OpenBytes, other: OpenBytes) -> bool:
        return opened.identity[:2] == other.identity[:2]

    def stat(self) -> os.stat_result | None:
        try:
            return os.stat(self.path)
        except OSError:  # deleted, and still mapped
            return None


class RemoteSource:
    """A file behind a URL, of which only the bytes that are read are fetched.

    `begun` is a map that the caller has fetched the first bytes of; the first opening takes it.
    """

    __slots__ = ("_begun", "_key", "cache", "path", "redirects", "url")
    format, is_watched = "1.0", False

    def __init__(
        self, url: str, cache: StrPath | None = None, redirects: bool = False,
        begun: _core.Remote | _core.Decrypted | None = None, key: KeyChoice = None,
    ) -> None:  # fmt: skip
        self.url, self.cache, self.redirects = url, cache, redirects
        self._key: KeyChoice = current_key() if key is None else key
        self.path, self._begun = shown(url), begun

    def open(self) -> OpenBytes:
        from ragfile.net.fetcher import mapped  # only where a path is a URL

        begun, self._begun = self._begun, None
        found = begun
        if found is None:
            found = decrypted(mapped(self.url, self.cache, self.redirects), self._key)
        return OpenBytes(found, found.fetcher.identity, len(found), found.fetcher)

    def identity(self, opened: OpenBytes) -> tuple[object, ...]:
        assert opened.fetcher is not None
        identity: tuple[object, ...] = opened.fetcher.current_identity()
        return identity

    def is_same_file(self, opened: OpenBytes, other: OpenBytes) -> bool:
        # The server has replaced the object: bytes of the first can no longer be fetched.
        return False

    def stat(self) -> None:
        """Return None: the fetcher checks all bytes that it fetches."""
        return

    def __reduce__(self) -> tuple[object, ...]:
        return RemoteSource, (self.url, self.cache, self.redirects, None, self._key)


def opened_map(path: str, key: KeyChoice = None) -> _core.Map | _core.Decrypted:
    """Map a file; an encrypted one is decrypted as it is read."""
    found = _core.Map(path, opens=True)
    return _core.Decrypted(found, Unlocker(path, key)) if found.is_encrypted else found


def decrypted(remote: _core.Remote, key: KeyChoice = None) -> _core.Remote | _core.Decrypted:
    """Return the plain bytes of a file behind a URL."""
    if not _core.is_encrypted(remote.read(0, 8)):
        return remote
    return _core.Decrypted(remote, Unlocker(remote.path, key))


def file_identity(path: str) -> tuple[object, ...]:
    """Return a value that changes when the file is replaced or written to."""
    return *_core.file_identity(path), os.stat(path).st_mtime_ns
