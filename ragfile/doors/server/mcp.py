"""The Model Context Protocol at /mcp, for connectors at /mcp/connector, and for memories at
/mcp/memory, with the server's collections as files.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from ragfile.doors.mcp.connector import ConnectorTools
from ragfile.doors.mcp.files import OneFile
from ragfile.doors.mcp.http import exchange
from ragfile.doors.mcp.memory_tools import MemoryTools, OpenMemories
from ragfile.doors.mcp.protocol import Server
from ragfile.doors.mcp.tools import Tools
from ragfile.doors.server.native_endpoints import text_weight
from ragfile.doors.server.operations import Raw
from ragfile.doors.server.request import read_in_time, send_whole
from ragfile.ground.urls import without_port

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from ragfile.doors.mcp.files import Files
    from ragfile.doors.mcp.http import HttpResponse
    from ragfile.doors.server.access import Visit
    from ragfile.doors.server.shared_state import Service


CONNECTOR, MEMORY = "/mcp/connector", "/mcp/memory"


class Mcp:
    """An ASGI application that serves MCP."""

    def __init__(self, service: Service, route: str = "/mcp") -> None:
        self._service, self._route = service, route
        self._memories = OpenMemories(service.collections)
        self._servers: dict[tuple[tuple[str, ...], bool], Server] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        visit: Visit = scope["ragfile"]
        visit.route = self._route
        visit.require("read")
        if self._route == MEMORY:
            visit.require_no_filter()
        body = await read_in_time(scope, receive, self._service.settings)
        service, held = self._service.seen_with(visit.where), 0
        try:
            weight = await service.turns.run(
                visit.user, partial(_weight, service, body, visit.file)
            )
            held = await service.memory.take(weight)
            work = partial(self._exchanged, scope["method"], visit, body)
            found = await service.ask_turns.run(visit.user, work)
        finally:
            service.memory.give_back(held)
        media = found.headers.get("content-type", "application/json")
        rest = {name: v for name, v in found.headers.items() if name != "content-type"}
        await send_whole(send, Raw(found.body, media, found.status, rest))

    def _exchanged(self, method: str, visit: Visit, body: bytes) -> HttpResponse:
        """Answer one message; the gate has already checked Host and Origin."""
        server = self._server_of(visit)
        hosts = [without_port(visit.headers.get("host", ""))]
        origins = [visit.headers["origin"]] if "origin" in visit.headers else []
        return exchange(server, method, visit.headers, body, hosts=hosts, origins=origins)

    def _server_of(self, visit: Visit) -> Server:
        """Return the MCP server of this route for a client."""
        service = self._service.seen_with(visit.where)
        if self._route == CONNECTOR:
            base = service.settings.url or f"http://{visit.headers.get('host', '')}"
            return Server(ConnectorTools(service.collections, base))
        can_write = "write" in visit.scopes and service.can_write
        if self._route == MEMORY:
            memories = self._memories.only(visit.file) if visit.file else self._memories
            return Server(MemoryTools(memories, can_write=can_write, agent=visit.user))
        if visit.file:
            files = OneFile(service.collections, visit.file)
            return _tools(service, files, can_write=can_write)
        if visit.where:
            return _tools(service, service.collections, can_write=False)
        return self._server(can_write=can_write)

    def _server(self, *, can_write: bool) -> Server:
        """Return an MCP server of the current collections."""
        service = self._service
        key = (tuple(service.collections.names), can_write)
        if key not in self._servers:
            self._servers = {key: _tools(service, service.collections, can_write=can_write)}
        return self._servers[key]


def _tools(service: Service, files: Files, *, can_write: bool) -> Server:
    """Return an MCP server of some files."""
    model, folders = service.model, service.folders
    return Server(Tools(files, model=model, can_write=can_write, folders=folders))


def _weight(service: Service, body: bytes, only: str) -> int:
    """Return the bytes that a call of `read` takes for its document; 0 for anything else."""
    try:
        message = cast("dict[str, Any]", json.loads(body))  # anything else raises TypeError
        given = message["params"]["arguments"]
        name, doc_id = given.get("file"), given["id"]
        is_read = message["params"]["name"] == "read" and isinstance(doc_id, str)
        rf = service.collections.open(only or name) if is_read else None
        passage_of = doc_id.rpartition("#")[0] if is_read else ""
        return 0 if rf is None else text_weight(rf, doc_id) or text_weight(rf, passage_of)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return 0  # the answer has the reason
