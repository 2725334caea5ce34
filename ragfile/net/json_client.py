"""Calls to a provider's HTTP API: one JSON question, one JSON answer or a stream, time-outs, and
retries that mind the server.

Time-outs, broken connections and the statuses 408, 409, 425, 429 and 5xx are tried again after a
wait that doubles, with jitter, or that the server names (Retry-After). Every other status is final.
A call can have a time limit for all of it, for somebody who waits: then there are two attempts, and
no wait that would end after that time. Nothing is sent before the first call, redirects are not
followed (they would carry the key along), and neither keys nor texts are ever logged.

A streamed answer is tried again only until its first event: after that somebody has read a part of
it. When those who wait for an answer leave (ground/cancellation.py), its connection is shut.
"""

from __future__ import annotations

import contextlib
import email.utils
import logging
import math
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from urllib.parse import urlsplit

from ragfile.errors import ProviderError
from ragfile.ground import cancellation
from ragfile.ground import request_id as tracing
from ragfile.ground.extras import optional
from ragfile.ground.offline import is_offline, why
from ragfile.net.retries import Retries, TransientError
from ragfile.net.watchdog import Watchdog

log = logging.getLogger("ragfile.net.json_client")

RETRIED = frozenset({408, 409, 425, 429})
HURRIED = 2  # attempts of a call that somebody waits for
FINAL_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached"}
)  # a 429 that waiting does not cure
FRAMING = frozenset(
    {"content-encoding", "content-length", "transfer-encoding"}
)  # of a body that has been read
LONGEST_LINE = 1 << 20  # bytes of one line of a stream
LONGEST_REFUSAL = 1 << 16  # bytes of an error's body that are read
REQUEST_ID_HEADERS = ("x-request-id", "request-id", "x-ms-request-id")


class CallError(ProviderError):
    """A call that failed for good: status is the HTTP status if there was one, request_id the
    server's name for it.
    """

    def __init__(self, message, *, status=None, request_id=None, body=""):
        super().__init__(message)
        self.status = status
        self.request_id = request_id
        self.body = body


class _Line:
    """A client for one call at a time, so that ending it ends no other."""

    def __init__(self, headers, tls):
        import httpx2

        self.client = httpx2.Client(headers=headers, follow_redirects=False, verify=tls)
        self.watchdog = Watchdog()


