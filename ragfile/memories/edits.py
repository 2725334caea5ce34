"""The changes of memories that one commit makes: remember, revise, log a turn, forget.

A commit writes each document once. So the changes are gathered, and `finish` hands them to the editor.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ragfile.errors import ConflictError
from ragfile.file import filters
from ragfile.ingest.chunker import split
from ragfile.memories import turns
from ragfile.memories.moments import moment, stamp, unstamped
from ragfile.memories.retention import Retention
from ragfile.memories.same_words import RULE, documents_saying, words_of
from ragfile.memories.threads import (
    CORRECTED,
    REMEMBERED,
    REPEATED,
    REVISED,
    MemoryThread,
    Statement,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, timedelta

    from ragfile.memories.moments import Moment
    from ragfile.memories.turns import LoggedTurn
    from ragfile.records import Document
    from ragfile.write.editor import Editor

LONGEST = 20_000  # characters of a statement
ID_BYTES = 5


@dataclass(frozen=True, slots=True)
class Told:
    """A statement as a caller gives it."""

    text: str
    at: datetime
    since: Moment | None = None
    until: Moment | None = None
    source: str = ""

    def statement(self, kind: str, since: str = "") -> Statement:
        """Return the statement to store; `since` is its default."""
        _check_text(self.text)
        at = stamp(self.at)
        begin = stamp(moment(self.since, "valid_from")) if self.since is not None else since or at
        end = "" if self.until is None else stamp(moment(self.until, "valid_until", is_end=True))
        if end and end <= begin:
            raise ValueError(f"valid_until is {end}, not after valid_from, {begin}")
        return Statement(self.text, at, begin, end, kind, self.source)


@dataclass(frozen=True, slots=True)
class Remembered:
    """The result of storing a statement.

    Attributes:
        id: The memory that has it.
        joined: Why it joined a memory that existed: the rule, "same_as", or "" for a new memory.
        kind: "remembered", "revised", "corrected" or "repeated".
    """

    id: str
    joined: str = ""
    kind: str = REMEMBERED


class MemoryEdit:
    """The changes of one commit."""

    def __init__(self, writer: Editor) -> None:
        self._writer = writer
        self._threads: dict[str, MemoryThread] = {}
        self._turns: dict[str, Document] = {}
        self._said: dict[tuple[str, tuple[str, ...]], str] = {}
        self._last: dict[str, list[LoggedTurn]] = {}
        self.retention = Retention(writer.record)

    # ----------------------------------------------------------------------------------- stating --

    def remember(
        self, told: Told, about: str, tags: tuple[str, ...], ttl: timedelta | None,
        same_as: str | None,
    ) -> Remembered:  # fmt: skip
        """Store a statement, or join it to the memory that it repeats."""
        _check_text(told.text)
        _check_size(about, "about")
        words = words_of(told.text)
        known = same_as or self._saying(about, words)
        if known is not None:
            return self._join(known, told, words, "same_as" if same_as else RULE, ttl)
        thread = MemoryThread(self._new_id(about, words, told), about, tags)
        thread.statements.append(told.statement(REMEMBERED))
        self._expire(thread, told.at, ttl)
        self._keep(thread, words)
        return Remembered(thread.id)

    def revise(
        self, name: str, told: Told, is_correction: bool, ttl: timedelta | None
    ) -> Remembered:
        """Store the next statement of a memory."""
        thread = self._thread(name)
        before = thread.last(stamp(told.at))
        kind, since = (CORRECTED, before.since) if is_correction else (REVISED, "")
        self._say(thread, told.statement(kind, since))
        self._expire(thread, told.at, ttl)
        return Remembered(name, kind=kind)

    def _join(
        self, name: str, told: Told, words: tuple[str, ...], rule: str, ttl: timedelta | None
    ) -> Remembered:  # fmt: skip
        """Add a repeat, which holds as long as the repeated statement; or a return to an older one."""
        thread = self._thread(name)
        at = stamp(told.at)
        current = thread.current(at)
        if rule == RULE and words not in (words_of(one.text) for one in thread.wordings(at)):
            self._prolong(thread, told.at, ttl)
            self._say(thread, told.statement(REVISED))
            return Remembered(name, rule, REVISED)
        said = told.statement(REPEATED, current.since)
        if rule == RULE and self._is_below(name) and not (told.since or told.until):
            return Remembered(name, rule, REPEATED)  # a copy would hide later statements below
        self._prolong(thread, told.at, ttl)
        self._say(thread, said._replace(until=said.until or thread.end(current, at)))
        return Remembered(name, rule, REPEATED)

    def _is_below(self, name: str) -> bool:
        """Return whether only a layer below has a memory."""
        return name not in self._threads and self._writer.archive.find(name) is None

    def _say(self, thread: MemoryThread, said: Statement) -> None:
        thread.say(said)
        self._keep(thread, words_of(said.text))

    def _keep(self, thread: MemoryThread, words: tuple[str, ...]) -> None:
        self._threads[thread.id] = thread
        self._said[thread.about, words] = thread.id

    def _expire(self, thread: MemoryThread, at: datetime, ttl: timedelta | None) -> None:
        """Set when a memory expires; a statement without `ttl` leaves it as it is."""
        if ttl is None:
            return
        thread.expires = _later(at, ttl)
        self.retention.expires = min(thread.expires, self.retention.expires or thread.expires)

    def _prolong(self, thread: MemoryThread, at: datetime, ttl: timedelta | None) -> None:
        """Let a memory live as long as the longest of its repeats."""
        if thread.expires and ttl is None:
            thread.expires = ""
        elif thread.expires and ttl is not None:
            thread.expires = max(thread.expires, _later(at, ttl))

    def _thread(self, name: str) -> MemoryThread:
        if name in self._threads:
            return self._threads[name]
        self._refuse_staged(name)
        old = self._writer.take(name)
        if old is None:
            raise KeyError(f"no memory {name!r:.120}: `recall` shows the ids")
        if turns.is_turn(old.fields.get("metadata", {})):
            raise ValueError(f"{name!r:.120} is a turn of a conversation, which is never revised")
        self._refuse_document(name)
        return MemoryThread.stored(old)

    def _saying(self, about: str, words: tuple[str, ...]) -> str | None:
        """Return the memory about something with a statement of the same words."""
        if (about, words) in self._said or not words:
            return self._said.get((about, words))
        found = (name for name in documents_saying(self._writer.view, about, words))
        return next((n for n in found if self._is_about(n, about)), None)

    def _is_about(self, name: str, about: str) -> bool:
        old = self._writer.take(name)
        return old is not None and old.fields.get("metadata", {}).get("about", "") == about

    def _new_id(self, about: str, words: tuple[str, ...], told: Told) -> str:
        """Return an id by the words, so that two writers of the same statement meet."""
        parts = [about, *(words or (told.text,))]
        digest = hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
        for size in range(ID_BYTES, len(digest) + 1, ID_BYTES):
            name = "m" + base64.b32encode(digest[:size]).decode().lower()
            self._refuse_staged(name)
            if name not in self._threads and self._writer.take(name) is None:
                return name
        raise ValueError(f"no id is left for {told.text!r:.80}")

    def _refuse_staged(self, name: str) -> None:
        """Refuse what another change of the same commit has written; it is tried again after it."""
        if name in self._writer.draft.staging.documents:
            raise ConflictError(f"{name} was changed at the same time: try again")

    # ------------------------------------------------------------------------------------- turns --

    def log_turn(self, session: str, who: str, text: str, at: datetime) -> str:
        """Add the next turn of a session, and return its id."""
        _check_text(text, most=0)
        _check_name(session, "session")
        _check_size(who, "who")
        if session not in self._last:
            self._last[session] = turns.last_turns(self._writer.view, session)
        before = self._last[session]
        document = turns.turn_document(session, who, text, at, before)
        self._refuse_staged(document.id)
        self._turns[document.id] = document
        number = document.metadata["turn"]
        self._last[session] = [*before, turns.LoggedTurn(number, text)][-turns.BEFORE :]
        return document.id

    # -------------------------------------------------------------------------------- forgetting --

    def forget(self, names: Iterable[str], at: datetime) -> list[str]:
        """Delete memories and turns; the turns after a forgotten one lose it from beside them."""
        wanted = list(dict.fromkeys(names))
        for name in wanted:
            self._refuse_staged(name)
            if name in self._threads or name in self._turns:
                raise ConflictError(f"{name} was changed in the same step: forget it in the next")
            self._refuse_document(name)
        near = self._turns_after(wanted)
        found = self._writer.delete(wanted)
        for document in near:
            self._turns[document.id] = document
        erased = [*found, *(document.id for document in near)]
        here = (name for name in erased if self._writer.archive.find(name) is not None)
        self.retention.note(here, stamp(at))
        return found

    def _refuse_document(self, name: str) -> None:
        """Refuse a document that is neither a memory nor a turn."""
        old = self._writer.take(name)
        if old is not None and not self._is_own(name):
            raise ValueError(
                f"{name!r:.120} is a document, not a memory: `ragfile delete` removes it"
            )

    def _turns_after(self, wanted: list[str]) -> list[Document]:
        """Return the remaining turns that have a forgotten one beside them, without it."""
        gone, names = set(wanted), dict[str, None]()
        for name in wanted:
            session, _, number = name.rpartition("/")
            if session and number.isdecimal():
                ids = (turns.turn_id(session, int(number) + i) for i in range(1, turns.BEFORE + 1))
                names |= dict.fromkeys(one for one in ids if one not in gone)
        return [d for name in names if (d := self._without(name, gone)) is not None]

    def _without(self, name: str, gone: set[str]) -> Document | None:
        old = self._writer.take(name)
        if old is None or "around" not in old.fields.get("metadata", {}):
            return None
        document = old.read()
        session, number = document.metadata["session"], document.metadata["turn"]
        ids = [turns.turn_id(session, number - i) for i in range(turns.BEFORE, 0, -1)]
        left = [self._writer.take(one) for one in ids if one not in gone]
        before = [turns.LoggedTurn(0, one.read().text) for one in left if one is not None]
        return turns.without_before(document, before)

    def about(self, about: str) -> list[str]:
        """Return the ids of all memories about something."""
        return [name for name in self._ids({"about": about}) if self._is_own(name)]

    def session(self, session: str) -> list[str]:
        """Return the ids of all turns of a session."""
        return [name for name in self._ids({"session": session}) if self._is_own(name)]

    def _is_own(self, name: str) -> bool:
        """Return whether a document of the file is a memory or a turn."""
        old = self._writer.view.find(name)
        return old is not None and (
            turns.is_turn(old.fields.get("metadata", {})) or MemoryThread.is_stored(old)
        )

    def _ids(self, where: dict[str, object]) -> list[str]:
        rows = self._writer.view
        mask = rows.passing(filters.compile(where)).mask
        assert mask is not None  # there is a condition
        found = (rows.place(row) for row in np.flatnonzero(mask).tolist())
        return list(
            dict.fromkeys(s.document(s.records.chunk(local).document).id for s, local in found)
        )

    def forget_expired(self, now: datetime) -> list[str]:
        """Delete expired texts, and note when the next one expires."""
        stamps = self._expiries()
        gone = {name: at for name, at in stamps.items() if at <= stamp(now)}
        for name, at in gone.items():
            self.forget([name], unstamped(at))
        left = [at for name, at in stamps.items() if name not in gone]
        self.retention.expires = min(left, default="")
        return list(gone)

    def _expiries(self) -> dict[str, str]:
        names = filter(self._is_own, self._ids({"expires": {"$exists": True}}))
        stored = (self._writer.archive.find(name) for name in names)
        return {old.id: old.fields["metadata"]["expires"] for old in stored if old is not None}

    # ---------------------------------------------------------------------------------- the commit --

    def finish(self) -> None:
        """Hand all changes to the editor."""
        pairs = [thread.parts() for thread in self._threads.values()]
        pairs += [(turn, split(turn, self._writer.policy)) for turn in self._turns.values()]
        self._writer.upsert_cut(pairs)
        self._writer.record.update(self.retention.record())


def _later(at: datetime, ttl: timedelta) -> str:
    try:
        return stamp(at + ttl)
    except OverflowError:
        raise ValueError(f"ttl={ttl} ends after the year 9999") from None


def _check_text(text: str, most: int = LONGEST) -> None:
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # a caller's value
        raise TypeError(f"the text is a str, not {type(text).__name__}")
    if not text.strip():
        raise ValueError("the text is empty")
    if most and len(text) > most:
        raise ValueError(
            f"a memory has {most:,} characters at most, not {len(text):,}: add longer texts as "
            "documents, with `ragfile add`"
        )


def _check_name(name: str, what: str) -> None:
    if not name.strip():
        raise ValueError(f"the {what} needs a name of at most {turns.LONGEST_NAME} bytes")
    _check_size(name, what)


def _check_size(name: str, what: str) -> None:
    """Refuse a name that is too long, or that the file's configuration could not hold."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise ValueError(f"{what} is {name!r:.80}, which is not valid Unicode") from None
    if size > turns.LONGEST_NAME:
        raise ValueError(f"{what} has {size:,} bytes; the limit is {turns.LONGEST_NAME}")
