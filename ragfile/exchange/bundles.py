"""Bundles of OpenSSF Model Signing: a signature that lies beside a file and covers all of its bytes.

A bundle is Sigstore's JSON (version 0.3) around a DSSE envelope with an in-toto statement, which lists
the SHA-256 of each file. What is made here is what `model_signing sign key` makes, and what that makes
is accepted. Keys are elliptic curves of NIST, because that program takes no Ed25519. Certificates and
identities need Sigstore's servers: its own tools handle those, and they treat a RAGFile as any file.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Iterable
from typing import Any

from ragfile.errors import SignatureError
from ragfile.ground.atomic_replace import replacing, spare
from ragfile.ground.extras import optional
from ragfile.ground.urls import is_dataset, refuse_remote
from ragfile.types import StrPath

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
    """Writes a bundle of OpenSSF Model Signing that vouches for a file as it is. Returns the key's id.

    The file does not change, and any later change of it, an edit too, makes the bundle stale. key is
    a PEM file with a private key on a curve of NIST: `openssl ecparam -name prime256v1 -genkey`.
    """
    _refuse(path)
    private = _loaded("load_pem_private_key", key, password)
    payload = json.dumps(_statement(path), indent=2).encode()
    signature = private.sign(encoded(payload), _scheme(private))
    hint = _hint(private.public_key())
    made = {
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
    """Checks that one of the public keys (PEM files) signed the file as it is, all of its bytes.

    The bundle is one of OpenSSF Model Signing, made by sign_bundle() or `model_signing sign key`, of
    this file or of a folder with it. Returns the key's id, or raises SignatureError.
    """
    _refuse(path)
    payload, signature = _read(bundle)
    for key in keys:
        public = _loaded("load_pem_public_key", key)
        if _accepts(public, signature, encoded(payload)):
            _check(path, bundle, payload)
            return _hint(public)
    raise SignatureError(f"{os.fspath(bundle)}: no signature is by a trusted key")


def encoded(payload: bytes) -> bytes:
    """What is signed: DSSE's encoding of the type and the payload."""
    return b"DSSEv1 %d %s %d %s" % (len(TYPE), TYPE.encode(), len(payload), payload)


def _refuse(path):
    refuse_remote(path)
    if is_dataset(path):
        raise ValueError(f"{os.fspath(path)} is a dataset: a bundle is of one file")


def _loaded(function, key, *password):
    """A key from a PEM file, if it is on a curve that bundles know."""
    serialization = optional("cryptography.hazmat.primitives.serialization", PURPOSE)
    with open(key, "rb") as file:
        data = file.read(1 << 16)
    try:
        found = getattr(serialization, function)(data, *password)
    except Exception as error:  # of many kinds, all of which mean this
        kind = "private" if password else "public"
        raise ValueError(f"{os.fspath(key)} is not a {kind} key in PEM: {error}") from error
    if getattr(getattr(found, "curve", None), "name", None) not in CURVES:
        what = "bundles have keys on curves of NIST: `openssl ecparam -name prime256v1 -genkey`"
        raise ValueError(f"{os.fspath(key)}: {what}")
    return found


def _scheme(key):
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.ECDSA(getattr(hashes, CURVES[key.curve.name])())


def _hint(public):
    """SHA-256 of the key in PEM, by which Model Signing tells keys apart."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    raw = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(raw).hexdigest()


def _accepts(public, signature, message):
    from cryptography.exceptions import InvalidSignature

    try:
        public.verify(signature, message, _scheme(public))
    except InvalidSignature:
        return False
    return True


def _digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256")


def _statement(path):
    found = _digest(path)
    return {
        "_type": STATEMENT,
        "subject": [
            {
                "name": os.path.basename(os.path.abspath(path)),
                "digest": {"sha256": hashlib.sha256(found.digest()).hexdigest()},
            }
        ],
        "predicateType": PREDICATE,
        "predicate": {
            "resources": [{"name": ".", "algorithm": "sha256", "digest": found.hexdigest()}],
            "serialization": {
                "method": "files", "hash_type": "sha256", "allow_symlinks": False,
                "ignore_paths": [],
            },
        },
    }  # fmt: skip


def _read(bundle) -> tuple[bytes, bytes]:
    """(payload, signature) of a bundle's envelope; nothing of it is believed yet."""
    with open(bundle, "rb") as file:
        raw = file.read(SIZE_MAX + 1)
    payload = signature = b""
    try:
        found: Any = json.loads(raw) if len(raw) <= SIZE_MAX else None
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


def _check(path, bundle, payload):
    """That a signed statement is of this file."""
    try:
        found = json.loads(payload)
        named = (found["_type"], found["predicateType"])
        resources = found["predicate"]["resources"]
        method = found["predicate"]["serialization"]["method"]
        digests = {one["name"]: (one["algorithm"], one["digest"]) for one in resources}
        (subject,) = found["subject"]
        root = hashlib.sha256(b"".join(bytes.fromhex(one["digest"]) for one in resources))
        is_whole = root.hexdigest() == subject["digest"]["sha256"]
    except (KeyError, TypeError, ValueError, RecursionError):
        named, is_whole, method, digests = (), False, "", {}
    if named != (STATEMENT, PREDICATE) or not is_whole:
        raise SignatureError(f"{os.fspath(bundle)}: what was signed is not a statement on files")
    if method != "files":
        what = f"it lists {method}, and ragfile compares whole files: use model_signing"
        raise SignatureError(f"{os.fspath(bundle)}: {what}")
    name = os.path.basename(os.path.abspath(path))
    if ("sha256", _digest(path).hexdigest()) not in (digests.get("."), digests.get(name)):
        raise SignatureError(f"{os.fspath(path)}: changed after it was signed, or another file")
