"""Show the progress of a command in one line on stderr, if that is a terminal."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

EVERY = 0.5  # seconds between updates of the elapsed time


def duration(seconds: float) -> str:
    """Format a duration in hours, minutes and seconds."""
    seconds = max(1, round(seconds))
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"


def fitted(parts: list[str], width: int) -> str:
    """Join the first parts that fit on one line: a wrapped line cannot be overwritten."""
    line = parts[0]
    for part in parts[1:]:
        if len(line) + 2 + len(part) < width:
            line += f", {part}"
    return line[: max(width - 1, 1)]


class Progress:
    """The progress line; silent unless stderr is a terminal."""

    def __init__(self) -> None:
        self._stream, self._began = sys.stderr, time.monotonic()
        self._shown = False
        self._is_terminal = self._stream.isatty() and os.environ.get("TERM") != "dumb"

    def show(self, documents: int, chunks: int, share: float | None = None) -> None:
        """Show the progress of a build; share is the processed part of the source bytes."""
        spent = self._spent()
        counts = [f"{documents:,} documents", f"{chunks:,} chunks"]
        self._write([*self._share(share, spent), *counts, f"{chunks / spent:,.0f} chunks/s"])

    def count(self, done: int, total: int, noun: str) -> None:
        """Show the number of processed items."""
        share = done / total if total else 1.0
        self._write([f"{done:,} of {total:,} {noun}", *self._share(share, self._spent())])

    @contextlib.contextmanager
    def ticking(self, doing: str) -> Generator[None]:
        """Show the elapsed time of a step without measurable progress."""
        over = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(doing, over), daemon=True)
        if self._is_terminal:
            ticker.start()
        try:
            yield
        finally:
            over.set()
            if ticker.ident is not None:
                ticker.join()
            self.close()

    def _tick(self, doing: str, over: threading.Event) -> None:
        while not over.wait(EVERY):
            self._write([doing, duration(self._spent())])

    def _spent(self) -> float:
        return max(time.monotonic() - self._began, 1e-9)

    def _share(self, share: float | None, spent: float) -> list[str]:
        if not share:
            return []
        left = f"{duration(spent * (1 - share) / share)} left" if share < 1 else "writing"
        return [f"{share:.0%}", left]

    def _write(self, parts: list[str]) -> None:
        if not self._is_terminal:
            return
        line = fitted(parts, shutil.get_terminal_size().columns)
        self._stream.write(f"\r\x1b[K{line}")
        self._stream.flush()
        self._shown = True

    def close(self) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False
