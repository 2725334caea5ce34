"""Keys that let clients in: 256 random bits each, kept as SHA-256, with scopes, revocable.

    keys = KeyFile(path)
    name, secret = keys.add("laptop", "read")      the secret is shown once
    keys.revoke(name)                              holds at once, also for servers that run

The file is JSON, its owner's alone. A server reads it again when it changes. Where there is no key
at all, whoever reaches the server may do everything; so such a server listens to its own machine
alone.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import time
from typing import TYPE_CHECKING, Any

from ragfile.doors.server.failures import HttpFailure

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger("ragfile.serve")

VARIABLE = "RAGFILE_API_KEY"
PREFIX = "rag_"
SCOPES = ("read", "write", "admin")  # each includes those before it
NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


def default_path() -> str:
    """Where keys are kept unless somebody says otherwise."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(home, "ragfile", "keys.json")


def allowed_by(scope: str) -> frozenset[str]:
    """The scopes that a scope includes."""
    return frozenset(SCOPES[: SCOPES.index(scope) + 1])


class KeyFile:
    """The file of keys: [{name, scope, sha256, created}]."""

    def __init__(self, path: str):
        self.path = path

    def read(self) -> list[dict[str, Any]]:
        """All keys; none where there is no file."""
        try:
            with open(self.path, encoding="utf-8") as file:
                text = file.read()
            found = json.loads(text) if text else []
        except FileNotFoundError:
            return []
        except ValueError:
            found = None
        if not isinstance(found, list) or not all(map(_is_key, found)):
            raise ValueError(f"{self.path} is not a file of keys, as `ragfile keys add` writes it")
        return found

    def add(self, name: str, scope: str) -> str:
        """A new key; its secret, which nobody can read again."""
        if not NAME.fullmatch(name):
            raise ValueError("the name of a key is 1 to 64 of the characters A-Z a-z 0-9 . _ -")
        secret = PREFIX + secrets.token_urlsafe(32)
        key = {"name": name, "scope": scope, "sha256": _hash(secret), "created": int(time.time())}
        self._change(lambda keys: [*_without(keys, name, is_there=False), key])
        return secret

    def revoke(self, name: str) -> None:
        """Takes a key out."""
        self._change(lambda keys: _without(keys, name, is_there=True))

    def _change(self, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
        """Writes the keys anew, one writer at a time. The file is its owner's from its first byte."""
        from ragfile.ground.atomic_replace import lock

        os.makedirs(os.path.dirname(os.path.abspath(self.path)), mode=0o700, exist_ok=True)
        os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600))
        with lock(self.path) as held:
            text = json.dumps(change(self.read()), indent=2) + "\n"
            held.write(lambda write: write(text.encode()))


def _without(keys, name, is_there):
    """The keys but for the one of this name, which must be there, or must not."""
    kept = [key for key in keys if key["name"] != name]
    if is_there and len(kept) == len(keys):
        raise ValueError(f"there is no key {name!r}: `ragfile keys list` shows them")
    if not is_there and len(kept) < len(keys):
        raise ValueError(f"there is a key {name!r}: revoke it, or choose another name")
    return kept


def _is_key(value):
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(n), str) for n in ("name", "scope", "sha256"))
        and value["scope"] in SCOPES
    )


def _hash(secret):
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


class ApiKeys:
    """The keys that a server takes: those of its file, and one of the environment, for everything."""

    def __init__(self, path: str | None, secret: str | None):
        self._file = KeyFile(path or default_path())
        self._own = [("environment", "admin", _hash(secret))] if secret else []
        self._seen: Any = None
        self._known: list[tuple[str, str, str]] = []
        self._is_needed = False  # and stays so: revoking the last key lets nobody in
        if secret and not (secret.isascii() and secret.isprintable() and " " not in secret):
            raise ValueError(f"{VARIABLE} holds characters that no header can: use plain ASCII")
        if path is not None and not os.path.exists(path):
            raise FileNotFoundError(f"there is no file of keys {path}: `ragfile keys add` makes it")
        self._file.read()  # one that is damaged is said at the start
        self._look()

    def __bool__(self) -> bool:
        """Whether a key is needed."""
        self._look()
        return self._is_needed

    def _look(self):
        """Reads the file, if it has changed. One that cannot be read lets nobody new in."""
        try:
            now = os.stat(self._file.path)
            seen = now.st_mtime_ns, now.st_size, now.st_ino
        except OSError:
            seen = None
        if seen != self._seen or not self._known:
            self._seen = seen
            try:
                keys = [(k["name"], k["scope"], k["sha256"]) for k in self._file.read()]
            except (ValueError, OSError) as error:
                log.error("the keys are those of before: %s", error)
                return
            self._known = [*self._own, *keys]
            self._is_needed = self._is_needed or bool(self._known)

    def admit(self, visit: Any, *, is_open: bool) -> None:
        """Gives a request the scopes of its key; Failure 401 where it has none that is known."""
        if not self:
            visit.scopes = allowed_by("admin")
            return
        found = self._of(visit.headers.get("authorization", ""))
        if found is not None:
            visit.user, visit.scopes = found[0], allowed_by(found[1])
        elif not is_open:
            said = "this server wants a key: send Authorization: Bearer rag_…"
            raise HttpFailure(401, said, {"www-authenticate": 'Bearer realm="ragfile"'})

    def _of(self, header):
        """The key of a header. All are compared, each in constant time."""
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != "bearer" or not secret:
            return None
        given = _hash(secret.strip())
        return next(iter([k for k in self._known if hmac.compare_digest(k[2], given)]), None)
