"""What an open file has: sections, sizes, signatures, and which of its rows are alive and have vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragfile import _core
from ragfile.file import custom_sections, prefetch
from ragfile.file.open_file import FOOTER, OpenFile, of_one_commit
from ragfile.file.stale_records import read_stale
from ragfile.ground.annotations import deferred
from ragfile.types import Int64s, SectionEntry

if TYPE_CHECKING:
    from ragfile.file.signatures import Signature
else:
    Signature = deferred("ragfile.file.signatures", "Signature")

RECORD_SIZE = _core.CHUNK_RECORD_SIZE
# Compaction pays when this share of a file is of the past, small change (bytes) aside, or rows lie in more segments than this.
PAYS_SHARE, PAYS_FROM, PAYS_SEGMENTS = 0.25, 64 << 10, 16


def signature_fact(signature: Signature) -> dict[str, Any]:
    """A signature as info tells of it."""
    return {name: getattr(signature, name) for name in ("key_id", "signer", "signed", "is_current")}


class DescribedFile(OpenFile):
    """An open file that says what is in it."""

    @property
    def stale_records(self) -> list[dict[str, Any]]:
        """What rag.stale says: [{"chunking": policy, "documents": ids}], the documents cut by another policy than the file's."""
        return read_stale(self.reader, self.path)

    @property
    def compaction(self) -> str:
        """Why compaction would pay, or ""."""
        size, kept = len(self._map), PAYS_FROM
        live = {
            segment.number: segment.live / segment.rows if segment.rows else 1
            for segment in self.segments
        }
        kept += sum(e["extent"] * live.get(e["segment"], 1) for e in self.reader.entries)
        if size - kept > size * PAYS_SHARE:
            return f"about {(size - kept) / size:.0%} of the file is of the past"
        if len(self.segments) > PAYS_SEGMENTS:
            return f"the rows lie in {len(self.segments)} segments"
        return ""

    @property
    def dim(self) -> int | None:
        """Components of a vector; None in a file without vectors."""
        return self.config.get("dim")

    @property
    def strategies(self) -> list[str]:
        """Names of the sections, in file order."""
        return list(dict.fromkeys(entry["name"] for entry in self.reader.entries))

    @property
    @of_one_commit
    def info(self) -> dict[str, Any]:
        """The file at a glance."""
        commit = self._commit
        prefetch.whole(
            [s for s in self.segments if s.has_deletions],
            "rag.documents",
            "rag.ids",
            "rag.tombs",
            "rag.gone",
        )
        return {
            "path": self.path, "format": "1.0", "size": len(self._map), "generation": self.generation,
            "created": commit["created"], "message": commit["message"], "identity": f"{commit['identity']:016x}",
            "chunks": len(self), "deleted": self.rows - len(self), "segments": len(self.segments),
            "documents": sum(segment.document_count() for segment in self.segments if segment.has("rag.ids")),
            "dim": self.dim, "metric": self.config.get("metric"), "model": self.config.get("model"),
            "strategies": self.strategies, "read_only": commit["read_only"], "tail": commit["tail"],
            "recovered": commit["lost_generation"] != 0,
            "lost_generation": self._numbered(commit["lost_generation"]) if commit["lost_generation"] else 0,
            "stale": sum(len(entry["documents"]) for entry in self.stale_records), "compaction": self.compaction,
            "parity": self.config.get("parity", 0) if self.reader.has("rag.parity") else 0,
            "signatures": [signature_fact(signature) for signature in self.signatures],
            "pinned": sum(segment.pinned_size for segment in self.segments),
        }  # fmt: skip

    @property
    def has_lost_commit(self) -> bool:
        """Whether a newer commit was made and is damaged; info says which."""
        return bool(self._commit["lost_generation"])

    @property
    def signatures(self) -> list[Signature]:
        """Who signed the file, as far as it says so: `trusted=` of open() checks it."""
        from ragfile.file import signatures

        return signatures.signatures(self.reader) if self.reader.has("rag.signatures") else []

    @property
    def entries(self) -> list[SectionEntry]:
        """The table of contents: one dict a section."""
        entries = self.reader.entries
        for entry in entries:
            entry["generation"] = self._numbered(entry["generation"])
        return entries

    def section(self, name: str, segment: int | None = None) -> _core.Section | None:
        """The bytes of a section, as a read-only buffer with lazy checksums; None when there is none."""
        if segment is not None:
            return self.reader.section(name, segment)
        numbers = [0, *(s.number for s in self.segments)]
        return next(
            (found for n in numbers if (found := self.reader.section(name, n)) is not None), None
        )

    def strategy(self, name: str) -> Any:
        """The searcher of a section that somebody registered a strategy for."""
        section = self.section(name)
        if section is None:
            raise KeyError(f"{self.path} has no section {name!r}")
        return custom_sections.opener(name)(section, self)

    def rows_in(self, start: int, end: int) -> list[int]:
        """The live rows whose records begin at bytes [start, end) of the file: any partition of the file gives each row once.

        This is how a file is split between workers that know only byte ranges.
        """
        found = []
        for segment in self.segments:
            at = self.reader.entry("rag.chunks", segment.number)["at"]
            first, last = (
                min(max(-(-(edge - at) // RECORD_SIZE), 0), segment.rows) for edge in (start, end)
            )
            found.extend(segment.base + row for row in range(first, last) if segment.is_live(row))
        return found

    @property
    def footer(self) -> tuple[int, int]:
        """(offset, bytes) of what ends the commit that is open."""
        return self._commit["end"] - FOOTER, FOOTER

    def verify(self, full: bool = True) -> tuple[list[tuple[str, int, str, str]], dict[str, int]]:
        """(faults, counts) of every byte of the file."""
        return self.reader.verify(full)

    @property
    def has_vectors(self) -> bool:
        """Whether there are chunks with vectors; vector_mask() tells which, where some have none."""
        return self._known("has vectors", lambda segment: segment.vector_count)

    def vector_mask(self) -> NDArray[np.bool_]:
        """bool[rows]: whether a row has a vector. It can be a filter: `where=~rf.vector_mask()`."""
        found = self._made.get("vector mask")
        if found is None:
            masks = [segment.vector_mask() for segment in self.segments]
            found = np.concatenate(masks) if masks else np.empty(0, bool)
            found.flags.writeable = False
            self._made["vector mask"] = found
        return found

    @property
    def has_bare_rows(self) -> bool:
        """Whether there are live chunks without a vector beside some that have one."""
        found = self._made.get("has bare rows")
        if found is None:
            found = any(segment.has_bare_rows for segment in self.segments if segment.live)
            found = found and 0 < int(self.vector_mask().sum()) < len(self)
            self._made["has bare rows"] = found
        return found

    @property
    def has_bm25(self) -> bool:
        """Whether there are chunks in a BM25 index."""
        return self._known("has bm25", lambda segment: segment.has("rag.terms"))

    def _known(self, name, holds):
        """Whether something holds for a segment with live rows; found once for a commit."""
        found = self._made.get(name)
        if found is None:
            found = any(segment.live and holds(segment) for segment in self.segments)
            self._made[name] = found
        return found

    def alive(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The mask, false for deleted rows."""
        return mask if len(self) == self.rows else mask & self._live

    def live_rows(self) -> Int64s:
        """The numbers of the rows that are not deleted, in order, as int64. There are len(rf) of them."""
        return np.flatnonzero(self._live)

    @property
    def _live(self):
        """bool[rows]: what is not deleted."""
        found = self._made.get("live")
        if found is None:
            masks = [segment.live_mask() for segment in self.segments]
            found = np.concatenate(masks) if masks else np.empty(0, bool)
            self._made["live"] = found
        return found

    def _check_live(self, rows):
        if len(self) < self.rows:
            dead = rows[~self._live[rows]]
            if len(dead):
                raise deleted(dead[0])


def deleted(row):
    return IndexError(f"row {row} is deleted: live_rows() lists the rows that are left")
