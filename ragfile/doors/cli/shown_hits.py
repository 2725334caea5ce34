"""A hit on a terminal: where it is, in words that open it, and its best sentences with the question's
words marked.
"""

import os
import re

import click

from ragfile.doors.cli.report_lines import printable
from ragfile.ground.urls import is_remote
from ragfile.records import NUMBERED


def show_hit(place, hit, excerpt, file, explain):
    """Prints one hit."""
    headers = hit.metadata.get("headers")
    title = click.style(printable(headers), bold=True) if isinstance(headers, str) else ""
    score = click.style(f"{hit.score:.3f}", fg="green")
    click.echo(f"{place}. {score}  {printable(where(hit, file))}  {title}".rstrip())
    if explain:
        click.echo("   " + "  ".join(f"{leg} {score:.4f}" for leg, score in hit.scores.items()))
    before = "… " if excerpt.start > 0 else ""
    after = " …" if excerpt.end < len(hit.text.rstrip()) else ""
    click.echo(f"   {before}{marked(excerpt)}{after}\n")


def where(hit, file):
    """The source with the page, slide, row or line of it that the hit is on, else its span."""
    name = openable(hit.source, file) or hit.doc_id
    line = hit.metadata.get("line")
    if "symbol" in hit.metadata and isinstance(line, int):
        return f"{name}:{line}"
    for part in NUMBERED:
        if isinstance(number := hit.metadata.get(part), int):
            return f"{name}, {part} {number}"
    return f"{name}:{hit.start}-{hit.end}" if hit.start >= 0 else name


def openable(source, file):
    """A source as a path that opens from here: sources are recorded as a build was told them, so one
    that was told from another folder is looked for beside the file. What is found nowhere stays.
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


def marked(excerpt):
    """An excerpt on one line, its marks in bold and underlined."""
    pieces, at = [], 0
    for start, end in excerpt.marks:
        pieces.append(_shown(excerpt.text[at:start]))
        pieces.append(click.style(_shown(excerpt.text[start:end]), bold=True, underline=True))
        at = end
    return "".join([*pieces, _shown(excerpt.text[at:])]).strip()


def _shown(text):
    """As printable(), with the blanks at its ends."""
    text = re.sub(r"\s+", " ", text)
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
