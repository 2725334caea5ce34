"""A named stretch of source code and those inside it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Scope:
    """A definition from the first character of what belongs to it, such as a comment above it."""

    name: str
    start: int
    end: int
    inner: list[Scope] = field(default_factory=list)
