"""The folders that files were built from: whether they have changed since, looked at now and then."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ragfile.search.file_rows import FileRows
from ragfile.write.source_state import source_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.write.source_state import SourceState

PAUSE = 10.0  # seconds between two looks at one folder


class SourceFolders:
    """The source folders of some files by the files' names."""

    def __init__(self, folders: Mapping[str, str]) -> None:
        self._folders = folders
        self._seen: dict[str, tuple[float, int, SourceState]] = {}

    def state(self, name: str, rf: KnowledgeBase) -> dict[str, int] | None:
        """Return how many source files differ from a file; None for a file without a folder."""
        rows, folder = rf.rows, self._folders.get(name)
        if folder is None or not isinstance(rows, FileRows):
            return None
        until, generation, state = self._seen.get(name, (0.0, 0, None))
        if state is None or generation != rf.generation or time.monotonic() > until:
            state = source_state(rows, folder)
            self._seen[name] = time.monotonic() + PAUSE, rf.generation, state
        return state._asdict()
