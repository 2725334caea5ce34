"""Changes of threads that wait together become one commit, each with its own result or error.

The first thread that comes leads: it takes the file's lock, and then carries out all changes that
have gathered meanwhile in one commit. The others wait for it. The first of those that came later leads
next. A change that fails affects no other: the changes before it are committed without it, and it is
tried again as the first of the next commit, where its error is its own.
"""

from __future__ import annotations

import contextvars
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar, Unpack, cast
from weakref import WeakValueDictionary

from ragfile.errors import LockedError, RagfileError
from ragfile.ground.lock_patience import DOOR_WAIT, seconds_to_wait
from ragfile.ground.lru import Lru
from ragfile.search.file_rows import FileRows
from ragfile.types import StrPath
from ragfile.write.editor import Editor
from ragfile.write.open_writer import EditOptions, OpenWriter

T_co = TypeVar("T_co", covariant=True)
MOST = 1024  # changes in one commit
KEPT = 16  # files that were written last, of which an OpenWriter is kept


class ChangeOptions(EditOptions, total=False):
    """The options of one change."""

    message: str
    wait: float | None


class BeginOptions(ChangeOptions, total=False):
    """The options of one commit."""

    before: FileRows | None


class PendingChange(Generic[T_co]):
    """A change that has been handed in: `result()` waits until it is durable and returns its value."""

    def __init__(
        self, line: CommitLine, change: Callable[[Editor], T_co], message: str, wait: float
    ) -> None:
        self.change, self.message = change, message
        self.is_waiting, self.is_over = True, False
        self.outcome: T_co | None = None
        self.error: BaseException | None = None
        self._until = time.monotonic() + wait
        self._line, self._context = line, contextvars.copy_context()

    @property
    def seconds_left(self) -> float:
        """The seconds that it may still wait for other writers."""
        return max(0.0, self._until - time.monotonic())

    def run(self, writer: Editor) -> None:
        """Carry the change out in an edit; it may be repeated in another one."""
        self.outcome = self._context.run(self.change, writer)

    def result(self) -> T_co:
        """Wait for the commit, or lead it.

        Raises:
            LockedError: Another writer still holds the file.
            Exception: The error of the change or of the commit.
        """
        if self._line.has_to_lead(self):
            self._line.lead(self)
        if self.error is not None:
            raise self.error.with_traceback(None)
        return cast("T_co", self.outcome)


class CommitLine:
    """The queue of changes to one file: one of the waiting threads commits them for all."""

    def __init__(self, path: str, begin: Callable[[float], Editor]) -> None:
        """Take `begin`, which starts an edit and waits so many seconds for other writers."""
        self._path, self._edit = path, begin
        self._changed = threading.Condition()
        self._waiting: list[PendingChange[object]] = []
        self._leader = 0  # the thread that leads

    def join(self, change: PendingChange[object]) -> None:
        """Add a change, which a commit takes as soon as it can."""
        with self._changed:
            if self._leader == threading.get_ident():
                raise LockedError(
                    f"{self._path}: this thread is writing to the file already: end that edit first"
                )
            self._waiting.append(change)

    def has_to_lead(self, mine: PendingChange[object]) -> bool:
        """Return when the change is over, or when its thread leads."""
        with self._changed:
            while not mine.is_over:
                if mine.is_waiting and not self._leader:
                    self._leader = threading.get_ident()
                    return True
                in_time = self._changed.wait(mine.seconds_left if mine.is_waiting else None)
                if not in_time and mine.is_waiting:
                    self._remove([mine])
                    break
            else:
                return False
        mine.error = self._refusal()
        return False

    def _remove(self, changes: list[PendingChange[object]]) -> None:
        for one in changes:
            self._waiting.remove(one)
            one.is_waiting = False

    def _refusal(self) -> LockedError:
        try:
            self._edit(0).discard()
        except LockedError as error:
            return error
        return LockedError(f"{self._path}: other changes took the whole time; try again")

    def lead(self, mine: PendingChange[object]) -> None:
        """Carry out all waiting changes, and let another thread lead."""
        try:
            writer = self._edit(mine.seconds_left)
            _carry_out(writer, self._taken(mine), self._again)
        except BaseException as error:  # noqa: BLE001 - raised by result()
            mine.error = error
        finally:
            with self._changed:
                if mine.is_waiting:
                    self._remove([mine])
                self._leader = 0
                self._changed.notify_all()

    def _again(self) -> Editor:
        return self._edit(seconds_to_wait(default=DOOR_WAIT))

    def _taken(self, mine: PendingChange[object]) -> list[PendingChange[object]]:
        """Remove and return the changes of the next commit in order, one's own among them."""
        with self._changed:
            taken = self._waiting[:MOST]
            if mine not in taken:
                taken[-1] = mine
            self._remove(taken)
            return taken


