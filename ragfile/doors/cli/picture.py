"""Draw a file as a map for a terminal: the place and share of each section.

Each character covers an equal share of the file and shows the letter of the section with most of its
bytes; "." marks bytes outside sections: the front page, padding, checksums, tables and replaced
commits.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

WIDTH, HEIGHT = 64, 16
COLOURS = ("green", "blue", "magenta", "cyan", "yellow", "red", "bright_green", "bright_blue")
NOTHING = "."


def drawn(entries: Sequence[Mapping[str, Any]], size: int) -> Iterator[str]:
    """Yield the lines of the map and of its legend."""
    names = list(dict.fromkeys(entry["name"] for entry in entries))
    marks = dict(zip(names, string.ascii_uppercase + string.ascii_lowercase, strict=False))
    cells = _cells(entries, size, marks)
    for at in range(0, len(cells), WIDTH):
        yield "".join(_coloured(mark) for mark in cells[at : at + WIDTH])
    yield ""
    for name in names:
        taken = sum(entry["size"] for entry in entries if entry["name"] == name)
        mark = marks.get(name, "?")
        yield f"{_coloured(mark)}  {name:<24}  {taken:>14,} bytes  {taken / size:6.1%}"


def _cells(entries: Sequence[Mapping[str, Any]], size: int, marks: Mapping[str, str]) -> list[str]:
    """Return the letter of each cell."""
    count = min(WIDTH * HEIGHT, max(size, 1))
    most, cells = [0.0] * count, [NOTHING] * count
    for entry in entries:
        start, end = entry["at"] * count / size, (entry["at"] + entry["size"]) * count / size
        for cell in range(int(start), min(int(end) + 1, count)):
            share = min(end, cell + 1) - max(start, cell)
            if share > most[cell] and share > 0:
                most[cell], cells[cell] = share, marks.get(entry["name"], "?")
    return cells


def _coloured(mark: str) -> str:
    if mark == NOTHING:
        return mark
    return click.style(mark, fg=COLOURS[ord(mark) % len(COLOURS)], bold=True)
