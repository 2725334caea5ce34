"""Passages that name a document and do not link to it."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from ragfile import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ragfile.records import Document, Hit, Hits

SHORTEST = 3  # characters of a name; shorter ones are words of every text
WANTED = 4  # candidates for each passage to return


def names_of(document: Document) -> list[str]:
    """Return the names of a document: its title, its aliases and the name of its file."""
    names = [document.metadata.get("title"), posixpath.splitext(posixpath.basename(document.id))[0]]
    for field in ("aliases", "alias"):
        value = document.metadata.get(field)
        names += value if isinstance(value, list) else [value]
    found = [name.strip() for name in names if isinstance(name, str)]
    return list(dict.fromkeys(name for name in found if len(name) >= SHORTEST and '"' not in name))


def mentions(
    document: Document, linked: set[str], search: Callable[[str, int], Hits], limit: int
) -> Iterator[Hit]:
    """Yield the passages that name a document, of documents that are not in `linked`."""
    seen: set[str] = set()
    for name in names_of(document):
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        for hit in search(f'"{name}"', WANTED * limit):
            if hit.doc_id == document.id or hit.doc_id in linked or hit.id in seen:
                continue
            if pattern.search(_without_links(hit.text)):
                seen.add(hit.id)
                yield hit
                if len(seen) == limit:
                    return


def _without_links(text: str) -> str:
    """Return a text with a blank for each link."""
    parts: list[str] = []
    at = 0
    for _, start, end, _, _ in _core.markdown_links(text):
        parts.append(text[at:start])
        at = end
    return " ".join([*parts, text[at:]])
