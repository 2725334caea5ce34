"""JSON calls to a provider's HTTP API, answered whole or as a stream, with time-outs and retries.

Time-outs, broken connections and the statuses 408, 409, 425, 429 and 5xx are retried after a wait
that doubles, with jitter, or that the server requests (Retry-After). Every other status is final. A
call can have a time limit for interactive use: then there are at most two attempts, and no wait
ends after the limit. Nothing is sent before the first call, redirects are not followed (they would
pass the key on), and neither keys nor texts are ever logged.

A stream is retried only until its first event, because the caller has read part of the answer
after that. A waiter that is cancelled (ground/cancellation.py) closes its connection.
"""

from __future__ import annotations

import contextlib
import email.utils
import logging
import math
import os
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypedDict, TypeVar, cast
from urllib.parse import urlsplit

from ragfile.errors import ProviderError
from ragfile.ground import cancellation
from ragfile.ground import request_id as tracing
from ragfile.ground.extras import optional
from ragfile.ground.offline import is_offline, why
from ragfile.net.retries import Retries, TransientError
from ragfile.net.watchdog import Watchdog

if TYPE_CHECKING:
    import ssl

    import httpx2

log = logging.getLogger("ragfile.net.json_client")

P = ParamSpec("P")
R = TypeVar("R")

RETRIED = frozenset({408, 409, 425, 429})
HURRIED = 2  # attempts of a call with a time limit
# A status 429 with one of these codes is final: waiting does not cure it.
FINAL_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
# Headers that describe the transfer of a body; they do not apply once it has been read.
FRAMING = frozenset({"content-encoding", "content-length", "transfer-encoding"})
LONGEST_LINE = 1 << 20  # bytes of one line of a stream
LONGEST_REFUSAL = 1 << 16  # bytes that are read of an error response's body
REQUEST_ID_HEADERS = ("x-request-id", "request-id", "x-ms-request-id")


class CallError(ProviderError):
    """A call failed for good.

    `status` is the HTTP status, if there was one; `request_id` is the server's id of the request;
    `body` is the beginning of the response's body.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        request_id: str | None = None,
        body: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.request_id = request_id
        self.body = body


class ErrorReason(NamedTuple):
    """The message of an error response, and the provider's code for it."""

    message: str
    code: object


class Posting(NamedTuple):
    """A request body for a path of the server. Retries share the request id."""

    path: str
    body: Mapping[str, Any]
    request_id: str


class CallOptions(TypedDict, total=False):
    """The options of a Caller that providers pass on: seconds, and the number of attempts."""

    timeout: float
    attempts: int
    first_wait: float
    longest_wait: float


class StreamStart(NamedTuple):
    """A stream's first event, its other events, and the connection to close at the end."""

    connection: contextlib.ExitStack
    first: Any  # Any: of the type that the stream's reader yields
    rest: Iterator[Any]


class CallClient:
    """An HTTP client that serves one call at a time, so that cancelling it cancels no other."""

    def __init__(self, headers: Mapping[str, str], tls: ssl.SSLContext) -> None:
        import httpx2

        self.client = httpx2.Client(headers=headers, follow_redirects=False, verify=tls)
        self.watchdog = Watchdog()


