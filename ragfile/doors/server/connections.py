"""Connections with limits, which uvicorn's own protocol does not have.

The headers of a request must arrive in time, and their number and size are limited; so are the
pipelined requests of a connection, the time without reading a response, and the connections from
one address.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ragfile.doors.server.failures import AGAIN, HttpFailure
from ragfile.doors.server.request import encoded
from ragfile.ground import system

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, BaseTransport, TimerHandle, Transport

    from uvicorn import Config
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
    from uvicorn.server import ServerState

    from ragfile.doors.server.settings import Settings

HEAD = 20.0  # seconds in which the headers of a request must arrive
TAKE = 60.0  # seconds in which a client must read some of the response
MOST = 8192  # connections, if the limit on open files allows them
SPARE = 256  # descriptors for everything else
HEAD_BYTES = 64 << 10  # of a request's line and headers
STEP = 16 << 10  # bytes of a head that are parsed at once
HEADERS = 100  # of one request
PIPELINED = 16  # requests of a connection that wait for earlier ones
SITE = 64  # bits of an IPv6 address that belong to one client
LOOPBACK = ("127.0.0.0/8", "::1/128")


def most_connections() -> int:
    """Return the maximum number of connections of one process."""
    allowed = system.most_open_files()
    return max(min(MOST, allowed - SPARE), 16)


class Clients:
    """The number of connections from each address, in one process."""

    def __init__(self, settings: Settings) -> None:
        self._most = settings.connections_per_address
        self._unlimited = [
            ipaddress.ip_network(network, strict=False)
            for network in (*LOOPBACK, *settings.proxies)
        ]
        self._counts: Counter[str] = Counter()

    def connection(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: AbstractEventLoop | None = None,
    ) -> Connection:
        """Return a new connection, as uvicorn asks for it."""
        return Connection(self, config, server_state, app_state, _loop)

    def enter(self, host: str) -> str:
        """Count a connection; return the client to pass to `leave`, "" if it is not limited.

        Raises:
            HttpFailure: It has too many connections.
        """
        client = self._client(host)
        if client and self._counts[client] >= self._most:
            reason = f"the limit of {self._most} connections from one address is reached"
            raise HttpFailure(503, reason, AGAIN)
        self._counts[client] += bool(client)
        return client

    def leave(self, client: str) -> None:
        """Count the end of a connection."""
        self._counts[client] -= 1
        if self._counts[client] <= 0:
            del self._counts[client]

    def _client(self, host: str) -> str:
        """Return the client of an address: for IPv6, its network; "" if it is not limited."""
        try:
            address = ipaddress.ip_address(host)
        except ValueError:  # a Unix socket
            return ""
        address = getattr(address, "ipv4_mapped", None) or address
        if any(address in network for network in self._unlimited):
            return ""
        if address.version == 4:
            return str(address)
        return str(ipaddress.ip_network((address, SITE), strict=False))


class Connection(HttpToolsProtocol):
    """One connection with its limits."""

    _head: TimerHandle | None = None
    _take: TimerHandle | None = None

    def __init__(
        self,
        clients: Clients,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        loop: AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, loop)
        self._clients, self._client = clients, ""
        self._cycles: list[RequestResponseCycle] = []  # whose responses are not complete
        self._is_head, self._received, self._counted = True, 0, 0
        self._refusal: HttpFailure | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        connected = cast("Transport", transport)
        super().connection_made(connected)
        self._head = self.loop.call_later(HEAD, connected.abort)
        try:
            self._client = self._clients.enter(self.client[0] if self.client else "")
        except HttpFailure as failure:
            self._refuse(failure)

    def data_received(self, data: bytes) -> None:
        """Parse data; a head in small steps, so that an endless one is noticed."""
        while data and not self.transport.is_closing() and self.transport.get_protocol() is self:
            was_head = self._is_head
            piece = data[:STEP] if was_head else data
            super().data_received(piece)
            if was_head and self._is_head:
                self._received += len(piece)
                if self._received > HEAD_BYTES + STEP:
                    self._refuse(_too_long())
            data = data[len(piece) :]

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_head, self._received, self._counted = True, 0, 0
        if self._head is None:
            self._head = self.loop.call_later(HEAD, self.transport.abort)

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._count(len(name) + len(value) + 4)
        if len(self.headers) > HEADERS:
            self._fail(HttpFailure(431, f"the request has more than {HEADERS} headers"))

    def _count(self, size: int) -> None:
        self._counted += size
        if self._counted > HEAD_BYTES:
            self._fail(_too_long())

    def _fail(self, failure: HttpFailure) -> None:
        """End the parser; it then calls `send_400_response`."""
        self._refusal = failure
        raise failure

    def send_400_response(self, msg: str) -> None:
        if self._refusal is None:
            super().send_400_response(msg)
        else:
            self._refuse(self._refusal)

    def _refuse(self, failure: HttpFailure) -> None:
        """Answer with a failure, unless another response is being sent, and close."""
        if not any(not cycle.response_complete for cycle in self._cycles):
            self.transport.write(_response(failure))
        self.transport.close()

    def on_headers_complete(self) -> None:
        _cancel(self._head)
        self._head, self._is_head = None, False
        if len(self.pipeline) >= PIPELINED:
            self._fail(HttpFailure(429, f"more than {PIPELINED} requests wait for a response"))
        super().on_headers_complete()
        self._cycles = [cycle for cycle in self._cycles if not cycle.response_complete]
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None while it becomes a WebSocket
        if cycle is not None:
            self._cycles.append(cycle)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._is_head, self._received = True, 0

    def pause_writing(self) -> None:
        super().pause_writing()
        _cancel(self._take)
        self._take = self.loop.call_later(TAKE, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._take)
        self._take = None

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._head)
        _cancel(self._take)
        self._head = self._take = None
        if self._client:
            self._clients.leave(self._client)
        for cycle in self._cycles:  # uvicorn marks the newest only, which may be a later one
            cycle.disconnected = True
            cycle.message_event.set()
        self.pipeline.clear()
        super().connection_lost(exc)


def _too_long() -> HttpFailure:
    return HttpFailure(431, f"the line and headers of the request exceed {HEAD_BYTES:,} bytes")


def _response(failure: HttpFailure) -> bytes:
    """Return a whole response that closes its connection."""
    body = encoded(failure.to_dict())
    head = [
        b"HTTP/1.1 %d \r\n" % failure.status, b"content-type: application/json\r\n",
        b"content-length: %d\r\nconnection: close\r\n\r\n" % len(body),
    ]  # fmt: skip
    return b"".join([*head, body])


def _cancel(timer: TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
