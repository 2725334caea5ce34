"""Columns for filters, segment by segment: from `rag.columns` where it has them, else from the metadata.

    a path ─ stored: the core answers with row sets
           ├ not listed, and the list is whole: no row has it
           └ listed without values, or no section: metadata_columns.Labels reads the objects

The same operators (filters.py) evaluate a condition in all three cases, with the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragfile import _core
from ragfile.file import filters, remote_prefetch
from ragfile.file.metadata_columns import IDS, Labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.file.filters import Column, Filter, Flags, SortKey, Words
    from ragfile.file.row_segment import RowSegment

WORTH = 64  # rows: the metadata of fewer are read faster than a section is
HEAD = 64 << 10  # bytes fetched before the columns themselves


class FileColumn:
    """A stored column for filters; see filters.Column. Codes of values begin at 1."""

    def __init__(self, column: _core.StoredColumn) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    @property
    def core(self) -> _core.StoredColumn:
        """The column of the core."""
        return self._column

    def codes(self) -> NDArray[np.unsignedinteger[Any]]:
        """Return the code of each row, 0 for none."""
        return self._column.codes()

    def kinds(self) -> tuple[set[str], list[Any]]:
        """Return the types of its plain values, and its lists."""
        names = ("null", "bool", "number", "str", "list", "object")
        ranges = {name: self._column.kind(i) for i, name in enumerate(names)}
        found = {name for name, (low, high) in ranges.items() if low < high}
        if "number" in found:
            found = found - {"number"} | {"int" if self._column.is_whole() else "float"}
        lists = [_core.value_of(self._column.value(code)) for code in range(*ranges["list"])]
        return found - {"list"}, lists

    def values(self) -> list[Any]:
        """Return the values in order of their codes."""
        return self._column.values()

    def find(self, key: SortKey) -> tuple[int, int]:
        return self._column.find(_core.value_bytes(key))

    def of_kind(self, kind: int) -> tuple[int, int]:
        return self._column.kind(kind)

    def rows(self, low: int, high: int) -> Words:
        return self._column.rows(low, high)

    def present(self) -> Words:
        return self._column.rows(1, len(self._column) + 1)

    def absent(self) -> Words:
        return self._column.rows(0, 1)

    def none(self) -> Flags:
        return np.zeros(len(self._column) + 1, np.uint8)

    def rows_of(self, chosen: Flags) -> Words:
        return self._column.rows_of(chosen)

    def holding(self, key: SortKey) -> Flags:
        return self._column.holding(_core.value_bytes(key))

    def containing(self, part: str) -> Flags:
        return self._column.containing(part)


class DocumentIds(Sequence["SortKey"]):
    """The keys of `doc_id`: the ids of a segment, which are stored in order."""

    def __init__(self, records: _core.Records) -> None:
        self._records = records

    def __len__(self) -> int:
        return self._records.documents

    def __getitem__(self, place: int) -> SortKey:  # type: ignore[override]  # codes are never sliced
        if not 0 <= place < len(self):
            raise IndexError(place)
        return 3, self._records.document(place).id


class SegmentColumns:
    """filters.FilterColumns of one segment, kept once made."""

    def __init__(self, segment: RowSegment) -> None:
        self.segment = segment
        self._columns: dict[str | None, Column | FileColumn] = {}
        self._labels: Labels | None = None
        section = segment.section("rag.columns")
        self.stored = None if section is None else _core.StoredColumns(section, segment.rows)

    def __len__(self) -> int:
        return self.segment.rows

    def passing(self, chosen: Filter) -> Words:
        """Return the rows that pass a filter: the core decides if it has all columns."""
        stored: dict[bytes | None, _core.StoredColumn] = {}
        for path in (*chosen.paths, *((None,) if chosen.has_tags else ())):
            column = self._known(path)
            if isinstance(column, FileColumn):
                stored[None if path is None else path.encode("utf-8", "surrogatepass")] = (
                    column.core
                )
            elif len(column):
                return chosen.words(self)
        return _core.filter_rows(*chosen.encoded, stored, len(self))

    def column(self, path: str) -> Column | FileColumn:
        return self._known(path)

    def tags(self) -> Column | FileColumn:
        return self._known(None)

    def _known(self, path: str | None) -> Column | FileColumn:
        """Return the column of a path, or of the tags for None."""
        if path not in self._columns:
            self._columns[path] = self._made(path)
        return self._columns[path]

    def _made(self, path: str | None) -> Column | FileColumn:
        if self.stored is not None and self.is_stored(path) and path not in IDS:
            return FileColumn(self.stored.column(self._number(path)))
        if self.is_known(path) and not self.is_stored(path):
            return self._ids(path) if path in IDS else filters.without_values(len(self))
        return self.labels.tags() if path is None else self.labels.column(path)

    def is_stored(self, path: str | None) -> bool:
        """Return whether a column of this path is stored with its values."""
        number = self._number(path)
        if number < 0 or self.stored is None or self._may_enter_lists(path):
            return False
        return self.stored.has_values(number)

    def _may_enter_lists(self, path: str | None) -> bool:
        """Return whether the values of a path can be those of objects in a list, which are read from the metadata."""
        return (
            path is not None
            and "." in path
            and self.stored is not None
            and self.stored.may_enter_lists(path)
        )

    def is_known(self, path: str | None) -> bool:
        """Return whether the section decides a path: by a column, or because no row has it."""
        if self.stored is None or self._may_enter_lists(path):
            return False
        return self.is_stored(path) or (self._number(path) < 0 and not self.stored.is_partial)

    def _number(self, path: str | None) -> int:
        """Return the number of a path's column, or -1."""
        found = None if self.stored is None else self.stored.find(path)
        return -1 if found is None else found

    def place(self, path: str | None) -> tuple[int, int]:
        """Return the offset and size of a stored column in its section."""
        assert self.stored is not None
        return self.stored.place(self._number(path))

    def _ids(self, path: str) -> Column:
        if path == "doc_id":
            records = self.segment.records
            return filters.Column(
                records.documents_of_rows().astype(np.int32), DocumentIds(records)
            )
        return IDS[path]([self.segment])

    @property
    def labels(self) -> Labels:
        """Return columns made from the metadata themselves."""
        if self._labels is None:
            self._labels = Labels([self.segment])
        return self._labels