class Caller:
    """The API of one server.

    Threads can share it. A forked child and an unpickled copy open their own connections.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 60.0,
        attempts: int = 5,
        first_wait: float = 0.5,
        longest_wait: float = 60.0,
    ) -> None:
        address = urlsplit(base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(
                f"{base_url!r} is not the address of a server: http://HOST or https://HOST"
            )
        self.base_url = base_url.rstrip("/")
        self._require_client()
        self.headers = dict(headers or {})
        self.timeout = float(timeout)
        self.attempts = int(attempts)
        self.first_wait = float(first_wait)
        self.longest_wait = float(longest_wait)
        self._idle: list[CallClient] = []  # of this process
        self._process: int | None = None
        self._tls: ssl.SSLContext | None = None

    def post(
        self, path: str, body: Mapping[str, Any], *, within: float | None = None
    ) -> dict[str, Any]:
        """Send a JSON object and return the JSON object of the response.

        `within` is the time limit in seconds for all attempts together. CallError is raised for a
        refusal, and once the attempts are spent.
        """
        until = math.inf if within is None else time.monotonic() + within
        attempts = self.attempts if within is None else min(HURRIED, self.attempts)
        retries = Retries(attempts, self.first_wait, self.longest_wait, until)
        return self._retried(retries, self._attempt, _posting(path, body), until)

    def stream(
        self,
        path: str,
        body: Mapping[str, Any],
        read: Callable[[Iterable[str]], Iterator[R]],
    ) -> Iterator[R]:
        """Yield the events that `read` makes of the lines of a streamed response, as they arrive.

        Failures before the first event are retried. Closing the iterator closes the connection.
        """
        return self._events(_posting(path, body), read)

    def _events(
        self, posting: Posting, read: Callable[[Iterable[str]], Iterator[R]]
    ) -> Iterator[R]:
        retries = Retries(self.attempts, self.first_wait, self.longest_wait)
        connection, first, rest = self._retried(retries, self._begun, posting, read)
        try:
            yield first
            yield from rest
        except TransientError as error:
            raise CallError(
                f"{self.base_url}: {error}, in the middle of the answer",
                request_id=posting.request_id,
            ) from error
        finally:
            connection.close()

    def _begun(
        self, posting: Posting, read: Callable[[Iterable[str]], Iterator[object]]
    ) -> StreamStart:
        """Attempt to open a stream; close its connection if there is no first event."""
        started = time.perf_counter()
        with contextlib.ExitStack() as opened:
            with self._recorded(posting, started, self.timeout):
                response = opened.enter_context(self._sent(posting, self.timeout))
            server_id = server_request_id(response)
            self._record(posting, started, response.status_code, server_id)
            if response.status_code != 200:
                self._answer(_refused(response, time.monotonic() + self.timeout))
            events = read(self._lines(response))
            for event in events:
                return StreamStart(opened.pop_all(), event, events)
            raise TransientError("the answer ended before it began")

    @contextlib.contextmanager
    def _recorded(self, posting: Posting, started: float, limit: float) -> Generator[None]:
        """Log a request that got no response, and raise TransientError for it."""
        import httpx2

        try:
            yield
        except (httpx2.TimeoutException, TimeoutError) as error:
            self._record(posting, started, "time-out")
            raise TransientError(f"no answer within {limit:.3g} s") from error
        except httpx2.RequestError as error:
            self._record(posting, started, type(error).__name__)
            raise TransientError(f"the connection failed ({error})") from error

    def _lines(self, response: httpx2.Response) -> Iterator[str]:
        """Yield the lines of a body as they arrive, without their ends.

        Only LF and CR LF end a line, because JSON texts may contain U+2028 and the like.
        """
        import httpx2

        held = b""
        try:
            for piece in response.iter_bytes():
                *whole, held = (held + piece).split(b"\n")
                yield from (line.rstrip(b"\r").decode("utf-8", "replace") for line in whole)
                if len(held) > LONGEST_LINE:
                    raise CallError(
                        f"{self.base_url}: a line of the answer is over {LONGEST_LINE:,} bytes"
                    )
        except httpx2.TimeoutException as error:
            raise TransientError(f"nothing came for {self.timeout:.3g} s") from error
        except (httpx2.RequestError, httpx2.StreamError) as error:
            raise TransientError(f"the connection broke ({error})") from error
        if held:
            yield held.rstrip(b"\r").decode("utf-8", "replace")

    def _retried(
        self, retries: Retries, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Return the call's result; raise CallError once the retries are spent."""
        try:
            return retries.call(call, *args, **kwargs)
        except TransientError as error:
            many = error.attempts > 1
            spent = f"after {error.attempts} attempts" if many else "at the only attempt"
            raise CallError(
                f"{self.base_url}: {error}, {spent}",
                status=error.status,
                request_id=error.request_id,
            ) from error.__cause__

    def _require_client(self) -> None:
        """Raise ImportError if httpx2 is missing, before any document is read or request sent."""
        if find_spec("httpx2") is None:
            optional("httpx2", f"asking {self.base_url}")

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        while self._idle and self._process == os.getpid():
            self._idle.pop().client.close()

    def _attempt(self, posting: Posting, until: float) -> dict[str, Any]:
        started = time.perf_counter()
        limit = max(min(self.timeout, until - time.monotonic()), 0.001)
        with (
            self._recorded(posting, started, limit),
            self._sent(posting, limit) as response,
        ):
            response = _whole(response, until)
        self._record(posting, started, response.status_code, server_request_id(response))
        return self._answer(response)

    @contextlib.contextmanager
    def _sent(self, posting: Posting, limit: float) -> Generator[httpx2.Response]:
        """Send a request and read the response's head, within `limit` seconds in all."""
        free, waiter = self._free_client(), cancellation.current()
        request = self._built(free, posting, limit)
        end = free.watchdog.end
        try:
            with waiter.shutting(end) if waiter else contextlib.nullcontext():
                with free.watchdog.within(limit):
                    response = free.client.send(request, stream=True)
                with contextlib.closing(response):
                    yield response
        except BaseException:
            free.client.close()
            raise
        self._idle.append(free)

    def _built(self, free: CallClient, posting: Posting, limit: float) -> httpx2.Request:
        import httpx2

        return free.client.build_request(
            "POST",
            self.base_url + posting.path,
            json=posting.body,
            headers={"X-Client-Request-Id": posting.request_id},
            timeout=httpx2.Timeout(limit, connect=min(limit, 10.0)),
            extensions={"trace": free.watchdog.note},
        )

    def _answer(self, response: httpx2.Response) -> dict[str, Any]:
        """Return the JSON of a successful response; raise TransientError or CallError for others."""
        status, request_id = response.status_code, server_request_id(response)
        if status == 200:
            return self._json(response, request_id)
        reason, code = reason_of(response)
        reason = self._without_key(reason)
        message = f"status {status}{f', request {request_id}' if request_id else ''}: {reason}"
        if (status in RETRIED or status >= 500) and code not in FINAL_CODES:
            wait = wait_of(response.headers)
            if wait is None or wait <= self.longest_wait:
                error = TransientError(message, wait)
                error.status, error.request_id = status, request_id
                raise error
            message += f" (asks to wait {wait:.0f} s, and {self.longest_wait:.0f} is the most)"
        body = self._without_key(response.text[:2000])
        raise CallError(
            f"{self.base_url}: {message}", status=status, request_id=request_id, body=body
        )

    def _without_key(self, text: str) -> str:
        """Return a server's message without the key, which some servers repeat."""
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        return text.replace(key, "(the key)") if key else text

    def _json(self, response: httpx2.Response, request_id: str | None) -> dict[str, Any]:
        try:
            answer: object = response.json()
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise CallError(
                f"{self.base_url}: the answer is not a JSON object",
                status=200,
                request_id=request_id,
            )
        return cast("dict[str, Any]", answer)

    def _free_client(self) -> CallClient:
        """Return an idle client of this process, or a new one."""
        if is_offline():
            raise ProviderError(why(self.base_url))
        import httpx2

        if self._process != os.getpid():
            self._process, self._idle, self._tls = os.getpid(), [], None
        with contextlib.suppress(IndexError):
            return self._idle.pop()
        tls = self._tls
        if tls is None:
            tls = self._tls = httpx2.create_ssl_context()
        return CallClient(self.headers, tls)

    def _record(
        self, posting: Posting, started: float, outcome: int | str, server_id: str | None = None
    ) -> None:
        """Log one request with its outcome and duration, without its key and texts."""
        milliseconds = 1000 * (time.perf_counter() - started)
        url = self.base_url + posting.path
        fields = {
            "url": url,
            "outcome": outcome,
            "milliseconds": milliseconds,
            "client_request_id": posting.request_id,
            "server_request_id": server_id,
        }
        log.debug("%s: %s in %.1f ms", url, outcome, milliseconds, extra={"call": fields})

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_idle": [], "_process": None, "_tls": None}

    def __repr__(self) -> str:
        return f"Caller({self.base_url})"


