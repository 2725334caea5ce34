"""Documents cut into chunks: in text order, without chance, locale or clock, and with exact spans.

    for chunk in split(document, Policy("markdown", 1000, 200)):
        assert document.text[chunk.start:chunk.end] == chunk.content

Five policies; sizes and overlaps count code points, except for `words` and `joined`:

    characters   windows of exactly `size`; neighbours share exactly `overlap`
    words        windows of `size` words that share `overlap` words; Han, kana and Thai characters are words
    sentences    whole sentences up to `size`, starting again with those that lie within `overlap` of the end
    markdown     a chunk never crosses a header and carries its header path; long sections become windows that
                 end at a paragraph, line, sentence or word, in that order of preference
    joined       whole paragraphs, or whole segments, up to `size` words and `max_chars` characters; the next
                 chunk begins with the last `overlap` words; paragraphs of more than `max_unit_tokens` words
                 are joined by sentences

A document's segments (pages, slides, rows) are never crossed but by `joined`, and blank ones give nothing. Front
matter that a document knows of (`body`) is in no chunk; its title leads the header paths.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from dataclasses import dataclass
from typing import Any, cast

from ragfile import text as texts
from ragfile.ingest.chunk_paths import below, name_in_words, title_of
from ragfile.ingest.piece_joiner import MAX_CHARS, MAX_UNIT_TOKENS, WORD
from ragfile.ingest.piece_joiner import joined as joined_pieces
from ragfile.ingest.sections import NOT_BLANK, joined, sections
from ragfile.ingest.titles import PATH, front_title, path_of
from ragfile.ingest.windows import GAP, always, blocks, windows
from ragfile.records import Chunk, Segment
from ragfile.types import ChunkKind, Fields

# 2 gives more chunks a path than 1 did and cuts alike. 3 joins small sections, keeps fences and
# tables whole, and takes the sections of source code as its loader gives them.
VERSION = 3
SMALL = 50  # below this a window hardly holds a sentence: allowed, with a warning
_DEFAULTS = {
    "characters": (1000, 200),
    "words": (200, 40),
    "sentences": (1000, 200),
    "markdown": (1000, 200),
    "joined": (200, 40),
}
_WORDS_COUNT = ("words", "joined")
# Names that other programs have for the parts of a joined policy.
_NAMES = {"target_tokens": "size", "overlap_tokens": "overlap"}


@dataclass(frozen=True, slots=True)
class Policy:
    """How to cut. Sizes left out are the policy's own defaults; the last two are parts of `joined` alone."""

    kind: ChunkKind = "markdown"
    size: int | None = None
    overlap: int | None = None
    version: int = VERSION
    max_chars: int | None = None
    max_unit_tokens: int | None = None

    def __post_init__(self):
        if self.kind not in _DEFAULTS:
            raise ValueError(
                f"unknown chunk policy {self.kind!r}: use one of {', '.join(sorted(_DEFAULTS))}"
            )
        if type(self.version) is not int or not 1 <= self.version <= VERSION:
            raise ValueError(
                f"chunk version {self.version!r} is not known; {VERSION} is the newest"
            )
        size, overlap = _DEFAULTS[self.kind]
        if self.size is not None:
            size, overlap = self.size, min(overlap, self.size // 5)
        if self.overlap is not None:
            overlap = self.overlap
        if size < 1:
            raise ValueError(f"chunk size must be at least 1, not {size}")
        if not 0 <= overlap < size:
            raise ValueError(
                f"chunk overlap must be at least 0 and less than the size {size}, not {overlap}"
            )
        if self.kind not in _WORDS_COUNT and size < SMALL:
            warnings.warn(f"chunks of {size} characters hardly hold a sentence", stacklevel=3)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "overlap", overlap)
        self._bound("max_chars", MAX_CHARS)
        self._bound("max_unit_tokens", MAX_UNIT_TOKENS)

    def _bound(self, name, usual):
        """Sets a limit that only `joined` has."""
        value = getattr(self, name)
        if self.kind != "joined":
            if value is not None:
                raise ValueError(f"{name} is a part of the policy 'joined', not of {self.kind!r}")
            return
        if value is not None and (type(value) is not int or value < 1):
            raise ValueError(f"{name} must be at least 1, not {value!r}")
        object.__setattr__(self, name, usual if value is None else value)

    @classmethod
    def of(cls, value: Policy | str | Fields | None) -> Policy:
        """A Policy from None (the default), a Policy, a mapping, or a text: "words",
        "words:200/40". A mapping with `target_tokens` is one of `joined`.
        """
        if value is None or isinstance(value, Policy):
            return value or cls()
        if isinstance(value, str):
            return cls._parse(value)
        if value.keys() & _NAMES.keys():
            value = {"kind": "joined", **{_NAMES.get(name, name): value[name] for name in value}}
        return cls(**value)

    @classmethod
    def _parse(cls, words):
        m = re.fullmatch(r"([a-z]+)(?::([0-9]{1,9})(?:/([0-9]{1,9}))?)?", words)
        if not m:
            raise ValueError(
                f"a chunk policy reads like 'markdown' or 'words:200/40', not {words!r}"
            )
        size, overlap = (int(n) if n else None for n in m.group(2, 3))
        return cls(cast("ChunkKind", m[1]), size, overlap)

    def record(self) -> dict[str, Any]:
        """What a file keeps: everything that decides where its chunks begin and end."""
        said = {
            "kind": self.kind,
            "size": self.size,
            "overlap": self.overlap,
            "version": self.version,
            "normalization": texts.VERSION,
        }
        if self.kind == "joined":
            said |= {"max_chars": self.max_chars, "max_unit_tokens": self.max_unit_tokens}
        return said

    def digest(self):
        """16 hex digits that change whenever the chunks of a text could change."""
        canonical = json.dumps(self.record(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def split(document, policy=None):
    """The chunks of one document, numbered from 0.

    Metadata is the segment's and the header path, not the document's.
    """
    policy = Policy.of(policy)
    text, tags, chunks = document.text, tuple(document.tags), []
    for segment, start, end, path in _spans(document, policy):
        metadata = {**segment.metadata, "headers": path} if path else dict(segment.metadata)
        chunks.append(Chunk(document.id, len(chunks), text[start:end], tags, metadata, start, end))
    return chunks


def _spans(document, policy):
    """(segment, start, end, path) of each chunk."""
    text, body = document.text, min(document.body, len(document.text))
    title = front_title(text, 0, body) if policy.kind == "markdown" else ""
    if policy.kind == "joined":
        path = _within(document, title, policy.version)("")
        yield from ((each, each.start, each.end, path) for each in joined_pieces(document, policy))
        return
    cut, within, last, path = _cutter(policy), _within(document, title, policy.version), None, ""
    for segment in document.segments or (Segment(body, len(text)),):
        span, symbol = (segment.start, segment.end), _symbol(segment, policy.version)
        if symbol is not None:
            path = _named(document, title, symbol)
            for start, end in _pieces(text, span, policy):
                yield segment, start, end, path
            continue
        for start, end, headers in cut(text, *span, policy.size, policy.overlap):
            if headers is not last:  # the windows of a section share one path
                last, path = headers, within(headers)
            yield segment, start, end, path


def _cutter(policy):
    joins = policy.kind == "markdown" and policy.version >= 3
    return _joined_markdown if joins else _CUTTERS[policy.kind]


def _symbol(segment, version):
    """What a segment of source code defines, None for one of another kind."""
    symbol = segment.metadata.get("symbol") if version >= 3 else None
    return symbol[:PATH] if isinstance(symbol, str) else None


def _pieces(text, span, policy):
    """The spans of a segment whose path is known, which is not searched for headers."""
    (start, end), how = span, (policy.size, policy.overlap)
    if policy.kind == "markdown":
        return windows(text, start, end, *how)
    return (found[:2] for found in _CUTTERS[policy.kind](text, start, end, *how))


def _within(document, title, version):
    """What makes a header path the path of a chunk."""
    if version == 1:
        return lambda headers: " > ".join(part for part in (title, headers) if part)
    title = title or title_of(document)
    name = "" if title else name_in_words(document)
    return lambda headers: below(title, headers) or name


def _named(document, title, symbol):
    """The path of source code: what the file is called, then what is defined there."""
    return below(title or title_of(document) or name_in_words(document), symbol)


def _characters(text, start, end, size, overlap):
    if not NOT_BLANK.search(text, start, end):
        return
    step = size - overlap
    while True:
        stop = min(start + size, end)
        yield start, stop, ""
        if stop == end:
            return
        start += step


def _words(text, start, end, size, overlap):
    # Atomic and possessive throughout: a word is never given back in part, so matching is linear.
    window = always(f"{WORD}(?:[ \\t\\n]*+{WORD}){{0,{size - 1}}}+")
    stride = always(f"(?:{WORD}[ \\t\\n]*+){{1,{size - overlap}}}+")
    start = GAP.match(text, start, end).end()
    while start < end:
        stop = window.match(text, start, end).end()
        yield start, stop, ""
        if GAP.match(text, stop, end).end() == end:
            return
        start = stride.match(text, start, end).end()


def _sentences(text, start, end, size, overlap):
    spans = [(start + a, start + b) for a, b in texts.sentences(text[start:end])]
    first = 0
    while first < len(spans):
        begin = spans[first][0]
        last = first
        while last + 1 < len(spans) and spans[last + 1][1] - begin <= size:
            last += 1
        yield from ((a, b, "") for a, b in windows(text, begin, spans[last][1], size, overlap))
        if last + 1 == len(spans):
            return
        first = _overlapping(spans, first, last, overlap, size)


def _overlapping(spans, first, last, overlap, size):
    """The sentence to go on with: as early as `overlap` allows while the one after `last` still
    fits.
    """
    stop, following = spans[last][1], spans[last + 1][1]
    again = last + 1
    while (
        again - 1 > first
        and stop - spans[again - 1][0] <= overlap
        and following - spans[again - 1][0] <= size
    ):
        again -= 1
    return again


def _markdown(text, start, end, size, overlap):
    for section in sections(text, start, end):
        path = path_of(section.titles)
        for a, b in windows(text, section.start, section.end, size, overlap):
            yield a, b, path


def _joined_markdown(text, start, end, size, overlap):
    for section in joined(text, start, end, size):
        path, (a, b) = path_of(section.titles), section[:2]
        whole = blocks(text, a, b, size) if b - a > size else ()
        for first, last in windows(text, a, b, size, overlap, whole):
            yield first, last, path


_CUTTERS = {
    "characters": _characters,
    "words": _words,
    "sentences": _sentences,
    "markdown": _markdown,
}
