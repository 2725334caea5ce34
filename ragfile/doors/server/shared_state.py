"""The state that all requests of a process share: collections, chat model, threads, counters."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from ragfile.doors.mcp.source_folders import SourceFolders
from ragfile.doors.server.capacity import ReadBudget, Room, Shares, Turns
from ragfile.doors.server.collections import Collections
from ragfile.doors.server.failures import discreet
from ragfile.doors.server.keys import VARIABLE as KEY_VARIABLE
from ragfile.doors.server.keys import ApiKeys
from ragfile.doors.server.uploads import Uploads
from ragfile.doors.server.write_endpoints import Queue, index
from ragfile.ground.lru import Lru
from ragfile.ground.urls import is_dataset, is_remote
from ragfile.ingest.parser_process import ParserProcess
from ragfile.write.group_commit import GroupCommits

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from typing import Any

    from starlette.types import Scope

    from ragfile.chat.protocol import ChatModel
    from ragfile.doors.server.access import Visit
    from ragfile.doors.server.metrics import Board
    from ragfile.doors.server.settings import Settings
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.search.file_rows import FileRows


MadeT = TypeVar("MadeT")

THREADS = 16  # most requests take one for less than a millisecond; some wait for an embedder
WRITES = 100  # queued changes
KEPT = 8  # lists of ids and facets, each of one commit, that stay in memory
FILTERS = 64  # of keys, with the views of collections that stay open for them


class KeptOfCommit(NamedTuple, Generic[MadeT]):
    """A value that follows from the rows of one commit."""

    rows: weakref.ref[FileRows]
    value: MadeT


def _only_folders(sources: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the folders of collections that have one."""
    found: dict[str, list[str]] = {}
    for name, folder in sources:
        found.setdefault(name, []).append(folder)
    return {name: folders[0] for name, folders in found.items() if len(folders) == 1}


class Service:
    """The shared state of one server process."""

    def __init__(self, settings: Settings, board: Board) -> None:
        self.settings, self.board = settings, board
        opening = {"embedder": settings.embedder, "embedding_cache": settings.embedding_cache}
        given = {name: value for name, value in opening.items() if value is not None}
        self.collections = Collections(settings.files, over=settings.over, **given)
        self.folders = SourceFolders(_only_folders(settings.sources))
        self.model = _opened(settings.model)
        self.threads = ThreadPoolExecutor(THREADS, "ragfile-search")
        self.turns = Turns(self.threads, THREADS)
        self.memory = ReadBudget(settings.read_memory)
        self.shares = Shares(settings.at_once // 4, "concurrent requests")
        self.asks = ThreadPoolExecutor(settings.asks_at_once, "ragfile-ask")
        self.ask_turns = Turns(self.asks, settings.asks_at_once)
        self.asking = Room(settings.asks_at_once, "answers by a model")
        self.keys = ApiKeys(settings.keys, os.environ.get(KEY_VARIABLE))
        self.inside = 0  # concurrent requests
        self.writer = ThreadPoolExecutor(1, "ragfile-write")  # one change at a time, in order
        self.writing = Room(WRITES, "changes")
        self.commits = GroupCommits(self.collections.edit)
        self.uploads, self.queue = Uploads(_root(settings)), Queue()
        self.limits = replace(settings.limits, max_bytes=settings.max_upload)
        self.parser = ParserProcess()  # of uploads; used by the writer alone
        self._retries: list[threading.Timer] = []
        self._kept: Lru[Hashable, Any] = Lru(KEPT)
        self._embedding_calls = 0  # already counted on the board
        self._restricted: Lru[str, Service] = Lru(FILTERS)

    @property
    def model_name(self) -> str | None:
        """The chat model's name for clients, or None without a model."""
        from ragfile.chat.protocol import name_of

        return None if self.model is None else self.discreet(name_of(self.model))

    @property
    def can_write(self) -> bool:
        """Whether clients may change documents."""
        return self.settings.can_write

    def seen_with(self, where: str) -> Service:
        """Return the service for a key with this filter, as JSON; "" for a key without one."""
        if not where:
            return self
        found = self._restricted.get(where)
        if found is None:
            from ragfile.doors.server.restricted_service import restricted_service

            found = restricted_service(self, where)
            self._restricted.put(where, found)
        return found

    def discreet(self, text: str) -> str:
        """Remove paths and URLs from a message of the library."""
        return discreet(text, self.collections) if text else text

    def of_commit(
        self, rf: KnowledgeBase, name: str, make: Callable[[KnowledgeBase], MadeT]
    ) -> MadeT:
        """Return make(rf), computed once for each commit and kept in a cache under `name`."""
        rows = rf.rows
        key = name, id(rows)
        kept: KeptOfCommit[MadeT] | None = self._kept.get(key)
        if kept is None or kept.rows() is not rows:
            kept = KeptOfCommit(weakref.ref(rows), make(rf))
            self._kept.put(key, kept)
        return kept.value

    def count(self, visit: Visit, scope: Scope) -> None:
        """Add a finished request to the counters."""
        spent = time.perf_counter() - visit.began
        self.board.request(visit.route, visit.status, spent, visit.bytes)
        self.board.in_flight(self.inside)
        if visit.sink:
            self.board.answered(visit.sink)
            calls = self.collections.embedding_calls
            self.board.add("embedding_calls", max(0, calls - self._embedding_calls))
            self._embedding_calls = calls

    def end_shared_commits(self) -> None:
        """Let changes that arrive from now on share no commit with those before: another job follows."""
        self.commits = GroupCommits(self.collections.edit)

    def write_soon(self, collection: str) -> None:
        """Schedule the indexing of a collection's waiting uploads."""
        self.end_shared_commits()
        self.writer.submit(index, self, collection)

    def write_later(self, collection: str, seconds: float) -> None:
        """Schedule another attempt to index a collection's waiting uploads."""
        timer = threading.Timer(seconds, self._write_unless_closed, [collection])
        timer.daemon = True
        self._retries = [one for one in self._retries if one.is_alive()] + [timer]
        timer.start()

    def _write_unless_closed(self, collection: str) -> None:
        with contextlib.suppress(RuntimeError):  # the threads are shut down
            self.write_soon(collection)

    def resume(self) -> None:
        """Queue the uploads that an earlier server left waiting; delete its incomplete ones."""
        if self.can_write:
            self.uploads.sweep()
        found = (
            [one for one in self.uploads.all() if one.state == "queued"] if self.can_write else []
        )
        for upload in found:
            self.queue.put(upload)
        for collection in sorted({upload.collection for upload in found}):
            self.write_soon(collection)

    def close(self) -> None:
        """Shut the threads down after their current work."""
        for timer in self._retries:
            timer.cancel()
        self.threads.shutdown(wait=True, cancel_futures=True)
        self.writer.shutdown(wait=True, cancel_futures=True)  # resume() queues the rest again
        self.asks.shutdown(wait=False, cancel_futures=True)
        self.parser.close()


def _root(settings: Settings) -> str:
    """Return the folder for uploads: the configured one, or `uploads` beside the first file."""
    if settings.uploads is not None:
        return settings.uploads
    place = next((path for path in settings.files if not is_remote(path)), ".")
    is_folder = os.path.isdir(place) and not is_dataset(place)
    return os.path.join(place if is_folder else os.path.dirname(place.rstrip("/")), "uploads")


def _opened(model: str | None) -> ChatModel | None:
    """Open the chat model; an unknown name fails at the start. It makes no connection."""
    if model is None:
        return None
    from ragfile.chat.protocol import open_chat

    return open_chat(model)
