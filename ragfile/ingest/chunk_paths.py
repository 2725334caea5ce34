"""Paths of chunks without headers: the document's title, or its file name in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragfile.ingest.markdown_titles import LIMIT

if TYPE_CHECKING:
    from ragfile.records import Document

_UNTOLD = {"index", "_index", "readme"}  # names without content: the folder's name is used


def title_of(document: Document) -> str:
    """Return the title in the metadata, on one line, or ""."""
    title = document.metadata.get("title")
    if not isinstance(title, str) or len(title) > LIMIT:
        return ""
    return " ".join(re.split(r"[ \t\n]+", title)).strip()


def below(title: str, path: str) -> str:
    """Return the path with the title before it, once."""
    if not title or path == title or path.startswith(f"{title} > "):
        return path
    return f"{title} > {path}" if path else title


def name_in_words(document: Document) -> str:
    """Return the file name of a document in words, or "" for one that is a part of a file."""
    if not document.id or document.metadata.get("path") != document.id:
        return ""
    folder, _, name = document.id.rpartition("/")
    stem = name.rpartition(".")[0] or name
    if stem.lower() in _UNTOLD and folder:
        stem = folder.rpartition("/")[2]
    return " ".join(re.split(r"[-_. ]+", stem)).strip()
