"""What all requests of one process share: the collections, the chat model, threads and counters."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ragfile.doors.server.capacity import Room
from ragfile.doors.server.collections import Collections
from ragfile.doors.server.failures import discreet
from ragfile.doors.server.keys import VARIABLE as KEY_VARIABLE
from ragfile.doors.server.keys import ApiKeys
from ragfile.doors.server.uploads import Uploads
from ragfile.doors.server.write_queue import Queue, index
from ragfile.ground.lru import Lru
from ragfile.ground.urls import is_dataset, is_remote
from ragfile.ingest.document_loader import Limits

if TYPE_CHECKING:
    from typing import Any

    from ragfile.doors.server.metrics import Board
    from ragfile.doors.server.settings import Settings

THREADS = 16  # most requests take one for less than a millisecond; some wait for an embedder
WRITES = 100  # changes that wait
KEPT = 8  # commits whose lists of ids and facets stay in memory


class Service:
    """One process of a server."""

    def __init__(self, settings: Settings, board: Board):
        self.settings, self.board = settings, board
        opening = {"embedder": settings.embedder, "embedding_cache": settings.embedding_cache}
        said = {name: value for name, value in opening.items() if value is not None}
        self.collections = Collections(settings.files, **said)
        self.model = _opened(settings.model)
        self.threads = ThreadPoolExecutor(THREADS, "ragfile-search")
        self.asks = ThreadPoolExecutor(settings.asks_at_once, "ragfile-ask")
        self.asking = Room(settings.asks_at_once, "answers by a model")
        self.keys = ApiKeys(settings.keys, os.environ.get(KEY_VARIABLE))
        self.inside = 0  # requests under way
        self.writer = ThreadPoolExecutor(1, "ragfile-write")  # one at a time, in their order
        self.writing = Room(WRITES, "changes")
        self.uploads, self.queue = Uploads(_root(settings)), Queue()
        self.limits = Limits(max_bytes=settings.max_upload)
        self._kept = Lru(KEPT)
        self._embedding_calls = 0  # those that are counted

    @property
    def model_name(self) -> str | None:
        """What clients call the chat model; None without one."""
        from ragfile.chat.protocol import name_of

        return None if self.model is None else self.discreet(name_of(self.model))

    @property
    def can_write(self) -> bool:
        """Whether documents can be changed here."""
        return self.settings.can_write

    def discreet(self, text: str) -> str:
        """A sentence of the library without places of this machine."""
        return discreet(text, self.collections) if text else text

    def of_commit(self, rf: Any, what: str, make: Any) -> Any:
        """What is made of a commit once: make(rf), kept while the commit is asked for."""
        key = what, rf.path, rf.info["identity"], rf.generation
        found = self._kept.get(key)
        if found is None:
            found = make(rf)
            self._kept.put(key, found)
        return found

    def count(self, visit: Any, scope: Any) -> None:
        """Takes a request that is over into the counters."""
        spent = time.perf_counter() - visit.began
        self.board.request(visit.route, visit.status, spent, visit.bytes)
        self.board.in_flight(self.inside)
        if visit.sink:
            self.board.answered(visit.sink)
            calls = self.collections.embedding_calls
            self.board.add("embedding_calls", max(0, calls - self._embedding_calls))
            self._embedding_calls = calls

    def write_soon(self, collection: str) -> None:
        """Has what waits for a collection indexed, when its turn comes."""
        self.writer.submit(index, self, collection)

    def resume(self) -> None:
        """Takes up the uploads that waited when a server ended, and takes away halves of others."""
        if self.can_write:
            self.uploads.sweep()
        for upload in self.uploads.all() if self.can_write else ():
            if upload.state == "queued":
                self.queue.put(upload)
                self.write_soon(upload.collection)

    def close(self) -> None:
        """Lets the threads go; what they are about ends first."""
        self.threads.shutdown(wait=True, cancel_futures=True)
        self.writer.shutdown(wait=True, cancel_futures=True)  # the rest waits for the next start
        self.asks.shutdown(wait=False, cancel_futures=True)


def _root(settings):
    """The folder for uploads: the one that was said, else beside the first file."""
    if settings.uploads is not None:
        return settings.uploads
    place = next((path for path in settings.files if not is_remote(path)), ".")
    is_folder = os.path.isdir(place) and not is_dataset(place)
    return os.path.join(place if is_folder else os.path.dirname(place.rstrip("/")), "uploads")


def _opened(model):
    """The chat model: a wrong name is said at the start, and no connection is made."""
    if model is None:
        return None
    from ragfile.chat.protocol import open_chat

    return open_chat(model)
