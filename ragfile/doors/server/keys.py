"""API keys: 256 random bits each, stored as SHA-256, with scopes, revocable.

    keys = KeyFile(path)
    secret = keys.add("laptop", "read")      the secret is shown once
    keys.revoke("laptop")                    takes effect at once, also in running servers

The file is JSON and readable only by its owner. A server reads it again when it changes. Without
any key, every client has full access; such a server only listens on the loopback.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import time
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, TypedDict, cast

from ragfile.doors.server.failures import HttpFailure
from ragfile.ground import system

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragfile.doors.server.access import Visit

log = logging.getLogger("ragfile.serve")

VARIABLE = "RAGFILE_API_KEY"
PREFIX = "rag_"
SCOPES = ("read", "write", "admin")  # each includes those before it
NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


class StoredKey(TypedDict):
    """One key as the file stores it; `created` is in seconds since the epoch."""

    name: str
    scope: str
    sha256: str
    created: int
    file: NotRequired[str]  # the only collection that it opens
    where: NotRequired[dict[str, Any]]  # the filter that the documents it sees pass


class KnownKey(NamedTuple):
    """A key that a server accepts."""

    name: str
    scope: str
    sha256: str
    file: str = ""  # the only collection that it opens; "" for all
    where: str = ""  # the filter that the documents it sees pass, as JSON; "" for all


class Stat(NamedTuple):
    """The facts that change when a file is replaced or written."""

    mtime: int
    size: int
    inode: int


def default_path() -> str:
    """Return the default path of the file of keys."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(home, "ragfile", "keys.json")


def allowed_by(scope: str) -> frozenset[str]:
    """Return the scopes that a scope includes."""
    return frozenset(SCOPES[: SCOPES.index(scope) + 1])


