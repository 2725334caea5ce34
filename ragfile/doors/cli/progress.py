"""One line on a terminal's stderr that says how far a command is, written over until the command
ends.
"""

import contextlib
import shutil
import sys
import threading
import time

EVERY = 0.5  # seconds between two lines of a command that cannot say how far it is


def duration(seconds):
    """A time to wait for, as people say it."""
    seconds = max(1, round(seconds))
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"


def fitted(parts, width):
    """As many parts as fit on one line, the first ones first: a line that wraps cannot be written
    over.
    """
    line = parts[0]
    for part in parts[1:]:
        if len(line) + 2 + len(part) < width:
            line += f", {part}"
    return line[: max(width - 1, 1)]


class Progress:
    """The line, on a terminal only."""

    def __init__(self):
        self._stream, self._began = sys.stderr, time.monotonic()
        self._shown = False

    def show(self, documents, chunks, share=None):
        """How far a build is: share is that of the sources' bytes."""
        spent = self._spent()
        counts = [f"{documents:,} documents", f"{chunks:,} chunks"]
        self._write([*self._share(share, spent), *counts, f"{chunks / spent:,.0f} chunks/s"])

    def count(self, done, total, noun):
        """How many of all things are done."""
        share = done / total if total else 1.0
        self._write([f"{done:,} of {total:,} {noun}", *self._share(share, self._spent())])

    @contextlib.contextmanager
    def ticking(self, doing):
        """The time that a step has taken so far, for one that cannot say how far it is."""
        over = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(doing, over), daemon=True)
        if self._stream.isatty():
            ticker.start()
        try:
            yield
        finally:
            over.set()
            if ticker.ident is not None:
                ticker.join()
            self.close()

    def _tick(self, doing, over):
        while not over.wait(EVERY):
            self._write([doing, duration(self._spent())])

    def _spent(self):
        return max(time.monotonic() - self._began, 1e-9)

    def _share(self, share, spent):
        if not share:
            return []
        left = f"{duration(spent * (1 - share) / share)} left" if share < 1 else "writing"
        return [f"{share:.0%}", left]

    def _write(self, parts):
        if not self._stream.isatty():
            return
        line = fitted(parts, shutil.get_terminal_size().columns)
        self._stream.write(f"\r\x1b[K{line}")
        self._stream.flush()
        self._shown = True

    def close(self):
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False
