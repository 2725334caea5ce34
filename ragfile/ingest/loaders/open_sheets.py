"""Extract the spreadsheets of OpenDocument (ODS), row by row as sheets.py does."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ragfile.ingest.loaders.contract import Extracted, LimitError, Limits
from ragfile.ingest.loaders.epub_odt import text_of
from ragfile.ingest.loaders.office import Package, outermost
from ragfile.ingest.loaders.sheets import COLUMNS, Cell, Row, parts_of

_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
FILLED = 100  # cells that one repeated cell with content gives


def ods(raw: bytes, limits: Limits) -> Iterator[Extracted]:
    """Extract the sheets in order; a row that repeats the one above is given once."""
    package = Package(raw, limits)
    content = package.children("content.xml", f"{_OFFICE}spreadsheet")
    tables = (node for node in content if node.tag == f"{_TABLE}table")
    parts = (
        parts_of(table.get(f"{_TABLE}name", ""), _rows(table), limits)
        for table in _counted(tables, limits)
    )
    yield Extracted(parts=itertools.chain.from_iterable(parts))


def _counted(tables: Iterator[Element], limits: Limits) -> Iterator[Element]:
    for number, table in enumerate(tables, 1):
        if number > limits.max_pages:
            raise LimitError(f"more than {limits.max_pages} sheets")
        yield table


def _rows(table: Element) -> Iterator[Row]:
    number = 1
    for row in outermost(table, f"{_TABLE}table-row"):
        cells = [cell for cell in _cells(row) if cell.text]
        if cells:
            yield Row(number, cells)
        number += _repeated(row, "number-rows-repeated")


def _cells(row: Element) -> Iterator[Cell]:
    """Yield the cells of a row that have content, with their columns."""
    column = 0
    for node in row:
        if node.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            continue
        count = _repeated(node, "number-columns-repeated")
        kind = node.get(f"{_OFFICE}value-type", "string")
        texts = (text_of(line) for line in node if line.tag == f"{_TEXT}p")
        if text := " ".join(" ".join(texts).split()):
            for place in range(column, min(column + min(count, FILLED), COLUMNS)):
                yield Cell(place, text, kind == "string")
        column += count


def _repeated(node: Element, name: str) -> int:
    text = node.get(f"{_TABLE}{name}", "1")
    return max(int(text), 1) if text.isascii() and text.isdecimal() and len(text) < 10 else 1