class KeyFile:
    """The file of keys: a JSON list of StoredKey."""

    def __init__(self, path: str) -> None:
        self.path = path

    def read(self) -> list[StoredKey]:
        """Return all keys; none if the file does not exist."""
        try:
            with open(self.path, encoding="utf-8") as file:
                text = file.read()
            found: object = json.loads(text) if text else []
        except FileNotFoundError:
            return []
        except ValueError:
            found = None
        if not isinstance(found, list) or not all(map(_is_key, cast("list[object]", found))):
            raise ValueError(
                f"{self.path} is not a file of keys: move it away, and make one with "
                f"`ragfile keys --keys {quote(self.path)} add NAME`"
            )
        return cast("list[StoredKey]", found)

    def add(
        self, name: str, scope: str, file: str = "", where: dict[str, Any] | None = None
    ) -> str:
        """Add a key and return its secret, which is not stored.

        `file` is the only one that it opens, and `where` the filter that the documents it sees pass.
        """
        if not NAME.fullmatch(name):
            raise ValueError(
                f"the name of a key has 1 to 64 of the characters A-Z a-z 0-9 . _ -, "
                f"unlike {name!r:.80}"
            )
        secret = PREFIX + secrets.token_urlsafe(32)
        key: StoredKey = {
            "name": name, "scope": scope, "sha256": _hash(secret), "created": int(time.time())
        }  # fmt: skip
        if file:
            if "/" in file or scope == "admin":
                raise ValueError(
                    "a key for one file names a collection, and reads or writes it: "
                    "use --scope read or --scope write"
                )
            key["file"] = file
        if where is not None:
            if scope != "read":
                raise ValueError("a key with a filter changes nothing: use --scope read")
            key["where"] = _checked(where)
        self._change(lambda keys: [*_absent(keys, name), key])
        return secret

    def revoke(self, name: str) -> None:
        """Remove a key."""
        self._change(lambda keys: _without(keys, name, self.path))

    def _change(self, change: Callable[[list[StoredKey]], list[StoredKey]]) -> None:
        """Rewrite the file, one writer at a time; only its owner can ever read it."""
        from ragfile.ground.atomic_replace import lock

        os.makedirs(os.path.dirname(os.path.abspath(self.path)), mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            system.close(system.create_private(os.path.realpath(self.path)))
        with lock(self.path) as held:
            text = json.dumps(change(self.read()), indent=2) + "\n"
            held.write(lambda write: write(text.encode()))


def _checked(where: dict[str, Any]) -> dict[str, Any]:
    """Return a filter if it is valid and has a condition."""
    from ragfile.file import filters  # with numpy, which other keys do not need

    if not filters.compile(where):
        raise ValueError("an empty filter hides nothing: give one with a condition")
    return where


def _without(keys: list[StoredKey], name: str, path: str) -> list[StoredKey]:
    """Return the keys without one that must exist."""
    kept = [key for key in keys if key["name"] != name]
    if len(kept) == len(keys):
        raise ValueError(
            f"no key {name!r}: `ragfile keys --keys {quote(path)} list` shows all keys"
        )
    return kept


def _absent(keys: list[StoredKey], name: str) -> list[StoredKey]:
    """Return the keys if none has this name."""
    if any(key["name"] == name for key in keys):
        raise ValueError(f"the key {name!r} exists: revoke it, or choose another name")
    return keys


def _is_key(value: object) -> bool:
    """Return whether a JSON value is a stored key."""
    if not isinstance(value, dict):
        return False
    key = cast("dict[str, object]", value)
    is_text = all(isinstance(key.get(n), str) for n in ("name", "scope", "sha256"))
    if not is_text or key["scope"] not in SCOPES or not isinstance(key.get("file", ""), str):
        return False
    return "where" not in key or _is_filter(key["where"])


def _is_filter(where: object) -> bool:
    try:
        return isinstance(where, dict) and bool(_checked(cast("dict[str, Any]", where)))
    except ValueError:
        return False


def _known(key: StoredKey) -> KnownKey:
    """Return a key as servers use it; the scope of one with a filter is always `read`."""
    where = json.dumps(key["where"], sort_keys=True) if "where" in key else ""
    scope = "read" if where else key["scope"]
    return KnownKey(key["name"], scope, key["sha256"], key.get("file", ""), where)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


class ApiKeys:
    """The keys that a server accepts: those of its file, and an admin key of the environment."""

    def __init__(self, path: str | None, secret: str | None) -> None:
        self._file = KeyFile(path or default_path())
        self._own = [KnownKey("environment", "admin", _hash(secret))] if secret else []
        self._seen: Stat | None = None
        self._known: list[KnownKey] = []
        self._is_needed = False  # never reset: revoking the last key must not open the server
        if secret and not (secret.isascii() and secret.isprintable() and " " not in secret):
            raise ValueError(
                f"{VARIABLE} has characters that a header cannot hold: use printable ASCII "
                "without spaces"
            )
        if path is not None and not os.path.exists(path):
            raise FileNotFoundError(
                f"no file of keys {path}: create it with `ragfile keys --keys {quote(path)} add NAME`"
            )
        self._file.read()  # a damaged file fails at the start
        self._refresh()

    def __bool__(self) -> bool:
        """Return whether clients need a key."""
        self._refresh()
        return self._is_needed

    def _refresh(self) -> None:
        """Read the file if it has changed; if it cannot be read, keep the known keys."""
        try:
            now = os.stat(self._file.path)
            seen = Stat(now.st_mtime_ns, now.st_size, now.st_ino)
        except OSError:
            seen = None
        if seen != self._seen or not self._known:
            self._seen = seen
            try:
                keys = [_known(k) for k in self._file.read()]
            except (ValueError, OSError) as error:
                log.error("the file of keys cannot be read, so its last keys stay valid: %s", error)
                return
            self._known = [*self._own, *keys]
            self._is_needed = self._is_needed or bool(self._known)

    def admit(self, visit: Visit, *, is_open: bool) -> None:
        """Give a request the scopes of its key; raise a failure 401 without a valid key."""
        if not self:
            visit.scopes = allowed_by("admin")
            return
        found = self._of(visit.headers.get("authorization", ""))
        if found is not None:
            visit.user, visit.scopes = found.name, allowed_by(found.scope)
            visit.file, visit.where = found.file, found.where
        elif not is_open:
            reason = "this server needs a valid key: send Authorization: Bearer rag_…"
            raise HttpFailure(401, reason, {"www-authenticate": 'Bearer realm="ragfile"'})

    def _of(self, header: str) -> KnownKey | None:
        """Return the key of an Authorization header; all keys are compared, in constant time."""
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != "bearer" or not secret:
            return None
        given = _hash(secret.strip())
        return next(iter([k for k in self._known if hmac.compare_digest(k.sha256, given)]), None)
