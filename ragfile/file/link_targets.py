"""Find the document of a link's target: by its id, by a path near it, or by a name (spec part 12.3)."""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ragfile.ingest.document_links import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ragfile.file.row_segment import RowSegment

SUFFIXES = (".md", ".markdown", ".mdx", ".html", ".txt")
FOLDER_PAGES = ("/index.md", "/_index.md", "/README.md", "/index.html")
DROPPED = 2  # folders at the start of a path from the root, which the file need not have


class FoundTarget(NamedTuple):
    """The document that a target leads to.

    Attributes:
        rank: Its place among documents that the target can mean: the least one counts.
        number: Its number.
        row: Its first row in the file, None without any.
    """

    rank: tuple[int, int, bytes]
    number: int
    row: int | None


class LinkTargets:
    """The documents of some segments. Each has a number, counted through all segments."""

    def __init__(self, segments: Sequence[RowSegment]) -> None:
        self.segments = [segment for segment in segments if segment.has("rag.ids")]
        self.bases: list[int] = []
        self._first_rows = [segment.base for segment in self.segments]
        self.count = 0
        self._found: dict[str, FoundTarget | None] = {}
        for segment in self.segments:
            self.bases.append(self.count)
            self.count += segment.records.documents

    def number(self, doc_id: str) -> int | None:
        """Return the number of a live document."""
        for segment, base in zip(self.segments, self.bases, strict=True):
            if (found := segment.find(doc_id)) is not None:
                return base + found.number
        return None

    def find(self, target: str) -> int | None:
        """Return the number of the document that a target leads to, None for a broken link."""
        return None if (found := self.best(target)) is None else found.number

    def best(self, target: str) -> FoundTarget | None:
        """Return the document that a target leads to, with its place among those of other segments."""
        if target not in self._found:
            self._found[target] = self._best(target)
        return self._found[target]

    def from_passage(self, row: int, passage: str | None = None) -> list[tuple[str, list[int]]]:
        """Return the links in the passage of a row of the file, as they stand there, each with the row to which it leads.

        The row is the first one of the document.
        """
        segment = self.segments[bisect_right(self._first_rows, row) - 1]
        links = segment.links_within(row - segment.base, passage)
        return [
            (text, [found.row])
            for text, target in links
            if (found := self.best(target)) is not None and found.row is not None
        ]

    def _best(self, target: str) -> FoundTarget | None:
        candidates: Iterable[str] = (target,)
        if not target.startswith(BY_NAME):
            candidates = (one for each in _paths(target) for one in _candidates(each))
            candidates = chain((target,), candidates)
        for i, one in enumerate(candidates):
            if (number := self.number(one)) is not None:
                return self._ranked((i, 0, b""), number)
        return self._by_name(target[len(BY_NAME) :]) if target.startswith(BY_NAME) else None

    def _by_name(self, name: str) -> FoundTarget | None:
        name = name.lower().removesuffix(".md")
        ids = self._ids_by_name.get(posixpath.basename(name), [])
        fitting = [one for one in ids if _is_end_of(name, one[0])]
        is_alias = not fitting
        if is_alias:
            fitting = self._aliases.get(name, [])
        ranked = [
            ((1 + is_alias, doc_id.count("/"), doc_id.encode(errors="replace")), number)
            for doc_id, number in fitting
        ]
        return self._ranked(*min(ranked)) if ranked else None

    def _ranked(self, rank: tuple[int, int, bytes], number: int) -> FoundTarget:
        at = bisect_right(self.bases, number) - 1
        rows = self.segments[at].document(number - self.bases[at]).file_rows
        return FoundTarget(rank, number, rows.start if rows else None)

    def live(self) -> Iterator[tuple[str, int]]:
        """Yield the id and the number of each live document."""
        for segment, base in zip(self.segments, self.bases, strict=True):
            for document in segment.live_documents():
                yield document.id, base + document.number

    @cached_property
    def _ids_by_name(self) -> dict[str, list[tuple[str, int]]]:
        """Documents by the last part of their id in lower case, with and without its suffix."""
        found: dict[str, list[tuple[str, int]]] = {}
        for doc_id, number in self.live():
            name = posixpath.basename(doc_id.lower())
            for key in {name, posixpath.splitext(name)[0]}:
                found.setdefault(key, []).append((doc_id, number))
        return found

    @cached_property
    def _aliases(self) -> dict[str, list[tuple[str, int]]]:
        found: dict[str, list[tuple[str, int]]] = {}
        for segment, base in zip(self.segments, self.bases, strict=True):
            if (lists := segment.link_lists()) is None:
                continue
            for name, document in lists.names:
                if (old := segment.document(document)).is_live:
                    found.setdefault(name.lower(), []).append((old.id, base + document))
        return found


def _is_end_of(name: str, doc_id: str) -> bool:
    """Return whether an id ends with the parts of a name, with or without the id's suffix."""
    whole = "/" + doc_id.lower()
    return whole.endswith("/" + name) or posixpath.splitext(whole)[0].endswith("/" + name)


def _paths(target: str) -> Iterator[str]:
    """Yield the paths that a target can mean: one from the root can lack its first folders."""
    path = target.strip("/")
    yield path
    parts = path.split("/") if target.startswith("/") else []
    for i in range(1, DROPPED + 1):
        if i < len(parts):
            yield "/".join(parts[i:])


def _candidates(path: str) -> Iterator[str]:
    """Yield the ids that a path can mean, the likeliest first."""
    yield path
    yield from (path + suffix for suffix in SUFFIXES)
    yield from (path + page for page in FOLDER_PAGES)
    if path.endswith(".html"):
        yield path.removesuffix(".html") + ".md"
