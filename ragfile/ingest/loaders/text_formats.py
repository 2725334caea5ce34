"""Extract plain text, Markdown, source code, tables (CSV, TSV) and JSON lines."""

import codecs
import csv
import io
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NoReturn, cast

from ragfile.ingest.loaders.cells import LONGEST, keys_of, number_of, numbers_among
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
TEXTS = ("text", "content")  # names of the text of a JSON line
SHOWN = 100  # lines that show the names of the fields
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
    1) and its cells.
    """
    table_text = decode(raw, errors)
    first = table_text.partition("\n")[0]
    delimiter = max(",;\t|", key=first.count)
    lines = io.StringIO(table_text, newline="")
    names = [name.strip() for name in next(csv.reader(lines, delimiter=delimiter, strict=True), ())]
    keys = keys_of(names)
    begin = lines.tell()
    numbers = numbers_among(keys, csv.reader(lines, delimiter=delimiter, strict=True))
    lines.seek(begin)
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    yield Extracted(parts=_rows([name[:NAME] for name in names], rows, keys, numbers))


def _rows(
    names: list[str], rows: Iterable[list[str]], keys: Mapping[int, str], numbers: frozenset[int]
) -> Iterator[Part]:
    for number, row in enumerate(rows, 2):
        cells = zip(itertools.chain(names, itertools.repeat("")), row)  # noqa: B905 - ends with the row
        lines = [
            f"{name}: {value.strip()}" if name else value.strip()
            for name, value in cells
            if value.strip()
        ]
        if lines:
            yield "\n".join(lines), {**_values(row, keys, numbers), "row": number}


def _values(
    row: Sequence[str], keys: Mapping[int, str], numbers: frozenset[int]
) -> dict[str, str | float | None]:
    """Return the cells of a row that are short enough for metadata, by their keys."""
    cells = {at: row[at].strip() for at in keys if at < len(row)}
    kept = {at: cell for at, cell in cells.items() if 0 < len(cell) <= LONGEST}
    return {keys[at]: number_of(cell) if at in numbers else cell for at, cell in kept.items()}


def json_lines(raw: bytes, limits: Limits, errors: Errors = "strict") -> Iterator[Extracted]:
    """Extract a document per line.

    `text` (or `content`) is its text, `id` (or `_id`, else the line's number) its id and `tags` its
    tags; the other fields are metadata. Objects of other programs have their text and id under names
    that the first lines show, as the columns of a table do; vectors are left out.
    """
    lines = _parsed(raw, errors)
    first = list(itertools.islice(lines, SHOWN))
    roles = _roles([line for _, line in first if isinstance(line, dict)])
    for number, line in itertools.chain(first, lines):
        if isinstance(line, Extracted):
            yield line
        else:
            yield _record(line, number, roles)


def _parsed(raw: bytes, errors: Errors) -> Iterator[tuple[int, object]]:
    """Yield the number and the value of each line, an Extracted with the reason for a bad one."""
    for number, line in enumerate(_json_lines(raw, errors), 1):
        if not line.strip():
            continue
        try:
            yield number, _JSON.decode(line if isinstance(line, str) else decode(line, errors))
        except (ValueError, RecursionError) as error:  # invalid UTF-8 is a ValueError too
            problem = f"line {number}: not JSON: {_reason(error)}"
            yield number, Extracted(problem=problem, id=str(number))


def _roles(records: list[Metadata]) -> dict[str, str]:
    """Return the names of the fields with a text, an id and a vector, as far as objects show them."""
    from ragfile.errors import FormatError
    from ragfile.ingest.column_roles import NAMES, ForeignTable, columns_of_records

    try:
        table = ForeignTable(columns_of_records(records), "these lines", None)
    except FormatError:
        return {}
    roles = {role: name for role, name in table.roles.items() if role in ("id", "text", "vector")}
    if roles["text"] in TEXTS:
        roles.pop("id", None)
    elif "id" in roles and len(set(map(str, ids := table.columns[roles["id"]]))) < len(ids):
        del roles["id"]
    if roles.get("vector") not in NAMES["vector"]:  # a list of numbers can be anything
        roles.pop("vector", None)
    return roles


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


def _record(record: object, number: int, roles: Mapping[str, str]) -> Extracted:
    fields = cast("Metadata", record) if isinstance(record, dict) else {}
    texts, ids = (*TEXTS, roles.get("text")), ("id", "_id", roles.get("id"))
    body = next((fields.pop(k) for k in texts if k in fields), None)
    if not isinstance(body, str):
        return Extracted(problem=f"line {number}: not an object with a text", id=str(number))
    name = next((fields.pop(k) for k in ids if k in fields), number)
    fields.pop(roles.get("vector", ""), None)
    return Extracted(body, metadata=fields, id=str(name), tags=tags_of(fields.get("tags")))


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


_JSON = json.JSONDecoder(parse_constant=_refuse)
