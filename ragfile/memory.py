"""Memory for agents and programs: statements with two clocks, and conversations, in one file.

    memory = Memory("anna.ragfile")
    home = memory.remember("Anna lives in Paris.", about="Anna", at="2026-01-10")
    memory.revise(home.id, "Anna lives in Rome.", at="2026-03-02")
    memory.recall("Where does Anna live?")[0].text                         # 'Anna lives in Rome.'
    memory.recall("Where does Anna live?", as_of="2026-02-01")[0].text     # 'Anna lives in Paris.'

No model is needed besides the embedded one. Any number of processes can write at once: writers of one
process share commits, and those of several processes wait for each other.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from ragfile.embedding.protocol import Embedder
from ragfile.file import filters
from ragfile.ground import system
from ragfile.ground.lock_patience import DOOR_WAIT, seconds_to_wait
from ragfile.ground.urls import is_remote
from ragfile.ground.whole_numbers import whole
from ragfile.ingest.analysis import Analysis
from ragfile.knowledge_base import KnowledgeBase
from ragfile.memories.edits import MemoryEdit, Remembered, Told
from ragfile.memories.layered_file import LayeredFile
from ragfile.memories.moments import Duration, Moment, duration, moment, stamp, unstamped
from ragfile.memories.recollection import MemoryChange, Recalled, Recollection, changes_of
from ragfile.memories.retention import KEY, RETENTION, HeldGeneration, KeptGenerations, Retention
from ragfile.memories.threads import KINDS, MemoryThread, Viewpoint
from ragfile.types import StrPath, Tags
from ragfile.write.compaction import compact
from ragfile.write.group_commit import GroupCommits
from ragfile.write.new_layer import create_layer
from ragfile.write.open_writer import EditOptions
from ragfile.write.writer import create

if TYPE_CHECKING:
    from ragfile.file.row_segment import StoredDocument
    from ragfile.write.editor import Editor

__all__ = [
    "Forgotten", "HeldGeneration", "Memory", "MemoryBatch", "MemoryChange", "Moment", "Recalled",
    "Remembered", "StatementVersion",
]  # fmt: skip

T_co = TypeVar("T_co", covariant=True)
# The text counts twice, the speaker and the day as much, the turns before it half of that.
TURNS = Analysis(fields=(("text", 2), ("headers", 2), ("day", 2), ("around", 1)))


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The result of forgetting texts.

    Attributes:
        ids: The memories and turns that are no longer shown.
        is_erased: Whether their bytes are gone from the file, in every generation, and from the
            layers below it.
        due: When their bytes are due, if they are not erased yet: the next change then erases them.
            None if generations hold them, or only layers below do.
        held: Generations that still hold the bytes and have to stay, with the reason.
        below: Layers below that still hold one of the texts. Forget it there, too.
    """

    ids: list[str]
    is_erased: bool
    due: datetime | None = None
    held: tuple[HeldGeneration, ...] = ()
    below: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON."""
        due = {} if self.due is None else {"due": stamp(self.due)}
        names = [one._asdict() for one in self.held]
        below = {"below": list(self.below)} if self.below else {}
        return {"ids": self.ids, "is_erased": self.is_erased, **due, "held": names, **below}


@dataclass(frozen=True, slots=True)
class StatementVersion:
    """One statement of a memory's history.

    Attributes:
        text: The statement.
        kind: "remembered", "revised", "corrected" or "repeated".
        at: The time of the statement.
        since: Since when it was true.
        until: The end that was given with it.
        source: Where it came from.
    """

    text: str
    kind: str
    at: datetime
    since: datetime
    until: datetime | None
    source: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that have a value, as JSON."""
        clocks = {"at": self.at, "since": self.since, "until": self.until}
        times = {name: stamp(value) for name, value in clocks.items() if value is not None}
        source = {"source": self.source} if self.source else {}
        return {"text": self.text, "kind": self.kind, **times, **source}


