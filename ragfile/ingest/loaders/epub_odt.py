"""Extract text from EPUB (books of HTML pages) and ODT (OpenDocument text)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from ragfile.ingest.loaders import html
from ragfile.ingest.loaders.contract import Extracted, LimitError, Limits, LoadError
from ragfile.ingest.loaders.office import Package, bounded, outermost

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_T = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"


def epub(raw: bytes, limits: Limits) -> Iterator[Extracted]:
    """Extract the pages in the order of the book's spine."""
    package = Package(raw, limits)
    container = package.xml("META-INF/container.xml")
    root = container.find(f".//{_CONTAINER}") if container is not None else None
    path = root.get("full-path", "") if root is not None else ""
    book = package.xml(path)
    if book is None:
        raise LoadError("not a readable EPUB: it has no list of its pages")
    title = book.findtext(f".//{_DC}title") or ""
    pages = (_page(package, name, limits) for name in _spine(book, path, limits))
    text = "\n\n".join(page for page in bounded(pages, limits) if page)
    yield Extracted(text, metadata={"title": title.strip()} if title.strip() else {})


def _spine(book: Element, path: str, limits: Limits) -> Iterable[str]:
    """Return the names of the pages, each once."""
    folder = posixpath.dirname(path)
    items = {item.get("id"): item.get("href", "") for item in book.iter(f"{_OPF}item")}
    ids = [item.get("idref") for item in book.iter(f"{_OPF}itemref")]
    if len(ids) > limits.max_pages:
        raise LimitError(f"{len(ids)} pages, the limit is {limits.max_pages}")
    names = (
        posixpath.normpath(posixpath.join(folder, unquote(items[i]))) for i in ids if i in items
    )
    return dict.fromkeys(names)


def _page(package: Package, name: str, limits: Limits) -> str:
    content = package.read(name)
    if content is None:
        return ""
    (page,) = html.parse(content, limits, "replace")
    return page.text.strip()


def odt(raw: bytes, limits: Limits) -> Iterator[Extracted]:
    """Extract headings, paragraphs, lists and tables in order."""
    package = Package(raw, limits)
    meta = package.xml("meta.xml")
    title = (meta.findtext(f".//{_DC}title") or "").strip() if meta is not None else ""
    blocks = _blocks(package.children("content.xml", f"{_OFFICE}text"))
    yield Extracted(
        "\n\n".join(bounded(blocks, limits)), metadata={"title": title} if title else {}
    )


def _blocks(parent: Iterable[Element]) -> Iterator[str]:
    """Yield the blocks below an element, without recursion: lists and sections nest."""
    for child in parent:
        stack = [child]
        while stack:
            node = stack.pop()
            if node.tag == f"{_T}h":
                text = " ".join(text_of(node).split())
                if text:
                    yield f"{'#' * _level(node)} {text}"
            elif node.tag == f"{_T}p":
                if text := text_of(node).strip():
                    yield text
            elif node.tag == f"{_T}list-item":
                yield from _item(node, stack)
            elif node.tag == f"{_TABLE}table":
                rows = [_row(row) for row in outermost(node, f"{_TABLE}table-row")]
                if any(row.strip(" |") for row in rows):
                    yield "\n".join(rows)
            elif node.tag not in _LEFT_OUT:
                stack.extend(reversed(node))


_LEFT_OUT = {
    f"{_T}tracked-changes",
    f"{_OFFICE}annotation",
    f"{_T}sequence-decls",
    f"{_T}index-title",
    f"{_T}table-of-content",
    f"{_OFFICE}forms",
}


def _level(node: Element) -> int:
    level = node.get(f"{_T}outline-level", "1")
    return min(int(level), 6) if level in "123456789" and level else 1


def _item(node: Element, stack: list[Element]) -> Iterator[str]:
    """Yield a list item's first paragraph with a mark, and push the rest of the item on the stack."""
    rest = list(node)
    if rest and rest[0].tag == f"{_T}p":
        text = " ".join(text_of(rest.pop(0)).split())
        if text:
            yield f"- {text}"
    stack.extend(reversed(rest))


def _row(row: Element) -> str:
    cells = (cell for cell in row if cell.tag == f"{_TABLE}table-cell")
    return " | ".join(" ".join(text_of(cell).split()) for cell in cells)


_BREAKS = {f"{_T}tab": "\t", f"{_T}line-break": "\n"}


def text_of(element: Element) -> str:
    """Return the text below an element, without reviewers' comments."""
    pieces: list[str] = []
    stack = [(element, False)]
    while stack:
        node, is_tail = stack.pop()
        if is_tail:
            pieces.append(node.tail or "")
            continue
        if node.tag == f"{_T}s":
            count = node.get(f"{_T}c", "1")
            pieces.append(" " * min(int(count) if count.isdecimal() else 1, 80))
        pieces.append(_BREAKS.get(node.tag, "\n" if node.tag == f"{_T}p" and pieces else ""))
        if node.tag not in _LEFT_OUT:
            pieces.append(node.text or "")
            for child in reversed(node):
                stack += [(child, True), (child, False)]
    return "".join(pieces)
