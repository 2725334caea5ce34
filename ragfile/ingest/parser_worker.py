"""The process that parses PDF, office documents, OpenDocument and EPUB within limits of memory.

    python -c "…; parser_worker.main()"     reads requests on stdin, writes JSON, one value a line

A request is a line of JSON, [kind, size, limits], followed by the bytes of a file. The answer is a
["document", has parts, text, metadata], the ["part", text, metadata] that it has, and at the end

    ["end", another request is taken]  or  ["failed", another request is taken, exception, message]

It writes JSON, never pickles, because a parser that a file has taken over must not take over the
program that reads the answer.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from ragfile.ground import system
from ragfile.ingest.loaders import Extracted, LimitError, Limits, loader

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import BinaryIO

OUT_OF_MEMORY = 77  # the exit code
WATCH = 0.1  # seconds
SPENT = 64 << 20  # bytes of growth after which a process is replaced, so that limits do not add up


def main() -> None:
    """Answer requests until stdin ends or the parent process does."""
    answers = system.take_stdout()
    watch = _Watch(system.parent())
    threading.Thread(target=watch.run, daemon=True).start()
    system.forbid_core_dumps()
    _send(answers, ["ready"])
    system.discard(2)  # a parser that is aborted writes to it
    own = system.address_space()
    is_fresh = True
    while is_fresh and (line := sys.stdin.buffer.readline()):
        is_fresh = _answered(line, answers, own, watch)


def _answered(line: bytes, answers: BinaryIO, own: int, watch: _Watch) -> bool:
    """Answer one request; return whether this process takes another one."""
    kind, size, options = json.loads(line)
    raw, limits = sys.stdin.buffer.read(size), Limits(**options)
    watch.begin(limits.parse_memory)
    system.limit_address_space(own + size + limits.parse_memory)
    failure: list[str] = []
    try:
        for event in _events(loader(kind).parse(raw, limits), limits):
            _send(answers, event)
    except Exception as error:  # noqa: BLE001 - on a damaged file a parser can raise anything
        failure = [type(error).__name__, str(error)]
    is_fresh = "MemoryError" not in failure and system.address_space() < own + size + SPENT
    _send(answers, ["failed" if failure else "end", is_fresh, *failure])
    return is_fresh


def _events(documents: Iterable[Extracted], limits: Limits) -> Iterable[list[Any]]:
    """Yield documents and their parts as JSON values, with no more text than the limit."""
    size = 0
    for document in documents:
        size += _checked(document.text, size, limits)
        yield ["document", document.parts is not None, document.text, document.metadata]
        for text, metadata in document.parts or ():
            size += _checked(text, size, limits)
            yield ["part", text, metadata]


def _checked(text: str, size: int, limits: Limits) -> int:
    """Return the length of a text that fits into the limit after `size` characters."""
    if size + len(text) > limits.max_text:
        raise LimitError(f"more than {limits.max_text} characters of text")
    return len(text)


def _send(answers: BinaryIO, value: list[Any]) -> None:  # Any: JSON
    text = json.dumps(value, ensure_ascii=False)
    answers.write(text.encode("utf-8", "surrogatepass") + b"\n")
    answers.flush()


class _Watch:
    """Ends this process when its parent has ended, or where memory exceeds the limit.

    Linux refuses memory beyond a limit of the address space; other systems have no such limit.
    """

    def __init__(self, parent: int) -> None:
        self._parent, self._most = parent, 0

    def begin(self, memory: int) -> None:
        """Allow so many bytes more than the process has ever used."""
        self._most = system.peak_memory() + memory

    def run(self) -> None:
        """Look again and again, beside the parser."""
        while system.parent() == self._parent:
            if self._most and system.peak_memory() > self._most:
                system.exit_now(OUT_OF_MEMORY)
            time.sleep(WATCH)
        system.exit_now(1)
