"""Whether terms of a question stand together in a passage, or only somewhere in it.

A place of a passage is a stretch of so many characters, or a row of a table with its header and headings. The header
path of a passage belongs to each of its places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile.search.blocks import blocks

if TYPE_CHECKING:
    from ragfile.search.question_terms import QuestionTerms
    from ragfile.types import Metadata


def heaviest_place(terms: QuestionTerms, text: str, metadata: Metadata, room: int) -> float:
    """Return the largest weight of the terms in one place of a passage: `room` characters, or a row of a table."""
    headers = metadata.get("headers")
    path = terms.held(headers) if isinstance(headers, str) else set[str]()
    best = max(terms.weight(path), _heaviest_stretch(terms, text, path, room))
    for row in blocks(text, metadata):
        if row.kind == "row":
            held = terms.held("\n".join([*row.context, row.text(text)]))
            best = max(best, terms.weight(path | held))
    return best


def _heaviest_stretch(terms: QuestionTerms, text: str, path: set[str], room: int) -> float:
    best, latest = 0.0, dict[str, int]()  # where each term begins last
    for term, start, end in sorted(terms.places(text), key=lambda place: (place.end, place.start)):
        if term in terms.weights:
            latest[term] = max(start, latest.get(term, 0))
            here = {other for other, at in latest.items() if end - at <= room}
            best = max(best, terms.weight({term, *here, *path}))
    return best
