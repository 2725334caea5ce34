"""An object in a bucket, read through obstore: s3://bucket/key, gs://bucket/key, az://container/key.

obstore opens the sockets: of net/, only types and errors are used. Credentials, region and endpoint come from the environment, in the variables of each provider:

    s3   AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL,
         AWS_SKIP_SIGNATURE=true for public buckets
    gs   GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_SERVICE_ACCOUNT, GOOGLE_SKIP_SIGNATURE=true
    az   AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN,
         AZURE_SKIP_SIGNATURE=true

AWS_, GOOGLE_ or AZURE_ALLOW_HTTP=true allows an endpoint without TLS. obstore retries temporary
failures itself, as often as net/fetcher.py retries HTTP.
"""

from __future__ import annotations

import contextlib
import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypedDict
from urllib.parse import urlsplit

from ragfile.errors import ChangedError, RemoteError
from ragfile.ground.extras import optional
from ragfile.ground.offline import is_offline, why
from ragfile.ground.urls import scheme_of
from ragfile.net.http import FileEnd, Identity
from ragfile.net.retries import TransientError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping
    from types import ModuleType

    from ragfile.ground.server_time import ServerTime

TIMEOUT = 120  # seconds for a whole response, so large ranges are requested in pieces
PIECE, CHUNK = 64 << 20, 1 << 20
RETRIES = {"max_retries": 3, "retry_timeout": timedelta(seconds=60)}


class BucketKind(NamedTuple):
    """A kind of store: obstore's class of it, the prefix of its variables, what its URLs name."""

    store: str
    variables: str
    url: str
    has_suffix_ranges: bool


KINDS = {
    "s3": BucketKind("S3Store", "AWS", "s3://BUCKET/KEY", True),
    "gs": BucketKind("GCSStore", "GOOGLE", "gs://BUCKET/KEY", True),
    "az": BucketKind("AzureStore", "AZURE", "az://CONTAINER/KEY", False),
}


class GetOptions(TypedDict, total=False):
    """The options of obstore.get that are used here."""

    range: tuple[int, int] | dict[str, int]
    if_match: str


class GetAnswer(Protocol):
    """The part of an obstore.GetResult that this module uses."""

    @property
    def range(self) -> tuple[int, int]: ...
    @property
    def meta(self) -> Mapping[str, Any]: ...
    def stream(self, min_chunk_size: int) -> Iterable[bytes]: ...


