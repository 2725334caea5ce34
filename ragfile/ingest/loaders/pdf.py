"""PDF through pdfium: a page is a segment, numbered from 1.

pdfium rather than a parser in Python: it is about ten times faster, reads broken files as browsers
do, and is fuzzed for a living; its licence (Apache 2.0 / BSD) goes with ours. It is not
thread-safe: load PDFs from one thread.
"""

import re

from ragfile.ground.extras import optional
from ragfile.ingest.loaders.contract import Extracted, LimitError, LoadError

# How pdfium marks a hyphen that only the end of a line called for.
_HYPHEN = re.compile("[\ufffe\x02](?:\r?\n)?")


def parse(raw, limits):
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


def _pages(document):
    for number in range(len(document)):
        page = document[number]
        text_page = page.get_textpage()
        yield _HYPHEN.sub("", text_page.get_text_bounded()), {"page": number + 1}
        text_page.close()
        page.close()
