"""Forgotten texts: until when their bytes may stay in a file, and their erasure.

A deletion hides a text at once. Its bytes stay in older generations until the file is rewritten with
its live content alone. rag.config records under "memory" which documents wait for that:

    {"retention": 86400, "forgotten": [["m3kd9x2a", "2026-03-01T09:30:00.000000Z"]], "expires": "…"}

`retention` is in seconds, `expires` the first moment at which a text expires. The rewriting replaces
the file with an empty list in the same step, so nothing says "gone" before it is.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ragfile import _core
from ragfile.errors import CorruptError
from ragfile.file import config
from ragfile.file.row_segment import RowSegment
from ragfile.memories.moments import DAY, stamp, unstamped
from ragfile.write.old_generations import NEWEST, keep_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ragfile.types import StrPath

KEY = "memory"
RETENTION = DAY


class HeldGeneration(NamedTuple):
    """An older generation that still holds a forgotten text, and why it stays: "signed" or "kept"."""

    generation: int
    reason: str


class Retention:
    """The entry of a configuration."""

    def __init__(self, record: dict[str, Any]) -> None:
        entry = record.get(KEY, {})
        try:
            self.seconds = float(entry.get("retention", RETENTION.total_seconds()))
            self.forgotten = [
                (str(name), stamp(unstamped(at))) for name, at in entry.get("forgotten", [])
            ]
            self.expires = str(entry.get("expires", ""))
            _ = self.period  # it fits
        except (AttributeError, TypeError, ValueError, OverflowError):
            raise CorruptError(
                f"rag.config: invalid value for {KEY!r}", section="rag.config"
            ) from None

    @property
    def period(self) -> timedelta:
        """How long forgotten texts may stay."""
        return timedelta(seconds=self.seconds)

    def record(self) -> dict[str, Any]:
        """Return the entry."""
        entry: dict[str, Any] = {"retention": self.seconds}
        if self.forgotten:
            entry["forgotten"] = [list(pair) for pair in self.forgotten]
        return {KEY: entry | ({"expires": self.expires} if self.expires else {})}

    def note(self, ids: Iterable[str], at: str) -> None:
        """Add documents whose bytes have to go."""
        self.forgotten += [(name, at) for name in ids]

    @property
    def due(self) -> datetime | None:
        """The moment at which the oldest forgotten text has to be gone."""
        if not self.forgotten:
            return None
        return unstamped(min(at for _, at in self.forgotten)) + self.period

    def is_due(self, now: datetime) -> bool:
        """Whether a forgotten text has to be erased now."""
        return self.due is not None and self.due <= now

    def has_expired(self, now: datetime) -> bool:
        """Whether some text may have expired."""
        return bool(self.expires) and self.expires <= stamp(now)


def held(path: StrPath, ids: Iterable[str]) -> list[HeldGeneration]:
    """Return the older generations that must stay and hold bytes of these documents."""
    wanted = set(ids)
    mapped = _core.Map(os.fspath(path))
    newest = _core.Reader(mapped)
    last, record = newest.commit["generation"], config.config_of(newest, os.fspath(path))
    if keep_of(record, last) == NEWEST and not _has_signature(newest):
        return []
    before = config.first_generation(newest, os.fspath(path)) - 1
    readers = [*(_core.Reader(mapped, number) for number in range(1, last)), newest]
    return [
        HeldGeneration(before + reader.commit["generation"], _reason(reader))
        for reader in readers
        if (reader is not newest or _has_signature(reader)) and _holds(reader, wanted)
    ]


def _has_signature(reader: _core.Reader) -> bool:
    return reader.has("rag.signatures")


def _reason(reader: _core.Reader) -> str:
    return "signed" if _has_signature(reader) else "kept"


def _holds(reader: _core.Reader, ids: set[str]) -> bool:
    """Return whether a segment of a generation has one of some documents, deleted or not."""
    segments = [RowSegment(reader, record, 0) for record in reader.segments]
    return any(segment.records.find(name) is not None for segment in segments for name in ids)
