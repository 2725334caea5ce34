"""Custom strategies: sections that ragfile stores, lists and preserves without interpreting them.

ragfile.register("my.graph", MyGraph)                 # called as MyGraph(section, rf)
with ragfile.create(path) as w: ...; w.add_section("my.graph", data)
with ragfile.open(path) as rf: rf.strategy("my.graph").neighbours("a")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ragfile.file.sections import check_own

_openers: dict[str, Callable[[Any, Any], object]] = {}


def register(name: str, opener: Callable[[Any, Any], object]) -> None:
    """Register a class or function that opens the sections of a name.

    Args:
        name: the section's name, like "yourname.graph"; names of the format are refused.
        opener: called with the section's bytes and the open file; `rf.strategy(name)` returns its result.

    Raises:
        ValueError: the name is not valid, or belongs to the format.
    """
    check_own(name)
    _openers[name] = opener


def opener(name: str) -> Callable[[Any, Any], object]:
    """Return the registered opener of a name, or raise KeyError."""
    if name not in _openers:
        raise KeyError(
            f"no strategy {name!r} is registered; registered are: {', '.join(sorted(_openers)) or 'none'}"
        )
    return _openers[name]