class MemoryBatch:
    """Changes that become one commit; `Memory.batch()` returns it, `Memory` describes the methods."""

    def __init__(self, changes: MemoryEdit, now: datetime) -> None:
        self._edit, self._now = changes, now

    def remember(
        self, text: str, *, about: str = "", tags: Tags = (), source: str = "",
        at: Moment | None = None, valid_from: Moment | None = None,
        valid_until: Moment | None = None, ttl: Duration | None = None, same_as: str | None = None,
    ) -> Remembered:  # fmt: skip
        """Store a statement."""
        told = Told(text, _said(at, self._now), valid_from, valid_until, source)
        return self._edit.remember(told, about, _labels(tags), _life(ttl), same_as)

    def revise(
        self, id: str, text: str, *, correction: bool = False, source: str = "",
        at: Moment | None = None, valid_from: Moment | None = None,
        valid_until: Moment | None = None, ttl: Duration | None = None,
    ) -> Remembered:  # fmt: skip
        """Store what holds from now on."""
        told = Told(text, _said(at, self._now), valid_from, valid_until, source)
        return self._edit.revise(id, told, correction, _life(ttl))

    def log_turn(self, session: str, who: str, text: str, at: Moment | None = None) -> str:
        """Store a turn of a conversation."""
        return self._edit.log_turn(session, who, text, _said(at, self._now))


