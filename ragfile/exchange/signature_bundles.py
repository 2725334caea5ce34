"""OpenSSF Model Signing: a signature in a file of its own that covers every byte of another file.

A bundle is Sigstore JSON (version 0.3) around a DSSE envelope. Its payload is an in-toto statement with
the SHA-256 of each file. Bundles written here equal those of `model_signing sign key`, and its bundles
are accepted. Keys are on NIST curves, because that program does not support Ed25519. Certificates and
identities need Sigstore's servers and tools, which treat a RAGFile like any other file.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragfile.errors import SignatureError
from ragfile.ground.atomic_replace import replacing, spare
from ragfile.ground.extras import optional
from ragfile.ground.urls import is_dataset, local_file
from ragfile.types import StrPath

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import (
        ECDSA,
        EllipticCurvePrivateKey,
        EllipticCurvePublicKey,
    )

MEDIA = "application/vnd.dev.sigstore.bundle.v0.3+json"
TYPE = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://model_signing/signature/v1.0"
SIZE_MAX = 1 << 24
CURVES = {"secp256r1": "SHA256", "secp384r1": "SHA384", "secp521r1": "SHA512"}
PURPOSE = "signing and checking bundles"


def sign_bundle(
    path: StrPath, bundle: StrPath, key: StrPath, *, password: bytes | None = None
) -> str:  # fmt: skip
    """Sign a file with an OpenSSF Model Signing bundle. The file itself does not change.

    Any later change of the file, including an edit, invalidates the bundle.

    Args:
        path: The file to sign.
        bundle: The bundle to write. An existing bundle is replaced; any other file is left alone.
        key: A PEM file with a private key on a NIST curve, as
            `openssl ecparam -name prime256v1 -genkey` makes it.
        password: The password of an encrypted key.

    Returns:
        The id of the key: the SHA-256 of its public half.

    Raises:
        ValueError: `path` is a URL or a dataset, or `key` is not a suitable key.
        FileExistsError: `bundle` exists and is not a bundle.
    """
    _refuse(path)
    private = _private_key(key, password)
    payload = json.dumps(_statement(path), indent=2).encode()
    signature = private.sign(encoded(payload), _scheme(private))
    hint = _hint(private.public_key())
    made: dict[str, object] = {
        "mediaType": MEDIA,
        "verificationMaterial": {"publicKey": {"hint": hint}, "tlogEntries": []},
        "dsseEnvelope": {
            "payload": base64.b64encode(payload).decode(),
            "payloadType": TYPE,
            "signatures": [{"sig": base64.b64encode(signature).decode(), "keyid": ""}],
        },
    }
    spare(bundle, lambda head: b"dsseEnvelope" in head, "bundle")
    with replacing(os.fspath(bundle)) as file:
        file.write(json.dumps(made).encode())
    return hint


def verify_bundle(path: StrPath, bundle: StrPath, keys: Iterable[StrPath]) -> str:
    """Check that a trusted key signed every byte of a file as it is now.

    Args:
        path: The file to check.
        bundle: A bundle of this file or of its folder, made by `sign_bundle()` or by
            `model_signing sign key`.
        keys: PEM files with the trusted public keys.

    Returns:
        The id of the key that signed the file.

    Raises:
        SignatureError: No trusted key signed the file, or it changed since.
        ValueError: `path` is a URL or a dataset, or a key is not suitable.
    """
    _refuse(path)
    payload, signature = _read(bundle)
    for key in keys:
        public = _public_key(key)
        if _accepts(public, signature, encoded(payload)):
            _check(path, bundle, payload)
            return _hint(public)
    raise SignatureError(f"{os.fspath(bundle)}: no signature is by a trusted key")


def encoded(payload: bytes) -> bytes:
    """Return the signed bytes: the DSSE encoding of type and payload."""
    return b"DSSEv1 %d %s %d %s" % (len(TYPE), TYPE.encode(), len(payload), payload)


def _refuse(path: StrPath) -> None:
    path = local_file(path)
    if is_dataset(path):
        raise ValueError(f"{os.fspath(path)} is a dataset: a bundle signs one file")


def _private_key(path: StrPath, password: bytes | None) -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

    key = _loaded("load_pem_private_key", path, password)
    assert isinstance(key, EllipticCurvePrivateKey)
    return key


def _public_key(path: StrPath) -> EllipticCurvePublicKey:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

    key = _loaded("load_pem_public_key", path)
    assert isinstance(key, EllipticCurvePublicKey)
    return key


def _loaded(function: str, key: StrPath, *password: bytes | None) -> object:
    """Load a key from a PEM file, and check that its curve is supported."""
    serialization = optional("cryptography.hazmat.primitives.serialization", PURPOSE)
    with open(key, "rb") as file:
        data = file.read(1 << 16)
    try:
        found = getattr(serialization, function)(data, *password)
    except Exception as error:  # the library raises many kinds for a bad key
        kind = "private" if password else "public"
        raise ValueError(f"{os.fspath(key)} is not a {kind} key in PEM: {error}") from error
    if getattr(getattr(found, "curve", None), "name", None) not in CURVES:
        what = "bundles have keys on curves of NIST: `openssl ecparam -name prime256v1 -genkey`"
        raise ValueError(f"{os.fspath(key)}: {what}")
    return found


def _scheme(key: EllipticCurvePrivateKey | EllipticCurvePublicKey) -> ECDSA:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.ECDSA(getattr(hashes, CURVES[key.curve.name])())


def _hint(public: EllipticCurvePublicKey) -> str:
    """Return the SHA-256 of the key in PEM, its id in Model Signing."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    raw = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(raw).hexdigest()


