"""Where a passage has a question's words: spans of its text, found as the index found them.

A word of the text is marked when its term, stem included, is one of the question's. Identifiers and
their parts (`foo.bar`, `snake_case`) and neighbouring pairs of scripts without spaces overlap; what
overlaps is one span.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragfile import _core
from ragfile.records import Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


class TermPlace(NamedTuple):
    """A term where a text has it."""

    term: str
    start: int
    end: int


def places(lexicon: _core.Lexicon, text: str) -> list[TermPlace]:
    """Every term of a text in the order of its words, by a file's analyzer; stop words are none."""
    how = lexicon.analysis
    found = _core.word_places(text, strip_accents=how.strip_accents, pieces=how.pieces)
    parts = dict.fromkeys(word for word, is_whole, _, _ in found if not is_whole)
    terms = dict(zip(parts, lexicon.asker.terms_of(parts), strict=True))
    named = (
        (word if is_whole else terms[word], start, end) for word, is_whole, start, end in found
    )
    return [TermPlace(*place) for place in named if place[0]]


def spans(lexicon: _core.Lexicon, terms: Collection[str], text: str) -> list[Span]:
    """Where a text has one of the terms: in order, and none overlaps another."""
    return joined(Span(start, end) for term, start, end in places(lexicon, text) if term in terms)


def joined(found: Iterable[Span]) -> list[Span]:
    """Spans in order, those that overlap as one."""
    kept: list[Span] = []
    for span in sorted(found):
        if kept and span.start < kept[-1].end:
            kept[-1] = Span(kept[-1].start, max(kept[-1].end, span.end))
        else:
            kept.append(span)
    return kept
