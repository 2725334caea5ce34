"""Open, sign and verify files, URLs and datasets of any format."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack, cast, overload

from ragfile import _core
from ragfile.embedding.protocol import Embedder
from ragfile.errors import FormatError, RemoteError, SignatureError
from ragfile.file.config import config_of
from ragfile.file.container import TAIL
from ragfile.file.snapshot import open_snapshot
from ragfile.file.source import FileSource, RemoteSource, decrypted, opened_map
from ragfile.ground.annotations import deferred
from ragfile.ground.encryption_keys import KeyChoice, takes_key
from ragfile.ground.json_values import is_object
from ragfile.ground.missing_files import explained
from ragfile.ground.offline import is_offline, why
from ragfile.ground.urls import is_dataset, is_remote, local_path, shown
from ragfile.ground.whole_numbers import whole
from ragfile.knowledge_base import KnowledgeBase
from ragfile.search.current import Embedding
from ragfile.search.file_rows import FileRows
from ragfile.types import Dialect, Fields, PairStrategy, StrPath

if TYPE_CHECKING:
    from contextlib import ExitStack
    from pathlib import Path

    from ragfile.exchange.unpack import UnpackReport
    from ragfile.file.pairs import PairFile
    from ragfile.file.signatures import Signature
    from ragfile.file.source import ByteSource
    from ragfile.ground.signing_keys import PrivateKey, PublicKey
    from ragfile.ingest.chunker import Policy
    from ragfile.layers.agreement import Layer
    from ragfile.layers.open_layers import Layers
    from ragfile.shards.executors import ExecutorChoice
    from ragfile.write.editor import Editor
    from ragfile.write.open_writer import EditorOptions, OpenWriter
else:
    Path = deferred("pathlib", "Path")
    PairFile = deferred("ragfile.file.pairs", "PairFile")
    UnpackReport = deferred("ragfile.exchange.unpack", "UnpackReport")
    Editor = deferred("ragfile.write.editor", "Editor")
    OpenWriter = deferred("ragfile.write.open_writer", "OpenWriter")
    Layers = deferred("ragfile.layers.open_layers", "Layers")
    Policy = deferred("ragfile.ingest.chunker", "Policy")
    ExecutorChoice = deferred("ragfile.shards.executors", "ExecutorChoice")
    PrivateKey = deferred("ragfile.ground.signing_keys", "PrivateKey")
    PublicKey = deferred("ragfile.ground.signing_keys", "PublicKey")
    Signature = deferred("ragfile.file.signatures", "Signature")

# A str is a sequence of str, too: these types are not.
LayerPaths: TypeAlias = (
    list[str]
    | list[os.PathLike[str]]
    | list[Path]
    | list[StrPath | KnowledgeBase]
    | tuple[StrPath | KnowledgeBase, ...]
)
HEAD = 1 << 16  # bytes that determine the format of a file


class _Options(TypedDict, total=False):
    """Arguments of a KnowledgeBase over a collection."""

    embedder: str | Embedder | None
    embedding_cache: StrPath | bool | None
    offline: bool


class _PassageOptions(_Options, total=False):
    """Arguments of open() for a file of passages."""

    generation: int
    cache: StrPath | None
    trusted: Iterable[PublicKey | StrPath | bytes] | None
    executor: ExecutorChoice
    workers: int | None
    allow_partial: bool
    key: KeyChoice


@overload
def open(
    path: StrPath, *, embedder: str | Embedder | None = None, generation: int = 0, strict: bool = False,
    embedding_cache: StrPath | bool | None = None, cache: StrPath | None = None, offline: bool = False,
    redirects: bool = False, trusted: Iterable[PublicKey | StrPath | bytes] | None = None,
    executor: ExecutorChoice = None, workers: int | None = None,
    allow_partial: bool = False, pin: bool = False, key: KeyChoice = None,
) -> KnowledgeBase: ...  # fmt: skip
@overload
def open(
    path: LayerPaths, *, embedder: str | Embedder | None = None,
    strict: bool = False, embedding_cache: StrPath | bool | None = None, cache: StrPath | None = None,
    offline: bool = False, redirects: bool = False,
    trusted: Iterable[PublicKey | StrPath | bytes] | None = None, key: KeyChoice = None,
) -> Layers: ...  # fmt: skip
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
@takes_key
def open(
    path: StrPath | LayerPaths, *,
    embedder: str | Embedder | None = None, dim: int | None = None, dialect: Dialect = "auto",
    generation: int = 0, strict: bool = False, embedding_cache: StrPath | bool | None = None,
    cache: StrPath | None = None, offline: bool = False, redirects: bool = False,
    trusted: Iterable[PublicKey | StrPath | bytes] | None = None,
    executor: ExecutorChoice = None, workers: int | None = None, allow_partial: bool = False,
    pin: bool = False, key: KeyChoice = None,
) -> KnowledgeBase | PairFile:  # fmt: skip
    """Open a knowledge base for reading. The content determines the format, not the suffix.

        with ragfile.open("kb.ragfile") as rf:
            print(rf.search("How long do pods live?")[0].text)

    Args:
        path: a file, a dataset (a folder, or a bucket's URL that ends with "/"), or a URL (https, http,
            s3, gs, az, hf, file). Of a remote 1.0 file only the needed bytes are fetched; other formats are
            fetched whole. A list opens several as layers, the lowest first: the answers are those of one
            file in which each layer's documents were upserted. A layer can be a knowledge base that is
            open already; it then stays open when the view is closed.
        embedder: a name, or an object that turns questions into vectors. Default: the file's model.
        dim: for a 0.1.0 file: components of a vector, if the file does not record them.
        dialect: for a 0.1.0 file: "strict", "reference" (files of the reference script) or "auto"
            (strict, else reference with a warning).
        generation: an older commit of a 1.0 file to read. Default: the newest.
        strict: refuse a file with a damaged newest commit.
        embedding_cache: a folder for the vectors of questions (ragfile.embedding.cache).
        cache: a folder for bytes fetched from a URL, and for the translated copy of a file in another
            format, such as `.ragmd`, so that the next opening need not translate it again.
        offline: open no socket, as RAGFILE_OFFLINE does. A URL is then an error, and questions to a
            remote embedder are answered by BM25 alone.
        redirects: follow redirects of a URL to other hosts.
        trusted: public keys (files, or their text). One of them must have signed the file as it is, and
            every block is checked against the signature when it is read.
        executor: how a dataset searches its shards: None (in this process), "process", "ray" or "dask".
        workers: workers of the executor.
        allow_partial: answer without shards that cannot be searched; `hits.missing_shards` lists them.
        pin: copy the data that vector searches scan into huge pages, on first use. For a local 1.0 file
            that is searched often; `info["pinned"]` counts the bytes.
        key: of an encrypted file: 32 bytes, the path of a key file, or a function that returns one of
            them. Default: RAGFILE_KEY or RAGFILE_KEY_FILE.

    Returns:
        A KnowledgeBase, or a PairFile for a 0.1.0 file (`open_passages()` opens its contents). Type checkers infer a PairFile if dim or dialect
        is given; otherwise use ragfile.PairFile(path) for them.

    Raises:
        FormatError: the file has an unknown format, or is damaged.
        EncryptionError: the file is encrypted, and no key was given, or another one.
        SignatureError: none of the trusted keys signed the file.
        RemoteError: a URL cannot be read, or offline is set.
    """
    if not isinstance(path, str | os.PathLike):
        refused: dict[str, object] = {
            "generation": generation, "dim": dim, "pin": pin, "executor": executor, "workers": workers,
            "allow_partial": allow_partial, "dialect": dialect != "auto",
        }  # fmt: skip
        return _open_layers(
            path, refused, Embedding(embedder, embedding_cache, offline),
            {"strict": strict, "cache": cache, "redirects": redirects, "trusted": trusted},
        )  # fmt: skip
    path = local_path(path if isinstance(path, str) else _text_of(path))
    generation = whole(generation, "generation", 0)
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
    source = FileSource(path)
    found = cast("_core.Map | _core.Decrypted", source.begin().map)  # does not block on a pipe
    head = _head_of(found)
    del found
    _refuse_unsigned(path, head, trusted)
    if pin and head[:8] != b"RAGFILE\1":
        raise ValueError(f"{os.fspath(path)}: pin=True is for files of version 1.0")
    if head[:7] == b"RAGFILE" and head[7:8] == b"\0":
        from ragfile.file.pairs import PairFile

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
            source=source,
        )
    options: _Options = {
        "embedder": embedder,
        "embedding_cache": embedding_cache,
        "offline": offline,
    }
    if _is_ragmd(path, head):
        return KnowledgeBase(path, source=_of_collection(path, "ragmd", cache=cache), **options)
    if _is_half_of_a_pair(path, head):
        return KnowledgeBase(
            path, source=_of_collection(path, "faiss+json", cache=cache), **options
        )
    if head[8:12] == b"DUCK":
        return KnowledgeBase(path, source=_of_collection(path, "duckdb", cache=cache), **options)
    raise FormatError(f"{os.fspath(path)}: not a RAGFile: {_content(path, head)}", at=0)


def _head_of(found: _core.Map | _core.Remote | _core.Decrypted) -> bytes:
    """Return the first bytes of a file, as many as determine its format."""
    if isinstance(found, _core.Decrypted):
        return b"RAGFILE\1"  # nothing else is encrypted
    head = found.read(0, 8)
    is_enough = head[:7] == b"RAGFILE" or isinstance(found, _core.Remote)
    return head if is_enough else found.read(0, HEAD)


def _open_layers(
    paths: LayerPaths, refused: dict[str, object], embedding: Embedding,
    options: dict[str, Any],
) -> KnowledgeBase:  # fmt: skip
    """Open files as layers; `refused` are the options that only one file has."""
    from ragfile.layers.open_layers import Layers, LayersOpener

    given = next((name for name, value in refused.items() if value), None)
    if given is not None:
        raise ValueError(f"{given}= is for one file, not for layers: open the layer alone")
    if isinstance(paths, bytes | bytearray):
        raise TypeError("a path is a str or an os.PathLike of str, not bytes")
    if not paths:
        raise TypeError("layers are a list of paths, the lowest first; give at least one")
    kept = [part for part in paths if isinstance(part, KnowledgeBase)]
    asked = next((name for name, value in options.items() if value), None)
    if kept and asked is not None:
        raise ValueError(
            f"{asked}= is not checked for a layer that is open already: open it with it"
        )
    with contextlib.ExitStack() as opened:
        parts = [_layer(part, embedding.offline, options, opened) for part in paths]
        found = Layers(LayersOpener(parts, kept), embedding)
        opened.pop_all()
    return found


def _layer(
    part: StrPath | KnowledgeBase, offline: bool, options: dict[str, Any], opened: ExitStack
) -> KnowledgeBase:
    """Return a layer, opened if it is a path; `opened` closes it again after an error."""
    if isinstance(part, KnowledgeBase):
        return part
    found = cast("KnowledgeBase | PairFile", open(part, offline=offline, **options))
    opened.enter_context(found)
    if not isinstance(found, KnowledgeBase):
        raise FormatError(
            f"{os.fspath(part)}: a 0.1.0 file has no documents to layer: "
            "`ragfile convert` makes a 1.0 file of it"
        )
    return found


@takes_key
def edit(
    path: StrPath | LayerPaths, *, embedder: str | Embedder | None = None,
    chunking: Policy | str | Fields | None = None, created: int | None = None, message: str = "",
    accept_loss: bool = False, embedding_cache: StrPath | bool | None = None, wait: float | None = None,
    parity: int | None = None, keep: int | str | None = None, key: KeyChoice = None,
) -> Editor:  # fmt: skip
    """Start the next commit of a file, which takes effect when the `with` block ends without an error.

        with ragfile.edit("kb.ragfile", message="Remove an old page") as writer:
            writer.delete(["old.md"])

    An edit writes each document once; a second change to it raises ValueError.

    Args:
        path: The file to edit. Of a list of layers, the last one takes all changes; it is made with
            the settings of the first if it does not exist.
        embedder: The embedder for new chunks. Defaults to the file's own; another model is refused.
        chunking: A chunk policy for added documents, recorded as the file's new policy. Documents
            split by the old one are listed by `stale()`.
        created: Time of the commit in ns since 1970. Defaults to `SOURCE_DATE_EPOCH`, else the clock.
        message: A message for the log.
        accept_loss: Continue from the previous commit if the newest one is damaged.
        embedding_cache: A folder that keeps vectors between runs; True chooses the default folder.
        wait: Seconds to wait for other writers, in order of arrival; 0 refuses at once. Defaults to
            `RAGFILE_WAIT`, else 30.
        parity: Size of the recovery data in per cent, from this commit on; 0 removes it. Defaults to
            the file's own.
        keep: The generations to keep when the file has grown to three times its live content: a
            number of the newest, those since a date (`"2026-01-31"`), or `"all"`. Recorded. Defaults
            to the file's own choice, which is the newest alone for files that were never edited
            before, and all for files of earlier versions.
        key: Of an encrypted file; see `open()`.

    Returns:
        An editor, to be used in a `with` block.

    Raises:
        LockedError: Another writer still holds the file, or this thread does.
        CorruptError: The newest commit is damaged, and `accept_loss` is false.
        ModelError: `embedder` is not the model of the file, or layers do not agree.
        VersionError: A newer ragfile wrote the file.
    """
    return begin_edit(
        path, embedder=embedder, chunking=chunking, created=created, message=message,
        accept_loss=accept_loss, embedding_cache=embedding_cache, wait=wait, parity=parity, keep=keep,
    )  # fmt: skip


@takes_key
def writer(
    path: StrPath | LayerPaths, *, embedder: str | Embedder | None = None,
    embedding_cache: StrPath | bool | None = None, wait: float | None = None,
    keep: int | str | None = None, key: KeyChoice = None,
) -> OpenWriter:  # fmt: skip
    """Open a file for many small commits, such as one for each turn of a conversation.

        with ragfile.writer("kb.ragfile") as kb:
            with kb.edit(message="First") as w:
                w.upsert([{"id": "a.md", "text": "Pods live long."}])
            with kb.edit(message="Second") as w:
                w.delete(["a.md"])

    Each `edit()` is a durable commit of its own, as with `ragfile.edit`. It takes less CPU time, because the
    rows of the last one are kept. Between edits no lock is held: other writers take their turns, and
    their commits are seen. Threads can share the object.

    Args:
        path: The file, or a list of layers, as for `edit()`.
        embedder: The embedder for new chunks; see `edit()`.
        embedding_cache: A folder that keeps vectors between runs; True chooses the default folder.
        wait: Seconds that each edit waits for other writers. Defaults to `RAGFILE_WAIT`, else 30.
        keep: The generations to keep; see `edit()`.
        key: Of an encrypted file; see `open()`.

    Returns:
        An object with `edit(message=, created=, wait=)` and `close()`.
    """
    from ragfile.write.open_writer import OpenWriter

    return OpenWriter(
        path, begin_edit, embedder=embedder, embedding_cache=embedding_cache, wait=wait, keep=keep
    )


def begin_edit(path: StrPath | LayerPaths, **options: Unpack[EditorOptions]) -> Editor:
    """Start the next commit of a file, or of the last of some layers, with options of `Editor`."""
    if not isinstance(path, str | os.PathLike):
        return _edit_layers(path, options)
    from ragfile.write.editor import Editor as FileEditor

    return FileEditor(path, **options)


def _edit_layers(paths: LayerPaths, options: EditorOptions) -> Editor:
    """Start the next commit of the last of some layers."""
    from ragfile.write.editor import Editor as FileEditor
    from ragfile.write.new_layer import create_layer

    *below, top = paths
    if isinstance(top, KnowledgeBase):
        raise TypeError("the last layer takes the changes: give its path")
    if is_remote(top) or os.path.isdir(top):
        raise ValueError(
            f"{shown(os.fspath(top))}: the last layer takes the changes: it is a local file"
        )
    if not below:
        return begin_edit(top, **options)
    with contextlib.ExitStack() as opened:
        parts = [_layer(part, False, {}, opened) for part in below]
        rows: list[Layer] = [part.rows for part in parts]
        if not os.path.exists(top):
            create_layer(top, rows[0])
        return FileEditor(top, below=rows, **options)


def _text_of(path: StrPath) -> str:
    """Return a path as text; TypeError for bytes and other objects."""
    found: object = os.fspath(path)
    if not isinstance(found, str):
        raise TypeError(f"a path is a str or an os.PathLike of str, not {type(found).__name__}")
    return found


def open_passages(
    path: StrPath | LayerPaths, *, dim: int | None = None,
    **options: Unpack[_PassageOptions],
) -> KnowledgeBase:  # fmt: skip
    """Open a knowledge base as `open()` does; the pairs of a 0.1.0 file become passages in memory.

    Args:
        path: As for `open()`.
        dim: The length of the vectors of a 0.1.0 file that does not record it.
        **options: Options of `open()`. A 0.1.0 file takes only those about embedding.
    """
    if not isinstance(path, str | os.PathLike):
        layers: dict[str, Any] = {"dim": dim, **options}
        view: KnowledgeBase = open(path, **layers)
        return view
    opened = open(path, **options)
    if isinstance(opened, KnowledgeBase):
        return opened
    opened.close()
    if is_remote(path):
        raise FormatError(f"{shown(path)}: a 0.1.0 file has pairs: convert a local copy of it")
    kept: _Options = {
        "embedder": options.get("embedder"),
        "embedding_cache": options.get("embedding_cache"),
        "offline": options.get("offline", False),
    }
    return KnowledgeBase(
        path, source=_of_collection(path, "ragfile-0.1", dim, options.get("cache")), **kept
    )


def _refuse_unsigned(
    path: StrPath, head: bytes, trusted: Iterable[PublicKey | StrPath | bytes] | None
) -> None:
    """Raise SignatureError for a trusted file of a format that cannot be signed: all but 1.0."""
    if trusted is not None and (head[:7] != b"RAGFILE" or head[7:8] == b"\0"):
        name = shown(path) if is_remote(path) else os.fspath(path)
        raise SignatureError(
            f"{name}: it cannot be signed: `ragfile convert` makes a 1.0 file of it"
        )


def _is_ragmd(path: StrPath, head: bytes) -> bool:
    """Return whether a file is a .ragmd by its first bytes, or by its suffix if those are damaged."""
    text = head.removeprefix(b"\xef\xbb\xbf")
    named = os.fspath(path).partition("?")[0].lower().endswith(".ragmd")
    return text[:3] == b"---" or (named and bool(head) and head[:7] != b"RAGFILE")


def _is_half_of_a_pair(path: StrPath, head: bytes) -> bool:
    """Return whether a file is the index or metadata of a FAISS + JSON pair with both files present."""
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


def _content(path: StrPath, head: bytes) -> str:
    """Return the format of a file, with the call that makes a RAGFile from it."""
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
    url: str,
    cache: StrPath | None,
    redirects: bool,
    *,
    embedder: str | Embedder | None,
    dim: int | None,
    dialect: Dialect,
    generation: int,
    strict: bool,
    embedding_cache: StrPath | bool | None,
    trusted: Iterable[PublicKey | StrPath | bytes] | None,
) -> KnowledgeBase | PairFile:
    from ragfile.net.fetcher import mapped

    remote = decrypted(mapped(url, cache, redirects))
    head = _head_of(remote)
    _refuse_unsigned(url, head, trusted)
    if head[:7] == b"RAGFILE" and head[7:8] == b"\0":
        from ragfile.file.pairs import PairFile

        return PairFile.over(remote, dim=dim, dialect=dialect, name=remote.path)
    options: _Options = {"embedder": embedder, "embedding_cache": embedding_cache}
    source: ByteSource = RemoteSource(url, cache, redirects, remote)
    if head[:7] == b"RAGFILE" or not _is_ragmd(url, head):
        return KnowledgeBase(
            url, source=source, generation=generation, strict=strict, trusted=trusted, **options
        )
    return KnowledgeBase(url, source=_of_collection(source, cache=cache), **options)


def _of_collection(
    path: StrPath | ByteSource, kind: str = "ragmd", dim: int | None = None,
    cache: StrPath | None = None,
) -> ByteSource:  # fmt: skip
    """Return the source of a collection that is converted in memory, or to a copy in a cache."""
    from ragfile.exchange.collection_source import CollectionSource

    return CollectionSource(path, kind, dim, cache)


def sign(
    path: StrPath, key: PrivateKey | StrPath | bytes, *, signer: str = "", signed: str = "",
    password: bytes | None = None, wait: float | None = None,
) -> Signature:  # fmt: skip
    """Sign the content of a file, or of a dataset's newest generation, with an Ed25519 key.

    A file gets a commit for the signature, a dataset an object. Signatures by others of the same content
    are kept. Later changes are not covered.

    Args:
        path: a file or a dataset.
        key: a private key (PEM or OpenSSH): a file, or its text.
        signer: a name to store with the signature.
        signed: a time to store, in ISO 8601, or "now".
        password: the password of an encrypted key.
        wait: seconds to wait for other writers of a file; by default `RAGFILE_WAIT`, else 30.

    Returns:
        The signature.

    Raises:
        FormatError: the file cannot hold a signature.
        ValueError: the key or the time is not valid.
    """
    if is_dataset(path):
        from ragfile.shards.dataset_signatures import sign as sign_dataset

        return sign_dataset(path, key, signer=signer, signed=signed, password=password)
    from ragfile.write.signature_commit import sign as sign_file

    return sign_file(path, key, signer=signer, signed=signed, password=password, wait=wait)


Fault: TypeAlias = tuple[str, int, str, str]  # kind, offset, description, section


def unpack(
    path: StrPath, folder: StrPath, *, generation: int = 0,
    trusted: Iterable[PublicKey | StrPath | bytes] | None = None,
) -> UnpackReport:  # fmt: skip
    """Write the files that a RAGFile was built from to a new folder, byte for byte.

    Files of text are restored from any RAGFile that was built from files. Build with `keep_originals=True`
    to restore all others.

    Args:
        path: A file or URL.
        folder: The folder to make. It must not exist, or be empty.
        generation: An older commit; 0 is the newest.
        trusted: Public keys, one of which must have signed the file; see `open()`.

    Returns:
        A report; files that could not be restored are in `unrestored`.

    Raises:
        FileExistsError: The folder has content.
        ValueError: The name of a file leaves the folder, or is not valid on every system.
    """
    from ragfile.exchange.unpack import unpacked

    with open(path, generation=generation, trusted=trusted) as rf:
        return unpacked(rf.rows.segments, folder)


def verify(
    path: StrPath, *, full: bool = True, keys: Iterable[PublicKey | StrPath | bytes] | None = None
) -> tuple[list[Fault], dict[str, int]]:
    """Check every byte of a file, and that its sections agree; of a dataset, all shards and the manifest.

    A file at a URL is fetched whole. Damage in a file with parity can be repaired:
    repair(path, dry_run=True) lists the parts that can be restored.

    Args:
        path: a file, a URL or a dataset.
        full: check all bytes, not only the structure.
        keys: public keys (files, or their text). One of them must have signed the file as it is, and
            every block must match the signature.

    Returns:
        A list of faults (kind, offset, description, section), empty for an intact file, and counts by name.
        `"tail"` counts the bytes after the newest commit. They belong to a commit that is being written,
        or whose writer died, and are no fault.

    Raises:
        FormatError: the file cannot be opened at all.
    """
    path = local_path(os.fspath(path))
    if is_dataset(path):
        from ragfile.shards.verification import verify as verify_dataset

        return verify_dataset(path, full=full, keys=keys)
    mapped: _core.Map | _core.Remote | _core.Decrypted
    if is_remote(path):
        from ragfile.net.fetcher import mapped as remotely

        mapped = decrypted(remotely(path))
        mapped.fetch_all()
    else:
        with explained(path):
            mapped = opened_map(path)
    if _is_ragmd(path, _head_of(mapped)):
        from ragfile.exchange.collection_source import loaded, parsed

        _refuse_unsigned(path, b"", keys)
        parsed(memoryview(mapped), path) if is_remote(path) else loaded(path)
        return [], {"sections": 1, "blocks": 0, "commits": 1, "abandoned": 0, "faults": 0}
    if mapped.header()[0] == 0:
        from ragfile.file.pairs import PairFile

        _refuse_unsigned(path, b"", keys)
        return _verify_pairs(PairFile.over(mapped, dialect="strict"))
    reader = _core.Reader(mapped)
    found, counts = reader.verify(full)
    faults = [fault for fault in found if fault[2] != TAIL]
    counts |= {
        "faults": counts["faults"] - (len(found) - len(faults)),
        "tail": reader.commit["tail"],
    }
    if not faults:
        faults = _disagreements(path, mapped)
    if full and not faults and isinstance(mapped, _core.Map):
        from ragfile.write.repair import parity_faults

        faults = parity_faults(mapped)
    if full and not faults and isinstance(mapped, _core.Decrypted) and mapped.has_parity:
        from ragfile.write.repair import trailer_faults

        if isinstance(mapped.owner, _core.Map):
            faults = trailer_faults(mapped.owner)
    if keys is not None:
        faults += _forgeries(path, mapped, keys)
    counts["faults"] = max(counts["faults"], len(faults))
    return faults, counts | _forgotten(path, mapped)


def _forgotten(path: StrPath, mapped: _core.Map | _core.Remote | _core.Decrypted) -> dict[str, int]:
    """Return the number of forgotten memories with bytes in the file; nothing for other files."""
    try:
        record = config_of(_core.Reader(mapped), os.fspath(path))
    except FormatError:
        return {}
    memory = record.get("memory")
    return {"forgotten": len(memory.get("forgotten", ()))} if is_object(memory) else {}


def _forgeries(
    path: StrPath,
    mapped: _core.Map | _core.Remote | _core.Decrypted,
    keys: Iterable[PublicKey | StrPath | bytes],
) -> list[Fault]:
    """Return the faults of a file against the signatures by the keys."""
    from ragfile.file.signatures import require
    from ragfile.ground.signing_keys import PublicKey

    reader = _core.Reader(mapped)
    found: list[Fault] = []
    try:
        require(reader, [PublicKey.of(key) for key in keys], os.fspath(path))
    except (SignatureError, FormatError) as error:
        return [(type(error).__name__, 0, str(error), "rag.signatures")]
    for entry in reader.entries:
        try:
            section = reader.section(entry["name"], entry["segment"])
            if section is not None:
                section.check()
        except FormatError as error:
            found.append((type(error).__name__, error.at or entry["at"], str(error), entry["name"]))
    return found


def _disagreements(
    path: StrPath, mapped: _core.Map | _core.Remote | _core.Decrypted
) -> list[Fault]:
    from ragfile.file.consistency import disagreements  # with tables that opening does not need

    try:
        source: ByteSource = FileSource(path)
        if is_remote(path):
            assert isinstance(mapped, _core.Remote | _core.Decrypted)
            source = RemoteSource(path, begun=mapped)
        with FileRows(open_snapshot(source)) as rows:
            return disagreements(rows)
    except FormatError as error:
        return [(type(error).__name__, error.at or 0, str(error), error.section or "")]


def _verify_pairs(file: PairFile) -> tuple[list[Fault], dict[str, int]]:
    """Check every pair of a 0.1.0 file, which has few checksums."""
    faults: list[Fault] = []
    counts = {"sections": len(file.strategies), "blocks": 0, "commits": 0, "abandoned": 0}
    kinds: tuple[PairStrategy, ...] = ("keyword", "vector")
    for name in kinds:
        if name not in file.strategies:
            continue
        try:
            counts["blocks"] += file.verify(name)
        except FormatError as error:
            faults.append((type(error).__name__, error.at or 0, str(error), name))
    counts["faults"] = len(faults)
    return faults, counts
