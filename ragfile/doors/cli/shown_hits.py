"""Print a hit on a terminal: its source, and its best sentences with the words of the question marked."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click

from ragfile.doors.cli.report_lines import printable
from ragfile.ground.urls import is_remote
from ragfile.records import NUMBERED

if TYPE_CHECKING:
    from ragfile.records import Hit
    from ragfile.search.excerpts import Excerpt


def show_hit(place: int, hit: Hit, excerpt: Excerpt, file: str, explain: bool) -> None:
    """Print one hit."""
    headers = hit.metadata.get("headers")
    title = click.style(printable(headers), bold=True) if isinstance(headers, str) else ""
    score = click.style(f"{hit.score:.3f}", fg="green")
    click.echo(f"{place}. {score}  {printable(where(hit, file))}  {title}".rstrip())
    if explain:
        click.echo(
            "   " + "  ".join(f"{retriever} {score:.4f}" for retriever, score in hit.scores.items())
        )
    before = "… " if excerpt.start > 0 else ""
    after = " …" if excerpt.end < len(hit.text.rstrip()) else ""
    click.echo(f"   {before}{marked(excerpt)}{after}\n")


def where(hit: Hit, file: str) -> str:
    """Return the source of a hit with its page, slide, row or line, or else its span."""
    name = openable(hit.source, file) or hit.doc_id
    line = hit.metadata.get("line")
    if "symbol" in hit.metadata and isinstance(line, int):
        return f"{name}:{line}"
    for part in NUMBERED:
        if isinstance(number := hit.metadata.get(part), int):
            return f"{name}, {part} {number}"
    return f"{name}:{hit.start}-{hit.end}" if hit.start >= 0 else name


def openable(source: str, file: str) -> str:
    """Return a path to a source from the current folder.

    Sources are recorded relative to the folder of the build, so they are also searched for beside
    the file. A source that is not found is returned unchanged.
    """
    if not source or os.path.isabs(source) or is_remote(source) or is_remote(file):
        return source
    folder = os.path.dirname(os.path.abspath(file))
    names = source.split("/")
    for home in ("", folder):
        for i in range(len(names)):
            path = os.path.join(home, *names[i:])
            if names[i] not in ("", os.pardir) and os.path.isfile(path):
                return os.path.relpath(path) if home else path
    return source


def marked(excerpt: Excerpt) -> str:
    """Format an excerpt on one line, with its marks in bold and underlined."""
    pieces, at = [], 0
    for start, end in excerpt.marks:
        pieces.append(_shown(excerpt.text[at:start]))
        pieces.append(click.style(_shown(excerpt.text[start:end]), bold=True, underline=True))
        at = end
    return "".join([*pieces, _shown(excerpt.text[at:])]).strip()


def _shown(text: str) -> str:
    """Format like printable(), but keep blanks at the ends."""
    text = re.sub(r"\s+", " ", text)
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
