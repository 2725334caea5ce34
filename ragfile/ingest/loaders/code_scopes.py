"""A named scope of source code, and those inside it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Scope:
    """A definition, from the start of its leading comment if it has one."""

    name: str
    start: int
    end: int
    inner: list[Scope] = field(default_factory=list["Scope"])
