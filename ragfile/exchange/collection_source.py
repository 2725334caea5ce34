"""A source that translates a collection in another format to an unnamed .ragfile in memory."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ragfile import _core
from ragfile.errors import FormatError
from ragfile.exchange import conversion
from ragfile.exchange.stores import knowledge_base, pairs
from ragfile.file.source import FileSource, OpenBytes
from ragfile.ground import system

if TYPE_CHECKING:
    from collections.abc import Generator

    from ragfile.exchange.collection import Collection
    from ragfile.file.source import ByteSource
    from ragfile.types import StrPath


class CollectionSource:
    """A .ragmd file, a 0.1.0 file, a DuckDB database, or a FAISS index with its JSON, named by either file.

    Its vectors, and a BM25 index built from its texts, are held in memory.
    """

    __slots__ = ("_dim", "_origin", "format", "path")
    is_watched = False

    def __init__(
        self, origin: StrPath | ByteSource, kind: str = "ragmd", dim: int | None = None
    ) -> None:
        self._dim = dim
        self._origin = FileSource(origin) if isinstance(origin, str | os.PathLike) else origin
        self.path, self.format = self._origin.path, kind

    def open(self) -> OpenBytes:
        """Translate the collection; the temporary file is freed with its last reader."""
        if isinstance(self._origin, FileSource):
            identity, fetcher = self._origin.identity(None), None
            collection, size = self._read()
        else:
            bytes_ = self._origin.open()
            identity, size, fetcher = bytes_.identity, bytes_.size, bytes_.fetcher
            collection = parsed(bytes_.map, self.path)
        with system.temporary_folder() as folder:
            path = os.path.join(folder, "kb")
            knowledge_base.write(collection, path)
            return OpenBytes(_core.Map(path), identity, size, fetcher)

    def _read(self) -> tuple[Collection, int]:
        """Return the collection at a path, and the bytes of its files."""
        from ragfile.exchange.faiss import json_pair
        from ragfile.exchange.ragmd.ragmd_reader import NotARagmd

        if self.format == "faiss+json":
            paths = json_pair.pair_paths(self.path)
            return json_pair.read(*paths), sum(map(os.path.getsize, paths))
        if self.format == "ragfile-0.1":
            return pairs.read(self.path, dim=self._dim), os.path.getsize(self.path)
        if self.format == "duckdb":
            return conversion.read(self.path), os.path.getsize(self.path)
        try:
            return loaded(self.path), os.path.getsize(self.path)
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


def loaded(path: StrPath) -> Collection:
    """Return the collection in a .ragmd file."""
    from ragfile.exchange.ragmd.ragmd_reader import load

    with _named(os.fspath(path)):
        return load(path)


def parsed(raw: object, path: StrPath) -> Collection:
    """Return the collection in the bytes of a .ragmd file."""
    from ragfile.exchange.ragmd.ragmd_reader import parse

    view: Any = raw  # Any: numpy's types do not know the map as a buffer
    with _named(os.fspath(path)):
        return parse(np.frombuffer(view, np.uint8))


@contextlib.contextmanager
def _named(path: str) -> Generator[None]:
    """Name the file in the error about a missing first line, which says nothing else."""
    try:
        yield
    except FormatError as error:
        if str(error) != "Missing frontmatter":
            raise
        reason = "a damaged .ragmd: its first line is not ---"
        raise FormatError(f"{path}: {reason}", at=0) from None
