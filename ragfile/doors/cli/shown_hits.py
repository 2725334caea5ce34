"""Print a hit on a terminal: its source, and its excerpt with the words of the question marked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from ragfile.doors.cli.report_lines import printable
from ragfile.ground.system import terminal_columns
from ragfile.ground.urls import is_remote, local_path
from ragfile.records import Span

if TYPE_CHECKING:
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.records import Hit, Hits
    from ragfile.search.excerpt_lines import ExcerptLine
    from ragfile.search.file_lines import FileLines, LineRange
    from ragfile.search.shown_passages import ShownPassage


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
            from urllib.parse import quote  # few commands make links

            return f"{self.base_url.rstrip('/')}/{quote(source)}"
        if is_relative and self.root:
            return os.path.join(self.root, source)
        return openable(source, self.file)


class ShownHit(NamedTuple):
    """A hit with its excerpt, read while the file is open."""

    hit: Hit
    passage: ShownPassage


def shown_hits(rf: KnowledgeBase, question: str, hits: Hits) -> list[ShownHit]:
    """Make hits ready for a terminal."""
    from ragfile.search.shown_passages import viewer_of

    viewer = viewer_of(hits, question, rf.document)
    return [
        ShownHit(hit, viewer.shown(hit.text, hit.metadata, hit.doc_id, hit.start)) for hit in hits
    ]


def lines_of(rf: KnowledgeBase, doc_id: str) -> FileLines | None:
    """Return the lines of a document's file, if they are known."""
    from ragfile.search.file_lines import FileLines

    document = rf.document(doc_id)
    return None if document is None else FileLines.of(document)


def show_hit(place: int, shown: ShownHit, home: Home, explain: bool) -> None:
    """Print one hit."""
    hit = shown.hit
    headers = hit.metadata.get("headers")
    title = click.style(printable(headers), bold=True) if isinstance(headers, str) else ""
    score = click.style(f"{hit.score:.3f}", fg="green")
    where_shown = printable(where(hit, home, shown.passage.lines))
    click.echo(f"{place}. {score}  {where_shown}  {title}".rstrip())
    if standing := hit.standing:
        click.echo(f"   {standing}")
    if explain:
        click.echo(
            "   " + "  ".join(f"{retriever} {score:.4f}" for retriever, score in hit.scores.items())
        )
    for line, number in zip(shown.passage.excerpt.lines, shown.passage.numbers, strict=True):
        for part in _wrapped(line, number):
            click.echo(f"   {part}")
    click.echo()


def where(hit: Hit, home: Home, lines: LineRange | None = None) -> str:
    """Return the source of a hit with its page, slide, row or lines."""
    from ragfile.search.shown_passages import located

    name = home.place(hit.source) or hit.doc_id
    return located(name, hit.metadata, lines or hit.lines)


def openable(source: str, file: str) -> str:
    """Return a path to a source from the current folder.

    Sources are recorded relative to the folder that was built, so they are searched for in the current
    folder, beside the file, and in the folders there. A source that is not found in exactly one of them
    is returned unchanged.
    """
    file = local_path(file)
    if not source or os.path.isabs(source) or is_remote(source) or is_remote(file):
        return source
    folder = os.path.dirname(os.path.abspath(file))
    names = source.split("/")
    for home in ("", folder):
        above = os.path.abspath(home).split(os.sep)
        for i in range(len(names)):
            path = os.path.join(home, *names[i:])
            is_inside = not i or above[-i:] == names[:i]  # another folder can have the same name
            if is_inside and names[i] not in ("", os.pardir) and os.path.isfile(path):
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


def _wrapped(line: ExcerptLine, number: int | None) -> list[str]:
    """Return a line for the terminal: code with its number, text wrapped to the width."""
    if line.at >= 0:
        return [f"{number:>5}  {marked(line)}" if number else marked(line)]
    width = max(40, min(terminal_columns(), 100) - 4)
    cuts = _cuts(line.text, width)
    return [marked(_part(line, start, end)) for start, end in cuts]


def _cuts(text: str, width: int) -> list[Span]:
    """Return the spans of a text's lines of at most `width` characters, between words."""
    cuts, start = list[Span](), 0
    while len(text) - start > width:
        at = text.rfind(" ", start + 1, start + width + 1)
        end = at if at > 0 else start + width
        cuts.append(Span(start, end))
        start = end + (at > 0)
    return [*cuts, Span(start, len(text))]


def _part(line: ExcerptLine, start: int, end: int) -> ExcerptLine:
    """Return a part of a line with its marks; a mark that is cut is in both parts."""
    marks = [
        Span(max(a, start) - start, min(b, end) - start)
        for a, b in line.marks
        if a < end and b > start
    ]
    return line._replace(text=line.text[start:end], marks=marks)


def marked(line: ExcerptLine) -> str:
    """Format a line with its marks in bold and underlined."""
    pieces: list[str] = []
    at = 0
    for start, end in line.marks:
        pieces.append(_shown(line.text[at:start]))
        pieces.append(click.style(_shown(line.text[start:end]), bold=True, underline=True))
        at = end
    return "".join([*pieces, _shown(line.text[at:])])


def _shown(text: str) -> str:
    """Replace control characters, which a terminal would obey; tabs become blanks."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text.expandtabs(4))
