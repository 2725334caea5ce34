"""Signatures of a generation of a dataset: objects beside its manifest, which change no other one.

    signatures/<20 digits>/<key id>.json    an envelope: this manifest, and what the objects that it names contain
    seals/<sha256>.seal                     the leaves of one object's sections, by the object's name

A manifest names its objects by their hashes, so that who vouches for a manifest vouches for every byte. A whole object is
rarely read. So the signature also has the digest of each one's content, and the seal beside it has the hash of each block:
a trusted shard is checked block by block, when one is first read, as a signed file is.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ragfile.errors import CorruptError, SignatureError
from ragfile.file import signatures
from ragfile.file.signatures import STATEMENT, Content, Signature
from ragfile.ground.signing_keys import PrivateKey, PublicKey
from ragfile.search.file_rows import FileRows, rows_of
from ragfile.shards import manifest as manifests
from ragfile.shards import new_generation
from ragfile.shards.executors import executor_of
from ragfile.shards.manifest import FOLDER, Manifest, Stored
from ragfile.shards.shard_description import file_sha256
from ragfile.shards.shards import SEALS, seal_name
from ragfile.shards.stores import Store, place
from ragfile.types import StrPath
from ragfile.write.signature_commit import envelope, moment

SIGNATURES = "signatures/"
PREDICATE = "urn:ragfile:dataset-signature:1"
Contents = dict[str, str]  # by the path of an object: the digest of its content


class Stated(NamedTuple):
    """A statement of ours: the manifest's hash, the contents, and what the signer said."""

    manifest: str
    contents: Contents
    said: Mapping[str, Any]


def folder_of(generation: int) -> str:
    """Where the signatures of a generation are."""
    return manifests.name_of(generation).replace(FOLDER, SIGNATURES).removesuffix(".json") + "/"


def generation_of(name: str) -> int | None:
    """The generation that an object is a signature of, None for other objects."""
    folder, _, _ = name.removeprefix(SIGNATURES).partition("/")
    return manifests.generation_of(f"{FOLDER}{folder}.json")


def _objects(manifest: Manifest) -> list[Stored]:
    statistics = manifest.statistics
    return [*manifest.shards, *([] if statistics is None else [statistics])]


# -------------------------------------------------------------------------------------- signing


class Sealing(NamedTuple):
    """An object whose blocks are to be hashed."""

    root: str
    path: str
    sha256: str


def sealed(job: Sealing) -> tuple[str, str]:
    """(path, the digest of the content) of an object, with its seal in place."""
    store = place(job.root)
    with tempfile.TemporaryDirectory(prefix="ragfile-") as folder:
        path = os.path.join(folder, "object.ragfile")
        store.fetch(job.path, path)
        if file_sha256(path) != job.sha256:
            raise CorruptError(f"{job.root}: {job.path} is not what its name says: not signed")
        with rows_of(path) as shard:
            content = Content(shard.file.reader)
            leaves = content.hashed(shard.file.reader)
    _replace(store, seal_name(job.path), leaves)
    return job.path, content.digest(leaves)


def _replace(store, name, data):
    """Another object of that name is as good as none: names of seals and signatures do not say what they hold."""
    while not store.put_new(name, data):
        with contextlib.suppress(FileNotFoundError):
            if store.read(name) == data:
                return
        store.delete(name)


def sign(
    path: StrPath, key: PrivateKey | StrPath | bytes, *, signer: str = "", signed: str = "",
    password: bytes | None = None, executor: Any = None, workers: int | None = None,
) -> Signature:  # fmt: skip
    """Vouches for the newest generation of a dataset with an Ed25519 key; ragfile.sign says what the options are.

    Every object that the key has not vouched for before is read once, by the executor.
    """
    opened, when, store = PrivateKey.of(key, password), moment(signed), place(path)
    raw, generation = new_generation.raw(store)
    manifest = manifests.parse(raw, f"{store.root}: generation {generation}", generation)
    known = _vouched_for(store, opened.public)
    contents = {o.path: known[o.path] for o in _objects(manifest) if o.path in known}
    jobs = [
        Sealing(store.root, one.path, one.sha256)
        for one in _objects(manifest)
        if one.path not in contents
    ]
    with contextlib.closing(executor_of(executor, workers)) as engine:
        contents |= dict(found for _, found in engine.map(sealed, jobs))
    stated = Stated(
        manifests.sha256(raw),
        dict(sorted(contents.items())),
        {name: value for name, value in (("signer", signer), ("signed", when)) if value},
    )
    made = envelope(opened, _statement(stated))
    name = f"{folder_of(generation)}{opened.public.id}.json"
    _replace(store, name, json.dumps(made, sort_keys=True).encode())
    return Signature(opened.public.id, signer, when, True, made)


