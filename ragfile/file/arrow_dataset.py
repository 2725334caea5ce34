"""A file as a pyarrow.dataset.Dataset: whoever scans it reads the columns that he names, of the rows that pass.

    filter ─ the columns that it names ─ Arrow's own compute decides ─ rows ─ the columns that are asked for

Nothing here translates conditions: Arrow evaluates them on the columns that they need, typed metadata
most often, and only then are texts and vectors read, of the rows that are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow
import pyarrow.dataset as pads

from ragfile.file.arrow import ArrowFields

if TYPE_CHECKING:
    from typing import Any

PLACE = "row"


class FileDataset(pads.Dataset):
    """The live chunks of an open file, for DuckDB, polars, pyarrow and whatever scans datasets.

    It has no fragments and cannot be joined in place: `to_table()` is for those.
    """

    def __init__(self, archive: Any, condition: Any = None) -> None:
        self._archive, self._condition = archive, condition
        self._fields = ArrowFields(archive)
        none = self._fields.stream(rows=archive.live_rows()[:0])
        self._schema = _reader(none).schema

    @property
    def schema(self) -> Any:
        """The columns and their types."""
        return self._schema

    def scanner(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        """A Scanner over the rows that pass and the columns that are asked for."""
        wanted = self._schema.names if columns is None else self._used(columns)
        rows = self._rows(filter)
        names = [name for name in self._schema.names if name in wanted] or [PLACE]
        reader = _reader(self._fields.stream(names, rows))
        options = {k: v for k, v in options.items() if k in ("batch_size", "use_threads")}
        return pads.Scanner.from_batches(reader, columns=columns, **options)

    def _used(self, columns):
        if not isinstance(columns, dict):
            return list(columns)
        return [name for made in columns.values() for name in _names_in(made, self._schema)]

    def _rows(self, condition):
        """The numbers of the live rows that pass."""
        rows = self._archive.live_rows()
        for one in (self._condition, condition):
            if one is None:
                continue
            names = list(dict.fromkeys([PLACE, *_names_in(one, self._schema)]))
            reader = _reader(self._fields.stream(names, rows))
            found = pads.Scanner.from_batches(reader, columns=[PLACE], filter=one).to_table()
            rows = found.column(PLACE).to_numpy()
        return rows

    def count_rows(self, filter: Any = None, **options: Any) -> int:
        """How many rows pass."""
        return len(self._rows(filter))

    def to_table(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        """The rows that pass as a pyarrow.Table."""
        return self.scanner(columns, filter, **options).to_table()

    def to_batches(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        """The same batch by batch."""
        return self.scanner(columns, filter, **options).to_batches()

    def head(self, num_rows: int, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        """The first rows."""
        return self.scanner(columns, filter, **options).head(num_rows)

    def take(self, indices: Any, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        """Rows by their place among those that pass."""
        return self.to_table(columns, filter).take(indices)

    def filter(self, expression: Any) -> FileDataset:
        """The same dataset, of the rows that pass a condition."""
        both = expression if self._condition is None else self._condition & expression
        return FileDataset(self._archive, both)

    def __reduce__(self) -> Any:
        return FileDataset, (self._archive, self._condition)

    def _refuse(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError("a file has no fragments to do this with: use to_table() first")

    get_fragments = replace_schema = join = join_asof = sort_by = _refuse
    partition_expression = property(_refuse)


def _reader(stream):
    return pyarrow.RecordBatchReader._import_from_c_capsule(stream)


def _names_in(expression, schema):
    """The columns that an expression names: without one of them it does not bind."""
    return [name for name in schema.names if not _binds(expression, _without(schema, name))]


def _without(schema, name):
    return pyarrow.schema([field for field in schema if field.name != name])


def _binds(expression, schema):
    nothing = pyarrow.RecordBatchReader.from_batches(schema, [])
    try:
        pads.Scanner.from_batches(nothing, columns={"made": expression})
    except (pyarrow.ArrowInvalid, pyarrow.ArrowKeyError, pyarrow.ArrowNotImplementedError):
        return False
    return True
