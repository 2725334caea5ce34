"""Copies of folders and of other formats as RAGFiles, kept so that the next process need not make them again.

They are in one folder, by default `copies` in the user's cache folder, readable by the user alone:

    NAME.ragfile        a copy; NAME is a hash of its origin and of all that determines its content
    NAME.json           its note: the origin, and files of it that gave no document

A copy is complete or absent: it is written under another name and renamed. The time of the note is that
of the last use. The least recently used copies are deleted until the folder is within its limit, and so
are copies of origins that no longer exist. Everything in the folder can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from ragfile import __version__, _core
from ragfile.errors import LockedError
from ragfile.ground import system
from ragfile.ground.atomic_replace import replacing
from ragfile.ground.cache_folder import default_folder
from ragfile.ground.json_values import is_object
from ragfile.ground.lock_patience import seconds_to_wait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ragfile.types import StrPath

VARIABLE = "RAGFILE_CACHE_BYTES"
LIMIT = 2 << 30  # bytes of all copies
FOLDER = "copies"
SUFFIX, NOTE = ".ragfile", ".json"
ABANDONED = 86_400.0  # seconds after which a file without a note is that of a dead writer
PAUSE = 0.05  # seconds between two looks at a copy that another process makes


class KeptCopy(NamedTuple):
    """A copy in the cache: its origin, its size in bytes, and its last use in s since 1970."""

    path: str
    origin: str
    size: int
    used: float


class CopyCache:
    """The folder of copies.

    Args:
        folder: The cache folder. Defaults to `RAGFILE_CACHE`, else the user's cache folder.
        limit: The most bytes of all copies. Defaults to `RAGFILE_CACHE_BYTES`, else 2 GiB.
    """

    def __init__(self, folder: StrPath | None = None, limit: int | None = None) -> None:
        self.folder = Path(folder if folder is not None else default_folder()) / FOLDER
        self.limit = byte_limit() if limit is None else limit

    def path(self, origin: str, *settings: object, content: str = "") -> str:
        """Return the path of a copy, which need not exist.

        Args:
            origin: The absolute path or the URL of the original.
            settings: Everything else that determines the copy.
            content: The hash of the origin's bytes, where that decides whether a copy is current.
        """
        key = "\0".join(map(str, (__version__, origin, *settings)))
        name = xxhash.xxh3_128_hexdigest(key.encode("utf-8", "surrogateescape"))
        return str(self.folder / f"{name}{f'-{content}' if content else ''}{SUFFIX}")

    def is_usable(self) -> bool:
        """Make the folder; return whether copies may be kept there."""
        if self.limit <= 0:
            return False
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
        except OSError:
            return False
        return system.can_write_to(self.folder)

    def opened(self, path: str, origin: str, make: Callable[[str], object]) -> _core.Map:
        """Map a copy whose name has the hash of its content; make it if it is missing."""
        patience = LockPatience()
        while True:
            try:
                found = _core.Map(path)
                break
            except FileNotFoundError:
                with patience:
                    make(path)
        if not Path(path).with_suffix(NOTE).exists():
            place = os.path.basename(path).partition("-")[0] + "-"
            for other in self._files():
                if other.name.startswith(place) and other.stem != Path(path).stem:
                    _remove(other)
        self.use(path, origin)
        return found

    def use(self, path: str, origin: str, settled: dict[str, str] | None = None) -> None:
        """Note the use of a copy, and delete others until the folder is within its limit.

        A note that cannot be written costs the knowledge of this use.
        """
        note = Path(path).with_suffix(NOTE)
        with contextlib.suppress(OSError):
            if settled is None and note.exists():
                return system.touch(note)
            content = {"origin": origin, "settled": settled or {}}
            with replacing(note) as file:
                file.write(json.dumps(content).encode("ascii"))
        self._shrink(path)
        return None

    def settled(self, path: str) -> dict[str, str]:
        """Return the checksums of sources that gave no document when they were last read, by id."""
        found = _note(Path(path)).get("settled")
        return dict(found) if is_object(found) else {}

    def copies(self) -> list[KeptCopy]:
        """Return the copies, the last used one first."""
        found: list[KeptCopy] = []
        for path in self._files():
            if path.suffix == SUFFIX:
                with contextlib.suppress(OSError):  # deleted by another process
                    status = path.stat()
                    note = path.with_suffix(NOTE)
                    used = note.stat().st_mtime if note.exists() else status.st_mtime
                    origin = str(_note(path).get("origin", ""))
                    found.append(KeptCopy(str(path), origin, status.st_size, used))
        return sorted(found, key=lambda copy: (-copy.used, copy.path))

    def clear(self, origins: Iterable[str] | None = None) -> list[KeptCopy]:
        """Delete the copies of some origins, or all; return those that were deleted."""
        chosen = None if origins is None else set(origins)
        deleted = [copy for copy in self.copies() if chosen is None or copy.origin in chosen]
        for copy in deleted:
            _forget(Path(copy.path))
        return deleted

    def forget(self, path: str) -> None:
        """Delete a copy."""
        _forget(Path(path))

    def _files(self) -> list[Path]:
        try:
            return sorted(self.folder.iterdir())
        except OSError:
            return []

    def _shrink(self, newest: str) -> None:
        """Delete copies until those that are left are within the limit; `newest` always stays."""
        total = 0
        for copy in self.copies():
            total += copy.size
            is_over = total > self.limit or _is_gone(copy.origin)
            if is_over and copy.path != newest:
                _forget(Path(copy.path))
                total -= copy.size
        now = time.time()
        for path in self._files():
            with contextlib.suppress(OSError):
                has_note = path.with_suffix(NOTE).exists() and path.suffix in (SUFFIX, NOTE)
                if not has_note and now - path.lstat().st_mtime > ABANDONED:
                    _remove(path)


def byte_limit() -> int:
    """Return the bytes of RAGFILE_CACHE_BYTES, or the default."""
    given = os.environ.get(VARIABLE)
    if given is None:
        return LIMIT
    if not given.isascii() or not given.isdigit():
        raise ValueError(f"{VARIABLE} is {given!r:.40}: give a number of bytes")
    return int(given)


class LockPatience(contextlib.AbstractContextManager[None]):
    """A block that ends quietly, after a pause, where another process writes the same file.

    Once the time that writers wait is over, its LockedError is raised.
    """

    def __init__(self) -> None:
        self._last = time.monotonic() + seconds_to_wait()

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, LockedError) or time.monotonic() >= self._last:
            return False
        time.sleep(PAUSE)
        return True


def _note(path: Path) -> dict[str, object]:
    """Return the note of a copy, {} without one."""
    try:
        found = json.loads(path.with_suffix(NOTE).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if is_object(found) else {}


def _forget(path: Path) -> None:
    """Delete a copy, then its note; another process may do the same."""
    _remove(path)
    _remove(path.with_suffix(NOTE))


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        system.remove(path)


def _is_gone(origin: str) -> bool:
    """Return whether a local origin no longer exists."""
    return os.path.isabs(origin) and not os.path.lexists(origin)
