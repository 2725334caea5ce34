"""The ASGI application: routes and their endpoints, behind one gate."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ragfile.doors.server.access import Gate
from ragfile.doors.server.endpoints import operations
from ragfile.doors.server.mcp import CONNECTOR, MEMORY, Mcp
from ragfile.doors.server.metrics import Board
from ragfile.doors.server.page_files import WebPage
from ragfile.doors.server.request import OperationApp
from ragfile.doors.server.shared_state import Service
from ragfile.doors.server.websocket import ROUTE, Socket
from ragfile.ground.extras import optional

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.types import ASGIApp

    from ragfile.doors.server.operations import Operation
    from ragfile.doors.server.settings import Settings


def make_app(settings: Settings, board: Board | None = None) -> ASGIApp:
    """Return an ASGI application that serves the files of the settings."""
    routing = optional("starlette.routing", "the server")
    _register_text_convertor()
    offered = operations(settings)
    service = Service(settings, board or Board(routes_of(offered)))
    routes = [
        routing.Route(path, OperationApp(service, group))
        for path, group in _by_path(offered).items()
    ]
    routes += [routing.Route(path, Mcp(service, path)) for path in ("/mcp", CONNECTOR, MEMORY)]
    routes.append(routing.WebSocketRoute(ROUTE, Socket(service)))

    @asynccontextmanager
    async def lifespan(_: ASGIApp) -> AsyncGenerator[None]:
        if service.board.row == 0:
            service.writer.submit(service.resume)
        yield
        service.close()

    app = routing.Router(routes, redirect_slashes=False, default=WebPage(), lifespan=lifespan)
    return Gate(app, service)


def _register_text_convertor() -> None:
    """Register the path convertor `text`: `path` that also matches line breaks."""
    from starlette.convertors import PathConvertor, register_url_convertor

    class TextConvertor(PathConvertor):
        regex = "(?s:.*)"

    register_url_convertor("text", TextConvertor())


def routes_of(offered: list[Operation]) -> list[str]:
    """Return the routes that the metrics count."""
    return [*dict.fromkeys(operation.path for operation in offered), "/mcp", CONNECTOR, MEMORY]


def _by_path(offered: list[Operation]) -> dict[str, list[Operation]]:
    """Group operations by their path."""
    paths: dict[str, list[Operation]] = {}
    for operation in offered:
        paths.setdefault(operation.path, []).append(operation)
    return paths
