"""Small PDF, DOCX and PPTX files written by hand, so that the tests carry no binaries and hide nothing."""

import io
import zipfile


def pdf(*pages):
    """A PDF with a line of Helvetica per page. An empty text makes an empty page."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * i} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    tail = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return (f"{out}xref\n0 {size}\n0000000000 65535 f \n{table}{tail}").encode()


def packed(parts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(zipfile.ZipInfo(name), text, compress_type=zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
CORE = (
    '<cp:coreProperties xmlns:cp="c" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{}</dc:title>'
    "</cp:coreProperties>"
)


def docx(body, title="A Title", document=None):
    styles = f"""<w:styles {W}>
      <w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
      <w:style w:styleId="Heading2"><w:name w:val="heading 2"/></w:style></w:styles>"""
    text = document or f"<w:document {W} {MC}><w:body>{body}</w:body></w:document>"
    return packed(
        {
            "word/document.xml": text,
            "word/styles.xml": styles,
            "docProps/core.xml": CORE.format(title),
        }
    )


def paragraph(text, style=""):
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


NAMESPACES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)


def relations(targets):
    rows = "".join(f'<Relationship Id="{i}" Target="{target}"/>' for i, target in targets.items())
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{rows}</Relationships>'


def shape(role, *lines):
    holder = f'<p:nvSpPr><p:nvPr><p:ph type="{role}"/></p:nvPr></p:nvSpPr>' if role else ""
    text = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in lines)
    return f"<p:sp>{holder}<p:txBody>{text}</p:txBody></p:sp>"


def slide(*shapes, tag="p:sld"):
    return f"<{tag} {NAMESPACES}><p:cSld>{''.join(shapes)}</p:cSld></{tag}>"


def pptx():
    """Two slides shown in another order than that of their names; the first one shown has notes."""
    return packed(
        {
            "ppt/presentation.xml": f'<p:presentation {NAMESPACES}><p:sldIdLst><p:sldId id="1" r:id="rB"/>'
            '<p:sldId id="2" r:id="rA"/></p:sldIdLst></p:presentation>',
            "ppt/_rels/presentation.xml.rels": relations(
                {"rA": "slides/slide1.xml", "rB": "slides/slide2.xml"}
            ),
            "ppt/slides/slide1.xml": slide(
                shape("title", "Last"), shape("", "The end."), shape("sldNum", "2")
            ),
            "ppt/slides/slide2.xml": slide(
                shape("ctrTitle", "First"), shape("body", "One.", "Two.")
            ),
            "ppt/slides/_rels/slide2.xml.rels": relations({"r1": "../notesSlides/notesSlide1.xml"}),
            "ppt/notesSlides/notesSlide1.xml": slide(shape("body", "Say hello."), tag="p:notes"),
        }
    )


def stored(kind, parts):
    """A zip container whose first member says what it is, as OpenDocument wants it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("mimetype", kind)
        for name, text in parts.items():
            file.writestr(name, text, compress_type=zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def epub(pages, spine=None, **more):
    items = "".join(f'<item id="i{n}" href="{name}"/>' for n, name in enumerate(pages))
    refs = "".join(f'<itemref idref="{i}"/>' for i in spine or [f"i{n}" for n in range(len(pages))])
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata><title xmlns="http://purl.org/dc/elements/1.1/">'
        f"The Book</title></metadata><manifest>{items}</manifest><spine>{refs}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    parts = {"META-INF/container.xml": container, "OEBPS/book.opf": book}
    return packed({**parts, **{f"OEBPS/{name}": text for name, text in pages.items()}, **more})


def odt(content):
    return stored("application/vnd.oasis.opendocument.text", {"content.xml": content})


SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def xlsx(sheets, words=(), styles="", settings=""):
    """A workbook of {name: the XML of its rows}, in which words are shared by their number."""
    listed = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1)
    )
    targets = {f"r{n}": f"worksheets/sheet{n}.xml" for n in range(1, len(sheets) + 1)}
    shared = "".join(f"<si>{word}</si>" for word in words)
    parts = {
        "xl/workbook.xml": f"<workbook {SHEET} {NAMESPACES}>{settings}<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(targets),
        "xl/sharedStrings.xml": f"<sst {SHEET}>{shared}</sst>",
        "xl/styles.xml": f"<styleSheet {SHEET}>{styles}</styleSheet>",
        "docProps/core.xml": CORE.format("A Workbook"),
    }
    for path, rows in zip(targets.values(), sheets.values(), strict=True):
        parts[f"xl/{path}"] = f"<worksheet {SHEET}><sheetData>{rows}</sheetData></worksheet>"
    return packed(parts)


def ods(tables):
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table")
    )
    body = f"<office:body {names}><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    return stored("application/vnd.oasis.opendocument.spreadsheet", {"content.xml": body})
