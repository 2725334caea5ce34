"""A 1.0 file as a container: its sections, sizes, signatures, pairs and history. `rf.file` is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragfile import _core
from ragfile.file import remote_prefetch
from ragfile.file.generation_limits import obstacle
from ragfile.file.snapshot import FOOTER
from ragfile.file.stale_records import read_stale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile.file.row_segment import RowSegment
    from ragfile.file.signatures import Signature
    from ragfile.file.snapshot import Snapshot
    from ragfile.types import PairStrategy, SectionEntry, Vector

RECORD_SIZE = _core.CHUNK_RECORD_SIZE
# Compaction pays when this share of a file is obsolete, small change (bytes) aside, or it has more segments than this.
TAIL = "bytes after the newest commit belong to none"  # a fault of the core that is no damage
PAYS_SHARE, PAYS_FROM, PAYS_SEGMENTS = 0.25, 64 << 10, 32


class Container:
    """The sections of one commit of a file."""

    __slots__ = ("_snapshot", "path", "reader")

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot, self.reader, self.path = snapshot, snapshot.reader, snapshot.path

    @property
    def _segments(self) -> list[RowSegment]:
        return self._snapshot.segments

    @property
    def config(self) -> dict[str, Any]:
        """The build settings of the file."""
        return self._snapshot.config

    @property
    def entries(self) -> list[SectionEntry]:
        """The table of contents: one dict a section."""
        entries = self.reader.entries
        for entry in entries:
            entry["generation"] = self._snapshot.numbered(entry["generation"])
        return entries

    @property
    def strategies(self) -> list[str]:
        """Names of the sections, in file order."""
        if self._snapshot.source.format != "1.0":  # its sections were made when it was opened
            return ["vector", "bm25"]
        return list(dict.fromkeys(entry["name"] for entry in self.reader.entries))

    @property
    def footer(self) -> tuple[int, int]:
        """(offset, bytes) of the footer of the commit that is open."""
        return self._snapshot.commit["end"] - FOOTER, FOOTER

    @property
    def has_lost_commit(self) -> bool:
        """Whether a newer commit exists and is damaged; info names it."""
        return bool(self._snapshot.commit["lost_generation"])

    @property
    def signatures(self) -> list[Signature]:
        """The signatures of the file, unchecked: `trusted=` of open() checks them."""
        from ragfile.file import signatures

        return signatures.signatures(self.reader) if self.reader.has("rag.signatures") else []

    def section(self, name: str, segment: int | None = None) -> _core.Section | None:
        """Return a section as a read-only buffer with lazy checksums, or None if it is missing."""
        if segment is not None:
            return self.reader.section(name, segment)
        numbers = [0, *(s.number for s in self._segments)]
        return next(
            (found for n in numbers if (found := self.reader.section(name, n)) is not None), None
        )

    def raw(self, at: int, size: int) -> bytes:
        """Return a copy of bytes of the file, as many as there are."""
        return self._snapshot.raw(at, size)

    def verify(self, full: bool = True) -> tuple[list[tuple[str, int, str, str]], dict[str, int]]:
        """Check every byte of the file. Return (faults, counts)."""
        return self.reader.verify(full)

    def rows_in(self, start: int, end: int) -> list[int]:
        """Return the live rows with records that begin at bytes [start, end) of the file.

        Any partition of the file gives each row once, so workers that know only byte ranges can share a file.
        """
        found: list[int] = []
        for segment in self._segments:
            at = self.reader.entry("rag.chunks", segment.number)["at"]
            first, last = (
                min(max(-(-(edge - at) // RECORD_SIZE), 0), segment.rows) for edge in (start, end)
            )
            found.extend(segment.base + row for row in range(first, last) if segment.is_live(row))
        return found

    def pairs(self, name: PairStrategy) -> Iterator[tuple[Vector | str, str]]:
        """Yield (vector, reference) or (reference, text) of each pair of the `vector` or `keyword` sections, in place."""
        if name not in ("keyword", "vector"):
            raise ValueError(f"pairs are in 'keyword' and 'vector', not in {name!r}")
        for segment in self._segments:
            if not segment.has(name):
                continue
            if name == "keyword":
                yield from segment.live_keyword_pairs()
            else:
                for row, vector in enumerate(segment.stored_vectors(0, segment.rows)):
                    if segment.is_live(row):
                        yield vector, f"c{row:010d}"

    def lookup(self, keyword: str) -> list[str]:
        """Return the texts of all `keyword` pairs with this key."""
        kept = [segment for segment in self._segments if segment.has("keyword")]
        return [text for segment in kept for text in segment.lookup(keyword)]

    @property
    def stale_records(self) -> list[dict[str, Any]]:
        """The documents chunked by another policy than the file's: [{"chunking": policy, "documents": ids}]."""
        return read_stale(self.reader, self.path)

    @property
    def compaction(self) -> str:
        """Reason to compact the file, or ""."""
        size, kept = self._snapshot.bytes.size, float(PAYS_FROM)
        live = {
            segment.number: segment.live / segment.rows if segment.rows else 1
            for segment in self._segments
        }
        kept += sum(e["extent"] * live.get(e["segment"], 1) for e in self.reader.entries)
        if size - kept > size * PAYS_SHARE:
            return f"about {(size - kept) / size:.0%} of the file is of the past"
        if len(self._segments) > PAYS_SEGMENTS:
            return f"the rows lie in {len(self._segments)} segments"
        return ""

    @property
    def _has_parity(self) -> bool:
        found = self._snapshot.bytes.map
        if isinstance(found, _core.Decrypted):
            return found.has_parity
        return self.reader.has("rag.parity")

    @property
    def info(self) -> dict[str, Any]:
        """Facts about the file, by name."""
        snapshot, commit = self._snapshot, self._snapshot.commit
        remote_prefetch.whole(
            [s for s in self._segments if s.has_deletions],
            "rag.documents",
            "rag.ids",
            *remote_prefetch.DELETED,
            "rag.gone",
        )
        recorded, lost = snapshot.config, commit["lost_generation"]
        return {
            "path": self.path, "format": snapshot.source.format, "size": snapshot.bytes.size, "generation": snapshot.generation,
            "created": commit["created"], "message": commit["message"], "identity": f"{commit['identity']:016x}",
            "chunks": snapshot.live, "deleted": snapshot.count - snapshot.live, "segments": len(self._segments),
            "documents": sum(segment.document_count() for segment in self._segments if segment.has("rag.ids")),
            "dim": recorded.get("dim"), "metric": recorded.get("metric"), "model": recorded.get("model"),
            "strategies": self.strategies, "read_only": commit["read_only"], "tail": commit["tail"],
            "recovered": lost != 0,
            "lost_generation": snapshot.numbered(lost) if lost else 0,
            "stale": sum(len(entry["documents"]) for entry in self.stale_records), "compaction": self.compaction,
            "encrypted": snapshot.is_encrypted,
            "parity": recorded.get("parity", 0) if self._has_parity else 0,
            "signatures": [signature_fact(signature) for signature in self.signatures],
            "keep": recorded.get("keep", "all" if commit["generation"] > 1 else 1),
            "past": obstacle(self.path, self.reader, recorded),
            "pinned": sum(segment.pinned_size for segment in self._segments),
        }  # fmt: skip


def signature_fact(signature: Signature) -> dict[str, Any]:
    """Return a signature as info shows it."""
    return {name: getattr(signature, name) for name in ("key_id", "signer", "signed", "is_current")}