def _carry_out(
    writer: Editor, changes: list[PendingChange[object]], again: Callable[[], Editor]
) -> None:
    """Carry out changes in as few commits as their errors allow, and note the outcome of each."""
    size = len(changes)
    while changes:
        try:
            writer = again() if writer.is_over else writer
            done = _commit(writer, changes[:size])
        except BaseException as error:
            _fail(changes, error)
            if not isinstance(error, Exception):
                raise
            return
        if 0 < done < size:
            size = done  # without the one that failed, which begins the next commit
            continue
        changes = changes[max(done, 1) :]
        size = len(changes)


def _commit(writer: Editor, changes: list[PendingChange[object]]) -> int:
    """Commit changes together, and return their number, or the index of the first that failed."""
    for number, one in enumerate(changes):
        try:
            one.run(writer)
        except BaseException as error:
            writer.discard()
            if not isinstance(error, Exception):
                raise
            if number == 0:
                one.error, one.is_over = error, True
            return number
    writer.message = _message(changes)
    writer.close()
    for one in changes:
        one.is_over = True
    return len(changes)


def _fail(changes: list[PendingChange[object]], error: BaseException) -> None:
    """Give all changes an error; an interrupt is that of the thread which leads."""
    other = error
    if not isinstance(error, Exception):
        other = RagfileError("the thread that wrote this change was interrupted; try again")
    for one in changes:
        one.error, one.is_over = other, True


def _message(changes: list[PendingChange[object]]) -> str:
    more = len(changes) - 1
    return changes[0].message + (f" and {more} more" if more and changes[0].message else "")


class GroupCommits:
    """Commits of the threads of one process, by file; `begin` starts the edit of a file."""

    def __init__(self, begin: Callable[..., Editor] = Editor) -> None:
        self._edit = begin
        self._begin()

    def _begin(self) -> None:
        self._process, self._lock = os.getpid(), threading.Lock()
        # A line lives as long as one of its changes.
        self._lines: WeakValueDictionary[str, CommitLine] = WeakValueDictionary()
        self._writers: Lru[str, OpenWriter] = Lru(KEPT)

    def begin(
        self, path: StrPath, change: Callable[[Editor], T_co], *, message: str = "",
        wait: float | None = None, **options: Unpack[EditOptions],
    ) -> PendingChange[T_co]:  # fmt: skip
        """Hand in a change; its `result()` waits for the commit.

        Args:
            path: The file.
            change: Called with the editor, in one of the threads that wait, and once more if a change
                beside it failed. It returns the result.
            message: A message for the log.
            wait: Seconds to wait for other writers. Defaults to `RAGFILE_WAIT`, else 60.
            options: Options of `edit()`, the same for all changes of a file.
        """
        if self._process != os.getpid():  # a forked child has none of the threads that wait
            self._begin()
        name = os.path.realpath(path)
        with self._lock:
            if (line := self._lines.get(name)) is None:
                begin = partial(self._start, name, os.fspath(path), options)
                self._lines[name] = line = CommitLine(os.fspath(path), begin)
        pending = PendingChange(line, change, message, seconds_to_wait(wait, DOOR_WAIT))
        line.join(pending)
        return pending

    def release(self, path: StrPath) -> None:
        """Drop the rows that are kept of a file between its commits."""
        self._writers.drop(os.path.realpath(path))

    def _start(self, name: str, path: str, options: EditOptions, wait: float) -> Editor:
        """Start an edit of a file, from the rows of the last one if that was lately."""
        if (writer := self._writers.get(name)) is None:
            writer = OpenWriter(path, self._edit, **options)
            self._writers.put(name, writer)
        return writer.edit(wait=wait)

    def run(
        self, path: StrPath, change: Callable[[Editor], T_co], *, message: str = "",
        wait: float | None = None, **options: Unpack[EditOptions],
    ) -> T_co:  # fmt: skip
        """Carry out a change in a commit that it shares with others; `begin` has the arguments."""
        return self.begin(path, change, message=message, wait=wait, **options).result()
