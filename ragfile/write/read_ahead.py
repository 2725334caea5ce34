"""Read a build's sources with several processes, in the order and with the result of one.

    sources ─ tasks of a few files ─ worker 1, worker 2, … ─ their results, in order ─ Loading.take

Each worker is a fresh Python process (read_worker) that ends with the build, so that this works from
scripts, notebooks and threads alike. Two tasks per worker are open at a time, which bounds memory; a file
of more than LARGE bytes is read by the build itself, piece by piece. If a worker dies, the files of its
task are read again one by one, and the file that ends another worker becomes a failure of the build.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import queue
import subprocess
import threading
import warnings
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from ragfile.ground import python_process
from ragfile.ingest.document_loader import Loading, SourceFailure
from ragfile.ingest.source_files import SourceFile
from ragfile.write.read_worker import BuildPart, Order, SourceRead

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

TASK_BYTES, TASK_FILES = 512 << 10, 32
LARGE = 64 << 20
AHEAD = 2  # tasks a worker


class Died(Exception):
    """A worker ended before it answered."""


class ReadTask(NamedTuple):
    """Files to read together, by the worker with this number or by the build itself."""

    sources: list[SourceFile]
    worker: int | None


class Worker:
    """One process that answers requests in order."""

    def __init__(self, order: Order) -> None:
        process = subprocess.Popen(
            python_process.command("ragfile.write.read_worker"), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._input, self._output = process, process.stdin, process.stdout
        self._is_ready = False  # set by its first, empty answer
        self._answers: queue.Queue[list[SourceRead] | None] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._send(order)

    def _send(self, message: object) -> None:
        with contextlib.suppress(OSError):  # if it died, answer() raises Died
            pickle.dump(message, self._input, protocol=5)
            self._input.flush()

    def _listen(self) -> None:
        """Read answers at once, so that the worker never waits for a reader."""
        try:
            while True:
                self._answers.put(pickle.load(self._output))
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            self._answers.put(None)

    def ask(self, sources: list[SourceFile]) -> None:
        """Send sources to read."""
        self._send(sources)

    def answer(self) -> list[SourceRead]:
        """Return the results of the oldest open request."""
        if not self._is_ready:
            self._is_ready = self._answers.get() is not None
            if not self._is_ready:
                code = self._process.wait()
                raise RuntimeError(
                    f"a process to read sources did not start: it ended with code {code}"
                )
        found = self._answers.get()
        if found is None:
            self._answers.put(None)
            raise Died(f"the process that read it ended with code {self._process.wait()}")
        return found

    def close(self) -> None:
        """End the process, even at work."""
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for pipe in (self._input, self._output):
            with contextlib.suppress(OSError):
                pipe.close()


class ReadingAhead:
    """Documents with their chunks from the sources of a Loading, read by `jobs` processes."""

    def __init__(self, loading: Loading, order: Order, jobs: int) -> None:
        self.loading, self.order, self.jobs = loading, order, jobs

    def __iter__(self) -> Generator[BuildPart | SourceFile, None, None]:
        """Yield the documents in order. The caller reads each SourceFile itself."""
        self.workers = [Worker(self.order) for _ in range(self.jobs)]
        try:
            yield from self._parts()
        finally:
            for worker in self.workers:
                worker.close()

    def _parts(self) -> Iterator[BuildPart | SourceFile]:
        waiting: deque[ReadTask] = deque()
        tasks, turn = _tasks(self.loading.found()), itertools.count()
        for sources in tasks:
            number = None if _is_large(sources) else next(turn) % self.jobs
            if number is not None:
                self.workers[number].ask(sources)
            waiting.append(ReadTask(sources, number))
            if len(waiting) >= AHEAD * self.jobs:
                yield from self._outcome(*waiting.popleft(), waiting)
        while waiting:
            yield from self._outcome(*waiting.popleft(), waiting)

    def _outcome(
        self, sources: list[SourceFile], number: int | None, waiting: Iterable[ReadTask]
    ) -> Iterator[BuildPart | SourceFile]:
        if number is None:
            yield from sources
            return
        try:
            found = self.workers[number].answer()
        except Died:
            found = [self._alone(source) for source in sources]
            self._start_anew(number, [task.sources for task in waiting if task.worker == number])
        for source, read in zip(sources, found, strict=True):
            yield from self._taken(source, read)

    def _start_anew(self, number: int, tasks: list[list[SourceFile]]) -> None:
        """Replace a dead worker, and send its open tasks again."""
        self.workers[number].close()
        self.workers[number] = Worker(self.order)
        for task in tasks:
            self.workers[number].ask(task)

    def _alone(self, source: SourceFile) -> SourceRead:
        """Read a source in a worker of its own."""
        worker = Worker(self.order)
        try:
            worker.ask([source])
            return worker.answer()[0]
        except Died as error:
            return SourceRead(events=[SourceFailure(source.path, str(error), "Died")])
        finally:
            worker.close()

    def _taken(self, source: SourceFile, read: SourceRead) -> Iterator[BuildPart]:
        for message, category in read.warned:
            warnings.warn(message, category, stacklevel=2)
        is_new = self.loading.take(source, read.checksum, read.size, read.encodings)
        for event in read.events if is_new else ():
            if isinstance(event, SourceFailure):
                self.loading.failures.append(event)
            elif self.loading.take_id(source, event.document.id):
                yield event


def _is_large(sources: list[SourceFile]) -> bool:
    return len(sources) == 1 and _size(sources[0]) > LARGE


def _size(source: SourceFile) -> int:
    try:
        return os.stat(source.path).st_size
    except OSError:
        return 0


def _tasks(sources: Iterable[SourceFile]) -> Iterator[list[SourceFile]]:
    """Group a few files per task; a large file is a task of its own."""
    task: list[SourceFile] = []
    held = 0
    for source in sources:
        size = _size(source)
        if task and (held + size > TASK_BYTES or len(task) == TASK_FILES):
            yield task
            task, held = [], 0
        task.append(source)
        held += size
    if task:
        yield task
