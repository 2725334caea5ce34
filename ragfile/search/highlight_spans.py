"""The places of a question's words in a text, found by the analyzer of the index.

A word is marked if its term (its stem) is a term of the question. Identifiers overlap with their parts
(`foo.bar`, `snake_case`), as do neighbouring pairs in scripts without spaces; overlapping spans are joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile.records import Span
from ragfile.search.question_terms import term_places

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ragfile.search.rows_protocol import Dictionary


def spans(lexicon: Dictionary, terms: Collection[str], text: str) -> list[Span]:
    """Return the places of some terms in a text, in order and without overlaps."""
    return joined(
        Span(start, end) for term, start, end in term_places(lexicon, text) if term in terms
    )


def joined(found: Iterable[Span]) -> list[Span]:
    """Return spans in order, overlapping ones joined."""
    kept: list[Span] = []
    for span in sorted(found):
        if kept and span.start < kept[-1].end:
            kept[-1] = Span(kept[-1].start, max(kept[-1].end, span.end))
        else:
            kept.append(span)
    return kept
