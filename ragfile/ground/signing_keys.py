"""Generate Ed25519 keys, read them from files, sign and verify.

A private key is PEM (PKCS #8, as OpenSSL writes it) or OpenSSH's own format. A public key is PEM, an
OpenSSH line ("ssh-ed25519 AAAA… name"), or 64 hexadecimal digits. The package `cryptography`
(Apache-2.0 or BSD, by the Python Cryptographic Authority) implements the algorithm: it is widely
installed, its wheels need no compiler, and it reads all of these formats.
"""

from __future__ import annotations

import hashlib
import os
import re
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from ragfile.ground import system
from ragfile.ground.atomic_replace import replacing
from ragfile.ground.extras import optional
from ragfile.types import StrPath

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PURPOSE = "signing and checking signatures"
KEY_FILE_MAX = 1 << 16
Key = TypeVar("Key")


class PublicKey:
    """A key that verifies signatures. `id` is the SHA-256 of its 32 bytes in hexadecimal."""

    def __init__(self, raw: bytes) -> None:
        self._key = _ed25519().Ed25519PublicKey.from_public_bytes(raw)
        self.raw, self.id = raw, hashlib.sha256(raw).hexdigest()

    @classmethod
    def of(cls, key: PublicKey | StrPath | bytes) -> PublicKey:
        """Read a key from a file, or from the text of a key."""
        if isinstance(key, PublicKey):
            return key
        data, name = _text_of(key)
        return cls(_public_bytes(data, name))

    def accepts(self, signature: bytes, message: bytes) -> bool:
        """Return whether a signature of a message was made with this key."""
        from cryptography.exceptions import InvalidSignature

        try:
            self._key.verify(signature, message)
        except InvalidSignature:
            return False
        return True


class PrivateKey:
    """A key that signs."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = PublicKey(key.public_key().public_bytes_raw())

    @classmethod
    def of(cls, key: PrivateKey | StrPath | bytes, password: bytes | None = None) -> PrivateKey:
        """Read a key from a file or from the text of a key. A password decrypts it."""
        if isinstance(key, PrivateKey):
            return key
        data, name = _text_of(key)
        return cls(_private(data, name, password))

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message."""
        signature: bytes = self._key.sign(message)
        return signature


def new_key(path: StrPath) -> PublicKey:
    """Generate a key; write the private one, readable by its owner only, and `path`.pub.

    FileExistsError is raised if either file exists.
    """
    serialization, key = _serialization(), _ed25519().Ed25519PrivateKey.generate()
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    names = (os.fspath(path), f"{os.fspath(path)}.pub")
    existing = [name for name in names if os.path.lexists(name)]
    if existing:
        raise FileExistsError(f"{existing[0]} exists: a key is never replaced; name another file")
    with open(system.create_private(path), "wb") as file:
        file.write(private)
    with replacing(f"{os.fspath(path)}.pub") as file:
        file.write(public)
    return PublicKey(key.public_key().public_bytes_raw())


def _text_of(key: StrPath | bytes) -> tuple[bytes, str]:
    """Return the bytes of a key, and its name in messages."""
    if isinstance(key, bytes):
        return key, "the key"
    if isinstance(key, str) and ("-----BEGIN" in key or _is_line(key)):
        return key.encode(), "the key"
    with open(key, "rb") as file:
        return file.read(KEY_FILE_MAX), os.fspath(key)


def _is_line(text: str) -> bool:
    return text.startswith("ssh-ed25519 ") or re.fullmatch(r"[0-9a-f]{64}\s*", text) is not None


def _public_bytes(data: bytes, name: str) -> bytes:
    text = data.strip()
    if re.fullmatch(rb"[0-9a-f]{64}", text):
        return bytes.fromhex(text.decode())
    serialization, kind = _serialization(), _ed25519().Ed25519PublicKey
    is_line = text.startswith(b"ssh-")
    load = serialization.load_ssh_public_key if is_line else serialization.load_pem_public_key
    if b"PRIVATE KEY" in text:
        raise ValueError(f"{name} is a private key: pass the public one, and keep this one secret")
    try:
        key = load(text)
    except Exception as error:  # cryptography raises several types for the same fault
        raise ValueError(f"{name} is not a public key (PEM, or a line of OpenSSH)") from error
    raw: bytes = _checked(key, kind, name).public_bytes_raw()
    return raw


def _private(data: bytes, name: str, password: bytes | None) -> Ed25519PrivateKey:
    serialization, kind = _serialization(), _ed25519().Ed25519PrivateKey
    is_ssh = b"BEGIN OPENSSH" in data
    load = serialization.load_ssh_private_key if is_ssh else serialization.load_pem_private_key
    try:
        key = load(data, password)
    except TypeError as error:  # a missing or an unnecessary password
        raise ValueError(f"{name}: {error}") from error
    except Exception as error:  # cryptography raises several types for the same fault
        what = "is not a private key (PEM or OpenSSH), or the password is wrong"
        raise ValueError(f"{name} {what}") from error
    private: Ed25519PrivateKey = _checked(key, kind, name)
    return private


def _checked(key: object, kind: type[Key], name: str) -> Key:
    if not isinstance(key, kind):
        raise ValueError(f"{name} is not an Ed25519 key: `openssl genpkey -algorithm ed25519`")
    return key


def _ed25519() -> ModuleType:
    return optional("cryptography.hazmat.primitives.asymmetric.ed25519", PURPOSE)


def _serialization() -> ModuleType:
    return optional("cryptography.hazmat.primitives.serialization", PURPOSE)
