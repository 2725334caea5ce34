"""Files behind URLs, fetched range by range as they are read.

    ragfile.open("https://…")   one request for the file's end, one for its front
    _core.Remote                a map of the file's size, which asks for blocks that it lacks
    Fetcher                     pieces → missing ranges → few parallel requests → an unnamed local file
    HttpObject, BucketObject    one request each

The local file is private, sparse and written once: bytes that were fetched never change, whatever
the server sends later, because the core does not check them again. It is created in the directory
of temporary files (TMPDIR) and disappears with the process.
"""

from __future__ import annotations

import errno
import os
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ragfile import _core
from ragfile.errors import RemoteError
from ragfile.ground import server_time, system
from ragfile.ground.urls import BUCKETS, SCHEMES, is_file, is_remote, scheme_of, shown
from ragfile.net.block_cache import BlockCache
from ragfile.net.intervals import ByteRanges, joined, merged, without
from ragfile.net.retries import Retries, TransientError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import IO, ParamSpec, TypeVar

    from ragfile.ground.server_time import ServerTime
    from ragfile.net.http import FileEnd, Identity
    from ragfile.net.intervals import Interval
    from ragfile.types import StrPath

    P = ParamSpec("P")
    R = TypeVar("R")

WINDOW = 256 << 10  # bytes at the end: footer, table, configuration
FRONT = 4096 + (64 << 10)  # the front page, and the head of the first section
FEW, SHORT, OVER = 3, 128 << 10, 8 << 20  # see intervals.joined
# Up to AHEAD_FROM bytes, a read that continues an earlier one is extended by the length of that
# one, at most AHEAD bytes.
AHEAD_FROM, AHEAD = 1 << 20, 8 << 20
PARALLEL = 8
ATTEMPTS, FIRST_WAIT, LONGEST_WAIT = 4, 0.25, 30.0
DEADLINE = 30.0  # seconds, after which no further attempt begins
PROGRESS = 1 << 20  # bytes, after which a response that breaks off has attempts of its own again


class RemoteObject(Protocol):
    """A file on a server: HttpObject or BucketObject."""

    def open(self, window: int, limit: ServerTime) -> FileEnd: ...

    def read(
        self, at: int, size: int, identity: Identity, limit: ServerTime
    ) -> Iterator[bytes]: ...

    def close(self) -> None: ...


class KnownBlocks(Protocol):
    """Blocks that need not be fetched: BlockCache, or those of a local file."""

    def read(self, at: int, size: int, expected: int) -> bytes | None: ...

    def write(self, at: int, data: bytes) -> None: ...


class WantedBytes(NamedTuple):
    """Bytes that a caller needs, with their hash if it is known."""

    at: int
    size: int
    expected: int | None


def mapped(
    url: str, cache: StrPath | None = None, redirects: bool = False, window: int = WINDOW
) -> _core.Remote:
    """Return a map of the file at a URL that is filled as it is read.

    cache is a folder that keeps fetched bytes; redirects allows those to other hosts; window is the
    number of bytes that the first request fetches from the file's end.
    """
    return _core.Remote(Fetcher(url, cache, redirects, window))


def object_at(url: str, redirects: bool = False) -> RemoteObject:
    """Return the client for a URL."""
    if is_file(url):
        from ragfile.net.file_object import FileObject

        return FileObject(url)
    if not is_remote(url):
        raise ValueError(f"{url!r} is not a URL of {', '.join(SCHEMES)}")
    if scheme_of(url) in BUCKETS:
        from ragfile.net.bucket_object import BucketObject

        return BucketObject(url)
    if scheme_of(url) == "hf":
        from ragfile.net.hugging_face import hub_file

        return hub_file(url)
    from ragfile.net.http import HttpObject

    return HttpObject(url, redirects)


