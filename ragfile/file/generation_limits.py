"""How large a file may grow before an edit drops its older generations, and the reasons that can prevent that."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ragfile.ground import system
from ragfile.ground.urls import is_remote

if TYPE_CHECKING:
    from ragfile import _core
    from ragfile.types import StrPath

LIMIT, SMALL_LIMIT, SMALL = 2.85, 3.8, 1 << 20  # times the kept bytes; below SMALL of these
COPY_MOST = 256 << 20  # kept bytes: to copy more would delay a commit by too much
BOUND_TO_THEIR_PLACE = ("keyword", "rag.keys")


def limit(kept: int) -> float:
    """Return the size up to which a file is left as it is, given the bytes that it keeps."""
    return kept * (SMALL_LIMIT if kept < SMALL else LIMIT)


def obstacle(path: str, reader: _core.Reader, record: dict[str, Any]) -> str:
    """Return why older generations stay in a file that has grown too large, or ""."""
    entries, commit = reader.entries, reader.commit
    kept = sum(entry["extent"] for entry in entries)
    if is_remote(path) or commit["generation"] == 1 or commit["end"] <= limit(kept):
        return ""
    if "signed" in record or reader.has("rag.signatures"):
        return "a generation is signed"
    if "keep" not in record:
        return "a file of an earlier version keeps everything until its owner chooses with --keep"
    bound = {entry["name"] for entry in entries}.intersection(BOUND_TO_THEIR_PLACE)
    if bound and record["keep"] != "all":
        return "sections for readers of version 0.1.0 cannot move (a portable file)"
    return "" if record["keep"] == "all" else _obstacle_of_the_system(path, kept)


def _obstacle_of_the_system(path: StrPath, kept: int) -> str:
    place = os.path.realpath(path)
    if (names := os.stat(place).st_nlink) > 1:
        return f"the file has {names} names (hard links)"
    if not system.can_write_to(os.path.dirname(place)):
        return "nothing can be written to its folder"
    if system.is_mounted(place):
        return (
            "the file is mounted by itself, so no other file can take its place: mount its folder"
        )
    if kept > COPY_MOST:
        return "more bytes are live than an edit copies: compact the file"
    return ""
