"""`rag.past`: the generations that a file had when it last dropped some, by the hashes of their footers.

A copy of the file from before is known by its newest generation as an earlier state.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ragfile import _core
from ragfile.errors import CorruptError
from ragfile.ground.json_values import is_list

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "rag.past"
MOST = 256  # generations that a file remembers
FOOTER = 64  # bytes at the end of a commit


def name_of(reader: _core.Reader, data: memoryview) -> str:
    """Return the name of an open generation, from the bytes of its file."""
    end = reader.commit["end"]
    return f"{_core.hash64(data[end - FOOTER : end]):016x}"


def newest_names(reader: _core.Reader, data: memoryview) -> list[str]:
    """Return the names of the newest generations, oldest first."""
    names = [name_of(reader, data)]
    while reader.commit["generation"] > 1 and len(names) < MOST:
        reader = reader.previous()
        names.append(name_of(reader, data))
    return names[::-1]


def read_past(reader: _core.Reader, path: str) -> list[str]:
    """Return the names that a commit lists, oldest first; none without the section."""
    section = reader.section(NAME)
    if section is None:
        return []
    section.check()
    try:
        found = json.loads(bytes(section))
    except (ValueError, RecursionError):
        found = None
    if not (is_list(found) and 0 < len(found) == reader.entry(NAME)["items"] <= MOST):
        raise CorruptError(f"{path}: {NAME} is not a list of its items", section=NAME)
    names = [each for each in found if isinstance(each, str) and re.fullmatch("[0-9a-f]{16}", each)]
    if len(names) < len(found):
        raise CorruptError(f"{path}: {NAME} has an entry that is no hash", section=NAME)
    return names


def packed(names: Sequence[str]) -> tuple[bytes, int]:
    """Return the bytes of the section for the newest names, and the number of its items."""
    newest = names[-MOST:]
    return json.dumps(newest, separators=(",", ":")).encode(), len(newest)
