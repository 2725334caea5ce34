"""Worker processes that serve one socket: forked, so that they share memory, and restarted after a
crash.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NoReturn

    Work = Callable[[int, Callable[[], object]], bool]
    Pipe = tuple[int, int]  # the descriptors to read and to write
    Running = dict[int, int]  # pid -> the row of a worker on the board

log = logging.getLogger("ragfile.serve")

PAUSE = 1.0  # seconds before a process that ended is restarted


def keep(count: int, work: Work, ready: Callable[[], object]) -> None:
    """Run so many worker processes until SIGTERM or SIGINT; call ready() once the first serves."""
    asked: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: asked.append(number))
    mine, theirs = os.pipe()
    life = os.pipe()  # never written to: workers see its end when this process ends
    running = {_started(work, row, theirs, life): row for row in range(count)}
    is_ready = False
    while not asked:
        if not is_ready and select.select([mine], [], [], 0.05)[0]:
            is_ready = True
            ready()
        running = _followed(running, work, theirs, life, is_ready)
    _end(running)


def _started(work: Work, row: int, pipe: int, life: Pipe) -> int:
    """Fork a worker and return its pid; `row` is its number among the workers."""
    pid = os.fork()
    if not pid:  # not measured: a signal ends a worker before coverage is written
        _work(work, row, pipe, life)
    return pid


def _work(work: Work, row: int, pipe: int, life: Pipe) -> NoReturn:  # not measured: as above
    """Run a worker until its work ends or a signal ends it."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    os.close(life[1])
    threading.Thread(target=_outlive, args=(life[0],), daemon=True).start()
    code = 1
    try:
        code = 0 if work(row, lambda: os.write(pipe, b".")) else 1
    except BaseException:
        log.exception("a worker ended")
    finally:
        logging.shutdown()
        sys.stdout.flush()
        os._exit(code)


def _outlive(life: int) -> None:  # not measured: as above
    """End this worker once its parent process has ended."""
    os.read(life, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _followed(running: Running, work: Work, pipe: int, life: Pipe, is_ready: bool) -> Running:
    """Restart the workers that have ended and return all that run."""
    ended = {pid for pid in running if os.waitpid(pid, os.WNOHANG)[0]}
    if not ended:
        time.sleep(0.05 if is_ready else 0)
        return running
    if not is_ready:  # none could start, and a new one would fail the same way
        _end(set(running) - ended)
        sys.exit(1)
    log.error("%d of %d workers ended unexpectedly; restarting them", len(ended), len(running))
    time.sleep(PAUSE)
    new = {_started(work, running[pid], pipe, life): running[pid] for pid in ended}
    return {pid: row for pid, row in running.items() if pid not in ended} | new


def _end(running: Iterable[int]) -> None:
    """Terminate the processes and wait for their end."""
    for pid in running:
        os.kill(pid, signal.SIGTERM)
    for pid in running:
        os.waitpid(pid, 0)
