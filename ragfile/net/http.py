"""A file on an HTTP server that serves byte ranges.

Every response is checked to hold the requested bytes of the requested file: the offset, length,
encoding and identity of a range, and the time limit of its question. Redirects are followed
up to five times, never from https to http, and to another host only if the caller allows it: a URL
from an untrusted source must not make this machine query servers of its choice. The final URL is
remembered, so that redirects cost one request in all, not one per range.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from ragfile.errors import ChangedError, RemoteError
from ragfile.ground.extras import optional
from ragfile.ground.offline import is_offline, why
from ragfile.ground.urls import shown
from ragfile.net.json_client import RETRIED, wait_of
from ragfile.net.retries import TransientError
from ragfile.net.watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    import httpx2

    from ragfile.ground.server_time import ServerTime

TIMEOUT = 30.0  # seconds without a byte
REDIRECTS = 5
_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19})")
_REASONS = {
    401: "the server wants credentials", 403: "the server refuses access", 404: "there is no such file",
    410: "the file is gone", 416: "the server has no such range of it: it is empty, or shorter than it was",
}  # fmt: skip


class Identity(NamedTuple):
    """The version of a remote file. A tag, or else a time, shows that the file was replaced."""

    size: int
    tag: str | None
    modified: str | None


class FileEnd(NamedTuple):
    """The last bytes of a remote file, which begin at offset `at`."""

    identity: Identity
    at: int
    data: bytes


class ContentRange(NamedTuple):
    """The bytes [start, end) of a file of `size` bytes."""

    start: int
    end: int
    size: int


class HttpObject:
    """The file at one URL. Threads can share it; a forked child opens its own connections.

    token is sent to the URL's own host only; name stands for the URL in errors.
    """

    def __init__(
        self, url: str, redirects: bool = False, *, token: str | None = None, name: str = ""
    ) -> None:
        self._http = optional("httpx2", "opening a URL")
        self._url = self._final_url = url
        self._shown, self._token = name or shown(url), token
        self._may_change_host = redirects or bool(os.environ.get("RAGFILE_REDIRECTS"))
        self._client: httpx2.Client | None = None
        self._process: int | None = None
        self._watchdog = Watchdog()

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        if self._client is not None and self._process == os.getpid():
            self._client.close()
        self._client = None

    def open(self, window: int, limit: ServerTime) -> FileEnd:
        """Fetch the file's last bytes, at most `window` of them."""
        what = f"the last {window:,} bytes"
        with self._response({"Range": f"bytes=-{window}"}, what, limit) as response:
            if response.status_code == 200:
                return self._whole(response, window, limit)
            at, end, size = self._range(response)
            if end != size or end - at != min(window, size):
                raise RemoteError(
                    f"{self._shown}: asked for the last {window:,} bytes, the server sent {at:,} to {end:,} of {size:,}"
                )
            data = b"".join(self._body(response, end - at, what, limit))
            return FileEnd(_identity(response, size), at, data)

    def read(self, at: int, size: int, identity: Identity, limit: ServerTime) -> Iterator[bytes]:
        """Yield the bytes [at, at + size) in chunks."""
        headers = {"Range": f"bytes={at}-{at + size - 1}"}
        if identity.tag is not None and not identity.tag.startswith("W/"):
            # A weak tag never matches.
            headers["If-Match"] = identity.tag
        what = f"bytes {at:,} to {at + size:,}"
        with self._response(headers, what, limit) as response:
            self._check_range(response, at, size, identity)
            yield from self._body(response, size, what, limit)

    def _check_range(
        self, response: httpx2.Response, at: int, size: int, identity: Identity
    ) -> None:
        """Raise RemoteError unless a response holds the bytes [at, at + size) of the file."""
        if response.status_code == 200:
            raise self._without_ranges()
        start, end, whole = self._range(response)
        if _identity(response, whole) != identity:
            raise self._changed()
        if (start, end) != (at, at + size):
            raise RemoteError(
                f"{self._shown}: asked for bytes {at:,} to {at + size:,}, the server sent {start:,} to {end:,}"
            )

    def _whole(self, response: httpx2.Response, window: int, limit: ServerTime) -> FileEnd:
        """Read a response with the whole file, which must fit into the window."""
        length = response.headers.get("content-length", "")
        if window == 1 and length.isdecimal():
            return FileEnd(_identity(response, int(length)), 0, b"")
        if not length.isdecimal() or not 0 < int(length) <= window:
            raise self._without_ranges()
        data = b"".join(self._body(response, int(length), "the whole file", limit))
        return FileEnd(_identity(response, len(data)), 0, data)

    def _range(self, response: httpx2.Response) -> ContentRange:
        stated = response.headers.get("content-range", "")
        found = _RANGE.fullmatch(stated)
        first, last, size = map(int, found.groups()) if found else (1, 0, 0)
        if not first <= last < size:
            raise RemoteError(
                f"{self._shown}: the server's Content-Range makes no sense: {stated!r}", status=206
            )
        return ContentRange(first, last + 1, size)

    def _body(
        self, response: httpx2.Response, size: int, what: str, limit: ServerTime
    ) -> Iterator[bytes]:
        """Yield a body of exactly `size` bytes; `what` names them in errors."""
        encoding = response.headers.get("content-encoding", "identity")
        if encoding.lower() != "identity":
            raise RemoteError(
                f"{self._shown}: {what}: the server sends {encoding}, not the file's own bytes"
            )
        try:
            with self._watchdog.within(limit.seconds(math.inf)):
                yield from self._chunks(response, size, what)
        except TimeoutError as error:
            raise TransientError(f"{self._shown}: {what}: this takes too long") from error
        except self._http.TimeoutException as error:
            raise TransientError(f"{self._shown}: {what}: no byte within {TIMEOUT:g} s") from error
        except (self._http.RequestError, self._http.StreamError) as error:
            raise TransientError(
                f"{self._shown}: {what}: the connection broke ({error})"
            ) from error

    def _chunks(self, response: httpx2.Response, size: int, what: str) -> Iterator[bytes]:
        left = size
        for data in response.iter_raw():  # as it comes: a chunk size would wait for the chunk
            if len(data) > left:
                raise RemoteError(
                    f"{self._shown}: {what}: the server sends more than the {size:,} bytes it announced"
                )
            left -= len(data)
            yield data
        if left:
            raise TransientError(f"{self._shown}: {what}: the answer ends {left:,} bytes early")

    def _changed(self) -> ChangedError:
        return ChangedError(
            f"{self._shown} is not the file that was opened any more: refresh() opens the new one",
            status=412,
        )

    def _without_ranges(self) -> RemoteError:
        return RemoteError(
            f"{self._shown}: the server does not serve ranges (it sends the whole file)", status=200
        )

    @contextlib.contextmanager
    def _response(
        self, headers: Mapping[str, str], what: str, limit: ServerTime
    ) -> Generator[httpx2.Response]:
        """Send a GET; the response is a success, its body is unread, and it is closed at the end."""
        url = self._final_url
        response = self._sent(url, headers, what, limit)
        if response.status_code in (401, 403, 404, 410) and url != self._url:
            # The target of a redirect can expire, so start again from the URL itself.
            response.close()
            response = self._sent(self._url, headers, what, limit)
        try:
            if response.status_code not in (200, 206):
                raise self._refusal(response, what)
            yield response
        finally:
            response.close()

    def _refusal(self, response: httpx2.Response, what: str) -> RemoteError | TransientError:
        """Return the exception for a response that is not a success."""
        status = response.status_code
        if status == 412:
            return self._changed()
        reason = _REASONS.get(status) or response.reason_phrase or "no reason given"
        message = f"{self._shown}: {what}: status {status}: {reason}"
        if status in RETRIED or status >= 500:
            error = TransientError(message, wait_of(response.headers))
            error.status = status
            return error
        return RemoteError(message, status=status)

    def _sent(
        self, url: str, headers: Mapping[str, str], what: str, limit: ServerTime
    ) -> httpx2.Response:
        """Send a GET and follow its redirects."""
        for _ in range(REDIRECTS + 1):
            response = self._answered(url, headers, what, limit)
            is_redirect = response.status_code in (301, 302, 303, 307, 308)
            if not is_redirect or "location" not in response.headers:
                self._final_url = url
                return response
            response.close()
            url = self._allowed(url, urljoin(url, response.headers["location"]))
        raise RemoteError(f"{self._shown}: more than {REDIRECTS} redirects")

    def _answered(
        self, url: str, headers: Mapping[str, str], what: str, limit: ServerTime
    ) -> httpx2.Response:
        """Send one GET; raise TransientError for a connection that fails."""
        seconds = limit.seconds(TIMEOUT)
        late = "this takes too long" if seconds < TIMEOUT else f"no answer within {TIMEOUT:g} s"
        if not seconds:
            raise TransientError(f"{self._shown}: {what}: {late}")
        try:
            return self._head(url, headers, seconds)
        except (self._http.TimeoutException, TimeoutError) as error:
            raise TransientError(f"{self._shown}: {what}: {late}") from error
        except self._http.RequestError as error:
            raise TransientError(
                f"{self._shown}: {what}: the connection failed ({error})"
            ) from error
        except (self._http.InvalidURL, ValueError) as error:
            raise RemoteError(f"{self._shown} is not a URL: {error}") from error

    def _head(self, url: str, headers: Mapping[str, str], seconds: float) -> httpx2.Response:
        """Send one GET and read the response's head, within so many seconds in all."""
        client = self._connected()
        trace = {"trace": self._watchdog.note}
        sent = {**headers, **self._credentials(url)}
        request = client.build_request("GET", url, headers=sent, extensions=trace)
        with self._watchdog.within(seconds):
            return client.send(request, stream=True)

    def _credentials(self, url: str) -> dict[str, str]:
        """Return the headers that prove access, none for the target of a redirect elsewhere."""
        if self._token is None or _origin(url) != _origin(self._url):
            return {}
        return {"Authorization": f"Bearer {self._token}"}

    def _allowed(self, source: str, target: str) -> str:
        """Return the target of a redirect; raise RemoteError if it must not be followed."""
        new, old = urlsplit(target), urlsplit(source)
        is_downgrade = (new.scheme, old.scheme) == ("http", "https")
        if new.scheme not in ("http", "https") or is_downgrade:
            raise RemoteError(
                f"{self._shown}: the server redirects to {shown(target)}, which is not followed"
            )
        if not self._may_change_host and _host_and_port(new) != _host_and_port(old):
            raise RemoteError(
                f"{self._shown}: the server redirects to another host, {shown(target)}: open that, "
                "or allow it with redirects=True"
            )
        return target

    def _connected(self) -> httpx2.Client:
        """Return this process's client; a parent's connections are left alone."""
        if is_offline():
            raise RemoteError(why(self._shown))
        if self._client is None or self._process != os.getpid():
            limits = self._http.Timeout(TIMEOUT, connect=10.0)
            headers = {"Accept-Encoding": "identity"}
            client: httpx2.Client = self._http.Client(
                headers=headers, timeout=limits, follow_redirects=False
            )
            self._client, self._process, self._watchdog = client, os.getpid(), Watchdog()
            return client
        return self._client


def _identity(response: httpx2.Response, size: int) -> Identity:
    tag = response.headers.get("etag")
    return Identity(size, tag, None if tag else response.headers.get("last-modified"))


def _origin(url: str) -> tuple[str, str | None, int | None]:
    """Return a URL's scheme, host and port."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _host_and_port(parts: SplitResult) -> tuple[str | None, int | None]:
    """Return a URL's host, and its port unless it is the default of http or https."""
    port = parts.port
    return parts.hostname, None if port in (80, 443) else port
