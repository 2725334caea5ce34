"""Bring a local file up to date with the file at a URL, fetching only the blocks that it lacks.

A RAGFile records a hash of each block. Blocks that the local file has, at the same place or anywhere
else, are copied from it and the rest is fetched. If the local file is an earlier state of the remote
one, all of its bytes are kept and only the commits after it are fetched. The result is verified as a
whole before it replaces the local file in one step.

An encrypted file needs its key, with which the result is verified; transferred and stored bytes stay encrypted.
Its blocks are never equal to those of another file, so it is fetched whole unless the local file is an earlier
state of it.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from ragfile import _core
from ragfile.embedding.protocol import same_model
from ragfile.errors import ConflictError, CorruptError, FormatError, ModelError, SignatureError
from ragfile.file.config import config_of
from ragfile.file.container import TAIL
from ragfile.file.past_generations import MOST, name_of, read_past
from ragfile.file.signatures import require, signatures
from ragfile.ground.atomic_replace import CHUNK, replace_with, spare_unless_ragfile
from ragfile.ground.encryption_keys import BlockCipher, KeyChoice, Unlocker, takes_key
from ragfile.ground.lock_patience import seconds_to_wait
from ragfile.ground.signing_keys import PublicKey
from ragfile.ground.urls import is_dataset, is_file, is_remote, local_path, shown
from ragfile.net.fetcher import Fetcher
from ragfile.types import StrPath

BLOCK = 1 << 16  # the unit of a section's hashes
FOOTER = 64  # bytes at the end of a commit
CURRENT = b"RAGFILE\1"
CRYPT_HEADER = 8192  # bytes of an encrypted file that a change of its keys writes

Bytes: TypeAlias = _core.Map | _core.Remote | _core.Decrypted


@dataclass(frozen=True, slots=True)
class PullReport:
    """The result of a pull.

    Attributes:
        path: The local file.
        size: Its size in bytes.
        fetched: Bytes that were fetched.
        is_changed: Whether the file was written.
        generation: The number of its newest commit.
        model: The name of its embedding model, "" without one.
        old_model: The name of the model of the file that it replaced, if that is another one.
    """

    path: str
    size: int
    fetched: int
    is_changed: bool
    generation: int
    model: str = ""
    old_model: str | None = None


@takes_key
def pull(
    url: str, path: StrPath | None = None, *, trusted: Iterable[PublicKey | StrPath | bytes] | None = None,
    replace: bool = False, redirects: bool = False, wait: float | None = None, key: KeyChoice = None,
) -> PullReport:  # fmt: skip
    """Make a local file equal to the file at a URL, fetching only the changed parts.

    The new file is verified before it replaces the old one; open readers keep the old one until
    `refresh()`.

    Args:
        url: The URL of a 1.0 file: https, http, s3, gs, az, hf or file.
        path: The local file. Defaults to the last part of the URL, in the current folder.
        trusted: Public keys (files, or their text). One of them must have signed the new file.
        replace: Replace a local file that is not an earlier state of the remote one, or that has
            another embedding model.
        redirects: Follow redirects to other hosts.
        wait: Seconds to wait for other writers. Defaults to `RAGFILE_WAIT`, else 30.
        key: Of an encrypted file; see `open()`.

    Returns:
        A report: the bytes fetched, and the newest generation.

    Raises:
        ConflictError: The local file is not an earlier state of the remote one: it was changed here, or
            the remote one was rebuilt or compacted, or has dropped the last 256 generations since.
        ModelError: The files have different embedding models.
        LockedError: Another writer holds the local file.
        EncryptionError: The file is encrypted, and no key was given, or none that opens it.
        SignatureError: None of the trusted keys signed the file, or the local file is signed and no
            key is named.
        RemoteError: The URL cannot be read.
        FormatError: The remote file is damaged, or not of version 1.0.
    """
    _check_url(url)
    out = _name_of(url) if path is None else local_path(os.fspath(path))
    keys = None if trusted is None else [PublicKey.of(key) for key in trusted]
    spare_unless_ragfile(out, is_encrypted=True)
    old_model: str | None = None
    with _held(out, seconds_to_wait(wait)) as held:
        pulled = _Pull(url, redirects, held)
        spare_unless_ragfile(out, pulled.is_encrypted)
        if pulled.local is not None:
            _check_signed(pulled.local, out, keys)
            old_model = pulled.check_replaces(pulled.local, out, replace)
        if not pulled.is_equal:
            pulled.fetch()
        reader = pulled.checked(keys)
        if not pulled.is_equal:
            replace_with(out, pulled.bytes, is_held=held is not None)
    generation, model = reader.commit["generation"], _name(_model_of(reader, out))
    return PullReport(
        out, pulled.size, pulled.fetched, not pulled.is_equal, generation, model, old_model
    )


def _check_url(url: str) -> None:
    if not (is_remote(url) or is_file(url)):
        raise ValueError(f"{url!r} is not a URL that can be fetched: copy the file instead")
    if is_dataset(url):
        raise ValueError(
            f"{shown(url)} is a dataset: `ragfile convert {shown(url)} kb.ragfile` makes one file of it"
        )


def _name_of(url: str) -> str:
    name = unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])
    if not name or name in (".", ".."):
        raise ValueError(f"{shown(url)} ends without a name: name the local file")
    return name


@contextmanager
def _held(path: str, wait: float) -> Generator[_core.Map | None]:
    """Lock a file against writers and yield its bytes, or None if there is none."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        yield None
        return
    held = _core.Held(path, wait)
    try:
        yield _core.Map(path)
    finally:
        held.close()


