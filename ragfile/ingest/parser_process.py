"""Parse files in a process of its own, with limits of memory, time and output.

    parser = ParserProcess()
    for extracted in parser.parse("pdf", raw, limits): ...
    parser.close()

A hostile file can make a parser take any memory, never end, or crash. Here that ends the process
that parses, and is one failure of a build. The process starts with the first file, serves all
further ones, and is replaced after a failure. A build without such files starts none.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
import weakref
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ragfile.ground import python_process, system
from ragfile.ingest.loaders.contract import (
    Extracted,
    LimitError,
    Limits,
    LoadError,
    UnsupportedType,
)
from ragfile.ingest.parser_worker import OUT_OF_MEMORY

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from ragfile.ingest.loaders.contract import Part

WORKER = "ragfile.ingest.parser_worker"
CHARACTER = 6  # bytes of a character in JSON, at most
SLACK = 1 << 20  # bytes of an answer besides its text
EXCEPTIONS = {one.__name__: one for one in (LimitError, UnsupportedType, ImportError)}


class ParserProcess:
    """A process that parses files one by one; it starts with the first and ends with this object."""

    def __init__(self) -> None:
        self._idle: _Child | None = None

    def parse(self, kind: str, raw: bytes, limits: Limits) -> Iterator[Extracted]:
        """Yield the document of a file.

        Raises:
            LimitError: It takes more memory or time than the limits allow.
            LoadError: It cannot be parsed, or crashed the parser.
        """
        child, self._idle = self._idle, None
        if child is None or not child.is_alive():
            child = _Child()
        yield _ParserReply(child, limits, self._take_back).document(kind, raw)

    def _take_back(self, child: _Child) -> None:
        self._idle = child

    def close(self) -> None:
        """End the process; the next file starts another."""
        if self._idle is not None:
            self._idle.close()
            self._idle = None


class _Child:
    """One running process, which ends with this object."""

    def __init__(self) -> None:
        try:
            command = python_process.command(WORKER)
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except (ValueError, OSError) as error:
            raise LoadError(
                f"no process to parse it: {error}; parse_memory=0 parses it in this one"
            ) from error
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self.input, self.output = process, process.stdin, process.stdout
        self.close = weakref.finalize(self, _end, process, os.getpid())
        if self.output.readline() != b'["ready"]\n':
            raise LoadError(f"the process to parse it did not start: it {self.ending()}")

    def timer(self, seconds: float) -> threading.Timer:
        """Return a timer that ends the process, even at work; its answer then ends, too."""
        timer = threading.Timer(seconds, self._process.kill)
        timer.daemon = True
        return timer

    def is_alive(self) -> bool:
        """Return whether the process still runs: while idle, it may have been killed."""
        return self._process.poll() is None

    def code(self) -> int:
        """Return the exit code of a process that has ended, or is about to."""
        return self._process.wait()

    def ending(self) -> str:
        """Return how the process ended."""
        code = self.code()
        return f"ended with {system.signal_of(code) or code}"


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """End a process and wait for it, unless this is a fork of the program that started it."""
    if os.getpid() != owner:
        return
    process.kill()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()
    process.wait()


def request(kind: str, raw: bytes, limits: Limits) -> bytes:
    """Return the line that precedes the bytes of a file."""
    return json.dumps([kind, len(raw), asdict(limits)]).encode() + b"\n"


class _ParserReply:
    """The answer of a process about one file, read until its end."""

    def __init__(
        self, child: _Child, limits: Limits, take_back: Callable[[_Child], object]
    ) -> None:
        self._child, self._limits, self._take_back = child, limits, take_back
        self._left = limits.max_text * CHARACTER + SLACK
        self._is_released = False
        self._deadline = time.monotonic() + limits.parse_seconds
        self._timer = child.timer(limits.parse_seconds)

    def document(self, kind: str, raw: bytes) -> Extracted:
        """Return the document; its parts are read as they are used."""
        self._timer.start()
        with self._released():
            with contextlib.suppress(OSError):  # if it died, _next() has the reason
                self._child.input.write(request(kind, raw, self._limits) + raw)
                self._child.input.flush()
            _, has_parts, text, metadata = self._next()
            if not has_parts:
                self._next()
        return Extracted(text, self._parts() if has_parts else None, metadata)

    def _parts(self) -> Iterator[Part]:
        with self._released():
            while (event := self._next())[0] == "part":
                yield event[1], event[2]

    @contextlib.contextmanager
    def _released(self) -> Generator[None]:
        """End the process if the block is left before the end of the answer."""
        try:
            yield
        except BaseException:
            self._release(is_reusable=False)
            raise

    def _release(self, *, is_reusable: bool) -> None:
        """Keep the process for the next file, or end it; the first call counts."""
        self._timer.cancel()
        if not self._is_released:
            self._is_released = True
            self._take_back(self._child) if is_reusable else self._child.close()

    def _next(self) -> list[Any]:  # Any: JSON
        """Return the next value of the answer; raise the failure that it reports."""
        line = self._child.output.readline(self._left + 1)
        self._left -= len(line)
        if self._left < 0:
            raise LimitError(f"more than {self._limits.max_text} characters of text")
        if not line.endswith(b"\n"):
            raise self._death()
        event: list[Any] = json.loads(line.decode("utf-8", "surrogatepass"))
        if event[0] in ("end", "failed"):
            self._release(is_reusable=event[1])
        if event[0] == "failed":
            raise self._failure(*event[2:])
        return event

    def _failure(self, name: str, reason: str) -> Exception:
        if name == "MemoryError":
            return self._too_large()
        return EXCEPTIONS.get(name, LoadError)(reason or name)

    def _death(self) -> LoadError:
        """Return the failure for an answer that ends early."""
        if time.monotonic() >= self._deadline:
            return LimitError(
                f"parsing it takes more than {self._limits.parse_seconds:g} seconds: "
                "parse_seconds= allows more"
            )
        if self._child.code() == OUT_OF_MEMORY:
            return self._too_large()
        return LoadError(
            f"the process that parsed it {self._child.ending()}, as happens when it takes more "
            f"than {self._memory()} of memory: parse_memory= allows more"
        )

    def _too_large(self) -> LimitError:
        return LimitError(
            f"parsing it takes more than {self._memory()} of memory: parse_memory= allows more"
        )

    def _memory(self) -> str:
        return f"{self._limits.parse_memory >> 20} MiB"
