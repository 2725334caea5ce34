"""Turns of a conversation: each is a document of its own, beside fields that help to find it.

    id         "session/000012"
    headers    who spoke; also in the vector
    day        the day in words
    around     the two turns before it

The words of a turn often leave out its subject, which the turns before it name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile.file import filters
from ragfile.memories.moments import day_words, stamp
from ragfile.records import Document

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from ragfile.search.file_rows import FileRows

BEFORE = 2  # turns
AROUND_MOST = 1000  # characters of each
LONGEST_NAME = 512  # bytes of a session


class LoggedTurn(NamedTuple):
    """A turn as the next one sees it."""

    number: int
    text: str


def is_turn(metadata: Mapping[str, Any]) -> bool:
    """Return whether the metadata of a document are those of a turn, and not a document's own."""
    named = all(isinstance(metadata.get(name), str) for name in ("session", "at"))
    return named and type(metadata.get("turn")) is int


def turn_id(session: str, number: int) -> str:
    """Return the id of a turn."""
    return f"{session}/{number:06d}"


def turn_document(
    session: str, who: str, text: str, at: datetime, before: list[LoggedTurn]
) -> Document:
    """Return the document of a turn after others."""
    number = before[-1].number + 1 if before else 1
    near = [one.text for one in before if one.number >= number - BEFORE]
    metadata = {
        "session": session, "turn": number, "headers": who, "at": stamp(at), "day": day_words(at),
    }  # fmt: skip
    if near:
        metadata["around"] = "\n".join(text[:AROUND_MOST] for text in near)
    return Document(turn_id(session, number), text, metadata=metadata)


def without_before(document: Document, before: list[LoggedTurn]) -> Document:
    """Return a stored turn with other turns before it."""
    metadata: dict[str, Any] = {k: v for k, v in document.metadata.items() if k != "around"}
    if before:
        metadata["around"] = "\n".join(one.text[:AROUND_MOST] for one in before)
    return Document(document.id, document.text, document.source, metadata, document.tags)


def last_turns(rows: FileRows, session: str) -> list[LoggedTurn]:
    """Return the last turns of a session in order; ids are in order within a segment."""
    found = [
        turn
        for segment, chosen in zip(rows.segments, _chosen(rows, session), strict=True)
        for turn in _turns(segment.base, chosen, rows)
    ]
    return sorted(set(found))[-BEFORE:]


def _chosen(rows: FileRows, session: str) -> list[np.ndarray]:
    """Return the rows of a session, by segment."""
    mask = rows.passing(filters.compile({"session": session})).mask
    assert mask is not None  # there is a condition
    return [np.flatnonzero(mask[s.base : s.base + s.rows]) for s in rows.segments]


def _turns(base: int, chosen: np.ndarray, rows: FileRows) -> list[LoggedTurn]:
    """Return the last turns of a segment; a long turn has several rows."""
    found: dict[int, LoggedTurn] = {}
    for local in chosen[::-1].tolist():
        turn = stored_turn(rows, base + local)
        if turn is None:
            continue
        found[turn.number] = turn
        if len(found) > BEFORE:
            break
    return list(found.values())


def stored_turn(rows: FileRows, row: int) -> LoggedTurn | None:
    """Return the whole turn that a row belongs to; None for a document of another kind."""
    segment, local = rows.place(row)
    document = segment.document(segment.records.chunk(local).document).read()
    is_one = is_turn(document.metadata)
    return LoggedTurn(document.metadata["turn"], document.text) if is_one else None
