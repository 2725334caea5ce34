"""Compile filters: a Mongo-style condition on metadata, and tags, become a mask over rows.

    compile({"year": {"$gte": 2020}, "lang": {"$in": ["en", "de"]}}, tags_any=["draft"]).mask(columns)

Every filter is two-valued: a row passes or it does not. A field that is missing or of another type fails
each positive condition; `$ne`, `$nin` and `$not` are exact complements of `$eq`, `$in` and their operand.
Equality is typed: 1 ≠ "1" ≠ true, 1 = 1.0, and null equals only an explicit null.

A filter reads `FilterColumns`, not rows: for each path its unique values in one total order, and for each
row the number of its value. A condition is decided once per unique value (a range by bisection) and
spread over the rows as a row set, one bit a row. `Dicts` makes such columns from metadata in memory;
stored_columns.py has those of a file.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ragfile import _core
from ragfile.ground.json_values import is_list, is_object, is_sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from ragfile.types import Booleans, Metadata

    SortKey = tuple[Any, ...]  # a type's number and a value that compares with others of that type
    Flags = NDArray[np.uint8]  # one for each code, and one for -1
    Words = NDArray[np.uint64]  # a bit for each row
    Test = Callable[["FilterColumns"], Words]

MAX_DEPTH = 32  # of conditions
MAX_VALUE_DEPTH = 256  # of a JSON value, as writers check it
MAX_CONDITIONS = 10_000
MISSING = object()


def sort_key(value: object, depth: int = 0) -> SortKey:
    """Return a JSON value as a tuple that compares by typed equality:

    null, bool, number, string, list, object.
    """
    if isinstance(value, str):
        return 3, value
    if isinstance(value, bool | np.bool_):
        return 1, bool(value)  # pyright: ignore[reportUnknownArgumentType]  # numpy.bool is generic
    if isinstance(value, int | float | np.integer | np.floating):
        if value != value:
            raise ValueError("NaN is not a JSON value: metadata and filters cannot hold it")
        return 2, value if isinstance(value, int | float) else value.item()
    if value is None:
        return (0,)
    if depth == MAX_VALUE_DEPTH:
        raise ValueError(
            f"a JSON value in metadata or a filter can nest {MAX_VALUE_DEPTH} levels deep"
        )
    if is_sequence(value):
        return 4, tuple(map(sort_key, value, repeat(depth + 1)))  # one frame a level
    if is_object(value):
        keys = map(sort_key, value.values(), repeat(depth + 1))
        return 5, tuple(sorted(zip(value, keys, strict=True)))
    raise TypeError(f"metadata and filters hold JSON values, not {type(value).__name__}")


def resolve(metadata: Metadata, path: str, default: object = None) -> Any:  # Any: JSON
    """Return the value at a path: of the key that equals it, else below the key before its first dot.

    In a list, these are the values of the objects that have one, in a list.
    """
    if path in metadata:
        return metadata[path]
    head, dot, rest = path.partition(".")
    return resolve_below(metadata.get(head), rest, default) if dot else default


def resolve_below(value: object, path: str, default: object = None) -> object:
    """Return the value at a path below a value: in an object, or in the objects of a list."""
    if is_object(value):
        return resolve(value, path, default)
    if not is_list(value):
        return default
    of_objects = [resolve(one, path, MISSING) for one in value if is_object(one)]
    found = [one for one in of_objects if one is not MISSING]
    if not found:
        return default
    return [part for one in found for part in (one if is_list(one) else [one])]


class Column:
    """One path over all rows: `keys`, unique and in order, and for each row the position of its key, or -1.

    A filter looks up codes of values, as ranges or as a flag for each code, and the rows that have
    them, as a row set. A stored column (stored_columns.FileColumn) has the same methods.
    """

    _elements: dict[SortKey, list[int]] | None

    def __init__(self, codes: NDArray[np.int32], keys: Sequence[SortKey]) -> None:
        self.codes, self.keys, self._elements = codes, keys, None

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self.keys)

    def find(self, key: SortKey) -> tuple[int, int]:
        """Return the codes [low, high) equal to a key: one, or none at its sorted position."""
        code = bisect_left(self.keys, key)
        return code, code + (code < len(self.keys) and self.keys[code] == key)

    def of_kind(self, kind: int) -> tuple[int, int]:
        """Return the codes of the values of one type, as a range."""
        return bisect_left(self.keys, (kind,)), bisect_left(self.keys, (kind + 1,))

    def rows(self, low: int, high: int) -> Words:
        """Return the rows with a code in [low, high); low ≥ 0 leaves out rows without a value."""
        if high - low == 1:
            return self._words(self.codes == low)
        return self._words((self.codes >= low) & (self.codes < high))

    def present(self) -> Words:
        """Return the rows that have a value."""
        return self._words(self.codes >= 0)

    def absent(self) -> Words:
        """Return the rows that have no value."""
        return self._words(self.codes < 0)

    def none(self) -> Flags:
        """Return a cleared flag for each code."""
        return np.zeros(len(self.keys) + 1, dtype=np.uint8)  # the last place is for -1

    def rows_of(self, chosen: Flags) -> Words:
        """Return the rows with a chosen code, given a flag for each code."""
        codes = np.flatnonzero(chosen[:-1]).tolist()
        if len(codes) > 3:
            return self._words(chosen.view(bool)[self.codes])
        mask = np.zeros(len(self.codes), dtype=bool)
        for code in codes:  # a few comparisons cost less than a look-up per row
            mask |= self.codes == code
        return self._words(mask)

    def holding(self, key: SortKey) -> Flags:
        """Return flags of the lists with an element equal to a key."""
        if self._elements is None:
            holders: dict[SortKey, list[int]] = {}
            for code in range(*self.of_kind(4)):
                for element in set(self.keys[code][1]):
                    holders.setdefault(element, []).append(code)
            self._elements = holders
        chosen = self.none()
        chosen[self._elements.get(key, [])] = 1
        return chosen

    def containing(self, part: str) -> Flags:
        """Return flags of the strings that contain a substring."""
        chosen = self.none()
        low, high = self.of_kind(3)
        chosen[[code for code in range(low, high) if part in self.keys[code][1]]] = 1
        return chosen

    def _words(self, mask: Booleans) -> Words:
        return _core.row_set(mask, len(mask))


def without_values(rows: int) -> Column:
    """Return the column of a path that no row has."""
    return Column(np.full(rows, -1, np.int32), [])


class FilterColumn(Protocol):
    """One path over all rows, as filters use it; `Column` describes the methods."""

    def __len__(self) -> int: ...
    def find(self, key: SortKey, /) -> tuple[int, int]: ...
    def of_kind(self, kind: int, /) -> tuple[int, int]: ...
    def rows(self, low: int, high: int, /) -> Words: ...
    def present(self) -> Words: ...
    def absent(self) -> Words: ...
    def none(self) -> Flags: ...
    def rows_of(self, chosen: Flags, /) -> Words: ...
    def holding(self, key: SortKey, /) -> Flags: ...
    def containing(self, part: str, /) -> Flags: ...


class FilterColumns(Protocol):
    """The columns of a collection, as filters use them.

    Metadata of document and chunk are one object: the chunk's keys win.
    """

    def __len__(self) -> int: ...

    def column(self, path: str) -> FilterColumn: ...

    def tags(self) -> FilterColumn:
        """Return the tags as a column of lists."""
        ...


class Dicts:
    """Columns over metadata dicts in memory, built on first use of a path and kept."""

    def __init__(
        self, metadata: Sequence[Metadata], tags: Sequence[Sequence[str]] | None = None
    ) -> None:
        self._metadata, self._tags = metadata, tags
        self._columns: dict[str | None, Column] = {}

    def __len__(self) -> int:
        return len(self._metadata)

    def column(self, path: str) -> Column:
        if path not in self._columns:
            self._columns[path] = encode(resolve(m, path, MISSING) for m in self._metadata)
        return self._columns[path]

    def tags(self) -> Column:
        if None not in self._columns:
            self._columns[None] = encode([()] * len(self) if self._tags is None else self._tags)
        return self._columns[None]


def encode(values: Iterable[Any]) -> Column:
    """Return a Column of values in row order; a missing one is `MISSING`."""
    values = list(values)
    if _are_plain(set(map(type, values))):  # then Python's equality is ours
        unique = set(values) - {MISSING}
        are_texts = set(map(type, unique)) <= {str}
        ordered = sorted(unique) if are_texts else sorted(unique, key=sort_key)
        position = {value: i for i, value in enumerate(ordered)}
        position[MISSING] = -1
        codes = np.fromiter(map(position.__getitem__, values), dtype=np.int32, count=len(values))
        return Column(codes, list(map(sort_key, ordered)))
    return _encode_keys([None if value is MISSING else sort_key(value) for value in values])


def _encode_keys(keys: Sequence[SortKey | None]) -> Column:
    ordered = sorted({key for key in keys if key is not None})
    position: dict[SortKey | None, int] = {key: i for i, key in enumerate(ordered)}
    position[None] = -1
    codes = np.fromiter((position[key] for key in keys), dtype=np.int32, count=len(keys))
    return Column(codes, ordered)


def encode_codes(places: NDArray[np.integer[Any]], values: list[Any]) -> Column:
    """Return a Column of rows with the value values[place] each."""
    column = encode(values)
    return Column(column.codes[places] if len(values) else places.astype(np.int32), column.keys)


def filled(column: Column, other: Column) -> Column:
    """Return a column with the other's value where it has none."""
    if not column.keys:
        return other
    keys = sorted({*column.keys, *other.keys})
    place = {key: i for i, key in enumerate(keys)}
    own, new = (np.array([place[k] for k in c.keys], np.int32) for c in (column, other))
    return Column(np.where(column.codes < 0, new[other.codes], own[column.codes]), keys)


