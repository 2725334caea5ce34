"""Excerpts: the window of whole sentences with the most different words of a question, and their places in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragfile.ground.whole_numbers import whole
from ragfile.ingest.text_windows import windows
from ragfile.records import Span
from ragfile.search.highlight_spans import joined
from ragfile.search.question_terms import TermPlace
from ragfile.text import sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZE = 300  # characters


class Excerpt(NamedTuple):
    """A part of a passage: its place from `start` to `end` there, and in `marks` the question's words in `text`."""

    text: str
    start: int
    end: int
    marks: list[Span]


def excerpt(text: str, places: Sequence[TermPlace], size: int = SIZE) -> Excerpt:
    """Return the best window of at most `size` characters, or the first one if no words are given."""
    units = _units(text, whole(size, "size", 1))
    if not units:
        return Excerpt("", 0, 0, [])
    start, end = _best(units, sorted(places, key=lambda place: place.start), size)
    inside = (place for place in places if start <= place.start and place.end <= end)
    marks = [Span(a - start, b - start) for a, b in joined(Span(p.start, p.end) for p in inside)]
    return Excerpt(text[start:end], start, end, marks)


def _units(text: str, size: int) -> list[Span]:
    """Return the sentences of a text, long ones in pieces."""
    return [Span(*piece) for a, b in sentences(text) for piece in windows(text, a, b, size, 0)]


def _best(units: list[Span], places: list[TermPlace], size: int) -> Span:
    """Return the window with the most different words, then the most words, then the first."""
    best, most = units[0], (-1, -1)
    held = [_held(unit, places) for unit in units]
    for i, (start, _) in enumerate(units):
        j, count = i, 0
        words: set[str] = set()
        while j < len(units) and units[j].end - start <= size:
            words.update(held[j])
            count += len(held[j])
            j += 1
        if (len(words), count) > most:
            best, most = Span(start, units[max(j - 1, i)].end), (len(words), count)
    return best


def _held(unit: Span, places: list[TermPlace]) -> list[str]:
    """Return the terms inside a unit."""
    return [place.term for place in places if unit.start <= place.start and place.end <= unit.end]
