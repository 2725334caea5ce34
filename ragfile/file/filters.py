"""Which chunks may be found: a Mongo-style condition on metadata, and tags, turned into a mask over rows.

    compile({"year": {"$gte": 2020}, "lang": {"$in": ["en", "de"]}}, tags_any=["draft"]).mask(columns)

Every filter is two-valued: a row passes or it does not, a field that is missing or of another type fails each
positive condition, and `$ne $nin $not` are exactly the complements of `$eq $in` and of what they enclose.
Equality is typed: 1 ≠ "1" ≠ true, 1 = 1.0, and null equals only a null that is there.

A filter never looks at rows but at a `FilterColumns`: for each path the distinct values in one total order, and for
each row the number of its value. A condition is decided once per distinct value (a range by bisection,
without looking at the values between) and spread over the rows; what comes out is a row set, a bit for each row.
`Dicts` makes such columns from metadata in memory; stored_columns.py has those of a file.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import repeat
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ragfile import _core

if TYPE_CHECKING:
    from typing import Any

MAX_DEPTH = 32  # of conditions
MAX_VALUE_DEPTH = 256  # of a JSON value, as in what is written
MAX_CONDITIONS = 10_000
MISSING = object()


def sort_key(value, depth=0):
    """A JSON value as a tuple that compares by typed equality: null, bool, number, string, list, object."""
    if isinstance(value, str):
        return 3, value
    if isinstance(value, bool | np.bool_):
        return 1, bool(value)
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
    if isinstance(value, list | tuple):
        return 4, tuple(map(sort_key, value, repeat(depth + 1)))  # one frame a level
    if isinstance(value, dict):
        keys = map(sort_key, value.values(), repeat(depth + 1))
        return 5, tuple(sorted(zip(value, keys, strict=True)))
    raise TypeError(f"metadata and filters hold JSON values, not {type(value).__name__}")


def resolve(metadata, path, default=None):
    """The value at a path: of the key that equals it, else below the key before its first dot."""
    while True:
        if path in metadata:
            return metadata[path]
        head, dot, path = path.partition(".")
        metadata = metadata.get(head)
        if not dot or not isinstance(metadata, dict):
            return default


class Column:
    """One path over all rows: `keys`, distinct and in order, and for each row its key's place, or -1.

    A filter asks it for the codes of values, as ranges or as a flag for each code, and for the rows that have them, as a
    row set. A column that a file stores (stored_columns.FileColumn) answers the same questions.
    """

    def __init__(self, codes, keys):
        self.codes, self.keys, self._elements = codes, keys, None

    def __len__(self):
        """How many values."""
        return len(self.keys)

    def find(self, key):
        """The codes [low, high) that equal a key: none, or one. Where there is none, they say where it would be."""
        code = bisect_left(self.keys, key)
        return code, code + (code < len(self.keys) and self.keys[code] == key)

    def of_kind(self, kind):
        """The codes of the values of one type, as a range."""
        return bisect_left(self.keys, (kind,)), bisect_left(self.keys, (kind + 1,))

    def rows(self, low, high):
        """The rows whose code is in [low, high); low ≥ 0 leaves out rows without a value."""
        if high - low == 1:
            return self._words(self.codes == low)
        return self._words((self.codes >= low) & (self.codes < high))

    def present(self):
        """The rows that have a value."""
        return self._words(self.codes >= 0)

    def absent(self):
        """The rows that have none."""
        return self._words(self.codes < 0)

    def none(self):
        """A flag for each code, to be set."""
        return np.zeros(len(self.keys) + 1, dtype=np.uint8)  # the last place is for -1

    def rows_of(self, chosen):
        """The rows whose code is chosen, by a flag for each code."""
        codes = np.flatnonzero(chosen[:-1]).tolist()
        if len(codes) > 3:
            return self._words(chosen.view(bool)[self.codes])
        mask = np.zeros(len(self.codes), dtype=bool)
        for code in codes:  # a few comparisons cost less than a look-up per row
            mask |= self.codes == code
        return self._words(mask)

    def holding(self, key):
        """The lists with an element that equals a key, as flags."""
        if self._elements is None:
            holders: dict[Any, list[int]] = {}
            for code in range(*self.of_kind(4)):
                for element in set(self.keys[code][1]):
                    holders.setdefault(element, []).append(code)
            self._elements = holders
        chosen = self.none()
        chosen[self._elements.get(key, [])] = 1
        return chosen

    def containing(self, part):
        """The strings of which one is a part, as flags."""
        chosen = self.none()
        low, high = self.of_kind(3)
        chosen[[code for code in range(low, high) if part in self.keys[code][1]]] = 1
        return chosen

    def _words(self, mask):
        return _core.row_set(mask, len(mask))


def without_values(rows):
    """The column of a path that no row has."""
    return Column(np.full(rows, -1, np.int32), [])


class FilterColumns(Protocol):
    """What a filter needs of a collection.

    Metadata of document and chunk are one object here: the chunk's keys win.
    """

    def __len__(self) -> int: ...

    def column(self, path: str) -> Any: ...

    def tags(self) -> Any:
        """Tags as a column of lists."""
        ...


class Dicts:
    """Columns over metadata dicts in memory, built per path on first use and kept."""

    def __init__(self, metadata, tags=None):
        self._metadata, self._tags, self._columns = metadata, tags, {}

    def __len__(self):
        return len(self._metadata)

    def column(self, path):
        if path not in self._columns:
            self._columns[path] = encode(resolve(m, path, MISSING) for m in self._metadata)
        return self._columns[path]

    def tags(self):
        if None not in self._columns:
            self._columns[None] = encode([()] * len(self) if self._tags is None else self._tags)
        return self._columns[None]


def encode(values):
    """A Column from values in row order; a missing one is `MISSING`."""
    values = list(values)
    if _are_plain(set(map(type, values))):  # then Python's equality is ours
        distinct = set(values) - {MISSING}
        ordered = (
            sorted(distinct)
            if set(map(type, distinct)) <= {str}
            else sorted(distinct, key=sort_key)
        )
        place = {value: i for i, value in enumerate(ordered)}
        place[MISSING] = -1
        codes = np.fromiter(map(place.__getitem__, values), dtype=np.int32, count=len(values))
        return Column(codes, list(map(sort_key, ordered)))
    keys = [None if value is MISSING else sort_key(value) for value in values]
    ordered = sorted({key for key in keys if key is not None})
    place: dict[Any, int] = {key: i for i, key in enumerate(ordered)}
    place[None] = -1
    return Column(
        np.fromiter((place[key] for key in keys), dtype=np.int32, count=len(keys)), ordered
    )


def encode_codes(places: np.ndarray, values: list) -> Column:
    """A Column of rows that have values[place] each."""
    column = encode(values)
    return Column(column.codes[places] if len(values) else places.astype(np.int32), column.keys)


def filled(column: Column, other: Column) -> Column:
    """A column with the other's value where it has none."""
    if not column.keys:
        return other
    keys = sorted({*column.keys, *other.keys})
    place = {key: i for i, key in enumerate(keys)}
    own, new = (np.array([place[k] for k in c.keys], np.int32) for c in (column, other))
    return Column(np.where(column.codes < 0, new[other.codes], own[column.codes]), keys)


