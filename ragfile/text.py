"""Normalise text, and split it into sentences and words.

The result depends on this file and VERSION alone, never on a locale or on the Unicode tables of the
running Python: character classes are written out, and composition (NFC) uses the Unicode 3.2 data
that every CPython has.

    normalize(raw) -> Normalized      .text, and .raw_span(start, end) back into raw; .restore() == raw
    restored(text, edits) -> raw      the same from the stored edits: normalize(raw).edits()

Normalisation runs in layers. Each layer is a list of edits; most texts need none and are not copied:
    characters   line ends become LF, other spaces U+0020; controls, zero-width marks and soft hyphens
                 are removed; tabs, ZWJ and ZWNJ stay (they carry meaning in code, emoji, Persian and
                 Indic scripts)
    composition  NFC
    line ends    trailing blanks are removed
    gaps         more than two empty lines become two
"""

import itertools
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, TypeGuard

EditGroup: TypeAlias = list[Any]  # [raw, new, *distances], as JSON
EditLayer: TypeAlias = list[EditGroup]

VERSION = 1
LAYERS = 8
RUN = 64  # marks
MANY = 32  # groups of edits whose characters are counted together
ORIGINAL_LIMIT = 1 << 28  # the longest raw text that edits can give back, in characters

Change: TypeAlias = tuple[int, int, str]  # start and end in the input, and the new text

_UNICODE = unicodedata.ucd_3_2_0
# The same characters as one class: `re` searches it ten times faster than the alternatives.
_CHANGING = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\xa0\xad\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ud800-\udfff\ufeff]"
)
_GAP = re.compile("\n{4,}")


class Edits:
    """The differences between the input and the output of one layer."""

    __slots__ = ("at", "raw", "raw_at", "size")

    def __init__(self) -> None:
        self.at: list[int] = []  # offset and length in the output
        self.size: list[int] = []
        self.raw_at: list[int] = []  # offset and text in the input
        self.raw: list[str] = []

    def add(self, at: int, size: int, raw_at: int, raw: str) -> None:
        """Append an edit; edits come in the order of the text."""
        self.at.append(at)
        self.size.append(size)
        self.raw_at.append(raw_at)
        self.raw.append(raw)

    def __len__(self) -> int:
        return len(self.at)

    def bounds(self, i: int) -> tuple[int, int]:
        """Return the span of the input that output character i came from."""
        k = bisect_right(self.at, i) - 1
        if k < 0:
            return i, i + 1
        inside, size = i - self.at[k], self.size[k]
        raw_at, raw_size = self.raw_at[k], len(self.raw[k])
        if inside >= size:
            start = raw_at + raw_size + inside - size
            return start, start + 1
        if size == raw_size:
            return raw_at + inside, raw_at + inside + 1
        return raw_at, raw_at + raw_size

    def undo(self, text: str) -> str:
        """Return the input of this layer, given its output."""
        pieces: list[str] = []
        last = 0
        for at, size, raw in zip(self.at, self.size, self.raw, strict=True):
            pieces += (text[last:at], raw)
            last = at + size
        return "".join(pieces) + text[last:]