def _are_plain(kinds: set[type]) -> bool:
    """Return whether Python's equality of these types is that of filters, where true is not 1."""
    return kinds <= {str, int, float, bool, type(None), type(MISSING)} and not (
        bool in kinds and kinds & {int, float}
    )


class Filter:
    """A compiled filter, false as a bool if every row passes it.

    `paths` are the metadata keys that it reads; `has_tags` is whether it reads tags. `encoded` has the condition and
    both lists of tags for the core, None for each that does not restrict.
    """

    def __init__(
        self, test: Test | None, paths: tuple[str, ...],
        encoded: tuple[bytes | None, bytes | None, bytes | None],
    ) -> None:  # fmt: skip
        self._test, self.paths, self.encoded = test, paths, encoded
        self.has_tags = encoded[1] is not None or encoded[2] is not None

    def __bool__(self) -> bool:
        return self._test is not None

    def words(self, columns: FilterColumns) -> Words:
        """Return the rows that pass, as a row set."""
        return _all_rows(columns) if self._test is None else self._test(columns)

    def mask(self, columns: FilterColumns) -> Booleans:
        """Return bool[n]: the rows that pass."""
        return _core.flags_of(self.words(columns), len(columns))


def _all_rows(columns: FilterColumns) -> Words:
    return _others(_no_rows(columns), len(columns))


