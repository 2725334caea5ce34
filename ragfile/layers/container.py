"""Layers as a container: `rf.file` of several files. Sections are those of the highest layer that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile import _core
    from ragfile.file.container import Container
    from ragfile.file.signatures import Signature
    from ragfile.layers.layered_rows import LayersSnapshot
    from ragfile.types import PairStrategy, SectionEntry


class LayersContainer:
    """The sections of layers. Its members match those of a file's container."""

    __slots__ = ("_snapshot", "path")

    def __init__(self, snapshot: LayersSnapshot) -> None:
        self._snapshot, self.path = snapshot, snapshot.path

    @property
    def _files(self) -> list[Container]:
        """The containers of the layers; a dataset's has the members of a file's."""
        return [cast("Container", layer.file) for layer in self._snapshot.layers]

    @property
    def config(self) -> dict[str, Any]:
        """The configuration of the lowest layer, which the view answers by."""
        return self._snapshot.config

    @property
    def has_lost_commit(self) -> bool:
        """Whether a layer has a newer commit that is damaged."""
        return any(file.has_lost_commit for file in self._files)

    @property
    def stale_records(self) -> list[dict[str, Any]]:
        """The stale records of all layers."""
        return [record for file in self._files for record in file.stale_records]

    @property
    def compaction(self) -> str:
        """The reason to compact a layer, or ""."""
        named = ((file.path, file.compaction) for file in self._files)
        return "; ".join(f"{path}: {reason}" for path, reason in named if reason)

    @property
    def strategies(self) -> list[str]:
        """The names of the sections of all layers."""
        return list(dict.fromkeys(name for file in self._files for name in file.strategies))

    @property
    def signatures(self) -> list[Signature]:
        """The signatures of all layers, unchecked: `trusted=` of open() checks them."""
        return [signature for file in self._files for signature in file.signatures]

    @property
    def entries(self) -> list[SectionEntry]:
        """The sections of all layers, the lowest layer first; offsets are those of its file."""
        return [entry for file in self._files for entry in file.entries]

    def section(self, name: str, segment: int | None = None) -> _core.Section | None:
        """Return a section of the highest layer that has it."""
        found = (file.section(name, segment) for file in reversed(self._files))
        return next((section for section in found if section is not None), None)

    @property
    def footer(self) -> tuple[int, int]:
        """Raise ValueError: only files have footers."""
        raise ValueError(f"{self.path} are layers: open one of them for its footer")

    @property
    def reader(self) -> _core.Reader:
        """Raise ValueError: only files have readers."""
        raise ValueError(f"{self.path} are layers: open one of them for its reader")

    def raw(self, at: int, size: int) -> bytes:
        """Raise ValueError: only files have bytes."""
        raise ValueError(f"{self.path} are layers: open one of them for its bytes")

    def rows_in(self, start: int, end: int) -> list[int]:
        """Return the live rows from start to end, by row number: layers have no byte offsets."""
        found: list[int] = []
        for segment in self._snapshot.segments:
            rows = np.flatnonzero(segment.live_mask()) + segment.base
            found += rows[(rows >= start) & (rows < end)].tolist()
        return found

    def pairs(self, name: PairStrategy) -> Iterator[tuple[Any, str]]:
        """Raise ValueError: pairs are those of one file."""
        raise ValueError(f"{self.path} are layers: open one of them for its pairs")

    def lookup(self, keyword: str) -> list[str]:
        """Return the texts of all `keyword` pairs of visible rows with this key."""
        kept = (segment for segment in self._snapshot.segments if segment.has("keyword"))
        return [text for segment in kept for text in segment.lookup(keyword)]

    def verify(self, full: bool = True) -> tuple[list[tuple[str, int, str, str]], dict[str, int]]:
        """Check every byte of all layers. Return (faults, counts)."""
        faults: list[tuple[str, int, str, str]] = []
        counts: dict[str, int] = {}
        for file in self._files:
            found, counted = file.verify(full)
            faults += found
            for name, count in counted.items():
                counts[name] = counts.get(name, 0) + count
        return faults, counts

    @property
    def info(self) -> dict[str, Any]:
        """A summary of the view, with one of each layer."""
        view, config = self._snapshot, self._snapshot.config
        layers = [file.info for file in self._files]
        with_ids = (segment for segment in view.segments if segment.has("rag.ids"))
        return {
            "path": self.path, "format": "layers", "size": sum(each["size"] for each in layers),
            "generation": view.generation, "created": layers[-1]["created"],
            "message": layers[-1]["message"], "chunks": view.live, "deleted": view.count - view.live,
            "documents": sum(segment.document_count() for segment in with_ids), "dim": config.get("dim"),
            "metric": config.get("metric"), "model": config.get("model"), "strategies": self.strategies,
            "compaction": self.compaction, "identity": "+".join(each["identity"] for each in layers),
            "segments": len(view.segments), "read_only": layers[-1]["read_only"], "tail": 0,
            "recovered": any(each["recovered"] for each in layers), "lost_generation": 0,
            "stale": sum(each["stale"] for each in layers),
            "signatures": [one for each in layers for one in each["signatures"]], "layers": layers,
        }  # fmt: skip
