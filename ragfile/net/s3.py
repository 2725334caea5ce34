"""An object in a store that speaks S3, by way of obstore: s3://bucket/key.

Credentials, region and endpoint come from the environment (AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL, AWS_ALLOW_HTTP=true for an endpoint without
TLS, AWS_SKIP_SIGNATURE=true for public buckets). Statuses that might pass are tried again inside
obstore, as often as HTTP's are here.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ragfile.errors import ChangedError, RemoteError
from ragfile.ground.extras import optional
from ragfile.ground.offline import is_offline, why
from ragfile.net.http import Identity
from ragfile.net.retries import TransientError

if TYPE_CHECKING:
    from typing import Any

TIMEOUT = 120  # seconds for a whole answer, which is why large stretches are asked for in pieces
PIECE, CHUNK = 64 << 20, 1 << 20
RETRIES = {"max_retries": 3, "retry_timeout": timedelta(seconds=60)}


class S3Object:
    """One key of a bucket. Threads can share it; a forked child cannot use it (obstore's runtime
    does not fork).
    """

    def __init__(self, url):
        obstore = optional("obstore", "opening an s3:// URL")
        parts = urlsplit(url, allow_fragments=False)
        self._key = (parts.path + (f"?{parts.query}" if parts.query else "")).removeprefix("/")
        if not parts.netloc or not self._key:
            raise ValueError(f"{url!r} is not s3://BUCKET/KEY")
        self._obstore, self._shown, self._process = obstore, url, os.getpid()
        self._store = store_of(parts.netloc)

    def close(self):
        """Connections are obstore's own."""

    def open(self, window):
        """(Identity, at, data): the object's last bytes, at most `window` of them."""
        answer = self._asked({"range": {"suffix": window}}, f"the last {window:,} bytes")
        start, end = answer.range
        identity = self._identity(answer)
        if end != identity.size or end - start != min(window, end) or not end:
            raise RemoteError(
                f"{self._shown}: asked for the last {window:,} bytes, the store sent {start:,} to {end:,} of {identity.size:,}"
            )
        return identity, start, b"".join(self._body(answer, end - start))

    def read(self, at, size, identity):
        """The bytes [at, at + size), in chunks."""
        for start in range(at, at + size, PIECE):
            yield from self._piece(start, min(PIECE, at + size - start), identity)

    def _piece(self, at, size, identity):
        options = {"range": (at, at + size)}
        if identity.tag is not None:
            options["if_match"] = identity.tag
        answer = self._asked(options, f"bytes {at:,} to {at + size:,}")
        if self._identity(answer) != identity:
            raise self._another()
        if tuple(answer.range) != (at, at + size):
            raise RemoteError(
                f"{self._shown}: asked for bytes {at:,} to {at + size:,}, the store sent others"
            )
        yield from self._body(answer, size)

    def _identity(self, answer):
        tag = answer.meta.get("e_tag")
        return Identity(
            answer.meta["size"], tag, None if tag else str(answer.meta.get("last_modified"))
        )

    def _another(self):
        return ChangedError(
            f"{self._shown} is not the file that was opened any more: refresh() opens the new one",
            status=412,
        )

    def _asked(self, options, what):
        if self._process != os.getpid():
            raise RemoteError(
                f"{self._shown}: was opened before this process forked: open it here, or use spawn"
            )
        if is_offline():
            raise RemoteError(why(self._shown))
        failures = self._obstore.exceptions
        try:
            return self._obstore.get(self._store, self._key, options=options)
        except failures.PreconditionError as error:
            raise self._another() from error
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

    def _body(self, answer, size):
        left = size
        try:
            for part in answer.stream(min_chunk_size=CHUNK):
                if len(part) > left:
                    raise RemoteError(
                        f"{self._shown}: the store sends more than the {size:,} bytes it announced"
                    )
                left -= len(part)
                yield part
        except self._obstore.exceptions.BaseError as error:
            raise TransientError(
                f"{self._shown}: the connection broke ({_first_line(error)})"
            ) from error
        if left:
            raise TransientError(f"{self._shown}: the answer ends {left:,} bytes early")


def store_of(bucket: str) -> Any:
    """The store that a bucket is, as the environment says how to reach it."""
    store = optional("obstore.store", "opening an s3:// URL")
    options: Any = {"timeout": f"{TIMEOUT}s", "connect_timeout": "10s"}
    # It is not read from the environment once options are given.
    if os.environ.get("AWS_ALLOW_HTTP", "").lower() == "true":
        options["allow_http"] = True
    return store.S3Store(bucket, client_options=options, retry_config=RETRIES)


def _first_line(error):
    return str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
