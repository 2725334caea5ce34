"""The log of a server: one JSON object a line on stderr, written by a separate thread.

A slow reader of the log never delays requests. When the queue is full, lines are dropped; their
number is logged once there is room again.
"""

from __future__ import annotations

import json
import logging
import queue
import sys
import threading
import time
from datetime import UTC, datetime

ROOM = 10_000  # lines in the queue
PATIENCE = 1.0  # seconds that shutdown waits for queued lines
NAMES = ("ragfile.serve", "ragfile.mcp", "uvicorn", "py.warnings")


def log_to_stderr(level: int) -> None:
    """Log the server's records from this level on to stderr, other libraries' from WARNING on."""
    handler = _LogLines()
    logging.captureWarnings(True)
    for name in NAMES:
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [handler], False
        logger.setLevel(level if name == NAMES[0] else max(level, logging.WARNING))


class _LogLines(logging.Handler):
    """Queues records for the thread, which starts with the first: each forked worker has its own."""

    def __init__(self) -> None:
        super().__init__()
        self._queue: queue.Queue[logging.LogRecord] = queue.Queue(ROOM)
        self._lost = 0
        self._thread: threading.Thread | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._begin()
        try:
            self._queue.put_nowait(record)
        except queue.Full:
            self._lost += 1

    def _begin(self) -> None:
        self._thread = threading.Thread(target=self._write, name="ragfile-log", daemon=True)
        self._thread.start()

    def _write(self) -> None:
        while True:
            record = self._queue.get()
            lost, self._lost = self._lost, 0
            if lost:
                print(json.dumps({"level": "WARNING", "message": f"{lost} log lines were dropped"}),
                      file=sys.stderr)  # fmt: skip
            print(line(record), file=sys.stderr, flush=True)
            self._queue.task_done()

    def flush(self) -> None:
        """Wait up to PATIENCE for queued lines; logging calls this at exit."""
        until = time.monotonic() + PATIENCE
        while self._queue.unfinished_tasks and time.monotonic() < until:
            time.sleep(0.005)


def line(record: logging.LogRecord) -> str:
    """Return a record as one JSON object."""
    moment = datetime.fromtimestamp(record.created, UTC)
    fields = {"time": moment.isoformat(timespec="milliseconds"), "level": record.levelname}
    fields |= getattr(record, "ragfile", None) or {"message": record.getMessage().strip()}
    if record.exc_info:
        fields["trace"] = logging.Formatter().formatException(record.exc_info)
    return json.dumps(fields, default=str)
