"""The container of a restricted view: facts of the visible documents, and no bytes of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.file.row_segment import RowSegment
    from ragfile.search.rows_protocol import OpenRows

SHARED = ("dim", "metric", "model")  # settings of the file that every reader may know


class RestrictedContainer:
    """The `rf.file` of a reader who may see some documents only. The sections hold the others, too."""

    __slots__ = ("_rows", "_segments", "path")

    def __init__(self, rows: OpenRows, segments: Sequence[RowSegment]) -> None:
        self._rows, self._segments, self.path = rows, segments, rows.path

    @property
    def config(self) -> dict[str, Any]:
        """The settings of the file that do not depend on its documents."""
        recorded = self._rows.config
        return {name: recorded[name] for name in SHARED if name in recorded}

    @property
    def strategies(self) -> list[str]:
        """No section: each has bytes of hidden documents."""
        return []

    @property
    def info(self) -> dict[str, Any]:
        """A summary of the visible documents, with neither sizes nor messages of the file."""
        chunks = sum(segment.live for segment in self._segments)
        recorded = self._rows.config
        return {
            "path": self.path, "format": "restricted", "size": 0, "generation": self._rows.generation,
            "created": 0, "message": "", "identity": "", "chunks": chunks, "deleted": 0,
            "segments": 1, "strategies": [], "stale": 0, "compaction": "", "signatures": [],
            "documents": sum(segment.document_count() for segment in self._segments),
            **{name: recorded.get(name) for name in SHARED},
        }  # fmt: skip

    def _refuse(self) -> NoReturn:
        raise ValueError(
            f"{self.path} is open with a filter: open the file for its sections and bytes"
        )

    @property
    def reader(self) -> NoReturn:
        """Raise ValueError: the bytes are those of all documents."""
        self._refuse()

    entries = footer = signatures = stale_records = has_lost_commit = compaction = reader

    def section(self, name: str, segment: int | None = None) -> NoReturn:
        """Raise ValueError, as all members that lead to bytes of the file do."""
        self._refuse()

    def raw(self, at: int, size: int) -> NoReturn:
        """Raise ValueError."""
        self._refuse()

    def rows_in(self, start: int, end: int) -> NoReturn:
        """Raise ValueError."""
        self._refuse()

    def pairs(self, name: str) -> NoReturn:
        """Raise ValueError."""
        self._refuse()

    def lookup(self, keyword: str) -> NoReturn:
        """Raise ValueError."""
        self._refuse()

    def verify(self, full: bool = True) -> NoReturn:
        """Raise ValueError."""
        self._refuse()
