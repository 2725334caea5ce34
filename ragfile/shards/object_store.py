"""A dataset under a prefix of a bucket, through obstore: s3://, gs:// or az://bucket/prefix/.

Credentials, region and endpoint come from the environment, as for single files (net/bucket_object.py). A manifest is created with
`If-None-Match: *`, which is atomic on S3, Google Cloud Storage and Azure. A store without it is unsafe for two writers.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ragfile.errors import RemoteError
from ragfile.ground.extras import optional
from ragfile.ground.offline import is_offline, why
from ragfile.net.bucket_object import store_of
from ragfile.shards.stores import Listed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from types import ModuleType
    from typing import Any, TypeVar

    Result = TypeVar("Result")

PIECE = 8 << 20
CLOCK = "building/clock"


class Bucket:
    """A prefix of a bucket. Each process opens its own store: obstore's runtime does not survive a fork."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/") + "/"
        parts = urlsplit(self.root, allow_fragments=False)
        self._prefix = parts.path.removeprefix("/")
        self._made: tuple[int, object] | None = None  # the process, its store

    def __reduce__(self) -> tuple[object, ...]:
        return Bucket, (self.root,)

    @property
    def _store(self) -> object:
        if is_offline():
            raise RemoteError(why(self.root))
        if self._made is None or self._made[0] != os.getpid():
            self._made = os.getpid(), store_of(self.root)
        return self._made[1]

    @property
    def _obstore(self) -> ModuleType:
        return optional("obstore", "a dataset in a bucket")

    def url(self, name: str) -> str:
        return self.root + name

    def _asked(
        self, call: Callable[..., Result], what: str, *arguments: object, **options: object
    ) -> Result:
        """Call obstore; raise RemoteError if it fails."""
        with self._failures(what):
            return call(self._store, *arguments, **options)

    @contextmanager
    def _failures(self, what: str) -> Generator[None]:
        """Raise RemoteError where obstore fails: also in the bytes and pages that come after its answer."""
        failures = self._obstore.exceptions
        try:
            yield
        except FileNotFoundError:
            raise
        except failures.AlreadyExistsError:
            raise
        except failures.BaseError as error:
            first = str(error).strip().splitlines()[:1] or [type(error).__name__]
            raise RemoteError(f"{self.root}: {what}: {first[0][:300]}") from error

    def read(self, name: str) -> bytes:
        what = f"reading {name}"
        found = self._asked(self._obstore.get, what, self._prefix + name)
        with self._failures(what):
            return bytes(found.bytes())

    def put_new(self, name: str, data: bytes) -> bool:
        """Create an object at once with all of its bytes; False if the name exists."""
        key, failures = self._prefix + name, self._obstore.exceptions
        try:
            self._asked(self._obstore.put, f"creating {name}", key, data, mode="create")
        except failures.AlreadyExistsError:
            # A request that is retried after its answer was lost finds its own object.
            return self.read(name) == data
        return True

    def put(self, name: str, path: str) -> None:
        """Store a file's content under its name; rewriting gives an existing one a new time."""
        with open(path, "rb") as file:
            self._asked(self._obstore.put, f"writing {name}", self._prefix + name, file)

    def fetch(self, name: str, path: str) -> None:
        what = f"reading {name}"
        found = self._asked(self._obstore.get, what, self._prefix + name)
        with open(path, "wb") as file, self._failures(what):
            for part in found.stream(min_chunk_size=PIECE):
                file.write(part)

    def size(self, name: str) -> int | None:
        try:
            found = self._asked(self._obstore.head, f"looking at {name}", self._prefix + name)
            return int(found["size"])
        except FileNotFoundError:
            return None

    def newest(self, prefix: str) -> str | None:
        """Return the first name under a prefix: listings are in order, so one page is enough."""
        found = self._listing(prefix, 1)
        first = next((name for page in found for name in sorted(e["path"] for e in page)), None)
        return None if first is None else first.removeprefix(self._prefix)

    def _listing(self, prefix: str, size: int) -> Iterator[list[dict[str, Any]]]:
        what = f"listing {prefix}"
        pages = iter(self._asked(self._obstore.list, what, self._prefix + prefix, chunk_size=size))
        while True:
            with self._failures(what):
                page = next(pages, None)
            if page is None:
                return
            yield page

    def names(self, prefix: str = "") -> Iterator[Listed]:
        for page in self._listing(prefix, 1000):
            for entry in page:
                name = entry["path"].removeprefix(self._prefix)
                yield Listed(name, entry["size"], entry["last_modified"].timestamp())

    def drop_folder(self, prefix: str) -> None:
        """Do nothing: a bucket has no folders."""

    def delete(self, name: str) -> None:
        try:
            self._asked(self._obstore.delete, f"deleting {name}", self._prefix + name)
        except FileNotFoundError:
            return

    def now(self) -> float:
        """Return the time by the store's clock: that of an object written now."""
        key = self._prefix + CLOCK
        self._asked(self._obstore.put, "asking the time", key, b"")
        found = self._asked(self._obstore.head, "asking the time", key)["last_modified"]
        self.delete(CLOCK)
        return float(found.timestamp()) if found is not None else time.time()
