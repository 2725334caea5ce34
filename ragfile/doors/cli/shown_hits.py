"""Print a hit on a terminal: its source, and its best sentences with the words of the question marked."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import click

from ragfile.doors.cli.report_lines import printable
from ragfile.ground.urls import is_remote
from ragfile.records import NUMBERED

if TYPE_CHECKING:
    from ragfile.records import Hit
    from ragfile.search.excerpts import Excerpt


FOLDERS = 200  # the most that are searched


class Home(NamedTuple):
    """Where the sources of a file are now: relative sources are printed as paths or links there."""

    file: str
    root: str | None = None
    base_url: str | None = None

    def place(self, source: str) -> str:
        """Return a path or a link to a source."""
        is_relative = bool(source) and not os.path.isabs(source) and not is_remote(source)
        if is_relative and self.base_url:
            return f"{self.base_url.rstrip('/')}/{quote(source)}"
        if is_relative and self.root:
            return os.path.join(self.root, source)
        return openable(source, self.file)


def show_hit(place: int, hit: Hit, excerpt: Excerpt, home: Home, explain: bool) -> None:
    """Print one hit."""
    headers = hit.metadata.get("headers")
    title = click.style(printable(headers), bold=True) if isinstance(headers, str) else ""
    score = click.style(f"{hit.score:.3f}", fg="green")
    click.echo(f"{place}. {score}  {printable(where(hit, home))}  {title}".rstrip())
    if explain:
        click.echo(
            "   " + "  ".join(f"{retriever} {score:.4f}" for retriever, score in hit.scores.items())
        )
    before = "… " if excerpt.start > 0 else ""
    after = " …" if excerpt.end < len(hit.text.rstrip()) else ""
    click.echo(f"   {before}{marked(excerpt)}{after}\n")


def where(hit: Hit, home: Home) -> str:
    """Return the source of a hit with its page, slide, row or line, or else its span."""
    name = home.place(hit.source) or hit.doc_id
    line = hit.metadata.get("line")
    if "symbol" in hit.metadata and isinstance(line, int):
        return f"{name}:{line}"
    for part in NUMBERED:
        if isinstance(number := hit.metadata.get(part), int):
            return f"{name}, {part} {number}"
    return f"{name}:{hit.start}-{hit.end}" if hit.start >= 0 else name


def openable(source: str, file: str) -> str:
    """Return a path to a source from the current folder.

    Sources are recorded relative to the folder that was built, so they are searched for in the current
    folder, beside the file, and in the folders there. A source that is not found in exactly one of them
    is returned unchanged.
    """
    if not source or os.path.isabs(source) or is_remote(source) or is_remote(file):
        return source
    folder = os.path.dirname(os.path.abspath(file))
    names = source.split("/")
    for home in ("", folder):
        for i in range(len(names)):
            path = os.path.join(home, *names[i:])
            if names[i] not in ("", os.pardir) and os.path.isfile(path):
                return _shorter(path) if home else path
    found = {os.path.realpath(p): p for home in ("", folder) for p in _in_folders(home, source)}
    return _shorter(*found.values()) if len(found) == 1 else source


def _shorter(path: str) -> str:
    """Return a path from the current folder if it is below it, otherwise from the root."""
    relative = os.path.relpath(path)
    return os.path.abspath(path) if relative.startswith(os.pardir) else relative


def _in_folders(home: str, source: str) -> list[str]:
    """Return the paths of a source in the folders of a folder."""
    with os.scandir(home or os.curdir) as listed:
        folders = [entry.name for entry in listed if entry.is_dir()]
    paths = [os.path.join(home, name, source) for name in folders[:FOLDERS]]
    return [path for path in paths if os.path.isfile(path)]


def marked(excerpt: Excerpt) -> str:
    """Format an excerpt on one line, with its marks in bold and underlined."""
    pieces: list[str] = []
    at = 0
    for start, end in excerpt.marks:
        pieces.append(_shown(excerpt.text[at:start]))
        pieces.append(click.style(_shown(excerpt.text[start:end]), bold=True, underline=True))
        at = end
    return "".join([*pieces, _shown(excerpt.text[at:])]).strip()


def _shown(text: str) -> str:
    """Format like printable(), but keep blanks at the ends."""
    text = re.sub(r"\s+", " ", text)
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
