"""Plain text and what is written in it: text, Markdown, tables (CSV, TSV) and JSON lines."""

import codecs
import csv
import io
import itertools
import json

from ragfile.ingest.loaders.contract import Extracted
from ragfile.ingest.loaders.definitions import outline
from ragfile.ingest.loaders.front_matter import tags_of
from ragfile.ingest.titles import markdown_title

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
NAME = 200  # characters of a column's name, which every row repeats


def decode(raw, errors="strict"):
    """UTF-8, or what a byte order mark says. Invalid bytes are an error, or U+FFFD with
    errors="replace".
    """
    return whole(raw, errors).removeprefix("\ufeff")


def whole(raw, errors):
    """As decode, with the mark as a first character: nothing of the file is lost."""
    encoding = next((encoding for mark, encoding in _MARKS if raw.startswith(mark)), "utf-8")
    return raw.decode(encoding, errors)


def text(raw, limits, errors="strict"):
    yield Extracted(whole(raw, errors))


def code(language):
    """What parses source code: the text as it is, cut by its definitions."""

    def parse(raw, limits, errors="strict"):
        yield Extracted(whole(raw, errors), outline=outline(language))

    return parse


def markdown(raw, limits, errors="strict"):
    """The text as it is; its title is that of the front matter, else the first top header."""
    read = whole(raw, errors)
    title = markdown_title(read[:10_000].removeprefix("\ufeff"))
    yield Extracted(read, metadata={"title": title} if title else {}, has_front=True)


def table(raw, limits, errors="strict"):
    """A row becomes lines `column: value`, a segment of its own with its number (the header is row
    1).
    """
    table_text = decode(raw, errors)
    first = table_text.partition("\n")[0]
    delimiter = max(",;\t|", key=first.count)
    rows = csv.reader(io.StringIO(table_text, newline=""), delimiter=delimiter, strict=True)
    names = [name.strip()[:NAME] for name in next(rows, [])]
    yield Extracted(parts=_rows(names, rows))


def _rows(names, rows):
    for number, row in enumerate(rows, 2):
        cells = zip(itertools.chain(names, itertools.repeat("")), row)  # noqa: B905 - as many as the row has
        lines = [
            f"{name}: {value.strip()}" if name else value.strip()
            for name, value in cells
            if value.strip()
        ]
        if lines:
            yield "\n".join(lines), {"row": number}


def json_lines(raw, limits, errors="strict"):
    """A document per line: `text` (or `content`), `id` (`_id`, the line's number); the rest is
    metadata, and `tags` are its tags.
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


def _reason(error):
    """Why a line is not JSON, and where in the line."""
    return (
        f"{error.msg} at character {error.pos + 1}"
        if isinstance(error, json.JSONDecodeError)
        else error
    )


def _json_lines(raw, errors):
    """Lines as bytes, one at a time: the file can be large. UTF-16 and UTF-32 are decoded as a
    whole first.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)):
        return decode(raw, errors).split("\n")
    return io.BytesIO(raw)


def _record(record, number):
    body = (
        next((record.pop(k) for k in ("text", "content") if k in record), None)
        if isinstance(record, dict)
        else None
    )
    if not isinstance(body, str):
        return Extracted(problem=f"line {number}: not an object with a text", id=str(number))
    name = next((record.pop(k) for k in ("id", "_id") if k in record), number)
    return Extracted(body, metadata=record, id=str(name), tags=tags_of(record.get("tags")))


def _refuse(name):
    raise ValueError(f"{name} is not a JSON value")


_JSON = json.JSONDecoder(parse_constant=_refuse)
