"""Join short pieces into chunks: the paragraphs of a text, or a document's segments, such as the
turns of a conversation.

    for segment in joined(document, JoinLimits(200, 40)): document.text[segment.start:segment.end]

A piece is cut only if it is longer than a whole chunk. A chunk takes pieces while their words stay
within the size, and the next chunk begins with the last words of the one before. The metadata of
the pieces is combined for the chunk.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from ragfile import text as texts
from ragfile.ingest.text_windows import windows
from ragfile.records import Segment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ragfile.records import Document
    from ragfile.types import Metadata

MAX_CHARS = 4000
MAX_UNIT_TOKENS = 240
# A word; one of Han, kana or Thai characters each; a "word" without an end counts once per 64 characters.
WORD = f"(?:[^ \\t\\n{texts.UNSPACED}]{{1,64}}+|[{texts.UNSPACED}])"
_WORDS = re.compile(WORD)
_PARAGRAPH = re.compile(r"[^ \t\n][^\n]*+(?:\n[ \t]*+[^ \t\n][^\n]*+)*+")
_OWN = ("speaker", "t_start", "t_end", "page")  # metadata that joined segments need not share


class JoinLimits(NamedTuple):
    """The most that a chunk may hold, and the words that it repeats of the one before."""

    size: int  # words
    overlap: int  # words
    max_chars: int = MAX_CHARS
    max_unit_tokens: int = MAX_UNIT_TOKENS


class Piece(NamedTuple):
    """A span to join, with the number and metadata of its segment or paragraph."""

    start: int
    end: int
    number: int
    metadata: Metadata


def joined(document: Document, limits: JoinLimits) -> Iterator[Segment]:
    """Yield a segment for each chunk, in order."""
    text, begin, words = document.text, 0, 0
    taken: list[Piece] = []
    for piece in _short(text, _pieces(document, limits), limits.max_chars):
        more = _count(text, piece.start, piece.end)
        if taken and (words + more > limits.size or piece.end - begin > limits.max_chars):
            yield _chunk(begin, taken)
            begin = _tail(text, begin, taken[-1].end, limits, piece)
            words, taken = _count(text, begin, piece.start), []
        elif not taken:
            begin = piece.start
        taken.append(piece)
        words += more
    if taken:
        yield _chunk(begin, taken)


def _pieces(document: Document, limits: JoinLimits) -> Iterator[Piece]:
    """Yield the segments that have text; without segments, the paragraphs, long ones as sentences."""
    text = document.text
    for number, segment in enumerate(document.segments):
        start, end = _trimmed(text, segment.start, segment.end)
        if start < end:
            yield Piece(start, end, number, segment.metadata)
    if not document.segments:
        for number, (start, end) in enumerate(_units(text, document.body, limits.max_unit_tokens)):
            yield Piece(start, end, number, {})


def _units(text: str, start: int, most: int) -> Iterator[tuple[int, int]]:
    for m in _PARAGRAPH.finditer(text, start):
        first, last = _trimmed(text, *m.span())
        if _count(text, first, last) <= most:
            yield first, last
        else:
            yield from ((first + a, first + b) for a, b in texts.sentences(text[first:last]))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in " \t\n":
        start += 1
    while start < end and text[end - 1] in " \t\n":
        end -= 1
    return start, end


def _short(text: str, pieces: Iterable[Piece], most: int) -> Iterator[Piece]:
    for piece in pieces:
        for start, end in windows(text, piece.start, piece.end, most, 0):
            yield piece._replace(start=start, end=end)


def _count(text: str, start: int, end: int) -> int:
    return sum(1 for _ in _WORDS.finditer(text, start, end))


def _tail(text: str, start: int, end: int, limits: JoinLimits, piece: Piece) -> int:
    """Return the offset of the words that the next chunk repeats, or its piece's own start.

    They begin after the first word of the chunk, and late enough for the piece to fit.
    """
    starts = [m.start() for m in _WORDS.finditer(text, start, end)][1:]
    starts = starts[max(0, len(starts) - limits.overlap) :] if limits.overlap else []
    at = bisect_left(starts, piece.end - limits.max_chars)
    return starts[at] if at < len(starts) else piece.start


def _chunk(begin: int, pieces: list[Piece]) -> Segment:
    metadata = _combined([piece.metadata for piece in pieces])
    metadata |= {"segment_start": pieces[0].number, "segment_end": pieces[-1].number}
    return Segment(begin, pieces[-1].end, metadata)


def _combined(metadata: list[Metadata]) -> Metadata:
    """Combine metadata: values that all pieces share, the range of times, speakers, the first page."""
    first, *others = metadata
    combined = {
        key: value
        for key, value in first.items()
        if key not in _OWN and all(key in one and one[key] == value for one in others)
    }
    for key, choose in (("t_start", min), ("t_end", max)):
        if times := [one[key] for one in metadata if isinstance(one.get(key), int | float)]:
            combined[key] = choose(times)
    speakers = {
        name: None for one in metadata if isinstance(name := one.get("speaker"), str) and name
    }
    if speakers:
        combined["speakers"] = list(speakers)
    if pages := [one["page"] for one in metadata if "page" in one]:
        combined["page"] = pages[0]
    return combined
