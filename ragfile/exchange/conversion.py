"""Convert between stores: from any readable one to any writable one.

The content of the source determines its format; its suffix only breaks ties. The suffix of the target,
or `to`, names the format to write.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import warnings
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias, TypeVar, cast

from ragfile.embedding.protocol import completed_name, foreign_name
from ragfile.errors import FormatError
from ragfile.exchange.collection import Collection
from ragfile.exchange.faiss import json_pair
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.ragmd import ragmd_reader
from ragfile.ground.atomic_replace import spare, spare_folder
from ragfile.ground.call_site import stack_level
from ragfile.ground.extras import missing, optional
from ragfile.ground.missing_files import explained
from ragfile.ground.urls import is_dataset, local_path
from ragfile.types import ByteOrder, Padding, PairPrecision, StrPath
from ragfile.types import Format as FormatName

HEAD = 65536 + 64
Place: TypeAlias = StrPath | tuple[StrPath, StrPath]
Answer = TypeVar("Answer")


class Format(NamedTuple):
    """How to read and write one format: functions, or the module in stores/ that has them."""

    suffixes: tuple[str, ...]
    read: Callable[..., Collection] | str
    write: Callable[..., None] | str | None


def convert(
    src: StrPath | tuple[StrPath, StrPath], dst: StrPath | tuple[StrPath, StrPath], *, to: FormatName | None = None,
    allow_large: bool | None = None, trust_pickle: bool | None = None, name: str | None = None,
    dim: int | None = None, padding: Padding | None = None, precision: PairPrecision | None = None,
    byteorder: ByteOrder | None = None, columns: Mapping[str, str] | None = None,
    embedder: str | None = None,
) -> Collection:  # fmt: skip
    """Convert a store to another format, and return the collection that was converted.

    Args:
        src: The source. A FAISS + JSON pair is a tuple (faiss path, json path), or either path. A
            database of PostgreSQL is a URL, postgresql://….
        dst: The target. An existing file of another kind is not replaced.
        to: The format to write. Defaults to that of the suffix of `dst`.
        allow_large: Allow quantized and graph indexes in a .ragmd file.
        trust_pickle: Read a LangChain folder, which contains a pickle.
        name: The name of a Chroma or Qdrant collection, or of a table in a database.
        columns: The columns of a table of another program by role: "id", "document", "text", "vector",
            "source". Default: by name and type.
        embedder: The name of the vectors' model, if the source does not record it. The texts of a txtai
            index are embedded again with it if the backend of its vectors cannot be read.
        dim: The length of the vectors of a 0.1.0 file that does not record it.
        padding: The padding of a 0.1.0 file to write: 4, 8 or 16 (default).
        precision: Bits of a component in a 0.1.0 file to write. Default: as it was read, else 32.
        byteorder: The byte order of a 0.1.0 file to write. Default: as it was read, else "little".

    Returns:
        The documents, references and vectors that were read.

    Raises:
        FormatError: `src` is damaged, or not in a known format.
        ValueError: The target format is unknown, or `dst` is `src`.
        ImportError: The library of a format is not installed.
        FileExistsError: `dst` exists and holds something else.
    """
    options = {
        "allow_large": allow_large, "trust_pickle": trust_pickle, "name": name, "dim": dim,
        "padding": padding, "precision": precision, "byteorder": byteorder, "columns": columns,
        "embedder": embedder,
    }  # fmt: skip
    src, dst = _local(src), _local(dst)
    _refuse_itself(src, dst)
    collection = read(src, **options)
    if embedder is not None:
        name = collection.model_name
        collection.model_name = completed_name(name, embedder) if name else foreign_name(embedder)
    if lost := len(collection.dangling()):
        what = f"{lost} of {len(collection)} rows refer to documents or chunks that are not there; they are kept as they are"
        warnings.warn(what, UserWarning, stacklevel=stack_level())
    write(collection, dst, to=to, **options)
    return collection


def _local(place: Place) -> Place:
    """Return a place with the paths that file:// URLs name."""
    if isinstance(place, tuple):
        index, metadata = place
        return local_path(os.fspath(index)), local_path(os.fspath(metadata))
    return local_path(os.fspath(place))


def _refuse_itself(src: Place, dst: Place) -> None:
    """Refuse to write a .ragfile over itself, which would lose its older commits."""
    if isinstance(src, tuple) or isinstance(dst, tuple) or not os.path.exists(dst):
        return
    if os.path.samefile(src, dst) and _format_by_suffix(dst) == "ragfile":
        raise ValueError(
            f"{os.fspath(src)} cannot be converted to itself: its older commits would be lost; "
            "compact() rewrites it"
        )


