"""Find the document of a link's target: by its id, by a path near it, or by a name (spec part 12.3)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from ragfile.ingest.document_links import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.file.row_segment import RowSegment

SUFFIXES = (".md", ".markdown", ".mdx", ".html", ".txt")
FOLDER_PAGES = ("/index.md", "/_index.md", "/README.md", "/index.html")
DROPPED = 2  # folders at the start of a path from the root, which the file need not have


class LinkTargets:
    """The documents of some segments. Each has a number, counted through all segments."""

    def __init__(self, segments: Sequence[RowSegment]) -> None:
        self.segments = [segment for segment in segments if segment.has("rag.ids")]
        self.bases: list[int] = []
        self.count = 0
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
        if (found := self.number(target)) is not None:
            return found
        if target.startswith(BY_NAME):
            return self._by_name(target[len(BY_NAME) :])
        path = target.strip("/")
        paths = [path]
        if target.startswith("/"):
            parts = path.split("/")
            paths += ["/".join(parts[i:]) for i in range(1, DROPPED + 1) if i < len(parts)]
        candidates = (one for each in paths for one in _candidates(each))
        return next((n for one in candidates if (n := self.number(one)) is not None), None)

    def _by_name(self, name: str) -> int | None:
        name = name.lower().removesuffix(".md")
        ids = self._ids_by_name.get(posixpath.basename(name), [])
        fitting = [one for one in ids if _is_end_of(name, one[0])]
        if not fitting:
            fitting = self._aliases.get(name, [])
        if not fitting:
            return None
        return min(fitting, key=lambda one: (one[0].count("/"), one[0].encode(errors="replace")))[1]

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


def _candidates(path: str) -> Iterator[str]:
    """Yield the ids that a path can mean, the likeliest first."""
    yield path
    yield from (path + suffix for suffix in SUFFIXES)
    yield from (path + page for page in FOLDER_PAGES)
    if path.endswith(".html"):
        yield path.removesuffix(".html") + ".md"
