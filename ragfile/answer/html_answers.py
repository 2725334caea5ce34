"""An answer as HTML for notebooks: its text with the numbers of its sources, and the sources that it cites.

Everything from a model or a file is escaped.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from ragfile.answer.citations import place_name
from ragfile.search.html_hits import place_html
from ragfile.search.markup import code_spans

if TYPE_CHECKING:
    from ragfile.answer.answers import Answer
    from ragfile.answer.citations import Citation, Source

_NUMBER = re.compile(r"\[(\d{1,4})\]")


def html_of(answer: Answer) -> str:
    """Return an answer as HTML."""
    quoted = {str(citation.number): citation for citation in answer.citations}
    parts = [_text_html(answer.text, quoted) if answer.text else "<p>No answer.</p>"]
    cited = [source for source in answer.sources if str(source.number) in quoted]
    if cited:
        parts.append(f'<ol class="ragfile-sources">{"".join(map(_source_html, cited))}</ol>')
    remarks = [f"Not supported by the sources: {one.text}" for one in answer.unsupported]
    remarks += [answer.degraded] * bool(answer.degraded)
    parts += [f"<p><small>{escape(remark)}</small></p>" for remark in remarks]
    return f'<div class="ragfile-answer">{"".join(parts)}</div>'


def _text_html(text: str, quoted: dict[str, Citation]) -> str:
    """Return the text: fenced code as it is, other blocks as paragraphs."""
    parts: list[str] = []
    at = 0
    for start, end in code_spans(text):
        parts += (_paragraphs(text[at:start], quoted), _code_html(text[start:end]))
        at = end
    return "".join([*parts, _paragraphs(text[at:], quoted)])


def _code_html(fenced: str) -> str:
    inside = fenced.split("\n", 1)[-1].rpartition("\n")[0]
    return f"<pre>{escape(inside)}</pre>"


def _paragraphs(text: str, quoted: dict[str, Citation]) -> str:
    blocks = (block.strip() for block in text.split("\n\n"))
    return "".join(f"<p>{_cited(block, quoted)}</p>" for block in blocks if block)


def _cited(text: str, quoted: dict[str, Citation]) -> str:
    """Return a paragraph with its lines; the number of a source has the cited words as its title."""

    def mark(found: re.Match[str]) -> str:
        citation = quoted.get(found[1])
        return f'<sup title="{escape(citation.text)}">{found[0]}</sup>' if citation else found[0]

    return _NUMBER.sub(mark, escape(text)).replace("\n", "<br>")


def _source_html(source: Source) -> str:
    place = place_html(source.source, {}, None)
    return f'<li value="{source.number}">{place} {escape(place_name(source))}</li>'
