"""Sign a file, in a commit that adds two sections and changes nothing else."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ragfile import _core
from ragfile.file import signatures
from ragfile.file.config import config_of
from ragfile.file.signatures import SEAL, SIGNATURES, Content, Signature
from ragfile.ground.signing_keys import PrivateKey
from ragfile.ground.urls import local_file
from ragfile.write.draft import creation_time
from ragfile.write.file_to_edit import file_to_edit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragfile.types import StrPath


def sign(
    path: StrPath, key: PrivateKey | StrPath | bytes, *, signer: str = "", signed: str = "",
    password: bytes | None = None, wait: float | None = None,
) -> Signature:  # fmt: skip
    """Sign the content of a file with an Ed25519 key, in a commit of its own.

    Signatures of the same content by other keys remain. Any later edit makes all of them stale.

    Args:
        path: The file to sign.
        key: A private key (PEM or OpenSSH): its file, its text, or a `PrivateKey`.
        signer: A name to keep with the signature.
        signed: The time of signing in ISO 8601 with a time zone, or `"now"`. Omitted by default.
        password: The password of an encrypted key.
        wait: Seconds to wait for other writers. Defaults to `RAGFILE_WAIT`, else 30.

    Returns:
        The new signature.

    Raises:
        ValueError: The key cannot be read, or the time has no time zone.
        LockedError: Another writer still holds the file, or this thread does.
    """
    path = local_file(path)
    opened, when = PrivateKey.of(key, password), moment(signed)
    file = file_to_edit(path, wait)
    try:
        reader = file.take_reader()
        content = Content(reader)
        seal = content.hashed(reader)
        digest = content.digest(seal)
        made = envelope(opened, signatures.statement(digest, signer, when))
        others = signatures.of_digest(reader, digest, but=opened.public.id)
        _write(file, seal, [*others, made])
        file.parity(config_of(reader, str(path)).get("parity", 0))
        file.commit(creation_time(), f"signed by {signer or opened.public.id[:16]}")
    finally:
        file.close()
    return Signature(opened.public.id, signer, when, True, made)


def _write(file: _core.FileWriter, seal: bytes, envelopes: Sequence[Mapping[str, Any]]) -> None:
    raw = json.dumps({"version": 1, "envelopes": envelopes}, ensure_ascii=False).encode()
    if len(raw) > signatures.JSON_MAX or len(envelopes) > signatures.ENVELOPES_MAX:
        raise ValueError(f"a file can hold {signatures.ENVELOPES_MAX} signatures of 1 MiB in all")
    file.add(SEAL, seal, items=len(seal) // signatures.LEAF)
    file.add(SIGNATURES, raw, items=len(envelopes))


def envelope(key: PrivateKey, payload: bytes) -> dict[str, Any]:
    """Return a payload with its signature, as a DSSE envelope."""
    signature = key.sign(signatures.encoded(payload))
    return {
        "payloadType": signatures.TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": key.public.id, "sig": base64.b64encode(signature).decode()}],
    }


def moment(time: str) -> str:
    """Return a time in the form of the specification, or an empty string."""
    if not time:
        return ""
    when = datetime.now(UTC) if time == "now" else datetime.fromisoformat(time)
    if when.tzinfo is None:
        raise ValueError(f"{time!r} has no time zone: end it with Z")
    return when.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"
