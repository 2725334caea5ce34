"""The log of a server: one JSON object a line on stderr, written by a thread of its own.

Whoever reads the log can be slow, or read nothing at all: requests do not wait for that. Lines that
find no room are counted, and the count is a line when there is room again.
"""

from __future__ import annotations

import json
import logging
import queue
import sys
import threading
import time
from datetime import UTC, datetime

ROOM = 10_000  # lines
PATIENCE = 1.0  # seconds at the end for lines that are not written yet
NAMES = ("ragfile.serve", "ragfile.mcp", "uvicorn", "py.warnings")


def log_to_stderr(level: int) -> None:
    """Sends what the server logs to stderr; of the rest warnings and worse."""
    handler = _LogLines()
    logging.captureWarnings(True)
    for name in NAMES:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level if name == NAMES[0] else max(level, logging.WARNING))


class _LogLines(logging.Handler):
    """Hands records to the thread, which begins with the first: so each forked worker has one."""

    def __init__(self):
        super().__init__()
        self._queue: queue.Queue[logging.LogRecord] = queue.Queue(ROOM)
        self._lost, self._thread = 0, None

    def emit(self, record: logging.LogRecord) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._begin()
        try:
            self._queue.put_nowait(record)
        except queue.Full:
            self._lost += 1

    def _begin(self):
        self._thread = threading.Thread(target=self._write, name="ragfile-log", daemon=True)
        self._thread.start()

    def _write(self):
        while True:
            record = self._queue.get()
            lost, self._lost = self._lost, 0
            if lost:
                print(json.dumps({"level": "WARNING", "message": f"{lost} lines found no room"}),
                      file=sys.stderr)  # fmt: skip
            print(line(record), file=sys.stderr, flush=True)
            self._queue.task_done()

    def flush(self) -> None:
        """Waits a little for what is not written yet; logging asks at the end."""
        until = time.monotonic() + PATIENCE
        while self._queue.unfinished_tasks and time.monotonic() < until:
            time.sleep(0.005)


def line(record: logging.LogRecord) -> str:
    """A record as one JSON object."""
    moment = datetime.fromtimestamp(record.created, UTC)
    said = {"time": moment.isoformat(timespec="milliseconds"), "level": record.levelname}
    said |= getattr(record, "ragfile", None) or {"message": record.getMessage().strip()}
    if record.exc_info:
        said["trace"] = logging.Formatter().formatException(record.exc_info)
    return json.dumps(said, default=str)
