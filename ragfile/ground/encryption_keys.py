"""Keys of encrypted files: where they come from, how they wrap a file's data key, and the cipher of blocks.

A key is 256 random bits. It wraps the data key of a file, so a file can have several keys, and they
are changed without writing the data again. The blocks are encrypted with keys that are derived from
the data key, one for each writer's salt (spec/parts/encryption.md). The package `cryptography`
implements AES-256-GCM; signatures use it, too.

A key is given as bytes, as the path of a file, or as a function that returns one of them. Without
one, RAGFILE_KEY has a key's text, or RAGFILE_KEY_FILE the path of its file.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar, cast

from ragfile.errors import EncryptionError
from ragfile.ground import system
from ragfile.ground.extras import optional
from ragfile.types import StrPath

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    Slot = tuple[bytes, bytes, bytes]  # salt, nonce, wrapped data key
    NewKeys = tuple[dict[str, Any], "BlockCipher"]

KeyChoice: TypeAlias = bytes | StrPath | bool | Callable[[], bytes | StrPath] | None

P = ParamSpec("P")
R = TypeVar("R")

PURPOSE = "encrypted files"
KEY, FILE = "RAGFILE_KEY", "RAGFILE_KEY_FILE"
KEY_SIZE, KEY_FILE_MAX = 32, 1 << 10
SLOT_INFO, SLOT_DATA, BLOCK_INFO = b"ragfile slot 1", b"ragfile data key 1", b"ragfile block 1"
CIPHERS_KEPT = 256  # of writers' salts
SLOTS_MAX = 30

_given: ContextVar[KeyChoice] = ContextVar("ragfile_key", default=None)
_of_process: list[KeyChoice] = []  # the last one counts


def current_key() -> KeyChoice:
    """Return the key of this call, or of the process; None: look at the environment."""
    found = _given.get()
    return found if found is not None or not _of_process else _of_process[-1]


@contextlib.contextmanager
def using_key(key: KeyChoice) -> Generator[None]:
    """Open and write encrypted files with a key inside a `with` block, in this thread.

    New files stay plain: only key= of build() and create() encrypts one.

        with ragfile.using_key("kb.key"):
            ragfile.compact("kb.ragfile")

    Args:
        key: 32 bytes or their text, the path of a file with one of these, or a function that returns
            one of these. None changes nothing; True stands for the environment.
    """
    token = _given.set(_given.get() if key is None else key)
    try:
        yield
    finally:
        _given.reset(token)


def takes_key(call: Callable[P, R]) -> Callable[P, R]:
    """Have a function use the key that it is given as key=."""

    @functools.wraps(call)
    def keyed(*args: P.args, **kwargs: P.kwargs) -> R:
        key = kwargs.get("key")
        if key is None:
            return call(*args, **kwargs)
        with using_key(cast("KeyChoice", key)):
            return call(*args, **kwargs)

    return keyed


def use_key(key: KeyChoice) -> None:
    """Open encrypted files with a key from now on, in all threads of this process."""
    _of_process.append(key)


def new_key_file(path: StrPath) -> None:
    """Write a new key to a file that only its owner can read. FileExistsError if it exists."""
    try:
        descriptor = system.create_private(path)
    except FileExistsError:
        raise FileExistsError(
            f"{os.fspath(path)} exists: a key is never replaced; name another file"
        ) from None
    with open(descriptor, "wb") as file:
        file.write(os.urandom(KEY_SIZE).hex().encode() + b"\n")


def key_bytes(key: KeyChoice) -> bytes | None:
    """Return the 32 bytes of a key; None if there is none."""
    if key is None or isinstance(key, bool):
        return _key_of_environment()
    if isinstance(key, bytes | bytearray):
        return _parsed(bytes(key), "the key")
    if isinstance(key, str) or hasattr(key, "__fspath__"):
        return _key_of_file(cast("StrPath", key))
    return key_bytes(cast("Callable[[], KeyChoice]", key)())


def has_key() -> bool:
    """Return whether this call, the process or the environment has a key, right or wrong."""
    return current_key() is not None or bool(os.environ.get(KEY) or os.environ.get(FILE))


def _key_of_environment() -> bytes | None:
    if text := os.environ.get(KEY):
        return _parsed(text.encode(), KEY)
    path = os.environ.get(FILE)
    return _key_of_file(path) if path else None


def _key_of_file(path: StrPath) -> bytes:
    with open(path, "rb") as file:
        return _parsed(file.read(KEY_FILE_MAX + 1), os.fspath(path))


def _parsed(data: bytes, name: str) -> bytes:
    """Return the key that some bytes are, or are the text of."""
    import base64
    import binascii

    if len(data) == KEY_SIZE:
        return data
    text = data.strip()
    if re.fullmatch(rb"[0-9a-fA-F]{64}", text):
        return bytes.fromhex(text.decode())
    with contextlib.suppress(binascii.Error):
        if (
            len(
                found := base64.b64decode(
                    text, b"-_" if set(text) & set(b"-_") else None, validate=True
                )
            )
            == KEY_SIZE
        ):
            return found
    raise EncryptionError(
        f"{name} is no key: it needs 32 bytes, as 64 hexadecimal digits: `ragfile rekey --new-key FILE` makes one"
    )


def derived(key: bytes, salt: bytes, info: bytes) -> bytes:
    """Return 32 bytes by HKDF-SHA256 (RFC 5869)."""
    import hmac  # with hashlib, which plain files do not need

    drawn = hmac.digest(salt, key, "sha256")
    return hmac.digest(drawn, info + b"\1", "sha256")


class BlockCipher:
    """Encrypts and decrypts blocks under a data key."""

    def __init__(self, data_key: bytes) -> None:
        self.data_key = data_key
        self._aes = optional("cryptography.hazmat.primitives.ciphers.aead", PURPOSE).AESGCM
        self._invalid = optional("cryptography.exceptions", PURPOSE).InvalidTag
        self._ciphers: dict[bytes, AESGCM] = {}

    def _cipher(self, salt: bytes) -> AESGCM:
        found = self._ciphers.get(salt)
        if found is None:
            if len(self._ciphers) >= CIPHERS_KEPT:
                self._ciphers.clear()
            found = self._aes(derived(self.data_key, salt, BLOCK_INFO))
            self._ciphers[salt] = found
        return found

    def encrypt(self, salt: bytes, nonce: bytes, data: bytes, aad: bytes) -> bytes:
        """Return the encrypted bytes and their tag."""
        made: bytes = self._cipher(salt).encrypt(nonce, data, aad)
        return made

    def decrypt(self, salt: bytes, nonce: bytes, data: bytes, aad: bytes) -> bytes | None:
        """Return the plain bytes, or None if the tag is not theirs."""
        try:
            made: bytes = self._cipher(salt).decrypt(nonce, data, aad)
        except self._invalid:
            return None
        return made


class Unlocker:
    """Finds the data key of a file, when it turns out to be encrypted."""

    __slots__ = ("_key", "_path")

    def __init__(self, path: StrPath, key: KeyChoice = None) -> None:
        self._path, self._key = os.fspath(path), current_key() if key is None else key

    def __call__(self, header: dict[str, Any]) -> BlockCipher:
        key = key_bytes(self._key)
        if key is None:
            raise EncryptionError(
                f"{self._path}: the file is encrypted: give its key with key=, or as {KEY} or {FILE}"
            )
        for slot in header["slots"]:
            if (data_key := unwrapped(slot, key)) is not None:
                return BlockCipher(data_key)
        count = len(header["slots"])
        raise EncryptionError(
            f"{self._path}: the key does not open the file, which has "
            + ("another one" if count == 1 else f"{count} other ones")
        )


def wrapped(data_key: bytes, key: bytes) -> Slot:
    """Return a slot that gives the data key to the holder of a key."""
    aes = optional("cryptography.hazmat.primitives.ciphers.aead", PURPOSE).AESGCM
    salt, nonce = os.urandom(32), os.urandom(12)
    return salt, nonce, aes(derived(key, salt, SLOT_INFO)).encrypt(nonce, data_key, SLOT_DATA)


def unwrapped(slot: Slot, key: bytes) -> bytes | None:
    """Return the data key of a slot, or None if the slot is for another key."""
    aes = optional("cryptography.hazmat.primitives.ciphers.aead", PURPOSE).AESGCM
    salt, nonce, text = slot
    try:
        found: bytes = aes(derived(key, salt, SLOT_INFO)).decrypt(nonce, text, SLOT_DATA)
    except optional("cryptography.exceptions", PURPOSE).InvalidTag:
        return None
    return found


def new_keys(key: KeyChoice) -> NewKeys | None:
    """Return the header and the cipher of a new file that a key encrypts; None for a plain file."""
    if key is None or key is False:
        return None
    given = key_bytes(key)
    if given is None:
        raise EncryptionError(f"encryption needs a key: give it with key=, or as {KEY} or {FILE}")
    data_key = os.urandom(KEY_SIZE)
    return {"stride": 0, "slots": [wrapped(data_key, given)]}, BlockCipher(data_key)
