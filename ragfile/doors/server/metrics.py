"""The server's metrics, in Prometheus' text format.

    board = Board(routes, workers=2)   before the workers are forked: they share its memory
    board.row = 1                      in a worker, which counts in a row of its own
    board.add("searches")
    board.text(gauges)                 the sums over all workers

Every counter is declared here and has one slot of the shared memory in each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile.ground import system

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ragfile.doors.server.operations import Sink
    from ragfile.types import Floats

STAGES = ("filter", "embed", "bm25", "fuse", "vector", "fetch", "cache")
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)
CLASSES = ("2xx", "3xx", "4xx", "5xx")
ENDINGS = ("stop", "length", "extract", "error", "other")
MEDIA = "text/plain; version=0.0.4; charset=utf-8"


class Counter(NamedTuple):
    """A counter's help, the name of its label and the values of the label."""

    help: str
    label: str = ""
    values: tuple[str, ...] = ("",)


class Gauge(NamedTuple):
    """One sample of a gauge that the caller of `Board.text` measures."""

    name: str
    help: str
    labels: dict[str, str]
    value: float


COUNTERS = {
    "searches": Counter("Searches."),
    "degraded_searches": Counter("Searches for which a retriever could not run."),
    "stage_seconds": Counter("Time that searches spent, by stage.", "stage", STAGES),
    "cached_answers": Counter("Searches that were answered from memory."),
    "embedding_calls": Counter("Calls to embedders, for questions, documents and uploads."),
    "embedded_texts": Counter("Texts that were embedded for clients."),
    "chat_calls": Counter(
        "Answers, by finish reason; extract is without a model.", "finish", ENDINGS
    ),
    "chat_tokens": Counter("Tokens that chat models counted.", "kind", ("prompt", "completion")),
    "ingested_files": Counter(
        "Uploads and documents, by their final state.", "state", ("indexed", "error", "duplicate")
    ),
    "ingested_chunks": Counter("Chunks that were written."),
    "deleted_documents": Counter("Documents that were deleted."),
    "sent_bytes": Counter("Bytes of response bodies."),
}


class Board:
    """Counters in memory that forked processes share."""

    def __init__(self, routes: Iterable[str], workers: int = 1) -> None:
        self._routes: tuple[str, ...] = (*routes, "page", "")
        self._slots = {key: i for i, key in enumerate(self._keys())}
        memory = system.shared_memory(workers * len(self._slots) * 8)
        self._all = np.frombuffer(memory, np.float64).reshape(workers, len(self._slots))
        self.row = 0

    def _keys(self) -> Iterator[tuple[str, ...]]:
        for name, counter in COUNTERS.items():
            yield from ((name, value) for value in counter.values)
        for route in self._routes:
            yield from (("requests", route, kind) for kind in CLASSES)
            yield from (("seconds", route, str(bound)) for bound in (*BOUNDS, "+Inf"))
            yield "seconds_sum", route
        yield ("in_flight",)

    def add(self, name: str, value: float = 1, label: str = "") -> None:
        """Add a value to a counter."""
        self._all[self.row, self._slots[name, label]] += value

    def in_flight(self, count: int) -> None:
        """Set the number of requests that this process is serving."""
        self._all[self.row, self._slots["in_flight",]] = count

    def request(self, route: str, status: int, seconds: float, size: int) -> None:
        """Count a finished request."""
        mine, slots = self._all[self.row], self._slots
        route = route if ("seconds_sum", route) in slots else ""
        kind = f"{min(max(status // 100, 2), 5)}xx"
        bound = next((str(b) for b in BOUNDS if seconds <= b), "+Inf")
        mine[slots["requests", route, kind]] += 1
        mine[slots["seconds", route, bound]] += 1
        mine[slots["seconds_sum", route]] += seconds
        mine[slots["sent_bytes", ""]] += size

    def answered(self, sink: Sink) -> None:
        """Count the facts that an endpoint noted about its response."""
        self.add("searches", sink.get("searches", 0))
        self.add("degraded_searches", bool(sink.get("degraded")))
        self.add("embedded_texts", sink.get("embedded", 0))
        for stage, spent in sink.get("timings", {}).items():
            if stage in STAGES:
                self.add("stage_seconds", spent / 1e3, stage)
            self.add("cached_answers", stage == "cache")
        self.add("deleted_documents", sink.get("deleted", 0))
        self.add("ingested_chunks", sink.get("chunks", 0))
        self.add("ingested_files", "chunks" in sink, "indexed")
        if "finish" in sink:
            finish = sink["finish"]
            self.add("chat_calls", 1, finish if finish in ENDINGS else "other")
            for kind in ("prompt", "completion"):
                self.add("chat_tokens", sink["tokens"].get(f"{kind}_tokens", 0), kind)

    def text(self, gauges: Iterable[Gauge]) -> str:
        """Return all counters and the given gauges in Prometheus' text format."""
        total = self._all.sum(axis=0)
        lines = [*self._counters(total), *self._requests(total)]
        lines += _family("in_flight", "Requests under way.", "gauge")
        lines.append(_line("in_flight", {}, total[self._slots["in_flight",]]))
        seen: set[str] = set()
        for gauge in gauges:
            lines += [] if gauge.name in seen else _family(gauge.name, gauge.help, "gauge")
            seen.add(gauge.name)
            lines.append(_line(gauge.name, gauge.labels, gauge.value))
        return "\n".join(lines) + "\n"

    def _counters(self, total: Floats) -> Iterator[str]:
        for name, counter in COUNTERS.items():
            yield from _family(f"{name}_total", counter.help, "counter")
            for value in counter.values:
                labels = {counter.label: value} if counter.label else {}
                yield _line(f"{name}_total", labels, total[self._slots[name, value]])

    def _requests(self, total: Floats) -> Iterator[str]:
        yield from _family("requests_total", "Requests.", "counter")
        for route in self._routes:
            for kind in CLASSES:
                if count := total[self._slots["requests", route, kind]]:
                    yield _line("requests_total", {"route": route, "status": kind}, count)
        yield from _family("request_seconds", "Time of requests.", "histogram")
        for route in self._routes:
            yield from self._histogram(total, route)

    def _histogram(self, total: Floats, route: str) -> Iterator[str]:
        count = 0.0
        if not any(total[self._slots["seconds", route, str(b)]] for b in (*BOUNDS, "+Inf")):
            return
        for bound in (*map(str, BOUNDS), "+Inf"):
            count += total[self._slots["seconds", route, bound]]
            yield _line("request_seconds_bucket", {"route": route, "le": bound}, count)
        yield _line(
            "request_seconds_sum", {"route": route}, total[self._slots["seconds_sum", route]]
        )
        yield _line("request_seconds_count", {"route": route}, count)


def _family(name: str, help_text: str, kind: str) -> list[str]:
    return [f"# HELP ragfile_{name} {help_text}", f"# TYPE ragfile_{name} {kind}"]


def _line(name: str, labels: dict[str, str], value: float) -> str:
    shown = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"ragfile_{name}{f'{{{shown}}}' if shown else ''} {float(value):.12g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
