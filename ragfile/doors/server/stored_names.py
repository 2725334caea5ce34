"""The documents of a file by name, while uploads are added to it.

A file becomes one document with its name as id, or several with ids such as `name#2`.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragfile.file.row_segment import StoredDocument
    from ragfile.write.editor import Editor

MARK = "upload"  # the metadata key with the id of a document's upload


def mark_of(stored: StoredDocument | None) -> str | None:
    """Return the id of the upload that a document came from, or None."""
    mark = None if stored is None else stored.fields.get("metadata", {}).get(MARK)
    return mark if isinstance(mark, str) else None


class StoredNames:
    """The names of one commit, from the file before it and from the documents staged so far."""

    def __init__(self, writer: Editor) -> None:
        self._writer, self._ids = writer, sorted(writer.archive.document_ids())

    def documents(self, name: str) -> list[str]:
        """Return the ids of the stored documents of a name."""
        found = [name] if self._writer.archive.find(name) is not None else []
        first = bisect_left(self._ids, name + "#")
        for doc_id in self._ids[first:]:
            if not doc_id.startswith(name + "#"):
                break
            found.append(doc_id)
        return found

    def staged(self, name: str) -> bool:
        """Return whether this commit has a document of a name."""
        staged = self._writer.draft.staging.documents
        return any(doc_id == name or doc_id.startswith(name + "#") for doc_id in staged)

    def free(self, name: str) -> str:
        """Return a name, with a number if it is taken."""
        number, free = 1, name
        while self.documents(free) or self.staged(free):
            number += 1
            free = numbered(name, number)
        return free

    def of_upload(self, name: str, upload_id: str) -> list[str]:
        """Return the stored documents that bear an upload's id, under its name or a numbered one."""
        number, free = 1, name
        while found := self.documents(free):
            mine = [one for one in found if mark_of(self._writer.archive.find(one)) == upload_id]
            if mine:
                return mine
            number += 1
            free = numbered(name, number)
        return []

    def marks(self, ids: list[str]) -> dict[str, str | None]:
        """Return the upload of each document, None for a document from elsewhere."""
        return {doc_id: mark_of(self._writer.archive.find(doc_id)) for doc_id in ids}


def numbered(name: str, number: int) -> str:
    """Return a name with a number before its suffix, such as `notes (2).txt`."""
    stem, dot, suffix = name.rpartition(".")
    stem, suffix = (stem, dot + suffix) if stem else (name, "")
    return f"{stem} ({number}){suffix}"