class Caller:
    """One server. Threads can share it; a fork or a pickle starts with fresh connections."""

    def __init__(
        self, base_url, *, headers=None, timeout=60.0, attempts=5, first_wait=0.5, longest_wait=60.0
    ):
        address = urlsplit(base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(
                f"{base_url!r} is not the address of a server: http://HOST or https://HOST"
            )
        self.base_url = base_url.rstrip("/")
        self._require()
        self.headers = dict(headers or {})
        self.timeout = float(timeout)
        self.attempts = int(attempts)
        self.first_wait = float(first_wait)
        self.longest_wait = float(longest_wait)
        self._idle: list[_Line] = []  # of this process
        self._process = self._tls = None

    def post(self, path: str, question: dict, *, within: float | None = None) -> dict:
        """The answer to a question; CallError when it is refused or the attempts are spent, within
        so many seconds if it is to be.
        """
        until = math.inf if within is None else time.monotonic() + within
        request_id = (
            tracing.current() or uuid.uuid4().hex
        )  # the same for every attempt: one question
        attempts = self.attempts if within is None else min(HURRIED, self.attempts)
        retries = Retries(attempts, self.first_wait, self.longest_wait, until)
        return self._retried(retries, self._attempt, path, question, request_id, until)

    def stream(
        self, path: str, question: dict, read: Callable[[Iterable[str]], Iterator]
    ) -> Iterator:
        """The events that `read` makes of the lines of a streamed answer, as they come; closing the
        iterator hangs up.

        Whoever asks decides by the first event when the answer has begun: what goes wrong before it
        is tried again.
        """
        request_id = tracing.current() or uuid.uuid4().hex
        return self._events(path, question, read, request_id)

    def _events(self, path, question, read, request_id):
        retries = Retries(self.attempts, self.first_wait, self.longest_wait)
        opened, first, rest = self._retried(retries, self._begun, path, question, read, request_id)
        try:
            yield first
            yield from rest
        except TransientError as error:
            raise CallError(
                f"{self.base_url}: {error}, in the middle of the answer", request_id=request_id
            ) from error
        finally:
            opened.close()

    def _begun(self, path, question, read, request_id):
        """(what is open, first event, the others) of an attempt; what was opened is closed if there
        is no first event.
        """
        started = time.perf_counter()
        with contextlib.ExitStack() as opened:
            with self._recorded(path, request_id, started, self.timeout):
                asked = self._asked(path, question, request_id, self.timeout)
                response = opened.enter_context(asked)
            server_id = server_request_id(response)
            self._record(path, request_id, started, response.status_code, server_id)
            if response.status_code != 200:
                self._answer(_refused(response, time.monotonic() + self.timeout))
            events = read(self._lines(response))
            for event in events:
                return opened.pop_all(), event, events
            raise TransientError("the answer ended before it began")

    @contextlib.contextmanager
    def _recorded(self, path, request_id, started, most):
        """Note a request without an answer in the log, and raise TransientError for it."""
        import httpx2

        try:
            yield
        except (httpx2.TimeoutException, TimeoutError) as error:
            self._record(path, request_id, started, "time-out")
            raise TransientError(f"no answer within {most:.3g} s") from error
        except httpx2.RequestError as error:
            self._record(path, request_id, started, type(error).__name__)
            raise TransientError(f"the connection failed ({error})") from error

    def _lines(self, response):
        """The lines of a body as they come, without their ends. Only LF and CR LF end one: texts
        hold U+2028 and the like.
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

    def _retried(self, retries, call, *arguments):
        """Return what the call answers; raise CallError once the retries are spent."""
        try:
            return retries.call(call, *arguments)
        except TransientError as error:
            spent = (
                f"after {error.attempts} attempts" if error.attempts > 1 else "at the only attempt"
            )
            raise CallError(
                f"{self.base_url}: {error}, {spent}",
                status=error.status,
                request_id=error.request_id,
            ) from error.__cause__

    def _require(self):
        """Say that the package is missing before anything is read or asked."""
        if find_spec("httpx2") is None:
            optional("httpx2", f"asking {self.base_url}")

    def close(self):
        """Closes the connections; the next call opens new ones."""
        while self._idle and self._process == os.getpid():
            self._idle.pop().client.close()

    def _attempt(self, path, question, request_id, until):
        started = time.perf_counter()
        most = max(min(self.timeout, until - time.monotonic()), 0.001)
        with (
            self._recorded(path, request_id, started, most),
            self._asked(path, question, request_id, most) as response,
        ):
            response = _whole(response, until)
        self._record(path, request_id, started, response.status_code, server_request_id(response))
        return self._answer(response)

    @contextlib.contextmanager
    def _asked(self, path, question, request_id, most):
        """The response to a question, its body not read yet, its head within so many seconds."""
        import httpx2

        line, waiter = self._line(), cancellation.current()
        request = line.client.build_request(
            "POST",
            self.base_url + path,
            json=question,
            headers={"X-Client-Request-Id": request_id},
            timeout=httpx2.Timeout(most, connect=min(most, 10.0)),
            extensions={"trace": line.watchdog.note},
        )
        end = line.watchdog.end
        try:
            with waiter.shutting(end) if waiter else contextlib.nullcontext():
                with line.watchdog.within(most):
                    response = line.client.send(request, stream=True)
                with contextlib.closing(response):
                    yield response
        except BaseException:
            line.client.close()
            raise
        self._idle.append(line)

    def _answer(self, response):
        """The JSON of a good response; else TransientError or CallError."""
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

    def _without_key(self, text):
        """A server's words, without the key that some of them repeat."""
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        return text.replace(key, "(the key)") if key else text

    def _json(self, response, request_id):
        try:
            answer = response.json()
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise CallError(
                f"{self.base_url}: the answer is not a JSON object",
                status=200,
                request_id=request_id,
            )
        return answer

    def _line(self):
        """A line that is idle, or a new one. Those of a parent process are left alone."""
        if is_offline():
            raise ProviderError(why(self.base_url))
        import httpx2

        if self._process != os.getpid():
            self._process, self._idle, self._tls = os.getpid(), [], None
        with contextlib.suppress(IndexError):
            return self._idle.pop()
        if self._tls is None:
            self._tls = httpx2.create_ssl_context()
        return _Line(self.headers, self._tls)

    def _record(self, path, request_id, started, outcome, server_id=None):
        milliseconds = 1000 * (time.perf_counter() - started)
        fields = {"url": self.base_url + path, "outcome": outcome, "milliseconds": milliseconds}
        fields |= {"client_request_id": request_id, "server_request_id": server_id}
        log.debug(
            "%s%s: %s in %.1f ms",
            self.base_url,
            path,
            outcome,
            milliseconds,
            extra={"call": fields},
        )

    def __getstate__(self):
        return {**self.__dict__, "_idle": [], "_process": None, "_tls": None}

    def __repr__(self):
        return f"Caller({self.base_url})"


def _refused(response, until):
    """An error response with as much of its body as a reason needs."""
    import httpx2

    pieces, size = [], 0
    try:
        for piece in response.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > LONGEST_REFUSAL or time.monotonic() > until:
                break
    except httpx2.HTTPError:
        pass  # the status says enough
    return _read(response, b"".join(pieces))


def _whole(response, until):
    """The response with all of its body, read no longer than until: a server that sends a byte now
    and then is not waited for.
    """
    pieces = []
    for piece in response.iter_bytes():
        pieces.append(piece)
        if time.monotonic() > until:
            raise TimeoutError
    return _read(response, b"".join(pieces))


def _read(response, body):
    """The response with a body that has been read."""
    import httpx2

    headers = [
        (name, value) for name, value in response.headers.items() if name.lower() not in FRAMING
    ]
    return httpx2.Response(response.status_code, headers=headers, content=body)


def bearer(key):
    """The header of a key. A key that no header can hold is refused here, before an error message
    shows it.
    """
    if not key:
        return {}
    key = key.strip()
    if not key.isascii() or not key.isprintable():
        raise ProviderError("the key has characters that no key has")
    return {"Authorization": f"Bearer {key}"}


def server_request_id(response):
    """The server's own name for a request, for its support and for the log."""
    return next(
        (response.headers[name] for name in REQUEST_ID_HEADERS if name in response.headers), None
    )


def reason_of(response):
    """(sentence, code) of an error response, in OpenAI's form, Ollama's, or any other."""
    try:
        error = response.json()["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return (response.text.strip()[:200] or response.reason_phrase), None
    if isinstance(error, dict):
        return str(error.get("message", error))[:500], error.get("code")
    return str(error)[:500], None


def wait_of(headers):
    """The seconds that Retry-After asks for, as a number or a date; None if it does not, or makes
    no sense.
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