class Fetcher:
    """The local copy of one object, filled as its bytes are requested.

    Threads can share it. A forked child continues with a copy of the local file.
    """

    def __init__(
        self,
        url: str,
        cache: StrPath | None = None,
        redirects: bool = False,
        window: int = WINDOW,
        known: KnownBlocks | None = None,
    ) -> None:
        self.path = shown(url)
        self._object = object_at(url, redirects)
        self._fetched = ByteRanges()
        self._in_flight: list[Interval] = []
        self._changed, self._is_inherited = threading.Condition(), False
        self.identity, at, ending = self._end(window)
        self.size = self.identity.size
        self._file = self._blank()
        self.descriptor = self._file.fileno()
        self._kept = known
        if cache is not None:
            self._kept = BlockCache(os.fspath(cache), self.path, self.identity)
        self.kept = self._kept is not None
        self.fetched = len(ending)  # bytes that were sent by the server
        _all.add(self)
        self.put(at, ending)
        if self._kept is not None:  # a block that begins before the window needs these bytes too
            self._kept.write(at, ending)
        self.fetch([(0, min(FRONT, self.size), None)])

    def _end(self, window: int) -> FileEnd:
        """Fetch the object's last bytes, at most `window` of them."""
        with server_time.waiting_for_server() as limit:
            limit.allow(window)
            return _persistently(limit, self._object.open, window, limit)

    def _blank(self) -> IO[bytes]:
        """Make a local file of the object's size, without any bytes yet."""
        try:
            return system.sparse_file(self.size)
        except (OSError, OverflowError) as error:
            raise RemoteError(
                f"{self.path}: no local file of {self.size:,} bytes can be made: {error}"
            ) from error

    def close(self) -> None:
        """Close the connections; a later fetch opens new ones."""
        self._object.close()

    def current_identity(self) -> Identity:
        """Request the identity of the object that is at the URL now."""
        return self._end(1).identity

    def fetch(self, pieces: Iterable[tuple[int, int, int | None]], near: bool = False) -> None:
        """Put pieces (at, size, hash or None) into the local file.

        With near, take them only from the cache, and leave out those that it lacks.
        """
        if self._is_inherited:
            self._take_own_copy()
        with self._changed:
            lacking = [
                WantedBytes(at, size, expected)
                for at, size, expected in pieces
                if self._fetched.missing(at, at + size)
            ]
        if (cache := self._kept) is not None:
            lacking = [piece for piece in lacking if not self._put_kept(cache, piece)]
        if lacking and not near:
            wanted = merged((piece.at, piece.at + piece.size) for piece in lacking)
            with server_time.waiting_for_server() as limit:
                self._bring(wanted, limit)

    def _put_kept(self, cache: KnownBlocks, piece: WantedBytes) -> bool:
        """Copy a piece from the cache, if the cache has it."""
        if piece.expected is None:
            return False
        data = cache.read(piece.at, piece.size, piece.expected)
        if data is not None:
            self.put(piece.at, data)
        return data is not None

    def put(self, at: int, data: bytes | memoryview) -> None:
        """Write the bytes that are not in the local file yet."""
        view = memoryview(data)
        with self._changed:
            for start, end in self._fetched.missing(at, at + len(view)):
                self._write(view[start - at : end - at], start)
                self._fetched.add(start, end)

    def _write(self, data: memoryview, at: int) -> None:
        try:
            system.write_at(self.descriptor, data, at)
        except OSError as error:
            folder = system.temporary_root()
            raise OSError(
                error.errno or errno.EIO,
                f"no room for bytes of {self.path}: {error.strerror}",
                folder,
            ) from error

    def _bring(self, wanted: Sequence[Interval], limit: ServerTime) -> None:
        """Fetch the ranges that no other thread is fetching, and wait for the rest."""
        while requests := self._claimed(wanted, limit):
            try:
                self._request(requests, limit)
            finally:
                with self._changed:
                    self._in_flight = [each for each in self._in_flight if each not in requests]
                    self._changed.notify_all()

    def _claimed(self, wanted: Sequence[Interval], limit: ServerTime) -> list[Interval]:
        """Return requests for this thread to make; empty once all the bytes have arrived."""
        with self._changed:
            while missing := [
                part for start, end in wanted for part in self._fetched.missing(start, end)
            ]:
                if requests := self._requests(without(missing, self._in_flight)):
                    self._in_flight += requests
                    limit.allow(sum(end - start for start, end in requests))
                    return requests
                self._await_others(missing, limit)
        return []

    def _await_others(self, missing: Sequence[Interval], limit: ServerTime) -> None:
        """Wait until other threads have fetched some of the ranges."""
        limit.allow(sum(end - start for start, end in missing))
        if not self._changed.wait(limit.seconds(LONGEST_WAIT)) and limit.is_over:
            raise RemoteError(f"{self.path}: this takes too long")

    def _requests(self, missing: list[Interval]) -> list[Interval]:
        requests = joined(missing, FEW, SHORT, OVER)
        if len(requests) == 1 and requests[0][1] - requests[0][0] <= AHEAD_FROM:
            start, end = requests[0]
            more = min(self._fetched.before(start), AHEAD, self.size - end)
            requests = [(start, end + more)]
        return requests

    def _request(self, requests: list[Interval], limit: ServerTime) -> None:
        """Make requests side by side."""
        if len(requests) == 1:
            self._read(*requests[0], limit)
            return
        with ThreadPoolExecutor(min(PARALLEL, len(requests)), "ragfile-remote") as pool:
            asked = [pool.submit(self._read, *request, limit) for request in requests]
            try:
                for done in asked:
                    done.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)  # running requests finish
                raise

    def _read(self, start: int, end: int, limit: ServerTime) -> None:
        """Make one request; if its response breaks off, make another for the rest."""
        at = start

        def read() -> None:
            nonlocal at
            for data in self._object.read(at, end - at, self.identity, limit):
                self.put(at, data)
                with self._changed:
                    self.fetched += len(data)
                if self._kept is not None:
                    self._kept.write(at, data)
                at += len(data)

        while True:
            before = at
            try:
                return _persistently(limit, read)
            except RemoteError:
                if at - before < PROGRESS or limit.is_over:
                    raise

    def inherit(self) -> None:
        """Reset the state in a forked child: threads, locks and the file are the parent's."""
        self._changed, self._in_flight, self._is_inherited = threading.Condition(), [], True

    def _take_own_copy(self) -> None:
        """Copy the parent's local file, whose later bytes would belong to the parent."""
        with self._changed:
            if not self._is_inherited:
                return
            file = self._blank()
            for start, end in self._fetched:
                for at in range(start, end, 1 << 20):
                    data = system.read_at(self.descriptor, min(end - at, 1 << 20), at)
                    system.write_at(file.fileno(), data, at)
            self._file, self.descriptor, self._is_inherited = file, file.fileno(), False


_all: weakref.WeakSet[Fetcher] = weakref.WeakSet()


def _inherit_all() -> None:
    for fetcher in list(_all):
        fetcher.inherit()


system.after_fork(_inherit_all)


def _persistently(limit: ServerTime, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return the call's result after retries; raise RemoteError once they are spent."""
    try:
        until = time.monotonic() + limit.seconds(DEADLINE)
        return Retries(ATTEMPTS, FIRST_WAIT, LONGEST_WAIT, until).call(call, *args, **kwargs)
    except TransientError as error:
        tried = f" (after {error.attempts} attempts)" if error.attempts > 1 else ""
        raise RemoteError(f"{error}{tried}", status=error.status) from error.__cause__
