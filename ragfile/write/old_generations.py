"""Drop older generations of a file that has grown to several times its live content.

Commits are appended, so the bytes of deleted and merged rows stay in the file. As soon as it is LIMIT
times as large as the sections that its kept generations list, these are copied, as they are, to a new
file that takes the old one's name: open readers keep the old one, as after a compaction. Rows, scores
and the numbers of generations stay the same.

A file is left to grow if it cannot be replaced (a folder without write permission, several names), if
its sections are bound to their place in the file, if an older generation was signed, or if it is
damaged.
"""

from __future__ import annotations

import json
import math
import os
from contextlib import closing, suppress
from datetime import UTC, datetime
from operator import index
from typing import TYPE_CHECKING, Any, cast

from ragfile import _core
from ragfile.errors import FormatError, LockedError
from ragfile.file import config
from ragfile.file.consistency import merged_rows
from ragfile.file.generation_limits import BOUND_TO_THEIR_PLACE, COPY_MOST, limit
from ragfile.file.past_generations import NAME as PAST
from ragfile.file.past_generations import newest_names, packed, read_past
from ragfile.file.row_segment import RowSegment
from ragfile.ground import system
from ragfile.ground.encryption_keys import Unlocker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.types import SectionEntry, StrPath

ALL, NEWEST = "all", 1  # of the choices for keep=
LEAST = 256 << 10  # bytes: smaller files stay as they are
STEP = 1.05  # files are looked at, again and again, when they have grown by this factor
PATIENCE = 1.0  # seconds to wait for writers that came first
LIST = "rag.sections"  # ends with the first section of its own that is dropped
LEFT_OUT = ("rag.parity", "rag.parity.step", "rag.merged", PAST)  # made again by each commit

Key = tuple[str, int]  # a section's name and segment


def checked_keep(keep: int | str) -> int | str:
    """Return a choice of generations to keep in the form of rag.config: a number, "all" or a date."""
    if keep == ALL:
        return ALL
    with suppress(ValueError):
        if isinstance(keep, str):
            when = datetime.fromisoformat(keep)
            return (when if when.tzinfo else when.replace(tzinfo=UTC)).isoformat()
        if not isinstance(keep, bool) and index(keep) >= 1:
            return index(keep)
    raise ValueError(f'keep is "all", a date, or a number of generations from 1, not {keep!r}')


def keep_of(record: dict[str, Any], generation: int) -> int | str:
    """Return a file's setting of `keep`; files with a past that do not record it keep everything.

    A file of one generation has no past yet: the next edit records NEWEST.
    """
    recorded: int | str = record.get("keep", ALL if generation > 1 else NEWEST)
    return ALL if "signed" in record else recorded


def bound(path: StrPath, before: int, keep: int | str) -> None:
    """Drop the older generations of a file after a commit if it is too large, and if that is possible.

    Args:
        path: The file.
        before: Its size before the commit.
        keep: The generations that it keeps; see `edit()`.
    """
    if keep == ALL:
        return
    with suppress(LockedError, OSError, FormatError):
        if _step(os.stat(path).st_size) != _step(before):
            _drop_past(path, keep)


def drop_older(path: StrPath, keep: int | str) -> bool:
    """Drop all generations that a file does not keep; return whether that was possible.

    Raises:
        LockedError: Another writer still holds the file.
    """
    with closing(_begin(path)) as file:
        past = Past(file, os.path.realpath(path), keep)
        if is_possible := past.can_drop():
            past.drop()
        return is_possible


def kept_generations(newest: _core.Reader, keep: int | str) -> list[_core.Reader]:
    """Return the generations that a file has to keep, the newest first."""
    kept = [newest]
    while kept[-1].commit["generation"] > 1 and _reaches(kept, keep):
        kept.append(kept[-1].previous())
    return kept


def _reaches(kept: list[_core.Reader], keep: int | str) -> bool:
    """Return whether the generation before the oldest kept one is kept, too."""
    if keep == ALL:
        return True
    if isinstance(keep, int):
        return len(kept) < keep
    since = datetime.fromisoformat(keep).timestamp() * 1e9
    oldest: int = kept[-1].commit["created"]
    return oldest > since


def _drop_past(path: StrPath, keep: int | str) -> None:
    with closing(_begin(path)) as file:
        past = Past(file, os.path.realpath(path), keep)
        if past.is_too_large():
            past.drop()


def _begin(path: StrPath) -> _core.FileWriter:
    return _core.FileWriter.edit(path, PATIENCE, Unlocker(os.fspath(path)))


def _step(size: int) -> int:
    return int(math.log(size, STEP)) if size >= LEAST else 0