def _posting(path: str, body: Mapping[str, Any]) -> Posting:
    return Posting(path, body, tracing.current() or uuid.uuid4().hex)


def _refused(response: httpx2.Response, until: float) -> httpx2.Response:
    """Read as much of an error response's body as the reason needs."""
    import httpx2

    pieces: list[bytes] = []
    size = 0
    try:
        for piece in response.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > LONGEST_REFUSAL or time.monotonic() > until:
                break
    except httpx2.HTTPError:
        pass  # the status is reason enough
    return _with_body(response, b"".join(pieces))


def _whole(response: httpx2.Response, until: float) -> httpx2.Response:
    """Read a whole body; raise TimeoutError at `until`, even if the server still sends bytes."""
    pieces: list[bytes] = []
    for piece in response.iter_bytes():
        pieces.append(piece)
        if time.monotonic() > until:
            raise TimeoutError
    return _with_body(response, b"".join(pieces))


def _with_body(response: httpx2.Response, body: bytes) -> httpx2.Response:
    """Return a response whose decoded body has been read."""
    import httpx2

    headers = [
        (name, value) for name, value in response.headers.items() if name.lower() not in FRAMING
    ]
    return httpx2.Response(response.status_code, headers=headers, content=body)


def bearer(key: str | None) -> dict[str, str]:
    """Return the header for a key.

    A key that does not fit into a header raises ProviderError, before the HTTP client's own message
    would show it.
    """
    if not key:
        return {}
    key = key.strip()
    if not key.isascii() or not key.isprintable():
        raise ProviderError("the key has characters that no key has")
    return {"Authorization": f"Bearer {key}"}


def server_request_id(response: httpx2.Response) -> str | None:
    """Return the server's own id of a request, for its support and for the log."""
    return next(
        (response.headers[name] for name in REQUEST_ID_HEADERS if name in response.headers), None
    )


def reason_of(response: httpx2.Response) -> ErrorReason:
    """Return the reason of an error response in OpenAI's form, Ollama's or any other."""
    try:
        error = response.json()["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ErrorReason(response.text.strip()[:200] or response.reason_phrase, None)
    if isinstance(error, dict):
        fields = cast("dict[str, object]", error)
        return ErrorReason(str(fields.get("message", fields))[:500], fields.get("code"))
    return ErrorReason(str(error)[:500], None)


def wait_of(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that Retry-After requests, as a number or a date.

    None if the header is missing or makes no sense.
    """
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers["retry-after"]
    except (KeyError, ValueError):
        return None
    try:
        return max(0.0, float(value)) if float(value) < float("inf") else None
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