@dataclass(slots=True)
class Normalized:
    """A normalised text, and the edits that lead back to the raw one."""

    text: str
    layers: tuple[Edits, ...] = ()

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the raw text that text[start:end] came from."""
        if start >= end:
            at = self._bounds(start)[0] if start < len(self.text) else self._end()
            return at, at
        return self._bounds(start)[0], self._bounds(end - 1)[1]

    def restore(self) -> str:
        """Return the raw text, character for character."""
        text = self.text
        for layer in reversed(self.layers):
            text = layer.undo(text)
        return text

    def edits(self) -> list[EditLayer]:
        """Return the layers as JSON for storage, last layer first; see restored().

        The list is empty for a text that normalisation left unchanged, and for one over
        ORIGINAL_LIMIT.
        """
        text = self.text
        kept: list[EditLayer] = []
        for layer in reversed(self.layers):
            kept.append(_grouped(layer, text))
            text = layer.undo(text)
        return kept if len(text) <= ORIGINAL_LIMIT else []

    def _bounds(self, i: int) -> tuple[int, int]:
        start, end = i, i + 1
        for layer in reversed(self.layers):
            start, end = layer.bounds(start)[0], layer.bounds(end - 1)[1]
        return start, end

    def _end(self) -> int:
        return self._bounds(len(self.text) - 1)[1] if self.text else 0


def _grouped(layer: Edits, text: str) -> EditLayer:
    """Group the edits of a layer as [raw, new, *distances], one list for each pair of texts.

    The first distance is from the beginning of the output. A pair that covers every occurrence of a
    single character has no distances.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for at, size, raw in zip(layer.at, layer.size, layer.raw, strict=True):
        groups.setdefault((raw, text[at : at + size]), []).append(at)
    kept: EditLayer = []
    for (raw, new), offsets in groups.items():
        is_all = len(new) == 1 and text.count(new) == len(offsets)
        distances = (b - a for a, b in itertools.pairwise([0, *offsets]))
        kept.append([raw, new] if is_all else [raw, new, *distances])
    return kept


def restored(text: str, edits: Sequence[Any]) -> str:
    """Return the raw text of a normalised one, given Normalized.edits().

    Raises:
        ValueError: The edits are malformed, or cannot have produced this text.
    """
    if len(edits) > LAYERS:
        raise ValueError(f"more than {LAYERS} layers of edits")
    for layer in edits:
        text = _undone(text, layer)
    return text


class _PlacedEdit(NamedTuple):
    """An edit at one offset of a layer's output."""

    at: int
    size: int
    raw: str
    new: str


class _LayerContents(NamedTuple):
    """A stored layer: replaced characters, edits at offsets in order, and the size of the input."""

    everywhere: dict[str, str]
    placed: list[_PlacedEdit]
    raw_size: int


def _undone(text: str, layer: object) -> str:
    """Undo one layer, in memory proportional to the texts and the stored edits.

    Pairs without offsets replace every occurrence of a character.
    """
    if not _is_list(layer) or not all(map(_is_group, layer)):
        raise ValueError("an edit is a raw text, its normalised form, and distances")
    everywhere, placed, raw_size = _read_layer(text, layer)
    if raw_size > ORIGINAL_LIMIT:
        raise ValueError(f"the original is over the limit of {ORIGINAL_LIMIT} characters")
    table = str.maketrans(everywhere)
    pieces: list[str] = []
    last = 0
    for at, size, raw, new in placed:
        if at < last or text[at : at + size] != new or not everywhere.keys().isdisjoint(new):
            raise ValueError(f"no edit can have been made at {at}")
        pieces += (_replaced(text[last:at], everywhere, table), raw)
        last = at + size
    return "".join(pieces) + _replaced(text[last:], everywhere, table)


def _read_layer(text: str, layer: EditLayer) -> _LayerContents:
    """Read a layer; refuse one that claims more edits than the text can have."""
    everywhere: dict[str, str] = {}
    placed: list[_PlacedEdit] = []
    size, count = len(text), 0
    counted = Counter(text).__getitem__ if len(layer) > MANY else text.count
    for raw, new, *distances in layer:
        offsets = _offsets(text, distances) if distances else ()
        if distances:
            placed += [_PlacedEdit(at, len(new), raw, new) for at in offsets]
        elif counted(new) and new in everywhere:
            raise ValueError(f"two edits produce every {new!r} of the text")
        else:
            everywhere[new] = raw
        made = len(offsets) if distances else counted(new)
        size += made * (len(raw) - len(new))
        count += made
        if count > 2 * len(text) + 1:
            raise ValueError("more edits than there is text")
    placed.sort(key=attrgetter("at", "size"))
    return _LayerContents(everywhere, placed, size)


