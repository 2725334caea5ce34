"""A source that translates a collection in another format to an unnamed .ragfile in memory."""

from __future__ import annotations

import contextlib
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xxhash

from ragfile import _core
from ragfile.errors import ChangedError, FormatError
from ragfile.file.source import FileSource, OpenBytes
from ragfile.ground import system

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from ragfile.exchange.collection import Collection
    from ragfile.exchange.kept_copies import CopyCache
    from ragfile.file.source import ByteSource
    from ragfile.types import StrPath


class CollectionSource:
    """A .ragmd file, a 0.1.0 file, a DuckDB database, or a FAISS index with its JSON, named by either file.

    Its vectors, and a BM25 index built from its texts, are held in memory, or in a copy in the folder `cache`.
    """

    __slots__ = ("_cache", "_dim", "_origin", "format", "path")
    is_watched = False

    def __init__(
        self, origin: StrPath | ByteSource, kind: str = "ragmd", dim: int | None = None,
        cache: StrPath | None = None,
    ) -> None:  # fmt: skip
        self._dim, self._cache = dim, cache
        self._origin = FileSource(origin) if isinstance(origin, str | os.PathLike) else origin
        self.path, self.format = self._origin.path, kind

    def open(self) -> OpenBytes:
        """Translate the collection, unless the cache has its copy. A temporary file is freed with its last reader."""
        if isinstance(self._origin, FileSource):
            identity, fetcher = self._origin.identity(None), None
            paths = self._paths()
            size, raw = sum(map(os.path.getsize, paths)), None
        else:
            bytes_ = self._origin.open()
            identity, size, fetcher, raw = bytes_.identity, bytes_.size, bytes_.fetcher, bytes_.map
            paths = []
        if (copies := self._copies()) is not None:
            content = content_hash(paths, raw)
            path = copies.path(self._place(), self.format, self._dim, content=content)
            make = partial(self._translate, raw, content)
            return OpenBytes(copies.opened(path, self._place(), make), identity, size, fetcher)
        with system.temporary_folder() as folder:
            path = os.path.join(folder, "kb")
            self._translate(raw, "", path)
            return OpenBytes(_core.Map(path), identity, size, fetcher)

    def _copies(self) -> CopyCache | None:
        """Return the cache of copies if one is wanted and can be written."""
        if self._cache is None:
            return None
        from ragfile.exchange.kept_copies import CopyCache

        copies = CopyCache(self._cache)
        return copies if copies.is_usable() else None

    def _place(self) -> str:
        """Return the URL, or the real path: that decides whether an origin still exists."""
        return os.path.realpath(self.path) if isinstance(self._origin, FileSource) else self.path

    def _translate(self, raw: object, content: str, path: str) -> None:
        """Write the collection as a RAGFile; `content` is the hash that its bytes must have, if any."""
        from ragfile.exchange.stores import knowledge_base  # what opening a copy does not need

        knowledge_base.write(self._read() if raw is None else parsed(raw, self.path), path)
        if content and raw is None and content_hash(self._paths()) != content:
            system.remove(path)
            raise ChangedError(f"{self.path}: it changed while it was read; try again")

    def _paths(self) -> list[str]:
        """Return the files of the collection."""
        if self.format != "faiss+json":
            return [self.path]
        from ragfile.exchange.faiss import json_pair

        return [os.fspath(path) for path in json_pair.pair_paths(self.path)]

    def _read(self) -> Collection:
        """Return the collection at a path."""
        from ragfile.exchange import conversion
        from ragfile.exchange.faiss import json_pair
        from ragfile.exchange.ragmd.ragmd_reader import NotARagmd
        from ragfile.exchange.stores import pairs

        if self.format == "faiss+json":
            return json_pair.read(*self._paths())
        if self.format == "ragfile-0.1":
            return pairs.read(self.path, dim=self._dim)
        if self.format == "duckdb":
            return conversion.read(self.path)
        try:
            return loaded(self.path)
        except NotARagmd as error:
            hint = f"ragfile.build({self.path!r}, 'kb.ragfile') makes a RAGFile of Markdown"
            raise NotARagmd(f"{error}; {hint}", at=error.at) from None

    def identity(self, opened: OpenBytes) -> tuple[object, ...]:
        return self._origin.identity(opened)

    def is_same_file(self, opened: OpenBytes, other: OpenBytes) -> bool:
        return self._origin.is_same_file(opened, other)

    def stat(self) -> None:
        """Return None: everything is in memory."""
        return


def content_hash(paths: Sequence[str], raw: object = None) -> str:
    """Return a hash of the bytes of some files, or of `raw`."""
    found = xxhash.xxh3_128()
    for path in paths:
        found.update(_view(_core.Map(path)))
        found.update(b"\0")
    if raw is not None:
        found.update(_view(raw))
    return found.hexdigest()


def loaded(path: StrPath) -> Collection:
    """Return the collection in a .ragmd file."""
    from ragfile.exchange.ragmd.ragmd_reader import load

    with _named(os.fspath(path)):
        return load(path)


def parsed(raw: object, path: StrPath) -> Collection:
    """Return the collection in the bytes of a .ragmd file."""
    from ragfile.exchange.ragmd.ragmd_reader import parse

    with _named(os.fspath(path)):
        return parse(np.frombuffer(_view(raw), np.uint8))


def _view(raw: object) -> memoryview:
    buffer: Any = raw  # Any: type checkers do not know the map as a buffer
    return memoryview(buffer)


@contextlib.contextmanager
def _named(path: str) -> Generator[None]:
    """Name the file in the error about a missing first line."""
    try:
        yield
    except FormatError as error:
        if str(error) != "Missing frontmatter":
            raise
        reason = "a damaged .ragmd: its first line is not ---"
        raise FormatError(f"{path}: {reason}", at=0) from None
