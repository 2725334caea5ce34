"""Extract plain text, Markdown, source code, tables (CSV, TSV) and JSON lines."""

import codecs
import csv
import io
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn, cast

from ragfile.ingest.loaders.contract import Extracted, Limits, Part
from ragfile.ingest.loaders.definitions import outline
from ragfile.ingest.loaders.front_matter import tags_of
from ragfile.ingest.markdown_titles import markdown_title
from ragfile.types import Errors, Metadata

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
NAME = 200  # characters of a column's name, which is repeated in every row


def decode(raw: bytes, errors: Errors = "strict") -> str:
    """Decode UTF-8, or the encoding of a byte order mark."""
    return whole(raw, errors).removeprefix("\ufeff")


def whole(raw: bytes, errors: Errors) -> str:
    """Decode as decode() does, but keep the byte order mark as the first character."""
    encoding = next((encoding for mark, encoding in _MARKS if raw.startswith(mark)), "utf-8")
    return raw.decode(encoding, errors)


def text(raw: bytes, limits: Limits, errors: Errors = "strict") -> Iterator[Extracted]:
    yield Extracted(whole(raw, errors))


def code(language: str) -> Callable[..., Iterator[Extracted]]:
    """Return a parser of source code, which keeps the text as it is and cuts it by its definitions."""

    def parse(raw: bytes, limits: Limits, errors: Errors = "strict") -> Iterator[Extracted]:
        yield Extracted(whole(raw, errors), outline=outline(language))

    return parse


def markdown(raw: bytes, limits: Limits, errors: Errors = "strict") -> Iterator[Extracted]:
    """Extract the text as it is; its title is that of the front matter, else the first top header."""
    read = whole(raw, errors)
    title = markdown_title(read[:10_000].removeprefix("\ufeff"))
    yield Extracted(read, metadata={"title": title} if title else {}, has_front=True)


def table(raw: bytes, limits: Limits, errors: Errors = "strict") -> Iterator[Extracted]:
    """Extract each row as lines `column: value`, in a segment with its number (the header is row
    1).
    """
    table_text = decode(raw, errors)
    first = table_text.partition("\n")[0]
    delimiter = max(",;\t|", key=first.count)
    rows = csv.reader(io.StringIO(table_text, newline=""), delimiter=delimiter, strict=True)
    names = [name.strip()[:NAME] for name in next(rows, ())]
    yield Extracted(parts=_rows(names, rows))


def _rows(names: list[str], rows: Iterable[list[str]]) -> Iterator[Part]:
    for number, row in enumerate(rows, 2):
        cells = zip(itertools.chain(names, itertools.repeat("")), row)  # noqa: B905 - ends with the row
        lines = [
            f"{name}: {value.strip()}" if name else value.strip()
            for name, value in cells
            if value.strip()
        ]
        if lines:
            yield "\n".join(lines), {"row": number}


def json_lines(raw: bytes, limits: Limits, errors: Errors = "strict") -> Iterator[Extracted]:
    """Extract a document per line.

    `text` (or `content`) is its text, `id` (or `_id`, else the line's number) its id and `tags` its
    tags; the other fields are metadata.
    """
    for number, line in enumerate(_json_lines(raw, errors), 1):
        if not line.strip():
            continue
        try:
            record = _JSON.decode(line if isinstance(line, str) else decode(line, errors))
        except (ValueError, RecursionError) as error:  # invalid UTF-8 is a ValueError too
            yield Extracted(problem=f"line {number}: not JSON: {_reason(error)}", id=str(number))
            continue
        yield _record(record, number)


def _reason(error: Exception) -> str:
    """Return why a line is not JSON, and where in the line."""
    return (
        f"{error.msg} at character {error.pos + 1}"
        if isinstance(error, json.JSONDecodeError)
        else str(error)
    )


def _json_lines(raw: bytes, errors: Errors) -> Iterable[str | bytes]:
    """Return the lines as bytes, one at a time because the file can be large.

    UTF-16 and UTF-32 are decoded as a whole first.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)):
        return decode(raw, errors).split("\n")
    return io.BytesIO(raw)


def _record(record: object, number: int) -> Extracted:
    fields = cast("Metadata", record) if isinstance(record, dict) else {}
    body = next((fields.pop(k) for k in ("text", "content") if k in fields), None)
    if not isinstance(body, str):
        return Extracted(problem=f"line {number}: not an object with a text", id=str(number))
    name = next((fields.pop(k) for k in ("id", "_id") if k in fields), number)
    return Extracted(body, metadata=fields, id=str(name), tags=tags_of(fields.get("tags")))


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


_JSON = json.JSONDecoder(parse_constant=_refuse)
