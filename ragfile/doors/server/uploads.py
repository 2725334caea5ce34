"""Uploaded files on the disk, and the state of each.

    {root}/{user}/{date}/{id}     the bytes; no path contains a name that a client has sent
    {root}/.state/{id}.json       the name, checksum, collection and state
    {root}/.state/{collection}-{checksum}     the id of the upload with these bytes

A state is queued, indexed or error; a file without a collection is stored. A queued upload with an
error is tried again later. It is kept on the disk, so that it outlives the process and all workers
see it.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import re
import secrets
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ragfile.ground import system

if TYPE_CHECKING:
    from collections.abc import Iterator

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
USER = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
NOBODY = "local"  # the user if no key is needed
ABANDONED = 3600.0  # seconds without a change after which bytes without a state are deleted
LONGEST = 200  # characters of a file's name
STORED = "stored"  # the state of a file that no collection has taken yet
WAITING = ("queued", STORED)  # states in which the bytes are needed


@dataclass(slots=True)
class Upload:
    """One uploaded file."""

    id: str
    name: str
    collection: str
    user: str
    date: str
    size: int = 0
    checksum: str = ""  # SHA-256
    mime: str = ""
    state: str = "queued"
    error: str = ""
    documents: list[str] = field(default_factory=list[str])
    chunks: int = 0
    tags: list[str] = field(default_factory=list[str])
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    kept: bool = True  # keep the original after indexing
    duplicate: bool = False  # its bytes were known: it has no documents of its own
    original: str = ""  # the upload that a duplicate refers to, "" for documents from elsewhere
    replace: bool = False  # replace the documents of the same name
    action: str = ""  # added, replaced, numbered or duplicate
    attempts: int = 0  # to index it that began and did not end: each ended a worker
    retries: int = 0  # attempts that failed for a reason that may pass
    request_id: str = ""
    created: int = 0
    purpose: str = ""  # of a file that came through OpenAI's interface
    batch: str = ""  # the batch that it was last part of, likewise

    def shown(self) -> dict[str, Any]:
        """Return the upload ready for JSON."""
        fields = asdict(self)
        del fields["purpose"], fields["batch"]
        return fields


def named(name: str) -> str:
    """Return the last part of a client's file name, without control and reserved characters."""
    last = re.split(r"[\\/]", name)[-1]
    plain = "".join(c for c in last if c.isprintable() and c not in '<>:"|?*').strip(". ")
    stem, dot, suffix = plain[-LONGEST:].rpartition(".")
    return f"{stem.strip()}{dot}{suffix}" if stem.strip() else plain[-LONGEST:] or "file"


class Uploads:
    """The uploads in one folder."""

    def __init__(self, root: str) -> None:
        self._root = os.path.abspath(root)

    def begun(self, name: str, collection: str, user: str) -> Upload:
        """Return a new upload; nothing is written yet."""
        if not USER.fullmatch(user):
            raise ValueError(
                f"the user of an upload is {user!r:.80}: "
                "use up to 64 of the characters A-Z a-z 0-9 . _ -"
            )
        number = bytearray(secrets.token_bytes(16))
        number[6], number[8] = number[6] & 0x0F | 0x40, number[8] & 0x3F | 0x80
        text = number.hex()
        made = f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
        date = datetime.now(UTC).strftime("%Y-%m-%d")
        return Upload(made, named(name), collection, user, date, created=int(time.time()))

    def path(self, upload: Upload) -> str:
        """Return the path of its bytes; a state from the disk is checked like a client's input."""
        is_date = re.fullmatch(r"\d{4}-\d\d-\d\d", upload.date)
        if not (USER.fullmatch(upload.user) and is_date and ID.fullmatch(upload.id)):
            raise ValueError(f"the state of the upload {upload.id!r:.50} is damaged: delete it")
        return os.path.join(self._root, upload.user, upload.date, upload.id)

    def create(self, upload: Upload) -> int:
        """Open a new file for its bytes, readable only by its owner; return the descriptor."""
        path = self.path(upload)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return system.create_private(path)

    def _state(self, name: str) -> str:
        """Return the path of a file in the folder of states."""
        return os.path.join(self._root, ".state", name)

    def get(self, upload_id: str) -> Upload | None:
        """Return an upload by its id, or None."""
        if not ID.fullmatch(upload_id):
            return None
        try:
            with open(self._state(f"{upload_id}.json"), encoding="utf-8") as file:
                return Upload(**json.load(file))
        except FileNotFoundError:
            return None

    def put(self, upload: Upload) -> None:
        """Write the state of an upload atomically."""
        os.makedirs(self._state(""), mode=0o700, exist_ok=True)
        draft = self._state(f"{upload.id}.{secrets.token_hex(4)}")
        with open(system.create_private(draft), "w", encoding="utf-8") as file:
            json.dump(asdict(upload), file)
        system.replace(draft, self._state(f"{upload.id}.json"))

    def all(self) -> Iterator[Upload]:
        """Yield all uploads, in no particular order."""
        folder = self._state("")
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            found = self.get(name.removesuffix(".json")) if name.endswith(".json") else None
            if found is not None:
                yield found

    def remove(self, upload: Upload) -> None:
        """Delete its bytes and its state."""
        self.forget(upload)
        self.drop(upload)
        _unlink(self._state(f"{upload.id}.json"))

    def duplicates(self, upload: Upload) -> list[Upload]:
        """Return the duplicates of an upload, oldest first."""
        found = [one for one in self.all() if one.original == upload.id]
        return sorted(found, key=lambda one: (one.created, one.id))

    def inherit(self, heir: Upload, upload: Upload) -> bool:
        """Give a duplicate the bytes of an upload; False if these are gone."""
        os.makedirs(os.path.dirname(self.path(heir)), mode=0o700, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            system.link_new(self.path(upload), self.path(heir))
        return os.path.exists(self.path(heir))

    def drop(self, upload: Upload) -> None:
        """Delete its bytes only."""
        _unlink(self.path(upload))

    def sweep(self) -> int:
        """Delete incomplete and unneeded files that a killed server has left; return their number."""
        known = {self.path(one) for one in self.all() if one.kept or one.state in WAITING}
        found = [
            path
            for path in glob.glob(os.path.join(glob.escape(self._root), "*", "????-??-??", "*"))
            if ID.fullmatch(os.path.basename(path)) and path not in known
        ]
        old = [path for path in found if time.time() - os.stat(path).st_mtime > ABANDONED]
        for path in old:
            _unlink(path)
        return len(old)

    def claim(self, upload: Upload) -> Upload | None:
        """Return an earlier upload of the same bytes to the collection, or None if it is the first.

        Of two at the same time, exactly one is the first.
        """
        os.makedirs(self._state(""), mode=0o700, exist_ok=True)
        mark = self._mark(upload)
        for _ in range(2):
            if system.claim(mark, upload.id):
                return None
            known = self.get(system.holder_of(mark) or "")
            if known is not None and known.state != "error":
                return known
            _unlink(mark)
        return None

    def forget(self, upload: Upload) -> None:
        """Withdraw the claim, so that the next upload of these bytes is the first again."""
        mark = self._mark(upload)
        if system.holder_of(mark) == upload.id:
            _unlink(mark)

    def _mark(self, upload: Upload) -> str:
        place = hashlib.sha256(upload.collection.encode()).hexdigest()[:16]
        return self._state(f"{place}-{upload.checksum}")


def _unlink(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        system.remove(path)
