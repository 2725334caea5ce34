"""The part of a passage that says most about a question: the window of whole sentences with most of
the question's different words, and where these stand in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragfile.ingest.windows import windows
from ragfile.records import Span
from ragfile.search.highlight_spans import TermPlace, joined
from ragfile.text import sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZE = 300  # characters


class Excerpt(NamedTuple):
    """A stretch of a passage: `start` and `end` are its place there, `marks` the question's words in
    `text`.
    """

    text: str
    start: int
    end: int
    marks: list[Span]


def excerpt(text: str, places: Sequence[TermPlace], size: int = SIZE) -> Excerpt:
    """The best window of at most `size` characters; the first one where there are no words."""
    units = _units(text, size)
    if not units:
        return Excerpt("", 0, 0, [])
    start, end = _best(units, sorted(places, key=lambda place: place.start), size)
    inside = (place for place in places if start <= place.start and place.end <= end)
    marks = [Span(a - start, b - start) for a, b in joined(Span(p.start, p.end) for p in inside)]
    return Excerpt(text[start:end], start, end, marks)


def _units(text, size):
    """Sentences; a long one in pieces."""
    return [piece for a, b in sentences(text) for piece in windows(text, a, b, size, 0)]


def _best(units, places, size):
    """The (start, end) with most different words, then with most words, then the first."""
    best, most = units[0], (-1, -1)
    held = [_held(unit, places) for unit in units]
    for i, (start, _) in enumerate(units):
        j, words, count = i, set(), 0
        while j < len(units) and units[j][1] - start <= size:
            words.update(held[j])
            count += len(held[j])
            j += 1
        if (len(words), count) > most:
            best, most = (start, units[max(j - 1, i)][1]), (len(words), count)
    return best


def _held(unit, places):
    return [place.term for place in places if unit[0] <= place.start and place.end <= unit[1]]
