"""One commit of an open 1.0 file: checked when it is opened, and immutable.

refresh() makes another snapshot; holders of this one continue to read its commit.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ragfile import _core
from ragfile.errors import ChangedError, CorruptError, FormatError
from ragfile.file import config, sections
from ragfile.file.row_segment import RowSegment
from ragfile.file.source import FileSource, OpenBytes, file_identity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragfile.file.sealed_file import SealedFile
    from ragfile.file.source import ByteSource
    from ragfile.types import StrPath

FRONT, FOOTER = 4096, 64  # bytes at the beginning of a file and at the end of a commit


class Snapshot:
    """One commit of a file. `count` is the number of its rows, `live` of those that are not deleted."""

    __slots__ = (
        "_front", "_unchanged_at", "bytes", "commit", "config", "count", "generation",
        "is_elsewhere", "is_encrypted", "live", "options", "path", "reader", "sealed", "segments", "source",
    )  # fmt: skip

    config: dict[str, Any]  # JSON

    def __init__(
        self, source: ByteSource, opened: OpenBytes, reader: _core.Reader, *, generation: int = 0,
        strict: bool = False, trusted: Sequence[str] | None = None, pin: bool = False,
        before: Snapshot | None = None,
    ) -> None:  # fmt: skip
        """Check a commit. Segments that `before` has, an older commit, are not read again."""
        self.source, self.bytes, self.reader, self.path = source, opened, reader, source.path
        self.options = {"generation": generation, "strict": strict, "trusted": trusted, "pin": pin}
        self.sealed: SealedFile | None = None
        if trusted is not None:
            if source.is_watched:  # before anything is checked
                self.sealed = _sealed_file(self.path, opened, reader)
            _require_signature(reader, trusted, self.path)
        self.commit, self.is_elsewhere = reader.commit, reader.is_elsewhere
        self.is_encrypted = isinstance(opened.map, _core.Decrypted)
        if strict and self.commit["lost_generation"]:
            self.config = _config_of(reader, self.path)
            lost = self.numbered(self.commit["lost_generation"])
            what = f"generation {lost} was committed and is damaged"
            raise CorruptError(f"{self.path}: {what}")
        self._front = self._front_and_footer() if source.is_watched else None
        self._unchanged_at = opened.identity[-1] if source.is_watched else None
        old = {} if before is None else _kept_segments(reader, before)
        self._check_needs()
        self.segments, self.count = _segments_of(reader, old)
        self.live = sum(segment.live for segment in self.segments)
        if before is not None and _have_one_config(reader, before.reader):
            self.config = before.config
        else:
            self.config = _config_of(reader, self.path)
        self.generation = self.numbered(self.commit["generation"])
        metric = self.config.get("metric", "cosine")
        for segment in self.segments if pin or metric != RowSegment.metric or old else ():
            segment.metric, segment.is_pinned = metric, pin

    def _check_needs(self) -> None:
        """Refuse a section without those that it needs in its segment."""
        for names in self.reader.name_sets():
            if (lacking := _lacking(names)) is not None:
                name, missing = lacking
                raise CorruptError(
                    f"{self.path}: section {name} needs section {missing}", section=missing
                )

    def _front_and_footer(self) -> tuple[int, bytes]:
        """Return the bytes that name the commit, the first ones as a hash: both hold hashes of the rest."""
        return hash(self.raw(0, FRONT)), self.raw(max(self.commit["end"] - FOOTER, 0), FOOTER)

    def check_unchanged(self) -> None:
        """Raise ChangedError if the file was written over in place since it was opened.

        Appended commits change no byte of this one, nor does a file renamed over this one. The check costs a
        stat, and more only after a write. With trusted keys, all bytes that were read are checked then. A file that is truncated while a call reads it ends the process
        (SIGBUS); this library cannot prevent that.
        """
        if self.sealed is not None:
            self.sealed.check()
        now = self.source.stat()
        if now is None or now.st_mtime_ns == self._unchanged_at:
            return
        if (now.st_dev, now.st_ino) != self.bytes.identity[:2]:
            return
        if now.st_size < self.commit["end"] or self._front_and_footer() != self._front:
            raise ChangedError(
                f"{self.path} was written over while it was open: call refresh(); "
                "and replace files by renaming, as `mv` and `cp --remove-destination` do"
            )
        self._unchanged_at = now.st_mtime_ns

    def raw(self, at: int, size: int) -> bytes:
        """Return a copy of bytes of the file, as many as there are."""
        found: Any = self.bytes.map  # Any: a map of the core, or a buffer
        read = getattr(found, "read", None)
        if read is not None:
            fetched: bytes = read(at, size)
            return fetched
        return bytes(memoryview(found)[at : at + size])  # pyright: ignore[reportUnknownArgumentType]  # a buffer of any items

    def numbered(self, generation: int) -> int:
        """Return the public number of a generation of the container."""
        first: int = self.config.get("first_generation", 1)
        return generation + first - 1

    def is_as_new_as(self, other: Snapshot) -> bool:
        """Whether both read the same commit of the same file: a commit never changes."""
        one, two = self.commit, other.commit
        return (
            one["identity"] == two["identity"]
            and one["generation"] == two["generation"]
            and one["end"] == two["end"]
            and one["lost_generation"] == two["lost_generation"]
            and self.source.is_same_file(self.bytes, other.bytes)
        )

    def __reduce__(self) -> tuple[object, ...]:
        return _reopened, (self.source, self.options)

    def close(self) -> None:
        """Close connections. Bytes that are read later open new ones."""
        if self.bytes.fetcher is not None:
            self.bytes.fetcher.close()


def open_snapshot(
    source: ByteSource, *, generation: int = 0, strict: bool = False,
    trusted: Sequence[str] | None = None, pin: bool = False,
) -> Snapshot:  # fmt: skip
    """Open the newest commit of a source, or the one of a generation."""
    opened = source.open()
    reader = _reader_of(opened, source.path, generation)
    options: dict[str, Any] = {
        "generation": generation,
        "strict": strict,
        "trusted": trusted,
        "pin": pin,
    }
    return Snapshot(source, opened, reader, **options)


def _reopened(source: ByteSource, options: dict[str, Any]) -> Snapshot:
    """Unpickle a snapshot: open its source again."""
    return open_snapshot(source, **options)


def snapshot_over(
    reader: _core.Reader, path: StrPath, *, strict: bool = False, before: Snapshot | None = None
) -> Snapshot:
    """Return the snapshot of the commit that a reader has open already; `before` may be an older one."""
    source = FileSource(path)
    owner: Any = reader.owner  # Any: a map, or a buffer
    opened = OpenBytes(owner, file_identity(source.path), len(owner))
    return Snapshot(source, opened, reader, strict=strict, before=before)


def _reader_of(opened: OpenBytes, path: str, generation: int) -> _core.Reader:
    """Return the reader of a generation by its public number, or of the newest for 0."""
    if not generation:
        return _core.Reader(opened.map)
    try:
        newest = _core.Reader(opened.map)
        first = config.first_generation(newest, path)
    except FormatError:  # an older commit may be intact
        return _core.Reader(opened.map, generation)
    last = first - 1 + newest.commit["generation"]
    if not first <= generation <= last:
        why = "; older ones were dropped or compacted away (keep=)" if first > 1 else ""
        raise ValueError(f"{path} has generations {first} to {last}, not {generation}{why}")
    return _core.Reader(opened.map, generation - first + 1)


@lru_cache(maxsize=256)
def _lacking(names: frozenset[str]) -> tuple[str, str] | None:
    """Return a section and one that it needs and that is not among the segment's names, or None."""
    found = ((name, need) for name in names for need in sections.needs(name) if need not in names)
    return next(found, None)


