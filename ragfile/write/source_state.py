"""Compare a file with the folder that it was built from, by the times and checksums of its files."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, NamedTuple

from ragfile.ingest.source_files import Selection, find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile.search.file_rows import FileRows
    from ragfile.types import StrPath


class SourceState(NamedTuple):
    """How many source files differ from a file.

    Attributes:
        changed: Files whose bytes changed.
        added: Files without a document.
        missing: Documents without a file.
    """

    changed: int
    added: int
    missing: int

    @property
    def is_newer(self) -> bool:
        """Whether a sync would change the file."""
        return any(self)


def source_state(archive: FileRows, root: StrPath) -> SourceState:
    """Compare a file with the files in a folder.

    Only files that were modified after the RAGFile are read, so this takes milliseconds.

    Args:
        archive: The rows of the file.
        root: The folder from which the file was built.
    """
    recorded = dict(_recorded(archive))
    written = os.stat(archive.path).st_mtime_ns
    paths = {name: os.path.join(root, name) for name in recorded}
    present = {name: path for name, path in paths.items() if os.path.isfile(path)}
    changed = [name for name, path in present.items() if _is_changed(path, recorded[name], written)]
    found = _found(archive, root) if present else set[str]()
    known = {os.path.realpath(path) for path in present.values()}
    return SourceState(len(changed), len(found - known), len(recorded) - len(present))


def _recorded(archive: FileRows) -> Iterator[tuple[str, str]]:
    """Yield the relative source of each document that came from a file, with its checksum."""
    for segment in archive.segments:
        for old in segment.live_documents():
            metadata = old.fields.get("metadata", {})
            source, checksum = old.fields.get("source"), metadata.get("checksum")
            if not isinstance(source, str) or not isinstance(checksum, str):
                continue
            if "upload" not in metadata and not os.path.isabs(source):
                yield source, checksum


def _is_changed(path: str, checksum: str, written: int) -> bool:
    if os.stat(path).st_mtime_ns <= written:
        return False
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() != checksum


def _found(archive: FileRows, root: StrPath) -> set[str]:
    selection = Selection.recorded(archive.config.get("selection", {}))
    return {os.path.realpath(file.path) for file in find([root], selection=selection)}
