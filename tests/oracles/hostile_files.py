"""Small files that unpack to much more: a PDF, an office file and a book."""

from __future__ import annotations

import io
import zipfile
import zlib

WORD = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
CONTAINER = (
    b'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    b'<rootfile full-path="book.opf"/></rootfiles></container>'
)
BOOK = (
    b'<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.html"/>'
    b'</manifest><spine><itemref idref="a"/></spine></package>'
)


def pdf(operators: bytes) -> bytes:
    """Return a PDF of one page with these operators in one Flate stream."""
    packed = zlib.compress(operators, 9)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(packed), packed),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    return (
        out
        + head
        + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
        % (
            size,
            len(out),
        )
    )


def bomb() -> bytes:
    """Return a PDF of about 50 KB whose page has 20 MB of operators."""
    return pdf(b"BT /F1 9 Tf " + b"(a)Tj " * (20_000_000 // 6) + b"ET")


def packed(members: dict[str, bytes]) -> bytes:
    """Return a zip archive of these members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def word_bomb(size: int) -> bytes:
    """Return a DOCX with one paragraph of so many bytes of empty elements."""
    runs = b"<w:r/>" * (size // 6)
    return packed(
        {"word/document.xml": b"%s<w:body><w:p>%s</w:p></w:body></w:document>" % (WORD, runs)}
    )


def book_bomb(size: int) -> bytes:
    """Return an EPUB with one page of so many bytes of tags."""
    page = b"<html><body>" + b"<p>a" * (size // 4)
    return packed({"META-INF/container.xml": CONTAINER, "book.opf": BOOK, "a.html": page})