def _no_rows(columns: FilterColumns) -> Words:
    return np.zeros((len(columns) + 63) // 64, np.uint64)


def compile(
    where: object = None,
    *,
    tags_any: Iterable[str] | None = (),
    tags_all: Iterable[str] | None = (),
) -> Filter:
    """Check a condition and compile it. Empty tags do not restrict."""
    compiler = _Compiler()
    tests: list[Test] = []
    condition: bytes | None = None
    if where is not None and where != {}:
        tests.append(compiler.condition(where, 0))
        condition = _core.plain_bytes(where) or _core.value_bytes(sort_key(where))
    wanted = [[sort_key(tag) for tag in _tag_list(tags)] for tags in (tags_any, tags_all)]
    for keys, found in zip(wanted, (_any, _all), strict=True):
        if keys:
            tests.append(_on_tags(found, keys))
    some, every = (_core.value_bytes((4, tuple(keys))) if keys else None for keys in wanted)
    test = _every(tests) if tests else None
    return Filter(test, tuple(sorted(compiler.paths)), (condition, some, every))


def _on_tags(test: Callable[[FilterColumn, list[SortKey]], Words], keys: list[SortKey]) -> Test:
    return lambda columns: test(columns.tags(), keys)


def _tag_list(tags: Iterable[str] | None) -> list[str]:
    if isinstance(tags, str):
        raise TypeError(f"tags must be a list of strings, not the string {tags!r}")
    found = list(tags if tags is not None else ())
    for tag in found:
        if not isinstance(tag, str):
            raise TypeError(f"tags must be a list of strings, not of {type(tag).__name__}")
    return found


class _Compiler:
    """Turns a condition into a function of FilterColumns, with limits on depth and number."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self._count = 0

    def condition(self, where: object, depth: int) -> Test:
        if not is_object(where):
            raise ValueError(f"a filter is an object, not {type(where).__name__}")
        if depth > MAX_DEPTH:
            raise ValueError(f"a filter can nest {MAX_DEPTH} levels deep")
        return _every([self._entry(key, value, depth + 1) for key, value in where.items()])

    def _entry(self, key: object, value: object, depth: int) -> Test:
        self._count += 1
        if self._count > MAX_CONDITIONS:
            raise ValueError(f"a filter can hold {MAX_CONDITIONS} conditions")
        if not isinstance(key, str):
            raise ValueError(f"a filter's keys are strings, not {key!r}")
        if key in ("$and", "$or"):
            return self._list(key, value, depth)
        if key == "$not":
            return _complement(self.condition(value, depth))
        if key.startswith("$"):
            raise ValueError(f"unknown operator {key!r} ; use a metadata key, $and, $or or $not")
        self.paths.add(key)
        return self._field(key, value, depth)

    def _list(self, key: str, value: object, depth: int) -> Test:
        if not is_sequence(value) or not value:
            raise ValueError(f"{key} takes a list of one or more filters")
        return (_every if key == "$and" else _some)([self.condition(v, depth) for v in value])

    def _field(self, path: str, value: object, depth: int) -> Test:
        if not is_object(value) or not any(isinstance(k, str) and k.startswith("$") for k in value):
            return _on(path, _equal, sort_key(value))
        return _every(
            [self._operator(path, name, operand, depth) for name, operand in value.items()]
        )

    def _operator(self, path: str, name: str, operand: object, depth: int) -> Test:
        if depth > MAX_DEPTH:
            raise ValueError(f"a filter can nest {MAX_DEPTH} levels deep")
        if name == "$not":
            if not is_object(operand) or not operand:
                raise ValueError("$not below a field takes an object of operators")
            return _complement(
                _every([self._operator(path, n, o, depth + 1) for n, o in operand.items()])
            )
        if name not in _OPERATORS:
            raise ValueError(
                f"unknown operator {name!r} on {path!r}: use one of {' '.join(sorted(_OPERATORS))} $not"
            )
        read, test = _OPERATORS[name]
        negative = name in ("$ne", "$nin")
        found = _on(path, test, read(name, operand))
        return _complement(found) if negative else found


def _on(path: str, test: Callable[[FilterColumn, Any], Words], operand: object) -> Test:
    return lambda columns: test(columns.column(path), operand)


def _every(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    return lambda columns: _joined(np.bitwise_and, _all_rows(columns), tests, columns)


def _some(tests: list[Test]) -> Test:
    return lambda columns: _joined(np.bitwise_or, _no_rows(columns), tests, columns)


def _joined(join: np.ufunc, words: Words, tests: list[Test], columns: FilterColumns) -> Words:
    for test in tests:
        join(words, test(columns), out=words)
    return words


def _complement(test: Test) -> Test:
    return lambda columns: _others(test(columns), len(columns))


def _others(words: Words, rows: int) -> Words:
    """Return the other rows; no bits are set after the last row."""
    words = ~words
    if rows % 64:
        words[-1] &= np.uint64((1 << rows % 64) - 1)
    return words


def _value(name: str, operand: object) -> SortKey:
    return sort_key(operand)


def _ordered(name: str, operand: object) -> SortKey:
    key = sort_key(operand)
    if key[0] not in (2, 3):
        raise ValueError(f"{name} compares with a number or a string, not {operand!r}")
    return key


def _values(name: str, operand: object) -> list[SortKey]:
    if not is_sequence(operand):
        raise ValueError(f"{name} takes a list, not {operand!r}")
    return [sort_key(v) for v in operand]


def _flag(name: str, operand: object) -> bool:
    if not isinstance(operand, bool):
        raise ValueError(f"{name} takes true or false, not {operand!r}")
    return operand


def _equal(column: FilterColumn, key: SortKey) -> Words:
    return column.rows(*column.find(key))


def _greater(column: FilterColumn, key: SortKey) -> Words:
    return column.rows(column.find(key)[1], column.of_kind(key[0])[1])


def _greater_equal(column: FilterColumn, key: SortKey) -> Words:
    return column.rows(column.find(key)[0], column.of_kind(key[0])[1])


def _less(column: FilterColumn, key: SortKey) -> Words:
    return column.rows(column.of_kind(key[0])[0], column.find(key)[0])


def _less_equal(column: FilterColumn, key: SortKey) -> Words:
    return column.rows(column.of_kind(key[0])[0], column.find(key)[1])


def _in(column: FilterColumn, keys: list[SortKey]) -> Words:
    if len(keys) == 1:
        return _equal(column, keys[0])
    chosen = column.none()
    for low, high in map(column.find, keys):
        chosen[low:high] = 1
    return column.rows_of(chosen)


def _exists(column: FilterColumn, wanted: bool) -> Words:
    return column.present() if wanted else column.absent()


def _contains(column: FilterColumn, key: SortKey) -> Words:
    chosen = column.holding(key)
    if key[0] == 3:
        chosen |= column.containing(key[1])
    return column.rows_of(chosen)


def _any(column: FilterColumn, keys: list[SortKey]) -> Words:
    chosen = column.none()
    for key in keys:
        chosen |= column.holding(key)
    return column.rows_of(chosen)


def _all(column: FilterColumn, keys: list[SortKey]) -> Words:
    chosen = column.none()
    chosen[slice(*column.of_kind(4))] = 1
    for key in keys:
        chosen &= column.holding(key)
    return column.rows_of(chosen)


class _Operator(NamedTuple):
    """An operator: a function that checks its operand, and one that finds its rows in a column."""

    read: Callable[[str, object], Any]
    test: Callable[[FilterColumn, Any], Words]


_PAIRS: dict[str, tuple[Callable[[str, object], Any], Callable[[FilterColumn, Any], Words]]] = {
    "$eq": (_value, _equal),
    "$ne": (_value, _equal),
    "$gt": (_ordered, _greater),
    "$gte": (_ordered, _greater_equal),
    "$lt": (_ordered, _less),
    "$lte": (_ordered, _less_equal),
    "$in": (_values, _in),
    "$nin": (_values, _in),
    "$exists": (_flag, _exists),
    "$contains": (_value, _contains),
    "$any": (_values, _any),
    "$all": (_values, _all),
}
_OPERATORS = {name: _Operator(*pair) for name, pair in _PAIRS.items()}
