"""A file as a pyarrow.dataset.Dataset: a scan reads only the columns it names, of the rows that pass.

    filter ─ read the columns it names ─ Arrow evaluates it ─ rows ─ read the requested columns

Conditions are not translated: Arrow evaluates them on the columns that they need, mostly typed
metadata. Texts and vectors are then read only for the rows that pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pyarrow  # type: ignore[import-not-found,unused-ignore]  # it has no types
import pyarrow.dataset as pads  # type: ignore[import-not-found,unused-ignore]  # it has no types

from ragfile.file.arrow import ArrowFields

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NoReturn

    from ragfile.file.stored_rows import StoredRows
    from ragfile.types import Int64s

    # pyarrow has no types.
    Expression = Any
    Columns = Iterable[str] | dict[str, Expression]

PLACE = "row"


class FileDataset(pads.Dataset):  # type: ignore[misc,unused-ignore]  # pyarrow has no types
    """The live chunks of an open file, for DuckDB, polars, pyarrow and other scanners of datasets.

    It has no fragments and cannot be joined in place; use `to_table()` for that.
    """

    def __init__(self, archive: StoredRows, condition: Expression | None = None) -> None:
        self._archive, self._condition = archive, condition
        self._fields = ArrowFields(archive)
        none = self._fields.stream(rows=archive.live_rows()[:0])
        self._schema = _reader(none).schema

    @property
    def schema(self) -> pyarrow.Schema:
        """Return the columns and their types."""
        return self._schema

    def scanner(
        self, columns: Columns | None = None, filter: Expression | None = None, **options: object
    ) -> pads.Scanner:
        """Return a Scanner over the requested columns of the rows that pass."""
        wanted = self._schema.names if columns is None else self._used(columns)
        rows = self._rows(filter)
        names = [name for name in self._schema.names if name in wanted] or [PLACE]
        reader = _reader(self._fields.stream(names, rows))
        options = {k: v for k, v in options.items() if k in ("batch_size", "use_threads")}
        return pads.Scanner.from_batches(reader, columns=columns, **options)

    def _used(self, columns: Columns) -> list[str]:
        if not isinstance(columns, dict):
            return list(columns)
        named = cast("dict[str, Expression]", columns)
        return [name for made in named.values() for name in _names_in(made, self._schema)]

    def _rows(self, condition: Expression | None) -> Int64s:
        """Return the numbers of the live rows that pass."""
        rows = self._archive.live_rows()
        for one in (self._condition, condition):
            if one is None:
                continue
            names = list(dict.fromkeys([PLACE, *_names_in(one, self._schema)]))
            reader = _reader(self._fields.stream(names, rows))
            found = pads.Scanner.from_batches(reader, columns=[PLACE], filter=one).to_table()
            rows = found.column(PLACE).to_numpy()
        return rows

    def count_rows(self, filter: Expression | None = None, **options: object) -> int:
        """Return the number of rows that pass."""
        return len(self._rows(filter))

    def to_table(
        self, columns: Columns | None = None, filter: Expression | None = None, **options: object
    ) -> pyarrow.Table:
        """Return the rows that pass as a pyarrow.Table."""
        return self.scanner(columns, filter, **options).to_table()

    def to_batches(
        self, columns: Columns | None = None, filter: Expression | None = None, **options: object
    ) -> Iterable[pyarrow.RecordBatch]:
        """Return the rows that pass, batch by batch."""
        batches: Iterable[pyarrow.RecordBatch] = self.scanner(
            columns, filter, **options
        ).to_batches()
        return batches

    def head(
        self,
        num_rows: int,
        columns: Columns | None = None,
        filter: Expression | None = None,
        **options: object,
    ) -> pyarrow.Table:
        """Return the first rows that pass."""
        return self.scanner(columns, filter, **options).head(num_rows)

    def take(
        self,
        indices: object,
        columns: Columns | None = None,
        filter: Expression | None = None,
        **options: object,
    ) -> pyarrow.Table:
        """Return rows by their positions among those that pass."""
        return self.to_table(columns, filter).take(indices)

    def filter(self, expression: Expression) -> FileDataset:
        """Return a dataset of the rows that also pass a condition."""
        both = expression if self._condition is None else self._condition & expression
        return FileDataset(self._archive, both)

    def __reduce__(self) -> tuple[object, ...]:
        return FileDataset, (self._archive, self._condition)

    def _refuse(self, *arguments: object, **options: object) -> NoReturn:
        raise NotImplementedError("a RAGFile has no fragments: call to_table() first")

    get_fragments = replace_schema = join = join_asof = sort_by = _refuse
    partition_expression = property(_refuse)


def _reader(stream: object) -> pyarrow.RecordBatchReader:
    return pyarrow.RecordBatchReader._import_from_c_capsule(stream)


def _names_in(expression: Expression, schema: pyarrow.Schema) -> list[str]:
    """Return the columns an expression names: it does not bind to a schema without one of them."""
    return [name for name in schema.names if not _binds(expression, _without(schema, name))]


def _without(schema: pyarrow.Schema, name: str) -> pyarrow.Schema:
    return pyarrow.schema([field for field in schema if field.name != name])


def _binds(expression: Expression, schema: pyarrow.Schema) -> bool:
    nothing = pyarrow.RecordBatchReader.from_batches(schema, [])
    try:
        pads.Scanner.from_batches(nothing, columns={"made": expression})
    except (pyarrow.ArrowInvalid, pyarrow.ArrowKeyError, pyarrow.ArrowNotImplementedError):
        return False
    return True
