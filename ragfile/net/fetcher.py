"""Files behind URLs, of which only the bytes that a question touches are fetched.

    ragfile.open("https://…")   one request for the file's end, one for its front
    _core.Remote                a map of the file's size; blocks without their checksum bit ask for their bytes
    Fetcher                     pieces → what is missing → few requests, side by side → a local file without a name
    HttpObject, S3Object        one request each

The local file is private, sparse, and written once: bytes that are there never change, whatever the
server sends later, for what the core has checked it does not check again. It goes with the process,
and lies where temporary files do (TMPDIR).
"""

from __future__ import annotations

import errno
import os
import tempfile
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ragfile import _core
from ragfile.errors import RemoteError
from ragfile.ground.urls import is_remote, shown
from ragfile.net.block_cache import BlockCache
from ragfile.net.intervals import ByteRanges, joined, merged, without
from ragfile.net.retries import Retries, TransientError

if TYPE_CHECKING:
    from typing import Any

WINDOW = 256 << 10  # of the end: footer, table, configuration
FRONT = 4096 + (64 << 10)  # front page, and the head of the first section
FEW, SHORT, OVER = 3, 128 << 10, 8 << 20  # see spans.joined
AHEAD_FROM, AHEAD = (
    1 << 20,
    8 << 20,
)  # small reads that go on where one ended take as much again, up to that
PARALLEL = 8
ATTEMPTS, FIRST_WAIT, LONGEST_WAIT = 4, 0.25, 30.0


def mapped(url, cache=None, redirects=False, window=WINDOW):
    """A file behind a URL as a map that is filled as it is read.

    cache is a folder that keeps what was fetched; redirects allows those that lead to other hosts;
    window is how much of the file's end the first request brings.
    """
    return _core.Remote(Fetcher(url, cache, redirects, window))


def object_at(url, redirects=False):
    """What speaks to the server that a URL names."""
    if not is_remote(url):
        raise ValueError(f"{url!r} is not a URL of http, https or s3")
    if url.partition("://")[0].lower() == "s3":
        from ragfile.net.s3 import S3Object

        return S3Object(url)
    from ragfile.net.http import HttpObject

    return HttpObject(url, redirects)