class Memory:
    """The memories in a file, which is made if it does not exist.

    Use it in a `with` block, or call `close()`. Threads can share it.

    Attributes:
        path: The file.
    """

    def __init__(
        self, path: StrPath, *, embedder: str | Embedder | None = None,
        retention: Duration | None = None, wait: float | None = None,
        clock: Callable[[], datetime] | None = None,
        over: Sequence[StrPath | KnowledgeBase] = (), create: bool = True,
    ) -> None:  # fmt: skip
        """Open a file of memories.

        Args:
            path: The file. Any RAGFile will do; one that is made here also indexes who spoke, on which
                day, and the turns before each turn.
            embedder: The model of a new file, as in `ragfile.build`. Defaults to the embedded one.
            retention: How long the bytes of forgotten and expired texts may stay in the file, such as
                "30d". Recorded in the file. Defaults to the file's own, and to a day for a new file.
            wait: Seconds to wait for other writers. Defaults to `RAGFILE_WAIT`, else 60.
            clock: Returns the time, for tests and imports. Defaults to the system's clock.
            over: Layers below the file, the lowest first, such as a memory that a team shares. They
                are recalled, too, and never changed: the file takes every statement.
            create: Whether a file that does not exist is made, with the settings of the lowest layer
                if there is one.

        Raises:
            FileNotFoundError: There is no such file, and `create` is false.
            ModelError: The file and the layers below it have different models.
            ValueError: The path is a URL, or `retention` is no duration.
        """
        if not isinstance(path, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]  # a caller's value
            raise TypeError(f"a memory is one file, not {type(path).__name__}")
        if is_remote(os.fspath(path)):
            raise ValueError(f"{path}: memories are written, and a URL can only be read")
        self.path, self._embedder = os.fspath(path), embedder
        self._wait, self._clock = wait, clock or _system_clock
        self._file = LayeredFile(self.path, over, embedder)
        self._commits = GroupCommits(self._file.edit)
        period = None if retention is None else duration(retention, "retention")
        if not os.path.exists(self.path):
            self._make(period or RETENTION, create)
        if period is not None and period.total_seconds() != self.retention.seconds:
            self._run(lambda changes: setattr(changes.retention, "seconds", period.total_seconds()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Memory {self.path}>"

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _make(self, period: timedelta, is_allowed: bool) -> None:
        """Make the file, unless another process is faster."""
        if not is_allowed:
            raise FileNotFoundError(errno.ENOENT, "no such memory", self.path)
        if base := self._file.lowest:
            create_layer(self.path, base, {KEY: {"retention": period.total_seconds()}})
        else:
            _make(self.path, self._embedder, period.total_seconds())

    @property
    def knowledge(self) -> KnowledgeBase:
        """The open file at its newest commit, over its layers, for other searches."""
        return self._file.opened()

    @property
    def retention(self) -> Retention:
        """The file's record of forgotten texts."""
        return Retention(self._file.own_config())

    # ----------------------------------------------------------------------------------- writing --

    def remember(
        self, text: str, *, about: str = "", tags: Tags = (), source: str = "",
        at: Moment | None = None, valid_from: Moment | None = None,
        valid_until: Moment | None = None, ttl: Duration | None = None, same_as: str | None = None,
    ) -> Remembered:  # fmt: skip
        """Store a statement, such as "Anna lives in Paris.".

        A statement with the same words in the same order as another about the same joins that memory:
        a repeat of its valid statement only adds a wording; a repeat of an old one makes
        that valid again. Case, punctuation, articles and introductions ("remember that …") do not count.

        Args:
            text: The statement, at most 20,000 characters.
            about: The person or thing that it is about; recall can be narrowed to it.
            tags: Labels.
            source: Where it comes from.
            at: The time of the statement. Defaults to now. A date is a day in UTC; a time needs a zone.
            valid_from: Since when it is true. Defaults to `at`.
            valid_until: Until when it is true; a date is included. Defaults to no end.
            ttl: How long to remember it, such as "30d" or a timedelta. Then it is forgotten.
            same_as: The id of a memory that it repeats in other words.

        Returns:
            The id, and the rule by which it joined another memory, if it did.

        Raises:
            ValueError: The text is empty or too long, or a time is malformed or has no zone.
            KeyError: There is no memory `same_as`.
            LockedError: Another writer still holds the file.
        """
        told = Told(text, _said(at, self._clock()), valid_from, valid_until, source)
        life, labels = _life(ttl), _labels(tags)
        return self._run(lambda changes: changes.remember(told, about, labels, life, same_as))

    def revise(
        self, id: str, text: str, *, correction: bool = False, source: str = "",
        at: Moment | None = None, valid_from: Moment | None = None,
        valid_until: Moment | None = None, ttl: Duration | None = None,
    ) -> Remembered:  # fmt: skip
        """Replace a memory's last statement, which stays in its history, by one that holds from now on.

        Args:
            id: The memory.
            text: The new statement.
            correction: The last statement was never true: the new one takes over its `valid_from`.
            source: Where it comes from.
            at: The time of the statement. Defaults to now.
            valid_from: Since when it is true. Defaults to `at`.
            valid_until: Until when it is true. Defaults to no end.
            ttl: How long to remember the memory. Defaults to the earlier setting.

        Raises:
            KeyError: There is no such memory.
            ValueError: As for `remember`, or the id is that of a turn.
        """
        told = Told(text, _said(at, self._clock()), valid_from, valid_until, source)
        life = _life(ttl)
        return self._run(lambda changes: changes.revise(id, told, correction, life))

    def log_turn(self, session: str, who: str, text: str, at: Moment | None = None) -> str:
        """Store the next turn of a conversation, and return its id.

        It is found by its words, by who spoke, by its day, and by the two turns before it.

        Args:
            session: The name of the conversation.
            who: Who spoke.
            text: The turn's text, of any length.
            at: When. Defaults to now.
        """
        when = _said(at, self._clock())
        return self._run(lambda changes: changes.log_turn(session, who, text, when))

    @contextmanager
    def batch(self) -> Generator[MemoryBatch]:
        """Gather changes into one commit, which is made when the block ends without an error.

        with memory.batch() as day:
            day.log_turn("monday", "Anna", "I moved to Rome.")
            day.remember("Anna lives in Rome.", about="Anna")
        """
        wait = seconds_to_wait(self._wait, DOOR_WAIT)
        with self._file.edit(self.path, wait=wait, **self._options()) as writer:
            changes = MemoryEdit(writer)
            yield MemoryBatch(changes, self._clock())
            changes.finish()
        self._sweep(changes.retention)

    def forget(
        self, ids: str | Iterable[str] = (), *, about: str | None = None, session: str | None = None,
        erase: bool = False, end_kept: bool = False,
    ) -> Forgotten:  # fmt: skip
        """Hide memories and turns at once, and erase their bytes after the file's retention.

        Without ids, it hides expired memories and erases bytes whose retention has ended. Every
        write does that, too. Open readers keep the old file until they refresh; copies of the file are
        beyond its reach.

        Args:
            ids: Ids of memories or turns, or one of them.
            about: Forget all memories about this.
            session: Forget all turns of this conversation.
            erase: Erase the bytes now, whatever the retention. The file is rewritten.
            end_kept: End signed and kept generations that still hold the texts, which a rewriting
                drops. Without it, they stay, and the result names them.

        Returns:
            The hidden ids, and whether, or when, the bytes are erased.

        Raises:
            KeyError: There is no memory or turn with one of the ids.
        """
        wanted = [ids] if isinstance(ids, str) else list(ids)
        now = self._clock()
        gone, retention = self._change(
            lambda changes: _forget(changes, wanted, about, session, now)
        )
        if retention.forgotten and (erase or end_kept or retention.is_due(now)):
            return self._erase(gone, retention, end_kept)
        below = self._file.holding(gone)
        is_erased = not (retention.forgotten or below)
        return Forgotten(gone, is_erased, retention.due, below=below)

    def _erase(self, gone: list[str], retention: Retention, end_kept: bool) -> Forgotten:
        """Rewrite the file without its past, unless generations must stay."""
        past, below = KeptGenerations(self.path), self._file.holding(gone)
        stays = [] if end_kept else past.held(name for name, _ in retention.forgotten)
        if stays:
            return Forgotten(gone, False, None, tuple(stays), below)
        if end_kept or past.is_alone:
            compact(self.path, wait=seconds_to_wait(self._wait, DOOR_WAIT))
        elif past.drop_older():
            self._change(lambda changes: changes.retention.erased(retention.forgotten))
        else:
            held = tuple(HeldGeneration(one, "kept") for one in past.generations)
            return Forgotten(gone, False, None, held, below)
        return Forgotten(gone, not below, below=below)

    def _run(self, change: Callable[[MemoryEdit], T_co]) -> T_co:
        """Carry out a change in a commit that other threads share, then forget and erase whatever is due."""
        result, retention = self._change(change)
        self._sweep(retention)
        return result

    def _change(self, change: Callable[[MemoryEdit], T_co]) -> tuple[T_co, Retention]:
        def carry_out(writer: Editor) -> tuple[T_co, Retention]:
            changes = MemoryEdit(writer)
            result = change(changes)
            changes.finish()
            return result, changes.retention

        return self._commits.run(self.path, carry_out, wait=self._wait, **self._options())

    def _options(self) -> EditOptions:
        return {} if self._embedder is None else {"embedder": self._embedder}

    def _sweep(self, retention: Retention) -> None:
        """Forget expired memories, and erase the bytes that are due, unless generations must stay."""
        now = self._clock()
        if retention.has_expired(now):
            _, retention = self._change(lambda changes: changes.forget_expired(now))
        if retention.is_due(now) and not KeptGenerations(self.path).keeps_everything:
            self._erase([], retention, end_kept=False)

    # ----------------------------------------------------------------------------------- reading --

    def recall(
        self, question: str, k: int = 5, *, as_of: Moment | None = None,
        known_at: Moment | None = None, about: str | None = None, at: Moment | None = None,
    ) -> list[Recalled]:  # fmt: skip
        """Return the memories and turns that fit a question best, each as it holds.

        All statements that were not forgotten are searched, and each hit is followed to the statement
        that was valid. If the question names days ("in May 2023", "last week"), statements of those
        days rank higher. Newer memories are not preferred.

        Args:
            question: The question.
            k: Number of results.
            as_of: Return the statements that were true then, instead of now. A date is the end of its day in UTC.
            known_at: Ignore later statements.
            about: Keep memories about this only.
            at: The moment of the question, from which "last week" is counted. Defaults to now.

        Raises:
            ValueError: A time is malformed, or has no zone.
        """
        view = Viewpoint(
            _looked(as_of, "as_of"), _looked(known_at, "known_at"),
            stamp(_said(at, self._clock())),
        )  # fmt: skip
        k = whole(k, "k", 1)
        rf = self.knowledge.at_commit()  # another thread may refresh it meanwhile
        return Recollection(rf, question, view, about or "").best(k) if len(rf) else []

    def history(self, id: str) -> list[StatementVersion]:
        """Return all statements of a memory, in the order of their times.

        Raises:
            KeyError: There is no such memory.
        """
        old = self.knowledge.rows.find(id)
        if old is None or not MemoryThread.is_stored(old) or self._is_expired(old):
            raise KeyError(f"no memory {id!r:.120}: `recall` shows the ids")
        return [
            StatementVersion(
                one.text, one.kind, unstamped(one.at), unstamped(one.since),
                unstamped(one.until) if one.until else None, one.source,
            )
            for one in MemoryThread.stored(old).statements
        ]  # fmt: skip

    def _is_expired(self, old: StoredDocument) -> bool:
        expires = MemoryThread.stored(old).expires
        return bool(expires) and expires <= stamp(self._clock())

    def changes(
        self, since: Moment, *, until: Moment | None = None, about: str | None = None
    ) -> list[MemoryChange]:
        """Return the statements that were remembered, revised or corrected in a period, in order; no repeats.

        Args:
            since: The first moment.
            until: The last one. Defaults to no end.
            about: Keep memories about this only.
        """
        first = stamp(moment(since, "since"))
        last = _looked(until, "until") or stamp(datetime.max.replace(tzinfo=UTC))
        now = stamp(self._clock())
        where: dict[str, Any] = {"kind": {"$in": list(KINDS)}, "at": {"$gte": first, "$lte": last}}
        found = self._threads(where | ({"about": about} if about else {}))
        living = (one for one in found if not one.expires or one.expires > now)
        every = [change for one in living for change in changes_of(one, first, last)]
        return sorted(every, key=lambda change: (change.at, change.id))

    def _threads(self, where: dict[str, Any]) -> list[MemoryThread]:
        """Return the memories of which a statement passes a filter."""
        rows = self.knowledge.rows
        mask = rows.passing(filters.compile(where)).mask
        assert mask is not None  # there is a condition
        found: dict[tuple[int, int], StoredDocument] = {}
        for row in np.flatnonzero(mask).tolist():
            segment, local = rows.place(row)
            number = segment.records.chunk(local).document
            found.setdefault((segment.base, number), segment.document(number))
        return [MemoryThread.stored(old) for old in found.values()]


def _forget(
    changes: MemoryEdit, ids: list[str], about: str | None, session: str | None, now: datetime
) -> list[str]:
    """Delete named and expired memories; KeyError for an id without a memory or turn."""
    expired = changes.forget_expired(now)
    named = [*ids, *(changes.about(about) if about else ())]
    named += changes.session(session) if session else []
    wanted = [name for name in dict.fromkeys(named) if name not in expired]
    gone = changes.forget(wanted, now)
    if missing := set(wanted) - set(gone):
        raise KeyError(f"no memory or turn {min(missing)!r:.120}: nothing was forgotten")
    return gone if wanted else expired


def _make(path: str, embedder: str | Embedder | None, retention: float) -> None:
    """Make an empty file, unless another process is faster."""
    folder, name = os.path.split(os.path.abspath(path))
    made = system.unused_path(folder, f".{name}.", ".partial")
    try:
        with create(
            made, embedder="default" if embedder is None else embedder, analysis=TURNS,
            config={KEY: {"retention": retention}},
        ):  # fmt: skip
            pass
        system.link_new(made, path)
    finally:
        if os.path.exists(made):
            system.remove(made)


def _system_clock() -> datetime:
    return datetime.now(UTC)


def _said(at: Moment | None, now: datetime) -> datetime:
    """Return the time of a statement, with its zone."""
    return now if at is None else moment(at, "at")


def _looked(value: Moment | None, name: str) -> str:
    """Return the stamp of a moment to look from, "" without one."""
    return "" if value is None else stamp(moment(value, name, is_end=True))


def _labels(tags: Tags) -> tuple[str, ...]:
    if isinstance(tags, str):
        raise TypeError(f"tags= are a list of texts, not {tags!r:.40}")
    return tuple(tags)


def _life(ttl: Duration | None) -> timedelta | None:
    return None if ttl is None else duration(ttl, "ttl")