def read(src: Place, **options: object) -> Collection:
    """Read a collection from a store of any known format."""
    with explained(_first(src)):
        kind = format_of(src)
    return _call(FORMATS[kind].read, "read", src, options)


def _first(src: Place) -> StrPath:
    return src[0] if isinstance(src, tuple) else src


def write(collection: Collection, dst: Place, *, to: str | None = None, **options: object) -> None:
    """Write a collection in the format that `to`, or the suffix of `dst`, names."""
    kind = to or _format_by_suffix(dst)
    how = None if kind not in FORMATS else FORMATS[kind].write
    if kind is None or how is None:
        known = ", ".join(name for name, f in FORMATS.items() if f.write)
        raise ValueError(f"{dst}: name the format with to=; one of {known}")
    if kind not in KEEPS_INDEXES and not collection.index.is_flat:
        collection = _flattened(collection)
    if kind in OWN_FOLDERS:
        spare_folder(_single(dst), FOLDERS[kind], kind)
    elif kind in MAGIC:
        spare(_single(dst), lambda head: head.startswith(MAGIC[kind]), f"{kind} file")
    _call(how, "write", dst, options, collection)


def format_of(src: Place) -> str:
    """Return the name of a source's format; warn if its suffix suggests another."""
    if isinstance(src, tuple):
        return "faiss+json"
    if isinstance(src, str) and src.startswith(DATABASES):
        return "postgresql"
    found = format_of_folder(src) if os.path.isdir(src) else _format_of_file(src)
    by_suffix = _format_by_suffix(src)
    if found is None and is_dataset(src):
        raise FormatError(f"{src} is a dataset: ragfile.dataset.convert makes one file of it")
    if found is None:
        raise FormatError(f"{src} is not in a format that can be converted")
    if by_suffix not in (None, found, found.partition("-")[0]):
        warnings.warn(
            f"{src} is named like {by_suffix} but holds {found}; its content decides",
            UserWarning,
            stacklevel=stack_level(),
        )
    return found


# --------------------------------------------------------------------------------------------------------------- formats ---


def _single(path: Place) -> StrPath:
    if isinstance(path, tuple):
        raise ValueError(f"{path} is a pair of paths, and this format has one")
    return path


def _read_pair(src: Place, *, allow_large: bool = True) -> Collection:
    paths = src if isinstance(src, tuple) else json_pair.pair_paths(src)
    return json_pair.read(*paths, allow_large=allow_large)


def _write_pair(collection: Collection, dst: Place) -> None:
    json_pair.write(collection, *(dst if isinstance(dst, tuple) else json_pair.pair_paths(dst)))


def _write_ragmd(collection: Collection, dst: StrPath, *, allow_large: bool = False) -> None:
    ragmd_reader.save(dst, collection, allow_large=allow_large)


def _read_ragmd(src: StrPath, *, allow_large: bool = True) -> Collection:
    return ragmd_reader.load(src, allow_large=allow_large)


FORMATS = {
    "ragmd": Format((".ragmd", ".md"), _read_ragmd, _write_ragmd),
    "ragfile": Format((".ragfile",), "knowledge_base", "knowledge_base"),
    "ragfile-0.1": Format((), "pairs", "pairs"),
    "faiss+json": Format((".faiss", ".json"), _read_pair, _write_pair),
    "parquet": Format((".parquet",), "parquet", "parquet"),
    "jsonl": Format((".jsonl", ".ndjson"), "json_lines", "json_lines"),
    "sqlite-vec": Format((".sqlite", ".sqlite3", ".db"), "sqlite_vec", "sqlite_vec"),
    "duckdb": Format((".duckdb",), "duckdb", "duckdb"),
    "npy+jsonl": Format((), "npy_jsonl", "npy_jsonl"),
    "ragged-mmap": Format((), "ragged_mmap", "ragged_mmap"),
    "pgvector": Format((), "pgvector", "pgvector"),
    "chroma": Format((), "chroma", "chroma"),
    "qdrant": Format((), "qdrant", "qdrant"),
    "csv": Format((".csv",), "csv_table", None),
    "langchain-faiss": Format((), "langchain_faiss", None),
    "lancedb": Format((), "lancedb", None),
    "milvus-lite": Format((), "milvus_lite", None),
    "txtai": Format((), "txtai", None),
    "postgresql": Format((), "postgresql", None),
}
KEEPS_INDEXES = {"ragmd", "ragfile", "faiss+json"}  # all others hold rows
# Formats whose libraries overwrite files unasked; databases are appended to.
OWN_FOLDERS = {"npy+jsonl", "pgvector", "ragged-mmap"}
MAGIC = {"parquet": b"PAR1", "jsonl": b"{"}
DATABASES = ("postgresql://", "postgres://")
ARCHIVES = (b"\x1f\x8b", b"PK\x03\x04")  # gzip and zip
# Files that identify the format of a folder; the first match wins.
FOLDERS = {
    "langchain-faiss": ("index.faiss", "index.pkl"),
    "npy+jsonl": ("vectors.npy", "chunks.jsonl", "documents.jsonl"),
    "pgvector": ("chunks.copy", "documents.copy", "note.copy"),
    "ragged-mmap": ("vectors", "chunks", "documents", "note.json"),
    "chroma": ("chroma.sqlite3",),
    "qdrant": ("meta.json", "collection"),
    "milvus-lite": ("databases", "collections"),
    "lancedb": ("_versions", "data"),
}


