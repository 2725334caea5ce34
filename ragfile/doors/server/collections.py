"""The collections of a server by name: files, and the files in its folders.

A collection is opened on first use and refreshed by every request, so that commits by other
processes and replaced files are seen at once. A folder is read again when it changes: a new file
becomes a collection, and a deleted one is dropped.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, cast

from ragfile.doors.mcp.files import Files
from ragfile.doors.server.failures import AGAIN, HttpFailure
from ragfile.errors import ChangedError
from ragfile.folder import path_in, refuse_twin
from ragfile.ground import system
from ragfile.ground.urls import is_dataset, is_remote
from ragfile.write.new_layer import create_default, create_layer

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.layers.agreement import Layer

SUFFIXES = (".ragfile", ".ragmd")
REMOTE = 2.0  # seconds between refreshes of a file behind a URL
SETTLED = 2_000_000_000  # ns; modification times of folders are coarse


class Collections(Files):
    """The files of a server by name, with those of its folders."""

    def __init__(
        self, places: Iterable[str], *, over: Iterable[str] = (), **opening: object
    ) -> None:
        """Register files, URLs and folders; `Files` has the options."""
        places = list(places)
        self._refreshed: dict[str, float] = {}
        self._folders = {p: -1 for p in map(os.path.abspath, places) if _is_folder(p)}
        files = [p for p in places if not _is_folder(p)]
        if files or not self._folders:
            super().__init__(files, over=over, **opening)
        else:
            self._begin({}, opening, over)
        self._fixed: set[str] = set(self._paths.values())
        self._scan()

    @property
    def names(self) -> list[str]:
        """The names of all current collections."""
        self._scan()
        return list(self._paths)

    def known(self, name: str) -> str:
        """Return the name of a current collection; raise a failure 404 for any other."""
        if self._is_there(name):
            return name
        if name not in self.names:
            raise HttpFailure(404, f"no collection {name!r:.80}: see GET /v1/collections")
        return name

    def name(self, name: str | None) -> str:
        """Return the name of a current collection; None means the only one."""
        if name is None or name not in self._paths:
            self._scan()
        return super().name(name)

    @property
    def has_folder(self) -> bool:
        """Whether there is a folder for new files."""
        return bool(self._folders)

    def make(self, name: str, make: Callable[[str], object] | None = None) -> bool:
        """Make a file in the first folder; return False if there is a collection of its name."""
        if self._is_there(name) or name in self.names:
            return False
        if not self._folders:
            raise HttpFailure(404, f"no collection {name!r:.80}, and no folder to make it in")
        folder = next(iter(self._folders))
        path = path_in(folder, name)
        refuse_twin(path)
        is_made = (make or self._create)(path) is not False
        self._read_again(folder)
        return is_made

    def _read_again(self, folder: str) -> None:
        """Follow a change of a folder that was made here."""
        with self._lock:
            self._folders[folder] = -1
        self._scan()

    def _create(self, path: str) -> bool:
        """Make an empty file with the settings of the lowest layer, or the default ones."""
        if below := self.below:
            return create_layer(path, cast("Layer", below[0].rows))
        return create_default(path, self._opening.get("embedder"))

    def delete(self, name: str) -> None:
        """Delete the file of a collection, after other writers; only one in a folder can go."""
        path = self.path(self.known(name))
        folder = os.path.dirname(path)
        if path in self._fixed or folder not in self._folders or not path.endswith(SUFFIXES[0]):
            raise HttpFailure(409, f"{name} is no RAGFile in the server's folder: delete it there")
        with self.edit(path, **self.editing) as held:
            system.remove(path)
            held.discard()
        self.commits.release(path)
        self._read_again(folder)

    def _is_there(self, name: str) -> bool:
        path = self._paths.get(name)
        return path is not None and (is_remote(path) or os.path.exists(path))

    def _refresh(self, name: str, rf: KnowledgeBase) -> None:
        """Look for a newer commit; behind a URL, where that costs a request, every REMOTE seconds."""
        if any(map(is_remote, (self._paths[name], *self._over))):
            if time.monotonic() - self._refreshed.get(name, 0.0) < REMOTE:
                return
            self._refreshed[name] = time.monotonic()
        rf.refresh()

    def at_commit(self, name: str, generation: int = 0) -> KnowledgeBase:
        """Return a collection fixed at its newest commit, or at an older one."""
        if name not in self._paths:
            self.known(name)
        try:
            return self.open(name, generation).at_commit()
        except ChangedError:  # the file was replaced between opening and reading
            return self.open(name, generation).at_commit()
        except FileNotFoundError:
            self.known(name)
            reason = f"the file of the collection {name} is missing at the moment; retry later"
            raise HttpFailure(503, reason, AGAIN) from None

    @property
    def embedding_calls(self) -> int:
        """The number of calls to embedders for questions, by all open files."""
        with self._lock:
            return self._past_calls + sum(
                rf.counters["embedding_calls"] for rf in self._open.values()
            )

    def _scan(self) -> None:
        """Read the folders that have changed."""
        for folder, seen in list(self._folders.items()):
            try:
                now = os.stat(folder).st_mtime_ns
            except OSError:
                now = 0  # the folder was deleted, and so were its files
            if now != seen:
                is_settled = time.time_ns() - now > SETTLED  # the next change gets another time
                with self._lock:
                    self._folders[folder] = now if is_settled else -1
                    self._follow(folder)

    def _follow(self, folder: str) -> None:
        """Add the new files of a folder, and drop the deleted ones."""
        entries = sorted(os.scandir(folder), key=lambda e: e.name) if os.path.isdir(folder) else []
        paths = [
            e.path
            for e in entries
            if (e.name.endswith(SUFFIXES) and e.is_file()) or is_dataset(e.path)
        ]
        here = set(paths)
        kept = {
            name: path for name, path in self._paths.items()
            if path in self._fixed or os.path.dirname(path) != folder or path in here
        }  # fmt: skip
        named = set(kept.values())
        for path in paths:
            if path not in named:
                kept[_free(path, kept)] = path
        self._open = {key: rf for key, rf in self._open.items() if key[0] in kept}
        self._paths = kept


def _is_folder(path: str) -> bool:
    """Return whether a path is a folder of collections; a dataset, also a folder, is not."""
    return not is_remote(path) and os.path.isdir(path) and not is_dataset(path)


def _free(path: str, taken: Container[str]) -> str:
    """Return an unused name for a path."""
    base = os.path.basename(path)
    stem = base.rpartition(".")[0] or base or "file"
    number, name = 1, stem
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    return name
