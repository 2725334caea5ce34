"""An object on an HTTP server that serves ranges.

Every answer must be the bytes that were asked for, of the object that was asked for: a range's
place, length, encoding and identity are checked, and a request takes a time that depends on its
size. Redirects are followed up to five times, never from https to http, and to another host only
where the caller allows it: a URL that somebody else gave must not make this machine ask servers of
their choice. Where redirects led is remembered, so that they cost one request and not one for each.
"""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

from ragfile.errors import ChangedError, RemoteError
from ragfile.ground.extras import optional
from ragfile.ground.offline import is_offline, why
from ragfile.ground.urls import shown
from ragfile.net.json_client import RETRIED, wait_of
from ragfile.net.retries import TransientError
from ragfile.net.watchdog import Watchdog

if TYPE_CHECKING:
    from typing import Any

TIMEOUT, SLOWEST = 30.0, 64 << 10  # seconds without a byte; bytes a second, beyond the first minute
REDIRECTS = 5
_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19})")
_REASONS = {
    401: "the server wants credentials", 403: "the server refuses access", 404: "there is no such file",
    410: "the file is gone", 416: "the server has no such range of it: it is empty, or shorter than it was",
}  # fmt: skip


class Identity(NamedTuple):
    """Who an object is: with a tag, or at least a time, that it is another one can be seen."""

    size: int
    tag: str | None
    modified: str | None


