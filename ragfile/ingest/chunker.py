"""Cut documents into chunks: in text order, deterministically, and with exact spans.

    for chunk in split(document, Policy("markdown", 1000, 200)):
        assert document.text[chunk.start:chunk.end] == chunk.content

Sizes and overlaps count code points, except for `words` and `joined`, which count words:

    characters   windows of exactly `size`; neighbours share exactly `overlap`
    words        windows of `size` words that share `overlap` words; a Han, kana or Thai character is a
                 word
    sentences    whole sentences up to `size`; each chunk repeats the sentences in the last `overlap`
                 characters
    markdown     a chunk never crosses a header and carries its header path; long sections become
                 windows that end at a paragraph, line, sentence or word, in that order of preference
    joined       whole paragraphs, or whole segments, up to `size` words and `max_chars` characters; the
                 next chunk begins with the last `overlap` words; paragraphs of more than
                 `max_unit_tokens` words are joined by sentences

Only `joined` crosses a document's segments (pages, slides, rows). Blank segments give no chunk. The
front matter of a document (up to `body`) is in no chunk; its title starts the header paths.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from ragfile import text as texts
from ragfile.ground.call_site import stack_level
from ragfile.ingest.chunk_paths import below, name_in_words, title_of
from ragfile.ingest.markdown_sections import NOT_BLANK, joined, sections
from ragfile.ingest.markdown_titles import PATH, front_title, path_of
from ragfile.ingest.piece_joiner import MAX_CHARS, MAX_UNIT_TOKENS, WORD, JoinLimits
from ragfile.ingest.piece_joiner import joined as joined_pieces
from ragfile.ingest.text_windows import GAP, always, blocks, windows
from ragfile.records import Chunk, Document, Segment
from ragfile.types import ChunkKind, Fields

# 2 gives more chunks a path than 1, and cuts alike. 3 joins small sections, keeps fences and tables
# whole, and uses the sections of source code that its loader found.
VERSION = 3
SMALL = 50  # below this size a window hardly holds a sentence, which gives a warning
_DEFAULTS: dict[str, tuple[int, int]] = {
    "characters": (1000, 200),
    "words": (200, 40),
    "sentences": (1000, 200),
    "markdown": (1000, 200),
    "joined": (200, 40),
}
_WORDS_COUNT = ("words", "joined")
# Start, end and header path of each piece; called with text, start, end, size and overlap.
_Cuts: TypeAlias = Iterator[tuple[int, int, str]]
_Cutter: TypeAlias = Callable[[str, int, int, int, int], _Cuts]
# The names that other programs use for the fields of a joined policy.
_NAMES = {"target_tokens": "size", "overlap_tokens": "overlap"}


@dataclass(frozen=True, slots=True)
class Policy:
    """How documents are cut into chunks.

    Args:
        kind: "characters", "words", "sentences", "markdown" (the default) or "joined".
        size: The most that a chunk holds, in characters, or in words for "words" and "joined".
            Default: 1000 characters or 200 words.
        overlap: How much neighbouring chunks share, in the same unit. Default: 200 characters or 40
            words, at most a fifth of `size`.
        version: The version of the rules, for files that record an older one.
        max_chars: For "joined" alone: the most characters of a chunk. Default: 4000.
        max_unit_tokens: For "joined" alone: paragraphs with more words are cut into sentences first.
            Default: 240.

    Raises:
        ValueError: A field is out of range, or belongs to another kind.
    """

    kind: ChunkKind = "markdown"
    size: int | None = None
    overlap: int | None = None
    version: int = VERSION
    max_chars: int | None = None
    max_unit_tokens: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in _DEFAULTS:
            raise ValueError(
                f"unknown chunk policy {self.kind!r}: use one of {', '.join(sorted(_DEFAULTS))}"
            )
        if type(self.version) is not int or not 1 <= self.version <= VERSION:
            raise ValueError(f"unknown chunk version {self.version!r}: the newest is {VERSION}")
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
            warnings.warn(
                f"chunks of {size} characters hardly hold a sentence", stacklevel=stack_level()
            )
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "overlap", overlap)
        self._bound("max_chars", MAX_CHARS)
        self._bound("max_unit_tokens", MAX_UNIT_TOKENS)

    def _bound(self, name: str, default: int) -> None:
        """Check a field of `joined` and set its default; refuse it for other kinds."""
        value = getattr(self, name)
        if self.kind != "joined":
            if value is not None:
                raise ValueError(f"{name} belongs to the policy 'joined', not to {self.kind!r}")
            return
        if value is not None and (type(value) is not int or value < 1):
            raise ValueError(f"{name} must be at least 1, not {value!r}")
        object.__setattr__(self, name, default if value is None else value)

    @classmethod
    def of(cls, value: Policy | str | Fields | None) -> Policy:
        """Return a policy, given one in any spelling.

        Args:
            value: None for the default, a Policy, a string such as "words" or "words:200/40"
                (kind:size/overlap), or a mapping with the fields. A mapping with `target_tokens` or
                `overlap_tokens` is a "joined" policy.

        Raises:
            ValueError: The string or a field is not valid.
        """
        if value is None or isinstance(value, Policy):
            return value or cls()
        if isinstance(value, str):
            return cls._parse(value)
        if not isinstance(value, Mapping):
            raise TypeError(
                "chunking is a name such as 'markdown' or 'words:200/40', a Policy, or a dict of its "
                f"fields, not {value!r}"
            )
        if value.keys() & _NAMES.keys():
            value = {"kind": "joined", **{_NAMES.get(name, name): value[name] for name in value}}
        return cls(**value)

    @classmethod
    def _parse(cls, words: str) -> Policy:
        m = re.fullmatch(r"([a-z]+)(?::([0-9]{1,9})(?:/([0-9]{1,9}))?)?", words)
        if not m:
            raise ValueError(
                f"a chunk policy reads like 'markdown' or 'words:200/40', not {words!r}"
            )
        size, overlap = (int(n) if n else None for n in m.group(2, 3))
        return cls(cast("ChunkKind", m[1]), size, overlap)

    def record(self) -> dict[str, Any]:
        """Return everything that decides where chunks begin and end, as a file keeps it."""
        recorded: dict[str, Any] = {
            "kind": self.kind,
            "size": self.size,
            "overlap": self.overlap,
            "version": self.version,
            "normalization": texts.VERSION,
        }
        if self.kind == "joined":
            recorded |= {"max_chars": self.max_chars, "max_unit_tokens": self.max_unit_tokens}
        return recorded

    def digest(self) -> str:
        """Return 16 hex digits that change whenever the chunks of a text could change."""
        canonical = json.dumps(self.record(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def split(document: Document, policy: Policy | str | Fields | None = None) -> list[Chunk]:
    """Return the chunks of one document, numbered from 0.

    Their metadata is the segment's and the header path, without the document's.
    """
    policy = Policy.of(policy)
    text, tags = document.text, tuple(document.tags)
    chunks: list[Chunk] = []
    for segment, start, end, path in _spans(document, policy):
        metadata = {**segment.metadata, "headers": path} if path else dict(segment.metadata)
        chunks.append(Chunk(document.id, len(chunks), text[start:end], tags, metadata, start, end))
    return chunks


def _spans(document: Document, policy: Policy) -> Iterator[tuple[Segment, int, int, str]]:
    """Yield the segment, start, end and path of each chunk."""
    text, body = document.text, min(document.body, len(document.text))
    title = front_title(text, 0, body) if policy.kind == "markdown" else ""
    if policy.kind == "joined":
        path = _within(document, title, policy.version)("")
        joined_segments = joined_pieces(document, _join_limits(policy))
        yield from ((each, each.start, each.end, path) for each in joined_segments)
        return
    cut, within, last, path = _cutter(policy), _within(document, title, policy.version), None, ""
    size, overlap = _sizes(policy)
    for segment in document.segments or (Segment(body, len(text)),):
        span, symbol = (segment.start, segment.end), _symbol(segment, policy.version)
        if symbol is not None:
            path = _named(document, title, symbol)
            for start, end in _pieces(text, span, policy):
                yield segment, start, end, path
            continue
        for start, end, headers in cut(text, *span, size, overlap):
            if headers is not last:  # the windows of a section share one path
                last, path = headers, within(headers)
            yield segment, start, end, path


def _sizes(policy: Policy) -> tuple[int, int]:
    """Return size and overlap, which __post_init__ has set."""
    return policy.size or 0, policy.overlap or 0


def _join_limits(policy: Policy) -> JoinLimits:
    return JoinLimits(*_sizes(policy), policy.max_chars or 0, policy.max_unit_tokens or 0)


def _cutter(policy: Policy) -> _Cutter:
    joins = policy.kind == "markdown" and policy.version >= 3
    return _joined_markdown if joins else _CUTTERS[policy.kind]


def _symbol(segment: Segment, version: int) -> str | None:
    """Return the name of the definition in a segment of source code; None for other segments."""
    symbol = segment.metadata.get("symbol") if version >= 3 else None
    return symbol[:PATH] if isinstance(symbol, str) else None


def _pieces(text: str, span: tuple[int, int], policy: Policy) -> Iterator[tuple[int, int]]:
    """Yield the windows of a segment with a known path, without looking for headers in it."""
    if policy.kind == "markdown":
        return windows(text, *span, *_sizes(policy))
    cuts = _CUTTERS[policy.kind](text, *span, *_sizes(policy))
    return ((start, end) for start, end, _ in cuts)


def _within(document: Document, title: str, version: int) -> Callable[[str], str]:
    """Return a function that extends a header path to the path of a chunk."""
    if version == 1:
        return lambda headers: " > ".join(part for part in (title, headers) if part)
    title = title or title_of(document)
    name = "" if title else name_in_words(document)
    return lambda headers: below(title, headers) or name


def _named(document: Document, title: str, symbol: str) -> str:
    """Return the path of source code: the title or name of the file, then the definition."""
    return below(title or title_of(document) or name_in_words(document), symbol)


def _characters(text: str, start: int, end: int, size: int, overlap: int) -> _Cuts:
    if not NOT_BLANK.search(text, start, end):
        return
    step = size - overlap
    while True:
        stop = min(start + size, end)
        yield start, stop, ""
        if stop == end:
            return
        start += step


def _words(text: str, start: int, end: int, size: int, overlap: int) -> _Cuts:
    # Atomic and possessive throughout, so that matching never backtracks and is linear.
    window = always(f"{WORD}(?:[ \\t\\n]*+{WORD}){{0,{size - 1}}}+")
    stride = always(f"(?:{WORD}[ \\t\\n]*+){{1,{size - overlap}}}+")
    start = GAP.match(text, start, end).end()
    while start < end:
        stop = window.match(text, start, end).end()
        yield start, stop, ""
        if GAP.match(text, stop, end).end() == end:
            return
        start = stride.match(text, start, end).end()


def _sentences(text: str, start: int, end: int, size: int, overlap: int) -> _Cuts:
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


def _overlapping(
    spans: list[tuple[int, int]], first: int, last: int, overlap: int, size: int
) -> int:
    """Return the sentence that begins the next chunk.

    It is as early as `overlap` allows, as long as the sentence after `last` still fits.
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


def _markdown(text: str, start: int, end: int, size: int, overlap: int) -> _Cuts:
    for section in sections(text, start, end):
        path = path_of(section.titles)
        for a, b in windows(text, section.start, section.end, size, overlap):
            yield a, b, path


def _joined_markdown(text: str, start: int, end: int, size: int, overlap: int) -> _Cuts:
    for section in joined(text, start, end, size):
        path, a, b = path_of(section.titles), section.start, section.end
        whole = blocks(text, a, b, size) if b - a > size else ()
        for first, last in windows(text, a, b, size, overlap, whole):
            yield first, last, path


_CUTTERS: dict[str, _Cutter] = {
    "characters": _characters,
    "words": _words,
    "sentences": _sentences,
    "markdown": _markdown,
}
