"""Documents that a caller hands over instead of files: records, mappings, and tables of other programs.

A mapping with the fields of a Document alone is one, and an iterator of them stays lazy. All other
mappings are the rows of a table, whose columns column_roles.py names.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import TypeGuard, cast

from ragfile.ground.extras import optional
from ragfile.ingest.column_roles import ForeignTable, columns_of, columns_of_records
from ragfile.records import Document
from ragfile.types import Fields, Sources, Table
from ragfile.write.tables import is_table, streamed

KNOWN = frozenset(field.name for field in fields(Document))


def documents_of(
    sources: Sources | Table | Iterable[Document | Fields],
) -> tuple[Sources, Iterable[Document] | None]:
    """Return (paths, None) or ((), documents), by the first item."""
    if isinstance(sources, Document | Mapping):
        raise TypeError(
            "build and add take paths or an iterable of documents, not a single document"
        )
    if isinstance(sources, str | os.PathLike):
        return cast("Sources", sources), None
    if is_table(sources):
        table = optional("pyarrow", "a table of documents").table(streamed(sources))
        return (), ForeignTable(columns_of(table), "the table", None).documents()
    if not isinstance(sources, Iterable):
        raise TypeError(
            "build and add take folders, globs and files, documents, or a data frame or Arrow table, "
            f"not {type(sources).__name__}"
        )
    given = cast("Iterable[object]", sources)
    first = list(itertools.islice(given, 1))
    rest = itertools.chain(first, given) if isinstance(given, Iterator) else given
    if not first or not isinstance(first[0], Document | Mapping):
        return cast("Sources", list(rest) if isinstance(given, Iterator) else given), None
    looked_at = first if isinstance(given, Iterator) else given
    if all(isinstance(one, Document) or _is_document(one) for one in looked_at):
        return (), map(Document.of, cast("Iterable[Document | Fields]", rest))
    columns = columns_of_records([_row(one) for one in rest])
    return (), ForeignTable(columns, "the list", None).documents()


def _is_document(value: object) -> TypeGuard[Fields]:
    """Return whether a mapping has the needed fields of a document, and no others."""
    if not isinstance(value, Mapping):
        return True  # which Document.of refuses by its type
    return {"id", "text"} <= value.keys() <= KNOWN and isinstance(value["id"], str)


def _row(value: object) -> Fields:
    if not isinstance(value, Mapping):
        raise TypeError(
            f"the list has rows with columns of their own, and a {type(value).__name__} among them: "
            "give mappings alone, or documents alone"
        )
    return cast("Fields", value)


def refuse_file_options(*options: object) -> None:
    """Raise ValueError if an option that is about files was given with documents."""
    if any(options):
        raise ValueError(
            "dedupe, include, exclude, encoding and ignore are about files, not documents"
        )
