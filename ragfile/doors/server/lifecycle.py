"""A server from its start to its end: a socket, uvicorn, and a line that says where it listens."""

from __future__ import annotations

import functools
import socket
import sys
from typing import TYPE_CHECKING, Any

from ragfile.doors.server import workers
from ragfile.doors.server.app import make_app, routes_of
from ragfile.doors.server.endpoints import operations
from ragfile.doors.server.keys import VARIABLE, ApiKeys
from ragfile.doors.server.metrics import Board
from ragfile.ground.extras import optional

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragfile.doors.server.settings import Settings

BACKLOG = 2048
GRACE = 30  # seconds for requests under way when the server is told to end
IDLE = 75  # seconds that an open connection may say nothing


def serve(settings: Settings) -> None:
    """Serves until it is told to end."""
    check(settings)
    board = Board(routes_of(operations(settings)), settings.workers)
    config, listening = configured(settings, board), bound(settings)
    said = functools.partial(announce, listening)
    if settings.workers > 1:
        return workers.keep(
            settings.workers, functools.partial(_work, config, listening, board), said
        )
    if not run(config, listening, said):
        sys.exit(1)
    return None


def check(settings: Settings) -> None:
    """Refuses an address that others can reach, unless they need a key."""
    import os

    if not settings.is_local and not ApiKeys(settings.keys, os.environ.get(VARIABLE)):
        raise ValueError(
            f"{settings.host} can be reached from elsewhere, and there is no key: "
            f"make one with `ragfile keys add NAME`, or set {VARIABLE}"
        )


def bound(settings: Settings) -> socket.socket:
    """The socket that listens, at a free port for 0."""
    host = settings.host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, settings.port))
    except OSError as error:
        found.close()
        raise OSError(error.errno, f"{host} port {settings.port}: {error.strerror}") from None
    found.listen(BACKLOG)
    found.set_inheritable(True)
    return found


def address(listening: socket.socket) -> str:
    """Where a socket listens, as a URL."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def configured(settings: Settings, board: Board | None = None) -> Any:
    """What uvicorn is told."""
    uvicorn = optional("uvicorn", "the server")
    optional("httptools", "the server")
    from ragfile.doors.server.connections import Connection, most_connections

    return uvicorn.Config(
        functools.partial(make_app, settings, board), factory=True, loop="uvloop", http=Connection,
        lifespan="on", log_config=None, access_log=False, server_header=False, date_header=True,
        proxy_headers=False, timeout_keep_alive=IDLE, ws_max_size=settings.max_body, backlog=BACKLOG,
        limit_concurrency=most_connections(), timeout_graceful_shutdown=GRACE,
    )  # fmt: skip


def announce(listening: socket.socket) -> None:
    """Says where, on stdout: programs wait for this line."""
    print(f"listening on {address(listening)}", flush=True)


def run(config: Any, listening: socket.socket, ready: Callable[[], object]) -> bool:
    """Serves in this process; ready() is called when it does. False if it could not begin."""
    from uvicorn import Server

    class Announcing(Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready()

    server = Announcing(config)
    server.run(sockets=[listening])
    return server.started


def _work(config, listening, board, row, ready):  # not measured: see workers.py
    """What a worker does; it counts in its own row."""
    board.row = row
    return run(config, listening, ready)
