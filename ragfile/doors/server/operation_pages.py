"""The endpoints of the server itself: its OpenAPI description and its metrics."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from ragfile.doors.server.metrics import MEDIA, Gauge
from ragfile.doors.server.operations import Raw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.shared_state import Service


def description(service: Service, call: Call) -> dict[str, Any]:
    """Return /openapi.json."""
    from ragfile.doors.server.endpoints import operations
    from ragfile.doors.server.openapi import describe

    return describe(operations(service.settings, sorted(set(_dims(service)))))


def _dims(service: Service) -> Iterator[int]:
    """Yield the dimensions of the collections that can be read and have vectors."""
    for name in service.collections.names:
        with contextlib.suppress(Exception):
            if dim := service.collections.at_commit(name).info["dim"]:
                yield dim


def metrics(service: Service, call: Call) -> Raw:
    """Return /metrics."""
    return Raw(service.board.text(_gauges(service)).encode(), MEDIA)


GAUGES = {
    "up": "Whether the collection can be read.",
    "generation": "Its newest commit.",
    "chunks": "Its live chunks.",
}


def _gauges(service: Service) -> Iterator[Gauge]:
    """Yield the state of each collection, gauge by gauge."""
    states = {name: _state(service, name) for name in service.collections.names}
    for gauge, help_text in GAUGES.items():
        for name, state in states.items():
            yield Gauge(f"collection_{gauge}", help_text, {"collection": name}, state[gauge])


def _state(service: Service, name: str) -> dict[str, int]:
    """Return the gauges of one collection; zeros if it cannot be read."""
    try:
        rf = service.collections.at_commit(name)
        return {"up": 1, "generation": rf.generation, "chunks": len(rf)}
    except Exception:  # noqa: BLE001 - requests to the collection report the reason
        return dict.fromkeys(GAUGES, 0)
