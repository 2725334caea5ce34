"""DOCX and PPTX: the text of their XML, with Markdown's marks for headings, list items and tables.

Both are zip files of XML. What they unpack to is bounded before it is unpacked, a Word document is
read one paragraph or table at a time, and every part is read once, however often it is named. A
document type declaration, the root of XML's entity bombs and file inclusions, is refused: no writer
of these formats makes one.
"""

from __future__ import annotations

import io
import itertools
import posixpath
import re
import zipfile
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ragfile.ingest.loaders.contract import Extracted, LimitError

if TYPE_CHECKING:
    from typing import Any

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

    def __init__(self, raw, limits):
        self._zip = zipfile.ZipFile(io.BytesIO(raw))
        expanded = sum(member.file_size for member in self._zip.infolist())
        if expanded > limits.max_expanded:
            raise LimitError(f"unpacks to {expanded} bytes, the limit is {limits.max_expanded}")
        self._names = set(self._zip.namelist())

    def read(self, name):
        """The bytes of a part, or None."""
        return self._zip.read(name) if name in self._names else None

    def xml(self, name) -> Any:
        """The part as a tree, or None."""
        builder = _Builder()
        return builder.close() if self._fed(name, builder) else None

    def children(self, name, parent):
        """What lies in the part's first `parent` element, one child at a time; each is dropped
        after it was used.
        """
        builder = _Builder(parent)
        for _ in self._feeding(name, builder):
            if builder.parent is not None and len(builder.parent) > 1:
                yield from builder.parent[:-1]
                del builder.parent[:-1]
                builder.held = 0
        if builder.parent is not None:
            yield from builder.parent

    def _fed(self, name, builder):
        """Whether there is such a part, all of which the builder then has."""
        return sum(1 for _ in self._feeding(name, builder)) > 0

    def _feeding(self, name, builder):
        """Gives the part to the builder piece by piece. zipfile itself stops at the size that the
        directory states.
        """
        if name not in self._names:
            return
        parser = ElementTree.XMLParser(target=builder)
        with self._zip.open(name) as part:
            while piece := part.read(PIECE):
                parser.feed(piece)
                yield
        parser.close()
        yield

    def title(self):
        core = self.xml("docProps/core.xml")
        found = core.findtext(f"{_DC}title") if core is not None else None
        return {"title": found.strip()} if found and found.strip() else {}

    def relations(self, name):
        """The targets of a part's relations by id."""
        folder, base = posixpath.split(name)
        tree = self.xml(f"{folder}/_rels/{base}.rels")
        return {
            relation.get("Id"): posixpath.normpath(
                posixpath.join("/", folder, relation.get("Target", ""))
            )[1:]
            for relation in (tree.iter(_RELATION) if tree is not None else ())
        }


class _Builder(ElementTree.TreeBuilder):
    """A tree without a document type, of which no more than HELD bytes are in memory (see
    Package.children).
    """

    def __init__(self, parent=None):
        super().__init__()
        self.held, self.parent, self._awaited = 0, None, parent

    def start(self, tag, attributes):
        self._hold(ELEMENT * (1 + len(attributes)))
        element = super().start(tag, attributes)
        if tag == self._awaited and self.parent is None:
            self.parent = element
        return element

    def data(self, data):
        self._hold(len(data))
        return super().data(data)

    def _hold(self, size):
        self.held += size
        if self.held > HELD:
            raise LimitError(
                f"a part, paragraph or table whose XML takes more than {HELD >> 20} MiB of memory"
            )

    def doctype(self, name, public, system):
        raise ValueError("an XML part with a document type declaration")


def word(raw, limits):
    """Paragraphs and tables in order, between the headers and the footers of the pages; headings by
    their style's name, English in every language's Word. Notes come last.
    """
    package = Package(raw, limits)
    levels = _heading_levels(package.xml("word/styles.xml"))
    blocks = _blocks(package.children("word/document.xml", f"{_W}body"), levels)
    around = [_beside(package, kind) for kind in ("header", "footer", "footnote", "endnote")]
    whole = itertools.chain(around[0], blocks, *around[1:])
    yield Extracted("\n\n".join(bounded(whole, limits)), metadata=package.title())


def _beside(package, kind):
    """The different texts of a document's headers, footers or notes."""
    said = {}
    for name in sorted(package.relations("word/document.xml").values()):
        if re.fullmatch(rf"word/{kind}s?\d*\.xml", name):
            tree = package.xml(name)
            parts = (
                tree.iter(f"{_W}{kind}") if kind.endswith("note") and tree is not None else [tree]
            )
            said |= {" ".join(_runs(part).split()): None for part in parts if part is not None}
    return [text for text in said if text]