class Fetcher:
    """The local file of one object, and what is there of it. Any number of threads; a fork goes on
    with a copy.
    """

    def __init__(self, url, cache=None, redirects=False, window=WINDOW):
        self.path = shown(url)
        self._object = object_at(url, redirects)
        self._there, self._flying = ByteRanges(), []
        self._changed, self._is_inherited = threading.Condition(), False
        self.identity, at, ending = _persistently(self._object.open, window)
        self.size = self.identity.size
        self._file, self.descriptor = self._blank()
        self._kept: Any = (
            None if cache is None else BlockCache(os.fspath(cache), self.path, self.identity)
        )
        self.kept = self._kept is not None
        _all.add(self)
        self._put(at, ending)
        if self.kept:  # a block that begins before the window is whole there only with it
            self._kept.write(at, ending)
        self.fetch([(0, min(FRONT, self.size), None)])

    def _blank(self):
        """(file, descriptor) of a local file of the object's size that has no bytes yet."""
        file = tempfile.TemporaryFile(prefix="ragfile-", buffering=0)  # noqa: SIM115 - it goes with the Fetcher
        try:
            os.ftruncate(file.fileno(), self.size)
        except (OSError, OverflowError) as error:
            file.close()
            raise RemoteError(
                f"{self.path}: no local file of {self.size:,} bytes can be made: {error}"
            ) from error
        return file, file.fileno()

    def close(self):
        """Closes connections; whoever still needs bytes opens new ones."""
        self._object.close()

    def current_identity(self):
        """The identity of the object at the URL now."""
        return _persistently(self._object.open, 1)[0]

    # ------------------------------------------------------------------------------------------------- what is there --

    def fetch(self, pieces, near=False):
        """Puts pieces (at, size, hash or None) into the local file; near: those alone that the
        cache has.
        """
        if self._is_inherited:
            self._take_own_copy()
        with self._changed:
            lacking = [
                piece for piece in pieces if self._there.missing(piece[0], piece[0] + piece[1])
            ]
        if self._kept is not None:
            lacking = [piece for piece in lacking if not self._put_kept(*piece)]
        if lacking and not near:
            self._bring(merged((at, at + size) for at, size, _ in lacking))

    def _put_kept(self, at, size, expected):
        data = None if expected is None else self._kept.read(at, size, expected)
        if data is not None:
            self._put(at, data)
        return data is not None

    def _put(self, at, data):
        """Writes what is not there yet of some bytes."""
        view = memoryview(data)
        with self._changed:
            for start, end in self._there.missing(at, at + len(view)):
                self._write(view[start - at : end - at], start)
                self._there.add(start, end)

    def _write(self, data, at):
        try:
            while data:
                done = os.pwrite(self.descriptor, data, at)
                data, at = data[done:], at + done
        except OSError as error:
            where = tempfile.gettempdir()
            raise OSError(
                error.errno or errno.EIO,
                f"no room for bytes of {self.path}: {error.strerror}",
                where,
            ) from error

    # -------------------------------------------------------------------------------------------------------- asking --

    def _bring(self, wanted):
        """Asks for what nobody asks for yet, and waits for the rest."""
        while True:
            with self._changed:
                missing = [
                    part for start, end in wanted for part in self._there.missing(start, end)
                ]
                if not missing:
                    return
                requests = self._requests(without(missing, self._flying))
                if not requests:
                    self._changed.wait()
                    continue
                self._flying += requests
            try:
                self._ask(requests)
            finally:
                with self._changed:
                    self._flying = [request for request in self._flying if request not in requests]
                    self._changed.notify_all()

    def _requests(self, missing):
        requests = joined(missing, FEW, SHORT, OVER)
        if len(requests) == 1 and requests[0][1] - requests[0][0] <= AHEAD_FROM:
            start, end = requests[0]
            more = min(self._there.before(start), AHEAD, self.size - end)
            requests = [(start, end + more)]
        return requests

    def _ask(self, requests):
        if len(requests) == 1:
            self._read(*requests[0])
            return
        with ThreadPoolExecutor(min(PARALLEL, len(requests)), "ragfile-remote") as pool:
            asked = [pool.submit(self._read, *request) for request in requests]
            try:
                for done in asked:
                    done.result()
            except BaseException:
                pool.shutdown(
                    wait=False, cancel_futures=True
                )  # those on their way come to their own end
                raise

    def _read(self, start, end):
        """One request; where its answer breaks off, another for the rest."""
        at = start

        def read():
            nonlocal at
            for data in self._object.read(at, end - at, self.identity):
                self._put(at, data)
                if self._kept is not None:
                    self._kept.write(at, data)
                at += len(data)

        _persistently(read)

    # --------------------------------------------------------------------------------------------------------- forks --

    def inherit(self):
        """In a forked child: threads and locks are the parent's, and so is the file."""
        self._changed, self._flying, self._is_inherited = threading.Condition(), [], True

    def _take_own_copy(self):
        with self._changed:
            if not self._is_inherited:
                return
            file, descriptor = self._blank()
            for start, end in self._there:
                for at in range(start, end, 1 << 20):
                    os.pwrite(descriptor, os.pread(self.descriptor, min(end - at, 1 << 20), at), at)
            self._file, self.descriptor, self._is_inherited = file, descriptor, False


_all = weakref.WeakSet()
os.register_at_fork(after_in_child=lambda: [fetcher.inherit() for fetcher in list(_all)])


def _persistently(call, *args):
    """Return the call's answer, after as many attempts as it pays to make."""
    try:
        return Retries(ATTEMPTS, FIRST_WAIT, LONGEST_WAIT).call(call, *args)
    except TransientError as error:
        tried = f" (after {error.attempts} attempts)" if error.attempts > 1 else ""
        raise RemoteError(f"{error}{tried}", status=error.status) from error.__cause__
