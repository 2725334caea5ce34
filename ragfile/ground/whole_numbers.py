"""Checks of row numbers and counts: Python's integers and numpy's pass, 1.5 and 1.0 do not."""

from operator import index
from typing import SupportsIndex


def whole(value: SupportsIndex, name: str, least: int | None = None) -> int:
    """Return a whole number as an int.

    Raises:
        TypeError: The value is not a whole number, or a bool.
        ValueError: It is below `least`.
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        found = index(value)
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {value!r:.80}") from None
    if least is not None and found < least:
        raise ValueError(f"{name} is at least {least}, not {found}")
    return found
