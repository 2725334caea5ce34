"""Extract DOCX and PPTX: the text of their XML, with Markdown's marks for headings, list items and
tables.

Both are zip files of XML. Their unpacked size is limited before they are unpacked, a Word document
is read one paragraph or table at a time, and every part is read once, however often it is named. A
document type declaration, the source of XML's entity bombs and file inclusions, is refused: no
writer of these formats makes one.
"""

from __future__ import annotations

import io
import itertools
import posixpath
import re
import zipfile
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ragfile.ingest.loaders.contract import Extracted, LimitError, Limits, LoadError
from ragfile.types import Metadata

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_DC = "{http://purl.org/dc/elements/1.1/}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
SERIES = 100  # of one chart
PIECE = 1 << 16  # bytes of XML that are read at once
HELD = 256 << 20  # bytes of XML in memory at once, about
ELEMENT = 128  # bytes that an element takes, or an attribute

_HEADING = re.compile(r"heading ([1-9])$|(title)$", re.IGNORECASE)


class Package:
    """The parts of an Office file, read within the limits."""

    def __init__(self, raw: bytes, limits: Limits) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(raw))
        expanded = sum(member.file_size for member in self._zip.infolist())
        if expanded > limits.max_expanded:
            raise LimitError(f"unpacks to {expanded} bytes, the limit is {limits.max_expanded}")
        self._names = set(self._zip.namelist())

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a part, or None."""
        return self._zip.read(name) if name in self._names else None

    def xml(self, name: str) -> Element | None:
        """Return a part as a tree, or None."""
        builder = _Builder()
        return builder.close() if self._fed(name, builder) else None

    def children(self, name: str, parent: str) -> Iterator[Element]:
        """Yield the children of a part's first `parent` element; each is dropped after use."""
        builder = _Builder(parent)
        for _ in self._feeding(name, builder):
            if builder.parent is not None and len(builder.parent) > 1:
                yield from builder.parent[:-1]
                del builder.parent[:-1]
                builder.held = 0
        if builder.parent is not None:
            yield from builder.parent

    def _fed(self, name: str, builder: _Builder) -> bool:
        """Give a whole part to the builder, and return whether there is such a part."""
        return sum(1 for _ in self._feeding(name, builder)) > 0

    def _feeding(self, name: str, builder: _Builder) -> Iterator[None]:
        """Give a part to the builder piece by piece; zipfile stops at the size in the directory."""
        if name not in self._names:
            return
        parser = ElementTree.XMLParser(target=builder)
        with self._zip.open(name) as part:
            while piece := part.read(PIECE):
                parser.feed(piece)
                yield
        parser.close()
        yield

    def title(self) -> Metadata:
        core = self.xml("docProps/core.xml")
        found = core.findtext(f"{_DC}title") if core is not None else None
        return {"title": found.strip()} if found and found.strip() else {}

    def relations(self, name: str) -> dict[str | None, str]:
        """Return the targets of a part's relations by id."""
        folder, base = posixpath.split(name)
        tree = self.xml(f"{folder}/_rels/{base}.rels")
        return {
            relation.get("Id"): posixpath.normpath(
                posixpath.join("/", folder, relation.get("Target", ""))
            )[1:]
            for relation in (tree.iter(_RELATION) if tree is not None else ())
        }


class _Builder(ElementTree.TreeBuilder):
    """A tree builder that refuses document types and holds at most HELD bytes."""

    def __init__(self, parent: str | None = None) -> None:
        super().__init__()
        self.held, self._awaited = 0, parent
        self.parent: Element | None = None

    def start(self, tag: str, attributes: dict[str, str], /) -> Element:
        self._hold(ELEMENT * (1 + len(attributes)))
        element = super().start(tag, attributes)
        if tag == self._awaited and self.parent is None:
            self.parent = element
        return element

    def data(self, data: str, /) -> None:
        self._hold(len(data))
        super().data(data)

    def _hold(self, size: int) -> None:
        self.held += size
        if self.held > HELD:
            raise LimitError(
                f"the XML of a part, paragraph or table takes more than {HELD >> 20} MiB of memory"
            )

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise ValueError("an XML part with a document type declaration")


