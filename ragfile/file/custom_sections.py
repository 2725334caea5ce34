"""Strategies of your own: sections that the core stores, lists and preserves without knowing what they hold.

ragfile.register("my.graph", MyGraph)                 # MyGraph(section, rf): whatever it likes to be
with ragfile.create(path) as w: ...; w.add_section("my.graph", data)
with ragfile.open(path) as rf: rf.strategy("my.graph").neighbours("a")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ragfile.file.sections import check_own

_openers = {}


def register(name: str, opener: Callable[[Any, Any], object]) -> None:
    """Says what makes a searcher of the sections of this name: a callable that takes the section's bytes and the open file."""
    check_own(name)
    _openers[name] = opener


def opener(name: str) -> Callable[[Any, Any], Any]:
    """What was registered; KeyError when nothing was."""
    if name not in _openers:
        raise KeyError(
            f"no strategy {name!r} is registered; registered are: {', '.join(sorted(_openers)) or 'none'}"
        )
    return _openers[name]