def _replaced(text: str, everywhere: dict[str, str], table: dict[int, str]) -> str:
    if len(everywhere) == 1:
        return text.replace(*next(iter(everywhere.items())))
    return text.translate(table) if everywhere else text


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _is_group(group: object) -> bool:
    return (
        _is_list(group)
        and len(group) >= 2
        and all(isinstance(part, str) for part in group[:2])
        and (len(group) > 2 or len(group[1]) == 1)
        and all(type(step) is int and step >= 0 for step in group[2:])
    )


def _offsets(text: str, distances: list[int]) -> list[int]:
    """Return the offsets of a group's edits, in order; refuse one past the end of the text."""
    offsets = list(itertools.accumulate(distances))
    if offsets[-1] > len(text):
        raise ValueError("an edit is past the end of the text")
    return offsets


def normalize(raw: str) -> Normalized:
    """Return the text that is chunked, stored and searched, with the way back to the raw one."""
    text = raw
    layers: list[Edits] = []
    for step in (_characters, _composition, _line_ends, _gaps):
        text, edits = step(text)
        if edits:
            layers.append(edits)
    return Normalized(text, tuple(layers))


def _edit(text: str, changes: Iterable[Change]) -> tuple[str, Edits]:
    """Apply changes, which come in order, and record them."""
    edits, last, size = Edits(), 0, 0
    out: list[str] = []
    for start, end, new in changes:
        out += (text[last:start], new)
        size += start - last
        edits.add(size, len(new), start, text[start:end])
        size += len(new)
        last = end
    if not edits:
        return text, edits
    out.append(text[last:])
    return "".join(out), edits


@cache
def _kinds() -> re.Pattern[str]:
    """Match characters that change, in a group for each kind."""
    return re.compile(
        "(\r\n|[\r\v\f\x85\u2028\u2029])"
        "|([\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\u2060\ufeff]+)"
        "|([\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]+)"
        "|([\ud800-\udfff]+)"
    )


def _characters(text: str) -> tuple[str, Edits | None]:
    if not _CHANGING.search(text):
        return text, None
    news = ("", "\n", "", " ", "\ufffd")
    return _edit(
        text,
        (
            (m.start(), m.end(), news[kind] * (len(m[0]) if kind > 2 else 1))
            for m in _kinds().finditer(text)
            if (kind := m.lastindex)
        ),
    )


def _composition(text: str) -> tuple[str, Edits | None]:
    if text.isascii():
        return text, None
    has_long_run = _has_long_run(text)
    if not has_long_run and _UNICODE.is_normalized("NFC", text):
        return text, None
    return _edit(text, _compositions(text, has_long_run))


def _compositions(text: str, has_long_run: bool) -> Iterator[Change]:
    # A line end neither composes nor is reordered, so lines are independent and most are skipped.
    at = 0
    for line in text.split("\n"):
        is_long = has_long_run and _has_long_run(line)
        if is_long or not _UNICODE.is_normalized("NFC", line):
            for m in _clusters().finditer(line):
                new = _UNICODE.normalize("NFC", _in_order(m[0]) if is_long else m[0])
                if new != m[0]:
                    yield at + m.start(), at + m.end(), new
        at += len(line) + 1


def _in_order(cluster: str) -> str:
    """Decompose a cluster and sort its marks canonically.

    NFC would sort them in time quadratic in the length of a run.
    """
    parts = (part for c in cluster for part in _UNICODE.normalize("NFD", c))
    runs = itertools.groupby(parts, key=lambda part: _UNICODE.combining(part) > 0)
    return "".join(
        c
        for is_marks, run in runs
        for c in (sorted(run, key=_UNICODE.combining) if is_marks else run)
    )


@cache
def _marks() -> str:
    """Return marks as members of a character class, and three Tibetan vowels that decompose into
    marks.
    """
    return (
        "".join(chr(c) for c in range(0x300, 0x1D1AE) if _UNICODE.combining(chr(c)))
        + "\u0f73\u0f75\u0f81"
    )


@cache
def _clusters() -> re.Pattern[str]:
    """Match a character and everything that may join it: marks, and vowels that compose backwards."""
    joining = (
        "ᅡ-ᅵᆨ-ᇂ\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u102e"
        + _marks()
    )
    return re.compile(f"[^\\x00-\\x7f][{joining}]*+|[\\x00-\\x7f][{joining}]++")