def _function(how: Callable[..., Answer] | str, verb: str) -> Callable[..., Answer]:
    """Return a function, or import it from its module in stores/."""
    if not isinstance(how, str):
        return how
    try:
        module = importlib.import_module(f"ragfile.exchange.stores.{how}")
    except ImportError as error:
        package = error.name or how
        raise ImportError(missing(error, package, f"the format {how}"), name=package) from error
    return cast("Callable[..., Answer]", getattr(module, verb))


def _call(
    how: Callable[..., Answer] | str, verb: str, path: Place, options: dict[str, object],
    *collection: Collection,
) -> Answer:  # fmt: skip
    """Call the function of a format with those options that it takes."""
    function = _function(how, verb)
    takes: dict[str, object] = getattr(function, "__kwdefaults__", None) or {}
    given = {key: value for key, value in options.items() if key in takes and value is not None}
    return function(*collection, path if isinstance(path, tuple) else os.fspath(path), **given)


def _flattened(collection: Collection) -> Collection:
    """Return a copy with a flat index of the same rows; this needs FAISS."""
    optional("faiss", f"reading the rows of an {collection.index.class_name}")
    rows = importlib.import_module("ragfile.exchange.faiss.native").rows(collection.index)
    return dataclasses.replace(collection, index=Index.of(rows, collection.index.metric))


def format_of_folder(path: StrPath) -> str | None:
    """Return the name of the store of another program that a folder holds, or None."""
    held = set(os.listdir(path))
    if any(name.endswith(".lance") for name in held):
        return "lancedb"
    found = next((kind for kind, names in FOLDERS.items() if set(names) <= held), None)
    is_txtai = held & {"config.json", "config"} and held & {"embeddings", "documents", "ids"}
    return "txtai" if found is None and is_txtai else found


def _format_of_file(path: StrPath) -> str | None:
    with open(path, "rb") as file:
        head = file.read(HEAD)
    if head.startswith(b"RAGCRYPT"):
        return "ragfile"
    if head.startswith(b"RAGFILE"):
        return "ragfile-0.1" if head[7:8] == b"\0" else "ragfile"
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"SQLite format 3\x00"):
        return "sqlite-vec"
    if head[8:12] == b"DUCK":
        return "duckdb"
    if head.startswith(ARCHIVES):
        return "txtai"
    if ragmd_reader.looks_like(head):
        return "ragmd"
    if _format_by_suffix(path) == "csv":
        return "csv"
    if _looks_like_json_lines(path, head):
        return "jsonl"
    return (
        "faiss+json"
        if json_pair.looks_like_index(head) or head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{")
        else None
    )


def _looks_like_json_lines(path: StrPath, head: bytes) -> bool:
    """Return whether the first line is a JSON object; it can be longer than the head."""
    name: str = os.fspath(path)
    is_named = os.path.splitext(name)[1].lower() in FORMATS["jsonl"].suffixes
    first, end, _ = head.lstrip(b"\xef\xbb\xbf \r\n\t").partition(b"\n")
    if not first.startswith(b"{") or (not end and not is_named):
        return False
    return is_named or (first.rstrip().endswith(b"}") and b'"chunk_refs"' not in first)


def _format_by_suffix(path: Place) -> str | None:
    if isinstance(path, tuple):
        return "faiss+json"
    name: str = os.fspath(path)
    suffix = os.path.splitext(name)[1].lower()
    return next((kind for kind, f in FORMATS.items() if suffix in f.suffixes), None)