def _accepts(public: EllipticCurvePublicKey, signature: bytes, message: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        public.verify(signature, message, _scheme(public))
    except InvalidSignature:
        return False
    return True


def _digest(path: StrPath) -> bytes:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _statement(path: StrPath) -> dict[str, object]:
    found = _digest(path)
    return {
        "_type": STATEMENT,
        "subject": [
            {
                "name": os.path.basename(os.path.abspath(path)),
                "digest": {"sha256": hashlib.sha256(found).hexdigest()},
            }
        ],
        "predicateType": PREDICATE,
        "predicate": {
            "resources": [{"name": ".", "algorithm": "sha256", "digest": found.hex()}],
            "serialization": {
                "method": "files", "hash_type": "sha256", "allow_symlinks": False,
                "ignore_paths": [],
            },
        },
    }  # fmt: skip


def _read(bundle: StrPath) -> tuple[bytes, bytes]:
    """Return the unverified payload and signature of a bundle."""
    with open(bundle, "rb") as file:
        raw = file.read(SIZE_MAX + 1)
    payload = signature = b""
    try:
        found = json.loads(raw if len(raw) <= SIZE_MAX else b"null")
        envelope = found["dsseEnvelope"]
        (only,) = envelope["signatures"]
        payload = base64.b64decode(envelope["payload"], validate=True)
        signature = base64.b64decode(only["sig"], validate=True)
        is_known = found["mediaType"] == MEDIA and envelope["payloadType"] == TYPE
    except (KeyError, TypeError, ValueError, RecursionError, binascii.Error):
        is_known = False
    if not is_known:
        raise SignatureError(f"{os.fspath(bundle)} is not a bundle of Model Signing")
    return payload, signature


def _check(path: StrPath, bundle: StrPath, payload: bytes) -> None:
    """Raise SignatureError unless a signed statement describes this file."""
    try:
        found = json.loads(payload)
        named: tuple[object, ...] = (found["_type"], found["predicateType"])
        resources = found["predicate"]["resources"]
        method = found["predicate"]["serialization"]["method"]
        digests = {one["name"]: (one["algorithm"], one["digest"]) for one in resources}
        (subject,) = found["subject"]
        root = hashlib.sha256(b"".join(bytes.fromhex(one["digest"]) for one in resources))
        is_whole = root.hexdigest() == subject["digest"]["sha256"]
    except (KeyError, TypeError, ValueError, RecursionError):
        named, is_whole, method, digests = (), False, "", {}
    if named != (STATEMENT, PREDICATE) or not is_whole:
        raise SignatureError(f"{os.fspath(bundle)}: the signed payload is not a statement on files")
    if method != "files":
        what = f"it lists {method}, and ragfile compares whole files: use model_signing"
        raise SignatureError(f"{os.fspath(bundle)}: {what}")
    name = os.path.basename(os.path.abspath(path))
    if ("sha256", _digest(path).hex()) not in (digests.get("."), digests.get(name)):
        raise SignatureError(f"{os.fspath(path)}: changed after it was signed, or another file")
