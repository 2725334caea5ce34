"""Converting: from any store that we can read to any that we can write.

The content of the source decides what it is; its suffix only breaks ties. The target's suffix says
what to write, or `to`.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import warnings
from collections.abc import Callable
from typing import NamedTuple

from ragfile.errors import FormatError
from ragfile.exchange.collection import Collection
from ragfile.exchange.faiss import json_pair
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.ragmd import ragmd_reader
from ragfile.ground.atomic_replace import spare, spare_folder
from ragfile.ground.extras import missing, optional
from ragfile.ground.urls import is_dataset
from ragfile.types import Format as FormatName
from ragfile.types import StrPath

HEAD = 65536 + 64


class Format(NamedTuple):
    """How to read and write one kind of store. module is imported on use."""

    suffixes: tuple
    read: Callable | str
    write: Callable | str | None


def convert(
    src: StrPath | tuple[StrPath, StrPath], dst: StrPath | tuple[StrPath, StrPath], *, to: FormatName | None = None,
    allow_large: bool | None = None, trust_pickle: bool | None = None, name: str | None = None,
) -> Collection:  # fmt: skip
    """Converts `src` to `dst` and returns the collection that went through. A pair is a tuple
    (faiss path, json path).

    to names the target's format where its suffix does not. options: allow_large, trust_pickle, name
    (of a Chroma or Qdrant collection).
    """
    options = {"allow_large": allow_large, "trust_pickle": trust_pickle, "name": name}
    _refuse_itself(src, dst)
    collection = read(src, **options)
    if lost := len(collection.dangling()):
        what = f"{lost} of {len(collection)} rows refer to documents or chunks that are not there; they are kept as they are"
        warnings.warn(what, UserWarning, stacklevel=2)
    write(collection, dst, to=to, **options)
    return collection


def _refuse_itself(src, dst):
    """A .ragfile written over itself would lose its commits, and nobody asked for that."""
    if isinstance(src, tuple) or isinstance(dst, tuple) or not os.path.exists(dst):
        return
    if os.path.samefile(src, dst) and _format_by_suffix(dst) == "ragfile":
        raise ValueError(
            f"{os.fspath(src)} cannot be converted to itself: its older commits would be lost; "
            "compact() rewrites it"
        )


def read(src, **options):
    """The collection in `src`, whatever it is."""
    kind = format_of(src)
    return _call(FORMATS[kind].read, "read", src, options)


def write(collection, dst, *, to=None, **options):
    """Writes a collection in the format that `to` or the suffix of `dst` names."""
    kind = to or _format_by_suffix(dst)
    if kind is None or kind not in FORMATS or FORMATS[kind].write is None:
        known = ", ".join(name for name, f in FORMATS.items() if f.write)
        raise ValueError(f"{dst}: say what to write; one of {known}")
    if kind not in KEEPS_INDEXES and not collection.index.is_flat:
        collection = _flattened(collection)
    if kind in OWN_FOLDERS:
        spare_folder(dst, FOLDERS[kind], kind)
    elif kind in MAGIC:
        spare(dst, lambda head: head.startswith(MAGIC[kind]), f"{kind} file")
    _call(FORMATS[kind].write, "write", dst, options, collection)


def format_of(src):
    """The name of the format of an existing source. Content wins over the suffix, with a warning
    where they disagree.
    """
    if isinstance(src, tuple):
        return "faiss+json"
    found = _format_of_folder(src) if os.path.isdir(src) else _format_of_file(src)
    said = _format_by_suffix(src)
    if found is None and is_dataset(src):
        raise FormatError(f"{src} is a dataset: ragfile.dataset.convert makes one file of it")
    if found is None:
        raise FormatError(f"{src} is not in a format that can be converted")
    if said not in (None, found):
        warnings.warn(
            f"{src} is named like {said} but holds {found}; its content decides",
            UserWarning,
            stacklevel=3,
        )
    return found


# --------------------------------------------------------------------------------------------------------------- formats ---


def _read_pair(src, *, allow_large=True):
    paths = src if isinstance(src, tuple) else json_pair.pair_paths(src)
    return json_pair.read(*paths, allow_large=allow_large)


def _write_pair(collection, dst):
    json_pair.write(collection, *(dst if isinstance(dst, tuple) else json_pair.pair_paths(dst)))


def _write_ragmd(collection, dst, *, allow_large=False):
    ragmd_reader.save(dst, collection, allow_large=allow_large)


def _read_ragmd(src, *, allow_large=True):
    return ragmd_reader.load(src, allow_large=allow_large)


FORMATS = {
    "ragmd": Format((".ragmd", ".md"), _read_ragmd, _write_ragmd),
    "ragfile": Format((".ragfile",), "knowledge_base", "knowledge_base"),
    "faiss+json": Format((".faiss", ".json"), _read_pair, _write_pair),
    "parquet": Format((".parquet",), "parquet", "parquet"),
    "sqlite-vec": Format((".sqlite", ".sqlite3", ".db"), "sqlite_vec", "sqlite_vec"),
    "duckdb": Format((".duckdb",), "duckdb", "duckdb"),
    "npy+jsonl": Format((), "npy_jsonl", "npy_jsonl"),
    "ragged-mmap": Format((), "ragged_mmap", "ragged_mmap"),
    "pgvector": Format((), "pgvector", "pgvector"),
    "chroma": Format((), "chroma", "chroma"),
    "qdrant": Format((), "qdrant", "qdrant"),
    "langchain-faiss": Format((), "langchain_faiss", None),
}
KEEPS_INDEXES = {"ragmd", "ragfile", "faiss+json"}  # all others hold rows
# What is written over without a look by the library that writes it. A database is added to.
OWN_FOLDERS = {"npy+jsonl", "pgvector", "ragged-mmap"}
MAGIC = {"parquet": b"PAR1"}
# What a folder must hold to be taken for a format; the first that fits.
FOLDERS = {
    "langchain-faiss": ("index.faiss", "index.pkl"),
    "npy+jsonl": ("vectors.npy", "chunks.jsonl", "documents.jsonl"),
    "pgvector": ("chunks.copy", "documents.copy", "note.copy"),
    "ragged-mmap": ("vectors", "chunks", "documents", "note.json"),
    "chroma": ("chroma.sqlite3",),
    "qdrant": ("meta.json", "collection"),
}


def _call(how, verb, path, options, *collection):
    """Calls a function or an adapter's, with those options that it takes."""
    if isinstance(how, str):
        try:
            how = getattr(importlib.import_module(f"ragfile.exchange.stores.{how}"), verb)
        except ImportError as error:
            package = error.name or how
            raise ImportError(missing(error, package, f"the format {how}"), name=package) from error
    takes = how.__kwdefaults__ or {}
    given = {key: value for key, value in options.items() if key in takes and value is not None}
    return how(*collection, path if isinstance(path, tuple) else os.fspath(path), **given)


def _flattened(collection):
    """The same with the rows of its index alone, which takes FAISS."""
    optional("faiss", f"reading the rows of an {collection.index.class_name}")
    rows = importlib.import_module("ragfile.exchange.faiss.native").rows(collection.index)
    return dataclasses.replace(collection, index=Index.of(rows, collection.index.metric))


def _format_of_folder(path):
    held = set(os.listdir(path))
    return next((kind for kind, names in FOLDERS.items() if set(names) <= held), None)


def _format_of_file(path):
    with open(path, "rb") as file:
        head = file.read(HEAD)
    if head.startswith(b"RAGFILE"):
        return "ragfile"
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"SQLite format 3\x00"):
        return "sqlite-vec"
    if head[8:12] == b"DUCK":
        return "duckdb"
    if ragmd_reader.looks_like(head):
        return "ragmd"
    return (
        "faiss+json"
        if json_pair.looks_like_index(head) or head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{")
        else None
    )


def _format_by_suffix(path):
    if isinstance(path, tuple):
        return "faiss+json"
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    return next((kind for kind, f in FORMATS.items() if suffix in f.suffixes), None)
