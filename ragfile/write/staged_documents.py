"""The documents of a draft, in a few dozen bytes each: a commit can have ten million."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragfile import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

Stretch = tuple[int, int]  # of the spool of texts: (offset, size)
HAS_TEXT, IS_CARRIED = 1, 2
ABSENT = (1 << 64) - 1  # the offset of an absent field's text


@dataclass(slots=True)
class StagedDocument:
    """A document to be written. Its fields are stretches of the spool, or None."""

    text_at: int
    text_size: int
    chars: int
    has_text: bool
    is_carried: bool
    json: Stretch
    fields: list[Stretch | None]
    links: Stretch
    original: Stretch  # the bytes of its file


class _SparseColumn:
    """A stretch for some documents, up to the last one that has any."""

    def __init__(self) -> None:
        self._at, self._size = array("Q"), array("I")

    def put(self, number: int, stretch: Stretch) -> None:
        missing = max(number + 1 - len(self._at), 0)
        self._at.frombytes(bytes(8 * missing))
        self._size.frombytes(bytes(4 * missing))
        self._at[number], self._size[number] = stretch

    def get(self, number: int) -> Stretch:
        return (self._at[number], self._size[number]) if number < len(self._at) else (0, 0)


class StagedDocuments:
    """Columns of numbers, indexed by documents in order of arrival."""

    def __init__(self, fields: int) -> None:
        self.ids = _core.IdTable()
        self.tags: dict[int, tuple[str, ...]] = {}  # of documents with tags
        self._text_at, self._json_at = array("Q"), array("Q")
        self._text_size, self._json_size, self._chars = array("I"), array("I"), array("I")
        self._links, self._originals = _SparseColumn(), _SparseColumn()
        self._flags = bytearray()
        # Whether a document, new or carried over from another commit, is source code.
        self.has_code = self.carries_code = False
        self._fields = [(array("Q"), array("I")) for _ in range(fields)]

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[str]:
        return map(self.ids.id, range(len(self)))

    def __contains__(self, doc_id: object) -> bool:
        return isinstance(doc_id, str) and self.ids.find(doc_id) is not None

    def number(self, doc_id: str, *, is_carried: bool = False) -> int:
        """Return the number of an id, which is assigned on first use."""
        if not isinstance(doc_id, str) or not doc_id:
            raise ValueError(f"a document id must be a string that is not empty, not {doc_id!r}")
        number = self.ids.number(doc_id)
        if number == len(self._flags):
            self._append()
            self._note_code(doc_id, is_carried)
        return number

    def _note_code(self, doc_id: str, is_carried: bool) -> None:
        if is_carried:
            self.carries_code = self.carries_code or _core.is_code(doc_id)
        else:
            self.has_code = self.has_code or _core.is_code(doc_id)

    def _append(self) -> None:
        for column in (self._text_at, self._text_size, self._json_at, self._json_size, self._chars):
            column.append(0)
        for at, size in self._fields:
            at.append(ABSENT)
            size.append(0)
        self._flags.append(0)

    def put(
        self, number: int, text: Stretch, chars: int, has_text: bool, is_carried: bool
    ) -> None:  # fmt: skip
        """Set the text of a document."""
        self._text_at[number], self._text_size[number] = text
        self._chars[number] = chars
        self._flags[number] = HAS_TEXT * has_text | IS_CARRIED * is_carried

    def put_metadata(self, number: int, json: Stretch, fields: dict[int, Stretch]) -> None:
        """Set the metadata of a document, and its indexed fields by number."""
        self._json_at[number], self._json_size[number] = json
        for field, stretch in fields.items():
            at, size = self._fields[field]
            at[number], size[number] = stretch

    def put_links(self, number: int, links: Stretch) -> None:
        """Set the staged links of a document."""
        self._links.put(number, links)

    def put_original(self, number: int, original: Stretch) -> None:
        """Set the bytes of a document's file."""
        self._originals.put(number, original)

    def read(self, number: int) -> StagedDocument:
        """Return a document."""
        flags, fields = self._flags[number], self._fields
        return StagedDocument(
            self._text_at[number], self._text_size[number], self._chars[number],
            bool(flags & HAS_TEXT), bool(flags & IS_CARRIED),
            (self._json_at[number], self._json_size[number]),
            [None if at[number] == ABSENT else (at[number], size[number]) for at, size in fields],
            self._links.get(number), self._originals.get(number),
        )  # fmt: skip

    def text_bytes(self) -> int:
        """Return the size of all texts in bytes."""
        return sum(self._text_size)

    def order(self) -> np.ndarray:
        """Return the numbers in order of the ids' UTF-8."""
        return self.ids.order()