class Past:
    """The generations of a file that a writer has open, of which it keeps some."""

    def __init__(self, file: _core.FileWriter, path: str, keep: int | str) -> None:
        self._file, self._path = file, path
        newest = file.take_reader()
        self._newest = newest
        self._kept = kept_generations(newest, keep)[::-1]

    def is_too_large(self) -> bool:
        """Return whether the file is too large for its kept generations, and the others can be dropped."""
        kept = {e["at"]: e["extent"] for reader in self._kept for e in reader.entries}
        live, size = sum(kept.values()), self._kept[-1].commit["end"]
        has_one_name = os.stat(self._path).st_nlink == 1
        return size > limit(live) and live <= COPY_MOST and has_one_name and self.can_drop()

    def can_drop(self) -> bool:
        """Return whether the kept generations can be copied to another file."""
        names = {entry["name"] for reader in self._kept for entry in reader.entries}
        is_whole = not self._kept[-1].commit["lost_generation"]
        return is_whole and names.isdisjoint(BOUND_TO_THEIR_PLACE)

    def drop(self) -> None:
        """Replace the file by one with the kept generations alone."""
        if len(self._kept) == 1:
            with closing(self._file.replacement()) as made:
                self._copy().add(made, self._kept[0])
            return
        with system.temporary_folder() as folder:
            kept = os.path.join(folder, "kept.ragfile")
            self._write(kept)
            with closing(_core.Replacement(self._path)) as replacement:
                replacement.write(memoryview(_core.Map(kept)))
                replacement.publish(is_held=True)

    def _write(self, path: str) -> None:
        copy = self._copy()
        for reader in self._kept:
            is_first = reader is self._kept[0]
            made = self._begun(path, is_first)
            with closing(made):
                copy.add(made, reader)

    def _begun(self, path: str, is_first: bool) -> _core.FileWriter:
        """Start a commit of the copy, which is encrypted if the file is."""
        keys = self._file.keys
        if is_first:
            return _core.FileWriter.create(path, keys)
        return _core.FileWriter.edit(path, 0, None if keys is None else lambda _header: keys[1])

    def _copy(self) -> GenerationCopy:
        newest, last = self._newest, self._newest.commit["generation"]
        past = read_past(newest, self._path) + newest_names(
            newest, memoryview(cast("_core.Map", newest.owner))
        )
        first = config.first_generation(newest, self._path) + last - len(self._kept)
        return GenerationCopy(first, past)


class GenerationCopy:
    """A new file that receives generation after generation of another one."""

    def __init__(self, first_generation: int, past: Sequence[str] = ()) -> None:
        self._first = first_generation
        self._past = past
        self._held: dict[Key, int] = {}  # where the other file has the sections of the last commit
        self._segments: dict[int, _core.SegmentRecord] = {}
        self._next_segment = 1

    def add(self, file: _core.FileWriter, reader: _core.Reader) -> None:
        """Write the sections of a generation that the one before does not have, and commit."""
        is_first = not self._segments and not self._held
        self._set_segments(file, reader)
        entries = [e for e in reader.entries if e["name"] not in LEFT_OUT]
        for entry in sorted(entries, key=lambda entry: entry["at"]):
            if self._held.get(_key(entry)) != entry["at"]:
                self._add_section(file, reader, entry)
        places = {_key(entry): entry["at"] for entry in entries}
        gone = self._held.keys() - places.keys()
        for name, segment in sorted(
            gone, key=lambda key: key[0] != LIST
        ):  # first, or it goes along
            file.drop(name, segment)
        self._held = places
        if is_first and self._past:
            raw, items = packed(self._past)
            file.add(PAST, raw, items=items)
        if rows := 0 if is_first else merged_rows(reader):
            file.add("rag.merged", b"", items=rows)
            self._held["rag.merged", 0] = 0
        commit, record = reader.commit, config.config_of(reader, "")
        file.parity(record.get("parity", 0), is_first)
        file.commit(commit["created"], commit["message"])

    def _set_segments(self, file: _core.FileWriter, reader: _core.Reader) -> None:
        for _ in range(self._next_segment, reader.commit["next_segment"]):
            file.segment()
        segments = {segment.number: segment for segment in reader.segments}
        for number, segment in segments.items():
            if self._segments.get(number) != segment:
                file.rows(number, segment.rows, segment.live)
        for number in self._segments.keys() - segments.keys():
            file.forget(number)
            self._held = {key: at for key, at in self._held.items() if key[1] != number}
        self._segments, self._next_segment = segments, reader.commit["next_segment"]

    def _add_section(
        self, file: _core.FileWriter, reader: _core.Reader, entry: SectionEntry
    ) -> None:  # fmt: skip
        """Copy a section. Some hold their offset in the file, or the number of the first generation."""
        name, segment = _key(entry)
        section = reader.section(name, segment)
        assert section is not None  # it is in the table of contents
        section.check()
        if name == "rag.fine":
            file.fine(segment)
            return
        if name == LIST:
            file.list_sections(segment)
            return
        file.grain(_grain(reader, entry))
        at, data = file.begin(name, segment, entry["flags"]), memoryview(section)
        if name == "vector":
            file.write(self._vector_head(reader, segment, at))
            data = data[_core.VECTOR_HEAD :]
        file.write(self._config(bytes(data)) if name == "rag.config" else data)
        file.end(entry["items"])

    def _vector_head(self, reader: _core.Reader, number: int, at: int) -> bytes:
        segment = RowSegment(reader, self._segments[number], 0)
        layout = segment.vector_layout()
        return _core.vector_head(at, layout.dim, layout.bits, segment.rows)

    def _config(self, raw: bytes) -> bytes:
        record = json.loads(raw)
        if self._first > 1:
            record["first_generation"] = self._first
        return json.dumps(record, sort_keys=True, ensure_ascii=False).encode()


def _key(entry: SectionEntry) -> Key:
    return entry["name"], entry["segment"]


def _grain(reader: _core.Reader, entry: SectionEntry) -> int:
    """Return the bytes for each checksum that rag.fine has for a section, 0 without any."""
    fine = reader.section("rag.fine", entry["segment"]) if entry["segment"] else None
    if fine is None:
        return 0
    grain, parts = _core.fine_sums(fine)
    return grain if (entry["at"], entry["size"]) in {part[:2] for part in parts} else 0