class BucketObject:
    """One key of a bucket.

    Threads can share it. A forked child cannot use it, because obstore's runtime does not survive a
    fork.
    """

    def __init__(self, url: str) -> None:
        obstore = _obstore(url)
        parts = urlsplit(url, allow_fragments=False)
        self._kind = _kind(url)
        self._key = (parts.path + (f"?{parts.query}" if parts.query else "")).removeprefix("/")
        if not parts.netloc or not self._key:
            raise ValueError(f"{url!r} is not {self._kind.url}")
        self._obstore, self._shown, self._process = obstore, url, os.getpid()
        self._store = store_of(url)

    def close(self) -> None:
        """Do nothing: obstore owns the connections."""

    def open(self, window: int, limit: ServerTime) -> FileEnd:
        """Fetch the object's last bytes, at most `window` of them."""
        answer = self._get(self._ending(window), f"the last {window:,} bytes")
        start, end = answer.range
        identity = _identity(answer)
        if end != identity.size or end - start != min(window, end) or not end:
            raise RemoteError(
                f"{self._shown}: asked for the last {window:,} bytes, the store sent {start:,} to {end:,} of {identity.size:,}"
            )
        return FileEnd(identity, start, b"".join(self._body(answer, end - start, limit)))

    def _ending(self, window: int) -> GetOptions:
        """Return the range of the last bytes; a store without suffix ranges is asked for the size."""
        if self._kind.has_suffix_ranges:
            return {"range": {"suffix": window}}
        with self._failures("its size"):
            found = self._obstore.head(self._store, self._key)
        if not found["size"]:
            raise RemoteError(f"{self._shown}: the object is empty")
        options: GetOptions = {"range": (max(0, found["size"] - window), found["size"])}
        if found.get("e_tag"):
            options["if_match"] = found["e_tag"]
        return options

    def read(self, at: int, size: int, identity: Identity, limit: ServerTime) -> Iterator[bytes]:
        """Yield the bytes [at, at + size) in chunks."""
        for start in range(at, at + size, PIECE):
            yield from self._piece(start, min(PIECE, at + size - start), identity, limit)

    def _piece(self, at: int, size: int, identity: Identity, limit: ServerTime) -> Iterator[bytes]:
        options: GetOptions = {"range": (at, at + size)}
        if identity.tag is not None:
            options["if_match"] = identity.tag
        answer = self._get(options, f"bytes {at:,} to {at + size:,}")
        if _identity(answer) != identity:
            raise self._changed()
        if tuple(answer.range) != (at, at + size):
            raise RemoteError(
                f"{self._shown}: asked for bytes {at:,} to {at + size:,}, the store sent others"
            )
        yield from self._body(answer, size, limit)

    def _changed(self) -> ChangedError:
        return ChangedError(
            f"{self._shown} is not the file that was opened any more: refresh() opens the new one",
            status=412,
        )

    def _get(self, options: GetOptions, what: str) -> GetAnswer:
        """Send one request; `what` names the requested bytes in errors."""
        with self._failures(what):
            answer: GetAnswer = self._obstore.get(self._store, self._key, options=options)
            return answer

    @contextlib.contextmanager
    def _failures(self, what: str) -> Generator[None]:
        """Check that the store may be asked, and translate obstore's exceptions."""
        self._check_usable()
        failures = self._obstore.exceptions
        try:
            yield
        except failures.PreconditionError as error:
            raise self._changed() from error
        except FileNotFoundError as error:
            raise RemoteError(
                f"{self._shown}: {what}: there is no such object", status=404
            ) from error
        except (failures.PermissionDeniedError, failures.UnauthenticatedError) as error:
            raise RemoteError(
                f"{self._shown}: {what}: the store refuses access", status=403
            ) from error
        except failures.BaseError as error:
            raise RemoteError(f"{self._shown}: {what}: {_first_line(error)}") from error

    def _check_usable(self) -> None:
        if self._process != os.getpid():
            raise RemoteError(
                f"{self._shown}: was opened before this process forked: open it here, or use spawn"
            )
        if is_offline():
            raise RemoteError(why(self._shown))

    def _body(self, answer: GetAnswer, size: int, limit: ServerTime) -> Iterator[bytes]:
        left = size
        try:
            for part in answer.stream(min_chunk_size=CHUNK):
                if len(part) > left:
                    raise RemoteError(
                        f"{self._shown}: the store sends more than the {size:,} bytes it announced"
                    )
                left -= len(part)
                yield part
                if left and limit.is_over:
                    raise RemoteError(f"{self._shown}: this takes too long")
        except self._obstore.exceptions.BaseError as error:
            raise TransientError(
                f"{self._shown}: the connection broke ({_first_line(error)})"
            ) from error
        if left:
            raise TransientError(f"{self._shown}: the answer ends {left:,} bytes early")


def store_of(url: str) -> object:
    """Return obstore's client of a URL's bucket, configured from the environment."""
    kind, bucket = _kind(url), urlsplit(url, allow_fragments=False).netloc
    failures = _obstore(url).exceptions
    options: dict[str, object] = {"timeout": f"{TIMEOUT}s", "connect_timeout": "10s"}
    # obstore ignores this variable once client_options are given.
    if os.environ.get(f"{kind.variables}_ALLOW_HTTP", "").lower() == "true":
        options["allow_http"] = True
    store = getattr(optional("obstore.store", _purpose(url)), kind.store)
    try:
        return store(bucket, client_options=options, retry_config=RETRIES)
    except failures.BaseError as error:
        raise RemoteError(f"{url}: {_first_line(error)}") from error


def _kind(url: str) -> BucketKind:
    return KINDS[scheme_of(url)]


def _obstore(url: str) -> ModuleType:
    return optional("obstore", _purpose(url))


def _purpose(url: str) -> str:
    return f"opening a URL of {scheme_of(url)}://"


def _identity(answer: GetAnswer) -> Identity:
    tag = answer.meta.get("e_tag")
    return Identity(
        answer.meta["size"], tag, None if tag else str(answer.meta.get("last_modified"))
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
