"""The difference between two states of the folder that a file was built from."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ragfile.records import Document


class FolderChange(NamedTuple):
    """A file that is `how`: added, removed or changed. Its text before and after is None where it has none."""

    path: str
    how: str
    before: str | None
    after: str | None

    def patch(self) -> Iterator[str]:
        """Yield the lines of a unified diff."""
        before, after = (text or "" for text in (self.before, self.after))
        names = (
            f"a/{self.path}" if self.how != "added" else "/dev/null",
            f"b/{self.path}" if self.how != "removed" else "/dev/null",
        )
        for line in difflib.unified_diff(_lines(before), _lines(after), *names, lineterm=""):
            yield line.removesuffix("\n")
            if not line.endswith("\n") and line[:1] in "+- " and line[:3] not in ("---", "+++"):
                yield "\\ No newline at end of file"


def folder_diff(before: Iterable[Document], after: Iterable[Document]) -> list[FolderChange]:
    """Return the files that differ, by path. A document without a file counts by its id."""
    old, new = _files(before), _files(after)
    return [
        FolderChange(path, how, _text(old.get(path)), _text(new.get(path)))
        for path in sorted(old.keys() | new.keys())
        if (how := _how(old.get(path), new.get(path)))
    ]


def _lines(text: str) -> list[str]:
    """Return the lines of a text; only a line feed ends one."""
    return [line + "\n" for line in text.split("\n")[:-1]] + [
        line for line in text.split("\n")[-1:] if line
    ]


def _files(documents: Iterable[Document]) -> dict[str, list[Document]]:
    found: dict[str, list[Document]] = {}
    for document in documents:
        path = document.metadata.get("path")
        found.setdefault(path if isinstance(path, str) else document.id, []).append(document)
    return found


def _how(old: list[Document] | None, new: list[Document] | None) -> str:
    if old is None or new is None:
        return "added" if old is None else "removed"
    return "" if _content(old) == _content(new) else "changed"


def _content(documents: list[Document]) -> list[tuple[object, str]]:
    """Return the content of a file to compare: its checksum, or the texts of its documents."""
    checksum = documents[0].metadata.get("checksum")
    return [(checksum, "")] if checksum else [(one.id, one.original) for one in documents]


def _text(documents: list[Document] | None) -> str | None:
    """Return the text of a file; None for a file that several documents or none stand for."""
    return documents[0].original if documents is not None and len(documents) == 1 else None