def _kept_segments(reader: _core.Reader, before: Snapshot) -> dict[int, RowSegment]:
    """Return the segments of an older commit that a newer one has unchanged, by number."""
    kept = reader.kept_segments(before.reader)
    return {segment.number: segment for segment in before.segments if segment.number in kept}


def _segments_of(
    reader: _core.Reader, kept: Mapping[int, RowSegment]
) -> tuple[list[RowSegment], int]:
    """Return the segments with the numbers of their first rows, and the number of all rows."""
    found: list[RowSegment] = []
    base = 0
    for record in reader.segments:
        old = kept.get(record.number)
        found.append(RowSegment(reader, record, base) if old is None else old.moved(base))
        base += record.rows
    return found, base


def _config_of(reader: _core.Reader, path: str) -> dict[str, Any]:
    """Return the build settings of a file."""
    section = reader.section("rag.config")
    if section is None:
        return {}
    section.check()
    return config.read_config(bytes(section), path)


def _have_one_config(reader: _core.Reader, older: _core.Reader) -> bool:
    """Return whether rag.config has the same bytes in both; the older one was checked."""
    one, two = reader.section("rag.config"), older.section("rag.config")
    if one is None or two is None:
        return one is two
    one.check()
    return bytes(one) == bytes(two)


def _sealed_file(path: str, opened: OpenBytes, reader: _core.Reader) -> SealedFile:
    from ragfile.file.sealed_file import SealedFile

    return SealedFile(path, opened, reader)


def _require_signature(reader: _core.Reader, texts: Sequence[str], path: str) -> None:
    from ragfile.file import signatures
    from ragfile.ground.signing_keys import PublicKey  # with hashlib, which opening does not need

    signatures.require(reader, [PublicKey.of(text) for text in texts], path)
