"""Convert Jupyter notebooks to Markdown, with code cells and their output in fences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TypeGuard, cast

from ragfile.ingest.loaders.contract import Extracted, Limits, LoadError
from ragfile.ingest.loaders.markup import MarkdownLines
from ragfile.ingest.loaders.text_formats import decode
from ragfile.ingest.markdown_titles import markdown_title
from ragfile.types import Errors, Metadata

PRINTED = 2000  # characters of one cell's output


def parse(raw: bytes, limits: Limits, errors: Errors = "strict") -> Iterator[Extracted]:
    """Extract the cells; the title is the first top header of the text cells."""
    book: object = json.loads(decode(raw, errors))
    if not _is_object(book):
        raise LoadError("not a notebook: its JSON is not an object")
    language = _language(book)
    texts = [text for cell in _cells(book) for text in _texts(cell, language) if text.strip()]
    text = "\n\n".join(texts) + "\n" if texts else ""
    title = markdown_title(text[:10_000])
    yield Extracted(text, metadata={"title": title} if title else {})


def _language(book: Metadata) -> str:
    metadata = book.get("metadata")
    found = metadata.get("kernelspec") if _is_object(metadata) else None
    name = found.get("language") if _is_object(found) else ""
    return name if isinstance(name, str) and name.isalnum() else ""


def _cells(book: Metadata) -> Iterator[Metadata]:
    """Yield the cells of a notebook; before version 4 of the format, worksheets had them."""
    for holder in [book, *_listed(book.get("worksheets"))]:
        cells = holder.get("cells") if _is_object(holder) else None
        yield from (cell for cell in cells or () if _is_object(cell))


def _is_object(value: object) -> TypeGuard[Metadata]:
    return isinstance(value, dict)


def _listed(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else ()


def _texts(cell: Metadata, language: str) -> Iterator[str]:
    source, kind = _joined(cell.get("source", cell.get("input"))), cell.get("cell_type")
    if kind == "heading":
        level = cell.get("level")
        marks = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1)
        yield f"{marks} {' '.join(source.split())}"
    elif kind == "code":
        yield _fenced(source, language)
        yield _fenced(_printed(cell), "")
    elif kind == "markdown":
        yield source.strip("\n")
    elif kind == "raw":
        yield _fenced(source, "")


def _joined(lines: object) -> str:
    """Return text that the format keeps as one string or as a list of lines."""
    if isinstance(lines, str):
        return lines
    return "".join(line for line in _listed(lines) if isinstance(line, str))


def _printed(cell: Metadata) -> str:
    """Return the beginning of a cell's textual output."""
    found: list[str] = []
    size = 0
    for output in _listed(cell.get("outputs")):
        if not _is_object(output) or size > PRINTED:
            continue
        data = output.get("data")
        text = _joined(output.get("text"))
        text = text or _joined(data.get("text/plain") if _is_object(data) else None)
        found.append(text)
        size += len(text)
    return "".join(found)[:PRINTED]


def _fenced(text: str, language: str) -> str:
    if not text.strip():
        return ""
    out = MarkdownLines()
    out.code(text.splitlines(), language)
    return out.text()
