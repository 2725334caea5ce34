"""Signatures of a generation of a dataset: objects beside its manifest; no other object changes.

    signatures/<20 digits>/<key id>.json    an envelope: this manifest, and the contents of the objects that it names
    seals/<sha256>.seal                     the leaves of one object's sections, by the object's name

A manifest names its objects by their hashes, so a signature of the manifest covers every byte. But a whole object is rarely
read. So the signature also has a digest of each object's content, and the seal beside it has the hash of each block. A
trusted shard is checked block by block, when one is first read, like a signed file.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ragfile.errors import CorruptError, SignatureError
from ragfile.file import signatures
from ragfile.file.signatures import STATEMENT, Content, Signature
from ragfile.ground import system
from ragfile.ground.signing_keys import PrivateKey, PublicKey
from ragfile.search.file_rows import FileRows, rows_of
from ragfile.shards import dataset_commit
from ragfile.shards import manifest as manifests
from ragfile.shards.executors import ExecutorChoice, executor_of
from ragfile.shards.manifest import FOLDER, Manifest, Stored
from ragfile.shards.shard_description import file_sha256
from ragfile.shards.shards import SEALS, seal_name
from ragfile.shards.stores import Store, place
from ragfile.types import StrPath
from ragfile.write.signature_commit import envelope, moment

SIGNATURES = "signatures/"
PREDICATE = "urn:ragfile:dataset-signature:1"
Contents = dict[str, str]  # digests by the path of an object


class Stated(NamedTuple):
    """A signed statement: the manifest's hash, the contents, and the signer's name and time."""

    manifest: str
    contents: Contents
    labels: Mapping[str, Any]


def folder_of(generation: int) -> str:
    """Return the folder of a generation's signatures."""
    return manifests.name_of(generation).replace(FOLDER, SIGNATURES).removesuffix(".json") + "/"


def generation_of(name: str) -> int | None:
    """Return the generation that an object signs, None for other objects."""
    folder, _, _ = name.removeprefix(SIGNATURES).partition("/")
    return manifests.generation_of(f"{FOLDER}{folder}.json")


def _objects(manifest: Manifest) -> list[Stored]:
    statistics = manifest.statistics
    return [*manifest.shards, *([] if statistics is None else [statistics])]


# -------------------------------------------------------------------------------------- signing


class Sealing(NamedTuple):
    """A job: hash the blocks of an object."""

    root: str
    path: str
    sha256: str


def sealed(job: Sealing) -> tuple[str, str]:
    """Write the seal of an object. Return its path and the digest of its content."""
    store = place(job.root)
    with system.temporary_folder() as folder:
        path = os.path.join(folder, "object.ragfile")
        store.fetch(job.path, path)
        if file_sha256(path) != job.sha256:
            raise CorruptError(
                f"{job.root}: {job.path} does not match its name, so it was not signed"
            )
        with rows_of(path) as shard:
            content = Content(shard.file.reader)
            leaves = content.hashed(shard.file.reader)
    _replace(store, seal_name(job.path), leaves)
    return job.path, content.digest(leaves)


def _replace(store: Store, name: str, data: bytes) -> None:
    """Put an object in place of any of its name: seals and signatures are not named by content."""
    while not store.put_new(name, data):
        with contextlib.suppress(FileNotFoundError):
            if store.read(name) == data:
                return
        store.delete(name)


def sign(
    path: StrPath, key: PrivateKey | StrPath | bytes, *, signer: str = "", signed: str = "",
    password: bytes | None = None, executor: ExecutorChoice = None, workers: int | None = None,
) -> Signature:  # fmt: skip
    """Sign the newest generation of a dataset with an Ed25519 key.

    Objects that the key has not signed before are read once.

    Args:
        path: A folder or a bucket's URL.
        key: The private key, or its file or bytes.
        signer: Your name, for people; it is part of the statement.
        signed: The time of signing; by default, now.
        password: The password of the key.
        executor: Reads the objects: None (this process), "process", "ray", "dask" or an Executor.
        workers: Number of workers of the executor.

    Returns:
        The signature.

    Raises:
        CorruptError: An object does not match its name.
    """
    opened, when, store = PrivateKey.of(key, password), moment(signed), place(path)
    raw, generation = dataset_commit.raw(store)
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


