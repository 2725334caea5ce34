"""How a knowledge base opens its rows, and finds out whether there are newer ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ragfile.file.snapshot import open_snapshot
from ragfile.search.file_rows import FileRows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragfile.file.source import ByteSource
    from ragfile.ground.signing_keys import PublicKey
    from ragfile.types import StrPath


class Opener(Protocol):
    """What opens the rows of a knowledge base. It can be pickled."""

    path: str

    def open(self) -> Any:  # FileRows, or a dataset's rows
        """Open the newest rows, or those of the generation that was asked for."""
        ...

    def seen(self, rows: Any) -> object:
        """Return what identified the bytes of these rows when they were opened."""
        ...

    def has_newer(self, rows: Any, seen: object) -> bool:
        """Whether the source has other bytes than those that were seen."""
        ...

    def is_same(self, rows: Any, fresh: Any) -> bool:
        """Whether two openings are of the same commit."""
        ...

    def close(self, rows: Any) -> None:
        """Let go of what the rows were opened with."""
        ...


class FileOpener:
    """Opens the rows of a source."""

    def __init__(
        self, source: ByteSource, *, generation: int = 0, strict: bool = False,
        trusted: Iterable[PublicKey | StrPath | bytes] | None = None, pin: bool = False,
    ) -> None:  # fmt: skip
        self.source, self.path = source, source.path
        keys = key_texts(trusted)
        self.options = {"generation": generation, "strict": strict, "trusted": keys, "pin": pin}

    def open(self) -> FileRows:
        options: Any = self.options
        return FileRows(open_snapshot(self.source, **options))

    def seen(self, rows: FileRows) -> object:
        return rows.snapshot.bytes.identity

    def has_newer(self, rows: FileRows, seen: object) -> bool:
        if self.options["generation"]:  # a commit never changes
            return False
        return seen != self.source.identity(rows.snapshot.bytes)

    def is_same(self, rows: FileRows, fresh: FileRows) -> bool:
        return fresh.snapshot.is_as_new_as(rows.snapshot)

    def close(self, rows: FileRows) -> None:
        rows.close()


def key_texts(keys: Iterable[PublicKey | StrPath | bytes] | None) -> list[str] | None:
    """Return public keys as texts, which can be pickled; None where every file is good."""
    if keys is None:
        return None
    from ragfile.ground.signing_keys import PublicKey  # with hashlib, which opening does not need

    return [PublicKey.of(key).raw.hex() for key in keys]
