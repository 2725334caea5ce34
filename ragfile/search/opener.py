"""Opening the rows of a knowledge base, and finding newer ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from ragfile.file.snapshot import open_snapshot
from ragfile.file.source import FileSource
from ragfile.ground import server_time
from ragfile.search.file_rows import FileRows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragfile.file.snapshot import Snapshot
    from ragfile.file.source import ByteSource
    from ragfile.ground.signing_keys import PublicKey
    from ragfile.search.rows_protocol import OpenRows
    from ragfile.types import StrPath

RowsT = TypeVar("RowsT", bound="OpenRows")


class Opener(Protocol[RowsT]):
    """Opens the rows of a knowledge base; it can be pickled."""

    path: str

    def open(self) -> RowsT:
        """Open the newest rows, or those of the requested generation."""
        ...

    def seen(self, rows: RowsT) -> object:
        """Return the identity of the bytes when these rows were opened."""
        ...

    def has_newer(self, rows: RowsT, seen: object) -> bool:
        """Return whether the identity of the source's bytes has changed."""
        ...

    def is_same(self, rows: RowsT, fresh: RowsT) -> bool:
        """Return whether two openings read the same commit."""
        ...

    def close(self, rows: RowsT) -> None:
        """Release the resources that the rows were opened with."""
        ...


class FileOptions(NamedTuple):
    """How open_snapshot reads a source."""

    generation: int
    strict: bool
    trusted: list[str] | None
    pin: bool


class FileOpener:
    """Opens the rows of a source."""

    def __init__(
        self, source: ByteSource, *, generation: int = 0, strict: bool = False,
        trusted: Iterable[PublicKey | StrPath | bytes] | None = None, pin: bool = False,
    ) -> None:  # fmt: skip
        self.source, self.path = source, source.path
        self.options = FileOptions(generation, strict, key_texts(trusted), pin)

    def open(self) -> FileRows:
        if isinstance(self.source, FileSource):  # which asks no server
            return FileRows(self._snapshot())
        with server_time.one_question():
            return FileRows(self._snapshot())

    def _snapshot(self) -> Snapshot:
        generation, strict, trusted, pin = self.options
        return open_snapshot(
            self.source, generation=generation, strict=strict, trusted=trusted, pin=pin
        )

    def seen(self, rows: FileRows) -> object:
        return rows.snapshot.bytes.identity

    def has_newer(self, rows: FileRows, seen: object) -> bool:
        if self.options.generation:  # a commit never changes
            return False
        return seen != self.source.identity(rows.snapshot.bytes)

    def is_same(self, rows: FileRows, fresh: FileRows) -> bool:
        return fresh.snapshot.is_as_new_as(rows.snapshot)

    def close(self, rows: FileRows) -> None:
        rows.close()


def key_texts(keys: Iterable[PublicKey | StrPath | bytes] | None) -> list[str] | None:
    """Return public keys as texts, which can be pickled; None if any file is accepted."""
    if keys is None:
        return None
    from ragfile.ground.signing_keys import PublicKey  # with hashlib, which opening does not need

    return [PublicKey.of(key).raw.hex() for key in keys]
