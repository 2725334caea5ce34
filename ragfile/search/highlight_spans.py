"""The places of a question's words in a text, found by the analyzer of the index.

A word is marked if its term (its stem) is a term of the question. Identifiers overlap with their parts
(`foo.bar`, `snake_case`), as do neighbouring pairs in scripts without spaces; overlapping spans are joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragfile import _core
from ragfile.records import Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ragfile.search.rows import Dictionary


class TermPlace(NamedTuple):
    """One occurrence of a term in a text."""

    term: str
    start: int
    end: int


def places(lexicon: Dictionary, text: str) -> list[TermPlace]:
    """Return the terms of a text in order, without stop words."""
    how = lexicon.analysis
    found = _core.word_places(text, strip_accents=how.strip_accents, pieces=how.pieces)
    parts = dict.fromkeys(word for word, is_whole, _, _ in found if not is_whole)
    terms = dict(zip(parts, lexicon.asker.terms_of(parts), strict=True))
    named = (
        (word if is_whole else terms[word], start, end) for word, is_whole, start, end in found
    )
    return [TermPlace(*place) for place in named if place[0]]


def spans(lexicon: Dictionary, terms: Collection[str], text: str) -> list[Span]:
    """Return the places of some terms in a text, in order and without overlaps."""
    return joined(Span(start, end) for term, start, end in places(lexicon, text) if term in terms)


def joined(found: Iterable[Span]) -> list[Span]:
    """Return spans in order, overlapping ones joined."""
    kept: list[Span] = []
    for span in sorted(found):
        if kept and span.start < kept[-1].end:
            kept[-1] = Span(kept[-1].start, max(kept[-1].end, span.end))
        else:
            kept.append(span)
    return kept
