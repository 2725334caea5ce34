"""DOCX and PPTX: the text of their XML, with Markdown's marks for headings, list items and tables.

Both are zip files of XML. What they unpack to is bounded before it is unpacked, and a document type
declaration, the root of XML's entity bombs and file inclusions, is refused: no writer of these formats makes
one.
"""

import io
import posixpath
import re
import zipfile
from xml.etree import ElementTree

from ragfile.ingest.loaders.contract import Extracted, LimitError

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_DC = "{http://purl.org/dc/elements/1.1/}"
_HEADING = re.compile(r"heading ([1-9])$|(title)$", re.IGNORECASE)


class _Package:
    """The parts of an Office file, read within the limits."""

    def __init__(self, raw, limits):
        self._zip = zipfile.ZipFile(io.BytesIO(raw))
        expanded = sum(member.file_size for member in self._zip.infolist())
        if expanded > limits.max_expanded:
            raise LimitError(f"unpacks to {expanded} bytes, the limit is {limits.max_expanded}")
        self._names = set(self._zip.namelist())

    def xml(self, name):
        """The part as a tree, or None. zipfile itself stops at the size that the directory states."""
        if name not in self._names:
            return None
        parser = ElementTree.XMLParser(target=_Builder())
        parser.feed(self._zip.read(name))
        return parser.close()

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
    def doctype(self, name, public, system):
        raise ValueError("an XML part with a document type declaration")


def word(raw, limits):
    """Paragraphs and tables in order; headings by their style's name, English in every language's Word."""
    package = _Package(raw, limits)
    levels = _heading_levels(package.xml("word/styles.xml"))
    body = package.xml("word/document.xml").find(f"{_W}body")
    blocks = _blocks(body, levels) if body is not None else ()
    yield Extracted("\n\n".join(blocks), metadata=package.title())


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
    """A slide is a segment, numbered from 1 in the presentation's own order; its notes come last in it."""
    package = _Package(raw, limits)
    relations = package.relations("ppt/presentation.xml")
    ids = [node.get(f"{_R}id") for node in package.xml("ppt/presentation.xml").iter(f"{_P}sldId")]
    if len(ids) > limits.max_pages:
        raise LimitError(f"{len(ids)} slides, the limit is {limits.max_pages}")
    names = [relations[i] for i in ids if i in relations]
    yield Extracted(
        parts=((_slide(package, name), {"slide": n}) for n, name in enumerate(names, 1)),
        metadata=package.title(),
    )


def _slide(package, name):
    tree = package.xml(name)
    blocks = [_shape(shape) for shape in tree.iter(f"{_P}sp")] if tree is not None else []
    blocks += [_table(table) for table in tree.iter(f"{_A}tbl")] if tree is not None else []
    for target in package.relations(name).values():
        notes = package.xml(target) if "/notesSlides/" in f"/{target}" else None
        if notes is not None:
            blocks += [_shape(shape) for shape in notes.iter(f"{_P}sp") if _role(shape) == "body"]
    return "\n\n".join(block for block in blocks if block)


def _role(shape):
    holder = shape.find(f".//{_P}ph")
    return holder.get("type", "body") if holder is not None else ""


def _shape(shape):
    role = _role(shape)
    lines = [_line(paragraph) for paragraph in shape.iter(f"{_A}p")]
    text = "\n".join(line for line in lines if line)
    if role in ("sldNum", "dt", "ftr") or not text:
        return ""
    return f"# {' '.join(text.split())}" if role in ("title", "ctrTitle") else text


def _line(paragraph):
    pieces = [
        ("\n" if n.tag == f"{_A}br" else n.text or "")
        for n in paragraph.iter()
        if n.tag in (f"{_A}t", f"{_A}br")
    ]
    return "".join(pieces).strip()


def _table(table):
    rows = (
        " | ".join(" ".join(_line(cell).split()) for cell in row.iter(f"{_A}tc"))
        for row in table.iter(f"{_A}tr")
    )
    return "\n".join(row for row in rows if row.strip(" |"))
