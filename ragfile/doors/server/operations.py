"""The operations of a server: one record for each method of a path.

Routes, checks of bodies and queries, and /openapi.json are made from these records, so they cannot
disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ragfile.ground.cancellation import Waiter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from ragfile.doors.server.shared_state import Service
    from ragfile.ground.json_schema import Schema
    from ragfile.write.group_commit import PendingChange

    Sink: TypeAlias = dict[str, Any]  # facts of a response for the log and the metrics
    Endpoint: TypeAlias = Callable[[Service, "Call"], Any]

OPEN_TO_ALL = ""  # a scope that needs no key


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path. `answer` is its endpoint; it runs in a thread."""

    method: str
    path: str
    answer: Endpoint
    summary: str
    scope: str = "read"
    body: Schema | None = None
    query: dict[str, Schema] = field(default_factory=lambda: {})
    returns: Schema = field(default_factory=lambda: {"type": "object"})
    status: int = 200
    answers: str = "application/json"  # the media type of the response
    is_ask: bool = False  # may wait for a chat model
    media: str = "application/json"  # the media type of the request's body
    is_write: bool = False  # runs in the queue of writes
    makes_file: bool = False  # the only one of the request's key, if it does not exist
    change: Callable[[Service, Call], PendingChange[Any]] | None = (
        None  # one that shares its commit
    )
    failures: tuple[int, ...] = ()  # statuses besides those of every operation
    weight: Callable[[Service, Call], int] | None = None  # bytes that it holds, roughly
    is_filtered: bool = False  # for keys with a filter, too: it reads through `service` alone
    advice: str = ""  # for clients that try another method of the path


@dataclass(slots=True)
class Call:
    """One checked request. `sink` collects facts of its response for the log and the metrics."""

    path: dict[str, str]
    query: dict[str, Any]
    body: Any  # Any: a JSON value, or the Received of a multipart body
    headers: dict[str, str]
    request_id: str
    user: str = ""
    sink: Sink = field(default_factory=dict[str, Any])
    waiter: Waiter = field(default_factory=Waiter)
    change: PendingChange[Any] | None = None  # handed in when the request arrived

    @property
    def gone(self) -> bool:
        """Return whether the client has disconnected."""
        return self.waiter.has_left


class EventStream(NamedTuple):
    """A response in steps, each ready for JSON. `close` ends them early."""

    events: Iterable[Any]
    close: Callable[[], object]
    encode: Callable[[Any], bytes]
    last: bytes = b""


class Raw(NamedTuple):
    """A response with its body in bytes."""

    body: bytes
    media: str
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012 - it is never changed