class LocalBlocks:
    """The blocks of a local file by their hashes, which need not be fetched."""

    def __init__(self, local: _core.Map) -> None:
        self._bytes = memoryview(local)
        self._places: dict[int, tuple[int, int]] | None = None

    def read(self, at: int, size: int, expected: int) -> bytes | None:
        """Return a block with this hash from its place in the remote file, or from any other."""
        found = bytes(self._bytes[at : at + size])
        if len(found) == size and _core.hash64(found) == expected:
            return found
        if self._places is None:
            self._places = dict(self._hashed())
        place = self._places.get(expected)
        return None if place is None or place[1] != size else bytes(self._bytes[place[0] :][:size])

    def write(self, at: int, data: bytes) -> None:
        """Store nothing: the fetched file is written as a whole."""

    def _hashed(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yield the hash of each block of the newest commit with its place."""
        for entry in _core.Reader(self._bytes.obj).entries:
            for at in range(0, entry["size"], BLOCK):
                start, size = entry["at"] + at, min(BLOCK, entry["size"] - at)
                yield _core.hash64(self._bytes[start : start + size]), (start, size)


class _Pull:
    """The file at a URL, fetched beside the local file that it may continue.

    `local` and `remote` are the contents of the two files; `held` and `stored` are their bytes, which differ from the
    contents if they are encrypted. Sizes are those of the bytes.
    """

    def __init__(self, url: str, redirects: bool, held: _core.Map | None) -> None:
        is_plain = held is not None and not held.is_encrypted
        known = LocalBlocks(held) if held is not None and is_plain else None
        self._fetcher = Fetcher(url, redirects=redirects, known=known)
        self._held, self._stored = held, _core.Remote(self._fetcher)
        self.is_encrypted = _core.is_encrypted(self._stored.read(0, len(CURRENT)))
        keys = _KeysOfBoth()
        self.remote = keys.opened(self._stored) if self.is_encrypted else self._stored
        if self.remote.read(0, len(CURRENT)) != CURRENT:
            raise FormatError(
                f"{self.remote.path}: only files of version 1.0 are pulled: download it", at=0
            )
        self.local: _core.Map | _core.Decrypted | None = held
        if held is not None and held.is_encrypted:
            self.local = keys.opened(held)
        self.size = _end_of_commits(self.remote)[1]  # a commit in progress may follow
        self._local_end, self._local_size = (
            (0, 0) if self.local is None else _end_of_commits(self.local)
        )
        self._continues = held is not None and self._is_earlier(held)
        self._is_known = self._continues or (self.local is not None and self._is_past(self.local))

    @property
    def is_equal(self) -> bool:
        """Whether the local file is the remote one already."""
        return self._continues and self._local_size == self.size and self._has_same_keys()

    def _has_same_keys(self) -> bool:
        """Whether the headers are equal, if the files are encrypted."""
        head = bytes(memoryview(self._held)[:CRYPT_HEADER]) if self._held is not None else b""
        return not self.is_encrypted or self._stored.read(0, CRYPT_HEADER) == head

    @property
    def bytes(self) -> memoryview:
        """The bytes of the remote file, up to the end of its newest commit."""
        return memoryview(self._stored)[: self.size]

    @property
    def fetched(self) -> int:
        return self._fetcher.fetched

    def _is_earlier(self, local: _core.Map) -> bool:
        """Return whether the local file ends with a commit that the remote one has at the same place.

        The footer holds the hash of the commit's table, which holds those of its blocks. Encrypted, it ends with
        a tag that no other block has.
        """
        end = self._local_end
        if not FOOTER <= end <= self.size:
            return False
        ends_so = bytes(memoryview(local)[end - FOOTER : end])
        return self._stored.read(end - FOOTER, FOOTER) == ends_so

    def _is_past(self, local: _core.Map | _core.Decrypted) -> bool:
        """Return whether the remote file had the local file's newest commit before it dropped some."""
        with suppress(FormatError):  # a damaged local file is none of them
            name = name_of(_core.Reader(local), memoryview(local))
            return name in read_past(_core.Reader(self.remote), self.remote.path)
        return False

    def check_replaces(
        self, local: _core.Map | _core.Decrypted, path: str, replace: bool
    ) -> str | None:
        """Return the name of the local file's model if the remote one has another.

        Unless the file is to be replaced, raise for another model, and for changes that would be lost.
        """
        try:
            before = _model_of(_core.Reader(local), path)
        except FormatError:
            if replace:  # a damaged file has no model to name
                return None
            raise
        after = _model_of(_core.Reader(self.remote), path)
        is_other = (before or after) and not (before and after and same_model(before, after))
        if is_other and not replace:
            raise ModelError(
                f"{path} was built with {_name(before) or 'no model'}, the remote file with "
                f"{_name(after) or 'none'}; replace=True (--replace) takes the new model"
            )
        if not self._is_known and not replace:
            raise ConflictError(
                f"{path} is not an earlier state of {self.remote.path}: it was changed here, or the "
                f"other was rebuilt or compacted, or dropped more than {MOST} commits since (keep=); replace=True "
                "(--replace) gives up the local file"
            )
        return _name(before) if is_other else None

    def fetch(self) -> None:
        """Take the blocks that the local file has, and fetch the others."""
        if self._held is not None and self._continues:
            whole = memoryview(self._held)[: self._local_end]
            for at in range(CRYPT_HEADER if self.is_encrypted else 0, len(whole), CHUNK):
                self._fetcher.put(at, whole[at : at + CHUNK])
        elif not self.is_encrypted:
            reader = _core.Reader(self.remote)
            named = [reader.section(e["name"], e["segment"]) for e in reader.entries]
            sections = [section for section in named if section is not None]
            _core.ready([(section, 0, 0) for section in sections])  # the hashes of their blocks
            _core.ready([(section, 0, len(section)) for section in sections])
        self._stored.fetch(0, self.size)

    def checked(self, keys: Sequence[PublicKey] | None) -> _core.Reader:
        """Verify the whole file, and its signature if keys are given."""
        data = self.local if self.is_equal and self.local is not None else self.remote
        reader = _core.Reader(data)
        faults, _ = reader.verify(True)
        for kind, at, what, section in (fault for fault in faults if fault[2] != TAIL):
            raise CorruptError(f"{self.remote.path}: {kind}: {what}", at=at, section=section)
        if keys is not None:
            require(reader, keys, self.remote.path)
        return reader


class _KeysOfBoth:
    """Unlocks two encrypted files: a key of the first one also opens the other, if that is a copy of it.

    So a copy from before a change of keys is continued.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, BlockCipher] = {}

    def opened(self, data: _core.Map | _core.Remote) -> _core.Decrypted:
        def unlock(header: dict[str, Any]) -> BlockCipher:
            found = self._known.get(header["id"]) or Unlocker(data.path)(header)
            return self._known.setdefault(header["id"], found)

        return _core.Decrypted(data, unlock)


def _end_of_commits(data: Bytes) -> tuple[int, int]:
    """Return where the newest commit of a file ends, and its parity if that follows; 0 for one that cannot be opened."""
    try:
        end = int(_core.Reader(data).commit["end"])
    except FormatError:
        if isinstance(data, _core.Remote) or (
            isinstance(data, _core.Decrypted) and data.is_elsewhere
        ):
            raise
        return 0, 0
    return data.outer_ends(end) if isinstance(data, _core.Decrypted) else (end, end)


def _check_signed(
    local: _core.Map | _core.Decrypted, path: str, keys: Sequence[PublicKey] | None
) -> None:
    """Raise SignatureError for a signed file that would be replaced by any."""
    if keys is not None:
        return
    with suppress(FormatError):  # a damaged file has no signature to defend
        if signatures(_core.Reader(local)):
            raise SignatureError(
                f"{path} is signed: name the key that must have signed the new file with trusted= (--key)"
            )


def _name(model: dict[str, Any]) -> str:
    return str(model.get("name") or "")


def _model_of(reader: _core.Reader, path: str) -> dict[str, Any]:  # Any: JSON
    return config_of(reader, path).get("model") or {}
