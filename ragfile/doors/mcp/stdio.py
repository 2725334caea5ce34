"""The stdio door: a message a line, in and out, until the input ends."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING

from ragfile.doors.mcp.protocol import INVALID_REQUEST, PARSE_ERROR, refusal

if TYPE_CHECKING:
    from typing import Any, BinaryIO

    from ragfile.doors.mcp.protocol import Server

LONGEST = 16 << 20  # bytes of one message


def serve(server: Server) -> None:
    """Serves this process's stdin and stdout. Whatever else prints, prints to stderr."""
    with os.fdopen(os.dup(1), "wb", buffering=0) as out:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):  # the client has gone
            exchange(server, sys.stdin.buffer, out)


def exchange(server: Server, lines: BinaryIO, out: BinaryIO) -> None:
    """Answers each line of one stream on another."""
    while line := lines.readline(LONGEST):
        response = _answer(server, lines, line)
        if response is not None:
            out.write(json.dumps(response).encode() + b"\n")
            out.flush()


def _answer(server, lines, line) -> dict[str, Any] | None:
    if len(line) == LONGEST and not line.endswith(b"\n"):
        while (rest := lines.readline(LONGEST)) and not rest.endswith(b"\n"):
            pass
        return refusal(INVALID_REQUEST, f"a message has at most {LONGEST:,} bytes")
    if not line.strip():
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return refusal(PARSE_ERROR, "the line is not JSON")
    return server.handle(message)
