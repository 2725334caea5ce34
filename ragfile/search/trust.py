"""How current and how trusted a document is, as words from its front matter.

The fields are those of the Open Knowledge Format: `stale_after` is the first day on which a document is
stale, `verified` lists who confirmed it, `status` is draft, stable or deprecated.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile.types import Metadata

FIELDS = ("generated", "verified", "stale_after")
PERSON = "human:"


def trust_words(metadata: Metadata, today: date | None = None) -> list[str]:
    """Return such as ["stale since 2026-09-23", "human-reviewed"]; [] for a document that does not tell."""
    kind = metadata.get("type")
    if not (isinstance(kind, str) and kind and any(name in metadata for name in FIELDS)):
        return []
    return list(_words(metadata, today or datetime.now(UTC).date()))


def _words(metadata: Metadata, today: date) -> Iterator[str]:
    since = _day(metadata.get("stale_after"))
    if since is not None and today >= since:
        yield f"stale since {since}"
    if (status := metadata.get("status")) in ("draft", "deprecated"):
        yield str(status)
    actors = list(_actors(metadata.get("verified")))
    if any(actor.startswith(PERSON) for actor in actors):
        yield "human-reviewed"
    else:
        yield "machine-confirmed" if actors else "unverified"


def _day(value: object) -> date | None:
    """Return the day of a date or a time; None for anything else."""
    try:
        return date.fromisoformat(value[:10]) if isinstance(value, str) else None
    except ValueError:
        return None


def _actors(verified: object) -> Iterator[str]:
    """Yield who confirmed a document; a single event needs no list."""
    events = cast("list[object]", verified if isinstance(verified, list) else [verified])
    for event in events:
        by = cast("dict[str, object]", event).get("by") if isinstance(event, dict) else None
        if isinstance(by, str) and by:
            yield by