def _vouched_for(store: Store, key: PublicKey) -> Contents:
    """Return the contents in the key's newest signature, of objects that still have a seal."""
    names = (found.name for found in store.names(SIGNATURES))
    newest = next((name for name in sorted(names) if name.endswith(f"/{key.id}.json")), None)
    stated = None if newest is None else _held(_loaded(store, newest), key)
    seals: set[str] = {found.name for found in store.names(SEALS)} if stated else set()
    return {p: d for p, d in stated.contents.items() if seal_name(p) in seals} if stated else {}


def _statement(stated: Stated) -> bytes:
    record = {
        "_type": STATEMENT,
        "subject": [{"name": "manifest", "digest": {"sha256": stated.manifest}}],
        "predicateType": PREDICATE,
        "predicate": {"contents": stated.contents, **stated.labels},
    }
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


# -------------------------------------------------------------------------------------- trusting


def required(
    store: Store, digest: str, generation: int, keys: Sequence[PublicKey], path: str
) -> Contents:
    """Return the contents that one of the keys signed for the manifest with a hash; else raise SignatureError."""
    for key in keys:
        name = f"{folder_of(generation)}{key.id}.json"
        stated = _held(_loaded(store, name), key)
        if stated is not None and stated.manifest == digest:
            return stated.contents
    found = signatures_of(store, digest, generation)
    if not found:
        why = "this generation is not signed: run `ragfile sign`, or open it without trusted keys"
    else:
        ids = ", ".join(one.key_id[:16] for one in found)
        known = ", ".join(key.id[:16] for key in keys) or "none"
        why = f"no signature is by a trusted key (signed by {ids}; trusted: {known})"
    raise SignatureError(f"{path}: {why}")


def _loaded(store: Store, name: str) -> Any:  # Any: JSON
    """Return the JSON of an object; None if it is missing or is not JSON."""
    try:
        return json.loads(store.read(name))
    except (FileNotFoundError, ValueError, RecursionError):
        return None


def _held(found: Mapping[str, Any], key: PublicKey) -> Stated | None:
    """Return the statement in an envelope, if the key signed it."""
    parts = signatures.parts_of(found)
    if parts is None or not key.accepts(parts.signature, signatures.encoded(parts.payload)):
        return None
    return _stated(parts.payload)


def _stated(payload: bytes) -> Stated | None:
    try:
        fields = json.loads(payload.decode())
        (subject,) = fields["subject"]
        digest, predicate = subject["digest"]["sha256"], fields["predicate"]
        contents = predicate["contents"]
        names = fields["_type"], fields["predicateType"]
        texts = [digest, *contents, *contents.values()]
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return None
    if names != (STATEMENT, PREDICATE) or not all(isinstance(one, str) for one in texts):
        return None
    return Stated(digest, contents, predicate)


def signatures_of(store: Store, digest: str, generation: int) -> list[Signature]:
    """List the signatures of a generation, given its manifest's hash. They are not checked against any key."""
    found: list[Signature] = []
    for listed in sorted(store.names(folder_of(generation))):
        loaded = _loaded(store, listed.name)
        parts = signatures.parts_of(loaded)
        stated = None if parts is None else _stated(parts.payload)
        if parts is None or stated is None:
            continue
        labels = {k: v for k, v in stated.labels.items() if isinstance(v, str)}
        found.append(
            Signature(
                parts.key_id,
                labels.get("signer", ""),
                labels.get("signed", ""),
                stated.manifest == digest,
                loaded,
            )
        )
    return found


def forgeries(shard: FileRows, path: str, contents: Contents, seal: bytes | None) -> Iterable[str]:
    """Yield the faults that keep an intact shard from being read with trusted keys."""
    content = Content(shard.file.reader)
    leaves = content.hashed(shard.file.reader)
    if contents.get(path) != content.digest(leaves):
        yield "differs from the signed content"
    if seal != leaves:
        yield f"has no seal, or a wrong one: {seal_name(path)}"
