"""Extract spreadsheets: each row as lines `column: value`, under the names in a sheet's first row.

XLSX is read here; open_sheets.py reads OpenDocument's. A cell has the value that the program computed
last: formulas are not evaluated. Dates are numbers in a format that shows a date; they become ISO 8601.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple
from xml.etree.ElementTree import Element

from ragfile.ingest.loaders.cells import LONGEST, MOST, keys_of, number_of
from ragfile.ingest.loaders.contract import Extracted, LimitError, Limits, LoadError, Part
from ragfile.ingest.loaders.office import Package, bounded
from ragfile.ingest.loaders.text_formats import NAME

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
COLUMNS = 16_384  # of a sheet


class Cell(NamedTuple):
    """A cell with content: its column from 0, and its text."""

    column: int
    text: str
    is_words: bool  # not a number, a date or a truth value


class Row(NamedTuple):
    """A row with content, and its number from 1."""

    number: int
    cells: list[Cell]


def parts_of(name: str, rows: Iterable[Row], limits: Limits) -> Iterator[Part]:
    """Yield each row of a sheet; the first one names the columns if it has words only."""
    rows = iter(rows)
    first, second = next(rows, None), next(rows, None)
    names: dict[int, str] = {}
    if first and second and all(cell.is_words for cell in first.cells):
        names = {cell.column: cell.text for cell in first.cells}
        first = None
    keys = keys_of([names.get(column, "") for column in range(MOST)])
    for row in itertools.chain(filter(None, (first, second)), rows):
        lines = (_line(names.get(cell.column, "")[:NAME], cell.text) for cell in row.cells)
        place = {"sheet": name, "row": row.number}
        yield "\n".join(bounded(lines, limits)), {**_values(row, keys), **place}


def _values(row: Row, keys: Mapping[int, str]) -> dict[str, str | float]:
    """Return the cells of a row that are short enough for metadata, by their keys."""
    kept = [cell for cell in row.cells if cell.column in keys and len(cell.text) <= LONGEST]
    return {keys[cell.column]: _value(cell) for cell in kept}


def _value(cell: Cell) -> str | float:
    number = None if cell.is_words else number_of(cell.text)
    return cell.text if number is None else number


def _line(name: str, value: str) -> str:
    return f"{name}: {value}" if name else value


def xlsx(raw: bytes, limits: Limits) -> Iterator[Extracted]:
    """Extract the sheets of a workbook in order."""
    package = Package(raw, limits)
    book = package.xml("xl/workbook.xml")
    if book is None:
        raise LoadError("not a readable XLSX: it has no list of its sheets")
    targets = package.relations("xl/workbook.xml")
    names = [(sheet.get("name", ""), sheet.get(f"{_R}id")) for sheet in book.iter(f"{_S}sheet")]
    if len(names) > limits.max_pages:
        raise LimitError(f"{len(names)} sheets, the limit is {limits.max_pages}")
    reader = _CellReader(package, book, limits)
    sheets = {targets[key]: name for name, key in reversed(names) if key in targets}
    parts = (
        parts_of(name, reader.rows(path), limits) for path, name in reversed(list(sheets.items()))
    )
    yield Extracted(parts=itertools.chain.from_iterable(parts), metadata=package.title())


class _CellReader:
    """Reads the cells of a workbook, whose words and formats are in parts of their own."""

    def __init__(self, package: Package, book: Element, limits: Limits) -> None:
        self._package = package
        words = package.children("xl/sharedStrings.xml", f"{_S}sst")
        self._strings = list(bounded((_words(node) for node in words), limits))
        self._dates = _date_styles(package.xml("xl/styles.xml"))
        settings = book.find(f"{_S}workbookPr")
        is_1904 = settings is not None and settings.get("date1904") in ("1", "true")
        self._epoch = datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30)

    def rows(self, path: str) -> Iterator[Row]:
        """Yield the rows of a sheet that have content."""
        number = 0
        for row in self._package.children(path, f"{_S}sheetData"):
            number = _whole(row.get("r"), number + 1)
            cells = [cell for cell in self._cells(row) if cell.text]
            if row.tag == f"{_S}row" and cells:
                yield Row(number, cells)

    def _cells(self, row: Element) -> Iterator[Cell]:
        column = -1
        for node in row.iter(f"{_S}c"):
            column = _column(node.get("r"), column + 1)
            yield self._cell(node, column)

    def _cell(self, node: Element, column: int) -> Cell:
        kind, value = node.get("t", "n"), (node.findtext(f"{_S}v") or "").strip()
        if kind == "s":
            at = _whole(value, -1)
            return Cell(column, self._strings[at] if 0 <= at < len(self._strings) else "", True)
        if kind in ("inlineStr", "str"):
            inline = node.find(f"{_S}is")
            return Cell(column, _words(inline) if inline is not None else value, True)
        if kind == "b":
            return Cell(column, {"0": "false", "1": "true"}.get(value, value), False)
        if kind == "n" and node.get("s", "0") in self._dates:
            return Cell(column, self._date(value), False)
        return Cell(column, value, False)

    def _date(self, value: str) -> str:
        """Return the day, or the time, or both, that a number of days stands for."""
        try:
            moment = self._epoch + timedelta(seconds=round(float(value) * 86_400))
        except (ValueError, OverflowError):
            return value
        if float(value) < 1:
            return moment.strftime("%H:%M:%S")
        return moment.isoformat(" ").removesuffix(" 00:00:00")


def _words(node: Element) -> str:
    """Return the text of a cell in one line, without its phonetic guide."""
    runs = [child for child in node if child.tag in (f"{_S}t", f"{_S}r")]
    pieces = (text.text or "" for run in runs for text in run.iter(f"{_S}t"))
    return " ".join("".join(pieces).split())


_BUILT_IN_DATES = {*range(14, 23), *range(45, 48)}
_QUIET = re.compile(r'"[^"]{0,200}"|\[[^\]]{0,200}\]|\\.|_.|\*.')  # characters shown as they are


def _date_styles(styles: Element | None) -> set[str]:
    """Return the numbers of the styles that show a date or a time."""
    if styles is None:
        return set()
    own = {
        _whole(node.get("numFmtId"), -1): _QUIET.sub("", node.get("formatCode", "")[:1000])
        for node in styles.iter(f"{_S}numFmt")
    }
    dates = _BUILT_IN_DATES | {n for n, code in own.items() if re.search("[ymdhs]", code.lower())}
    formats = styles.find(f"{_S}cellXfs")
    ids = [_whole(node.get("numFmtId"), 0) for node in formats] if formats is not None else []
    return {str(style) for style, number in enumerate(ids) if number in dates}


def _whole(text: str | None, otherwise: int) -> int:
    return (
        int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else otherwise
    )


def _column(place: str | None, otherwise: int) -> int:
    """Return the column of a cell such as "AB12"."""
    m = re.match(r"[A-Z]{1,3}", place or "")
    if m is None:
        return min(otherwise, COLUMNS)
    column = 0
    for letter in m[0]:
        column = column * 26 + ord(letter) - 64
    return column - 1
