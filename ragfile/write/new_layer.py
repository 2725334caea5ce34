"""Make an empty file: a layer over others, or the first of a user."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, cast

from ragfile.ground import system
from ragfile.write.compaction import rewrite
from ragfile.write.writer import create

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ragfile.embedding.protocol import Embedder
    from ragfile.layers.agreement import Layer
    from ragfile.search.file_rows import FileRows
    from ragfile.types import StrPath

NOT_SHARED = (  # settings
    "labels", "selection", "layout", "signed", "keep", "first_generation", "memory",
)  # fmt: skip


def create_layer(path: StrPath, base: Layer, changes: dict[str, Any] | None = None) -> bool:
    """Make an empty file with the settings of another; return False if the path exists.

    Args:
        path: The file.
        base: The rows of the other file.
        changes: Settings that differ.
    """

    def write(made: str) -> None:
        rewrite(made, cast("FileRows", base), (), changes=changes, without=NOT_SHARED)

    return _make(path, write)


def create_default(path: StrPath, embedder: str | Embedder | None) -> bool:
    """Make an empty file with the default settings; return False if the path exists."""
    return _make(path, lambda made: create(made, embedder=embedder or "default").close())


def _make(path: StrPath, write: Callable[[str], None]) -> bool:
    """Write a file beside its name, and give it the name at once; return False if that is taken."""
    made = system.unused_path(os.path.dirname(os.path.abspath(path)), ".new-", ".ragfile")
    try:
        write(made)
        return system.link_new(made, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            system.remove(made)