def word(raw: bytes, limits: Limits) -> Iterator[Extracted]:
    """Extract paragraphs and tables in order, after the headers and before the footers and notes.

    Headings are found by the name of their style, which is English in every language's Word.
    """
    package = Package(raw, limits)
    levels = _heading_levels(package.xml("word/styles.xml"))
    blocks = _blocks(package.children("word/document.xml", f"{_W}body"), levels)
    around = [_beside(package, kind) for kind in ("header", "footer", "footnote", "endnote")]
    whole = itertools.chain(around[0], blocks, *around[1:])
    yield Extracted("\n\n".join(bounded(whole, limits)), metadata=package.title())


def _beside(package: Package, kind: str) -> list[str]:
    """Return the different texts of a document's headers, footers or notes."""
    texts: dict[str, None] = {}
    for name in sorted(package.relations("word/document.xml").values()):
        if re.fullmatch(rf"word/{kind}s?\d*\.xml", name):
            tree = package.xml(name)
            parts = (
                tree.iter(f"{_W}{kind}") if kind.endswith("note") and tree is not None else [tree]
            )
            texts |= {" ".join(_runs(part).split()): None for part in parts if part is not None}
    return [text for text in texts if text]


def bounded(blocks: Iterable[str], limits: Limits) -> Iterator[str]:
    """Yield blocks until their characters exceed the limit."""
    size = 0
    for block in blocks:
        size += len(block)
        if size > limits.max_text:
            raise LimitError(f"more than {limits.max_text} characters of text")
        yield block


def _heading_levels(styles: Element | None) -> dict[str | None, int]:
    levels: dict[str | None, int] = {}
    for style in styles.iter(f"{_W}style") if styles is not None else ():
        name = style.find(f"{_W}name")
        m = _HEADING.match(name.get(f"{_W}val", "")) if name is not None else None
        if m:
            levels[style.get(f"{_W}styleId")] = min(int(m[1] or 1), 6)
    return levels


def _blocks(parent: Iterable[Element], levels: dict[str | None, int]) -> Iterator[str]:
    for child in parent:
        if child.tag == f"{_W}p":
            text = _paragraph(child, levels)
            if text:
                yield text
        elif child.tag == f"{_W}tbl":
            rows = [_row(row) for row in child.findall(f"{_W}tr")]
            if any(row.strip(" |") for row in rows):
                yield "\n".join(rows)
        elif child.tag in (f"{_W}sdt", f"{_W}sdtContent"):
            yield from _blocks(child, levels)


def _paragraph(paragraph: Element, levels: dict[str | None, int]) -> str:
    text = _runs(paragraph).strip()
    if not text:
        return ""
    properties = paragraph.find(f"{_W}pPr")
    if properties is None:
        return text
    style = properties.find(f"{_W}pStyle")
    level = levels.get(style.get(f"{_W}val")) if style is not None else None
    if level:
        return "#" * level + " " + " ".join(text.split())
    return f"- {text}" if properties.find(f"{_W}numPr") is not None else text


def _row(row: Element) -> str:
    return " | ".join(" ".join(_runs(cell).split()) for cell in row.findall(f"{_W}tc"))


_BREAKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


def _runs(element: Element) -> str:
    """Return the text below an element, without deletions and fallbacks, which repeat other text."""
    pieces: list[str] = []
    stack = [element]
    while stack:
        node = stack.pop()
        if node.tag == f"{_W}t":
            pieces.append(node.text or "")
        elif node.tag in _BREAKS:
            pieces.append(_BREAKS[node.tag])
        elif node.tag == f"{_W}p" and pieces:
            pieces.append("\n")
        if node.tag != _FALLBACK:
            stack.extend(reversed(node))
    return "".join(pieces)


