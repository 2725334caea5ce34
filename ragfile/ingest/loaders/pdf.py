"""Extract PDF by pdfium: a page is a segment, numbered from 1.

pdfium is about ten times as fast as a parser in Python, reads broken files as browsers do, and is
fuzzed continuously; its licence (Apache 2.0 / BSD) is compatible. It is not thread-safe: load PDFs
from one thread.
"""

import re
from collections.abc import Iterator
from typing import Protocol

from ragfile.ground.extras import optional
from ragfile.ingest.loaders.contract import Extracted, LimitError, Limits, LoadError, Part

# How pdfium marks a hyphen that breaks a word at the end of a line.
_HYPHEN = re.compile("[\ufffe\x02](?:\r?\n)?")


class _TextPage(Protocol):
    """The part of a pypdfium2.PdfTextPage that this module uses."""

    def get_text_bounded(self) -> str: ...
    def close(self) -> None: ...


class _Page(Protocol):
    """The part of a pypdfium2.PdfPage that this module uses."""

    def get_textpage(self) -> _TextPage: ...
    def close(self) -> None: ...


class _PdfDocument(Protocol):
    """The methods of a pypdfium2.PdfDocument that read its pages."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> _Page: ...


def parse(raw: bytes, limits: Limits) -> Iterator[Extracted]:
    """Extract the text of each page, and the title."""
    pypdfium2 = optional("pypdfium2", "reading PDF")
    try:
        document = pypdfium2.PdfDocument(raw)
    except pypdfium2.PdfiumError as error:
        raise LoadError(f"not a readable PDF: {error}") from error
    try:
        if len(document) > limits.max_pages:
            raise LimitError(f"{len(document)} pages, the limit is {limits.max_pages}")
        title = document.get_metadata_dict(skip_empty=True).get("Title", "").strip()
        yield Extracted(parts=_pages(document), metadata={"title": title} if title else {})
    finally:
        document.close()


def _pages(document: _PdfDocument) -> Iterator[Part]:
    for number in range(len(document)):
        page = document[number]
        text_page = page.get_textpage()
        yield _HYPHEN.sub("", text_page.get_text_bounded()), {"page": number + 1}
        text_page.close()
        page.close()
