"""Cells of tables as metadata: which columns have names, and which values are numbers.

A row's metadata has its cells under the names of their columns, so that a filter sees them. Cells that
are longer than LONGEST are in the text alone, as are columns after the first MOST.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LONGEST = 200  # characters of a value
LONGEST_NAME = 100
MOST = 100  # columns
# Keys that the engine sets itself, and reads.
TAKEN = frozenset((
    "path", "folder_id", "mime", "file_id", "checksum", "upload", "headers", "symbol", "line",
    "page", "slide", "sheet", "row",
))  # fmt: skip
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,14})", re.ASCII)
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,299})(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})?", re.ASCII)


def keys_of(names: Sequence[str]) -> dict[int, str]:
    """Return the metadata keys of columns by number; none if the names are the cells of a first row."""
    given = [name for name in names if name]
    if len(set(given)) < len(given) or any(number_of(name) is not None for name in given):
        return {}
    kept = {at: name for at, name in enumerate(names[:MOST]) if 0 < len(name) <= LONGEST_NAME}
    return {at: name for at, name in kept.items() if name not in TAKEN}


def number_of(text: str) -> int | float | None:
    """Return the number that a cell shows, None for a word or for one with leading zeros."""
    if len(text) > LONGEST:
        return None
    if _WHOLE.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return None


def numbers_among(keys: Mapping[int, str], rows: Iterable[Sequence[str]]) -> frozenset[int]:
    """Return the columns in which every cell is a number, or is empty."""
    numbers, seen = set(keys), set[int]()
    for row in rows:
        for at in tuple(numbers):
            cell = row[at].strip() if at < len(row) else ""
            if cell and number_of(cell) is None:
                numbers.discard(at)
            elif cell:
                seen.add(at)
        if not numbers:
            break
    return frozenset(numbers & seen)