def bounded(blocks, limits):
    size = 0
    for block in blocks:
        size += len(block)
        if size > limits.max_text:
            raise LimitError(f"more than {limits.max_text} characters of text")
        yield block


def _heading_levels(styles):
    levels = {}
    for style in styles.iter(f"{_W}style") if styles is not None else ():
        name = style.find(f"{_W}name")
        m = _HEADING.match(name.get(f"{_W}val", "")) if name is not None else None
        if m:
            levels[style.get(f"{_W}styleId")] = min(int(m[1] or 1), 6)
    return levels


def _blocks(parent, levels):
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


def _paragraph(paragraph, levels):
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


def _row(row):
    return " | ".join(" ".join(_runs(cell).split()) for cell in row.findall(f"{_W}tc"))


_BREAKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


def _runs(element):
    """The text below an element, without deletions (another tag) and fallbacks (repetitions)."""
    pieces, stack = [], [element]
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


def slides(raw, limits):
    """A slide is a segment, numbered from 1 in the presentation's own order; its notes come last in
    it.
    """
    package = Package(raw, limits)
    relations = package.relations("ppt/presentation.xml")
    ids = [node.get(f"{_R}id") for node in package.xml("ppt/presentation.xml").iter(f"{_P}sldId")]
    if len(ids) > limits.max_pages:
        raise LimitError(f"{len(ids)} slides, the limit is {limits.max_pages}")
    names = dict.fromkeys(relations[i] for i in ids if i in relations)
    taken = set(names)
    yield Extracted(
        parts=((_slide(package, name, taken), {"slide": n}) for n, name in enumerate(names, 1)),
        metadata=package.title(),
    )


def _slide(package, name, taken):
    """The text of a slide and of those of its notes that are not taken yet: a page of notes belongs
    to one slide.
    """
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


def _chart(tree):
    """A chart as its title and a table: a row for each category, a column for each series."""
    if tree is None:
        return ""
    title = tree.find(f".//{_C}title")
    said = " ".join(_line(title).split()) if title is not None else ""
    series = [_points(one) for one in tree.iter(f"{_C}ser")][:SERIES]
    names = [name for name, _, _ in series]
    categories = max((found for _, found, _ in series), key=len, default=[])
    rows = [" | ".join(["", *names])] if any(names) else []
    for i, category in enumerate(categories):
        values = [found[i] if i < len(found) else "" for _, _, found in series]
        rows.append(" | ".join([category, *values]))
    return "\n\n".join(part for part in (said, "\n".join(rows)) if part)


def _points(series):
    """(name, categories, values) of a series."""
    found = []
    for tag in ("tx", "cat", "val"):
        holder = series.find(f"{_C}{tag}")
        values = holder.iter(f"{_C}v") if holder is not None else ()
        found.append([" ".join((value.text or "").split()) for value in values])
    name, categories, values = found
    return " ".join(name), categories or [str(n) for n in range(1, len(values) + 1)], values


def outermost(element, tag):
    """The elements of a tag below an element, in order, without those that lie in another such
    one.
    """
    stack = [] if element is None else list(reversed(element))
    while stack:
        node = stack.pop()
        if node.tag == tag:
            yield node
        else:
            stack.extend(reversed(node))


def _role(shape):
    holder = shape.find(f".//{_P}ph")
    return holder.get("type", "body") if holder is not None else ""


def _shape(shape):
    role = _role(shape)
    lines = [_line(paragraph) for paragraph in outermost(shape, f"{_A}p")]
    text = "\n".join(line for line in lines if line)
    if role in ("sldNum", "dt", "ftr") or not text:
        return ""
    return f"# {' '.join(text.split())}" if role in ("title", "ctrTitle") else text


def _line(paragraph):
    said = (node for node in paragraph.iter() if node.tag in (f"{_A}t", f"{_A}br"))
    return "".join("\n" if node.tag == f"{_A}br" else node.text or "" for node in said).strip()


def _table(table):
    rows = (_cells(row) for row in outermost(table, f"{_A}tr"))
    return "\n".join(row for row in rows if row.strip(" |"))


def _cells(row):
    return " | ".join(" ".join(_line(cell).split()) for cell in outermost(row, f"{_A}tc"))
