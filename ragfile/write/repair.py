"""Repair a file with the parity that it contains.

The core finds the parity and reconstructs damaged bytes in a copy in memory (csrc/parity/repair_file.c). The copy is
verified as a whole before it is written, and replaces the file in one step, so a repair never leaves a
file worse than it was.

The parity of an encrypted file protects its encrypted bytes, so no key is needed. With its key, its content is
verified, too.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from ragfile import _core
from ragfile.errors import CorruptError, EncryptionError, FormatError
from ragfile.file.container import TAIL
from ragfile.file.row_segment import StoredDocument
from ragfile.ground.atomic_replace import replace_with, spare_unless_ragfile
from ragfile.ground.encryption_keys import Unlocker, has_key
from ragfile.ground.lock_patience import seconds_to_wait
from ragfile.ground.missing_files import explained
from ragfile.ground.urls import is_dataset, local_file
from ragfile.search.file_rows import rows_over
from ragfile.types import SectionEntry, StrPath

PARITY, STEP = "rag.parity", "rag.parity.step"
FAULTS = 1000  # as many as verify() lists
NO_SECTION = ""


class DamagedStretch(NamedTuple):
    """A damaged stretch of a file.

    Attributes:
        at: Offset in bytes.
        size: Size in bytes.
        section: The section that contains it, `""` for the header, tables and footers.
        segment: The number of its segment, 0 for sections of the whole file.
    """

    at: int
    size: int
    section: str
    segment: int


@dataclass
class RepairReport:
    """The result of a repair.

    Attributes:
        path: The file.
        out: The repaired file: `path` itself unless another was named.
        is_written: Whether a repaired file was written.
        restored: Damaged stretches that parity reconstructs.
        lost: Damaged stretches beyond the parity.
        lost_documents: Ids of documents that cannot be read completely any more.
        remaining: Faults that `verify()` finds after the repair: (error, offset, message, section).
    """

    path: str
    out: str
    is_written: bool = False
    restored: list[DamagedStretch] = field(default_factory=list[DamagedStretch])
    lost: list[DamagedStretch] = field(default_factory=list[DamagedStretch])
    lost_documents: list[str] = field(default_factory=list[str])
    remaining: list[tuple[str, int, str, str]] = field(
        default_factory=list[tuple[str, int, str, str]]
    )

    @property
    def is_damaged(self) -> bool:
        """Whether the file was damaged."""
        return bool(self.restored or self.lost or self.remaining)

    @property
    def is_repairable(self) -> bool:
        """Whether the file is intact after the repair."""
        return not (self.lost or self.remaining)


def repair(
    path: StrPath, out: StrPath | None = None, *, dry_run: bool = False, wait: float | None = None
) -> RepairReport:
    """Restore the damaged bytes of a file, bit for bit, from its parity.

        report = ragfile.repair("kb.ragfile")
        print(len(report.restored), "stretches restored")

    The file must have been written with `parity=`. It is replaced in one step by the repaired copy.

    Args:
        path: The file to repair.
        out: Write the repaired copy here, and leave `path` unchanged.
        dry_run: Report the damage without writing anything.
        wait: Seconds to wait for other writers. Defaults to `RAGFILE_WAIT`, else 30.

    Returns:
        A report of the damage, restored and lost.

    Raises:
        CorruptError: The damage is beyond the parity. Nothing is written; a report with `dry_run`
            lists the lost documents.
        LockedError: Another writer still holds the file, or this thread does.
        ValueError: `path` is a URL or a dataset.
    """
    path = local_file(path)
    if is_dataset(path):
        raise ValueError(f"{os.fspath(path)} is a dataset: repair the files in it")
    if out is not None:
        spare_unless_ragfile(out, is_encrypted=True)
    with explained(path):
        held = None if dry_run or out is not None else _core.Held(path, seconds_to_wait(wait))
    try:
        report, copy = _mended(path, out)
        if dry_run or not report.is_damaged:
            return report
        if not report.is_repairable:
            raise CorruptError(_beyond(report), section=_where(report))
        replace_with(report.out, memoryview(copy), is_held=held is not None)
        report.is_written = True
        return report
    finally:
        if held is not None:
            held.close()


def _mended(path: StrPath, out: StrPath | None) -> tuple[RepairReport, _core.Copy]:
    with explained(path):
        mapped = _core.Map(path)
    report = RepairReport(os.fspath(path), os.fspath(path if out is None else out))
    try:
        found = _core.Repair(mapped)
    except CorruptError as error:
        if error.section or mapped.is_encrypted or _faults(mapped):
            raise
        return report, _core.Copy(path)
    copy = _core.Copy(path, found.size)
    restored, lost = found.run(copy)
    if _core.is_encrypted(memoryview(copy)[:8]):
        report.restored, report.lost = _stretches(restored, []), _stretches(lost, [])
        report.remaining = _encrypted_faults(copy, bool(lost))
        return report, copy
    report.remaining = _faults(copy)
    entries = _entries(copy)
    report.restored = _stretches(restored, entries)
    report.lost = _stretches(lost, entries)
    if not report.is_repairable:
        report.lost_documents = list(_lost_documents(path, copy))
    return report, copy


def _faults(data: _core.Map | _core.Copy | _core.Decrypted) -> list[tuple[str, int, str, str]]:
    try:
        faults, _ = _core.Reader(data).verify(True)
    except FormatError as error:
        return [(type(error).__name__, error.at or 0, str(error), error.section or "")]
    return [fault for fault in faults if fault[2] != TAIL]


def _encrypted_faults(copy: _core.Copy, has_lost: bool) -> list[tuple[str, int, str, str]]:
    """Return the faults of a repaired encrypted file: those that its key shows, and those of its parity."""
    found = [] if has_lost else trailer_faults(copy)
    with suppress(EncryptionError):  # a key of other files
        if not found and not has_lost and has_key():
            return _faults(_core.Decrypted(copy, Unlocker(copy.path)))
    return found


def _entries(copy: _core.Copy) -> list[SectionEntry]:
    """Return the sections of all commits by offset, none for a file that cannot be opened."""
    found: dict[int, SectionEntry] = {}
    try:
        newest = _core.Reader(copy)
        for generation in range(newest.commit["generation"], 0, -1):
            for entry in _core.Reader(copy, generation).entries:
                found.setdefault(entry["at"], entry)
    except FormatError:
        pass
    return [found[at] for at in sorted(found)]


def _stretches(
    places: Iterable[tuple[int, int]], entries: list[SectionEntry]
) -> list[DamagedStretch]:  # fmt: skip
    """Return places in order, split at the ends of sections."""
    ends = sorted({e["at"] for e in entries} | {e["at"] + e["extent"] for e in entries})
    names = {e["at"]: (e["name"], e["segment"]) for e in entries}
    return [
        DamagedStretch(at, size, *names.get(start, (NO_SECTION, 0)))
        for place in sorted(places)
        for at, size, start in _cut(*place, ends)
    ]


def _cut(at: int, size: int, ends: list[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (offset, size, start of its section) for each part of a stretch."""
    end = at + size
    while at < end:
        i = bisect_right(ends, at)
        stop = min(end, ends[i]) if i < len(ends) else end
        yield at, stop - at, ends[i - 1] if i else 0
        at = stop


