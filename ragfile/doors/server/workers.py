"""Worker processes that serve one socket: forked, so that they share memory, and restarted after a
crash.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from typing import TYPE_CHECKING

from ragfile.ground import system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NoReturn

    Work = Callable[[int, Callable[[], object]], bool]
    Line = system.Line
    Running = dict[int, int]  # pid -> the row of a worker on the board

log = logging.getLogger("ragfile.serve")

PAUSE = 1.0  # seconds before a process that ended is restarted


def keep(count: int, work: Work, ready: Callable[[], object]) -> None:
    """Run so many worker processes until SIGTERM or SIGINT; call ready() once the first serves."""
    asked: list[bool] = []
    system.on_stop(lambda: asked.append(True))
    served = system.Line()
    life = system.Line()  # never rung: workers see its end when this process ends
    running = {_started(work, row, served, life): row for row in range(count)}
    is_ready = False
    while not asked:
        if not is_ready and served.is_rung(0.05):
            is_ready = True
            ready()
        running = _followed(running, work, served, life, is_ready)
    _end(running)


def _started(work: Work, row: int, served: Line, life: Line) -> int:
    """Fork a worker and return its pid; `row` is its number among the workers."""
    pid = system.fork()
    if not pid:  # not measured: a signal ends a worker before coverage is written
        _work(work, row, served, life)
    return pid


def _work(work: Work, row: int, served: Line, life: Line) -> NoReturn:  # not measured: as above
    """Run a worker until its work ends or a signal ends it."""
    system.on_stop(None)
    life.leave()
    threading.Thread(target=_outlive, args=(life,), daemon=True).start()
    code = 1
    try:
        code = 0 if work(row, served.ring) else 1
    except BaseException:
        log.exception("a worker ended")
    finally:
        logging.shutdown()
        sys.stdout.flush()
        system.exit_now(code)


def _outlive(life: Line) -> None:  # not measured: as above
    """End this worker once its parent process has ended."""
    life.await_end()
    system.terminate(os.getpid())


def _followed(running: Running, work: Work, served: Line, life: Line, is_ready: bool) -> Running:
    """Restart the workers that have ended and return all that run."""
    ended = {pid for pid in running if system.has_ended(pid)}
    if not ended:
        time.sleep(0.05 if is_ready else 0)
        return running
    if not is_ready:  # none could start, and a new one would fail the same way
        _end(set(running) - ended)
        sys.exit(1)
    log.error("%d of %d workers ended unexpectedly; restarting them", len(ended), len(running))
    time.sleep(PAUSE)
    new = {_started(work, running[pid], served, life): running[pid] for pid in ended}
    return {pid: row for pid, row in running.items() if pid not in ended} | new


def _end(running: Iterable[int]) -> None:
    """Terminate the processes and wait for their end."""
    for pid in running:
        system.terminate(pid)
    for pid in running:
        system.await_end(pid)
