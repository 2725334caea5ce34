"""The application: addresses and what answers there, behind one gate."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from ragfile.doors.server.access import Gate
from ragfile.doors.server.endpoints import operations
from ragfile.doors.server.mcp import Mcp
from ragfile.doors.server.metrics import Board
from ragfile.doors.server.page_files import WebPage
from ragfile.doors.server.request import OperationApp
from ragfile.doors.server.shared_state import Service
from ragfile.doors.server.sockets import ROUTE, Socket
from ragfile.ground.extras import optional

if TYPE_CHECKING:
    from ragfile.doors.server.operations import Operation
    from ragfile.doors.server.settings import Settings


def make_app(settings: Settings, board: Board | None = None) -> Any:
    """An ASGI application over the files of the settings."""
    routing = optional("starlette.routing", "the server")
    _teach_text()
    asked = operations(settings)
    service = Service(settings, board or Board(routes_of(asked)))
    routes = [
        routing.Route(path, OperationApp(service, group)) for path, group in _by_path(asked).items()
    ]
    routes.append(routing.Route("/mcp", Mcp(service)))
    routes.append(routing.WebSocketRoute(ROUTE, Socket(service)))

    @asynccontextmanager
    async def lifespan(_: Any):
        if service.board.row == 0:
            service.writer.submit(service.resume)
        yield
        service.close()

    app = routing.Router(routes, redirect_slashes=False, default=WebPage(), lifespan=lifespan)
    return Gate(app, service)


def _teach_text() -> None:
    """The kind `text` for a part of an address: as `path`, but for names that hold line breaks, too."""
    from starlette.convertors import PathConvertor, register_url_convertor

    class Text(PathConvertor):
        regex = "(?s:.*)"

    register_url_convertor("text", Text())


def routes_of(found: list[Operation]) -> list[str]:
    """The routes that are counted."""
    return [*dict.fromkeys(operation.path for operation in found), "/mcp"]


def _by_path(found: list[Operation]) -> dict[str, list[Operation]]:
    paths: dict[str, list[Operation]] = {}
    for operation in found:
        paths.setdefault(operation.path, []).append(operation)
    return paths
