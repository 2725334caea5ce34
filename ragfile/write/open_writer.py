"""A file that is changed again and again: its edits, and the rows that they keep open between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, TypedDict, Unpack

from ragfile.embedding.protocol import Embedder
from ragfile.ground.encryption_keys import current_key, using_key
from ragfile.ingest.chunker import Policy
from ragfile.search.file_rows import FileRows
from ragfile.types import Fields, StrPath
from ragfile.write.editor import Editor


class EditOptions(TypedDict, total=False):
    """The options of `edit()` that all changes of a file share."""

    embedder: str | Embedder | None
    embedding_cache: StrPath | bool | None


class CommitOptions(TypedDict, total=False):
    """The options of one edit among many."""

    message: str
    created: int | None
    wait: float | None


class WriterOptions(EditOptions, total=False):
    """The options of an OpenWriter, for all of its edits."""

    wait: float | None
    keep: int | str | None


class EditorOptions(EditOptions, CommitOptions, total=False):
    """The options of `Editor`, but for layers."""

    chunking: Policy | str | Fields | None
    accept_loss: bool
    parity: int | None
    keep: int | str | None
    before: FileRows | None


class OpenWriter:
    """A file for many small commits, as `writer()` returns it.

    Between two edits it holds no lock, so other writers take their turns, and their commits are seen.
    It keeps the rows of the last edit: the next one reads only additions. Threads can share it.
    """

    def __init__(
        self, path: StrPath | Sequence[object], begin: Callable[..., Editor],
        **options: Unpack[WriterOptions],
    ) -> None:  # fmt: skip
        """Take `begin`, which starts an edit of such a path with such options."""
        self.path = path
        self._begin, self._options, self._key = begin, options, current_key()
        self._rows: FileRows | None = None

    def edit(self, **options: Unpack[CommitOptions]) -> Editor:
        """Start the next commit; `ragfile.edit` describes the options and the editor.

        Args:
            **options: `message`, `created` and `wait` of this commit.

        Raises:
            LockedError: Another writer still holds the file, or this thread does.
        """
        with using_key(self._key):
            editor = self._begin(self.path, before=self._rows, **{**self._options, **options})
        self._rows = editor.archive
        return editor

    def close(self) -> None:
        """Release the rows. A later edit opens the file again."""
        self._rows = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()