def _lost_documents(path: StrPath, copy: _core.Copy) -> Iterator[str]:
    """Yield the ids of documents that cannot be read completely."""
    try:
        archive = rows_over(_core.Reader(copy), path)
    except FormatError:
        return
    with archive:
        for segment in archive.segments:
            try:
                for old in segment.live_documents():
                    if not _is_readable(old):
                        yield old.id
            except FormatError:
                yield f"(any of segment {segment.number}: its list of documents is damaged)"


def _is_readable(old: StoredDocument) -> bool:
    try:
        old.read()
        for row in old.rows:
            old.segment.records.chunk(row)
        if old.rows:
            old.segment.stored_vectors(old.rows.start, len(old.rows))
    except FormatError:
        return False
    return True


def _where(report: RepairReport) -> str:
    named = [s.section for s in report.lost if s.section]
    named += [fault[3] for fault in report.remaining if fault[3]]
    return named[0] if named else NO_SECTION


def _beyond(report: RepairReport) -> str:
    lost = sum(stretch.size for stretch in report.lost)
    size = f"{lost:,} bytes" if lost else "some"
    named = dict.fromkeys(s.section for s in report.lost if s.section)
    named |= dict.fromkeys(fault[3] for fault in report.remaining if fault[3])
    where = f" in {', '.join(named)}" if named else ""
    documents = report.lost_documents
    shown = ", ".join(documents[:5]) + (" …" if len(documents) > 5 else "")
    with_it = f"; lost with it: {shown}" if documents else ""
    return (
        f"{report.path}: more is damaged than its parity brings back: {size}{where}{with_it}"
        "; nothing was written"
    )


def parity_faults(mapped: _core.Map) -> list[tuple[str, int, str, str]]:
    """Return the faults of an otherwise intact file whose parity does not match its bytes."""
    reader = _core.Reader(mapped)
    listed = [entry for entry in map(reader.entry, (PARITY, STEP)) if entry is not None]
    if not listed:
        return []
    newest = max(listed, key=lambda entry: entry["at"])
    name, at = newest["name"], newest["at"]
    try:
        found = _core.Repair(mapped)
        wrong = [place for places in found.run(_core.Copy(mapped.path), True) for place in places]
    except FormatError as error:
        return [(type(error).__name__, at, str(error), name)]
    return _mismatches(wrong, name)


def trailer_faults(stored: _core.Map | _core.Copy) -> list[tuple[str, int, str, str]]:
    """Return the faults of an encrypted file's bytes against their parity."""
    copy = stored if isinstance(stored, _core.Copy) else _core.Copy(stored.path)
    try:
        found = _core.Repair(stored).run(copy, True)
    except FormatError as error:
        return [(type(error).__name__, error.at or 0, str(error), NO_SECTION)]
    return _mismatches([place for places in found for place in places], NO_SECTION)


def _mismatches(wrong: list[tuple[int, int]], name: str) -> list[tuple[str, int, str, str]]:
    what = "the parity does not match the bytes that it protects"
    return [(CorruptError.__name__, place, what, name) for place, _ in wrong[:FAULTS]]
