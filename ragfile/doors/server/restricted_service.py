"""The server as a key with a filter sees it: collections of visible documents, and nothing else of it.

Endpoints and tools get these objects in the place of the server's own. They know of no filter, so none
of them can forget it.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.source_folders import SourceFolders
from ragfile.doors.server.failures import HttpFailure
from ragfile.ground.lru import Lru
from ragfile.layers.restricted_view import Restricted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ragfile.doors.server.collections import Collections
    from ragfile.doors.server.shared_state import Service
    from ragfile.doors.server.uploads import Upload, Uploads
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.write.editor import Editor
    from ragfile.write.group_commit import GroupCommits

OPEN = 64  # collections that stay open for a filter
NEWEST = "this key has a filter and reads the newest generation only: leave out generation"


class RestrictedCollections(Files):
    """The collections of a server for a key with a filter. They cannot be changed through it."""

    def __init__(self, files: Collections, where: str) -> None:
        self._files, self._where = files, json.loads(where)
        self._views: Lru[str, Restricted] = Lru(OPEN)

    @property
    def names(self) -> list[str]:
        return self._files.names

    def known(self, name: str) -> str:
        return self._files.known(name)

    def name(self, name: str | None) -> str:
        return self._files.name(name)

    def open(self, name: str | None, generation: int = 0) -> KnowledgeBase:
        return self.at_commit(self.name(name), generation)

    def at_commit(self, name: str, generation: int = 0) -> KnowledgeBase:
        """Return the visible documents of the newest commit. An older one can have documents that are hidden today."""
        whole = self._files.at_commit(name)
        if generation not in (0, whole.generation):
            raise HttpFailure(403, NEWEST)
        view = self._views.get(name)
        if view is None or view.whole_rows is not whole.rows:
            cache = self._files.editing.get("embedding_cache")
            view = Restricted(whole, self._where, embedding_cache=cache)
            self._views.put(name, view)
        return view.at_commit()

    def without_paths(self, text: str) -> str:
        return self._files.without_paths(text)

    @property
    def embedding_calls(self) -> int:
        return self._files.embedding_calls

    @property
    def has_folder(self) -> bool:
        """No folder: this key makes no file."""
        return False

    def _refuse(self) -> NoReturn:
        raise HttpFailure(403, "this key has a filter, and changes nothing")

    @property
    def commits(self) -> GroupCommits:
        self._refuse()

    @property
    def editing(self) -> dict[str, Any]:
        self._refuse()

    @property
    def below(self) -> list[KnowledgeBase]:
        self._refuse()

    def edit(self, path: object, **options: object) -> Editor:
        self._refuse()

    def path(self, name: str | None) -> str:
        self._refuse()

    def path_to_write(self, name: str | None, make: Callable[[str], object] | None = None) -> str:
        self._refuse()

    def make(self, name: str, make: Callable[[str], object] | None = None) -> bool:
        self._refuse()

    def delete(self, name: str) -> None:
        self._refuse()


class NoUploads:
    """The uploads that a key with a filter sees: an upload has a name and a state, but no metadata to filter."""

    def all(self) -> Iterator[Upload]:
        """Yield no upload."""
        return iter(())

    def get(self, upload_id: str) -> Upload | None:
        """Return None for any id."""
        return None


def restricted_service(service: Service, where: str) -> Service:
    """Return the service for keys with a filter (as JSON): the same threads and limits, other data."""
    found = copy.copy(service)
    collections: object = RestrictedCollections(service.collections, where)
    found.collections = cast("Collections", collections)
    found.settings = replace(service.settings, can_write=False)
    found.folders, found.uploads = SourceFolders({}), cast("Uploads", NoUploads())
    return found
