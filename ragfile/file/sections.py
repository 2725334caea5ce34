"""The format's rules for sections, by name. The constants are in `section_table`."""

from __future__ import annotations

import re

from ragfile.file.section_table import COMPACTION, NEEDS, RESERVED

NAME = re.compile(r"[A-Za-z0-9_.+@/]{1,64}")


def check_own(name: str) -> None:
    """Raise ValueError unless a program can use this name for a section of its own."""
    if not NAME.fullmatch(name):
        raise ValueError(f"a section's name is [A-Za-z0-9_.+@/]{{1,64}}, not {name!r}")
    if name in COMPACTION or name in RESERVED or name.startswith("rag."):
        raise ValueError(
            f"the name {name!r} belongs to the format: choose one like 'yourname.{name[-20:]}'"
        )


def needs(name: str) -> tuple[str, ...]:
    """Return the sections that must be present in the same segment."""
    found = NEEDS.get(name, ())
    if found or not name[-1:].isdigit():
        return found
    kind, number = _field(name)
    return tuple([n[:-1] + number if n[-2:] == ".N" else n for n in NEEDS.get(kind, ())])


def compaction(name: str) -> str:
    """Return how compaction treats a section: "rebuilt", "kept" or "dropped"; unknown ones are kept."""
    return COMPACTION.get(name) or COMPACTION.get(_field(name)[0], "kept")


def is_known(name: str) -> bool:
    """Return whether the format defines the section."""
    return name in COMPACTION or _field(name)[0] in COMPACTION


def _field(name: str) -> tuple[str, str]:
    """Return the name with N for a field's number, and the number."""
    kind, _, number = name.rpartition(".")
    return (f"{kind}.N", number) if number.isdecimal() else (name, "")
