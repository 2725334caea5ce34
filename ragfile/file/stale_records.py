"""`rag.stale`: the documents chunked by another policy than the file's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile.errors import CorruptError
from ragfile.file import config
from ragfile.file.json_sections import json_of
from ragfile.ground.json_values import is_list, is_object

if TYPE_CHECKING:
    from typing import Any, TypeGuard

    from ragfile import _core

NAME = "rag.stale"


def read_stale(reader: _core.Reader, path: str) -> list[dict[str, Any]]:
    """Return the records `{"chunking": policy, "documents": ids}` of a commit."""
    section = reader.section(NAME)
    if section is None:
        return []
    found = json_of(section)
    if not _are_records(found) or config.is_too_deep(found):
        what = f"{path}: {NAME} is not a list of documents by chunk policy"
        raise CorruptError(what, section=NAME)
    return found


def _are_records(found: object) -> TypeGuard[list[dict[str, Any]]]:
    return is_list(found) and all(
        is_object(entry)
        and "chunking" in entry
        and config.is_policy(entry["chunking"])
        and is_list(entry.get("documents"))
        and all(isinstance(doc_id, str) for doc_id in entry["documents"])
        for entry in found
    )
