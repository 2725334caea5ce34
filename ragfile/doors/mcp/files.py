"""The files that tools are about: named once, opened when first asked, refreshed at every call."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from ragfile.ground.urls import is_remote

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ragfile.knowledge_base import KnowledgeBase

OLDER = 4  # generations that stay open


class Files:
    """Files by name. Only these can be read: no path of a client is ever opened."""

    def __init__(self, paths: Iterable[str], **opening: Any):
        """opening are options of ragfile.open, such as embedder or offline."""
        named = _named([path if is_remote(path) else os.path.abspath(path) for path in paths])
        self._begin(named, opening)
        missing = [p for p in self._paths.values() if not is_remote(p) and not os.path.exists(p)]
        if not self._paths or missing:
            raise FileNotFoundError(f"there is no file {missing[0]}" if missing else "name a file")

    def _begin(self, paths: dict[str, str], opening: dict[str, Any]):
        self._paths, self._opening = paths, opening
        self._open: dict[tuple[str, int], KnowledgeBase] = {}
        self._lock = threading.Lock()

    @property
    def editing(self) -> dict[str, Any]:
        """The options of opening that hold for ragfile.edit, too."""
        return {k: v for k, v in self._opening.items() if k in ("embedder", "embedding_cache")}

    @property
    def names(self) -> list[str]:
        """In the order in which the files were given."""
        return list(self._paths)

    def path(self, name: str | None) -> str:
        """The path of a name, or of the only file."""
        return self._paths[self.name(name)]

    def name(self, name: str | None) -> str:
        """The name, if there is such a file; that of the only one where none is said."""
        if name is None and len(self._paths) == 1:
            return self.names[0]
        if name is None or name not in self._paths:
            known = ", ".join(self._paths)
            raise ValueError(
                f"name a file: {known}" if name is None else f"no file {name!r}; there are {known}"
            )
        return name

    def open(self, name: str | None, generation: int = 0) -> KnowledgeBase:
        """The open file, at its newest commit or at an older one."""
        name = self.name(name)
        with self._lock:
            rf = self._open.get((name, generation))
            if rf is None:
                rf = self._open[name, generation] = self._opened(name, generation)
                self._close_older()
        if not generation:
            self._refresh(name, rf)
        return rf

    def _refresh(self, name: str, rf: KnowledgeBase) -> None:
        """Looks for a newer commit."""
        rf.refresh()

    def _opened(self, name, generation):
        from ragfile.opener import open as open_file

        rf = open_file(self._paths[name], generation=generation, **self._opening)
        if not hasattr(rf, "search"):
            raise ValueError(f"{name} is a 0.1.0 file: it has pairs, not passages")
        return rf

    def _close_older(self):
        older = [key for key in self._open if key[1]]
        for key in older[: max(0, len(older) - OLDER)]:
            del self._open[key]  # whoever reads from it goes on

    def without_paths(self, text: str) -> str:
        """A sentence with names in the place of paths, for clients that are elsewhere."""
        for name, path in self._paths.items():
            text = text.replace(path, name)
        return text


def _named(paths):
    """Paths by the stems of their names; a second one of a stem gets a number."""
    found = {}
    for path in paths:
        stem = os.path.basename(path.rstrip("/")).rpartition(".")
        name = base = stem[0] or stem[2] or "file"
        number = 1
        while name in found:
            number += 1
            name = f"{base}-{number}"
        found[name] = path
    return found
