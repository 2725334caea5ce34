"""Hits as HTML for notebooks: the place of each passage, its excerpt with the question's words marked, and the support.

Everything from a file is escaped, and only web pages and files of the current folder become links.
"""

from __future__ import annotations

import os
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import quote

from ragfile.search.shown_passages import located

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragfile.records import Hit
    from ragfile.search.excerpt_lines import ExcerptLine
    from ragfile.search.file_lines import LineRange
    from ragfile.search.shown_passages import PassageViewer, ShownPassage
    from ragfile.types import Metadata


def html_of(hits: Sequence[Hit], viewer: PassageViewer) -> str:
    """Return hits as HTML."""
    items = "".join(f"<li>{_hit_html(hit, viewer)}</li>" for hit in hits)
    return f'<ol class="ragfile-hits">{items}</ol>' if hits else "<p>Nothing found.</p>"


def _hit_html(hit: Hit, viewer: PassageViewer) -> str:
    shown = viewer.shown(hit.text, hit.metadata, hit.doc_id, hit.start)
    headers = hit.metadata.get("headers")
    title = f" <b>{escape(headers)}</b>" if isinstance(headers, str) else ""
    missing = ", ".join(hit.missing)
    lacking = f" <small>without: {escape(missing)}</small>" if missing else ""
    place = place_html(hit.source or hit.doc_id, hit.metadata, shown.lines)
    return f"{place}{title} <small>{hit.score:.3f}</small>{lacking}{excerpt_html(shown)}"


def place_html(source: str, metadata: Metadata, lines: LineRange | None) -> str:
    """Return a source with its page, slide, row or lines; a link if it can be opened."""
    name = located(source, metadata, lines)
    address = _address(source)
    if not address:
        return f"<code>{escape(name)}</code>"
    at = f"#L{lines[0]}-L{lines[1]}" if lines and "#" not in address else ""
    return f'<a href="{escape(address + at)}"><code>{escape(name)}</code></a>'


def _address(source: str) -> str:
    """Return the address of a web page, or of a file below the current folder; else ""."""
    if source.lower().startswith(("http://", "https://")):
        return source
    is_below = not os.path.isabs(source) and os.pardir not in source.split("/")
    return f"./{quote(source)}" if is_below and os.path.isfile(source) else ""


def excerpt_html(shown: ShownPassage) -> str:
    """Return an excerpt: text as paragraphs, code as it is, with the numbers of its lines."""
    numbered = zip(shown.excerpt.lines, shown.numbers, strict=True)
    runs = groupby(numbered, key=lambda one: one[0].at >= 0)
    return "".join(_code_html(run) if is_code else _text_html(run) for is_code, run in runs)


def _code_html(run: Iterable[tuple[ExcerptLine, int | None]]) -> str:
    lines = (f"{number:>5}  {_marked(line)}" if number else _marked(line) for line, number in run)
    return f"<pre>{chr(10).join(lines)}</pre>"


def _text_html(run: Iterable[tuple[ExcerptLine, int | None]]) -> str:
    return f"<p>{'<br>'.join(_marked(line) for line, _ in run)}</p>"


def _marked(line: ExcerptLine) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in line.marks:
        pieces += (escape(line.text[at:start]), f"<mark>{escape(line.text[start:end])}</mark>")
        at = end
    return "".join([*pieces, escape(line.text[at:])])
