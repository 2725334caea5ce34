"""What a server can be asked: one record for each method of an address.

The records make the routes, the checks of bodies and queries, and /openapi.json, so that the three
cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ragfile.ground.cancellation import Waiter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ragfile.ground.json_schema import Schema


OPEN_TO_ALL = ""  # in the place of a scope


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing to ask. `answer` is a function of (service, call); it runs in a thread."""

    method: str
    path: str
    answer: Callable[[Any, Call], Any]
    summary: str
    scope: str = "read"
    body: Schema | None = None
    query: dict[str, Schema] = field(default_factory=dict)
    returns: Schema = field(default_factory=lambda: {"type": "object"})
    status: int = 200
    answers: str = "application/json"  # the media type of the answer
    is_ask: bool = False  # waits for a model
    media: str = "application/json"  # of the body that is asked
    is_write: bool = False  # waits for its turn
    failures: tuple[int, ...] = ()  # besides those that any can have


@dataclass(slots=True)
class Call:
    """One request, checked. `sink` takes what the log and the metrics have to know of its answer."""

    path: dict[str, str]
    query: dict[str, Any]
    body: Any
    headers: dict[str, str]
    request_id: str
    user: str = ""
    sink: dict[str, Any] = field(default_factory=dict)
    waiter: Waiter = field(default_factory=Waiter)

    @property
    def gone(self) -> bool:
        """Whether the client has left, and nobody reads on."""
        return self.waiter.has_left


class EventStream(NamedTuple):
    """An answer that comes in steps, each ready for JSON. `close` ends them early."""

    events: Iterable[Any]
    close: Callable[[], object]
    encode: Callable[[Any], bytes]
    last: bytes = b""


class Raw(NamedTuple):
    """A body as it is sent."""

    body: bytes
    media: str
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012 - nobody writes to it
