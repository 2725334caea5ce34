"""Strategies of your own: sections that the core stores, lists and preserves without knowing what they hold.

ragfile.register("my.graph", MyGraph)                 # MyGraph(section, rf): whatever it likes to be
with ragfile.create(path) as w: ...; w.add_section("my.graph", data)
with ragfile.open(path) as rf: rf.strategy("my.graph").neighbours("a")
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

RESERVED = ("rag.", "graph", "hypergraph", "vector", "keyword")
_openers = {}


def register(name: str, opener: Callable[[Any, Any], object]) -> None:
    """Says what makes a searcher of the sections of this name: a callable that takes the section's bytes and the open file."""
    if not re.fullmatch(r"[A-Za-z0-9_.+@/]{1,64}", name):
        raise ValueError(f"a strategy's name is [A-Za-z0-9_.+@/]{{1,64}}, not {name!r}")
    if name in RESERVED or name.startswith("rag."):
        raise ValueError(f"the name {name!r} belongs to the format")
    _openers[name] = opener


def opener(name: str) -> Callable[[Any, Any], Any]:
    """What was registered; KeyError when nothing was."""
    if name not in _openers:
        raise KeyError(
            f"no strategy {name!r} is registered; registered are: {', '.join(sorted(_openers)) or 'none'}"
        )
    return _openers[name]
