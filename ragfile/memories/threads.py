"""One memory: all statements about one matter, in order, with two clocks.

A memory is a document, and each statement one of its chunks. So a search finds a memory by any of its
wordings, also by a revised one, and all its other statements are in the rows beside it.

Each statement has `at`, its own time, and `since`, when it became true, up to an optional `until`.
A question is asked as of one moment, as known at another. The answer is the newest statement that was
known then and whose period includes the first moment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ragfile.errors import CorruptError
from ragfile.memories.moments import MICROSECOND, day_words, stamp, unstamped
from ragfile.records import Chunk, Document

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ragfile.file.row_segment import RowSegment, StoredDocument

REMEMBERED, REVISED, CORRECTED, REPEATED = "remembered", "revised", "corrected", "repeated"
KINDS = (REMEMBERED, REVISED, CORRECTED, REPEATED)
REPEATS = 8  # of one text with the same times, which add nothing new
CLOCKS = ("at", "since", "until")
FIELDS = (*CLOCKS, "kind", "source")


class Viewpoint(NamedTuple):
    """The moments of a question, as stamps: when it was true, and when it was known ("" is now)."""

    as_of: str
    known_at: str
    now: str


class Statement(NamedTuple):
    """A text with its times; the moments are stamps, "" for an open end."""

    text: str
    at: str
    since: str
    until: str
    kind: str
    source: str

    @classmethod
    def stored(cls, text: str, metadata: dict[str, Any]) -> Statement:
        """Return the statement of a chunk."""
        if metadata.get("kind") not in KINDS:
            return cls(text, "", "", "", "", "")  # the metadata of another document
        values = [metadata.get(name, "") for name in FIELDS]
        is_valid = all(type(value) is str for value in values)
        if not is_valid or (values[3] and not (values[0] and values[1])):
            raise CorruptError("a memory has no valid times", section="rag.meta")
        return cls(text, *values)

    def record(self) -> dict[str, str]:
        """Return the metadata of the chunk."""
        return {name: value for name, value in self._asdict().items() if value and name != "text"}


@dataclass(slots=True)
class MemoryThread:
    """A memory as a writer changes it."""

    id: str
    about: str
    tags: tuple[str, ...]
    expires: str = ""  # a stamp, "" for never
    statements: list[Statement] = field(default_factory=list[Statement])

    @classmethod
    def stored(cls, old: StoredDocument) -> MemoryThread:
        """Return a memory of a file."""
        fields = old.fields
        metadata = fields.get("metadata", {})
        found = StoredStatements(old.segment, old.rows).whole()
        about, expires = metadata.get("about", ""), metadata.get("expires", "")
        return cls(old.id, about, tuple(fields.get("tags", ())), expires, found)

    @staticmethod
    def is_stored(old: StoredDocument) -> bool:
        """Return whether a document of a file is a memory."""
        said = StoredStatements(old.segment, old.rows)
        return len(said) > 0 and bool(said[0].kind)

    def last(self, at: str) -> Statement:
        """Return the last statement up to a stamp, or the first of all."""
        before = [statement for statement in self.statements if statement.at <= at]
        return before[-1] if before else self.statements[0]

    def current(self, at: str) -> Statement:
        """Return the statement that holds at a stamp as known then, or the last one."""
        for one in reversed(self.statements):
            if one.at <= at and one.since <= at and not (one.until and one.until < at):
                return one
        return self.last(at)

    def end(self, one: Statement, at: str) -> str:
        """Return the end of a statement as known at a stamp, the last moment at which it holds."""
        later = (other for other in self.statements if one.at <= other.at <= at)
        begins = [_before(other.since) for other in later if other.since > max(one.since, at)]
        return min([one.until, *begins] if one.until else begins, default="")

    def wordings(self, at: str) -> list[Statement]:
        """Return the statement that holds at a stamp, with its repeats."""
        since, found = self.current(at).since, list[Statement]()
        for one in self.statements:
            if one.at <= at and one.since == since:
                if one.kind != REPEATED:
                    found.clear()
                found.append(one)
        return found

    def say(self, said: Statement) -> None:
        """Add a statement; of many repeats in the same words and letters, the last ones are kept."""
        alike = [one for one in self.statements if said.kind == REPEATED and one._replace(
            at=said.at) == said]  # fmt: skip
        if len(alike) >= REPEATS:
            self.statements.remove(alike[0])
        self.statements.append(said)
        self.statements.sort(key=lambda statement: statement.at)

    def parts(self) -> tuple[Document, list[Chunk]]:
        """Return the document and its chunks."""
        texts = [statement.text for statement in self.statements]
        named = {"about": self.about, "headers": self.about, "expires": self.expires}
        metadata = {name: value for name, value in named.items() if value}
        document = Document(self.id, "\n".join(texts), "", metadata, self.tags)
        chunks: list[Chunk] = []
        start = 0
        for index, statement in enumerate(self.statements):
            own = {**statement.record(), "day": day_words(unstamped(statement.since))}
            end = start + len(statement.text)
            chunks.append(Chunk(self.id, index, statement.text, self.tags, own, start, end))
            start = end + 1
        return document, chunks


def _before(begin: str) -> str:
    return stamp(unstamped(begin) - MICROSECOND)


class StoredStatements:
    """The statements of a memory in a file, in the order of `at`; each is read when it is asked for."""

    __slots__ = ("_rows", "_segment")

    def __init__(self, segment: RowSegment, rows: Sequence[int]) -> None:
        self._segment, self._rows = segment, rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Statement:
        """Return a statement without its text."""
        chunk = self._segment.records.chunk(self._rows[index])
        own = self._segment.fields(chunk.meta_at, chunk.meta_size)
        return Statement.stored("", own.get("metadata", {}))

    def text(self, index: int) -> str:
        """Return the text of a statement."""
        return self._segment.passage(self._rows[index])[0]

    def whole(self) -> list[Statement]:
        """Return all statements with their texts."""
        return [self[i]._replace(text=self.text(i)) for i in range(len(self))]


class Holding(NamedTuple):
    """The statement that holds from a viewpoint, its number, and when it stopped to hold ("" if not yet)."""

    statement: Statement
    number: int
    end: str


def holding(said: StoredStatements, view: Viewpoint) -> Holding | None:
    """Return what holds from a viewpoint.

    Without a moment, it is the clock's, or that of the last statement if a writer's clock was ahead.
    A statement about a past period ends without a trace, and so does a repeat. Another one that ends
    later than its own time is the last word: after its end, nothing is known.
    """
    when, later = view.as_of, list[str]()  # begins of later statements
    for number in reversed(range(len(said))):
        one = said[number]
        if not one.kind:
            return None  # a chunk of another document
        when = when or max(view.now, one.at)
        if view.known_at and one.at > view.known_at:
            continue
        if one.since <= when:
            if not one.until or when <= one.until:
                ends = [begin for begin in (*later, one.until) if begin > one.since]
                return Holding(one, number, min(ends) if ends else "")
            if one.until > one.at and one.kind != REPEATED:
                return None
            continue
        later.append(one.since)
    return None
