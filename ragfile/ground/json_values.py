"""Whether a value read from JSON is an object or a list, as type checkers understand it.

Their own `isinstance(value, dict)` leaves the types of keys and values unknown.
"""

from collections.abc import Sequence
from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Return whether a JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Return whether a JSON value is a list."""
    return isinstance(value, list)


def is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    """Return whether a value is a list or a tuple, which JSON writes as a list."""
    return isinstance(value, list | tuple)