def slides(raw: bytes, limits: Limits) -> Iterator[Extracted]:
    """Extract each slide as a segment, numbered from 1 in order, with its notes last."""
    package = Package(raw, limits)
    relations = package.relations("ppt/presentation.xml")
    presentation = package.xml("ppt/presentation.xml")
    if presentation is None:
        raise LoadError("not a readable PPTX: it has no list of its slides")
    ids = [node.get(f"{_R}id") for node in presentation.iter(f"{_P}sldId")]
    if len(ids) > limits.max_pages:
        raise LimitError(f"{len(ids)} slides, the limit is {limits.max_pages}")
    names = dict.fromkeys(relations[i] for i in ids if i in relations)
    taken = set(names)
    yield Extracted(
        parts=((_slide(package, name, taken), {"slide": n}) for n, name in enumerate(names, 1)),
        metadata=package.title(),
    )


def _slide(package: Package, name: str, taken: set[str]) -> str:
    """Return the text of a slide, its charts, and those of its notes that no other slide has."""
    tree = package.xml(name)
    blocks = [_shape(shape) for shape in outermost(tree, f"{_P}sp")]
    blocks += [_table(table) for table in outermost(tree, f"{_A}tbl")]
    targets = [target for target in package.relations(name).values() if target not in taken]
    for target in targets:
        if "/charts/" in f"/{target}" and target.endswith(".xml"):
            taken.add(target)
            blocks.append(_chart(package.xml(target)))
    for target in targets:
        if "/notesSlides/" in f"/{target}":
            taken.add(target)
            shapes = outermost(package.xml(target), f"{_P}sp")
            blocks += [_shape(shape) for shape in shapes if _role(shape) == "body"]
    return "\n\n".join(block for block in blocks if block)


def _chart(tree: Element | None) -> str:
    """Return a chart's title and a table: a row for each category, a column for each series."""
    if tree is None:
        return ""
    title = tree.find(f".//{_C}title")
    heading = " ".join(_line(title).split()) if title is not None else ""
    series = [_series(node) for node in tree.iter(f"{_C}ser")][:SERIES]
    names = [one.name for one in series]
    no_categories: list[str] = []
    categories = max((one.categories for one in series), key=len, default=no_categories)
    rows = [" | ".join(["", *names])] if any(names) else []
    for i, category in enumerate(categories):
        values = [one.values[i] if i < len(one.values) else "" for one in series]
        rows.append(" | ".join([category, *values]))
    return "\n\n".join(part for part in (heading, "\n".join(rows)) if part)


class _ChartSeries(NamedTuple):
    """A series of a chart."""

    name: str
    categories: list[str]
    values: list[str]


def _series(series: Element) -> _ChartSeries:
    found: list[list[str]] = []
    for tag in ("tx", "cat", "val"):
        holder = series.find(f"{_C}{tag}")
        nodes = holder.iter(f"{_C}v") if holder is not None else ()
        found.append([" ".join((node.text or "").split()) for node in nodes])
    name, categories, values = found
    categories = categories or [str(n) for n in range(1, len(values) + 1)]
    return _ChartSeries(" ".join(name), categories, values)


def outermost(element: Element | None, tag: str) -> Iterator[Element]:
    """Yield the elements of a tag below an element, in order, without nested ones."""
    stack = [] if element is None else list(reversed(element))
    while stack:
        node = stack.pop()
        if node.tag == tag:
            yield node
        else:
            stack.extend(reversed(node))


def _role(shape: Element) -> str:
    holder = shape.find(f".//{_P}ph")
    return holder.get("type", "body") if holder is not None else ""


def _shape(shape: Element) -> str:
    role = _role(shape)
    lines = [_line(paragraph) for paragraph in outermost(shape, f"{_A}p")]
    text = "\n".join(line for line in lines if line)
    if role in ("sldNum", "dt", "ftr") or not text:
        return ""
    return f"# {' '.join(text.split())}" if role in ("title", "ctrTitle") else text


def _line(paragraph: Element) -> str:
    runs = (node for node in paragraph.iter() if node.tag in (f"{_A}t", f"{_A}br"))
    return "".join("\n" if node.tag == f"{_A}br" else node.text or "" for node in runs).strip()


def _table(table: Element) -> str:
    rows = (_cells(row) for row in outermost(table, f"{_A}tr"))
    return "\n".join(row for row in rows if row.strip(" |"))


def _cells(row: Element) -> str:
    return " | ".join(" ".join(_line(cell).split()) for cell in outermost(row, f"{_A}tc"))
