"""The files that a server answers from, by name: files, and whatever lies in folders.

A collection is opened when it is first asked for, and looked at anew by every request, so a commit
by another process, or another file under the name, is seen at once. A folder is read again when it
changes: a file that is put there becomes a collection, and one that is taken away stops being one.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ragfile.doors.mcp.files import Files
from ragfile.doors.server.failures import AGAIN, HttpFailure
from ragfile.errors import ChangedError
from ragfile.ground.urls import is_dataset, is_remote

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ragfile.knowledge_base import KnowledgeBase

SUFFIXES = (".ragfile", ".ragmd")
REMOTE = 2.0  # seconds for which a commit behind a URL is the newest
WAIT = 60.0  # seconds for a writer in another process
SETTLED = 2_000_000_000  # ns; times of files are coarse


class Collections(Files):
    """Files by name."""

    def __init__(self, places: Iterable[str], **opening: Any):
        """places are files, URLs and folders. opening are options of ragfile.open."""
        places = list(places)
        self._looked: dict[str, float] = {}
        self._folders = {p: -1 for p in map(os.path.abspath, places) if _is_folder(p)}
        files = [p for p in places if not _is_folder(p)]
        if files or not self._folders:
            super().__init__(files, **opening)
        else:
            self._begin({}, opening)
        self._fixed = set(self._paths.values())
        self._look()

    @property
    def names(self) -> list[str]:
        """Of all collections that there are now."""
        self._look()
        return list(self._paths)

    def name(self, name: str | None) -> str:
        """The name, if there is such a collection; that of the only one where none is said."""
        if name is None or name not in self._paths:
            self._look()
        return super().name(name)

    def _refresh(self, name, rf):
        """As often as it is asked; behind a URL, where that is a request, now and then."""
        if is_remote(self._paths[name]):
            if time.monotonic() - self._looked.get(name, 0.0) < REMOTE:
                return
            self._looked[name] = time.monotonic()
        rf.refresh()

    def at_commit(self, name: str, generation: int = 0) -> KnowledgeBase:
        """The newest commit of a collection, or an older one, as an object that stays as it is."""
        if name not in self._paths and name not in self.names:
            raise HttpFailure(404, f"there is no collection {name!r:.80}")
        try:
            return self.open(name, generation).at_commit()
        except ChangedError:  # between the look and the use
            return self.open(name, generation).at_commit()
        except FileNotFoundError:
            if name not in self.names:
                raise HttpFailure(404, f"there is no collection {name!r:.80}") from None
            said = f"the file of the collection {name} is not there at the moment"
            raise HttpFailure(503, said, AGAIN) from None

    @property
    def editing(self) -> dict[str, Any]:
        """The options of opening that hold for ragfile.edit, and how long to wait for its turn."""
        return super().editing | {"wait": WAIT}

    @property
    def embedding_calls(self) -> int:
        """Calls to embedders for questions, by all files that are open."""
        return sum(rf.counters["embedding_calls"] for rf in list(self._open.values()))

    def _look(self):
        """Reads the folders that have changed."""
        for folder, seen in list(self._folders.items()):
            try:
                now = os.stat(folder).st_mtime_ns
            except OSError:
                now = 0  # gone, and so is what was in it
            if now != seen:
                is_settled = time.time_ns() - now > SETTLED  # the next change has another time
                with self._lock:
                    self._folders[folder] = now if is_settled else -1
                    self._follow(folder)

    def _follow(self, folder):
        """Takes in what is new in a folder, and lets go of what is no longer there."""
        there = sorted(os.scandir(folder), key=lambda e: e.name) if os.path.isdir(folder) else []
        paths = [
            e.path
            for e in there
            if (e.name.endswith(SUFFIXES) and e.is_file()) or is_dataset(e.path)
        ]
        kept = {
            name: path for name, path in self._paths.items()
            if path in self._fixed or os.path.dirname(path) != folder or path in paths
        }  # fmt: skip
        for path in paths:
            if path not in kept.values():
                kept[_free(path, kept)] = path
        self._open = {key: rf for key, rf in self._open.items() if key[0] in kept}
        self._paths = kept


def _is_folder(path):
    """Whether a place is a folder of collections, rather than a collection: a dataset is a folder, too."""
    return not is_remote(path) and os.path.isdir(path) and not is_dataset(path)


def _free(path, taken):
    """A name for a path that no other has."""
    base = os.path.basename(path)
    stem = base.rpartition(".")[0] or base or "file"
    number, name = 1, stem
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    return name
