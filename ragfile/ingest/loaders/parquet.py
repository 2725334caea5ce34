"""Parquet: a document per row, or per id if rows share one. Needs pyarrow."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from ragfile.errors import FormatError
from ragfile.ground.extras import optional
from ragfile.ingest.loaders.contract import Extracted, LoadError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile.ingest.loaders.contract import Limits


def parse(raw: bytes, limits: Limits) -> Iterator[Extracted]:
    """Extract the documents of a table; its columns are found by name and type."""
    from ragfile.ingest.column_roles import ForeignTable, columns_of

    parquet = optional("pyarrow.parquet", "reading Parquet")
    try:
        table = parquet.read_table(io.BytesIO(raw))
        documents = ForeignTable(columns_of(table), "this table", None).documents()
    except (FormatError, OSError, ValueError) as error:
        raise LoadError(str(error)) from None
    for document in documents:
        yield Extracted(
            document.text, id=document.id, metadata=document.metadata, tags=tuple(document.tags)
        )
