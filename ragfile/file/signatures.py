"""Signatures of an open file: the signed content, the signer, and whether they still match.

spec/parts/signatures.md defines the tree of hashes. A trusted file is checked in two steps. At
opening, a signature leads to the digest of the content list, the list to the root of each section,
the roots to the leaves. From then on the core compares each block that is read with its leaf.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ragfile import _core
from ragfile.errors import CorruptError, SignatureError
from ragfile.file.section_table import UNSIGNED
from ragfile.ground.json_values import is_list, is_object
from ragfile.ground.signing_keys import PublicKey
from ragfile.types import SectionEntry

SEAL, SIGNATURES = "rag.seal", "rag.signatures"
BLOCK, LEAF = 1 << 16, 32
JSON_MAX, ENVELOPES_MAX = 1 << 20, 64
TYPE = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:ragfile:signature:1"


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature of a file, not verified.

    `signer` and `signed` are texts by the signer, or "". `is_current` is whether the file's table and
    seal match the signed content; `verify(path, keys=…)` and `open(path, trusted=…)` also check the
    bytes and the key. `key_id` only helps to find the key: it is not verified.
    """

    key_id: str
    signer: str
    signed: str
    is_current: bool
    envelope: Mapping[str, Any] = field(repr=False, compare=False)


class Content:
    """The content of one generation: its sections with their leaves, and its segments."""

    def __init__(self, reader: _core.Reader) -> None:
        self.entries: list[SectionEntry] = sorted(
            (e for e in reader.entries if e["name"] not in UNSIGNED),
            key=lambda e: (e["name"].encode(), e["segment"]),
        )
        self.segments = reader.segments

    def hashed(self, reader: _core.Reader) -> bytes:
        """The leaves of all sections, from their bytes."""
        leaves: list[bytes] = []
        for entry in self.entries:
            section = reader.section(entry["name"], entry["segment"])
            assert section is not None
            section.check()
            view = memoryview(section)
            for at in range(0, entry["size"], BLOCK):
                leaf = hashlib.sha256(b"\0")
                leaf.update(view[at : at + BLOCK])
                leaves.append(leaf.digest())
        return b"".join(leaves)

    def split(self, seal: bytes) -> list[bytes]:
        """The leaves of each section, or ValueError for a seal of another size."""
        sizes = [LEAF * -(-entry["size"] // BLOCK) for entry in self.entries]
        if len(seal) != sum(sizes):
            raise ValueError("the seal is of other sections")
        ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
        return [seal[end - size : end] for size, end in zip(sizes, ends, strict=True)]

    def digest(self, seal: bytes) -> str:
        """SHA-256 of the content list, in hexadecimal."""
        lines = ["ragfile content 1"]
        for e, leaves in zip(self.entries, self.split(seal), strict=True):
            root = hashlib.sha256(b"\1" + leaves).hexdigest()
            lines.append(
                f"section {e['name']} {e['segment']} {e['flags']} {e['items']} {e['size']} {root}"
            )
        lines += [f"segment {s.number} {s.rows} {s.live}" for s in self.segments]
        return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def encoded(payload: bytes) -> bytes:
    """Return the signed bytes: DSSE's encoding of the type and the payload."""
    return b"DSSEv1 %d %s %d %s" % (len(TYPE), TYPE.encode(), len(payload), payload)


def statement(digest: str, signer: str, signed: str) -> bytes:
    """The payload of a new signature."""
    texts = {"signer": signer, "signed": signed}
    record = {
        "_type": STATEMENT,
        "subject": [{"name": "content", "digest": {"sha256": digest}}],
        "predicateType": PREDICATE,
        "predicate": {name: value for name, value in texts.items() if value},
    }
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


def envelopes_of(reader: _core.Reader) -> list[dict[str, Any]]:
    """Return the envelopes of a file; none if it is unsigned."""
    section = reader.section(SIGNATURES)
    if section is None:
        return []
    if len(section) > JSON_MAX:
        raise _damaged(f"{len(section):,} bytes are too many")
    section.check()
    try:
        found = json.loads(bytes(section).decode())
    except (ValueError, RecursionError):
        raise _damaged("it is not JSON") from None
    listed = found.get("envelopes") if is_object(found) else None
    if not is_list(listed) or found.get("version") != 1:
        raise _damaged("it is not a list of envelopes of version 1")
    if not 1 <= len(listed) <= ENVELOPES_MAX or not all(is_object(e) for e in listed):
        raise _damaged(f"it must hold 1 to {ENVELOPES_MAX} envelopes")
    return listed


def _damaged(why: str) -> CorruptError:
    return CorruptError(f"section {SIGNATURES} cannot be read: {why}", section=SIGNATURES)


def seal_of(reader: _core.Reader) -> bytes:
    """Return the stored leaves, not verified."""
    section = reader.section(SEAL)
    if section is None:
        return b""
    section.check()
    return bytes(section)


class SignatureParts(NamedTuple):
    """The parts of an envelope."""

    payload: bytes
    signature: bytes
    key_id: str


@dataclass(frozen=True, slots=True)
class _Envelope:
    """The parts of a file's envelope. digest is None if its payload is not a ragfile statement."""

    payload: bytes
    signature: bytes
    key_id: str
    digest: str | None
    predicate: Mapping[str, Any]


def _opened(envelope: Mapping[str, Any]) -> _Envelope | None:
    parts = parts_of(envelope)
    return None if parts is None else _Envelope(*parts, *_stated(parts.payload))


def parts_of(envelope: Mapping[str, Any]) -> SignatureParts | None:
    """Return the parts of an envelope, or None if it does not have the specified form."""
    try:
        (only,) = envelope["signatures"]
        payload = base64.b64decode(envelope["payload"], validate=True)
        signature, key_id = base64.b64decode(only["sig"], validate=True), only.get("keyid", "")
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error):
        return None
    if envelope.get("payloadType") != TYPE or not isinstance(key_id, str):
        return None
    return SignatureParts(payload, signature, key_id)


def _stated(payload: bytes) -> tuple[str | None, Mapping[str, Any]]:
    """(digest, predicate) of a statement; (None, {}) of anything else."""
    try:
        stated = json.loads(payload.decode())
        (subject,) = stated["subject"]
        digest, predicate = subject["digest"]["sha256"], stated.get("predicate", {})
    except (KeyError, TypeError, ValueError, RecursionError):
        return None, {}
    is_ours = stated.get("_type") == STATEMENT and stated.get("predicateType") == PREDICATE
    if not (is_ours and isinstance(digest, str) and is_object(predicate)):
        return None, {}
    return digest, predicate


def signatures(reader: _core.Reader) -> list[Signature]:
    """Return the signatures of a file, in order, without verifying them."""
    envelopes = envelopes_of(reader)
    if not envelopes:
        return []
    digest = _present_digest(reader)
    return [_described(envelope, digest) for envelope in envelopes]


def _present_digest(reader: _core.Reader) -> str | None:
    try:
        return Content(reader).digest(seal_of(reader))
    except ValueError:  # the seal is of other sections
        return None


def _described(envelope: Mapping[str, Any], digest: str | None) -> Signature:
    opened = _opened(envelope)
    if opened is None:
        return Signature("", "", "", False, envelope)
    texts = {k: v for k, v in opened.predicate.items() if isinstance(v, str)}
    is_current = opened.digest is not None and opened.digest == digest
    return Signature(
        opened.key_id, texts.get("signer", ""), texts.get("signed", ""), is_current, envelope
    )


def of_digest(reader: _core.Reader, digest: str, *, but: str) -> list[Mapping[str, Any]]:
    """Return the envelopes for this content, except those with one key id."""
    taken_apart = [(envelope, _opened(envelope)) for envelope in envelopes_of(reader)]
    return [e for e, o in taken_apart if o and o.digest == digest and o.key_id != but]


def trusted_by(reader: _core.Reader, keys: Iterable[PublicKey]) -> list[Signature]:
    """The signatures that hold, each for one of the keys. The bytes of blocks are not checked."""
    digest = _present_digest(reader)
    holding: list[Signature] = []
    for envelope in envelopes_of(reader):
        opened = _opened(envelope)
        if opened is None or digest is None or opened.digest != digest:
            continue
        if any(key.accepts(opened.signature, encoded(opened.payload)) for key in keys):
            holding.append(_described(envelope, digest))
    return holding


def require(reader: _core.Reader, keys: Sequence[PublicKey], path: str) -> None:
    """Raise SignatureError unless one of the keys signed the file; blocks are then checked on reading."""
    if not trusted_by(reader, keys):
        raise SignatureError(f"{path}: {_why_not(reader, keys)}")
    content, seal = Content(reader), seal_of(reader)
    for entry, leaves in zip(content.entries, content.split(seal), strict=True):
        reader.seal(entry["name"], entry["segment"], leaves)


def _why_not(reader: _core.Reader, keys: Sequence[PublicKey]) -> str:
    """Return the reason of a refusal, for the error's message."""
    found = signatures(reader)
    if not found:
        return "it is not signed: sign it with `ragfile sign`, or open it without trusted keys"
    if not any(signature.is_current for signature in found):
        return "it was changed after it was signed: have it signed again"
    signers = ", ".join(signature.key_id[:16] for signature in found if signature.is_current)
    trusted = ", ".join(key.id[:16] for key in keys) or "none"
    return f"no signature is by a trusted key (signed by {signers}; trusted: {trusted})"
