"""Counters of a server, as Prometheus reads them.

    board = Board(workers=2)      before the workers are forked: they share its memory
    board.row = 1                 in a worker, which counts in a row of its own
    board.add("searches")
    board.text()                  of all workers together, whoever is asked

All that is counted is named here: a slot of the memory each.
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STAGES = ("filter", "embed", "bm25", "fuse", "vector", "fetch", "cache")
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)
CLASSES = ("2xx", "3xx", "4xx", "5xx")
ENDINGS = ("stop", "length", "extract", "error", "other")
MEDIA = "text/plain; version=0.0.4; charset=utf-8"
# name -> (what it is, the name of its label, the values of the label)
COUNTERS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "searches": ("Searches.", "", ("",)),
    "degraded_searches": ("Searches for which a retriever could not run.", "", ("",)),
    "stage_seconds": ("Time that searches spent, by stage.", "stage", STAGES),
    "cached_answers": ("Searches that were answered from memory.", "", ("",)),
    "embedding_calls": ("Calls to embedders for questions.", "", ("",)),
    "embedded_texts": ("Texts that were embedded for clients.", "", ("",)),
    "chat_calls": ("Answers, by how they ended; extract is without a model.", "finish", ENDINGS),
    "chat_tokens": ("Tokens that chat models counted.", "kind", ("prompt", "completion")),
    "ingested_files": ("Uploads and documents, by what became of them.", "state",
                       ("indexed", "error", "duplicate")),
    "ingested_chunks": ("Chunks that were written.", "", ("",)),
    "deleted_documents": ("Documents that were deleted.", "", ("",)),
    "sent_bytes": ("Bytes of answers.", "", ("",)),
}  # fmt: skip


class Board:
    """Numbers in memory that forked processes share."""

    def __init__(self, routes: Iterable[str], workers: int = 1):
        self._routes = (*routes, "page", "")
        self._slots = {key: i for i, key in enumerate(self._keys())}
        memory = mmap.mmap(-1, workers * len(self._slots) * 8)
        self._all = np.frombuffer(memory, np.float64).reshape(workers, len(self._slots))
        self.row = 0

    def _keys(self) -> Iterator[tuple[str, ...]]:
        for name, (_, _, values) in COUNTERS.items():
            yield from ((name, value) for value in values)
        for route in self._routes:
            yield from (("requests", route, kind) for kind in CLASSES)
            yield from (("seconds", route, str(bound)) for bound in (*BOUNDS, "+Inf"))
            yield "seconds_sum", route
        yield ("in_flight",)

    def add(self, name: str, value: float = 1, label: str = "") -> None:
        """Counts."""
        self._all[self.row, self._slots[name, label]] += value

    def in_flight(self, count: int) -> None:
        """How many requests this process is about."""
        self._all[self.row, self._slots["in_flight",]] = count

    def request(self, route: str, status: int, seconds: float, size: int) -> None:
        """Counts a request that is over."""
        mine, slots = self._all[self.row], self._slots
        route = route if ("seconds_sum", route) in slots else ""
        kind = f"{min(max(status // 100, 2), 5)}xx"
        bound = next((str(b) for b in BOUNDS if seconds <= b), "+Inf")
        mine[slots["requests", route, kind]] += 1
        mine[slots["seconds", route, bound]] += 1
        mine[slots["seconds_sum", route]] += seconds
        mine[slots["sent_bytes", ""]] += size

    def answered(self, sink: dict[str, Any]) -> None:
        """Counts what an endpoint noted of its answer."""
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

    # ------------------------------------------------------------------------------- showing ---

    def text(self, gauges: Iterable[tuple[str, str, dict[str, str], float]]) -> str:
        """Everything; gauges are (name, help, labels, value) that the caller knows."""
        total = self._all.sum(axis=0)
        lines = [*self._counters(total), *self._requests(total)]
        lines += _family("in_flight", "Requests under way.", "gauge")
        lines.append(_line("in_flight", {}, total[self._slots["in_flight",]]))
        seen: set[str] = set()
        for name, said, labels, value in gauges:
            lines += [] if name in seen else _family(name, said, "gauge")
            seen.add(name)
            lines.append(_line(name, labels, value))
        return "\n".join(lines) + "\n"

    def _counters(self, total):
        for name, (said, label, values) in COUNTERS.items():
            yield from _family(f"{name}_total", said, "counter")
            for value in values:
                labels = {label: value} if label else {}
                yield _line(f"{name}_total", labels, total[self._slots[name, value]])

    def _requests(self, total):
        yield from _family("requests_total", "Requests.", "counter")
        for route in self._routes:
            for kind in CLASSES:
                if count := total[self._slots["requests", route, kind]]:
                    yield _line("requests_total", {"route": route, "status": kind}, count)
        yield from _family("request_seconds", "Time of requests.", "histogram")
        for route in self._routes:
            yield from self._histogram(total, route)

    def _histogram(self, total, route):
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


def _family(name, said, kind):
    return [f"# HELP ragfile_{name} {said}", f"# TYPE ragfile_{name} {kind}"]


def _line(name, labels, value):
    shown = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"ragfile_{name}{f'{{{shown}}}' if shown else ''} {float(value):.12g}"


def _escaped(text):
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
