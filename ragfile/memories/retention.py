"""Forgotten texts: until when their bytes may stay in a file, and their erasure.

A deletion hides a text at once. Its bytes stay in older generations until the file is rewritten with
its live content alone. rag.config records under "memory" which documents wait for that:

    {"retention": 86400, "forgotten": [["m3kd9x2a", "2026-03-01T09:30:00.000000Z"]], "expires": "…"}

`retention` is in seconds, `expires` the first moment at which a text expires. The rewriting replaces
the file with an empty list in the same step, so no text is reported as erased too early. A file that keeps
several generations, none of which has the text, loses only the ones before them.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ragfile import _core
from ragfile.errors import CorruptError
from ragfile.file import config
from ragfile.file.row_segment import RowSegment
from ragfile.file.source import opened_map
from ragfile.memories.moments import DAY, stamp, unstamped
from ragfile.write.old_generations import ALL, drop_older, keep_of, kept_generations

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ragfile.types import StrPath

KEY = "memory"
RETENTION = DAY


class HeldGeneration(NamedTuple):
    """A generation that still has the bytes of a forgotten text, and why it stays: "signed" or "kept"."""

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

    def erased(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Remove documents whose bytes are gone."""
        gone = set(pairs)
        self.forgotten = [pair for pair in self.forgotten if pair not in gone]

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


class KeptGenerations:
    """The generations of a file that have to stay, as its owner or a signature wants it."""

    def __init__(self, path: StrPath) -> None:
        self._path = name = os.fspath(path)
        self._newest = _core.Reader(opened_map(name))
        record = config.config_of(self._newest, name)
        self._keep = keep_of(record, self._newest.commit["generation"])
        self._before = config.first_generation(self._newest, name) - 1
        self._holds: dict[int, bool] = {}  # by segment, which never changes

    @property
    def keeps_everything(self) -> bool:
        """Whether no generation may ever be dropped unasked."""
        return self._keep == ALL

    @property
    def generations(self) -> list[int]:
        """The numbers of the older generations that have to stay, the oldest first."""
        kept = kept_generations(self._newest, self._keep)[:0:-1]
        return [self._before + reader.commit["generation"] for reader in kept]

    @property
    def is_alone(self) -> bool:
        """Whether the newest generation is the only one that has to stay, so that all may be rewritten."""
        return len(kept_generations(self._newest, self._keep)) == 1

    def drop_older(self) -> bool:
        """Drop the generations that need not stay; return whether that was possible."""
        return drop_older(self._path, self._keep)

    def held(self, ids: Iterable[str]) -> list[HeldGeneration]:
        """Return the generations that must stay and have bytes of some documents, the oldest first."""
        wanted = set(ids)
        *older, newest = kept_generations(self._newest, self._keep)[::-1]
        named = [*older, newest] if _has_signature(newest) else older
        return [
            HeldGeneration(self._before + reader.commit["generation"], _reason(reader))
            for reader in named
            if self._has(reader, wanted)
        ]

    def _has(self, reader: _core.Reader, ids: set[str]) -> bool:
        """Return whether a segment of a generation has one of some documents, deleted or not."""
        for record in reader.segments:
            if record.number not in self._holds:
                records = RowSegment(reader, record, 0).records
                self._holds[record.number] = any(records.find(name) is not None for name in ids)
        return any(self._holds[record.number] for record in reader.segments)


def _has_signature(reader: _core.Reader) -> bool:
    return reader.has("rag.signatures")


def _reason(reader: _core.Reader) -> str:
    return "signed" if _has_signature(reader) else "kept"
