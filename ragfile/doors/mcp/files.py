"""The files that tools can read: named at the start, opened on first use, refreshed by each call."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from ragfile.ground.lock_patience import DOOR_WAIT, seconds_to_wait
from ragfile.ground.missing_files import explained
from ragfile.ground.urls import is_remote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Unpack

    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.types import StrPath
    from ragfile.write.editor import Editor
    from ragfile.write.group_commit import BeginOptions, GroupCommits

OLDER = 4  # generations that stay open
MOST = 1000  # files that stay open


class Files:
    """Files by name. Only these can be read: a path from a client is never opened."""

    def __init__(
        self, paths: Iterable[str], *, over: Iterable[str] = (), **opening: object
    ) -> None:
        """Register files.

        Args:
            paths: The files.
            over: Layers below each of them, the lowest first.
            opening: Options of ragfile.open, such as embedder or offline.
        """
        named = _named([path if is_remote(path) else os.path.abspath(path) for path in paths])
        self._begin(named, opening, over)
        if not self._paths:
            raise FileNotFoundError("give at least one file")
        for path in self._paths.values():
            if not is_remote(path):
                with explained(path):
                    os.stat(path)

    def _begin(
        self, paths: dict[str, str], opening: dict[str, Any], over: Iterable[str] = ()
    ) -> None:
        self._paths, self._opening = paths, opening
        self._over = [path if is_remote(path) else os.path.abspath(path) for path in over]
        self._below: list[KnowledgeBase] | None = None
        self._open: dict[tuple[str, int], KnowledgeBase] = {}
        self._past_calls = 0  # to embedders, by files that are open no longer
        self._lock = threading.Lock()
        self._commits: GroupCommits | None = None

    @property
    def commits(self) -> GroupCommits:
        """The commits of these files, which threads share."""
        from ragfile.write.group_commit import GroupCommits

        with self._lock:
            if self._commits is None:
                self._commits = GroupCommits(self.edit)
            return self._commits

    def edit(self, path: StrPath, **options: Unpack[BeginOptions]) -> Editor:
        """Start the next commit of a file, over the layers below it."""
        from ragfile.opener import begin_edit

        if not self._over:
            return begin_edit(path, **options)
        below = self.below
        for part in below:
            part.refresh()
        return begin_edit((*below, path), **options)

    @property
    def editing(self) -> dict[str, Any]:
        """The options for ragfile.edit: those that it shares with ragfile.open, and the wait."""
        shared = {k: v for k, v in self._opening.items() if k in ("embedder", "embedding_cache")}
        return shared | {"wait": seconds_to_wait(default=DOOR_WAIT)}

    @property
    def names(self) -> list[str]:
        """The names of the files, in the order in which they were given."""
        return list(self._paths)

    def path(self, name: str | None) -> str:
        """Return the path of a file; None means the only file."""
        return self._paths[self.name(name)]

    def name(self, name: str | None) -> str:
        """Return a known name; None means the only file."""
        if name is None and len(self._paths) == 1:
            return self.names[0]
        if name is None or name not in self._paths:
            known = ", ".join(self._paths)
            raise ValueError(
                f"name one of the files: {known}"
                if name is None
                else f"no file {name!r:.80}; the files are {known}"
            )
        return name

    @property
    def below(self) -> list[KnowledgeBase]:
        """The layers below each file, open."""
        with self._lock:
            return self._layers()

    def path_to_write(self, name: str | None, make: Callable[[str], object] | None = None) -> str:
        """Return the path of a file for a change; one that a client owns is made first, by `make`."""
        return self.path(name)

    def make(self, name: str, make: Callable[[str], object] | None = None) -> bool:
        """Make a file in a folder unless it is there; without folders, there is none to make."""
        self.name(name)
        return False

    def open(self, name: str | None, generation: int = 0) -> KnowledgeBase:
        """Return an open file, at its newest commit or at an older one."""
        name = self.name(name)
        with self._lock:
            rf = self._open.pop((name, generation), None)
            if rf is not None:
                self._open[name, generation] = rf  # the last to be forgotten
            else:
                rf = self._open[name, generation] = self._opened(name, generation)
                self._close_older()
        if not generation:
            self._refresh(name, rf)
        return rf

    def _refresh(self, name: str, rf: KnowledgeBase) -> None:
        """Look for a newer commit."""
        rf.refresh()

    def _opened(self, name: str, generation: int) -> KnowledgeBase:
        from ragfile.opener import open_passages

        path = self._paths[name]
        if not self._over:
            return open_passages(path, generation=generation, **self._opening)
        return open_passages((*self._layers(), path), generation=generation, **self._opening)

    def _layers(self) -> list[KnowledgeBase]:
        from ragfile.opener import open_passages

        if self._below is None:
            self._below = [open_passages(each, **self._opening) for each in self._over]
        return self._below

    def _close_older(self) -> None:
        """Forget the oldest of the older generations; their current readers keep them open."""
        older = [(name, generation) for name, generation in self._open if generation]
        for key in older[: max(0, len(older) - OLDER)]:
            self._forget(key)
        while len(self._open) > MOST:
            self._forget(next(iter(self._open)))

    def _forget(self, key: tuple[str, int]) -> None:
        """Keep a file open no longer; who asks it holds it."""
        self._past_calls += self._open.pop(key).counters["embedding_calls"]

    def without_paths(self, text: str) -> str:
        """Replace paths in a message by names, since clients may be elsewhere."""
        for name, path in self._paths.items():
            text = text.replace(path, name)
        for path in self._over:
            text = text.replace(path, os.path.basename(path.rstrip("/")))
        return text


class OneFile(Files):
    """One of some files, for a client that may use no other. Both share their open files."""

    def __init__(self, files: Files, only: str) -> None:
        self._files, self._only = files, only

    @property
    def commits(self) -> GroupCommits:
        return self._files.commits

    @property
    def editing(self) -> dict[str, Any]:
        return self._files.editing

    @property
    def names(self) -> list[str]:
        return [self._only]

    def edit(self, path: StrPath, **options: Unpack[BeginOptions]) -> Editor:
        return self._files.edit(path, **options)

    @property
    def below(self) -> list[KnowledgeBase]:
        return self._files.below

    def path_to_write(self, name: str | None, make: Callable[[str], object] | None = None) -> str:
        if name in (None, self._only):
            self._files.make(self._only, make)
        return self.path(name)

    def name(self, name: str | None) -> str:
        if name not in (None, self._only):
            raise ValueError(f"no file {name!r:.80}; the file is {self._only}")
        if self._only not in self._files.names:
            raise ValueError(f"no file {self._only!r:.80} yet")  # the others are not for this key
        return self._files.name(self._only)

    def path(self, name: str | None) -> str:
        return self._files.path(self.name(name))

    def open(self, name: str | None, generation: int = 0) -> KnowledgeBase:
        return self._files.open(self.name(name), generation)

    def without_paths(self, text: str) -> str:
        return self._files.without_paths(text)


def _named(paths: Iterable[str]) -> dict[str, str]:
    """Name paths by their stems; equal stems get numbers."""
    found: dict[str, str] = {}
    for path in paths:
        stem, _, suffix = os.path.basename(path.rstrip("/")).rpartition(".")
        name = base = stem or suffix or "file"
        number = 1
        while name in found:
            number += 1
            name = f"{base}-{number}"
        found[name] = path
    return found
