"""MCP over stdio: one message a line, in and out, until the input ends."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import TYPE_CHECKING

from ragfile.doors.mcp.protocol import INVALID_REQUEST, PARSE_ERROR, refusal
from ragfile.ground import system

if TYPE_CHECKING:
    from typing import Any, BinaryIO

    from ragfile.doors.mcp.protocol import Server

LONGEST = 16 << 20  # bytes of one message


def serve(server: Server) -> None:
    """Serve stdin and stdout; all other output of the process is redirected to stderr."""
    with system.take_stdout(buffering=0) as out:
        sys.stdout = sys.stderr
        with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):  # the client has left
            exchange(server, sys.stdin.buffer, out)


def exchange(server: Server, lines: BinaryIO, out: BinaryIO) -> None:
    """Answer each line of one stream on another."""
    while line := lines.readline(LONGEST):
        response = _answer(server, lines, line)
        if response is not None:
            out.write(json.dumps(response).encode() + b"\n")
            out.flush()


def _answer(server: Server, lines: BinaryIO, line: bytes) -> dict[str, Any] | None:
    """Return the response to a line; skip the rest of one that is too long."""
    if len(line) == LONGEST and not line.endswith(b"\n"):
        while (rest := lines.readline(LONGEST)) and not rest.endswith(b"\n"):
            pass
        return refusal(INVALID_REQUEST, f"the message exceeds the limit of {LONGEST:,} bytes")
    if not line.strip():
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return refusal(PARSE_ERROR, "the line is not JSON")
    return server.handle(message)