def bring(columns: Sequence[SegmentColumns], paths: Iterable[str | None]) -> None:
    """Fetch the bytes that a filter will read, in one request, if the file is remote."""
    segments = [each.segment for each in columns]
    if not (segments and segments[0].reader.is_elsewhere):
        return
    wants = [want for each in columns for path in paths for want in _wanted(each, path)]
    _core.ready(wants)
    read = [s.segment for s in columns if any(_is_of_metadata(s, path) for path in paths)]
    remote_prefetch.whole(read, "rag.meta", "rag.chunks", "rag.documents", "rag.ids")


def _wanted(
    columns: SegmentColumns, path: str | None
) -> Iterator[tuple[_core.Section | None, int, int]]:
    if path in IDS:
        for name in ("rag.chunks", "rag.documents", "rag.ids"):
            section = columns.segment.section(name)
            yield section, 0, 0 if section is None else len(section)
    elif columns.is_stored(path):
        section = columns.segment.section("rag.columns")
        yield section, *columns.place(path)


def _is_of_metadata(columns: SegmentColumns, path: str | None) -> bool:
    return not columns.is_known(path) or (path in IDS and columns.is_stored(path))


def heads(segments: Sequence[RowSegment]) -> None:
    """Fetch the lists of columns of all segments in one request."""
    if segments and segments[0].reader.is_elsewhere:
        sections = [segment.section("rag.columns") for segment in segments]
        _core.ready([(s, 0, min(HEAD, len(s))) for s in sections if s is not None])
