"""Documents cut into chunks: in text order, without chance, locale or clock, and with exact spans.

    for chunk in split(document, Policy("markdown", 1000, 200)):
        assert document.text[chunk.start:chunk.end] == chunk.content

Four policies; sizes and overlaps count code points, except for `words`:

    characters   windows of exactly `size`; neighbours share exactly `overlap`
    words        windows of `size` words that share `overlap` words; Han, kana and Thai characters are words
    sentences    whole sentences up to `size`, starting again with those that lie within `overlap` of the end
    markdown     a chunk never crosses a header and carries its header path; long sections become windows that
                 end at a paragraph, line, sentence or word, in that order of preference

A document's segments (pages, slides, rows) are never crossed, and blank ones give nothing. Front
matter that a document knows of (`body`) is in no chunk; its title leads the header paths.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ragfile import text as texts
from ragfile.ingest.paths import below, name_in_words, title_of
from ragfile.ingest.titles import front_title, path_of, without_anchor, without_closing
from ragfile.records import Chunk, Segment

if TYPE_CHECKING:
    from typing import Any

    from ragfile.types import ChunkKind, Fields

VERSION = 2  # gives more chunks a path than 1 did; both cut alike
SMALL = 50  # below this a window hardly holds a sentence: allowed, with a warning
_DEFAULTS = {
    "characters": (1000, 200),
    "words": (200, 40),
    "sentences": (1000, 200),
    "markdown": (1000, 200),
}


@dataclass(frozen=True, slots=True)
class Policy:
    """How to cut. Sizes left out are the policy's own defaults."""

    kind: ChunkKind = "markdown"
    size: int | None = None
    overlap: int | None = None
    version: int = VERSION

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
        if self.kind != "words" and size < SMALL:
            warnings.warn(f"chunks of {size} characters hardly hold a sentence", stacklevel=3)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "overlap", overlap)

    @classmethod
    def of(cls, value: Policy | str | Fields | None) -> Policy:
        """A Policy from None (the default), a Policy, a mapping, or a text: "words",
        "words:200/40".
        """
        if value is None or isinstance(value, Policy):
            return value or cls()
        if isinstance(value, str):
            return cls._parse(value)
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
        return {
            "kind": self.kind,
            "size": self.size,
            "overlap": self.overlap,
            "version": self.version,
            "normalization": texts.VERSION,
        }

    def digest(self):
        """16 hex digits that change whenever the chunks of a text could change."""
        canonical = json.dumps(self.record(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def split(document, policy=None):
    """The chunks of one document, numbered from 0.

    Metadata is the segment's and the header path, not the document's.
    """
    policy = Policy.of(policy)
    cut, text, doc_id, tags = (
        _CUTTERS[policy.kind],
        document.text,
        document.id,
        tuple(document.tags),
    )
    chunks, body = [], min(document.body, len(document.text))
    title = front_title(text, 0, body) if policy.kind == "markdown" else ""
    within, section, headers = _within(document, title, policy.version), None, ""
    for segment in document.segments or (Segment(body, len(text)),):
        for start, end, path in cut(text, segment.start, segment.end, policy.size, policy.overlap):
            if path is not section:  # the windows of a section share one path
                section, headers = path, within(path)
            metadata = (
                {**segment.metadata, "headers": headers} if headers else dict(segment.metadata)
            )
            chunks.append(Chunk(doc_id, len(chunks), text[start:end], tags, metadata, start, end))
    return chunks


def _within(document, title, version):
    """What makes a header path the path of a chunk."""
    if version == 1:
        return lambda headers: " > ".join(part for part in (title, headers) if part)
    title = title or title_of(document)
    name = "" if title else name_in_words(document)
    return lambda headers: below(title, headers) or name


_NOT_BLANK = re.compile(r"[^ \t\n]")


def _characters(text, start, end, size, overlap):
    if not _NOT_BLANK.search(text, start, end):
        return
    step = size - overlap
    while True:
        stop = min(start + size, end)
        yield start, stop, ""
        if stop == end:
            return
        start += step


# Atomic and possessive throughout: a word is never given back in part, so matching is linear. A
# "word" without an end (base64, a minified line) counts once per 64 characters.
_WORD = f"(?:[^ \\t\\n{texts.UNSPACED}]{{1,64}}+|[{texts.UNSPACED}])"


def _always(pattern: str) -> Any:
    """A pattern that matches wherever it is asked for here."""
    return re.compile(pattern)


_GAP = _always(r"[ \t\n]*")


def _words(text, start, end, size, overlap):
    window = _always(f"{_WORD}(?:[ \\t\\n]*+{_WORD}){{0,{size - 1}}}+")
    stride = _always(f"(?:{_WORD}[ \\t\\n]*+){{1,{size - overlap}}}+")
    start = _GAP.match(text, start, end).end()
    while start < end:
        stop = window.match(text, start, end).end()
        yield start, stop, ""
        if _GAP.match(text, stop, end).end() == end:
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
        yield from ((a, b, "") for a, b in _windows(text, begin, spans[last][1], size, overlap))
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


_HEADER = re.compile(
    # a fence, an HTML comment, an ATX header, a setext header; front matter is looked for at the
    # start alone
    r"^ {0,3}(?:(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    r"|(?P<comment><!--)"
    r"|(?P<marks>\#{1,6})(?:[ \t]+(?P<title>[^\n]*))?$"
    r"|(?P<line>[^ \t\n\-*+>|\#<`~=:][^\n]*)\n[ ]{0,3}(?P<under>={2,}|-{2,})[ \t]*$)",
    re.MULTILINE,
)
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:(?!---[ \t]*$).*\n)*+---[ \t]*$", re.MULTILINE)


def headers(text, start=0, end=None):
    """The headers of a Markdown text as (start, body, level, title), but none in fences and
    comments.
    """
    end = len(text) if end is None else end
    front = _FRONT_MATTER.match(text, start, end)
    at, found = front.end() if front else start, []
    while m := _HEADER.search(text, at, end):
        if m["fence"]:
            at = _fence_end(text, m, end)
        elif m["comment"]:
            at = text.find("-->", m.end(), end)
            at = end if at < 0 else at + 3
        else:
            found.append((m.start(), m.end(), *_level_and_title(m)))
            at = m.end()
    return found


def _fence_end(text, m, end):
    fence = m["fence"]
    close = re.compile(rf"^ {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
    found = close.search(text, m.end(), end)
    return found.end() if found else end


def _level_and_title(m):
    if m["under"]:
        level, title = 1 if m["under"][0] == "=" else 2, m["line"]
    else:
        level, title = len(m["marks"]), without_closing(m["title"] or "")
    return level, without_anchor(title).strip(" \t")


def _markdown(text, start, end, size, overlap):
    for begin, stop, path in _sections(text, start, end):
        for a, b in _windows(text, begin, stop, size, overlap):
            yield a, b, path


def _sections(text, start, end):
    """(start, end, header path) of each section; one without a body is left to the headers below
    it.
    """
    found = headers(text, start, end)
    title = _front_title(text, start, end)
    path = [(0, title)] if title else []
    yield start, found[0][0] if found else end, title
    for i, (begin, body, level, name) in enumerate(found):
        stop, below = (found[i + 1][0], found[i + 1][2]) if i + 1 < len(found) else (end, 0)
        path = [(depth, title) for depth, title in path if depth < level]
        path.append((level, name))
        if below <= level or _NOT_BLANK.search(text, body, stop):
            yield begin, stop, path_of(name for _, name in path)


def _front_title(text, start, end):
    front = _FRONT_MATTER.match(text, start, end)
    return front_title(text, start, front.end()) if front else ""


def _windows(text, start, end, size, overlap):
    """Spans of at most `size` in text[start:end] that end where reading pauses, blanks left out
    around.
    """
    while end > start and text[end - 1] in " \t\n":
        end -= 1
    start = _GAP.match(text, start, end).end() if end > start else end
    shown = start
    while start < end:
        stop = end if end - start <= size else _cut(text, start, start + size)
        visible = _rstrip(text, start, stop)
        if visible > shown:  # else only blanks are new
            shown = visible
            yield start, visible
        if stop == end:
            return
        start = _restart(text, start, stop, overlap)


def _rstrip(text, start, stop):
    while stop > start + 1 and text[stop - 1] in " \t\n":
        stop -= 1
    return stop


def _cut(text, start, limit):
    """The best end in the second half of a window: after a paragraph, line, sentence, CJK stop or
    word.
    """
    middle = start + (limit - start + 1) // 2
    for mark in ("\n\n", "\n", ". ", "。", " "):
        at = text.rfind(mark, middle, limit)
        if at >= 0:
            return at + len(mark)
    return _whole_cluster(text, start, limit)


_JOINING = re.compile(
    "[\u0300-\u036f\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)


def _whole_cluster(text, start, limit):
    """Steps back, a little, from between a character and its marks or the parts of an emoji."""
    for at in range(limit, max(start + 1, limit - 16), -1):
        if not _JOINING.match(text, at) and text[at - 1] != "\u200d":
            return at
    return limit


def _restart(text, start, stop, overlap):
    """The start of the next window: of a line or word, up to `overlap` before the end of the last
    one.
    """
    earliest = max(stop - overlap, start + 1)
    if earliest >= stop:
        return _GAP.match(text, stop).end()
    for mark in ("\n", " "):
        at = text.find(mark, earliest - 1, stop - 1)
        if at >= 0:
            return _GAP.match(text, at).end()
    return _GAP.match(text, earliest).end()


_CUTTERS = {
    "characters": _characters,
    "words": _words,
    "sentences": _sentences,
    "markdown": _markdown,
}