def _has_long_run(text: str) -> bool:
    """Return whether more marks follow one another than any language has.

    Such a run has a mark at one of every RUN characters, so most texts are only sampled.
    """
    mark, run = _runs()
    return mark.search(text[::RUN]) is not None and run.search(text) is not None


@cache
def _runs() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(f"[{_marks()}]"), re.compile(f"[{_marks()}]{{{RUN}}}")


def _line_ends(text: str) -> tuple[str, Edits | None]:
    if " \n" in text or "\t\n" in text or text[-1:] in (" ", "\t"):
        return _edit(text, _trailing_blanks(text))
    return text, None


def _trailing_blanks(text: str) -> Iterator[Change]:
    at = 0
    for line in text.split("\n"):
        end = at + len(line)
        if line and line[-1] in " \t":
            yield at + len(line.rstrip(" \t")), end, ""
        at = end + 1


def _gaps(text: str) -> tuple[str, Edits | None]:
    if "\n\n\n\n" not in text:
        return text, None
    return _edit(text, ((m.start(), m.end(), "\n\n\n") for m in _GAP.finditer(text)))


@cache
def _stop() -> re.Pattern[str]:
    """Match the end of a sentence. It is compiled on first use: that takes as long as a search's other imports.

    A sentence ends at a mark followed by a blank (CJK marks need none), at an empty line, and before a
    line that starts a list item, heading, quotation or table row. Each alternative starts with one of a
    few characters, so that `re` skips the rest; the last one steps over marks inside a word at once.
    """
    return re.compile(
        "(?P<mark>[.!?…]++[\"'”’»)\\]]*+)(?=[ \t\n]|\\Z)"
        '|(?P<sure>[。！？｡]+["”’」』）]*|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+#>|]|[0-9]{1,9}[.)])[ \t#]))'
        "|[.!?…]++"
    )


_LOWER = re.compile("[ \t\n]+[a-zß-öø-ÿα-ωа-я]")
_ABBREVIATION = re.compile(
    r"(?:^|[ \t\n(\[])(?:[A-Za-z]|e\.g|i\.e|a\.m|p\.m|u\.s|u\.k|cf|vs|etc|al|approx|resp|nos?|vol|figs?|eq"
    r"|sec|ch|pp|eds?|inc|ltd|co|corp|dept|est|mrs?|ms|dr|prof|sr|jr|st"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.$",
    re.IGNORECASE | re.ASCII,
)
_BLANKS = " \t\n"


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences of a text, in order, without the blanks around them."""
    spans: list[tuple[int, int]] = []
    start = 0
    for m in _stop().finditer(text):
        if m.lastgroup == "sure" or (m.lastgroup == "mark" and _ends_sentence(text, m)):
            _add_trimmed(spans, text, start, m.end())
            start = m.end()
    _add_trimmed(spans, text, start, len(text))
    return spans


def _ends_sentence(text: str, m: re.Match[str]) -> bool:
    if m[1] != ".":
        return not _LOWER.match(text, m.end())
    return not (
        _LOWER.match(text, m.end()) or _ABBREVIATION.search(text, max(0, m.start() - 12), m.end())
    )


def _add_trimmed(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start] in _BLANKS:
        start += 1
    while start < end and text[end - 1] in _BLANKS:
        end -= 1
    if start < end:
        spans.append((start, end))


# Han, kana and Thai are written without spaces: each character counts as a word.
UNSPACED = "\u0e01-\u0e4e\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_MARKS = (
    "\x00-/:-@\\[-^`{-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf×÷\u2000-\u200b\u200e-\u206f"
    "\u2e00-\u2e7f\u3000-\u3040\uff01-\uff0f"
)


@cache
def _word() -> re.Pattern[str]:
    """Match a word; compiling this takes 2 ms."""
    return re.compile(f"[{UNSPACED}]|[^{_MARKS}{UNSPACED}]+")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, for the built-in re-ranker and passage extraction."""
    return _word().findall(text.lower())
