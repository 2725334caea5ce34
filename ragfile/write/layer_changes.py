"""Changes to layers: the highest one takes them all.

A document of a layer below is written anew above when it is changed. A deleted one stays where it is, and
`rag.hidden` of the highest layer lists its id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile.file.hidden_documents import NAME, packed, read_hidden
from ragfile.write.deletions import Removals

if TYPE_CHECKING:
    from ragfile.file.row_segment import StoredDocument
    from ragfile.search.file_rows import FileRows
    from ragfile.write.draft import Draft


class LayerRemovals(Removals):
    """The documents that the next commit deletes: in the file itself, and from the layers below."""

    def __init__(self, archive: FileRows, below: FileRows) -> None:
        super().__init__(archive)
        self._below, self._stored = below, set(read_hidden(archive.file.reader, archive.path))
        self._hidden = set(self._stored)

    def _is_below(self, old: StoredDocument) -> bool:
        """Return whether a document is stored in a layer below."""
        return all(old.segment is not segment for segment in self._archive.segments)

    def __contains__(self, old: StoredDocument) -> bool:
        return old.id in self._hidden if self._is_below(old) else super().__contains__(old)

    def add(self, old: StoredDocument) -> None:
        """Delete a document, and hide one with its id below."""
        if not self._is_below(old):
            super().add(old)
        if self._below.find(old.id) is not None:
            self._hidden.add(old.id)

    def below(self, doc_id: str) -> StoredDocument | None:
        """Return the document of a layer below that no list hides, or None."""
        return None if doc_id in self._hidden else self._below.find(doc_id)

    def note_hidden(self, draft: Draft) -> None:
        """Add the list of hidden documents to the draft, if it changes."""
        hidden = self._hidden.difference(draft.staging.documents)
        if hidden != self._stored:
            draft.add_section(NAME, *packed(hidden))
