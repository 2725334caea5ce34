"""A source that translates a collection in another format to an unnamed .ragfile in memory."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np

from ragfile import _core
from ragfile.exchange.stores import knowledge_base
from ragfile.file.source import FileSource, OpenBytes

if TYPE_CHECKING:
    from ragfile.exchange.collection import Collection
    from ragfile.file.source import ByteSource
    from ragfile.types import StrPath


class CollectionSource:
    """A .ragmd file, or a FAISS index with its JSON, named by either file.

    Its vectors, and a BM25 index built from its texts, are held in memory.
    """

    __slots__ = ("_origin", "format", "path")
    is_watched = False

    def __init__(self, origin: StrPath | ByteSource, kind: str = "ragmd") -> None:
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
            collection = _parsed(bytes_)
        with tempfile.TemporaryDirectory(prefix="ragfile-") as folder:
            path = os.path.join(folder, "kb")
            knowledge_base.write(collection, path)
            return OpenBytes(_core.Map(path), identity, size, fetcher)

    def _read(self) -> tuple[Collection, int]:
        """Return the collection at a path, and the bytes of its files."""
        from ragfile.exchange.faiss import json_pair
        from ragfile.exchange.ragmd.ragmd_reader import NotARagmd, load

        if self.format == "faiss+json":
            paths = json_pair.pair_paths(self.path)
            return json_pair.read(*paths), sum(map(os.path.getsize, paths))
        try:
            return load(self.path), os.path.getsize(self.path)
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


def _parsed(opened: OpenBytes) -> Collection:
    from ragfile.exchange.ragmd.ragmd_reader import parse

    raw: Any = opened.map  # Any: numpy's types do not know the map as a buffer
    return parse(np.frombuffer(raw, np.uint8))
