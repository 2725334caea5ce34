"""Short pieces joined into chunks: the paragraphs of a text, or a document's segments, such as what
several people said in turn.

    for segment in joined(document, Policy("joined", 200, 40)): document.text[segment.start:segment.end]

A piece is not cut unless it is longer than a whole chunk may be: a chunk takes pieces while their
words stay within the size, and the next begins with the last words of the one before. What the
pieces say of themselves becomes what the chunk says of itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from ragfile import text as texts
from ragfile.ingest.windows import windows
from ragfile.records import Segment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_CHARS = 4000
MAX_UNIT_TOKENS = 240
# A word; one of Han, kana or Thai characters each; a "word" without an end counts once per 64 characters.
WORD = f"(?:[^ \\t\\n{texts.UNSPACED}]{{1,64}}+|[{texts.UNSPACED}])"
_WORDS = re.compile(WORD)
_PARAGRAPH = re.compile(r"[^ \t\n][^\n]*+(?:\n[ \t]*+[^ \t\n][^\n]*+)*+")
_OWN = ("speaker", "t_start", "t_end", "page")  # what joined segments need not agree on


class Piece(NamedTuple):
    """What is joined: a span, the number of its segment or paragraph, and what that says of itself."""

    start: int
    end: int
    number: int
    metadata: dict[str, Any]


def joined(document, policy) -> Iterator[Segment]:
    """A segment for each chunk, in order."""
    text, begin, taken, words = document.text, 0, [], 0
    for piece in _short(text, _pieces(document, policy), policy.max_chars):
        more = _count(text, piece.start, piece.end)
        if taken and (words + more > policy.size or piece.end - begin > policy.max_chars):
            yield _chunk(begin, taken)
            begin = _tail(text, begin, taken[-1].end, policy, piece)
            words, taken = _count(text, begin, piece.start), []
        elif not taken:
            begin = piece.start
        taken.append(piece)
        words += more
    if taken:
        yield _chunk(begin, taken)


def _pieces(document, policy):
    """The segments that hold text; of a document without, its paragraphs, and of long ones the sentences."""
    text = document.text
    for number, segment in enumerate(document.segments):
        start, end = _trimmed(text, segment.start, segment.end)
        if start < end:
            yield Piece(start, end, number, segment.metadata)
    if not document.segments:
        for number, (start, end) in enumerate(_units(text, document.body, policy.max_unit_tokens)):
            yield Piece(start, end, number, {})


def _units(text, start, most):
    for m in _PARAGRAPH.finditer(text, start):
        first, last = _trimmed(text, *m.span())
        if _count(text, first, last) <= most:
            yield first, last
        else:
            yield from ((first + a, first + b) for a, b in texts.sentences(text[first:last]))


def _trimmed(text, start, end):
    while start < end and text[start] in " \t\n":
        start += 1
    while start < end and text[end - 1] in " \t\n":
        end -= 1
    return start, end


def _short(text, pieces, most):
    for piece in pieces:
        for start, end in windows(text, piece.start, piece.end, most, 0):
            yield piece._replace(start=start, end=end)


def _count(text, start, end):
    return sum(1 for _ in _WORDS.finditer(text, start, end))


def _tail(text, start, end, policy, piece):
    """Where the last words of a chunk begin that go before the next piece: behind the chunk's own first
    word, and so late that all fits. The piece's own start without such words.
    """
    starts = [m.start() for m in _WORDS.finditer(text, start, end)][1:]
    starts = starts[max(0, len(starts) - policy.overlap) :] if policy.overlap else []
    at = bisect_left(starts, piece.end - policy.max_chars)
    return starts[at] if at < len(starts) else piece.start


def _chunk(begin, pieces):
    said = _agreed([piece.metadata for piece in pieces])
    said |= {"segment_start": pieces[0].number, "segment_end": pieces[-1].number}
    return Segment(begin, pieces[-1].end, said)


def _agreed(metadata):
    """What all of them say; when the first begins and the last ends, who speaks, and the first page."""
    first, *others = metadata
    said = {
        key: value
        for key, value in first.items()
        if key not in _OWN and all(key in one and one[key] == value for one in others)
    }
    for key, choose in (("t_start", min), ("t_end", max)):
        if times := [one[key] for one in metadata if isinstance(one.get(key), int | float)]:
            said[key] = choose(times)
    speakers = [one["speaker"] for one in metadata if isinstance(one.get("speaker"), str)]
    if speakers := list(dict.fromkeys(filter(None, speakers))):
        said["speakers"] = speakers
    if pages := [one["page"] for one in metadata if "page" in one]:
        said["page"] = pages[0]
    return said
