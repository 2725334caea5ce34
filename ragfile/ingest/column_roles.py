"""Roles of a table's columns, found by name and type.

    role       names that are tried first                              else
    id         node_id, chunk_id, id, _id, uuid, pk, key, name         the number of the row
    document   doc_id, document_id, ref_doc_id, file_id                each row is a document
    text       text, content, page_content, document, chunk, …         the column of strings with the longest
    vector     embedding, vector, embeddings, vectors, dense_vector    the column of lists of numbers
    source     source, url, file_path, path, uri, link, file_name      none

Every other column is metadata under its name; the fields of `metadata`, `metadata_` and `payload` are
metadata themselves. A caller's map of roles to columns comes first.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ragfile.errors import FormatError
from ragfile.ground.json_values import is_list, is_object
from ragfile.ground.tagged_metadata import with_own_tags
from ragfile.records import Document
from ragfile.text import normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow

    from ragfile.types import Float32s, Metadata

NAMES = {
    "id": ("node_id", "chunk_id", "id", "_id", "uuid", "uid", "pk", "key", "name"),
    "document": ("doc_id", "document_id", "ref_doc_id", "file_id"),
    "text": ("text", "content", "page_content", "document", "chunk", "chunk_text", "passage", "body"),
    "vector": ("embedding", "vector", "embeddings", "vectors", "dense_vector", "emb"),
    "source": ("source", "url", "file_path", "path", "uri", "link", "filename", "file_name"),
}  # fmt: skip
OBJECTS = ("metadata_", "metadata", "meta", "payload")
PLACES = ("row", "node_id", "chunk_index", "source")  # columns of to_arrow() that are not metadata
SAMPLE = 100  # rows that show the type of a column


class ForeignRow(NamedTuple):
    """A row of a table: a chunk, and the document that it belongs to."""

    document_id: str
    text: str
    source: str
    metadata: Metadata
    tags: list[str]


class ForeignTable:
    """Columns by name, with the roles of some of them.

    Args:
        columns: The values of each column.
        place: The name of the table in messages.
        chosen: The columns of roles, as a caller maps them.
    """

    def __init__(
        self, columns: Mapping[str, Sequence[Any]], place: str, chosen: Mapping[str, str] | None
    ) -> None:
        self.columns, self.place = columns, place
        self.roles = dict(chosen or {})
        _check(self.roles, columns, place)
        for role in NAMES:
            if role not in self.roles and (name := self._found(role)) is not None:
                self.roles[role] = name
        if "text" not in self.roles:
            raise FormatError(
                f"{place}: no column has texts among {', '.join(columns) or 'none'}: "
                "name it with --map text=COLUMN"
            )

    def _found(self, role: str) -> str | None:
        fits = {"vector": _is_vector, "text": _is_text}.get(role, _is_scalar)
        free = [name for name in self.columns if name not in self.roles.values()]
        fitting = [name for name in free if fits(self._sample(name))]
        named = next((name for name in NAMES[role] if name in fitting), None)
        if named is not None or role not in ("vector", "text"):
            return named
        if role == "vector":
            return fitting[0] if len(fitting) == 1 else None
        return max(fitting, key=lambda name: _length(self._sample(name)), default=None)

    def _sample(self, name: str) -> list[Any]:
        return [value for value in self.columns[name][:SAMPLE] if value is not None]

    def rows(self) -> list[ForeignRow]:
        """Return the rows in order."""
        count = len(self.columns[self.roles["text"]])
        return [self._row(number) for number in range(count)]

    def _row(self, number: int) -> ForeignRow:
        held = {name: values[number] for name, values in self.columns.items()}
        owner = held.get(self.roles.get("document", ""))
        owner = held.get(self.roles.get("id", "")) if owner in (None, "") else owner
        text = held[self.roles["text"]]
        source = held.get(self.roles.get("source", ""))
        metadata = self._metadata(held)
        tags = metadata.get("tags")
        is_tags = is_list(tags) and all(isinstance(tag, str) for tag in tags)
        return ForeignRow(
            f"row-{number}" if owner in (None, "") else str(owner),
            "" if text is None else str(text),
            source if isinstance(source, str) else "",
            _without_tags(metadata, "metadata_" in held) if is_tags else metadata,
            list(tags or ()) if is_tags else [],
        )

    def _metadata(self, held: Metadata) -> Metadata:
        taken = {self.roles.get(role) for role in ("text", "vector", "document", "id")}
        found: Metadata = {}
        for name, value in held.items():
            if name in taken or value is None or self._is_derived(name):
                continue
            plain = _plain(value)
            inner = _object(plain) if name in OBJECTS else None
            found |= {name: plain} if inner is None else inner
        return found

    def _is_derived(self, name: str) -> bool:
        """Return whether a column of `to_arrow()` repeats others, or is a place in the file."""
        if "metadata_" not in self.columns:
            return False
        is_own = self.columns.keys() >= {"node_id", "doc_id", "chunk_index"}
        return name.startswith("metadata.") or (is_own and name in PLACES)

    def documents(self) -> Iterator[Document]:
        """Yield the rows as documents; rows of one document are joined by blank lines."""
        together: dict[str, list[ForeignRow]] = {}
        for row in self.rows():
            together.setdefault(row.document_id, []).append(row)
        for name, rows in together.items():
            text = normalize("\n\n".join(row.text for row in rows)).text
            first = rows[0]
            yield Document(name, text, first.source, first.metadata, tuple(first.tags))

    def vectors(self) -> list[Float32s | None]:
        """Return the vector of each row, or None."""
        name = self.roles.get("vector")
        if name is None:
            return [None] * len(self.columns[self.roles["text"]])
        return [None if v is None else np.asarray(v, np.float32) for v in self.columns[name]]


def _without_tags(metadata: Metadata, is_own: bool) -> Metadata:
    """Return metadata without the tags; those of `to_arrow()` can have a field of that name."""
    if is_own:
        return with_own_tags(metadata)
    return {name: value for name, value in metadata.items() if name != "tags"}


def _check(chosen: Mapping[str, str], columns: Iterable[str], place: str) -> None:
    if unknown := set(chosen) - set(NAMES):
        raise ValueError(f"roles of columns are {', '.join(NAMES)}, not {min(unknown)}")
    if missing := [name for name in chosen.values() if name not in columns]:
        raise ValueError(f"{place} has no column {missing[0]!r}; it has {', '.join(columns)}")


def _is_vector(sample: list[Any]) -> bool:
    """Return whether all values are lists of numbers of one length above one."""
    if not sample or not all(isinstance(value, (list, tuple, np.ndarray)) for value in sample):
        return False
    lengths = {len(value) for value in sample}
    first = sample[0]
    is_number = len(first) > 0 and all(isinstance(x, (float, np.floating)) for x in first)
    return len(lengths) == 1 and is_number


def _is_text(sample: list[Any]) -> bool:
    return bool(sample) and all(isinstance(value, str) for value in sample)


def _is_scalar(sample: list[Any]) -> bool:
    return bool(sample) and not isinstance(sample[0], (list, dict, tuple, np.ndarray, float))


def _length(sample: list[str]) -> float:
    return sum(map(len, sample)) / len(sample)


def _plain(value: object) -> object:
    """Return a value that JSON holds; others as text."""
    if isinstance(value, np.generic):
        value = cast("object", value.item())
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return str(value)
    return value


def _object(value: object) -> Metadata | None:
    """Return a JSON object, also from its text; None for anything else."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None
    return dict(found) if is_object(found) else None


def columns_of(table: pyarrow.Table) -> dict[str, list[Any]]:
    """Return the values of an Arrow table's columns, without pandas' index."""
    named = [name for name in table.column_names if not name.startswith("__index_level_")]
    return {name: table.column(name).to_pylist() for name in named}


def columns_of_records(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of a list of mappings by their names."""
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}
