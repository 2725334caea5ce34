"""The file of a memory, with the layers below it: recalled together, written alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ragfile.file.hidden_documents import read_hidden
from ragfile.ground.fork_safe_lock import ForkSafeLock
from ragfile.ground.urls import is_remote, shown
from ragfile.knowledge_base import KnowledgeBase
from ragfile.opener import begin_edit, open_passages

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence
    from typing import Any, Unpack

    from ragfile.embedding.protocol import Embedder
    from ragfile.layers.agreement import Layer
    from ragfile.search.file_rows import FileRows
    from ragfile.types import StrPath
    from ragfile.write.editor import Editor
    from ragfile.write.group_commit import BeginOptions


class LayeredFile:
    """A file over layers, which are opened once, on first use."""

    def __init__(
        self, path: str, over: Sequence[StrPath | KnowledgeBase], embedder: str | Embedder | None
    ) -> None:
        if isinstance(over, str | bytes) or hasattr(over, "__fspath__"):
            raise TypeError("over= is a list of layers, the lowest first, not one path")
        self._path, self._over, self._embedder = path, list(over), embedder
        self._lock = ForkSafeLock()
        self._below: list[KnowledgeBase] | None = None
        self._rf: KnowledgeBase | None = None

    def opened(self) -> KnowledgeBase:
        """Return the open file over its layers, at the newest commit of each."""
        rf = self._rf
        if rf is None:
            below = self._layers()
            with self._lock:
                rf = self._rf = self._rf or self._open(below)
        rf.refresh()
        return rf

    def _open(self, below: list[KnowledgeBase]) -> KnowledgeBase:
        if not below:
            return KnowledgeBase(self._path, embedder=self._embedder)
        return open_passages((*below, self._path), embedder=self._embedder)

    def _layers(self) -> list[KnowledgeBase]:
        """Return the layers below, open."""
        if not self._over:
            return []
        with self._lock:
            if self._below is None:
                self._below = [self._layer(each) for each in self._over]
            return self._below

    def _layer(self, given: StrPath | KnowledgeBase) -> KnowledgeBase:
        if isinstance(given, KnowledgeBase):
            return given
        return open_passages(given, embedder=self._embedder)

    def edit(self, path: StrPath | os.PathLike[str], **options: Unpack[BeginOptions]) -> Editor:
        """Start the next commit of the file, over the newest commits of the layers."""
        below = self._layers()
        for part in below:
            part.refresh()
        return begin_edit((*below, path) if below else path, **options)

    @property
    def lowest(self) -> Layer | None:
        """The rows of the lowest layer, None without layers."""
        below = self._layers()
        return cast("Layer", below[0].rows) if below else None

    def _own_rows(self) -> FileRows:
        rows = self.opened().rows
        if not self._over:
            return rows
        from ragfile.layers.layered_rows import layers_of

        return cast("FileRows", layers_of(rows)[-1])

    def own_config(self) -> dict[str, Any]:
        """Return the configuration of the file, without that of the layers."""
        return self._own_rows().config

    def holding(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Return the layers below that have a document of some ids; without ids, of any that are hidden."""
        if not self._over:
            return ()
        own = self._own_rows()
        wanted = set(ids) or read_hidden(own.file.reader, own.path)
        return tuple(
            shown(part.path) if is_remote(part.path) else part.path
            for part in self._layers()
            if any(part.rows.find(name) is not None for name in wanted)
        )

    def close(self) -> None:
        """Close the file, and the layers that were opened here."""
        rf, self._rf = self._rf, None
        below, self._below = self._below, None
        if rf is not None:
            rf.close()
        for part, given in zip(below or [], self._over, strict=False):
            if part is not given:
                part.close()
