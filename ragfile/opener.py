"""One way to open, whatever the content is."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from ragfile import _core
from ragfile.embedding.protocol import Embedder
from ragfile.errors import FormatError, RemoteError, SignatureError
from ragfile.file.pairs import PairFile
from ragfile.file.snapshot import open_snapshot
from ragfile.file.source import FileSource, RemoteSource
from ragfile.ground.annotations import deferred
from ragfile.ground.offline import is_offline, why
from ragfile.ground.urls import is_dataset, is_remote, shown
from ragfile.knowledge_base import KnowledgeBase
from ragfile.search.file_rows import FileRows
from ragfile.types import Dialect, StrPath

if TYPE_CHECKING:
    from ragfile.file.signatures import Signature
    from ragfile.file.source import ByteSource
    from ragfile.ground.signing_keys import PrivateKey, PublicKey
else:
    PrivateKey = deferred("ragfile.ground.signing_keys", "PrivateKey")
    PublicKey = deferred("ragfile.ground.signing_keys", "PublicKey")
    Signature = deferred("ragfile.file.signatures", "Signature")

HEAD = 1 << 16  # bytes that tell what a file is


@overload
def open(
    path: StrPath, *, embedder: str | Embedder | None = None, generation: int = 0, strict: bool = False,
    embedding_cache: StrPath | bool | None = None, cache: StrPath | None = None, offline: bool = False,
    redirects: bool = False, trusted: Iterable[PublicKey | StrPath | bytes] | None = None,
    executor: Any = None, workers: int | None = None,
    allow_partial: bool = False, pin: bool = False,
) -> KnowledgeBase: ...  # fmt: skip
@overload
def open(
    path: StrPath, *, dialect: Dialect, dim: int | None = None, cache: StrPath | None = None,
    offline: bool = False, redirects: bool = False,
) -> PairFile: ...  # fmt: skip
@overload
def open(
    path: StrPath, *, dim: int, cache: StrPath | None = None, offline: bool = False,
    redirects: bool = False,
) -> PairFile: ...  # fmt: skip
def open(
    path: StrPath, *, embedder: str | Embedder | None = None, dim: int | None = None, dialect: Dialect = "auto",
    generation: int = 0, strict: bool = False, embedding_cache: StrPath | bool | None = None,
    cache: StrPath | None = None, offline: bool = False, redirects: bool = False,
    trusted: Iterable[PublicKey | StrPath | bytes] | None = None,
    executor: Any = None, workers: int | None = None, allow_partial: bool = False,
    pin: bool = False,
) -> KnowledgeBase | PairFile:  # fmt: skip
    """Opens a knowledge base for reading. The content decides what it is, not the suffix.

    embedder is a name or an object that turns questions into vectors; without it the model that the
    file records is used. embedding_cache is a folder that keeps the vectors of questions
    (ragfile.embedding.cache). generation opens an older commit of a 1.0 file; strict refuses one
    whose newest commit is damaged. dim and dialect are for 0.1.0 files: the dimension of vectors
    that do not state it, and "strict", "reference" (files by the reference script) or "auto"
    (strict, else reference with a warning).

    path may be a URL (http, https or s3): of a 1.0 file only what is asked for is fetched, others
    are fetched whole. cache is a folder that keeps what was fetched for the next time.
    offline=True, or RAGFILE_OFFLINE, opens no socket: a URL is an error, and questions to an
    embedder that is a server are answered by words alone. redirects=True follows a URL's redirects
    to other hosts.

    trusted are public keys (files, or their text): a file that none of them signed as it is now is
    refused with SignatureError, and every block is checked against the signature when it is read.

    path may be a dataset: a folder, or an s3:// URL that ends with "/". executor says who asks its
    shards: None (this process), "process", "ray" or "dask", with so many workers. allow_partial
    answers without shards that cannot be asked, which is an error otherwise: a partial answer
    that says so.

    pin=True is for a local file of version 1.0 that is asked often: what a vector question sweeps
    is copied into huge pages when it is first needed. info counts the bytes ("pinned").

    For a type checker, the result is a KnowledgeBase, or a PairFile where dim or dialect is given;
    to open a 0.1.0 file without either, use ragfile.PairFile(path).

        with ragfile.open("kb.ragfile") as rf:
            print(rf.search("How long do pods live?")[0].text)
    """
    if is_remote(path) and (offline or is_offline()):
        raise RemoteError(why(shown(path)))
    if pin and (is_remote(path) or is_dataset(path)):
        raise ValueError(f"{shown(path)}: pin=True is for a local file, not a URL or a dataset")
    if is_dataset(path):
        from ragfile.shards.open_dataset import Dataset

        return Dataset(
            path, embedder=embedder, generation=generation, strict=strict, offline=offline,
            embedding_cache=embedding_cache, cache=cache, executor=executor, workers=workers,
            allow_partial=allow_partial, trusted=trusted,
        )  # fmt: skip
    if is_remote(path):
        return _open_remote(
            path, cache, redirects, embedder=embedder, dim=dim, dialect=dialect, generation=generation, strict=strict,
            embedding_cache=embedding_cache, trusted=trusted,
        )  # fmt: skip
    head = bytes(memoryview(_core.Map(path))[:HEAD])  # which does not wait for a pipe
    _refuse_unsigned(path, head, trusted)
    if pin and head[:8] != b"RAGFILE\1":
        raise ValueError(f"{os.fspath(path)}: pin=True is for files of version 1.0")
    if head[:7] == b"RAGFILE" and head[7:8] == b"\0":
        return PairFile(path, dim=dim, dialect=dialect)
    if head[:7] == b"RAGFILE":
        return KnowledgeBase(
            path,
            embedder=embedder,
            generation=generation,
            strict=strict,
            embedding_cache=embedding_cache,
            offline=offline,
            trusted=trusted,
            pin=pin,
        )
    options: Any = {"embedder": embedder, "embedding_cache": embedding_cache, "offline": offline}
    if _looks_like_text(head):
        return KnowledgeBase(path, source=_of_collection(path, "ragmd"), **options)
    if _is_half_of_a_pair(path, head):
        return KnowledgeBase(path, source=_of_collection(path, "faiss+json"), **options)
    raise FormatError(f"{os.fspath(path)}: not a RAGFile: {_content(path, head)}", at=0)


def _refuse_unsigned(path, head, trusted):
    """Only 1.0 files can be signed."""
    if trusted is not None and (head[:7] != b"RAGFILE" or head[7:8] == b"\0"):
        name = shown(path) if is_remote(path) else os.fspath(path)
        raise SignatureError(
            f"{name}: it cannot be signed: `ragfile convert` makes a 1.0 file of it"
        )


def _looks_like_text(head):
    return head.removeprefix(b"\xef\xbb\xbf")[:3] == b"---"


def _is_half_of_a_pair(path, head):
    """Whether a file is the index or the metadata of a FAISS + JSON pair whose other half lies
    beside it.
    """
    from ragfile.exchange.faiss.json_pair import pair_paths

    path = os.fspath(path)
    suffix = os.path.splitext(path)[1]
    if suffix not in (".faiss", ".json") or head.lstrip()[:1] not in (b"I", b"{"):
        return False
    index, metadata = pair_paths(path)
    other = metadata if suffix == ".faiss" else index
    if not os.path.exists(other) and suffix == ".faiss":
        raise FormatError(f"{path}: a FAISS index without its metadata: {other} is not there", at=0)
    return os.path.exists(other)


def _content(path, head):
    """What a file is, and how to make a RAGFile of it."""
    from ragfile.exchange.conversion import format_of
    from ragfile.ingest.loaders import LoadError, sniff

    path = os.fspath(path)
    if not head:
        return "the file is empty"
    with contextlib.suppress(FormatError), warnings.catch_warnings(action="ignore"):
        kind = format_of(path)
        if kind != "faiss+json":  # any JSON looks like half of one
            return f"it holds {kind}; ragfile.convert({path!r}, 'kb.ragfile') makes one of it"
    try:
        kind = sniff(head, os.path.splitext(path)[1].lower())
    except LoadError:
        return "the first seven bytes are not RAGFILE"
    return f"it is a source ({kind}); ragfile.build({path!r}, 'kb.ragfile') makes one of it"


def _open_remote(
    url, cache, redirects, *, embedder, dim, dialect, generation, strict, embedding_cache, trusted
) -> KnowledgeBase | PairFile:
    from ragfile.net.fetcher import mapped

    there = mapped(url, cache, redirects)
    head = there.read(0, 11)
    _refuse_unsigned(url, head, trusted)
    if head[:7] == b"RAGFILE" and head[7:8] == b"\0":
        return PairFile.over(there, dim=dim, dialect=dialect, name=there.path)
    options: Any = {"embedder": embedder, "embedding_cache": embedding_cache}
    source: ByteSource = RemoteSource(url, cache, redirects, there)
    if head[:7] == b"RAGFILE" or not _looks_like_text(head):
        return KnowledgeBase(
            url, source=source, generation=generation, strict=strict, trusted=trusted, **options
        )
    return KnowledgeBase(url, source=_of_collection(source), **options)


def _of_collection(path, kind="ragmd"):
    """The source of a collection that is held in memory."""
    from ragfile.exchange.collection_source import CollectionSource

    return CollectionSource(path, kind)


def sign(
    path: StrPath, key: PrivateKey | StrPath | bytes, *, signer: str = "", signed: str = "",
    password: bytes | None = None,
) -> Signature:  # fmt: skip
    """Vouches for the content of a file, or of a dataset, with an Ed25519 key.

    A file gets a commit of its own. Of a dataset the newest generation is signed, by objects beside
    it. key is a file with a private key (PEM or OpenSSH) or its text; password opens an encrypted
    one. signer and signed (a time, in ISO 8601, or "now") are kept with the signature as you say
    them. Signatures that others gave to the same content stay. What is changed afterwards is not
    signed.
    """
    options: Any = {"signer": signer, "signed": signed, "password": password}
    if is_dataset(path):
        from ragfile.shards.dataset_signatures import sign as sign_dataset

        return sign_dataset(path, key, **options)
    from ragfile.write.signature_commit import sign as sign_file

    return sign_file(path, key, **options)


Fault: TypeAlias = tuple[str, int, str, str]  # kind, offset, what, section


def verify(
    path: StrPath, *, full: bool = True, keys: Iterable[PublicKey | StrPath | bytes] | None = None
) -> tuple[list[Fault], dict[str, int]]:
    """Checks every byte of a file, and that its sections agree with one another. One behind a URL
    is fetched whole. Of a dataset, every shard and what its manifest says of them.

    With keys (public ones: files, or their text), one of them must have signed the file as it is,
    and every block must be the one that was signed.

    Damage in a file with parity can be repaired: repair(path, dry_run=True) says what comes back.

    Returns a list of faults (kind, offset, what, section), empty when all is well, and counts.
    """
    if is_dataset(path):
        from ragfile.shards.verification import verify as verify_dataset

        return verify_dataset(path, full=full, keys=keys)
    if is_remote(path):
        from ragfile.net.fetcher import mapped as remotely

        mapped = remotely(path)
        mapped.fetch_all()
    else:
        mapped = _core.Map(path)
    if _looks_like_text(bytes(memoryview(mapped)[:8])):
        from ragfile.exchange.ragmd.ragmd_reader import load, parse

        _refuse_unsigned(path, b"", keys)
        parse(np.frombuffer(memoryview(mapped), np.uint8)) if is_remote(path) else load(path)
        return [], {"sections": 1, "blocks": 0, "commits": 1, "abandoned": 0, "faults": 0}
    if mapped.header()[0] == 0:
        _refuse_unsigned(path, b"", keys)
        return _verify_pairs(PairFile.over(mapped, dialect="strict"))
    faults, counts = _core.Reader(mapped).verify(full)
    if not faults:
        faults = _disagreements(path, mapped)
    if full and not faults and isinstance(mapped, _core.Map):
        from ragfile.write.repair import parity_faults

        faults = parity_faults(mapped)
    if keys is not None:
        faults += _forgeries(path, mapped, keys)
    counts["faults"] = max(counts["faults"], len(faults))
    return faults, counts


def _forgeries(path, mapped, keys) -> list[Fault]:
    """What is not as one of the keys signed it."""
    from ragfile.file.signatures import require
    from ragfile.ground.signing_keys import PublicKey

    reader, found = _core.Reader(mapped), []
    try:
        require(reader, [PublicKey.of(key) for key in keys], os.fspath(path))
    except (SignatureError, FormatError) as error:
        return [(type(error).__name__, 0, str(error), "rag.signatures")]
    for entry in reader.entries:
        try:
            section: Any = reader.section(entry["name"], entry["segment"])
            section.check()
        except FormatError as error:
            found.append((type(error).__name__, error.at or entry["at"], str(error), entry["name"]))
    return found


def _disagreements(path, mapped) -> list[Fault]:
    from ragfile.file.consistency import (
        disagreements,
    )  # with text's tables, which opening does not need

    try:
        source = RemoteSource(path, begun=mapped) if is_remote(path) else FileSource(path)
        with FileRows(open_snapshot(source)) as rows:
            return disagreements(rows)
    except FormatError as error:
        return [(type(error).__name__, error.at or 0, str(error), error.section or "")]


def _verify_pairs(file):
    """A 0.1.0 file has few checksums: every pair is walked."""
    faults, counts = (
        [],
        {"sections": len(file.strategies), "blocks": 0, "commits": 0, "abandoned": 0, "faults": 0},
    )
    for name in [name for name in ("keyword", "vector") if name in file.strategies]:
        try:
            counts["blocks"] += file.verify(name)
        except FormatError as error:
            faults.append((type(error).__name__, error.at, str(error), name))
    counts["faults"] = len(faults)
    return faults, counts
