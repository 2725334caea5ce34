"""`rag.hidden`: the documents that a layer deletes from the layers below it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeGuard

from ragfile.errors import CorruptError
from ragfile.file.json_sections import json_of
from ragfile.ground.json_values import is_list

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragfile import _core

NAME = "rag.hidden"


def read_hidden(reader: _core.Reader, path: str) -> list[str]:
    """Return the ids that a commit lists; none without the section."""
    section = reader.section(NAME)
    if section is None:
        return []
    found = json_of(section)
    if not _are_ids(found) or reader.entry(NAME)["items"] != len(found):
        raise CorruptError(f"{path}: {NAME} is not a list of different ids", section=NAME)
    return found


def _are_ids(found: object) -> TypeGuard[list[str]]:
    if not is_list(found) or not all(isinstance(each, str) and each for each in found):
        return False
    return len(set(found)) == len(found)


def packed(ids: Iterable[str]) -> tuple[bytes, int]:
    """Return the bytes of the section, and the number of its items."""
    ordered = sorted((each.encode("utf-8", "surrogatepass"), each) for each in ids)
    listed = [each for _, each in ordered]
    raw = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
    return raw.encode("utf-8", "surrogatepass"), len(listed)
