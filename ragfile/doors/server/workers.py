"""Several processes that serve one socket: started by a fork, so they share what is in memory, and
started again when one ends that was not told to.
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
    from collections.abc import Callable

    Work = Callable[[int, Callable[[], object]], bool]

log = logging.getLogger("ragfile.serve")

PAUSE = 1.0  # seconds before a process that ended is followed by another


def keep(count: int, work: Work, ready: Callable[[], object]) -> None:
    """Keeps so many processes at work until this one is told to end; ready() is called when the
    first of them serves.
    """
    asked: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: asked.append(number))
    mine, theirs = os.pipe()
    life = os.pipe()  # nobody writes to it: it ends with this process
    running = {_started(work, row, theirs, life): row for row in range(count)}
    is_ready = False
    while not asked:
        if not is_ready and select.select([mine], [], [], 0.05)[0]:
            is_ready = True
            ready()
        running = _followed(running, work, theirs, life, is_ready)
    _end(running)


def _started(work, row, pipe, life):
    """The pid of a new process at work; row is its number among the workers."""
    pid = os.fork()
    if not pid:  # not measured: a signal ends a worker before it could write down what it ran
        _work(work, row, pipe, life)
    return pid


def _work(work, row, pipe, life):  # not measured: as said above
    """What a new process does until it is told to end."""
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


def _outlive(life):  # not measured: as said above
    """Ends this worker when the process that started it is gone."""
    os.read(life, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _followed(running, work, pipe, life, is_ready):
    """The processes, with a new one in the place of each that has ended."""
    ended = {pid for pid in running if os.waitpid(pid, os.WNOHANG)[0]}
    if not ended:
        time.sleep(0.05 if is_ready else 0)
        return running
    if not is_ready:  # none could begin, and a new one would not either
        _end(set(running) - ended)
        sys.exit(1)
    log.error("%d of %d workers ended and are started again", len(ended), len(running))
    time.sleep(PAUSE)
    new = {_started(work, running[pid], pipe, life): running[pid] for pid in ended}
    return {pid: row for pid, row in running.items() if pid not in ended} | new


def _end(running):
    """Tells the processes to end, and waits until they have."""
    for pid in running:
        os.kill(pid, signal.SIGTERM)
    for pid in running:
        os.waitpid(pid, 0)