def _vouched_for(store, key) -> Contents:
    """What the key said before of objects whose seals are still there."""
    names = (found.name for found in store.names(SIGNATURES))
    newest = next((name for name in sorted(names) if name.endswith(f"/{key.id}.json")), None)
    stated = None if newest is None else _held(_loaded(store, newest), key)
    seals = {found.name for found in store.names(SEALS)} if stated else set()
    return {p: d for p, d in stated.contents.items() if seal_name(p) in seals} if stated else {}


def _statement(stated: Stated) -> bytes:
    record = {
        "_type": STATEMENT,
        "subject": [{"name": "manifest", "digest": {"sha256": stated.manifest}}],
        "predicateType": PREDICATE,
        "predicate": {"contents": stated.contents, **stated.said},
    }
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


# -------------------------------------------------------------------------------------- trusting


def required(
    store: Store, digest: str, generation: int, keys: Sequence[PublicKey], path: str
) -> Contents:
    """What the objects of the manifest with a hash contain, by the word of one of the keys; or it is refused."""
    for key in keys:
        name = f"{folder_of(generation)}{key.id}.json"
        stated = _held(_loaded(store, name), key)
        if stated is not None and stated.manifest == digest:
            return stated.contents
    there = signatures_of(store, digest, generation)
    if not there:
        why = "nobody signed this generation: `ragfile sign` does, or open it without trusted keys"
    else:
        ids = ", ".join(one.key_id[:16] for one in there)
        known = ", ".join(key.id[:16] for key in keys) or "none"
        why = f"no signature is by a trusted key (signed by {ids}; trusted: {known})"
    raise SignatureError(f"{path}: {why}")


def _loaded(store, name) -> Any:
    """An object that says it is an envelope."""
    try:
        return json.loads(store.read(name))
    except (FileNotFoundError, ValueError, RecursionError):
        return None


def _held(found, key) -> Stated | None:
    """What an envelope states, if the key signed it."""
    parts = signatures.parts_of(found)
    if parts is None or not key.accepts(parts.signature, signatures.encoded(parts.payload)):
        return None
    return _stated(parts.payload)


def _stated(payload) -> Stated | None:
    try:
        said = json.loads(payload.decode())
        (subject,) = said["subject"]
        digest, predicate = subject["digest"]["sha256"], said["predicate"]
        contents = predicate["contents"]
        names = said["_type"], said["predicateType"]
        texts = [digest, *contents, *contents.values()]
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return None
    if names != (STATEMENT, PREDICATE) or not all(isinstance(one, str) for one in texts):
        return None
    return Stated(digest, contents, predicate)


def signatures_of(store: Store, digest: str, generation: int) -> list[Signature]:
    """What the signatures of a generation say, whose manifest has a hash. No key is needed, and none is checked."""
    found = []
    for listed in sorted(store.names(folder_of(generation))):
        loaded = _loaded(store, listed.name)
        parts = signatures.parts_of(loaded)
        stated = None if parts is None else _stated(parts.payload)
        if parts is None or stated is None:
            continue
        said = {k: v for k, v in stated.said.items() if isinstance(v, str)}
        found.append(
            Signature(
                parts.key_id,
                said.get("signer", ""),
                said.get("signed", ""),
                stated.manifest == digest,
                loaded,
            )
        )
    return found


def forgeries(shard: FileRows, path: str, contents: Contents, seal: bytes | None) -> Iterable[str]:
    """What a shard whose bytes are right lacks to be read by those who trust a key."""
    content = Content(shard.file.reader)
    leaves = content.hashed(shard.file.reader)
    if contents.get(path) != content.digest(leaves):
        yield "is not what was signed"
    if seal != leaves:
        yield f"has no seal, or another one's: {seal_name(path)}"