class HttpObject:
    """One URL. Threads can share it; a fork starts with fresh connections."""

    def __init__(self, url, redirects=False):
        self._http = optional("httpx2", "opening a URL")
        self._url = self._place = url
        self._shown = shown(url)
        self._is_led_anywhere = redirects or bool(os.environ.get("RAGFILE_REDIRECTS"))
        self._client = self._process = None
        self._watchdog: Any = None  # made with the client

    def close(self):
        if self._client is not None and self._process == os.getpid():
            self._client.close()
        self._client = None

    def open(self, window):
        """(Identity, at, data): the object's last bytes, at most `window` of them."""
        what = f"the last {window:,} bytes"
        with self._answer({"Range": f"bytes=-{window}"}, what) as answer:
            if answer.status_code == 200:
                return self._whole(answer, window)
            at, end, size = self._range(answer)
            if end != size or end - at != min(window, size):
                raise RemoteError(
                    f"{self._shown}: asked for the last {window:,} bytes, the server sent {at:,} to {end:,} of {size:,}"
                )
            return self._identity(answer, size), at, b"".join(self._body(answer, end - at, what))

    def read(self, at, size, identity):
        """The bytes [at, at + size), in chunks."""
        headers = {"Range": f"bytes={at}-{at + size - 1}"}
        if identity.tag is not None and not identity.tag.startswith(
            "W/"
        ):  # a weak tag never matches
            headers["If-Match"] = identity.tag
        what = f"bytes {at:,} to {at + size:,}"
        with self._answer(headers, what) as answer:
            if answer.status_code == 200:
                raise RemoteError(
                    f"{self._shown}: the server does not serve ranges (it sends the whole file)",
                    status=200,
                )
            start, end, whole = self._range(answer)
            if self._identity(answer, whole) != identity:
                raise self._another()
            if (start, end) != (at, at + size):
                raise RemoteError(
                    f"{self._shown}: asked for bytes {at:,} to {at + size:,}, the server sent {start:,} to {end:,}"
                )
            yield from self._body(answer, size, what)

    # ------------------------------------------------------------------------------------------------------- answers --

    def _whole(self, answer, window):
        """A file that is small enough needs no ranges."""
        length = answer.headers.get("content-length", "")
        if window == 1 and length.isdecimal():
            return self._identity(answer, int(length)), 0, b""
        if not length.isdecimal() or not 0 < int(length) <= window:
            raise RemoteError(
                f"{self._shown}: the server does not serve ranges (it sends the whole file)",
                status=200,
            )
        data = b"".join(self._body(answer, int(length), "the whole file"))
        return self._identity(answer, len(data)), 0, data

    def _identity(self, answer, size):
        tag = answer.headers.get("etag")
        return Identity(size, tag, None if tag else answer.headers.get("last-modified"))

    def _range(self, answer):
        """(start, end, size of the object)"""
        stated = answer.headers.get("content-range", "")
        found = _RANGE.fullmatch(stated)
        first, last, size = map(int, found.groups()) if found else (1, 0, 0)
        if not first <= last < size:
            raise RemoteError(
                f"{self._shown}: the server's Content-Range makes no sense: {stated!r}", status=206
            )
        return first, last + 1, size

    def _body(self, answer, size, what):
        encoding = answer.headers.get("content-encoding", "identity")
        if encoding.lower() != "identity":
            raise RemoteError(
                f"{self._shown}: {what}: the server sends {encoding}, not the file's own bytes"
            )
        left, until = size, time.monotonic() + 60 + size / SLOWEST
        try:
            for data in answer.iter_raw():  # as it comes: a chunk size would wait for the chunk
                if len(data) > left:
                    raise RemoteError(
                        f"{self._shown}: {what}: the server sends more than the {size:,} bytes it announced"
                    )
                left -= len(data)
                yield data
                if left and time.monotonic() > until:
                    raise TransientError(f"{self._shown}: {what}: this takes too long")
        except self._http.TimeoutException as error:
            raise TransientError(f"{self._shown}: {what}: no byte within {TIMEOUT:g} s") from error
        except (self._http.RequestError, self._http.StreamError) as error:
            raise TransientError(
                f"{self._shown}: {what}: the connection broke ({error})"
            ) from error
        if left:
            raise TransientError(f"{self._shown}: {what}: the answer ends {left:,} bytes early")

    def _another(self):
        return ChangedError(
            f"{self._shown} is not the file that was opened any more: refresh() opens the new one",
            status=412,
        )

    # ------------------------------------------------------------------------------------------------------ requests --

    def _answer(self, headers, what):
        """The answer to a GET, good or not at all; its body is not read yet."""
        place = self._place
        answer = self._sent(place, headers, what)
        if (
            answer.status_code in (401, 403, 404, 410) and place != self._url
        ):  # the place that a redirect named can expire
            answer.close()
            answer = self._sent(self._url, headers, what)
        if answer.status_code in (200, 206):
            return _Open(answer)
        answer.close()
        raise self._refusal(answer, what)

    def _refusal(self, answer, what):
        status = answer.status_code
        if status == 412:
            return self._another()
        reason = _REASONS.get(status) or answer.reason_phrase or "no reason given"
        message = f"{self._shown}: {what}: status {status}: {reason}"
        if status in RETRIED or status >= 500:
            error = TransientError(message, wait_of(answer.headers))
            error.status = status
            return error
        return RemoteError(message, status=status)

    def _sent(self, url, headers, what):
        for _ in range(REDIRECTS + 1):
            try:
                answer = self._head(url, headers)
            except (self._http.TimeoutException, TimeoutError) as error:
                raise TransientError(
                    f"{self._shown}: {what}: no answer within {TIMEOUT:g} s"
                ) from error
            except self._http.RequestError as error:
                raise TransientError(
                    f"{self._shown}: {what}: the connection failed ({error})"
                ) from error
            except (self._http.InvalidURL, ValueError) as error:
                raise RemoteError(f"{self._shown} is not a URL: {error}") from error
            if (
                answer.status_code not in (301, 302, 303, 307, 308)
                or "location" not in answer.headers
            ):
                self._place = url
                return answer
            answer.close()
            url = self._led(url, urljoin(url, answer.headers["location"]))
        raise RemoteError(f"{self._shown}: more than {REDIRECTS} redirects")

    def _head(self, url, headers):
        """An answer whose body is not read yet, its head within TIMEOUT seconds in all."""
        client = self._connected()
        trace = {"trace": self._watchdog.note}
        request = client.build_request("GET", url, headers=headers, extensions=trace)
        with self._watchdog.within(TIMEOUT):
            return client.send(request, stream=True)

    def _led(self, before, url):
        """Where a redirect leads, if it is to be followed."""
        there, here = urlsplit(url), urlsplit(before)
        if there.scheme not in ("http", "https") or (there.scheme, here.scheme) == (
            "http",
            "https",
        ):
            raise RemoteError(
                f"{self._shown}: the server redirects to {shown(url)}, which is not followed"
            )
        if not self._is_led_anywhere and _place(there) != _place(here):
            raise RemoteError(
                f"{self._shown}: the server redirects to another host, {shown(url)}: open that, "
                "or allow it with redirects=True"
            )
        return url

    def _connected(self):
        """This process's client: connections of a parent are left alone."""
        if is_offline():
            raise RemoteError(why(self._shown))
        if self._client is None or self._process != os.getpid():
            limits = self._http.Timeout(TIMEOUT, connect=10.0)
            headers = {"Accept-Encoding": "identity"}
            self._client = self._http.Client(
                headers=headers, timeout=limits, follow_redirects=False
            )
            self._process, self._watchdog = os.getpid(), Watchdog()
        return self._client


def _place(parts):
    """The host of a URL, and the port where it is not its scheme's own."""
    port = parts.port
    return parts.hostname, None if port in (80, 443) else port


class _Open:
    """An answer that is closed at the end of a with block."""

    def __init__(self, answer):
        self._answer = answer

    def __enter__(self):
        return self._answer

    def __exit__(self, *_):
        self._answer.close()
