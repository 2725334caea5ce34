"""Jupyter notebooks: the text cells as they are, code cells and what they printed in fences."""

from __future__ import annotations

import json

from ragfile.ingest.loaders.contract import Extracted, LoadError
from ragfile.ingest.loaders.markup import MarkdownLines
from ragfile.ingest.loaders.plain import decode
from ragfile.ingest.titles import markdown_title

PRINTED = 2000  # characters of what one cell printed


def parse(raw, limits, errors="strict"):
    """The title is the first top header of the text cells."""
    book = json.loads(decode(raw, errors))
    if not isinstance(book, dict):
        raise LoadError("not a notebook: its JSON is not an object")
    language = _language(book)
    texts = [text for cell in _cells(book) for text in _said(cell, language) if text.strip()]
    text = "\n\n".join(texts) + "\n" if texts else ""
    title = markdown_title(text[:10_000])
    yield Extracted(text, metadata={"title": title} if title else {})


def _language(book):
    metadata = book.get("metadata")
    found = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    name = found.get("language") if isinstance(found, dict) else ""
    return name if isinstance(name, str) and name.isalnum() else ""


def _cells(book):
    """The cells of every version of the format: those before 4 kept them in worksheets."""
    sheets = book.get("worksheets")
    holders = [book, *sheets] if isinstance(sheets, list) else [book]
    for holder in holders:
        cells = holder.get("cells") if isinstance(holder, dict) else None
        yield from (cell for cell in cells or () if isinstance(cell, dict))


def _said(cell, language):
    source, kind = _joined(cell.get("source", cell.get("input"))), cell.get("cell_type")
    if kind == "heading":
        level = cell.get("level")
        yield f"{'#' * (level if level in range(1, 7) else 1)} {' '.join(source.split())}"
    elif kind == "code":
        yield _fenced(source, language)
        yield _fenced(_printed(cell), "")
    elif kind == "markdown":
        yield source.strip("\n")
    elif kind == "raw":
        yield _fenced(source, "")


def _joined(lines):
    """Text, which the format keeps as one string or as a list of lines."""
    if isinstance(lines, list):
        return "".join(line for line in lines if isinstance(line, str))
    return lines if isinstance(lines, str) else ""


def _printed(cell):
    """The beginning of a cell's output, as far as it is text."""
    found, size, outputs = [], 0, cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict) or size > PRINTED:
            continue
        data = output.get("data")
        text = _joined(output.get("text"))
        text = text or _joined(data.get("text/plain") if isinstance(data, dict) else None)
        found.append(text)
        size += len(text)
    return "".join(found)[:PRINTED]


def _fenced(text, language):
    if not text.strip():
        return ""
    out = MarkdownLines()
    out.code(text.splitlines(), language)
    return out.text()
