"""Run a server: bind its socket, start uvicorn, print the URL and serve until a signal."""

from __future__ import annotations

import functools
import socket
import sys
from typing import TYPE_CHECKING, cast

from ragfile.doors.server import workers
from ragfile.doors.server.app import make_app, routes_of
from ragfile.doors.server.endpoints import operations
from ragfile.doors.server.keys import VARIABLE, ApiKeys
from ragfile.doors.server.metrics import Board
from ragfile.ground.extras import optional
from ragfile.ground.offline import is_offline

if TYPE_CHECKING:
    from asyncio import Protocol
    from collections.abc import Callable

    import uvicorn

    from ragfile.doors.server.settings import Settings

BACKLOG = 2048
GRACE = 30  # seconds for unfinished requests at shutdown
IDLE = 75  # seconds that a connection may be idle


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT."""
    check(settings)
    board = Board(routes_of(operations(settings)), settings.workers)
    config, listening = configured(settings, board), bound(settings)
    ready = functools.partial(announce, listening)
    if settings.workers > 1:
        return workers.keep(
            settings.workers, functools.partial(_work, config, listening, board), ready
        )
    if not run(config, listening, ready):
        sys.exit(1)
    return None


def check(settings: Settings) -> None:
    """Refuse a public address without keys, and a model or embedder that cannot be asked."""
    import os

    from ragfile.chat.protocol import open_chat
    from ragfile.embedding.protocol import PROVIDERS, open_embedder

    if not settings.is_local and not ApiKeys(settings.keys, os.environ.get(VARIABLE)):
        raise ValueError(
            f"{settings.host} can be reached from other machines, and there is no key: "
            f"make one with `ragfile keys add NAME`, or set {VARIABLE}"
        )
    if is_offline():
        return
    if settings.model:
        open_chat(settings.model)
    provider = PROVIDERS.get(str(settings.embedder or "").partition(":")[0])
    if settings.embedder and (provider is None or provider.is_remote):
        open_embedder(settings.embedder)


def bound(settings: Settings) -> socket.socket:
    """Return the listening socket; port 0 takes a free port."""
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
    """Return the URL of a listening socket."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def configured(settings: Settings, board: Board | None = None) -> uvicorn.Config:
    """Return uvicorn's configuration."""
    optional("uvicorn", "the server")
    optional("httptools", "the server")
    from uvicorn import Config

    from ragfile.doors.server.connections import Clients, most_connections

    # uvicorn declares a class here, and calls it.
    connection = cast("type[Protocol]", Clients(settings).connection)
    return Config(
        functools.partial(make_app, settings, board), factory=True, loop="auto", http=connection,
        lifespan="on", log_config=None, access_log=False, server_header=False, date_header=True,
        proxy_headers=False, timeout_keep_alive=IDLE, ws_max_size=settings.max_body, backlog=BACKLOG,
        limit_concurrency=most_connections(), timeout_graceful_shutdown=GRACE,
    )  # fmt: skip


def announce(listening: socket.socket) -> None:
    """Print the URL on stdout; programs wait for this line."""
    print(f"listening on {address(listening)}", flush=True)


def run(config: uvicorn.Config, listening: socket.socket, ready: Callable[[], object]) -> bool:
    """Serve in this process and call ready() once it does; return False if it cannot start."""
    from uvicorn import Server

    class Announcing(Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready()

    server = Announcing(config)
    server.run(sockets=[listening])
    return server.started


def _work(
    config: uvicorn.Config,
    listening: socket.socket,
    board: Board,
    row: int,
    ready: Callable[[], object],
) -> bool:  # not measured: see workers.py
    """Serve in a worker, which counts in its own row of the board."""
    board.row = row
    return run(config, listening, ready)