def _are_plain(kinds):
    """Whether values of these types are hashable and equal in Python as they are here, where true is not 1."""
    return kinds <= {str, int, float, bool, type(None), type(MISSING)} and not (
        bool in kinds and kinds & {int, float}
    )


class Filter:
    """A compiled filter, false as a bool if all passes it. `paths` are the metadata keys it reads; has_tags says whether
    it looks at tags."""

    def __init__(self, test, paths, has_tags=False):
        self._test, self.paths, self.has_tags = test, paths, has_tags

    def __bool__(self):
        return self._test is not None

    def words(self, columns):
        """The rows that pass, as a row set."""
        return _all_rows(columns) if self._test is None else self._test(columns)

    def mask(self, columns):
        """bool[n]: the rows that pass."""
        return _core.flags_of(self.words(columns), len(columns))


def _all_rows(columns):
    return _others(_no_rows(columns), len(columns))


def _no_rows(columns):
    return np.zeros((len(columns) + 63) // 64, np.uint64)


def compile(where=None, *, tags_any=(), tags_all=()):
    """Checks a condition and makes it a Filter. Empty tags do not restrict."""
    compiler = _Compiler()
    tests = [] if where is None or where == {} else [compiler.condition(where, 0)]
    for wanted, found in ((tags_any, _any), (tags_all, _all)):
        keys = [sort_key(tag) for tag in _tag_list(wanted)]
        if keys:
            tests.append(lambda columns, keys=keys, found=found: found(columns.tags(), keys))
    has_tags = len(tests) > (where is not None and where != {})
    return Filter(_every(tests) if tests else None, tuple(sorted(compiler.paths)), has_tags)


def _tag_list(tags):
    if isinstance(tags, str):
        raise TypeError(f"tags are a list of strings, not the string {tags!r}")
    return list(tags or ())


class _Compiler:
    """From a condition to a function of Columns, with limits on depth and number."""

    def __init__(self):
        self.paths, self._count = set(), 0

    def condition(self, where, depth):
        if not isinstance(where, dict):
            raise ValueError(f"a filter is an object, not {type(where).__name__}")
        if depth > MAX_DEPTH:
            raise ValueError(f"a filter can nest {MAX_DEPTH} levels deep")
        return _every([self._entry(key, value, depth + 1) for key, value in where.items()])

    def _entry(self, key, value, depth):
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

    def _list(self, key, value, depth):
        if not isinstance(value, list | tuple) or not value:
            raise ValueError(f"{key} takes a list of one or more filters")
        return (_every if key == "$and" else _some)([self.condition(v, depth) for v in value])

    def _field(self, path, value, depth):
        if not isinstance(value, dict) or not any(
            isinstance(k, str) and k.startswith("$") for k in value
        ):
            return _on(path, _equal, sort_key(value))
        return _every(
            [self._operator(path, name, operand, depth) for name, operand in value.items()]
        )

    def _operator(self, path, name, operand, depth):
        if depth > MAX_DEPTH:
            raise ValueError(f"a filter can nest {MAX_DEPTH} levels deep")
        if name == "$not":
            if not isinstance(operand, dict) or not operand:
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


def _on(path, test, operand):
    return lambda columns: test(columns.column(path), operand)


def _every(tests):
    if len(tests) == 1:
        return tests[0]
    return lambda columns: _joined(np.bitwise_and, _all_rows(columns), tests, columns)


def _some(tests):
    return lambda columns: _joined(np.bitwise_or, _no_rows(columns), tests, columns)


def _joined(join, words, tests, columns):
    for test in tests:
        join(words, test(columns), out=words)
    return words


def _complement(test):
    return lambda columns: _others(test(columns), len(columns))


def _others(words, rows):
    """The other rows; there are no bits after the last row."""
    words = ~words
    if rows % 64:
        words[-1] &= np.uint64((1 << rows % 64) - 1)
    return words


# What an operator accepts, checked when the filter is compiled.


def _value(name, operand):
    return sort_key(operand)


def _ordered(name, operand):
    key = sort_key(operand)
    if key[0] not in (2, 3):
        raise ValueError(f"{name} compares with a number or a string, not {operand!r}")
    return key


def _values(name, operand):
    if not isinstance(operand, list | tuple):
        raise ValueError(f"{name} takes a list, not {operand!r}")
    return [sort_key(v) for v in operand]


def _flag(name, operand):
    if not isinstance(operand, bool):
        raise ValueError(f"{name} takes true or false, not {operand!r}")
    return operand


# What it finds in a column.


def _equal(column, key):
    return column.rows(*column.find(key))


def _greater(column, key):
    return column.rows(column.find(key)[1], column.of_kind(key[0])[1])


def _greater_equal(column, key):
    return column.rows(column.find(key)[0], column.of_kind(key[0])[1])


def _less(column, key):
    return column.rows(column.of_kind(key[0])[0], column.find(key)[0])


def _less_equal(column, key):
    return column.rows(column.of_kind(key[0])[0], column.find(key)[1])


def _in(column, keys):
    if len(keys) == 1:
        return _equal(column, keys[0])
    chosen = column.none()
    for low, high in map(column.find, keys):
        chosen[low:high] = 1
    return column.rows_of(chosen)


def _exists(column, wanted):
    return column.present() if wanted else column.absent()


def _contains(column, key):
    chosen = column.holding(key)
    if key[0] == 3:
        chosen |= column.containing(key[1])
    return column.rows_of(chosen)


def _any(column, keys):
    chosen = column.none()
    for key in keys:
        chosen |= column.holding(key)
    return column.rows_of(chosen)


def _all(column, keys):
    chosen = column.none()
    chosen[slice(*column.of_kind(4))] = 1
    for key in keys:
        chosen &= column.holding(key)
    return column.rows_of(chosen)


_OPERATORS = {
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
