"""What a server says of itself: its description and its counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragfile.doors.server.metrics import MEDIA
from ragfile.doors.server.operations import Raw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.shared_state import Service


def description(service: Service, call: Call) -> dict[str, Any]:
    """/openapi.json."""
    from ragfile.doors.server.description import describe
    from ragfile.doors.server.endpoints import operations

    return describe(operations(service.settings))


def metrics(service: Service, call: Call) -> Raw:
    """/metrics."""
    return Raw(service.board.text(_gauges(service)).encode(), MEDIA)


def _gauges(service) -> Iterator[tuple[str, str, dict[str, str], float]]:
    """The state of each collection that is open and can be read."""
    facts = []
    for name in service.collections.names:
        try:
            rf = service.collections.at_commit(name)
        except Exception:  # noqa: BLE001 - its own requests say why
            facts.append((name, 0, 0, 0))
            continue
        facts.append((name, 1, rf.generation, len(rf)))
    names = (
        ("up", "Whether the collection can be read."), ("generation", "Its newest commit."),
        ("chunks", "Its live chunks."),
    )  # fmt: skip
    for place, (name, said) in enumerate(names, 1):
        yield from ((f"collection_{name}", said, {"collection": f[0]}, f[place]) for f in facts)
