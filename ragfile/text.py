"""The one normalisation of text, and two ways of cutting text that several steps share: sentences
and words.

Everything here is fixed by this file and VERSION, never by a locale or the running Python's Unicode
tables: classes of characters are written out, and composition (NFC) uses the Unicode 3.2 data that
every CPython has.

    normalize(raw) -> Normalized      .text, and .raw_span(start, end) back into raw; .restore() == raw
    restored(text, edits) -> raw      the same from what a file keeps of the way back: normalize(raw).edits()

Layers, each a list of edits (most texts need none of them, and then nothing is copied):
    characters   line ends become LF, other spaces U+0020; controls, zero-width marks and soft hyphens go;
                 tabs, ZWJ and ZWNJ stay (they carry meaning in code, emoji, Persian and Indic scripts)
    composition  NFC
    line ends    blanks before one go
    gaps         more than two empty lines become two
"""

import itertools
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cache

VERSION = 1
LAYERS = 8
RUN = 64  # marks
MANY = 32  # groups of edits whose characters are counted together
ORIGINAL_LIMIT = 1 << 28  # the longest raw text that edits can give back, in characters

_UNICODE = unicodedata.ucd_3_2_0
_CHARACTERS = re.compile(
    "(\r\n|[\r\v\f\x85\u2028\u2029])"
    "|([\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\u2060\ufeff]+)"
    "|([\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]+)"
    "|([\ud800-\udfff]+)"
)
# The same characters as one class, which `re` finds an order of magnitude faster than the
# alternatives.
_CHANGING = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\xa0\xad\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ud800-\udfff\ufeff]"
)
_GAP = re.compile("\n{4,}")


class Edits:
    """One layer: where its output differs from its input."""

    __slots__ = ("at", "raw", "raw_at", "size")

    def __init__(self):
        self.at, self.size = [], []  # place and length in the output
        self.raw_at, self.raw = [], []  # place and text in the input

    def add(self, at, size, raw_at, raw):
        self.at.append(at)
        self.size.append(size)
        self.raw_at.append(raw_at)
        self.raw.append(raw)

    def __len__(self):
        return len(self.at)

    def bounds(self, i):
        """The input span that output character i came from."""
        k = bisect_right(self.at, i) - 1
        if k < 0:
            return i, i + 1
        inside, size, raw_at, raw_size = (
            i - self.at[k],
            self.size[k],
            self.raw_at[k],
            len(self.raw[k]),
        )
        if inside >= size:
            start = raw_at + raw_size + inside - size
            return start, start + 1
        if size == raw_size:
            return raw_at + inside, raw_at + inside + 1
        return raw_at, raw_at + raw_size

    def undo(self, text):
        pieces, last = [], 0
        for at, size, raw in zip(self.at, self.size, self.raw, strict=True):
            pieces += (text[last:at], raw)
            last = at + size
        return "".join(pieces) + text[last:]


@dataclass(slots=True)
class Normalized:
    text: str
    layers: tuple = ()

    def raw_span(self, start, end):
        """Where text[start:end] stands in the raw text: from its first character's to its last
        one's.
        """
        if start >= end:
            place = self._bounds(start)[0] if start < len(self.text) else self._end()
            return place, place
        return self._bounds(start)[0], self._bounds(end - 1)[1]

    def restore(self):
        """The raw text, character for character."""
        text = self.text
        for layer in reversed(self.layers):
            text = layer.undo(text)
        return text

    def edits(self):
        """What a file keeps of the layers, last one first: nothing for a text that was as it is.
        JSON, see restored().
        """
        text, kept = self.text, []
        for layer in reversed(self.layers):
            kept.append(_grouped(layer, text))
            text = layer.undo(text)
        return kept if len(text) <= ORIGINAL_LIMIT else []

    def _bounds(self, i):
        start, end = i, i + 1
        for layer in reversed(self.layers):
            start, end = layer.bounds(start)[0], layer.bounds(end - 1)[1]
        return start, end

    def _end(self):
        return self._bounds(len(self.text) - 1)[1] if self.text else 0


def _grouped(layer, text):
    """The edits of a layer as [raw, new, places…] for each pair of texts: the first place in its
    output, then distances. Where a pair is every occurrence of a single character, the places are
    left out.
    """
    groups = {}
    for at, size, raw in zip(layer.at, layer.size, layer.raw, strict=True):
        groups.setdefault((raw, text[at : at + size]), []).append(at)
    kept = []
    for (raw, new), places in groups.items():
        is_all = len(new) == 1 and text.count(new) == len(places)
        distances = (b - a for a, b in itertools.pairwise([0, *places]))
        kept.append([raw, new] if is_all else [raw, new, *distances])
    return kept


def restored(text, edits):
    """The raw text of a normalised one, from Normalized.edits(). ValueError for edits that are not
    such, of this text.
    """
    if len(edits) > LAYERS:
        raise ValueError(f"more than {LAYERS} layers of edits")
    for layer in edits:
        text = _undone(text, layer)
    return text


def _undone(text, layer):
    """One layer taken back, in memory that is in proportion to the texts and to what is said: what
    stands for every occurrence of a character is replaced as such.
    """
    if not isinstance(layer, list) or not all(map(_is_group, layer)):
        raise ValueError("an edit is a raw text, what it became, and where")
    whole, places, size = _read_layer(text, layer)
    if size > ORIGINAL_LIMIT:
        raise ValueError(f"the original is over the limit of {ORIGINAL_LIMIT} characters")
    table = str.maketrans(whole)
    pieces, last = [], 0
    for at, size, raw, new in places:
        if at < last or text[at : at + size] != new or not whole.keys().isdisjoint(new):
            raise ValueError(f"no edit can have been made at {at}")
        pieces += (_replaced(text[last:at], whole, table), raw)
        last = at + size
    return "".join(pieces) + _replaced(text[last:], whole, table)


def _read_layer(text, layer):
    """({character: its raw text everywhere}, [(place, size, raw, new)] of the other edits in order,
    the size of the original).
    """
    whole, places, size, count = {}, [], len(text), 0
    counted = Counter(text).__getitem__ if len(layer) > MANY else text.count
    for raw, new, *distances in layer:
        found = _places(text, distances) if distances else ()
        if distances:
            places += [(at, len(new), raw, new) for at in found]
        elif counted(new) and new in whole:
            raise ValueError(f"two edits made {new!r} what it is")
        else:
            whole[new] = raw
        made = len(found) if distances else counted(new)
        size += made * (len(raw) - len(new))
        count += made
        if count > 2 * len(text) + 1:
            raise ValueError("more edits than there is text")
    places.sort(key=lambda place: place[:2])
    return whole, places, size


def _replaced(text, whole, table):
    if len(whole) == 1:
        return text.replace(*next(iter(whole.items())))
    return text.translate(table) if whole else text


def _is_group(group):
    return (
        isinstance(group, list)
        and len(group) >= 2
        and all(isinstance(part, str) for part in group[:2])
        and (len(group) > 2 or len(group[1]) == 1)
        and all(type(step) is int and step >= 0 for step in group[2:])
    )


def _places(text, distances):
    """Where a group's edits lie, in order and within the text."""
    places = list(itertools.accumulate(distances))
    if places[-1] > len(text):
        raise ValueError("an edit lies after the end of the text")
    return places


def normalize(raw):
    """The text that is chunked, stored and searched, with the way back to what was read."""
    text, layers = raw, []
    for step in (_characters, _composition, _line_ends, _gaps):
        text, edits = step(text)
        if edits:
            layers.append(edits)
    return Normalized(text, tuple(layers))


def _edit(text, pieces):
    """`pieces` are (start, end, new) in order: the edited text and its Edits."""
    edits, out, last, size = Edits(), [], 0, 0
    for start, end, new in pieces:
        out += (text[last:start], new)
        size += start - last
        edits.add(size, len(new), start, text[start:end])
        size += len(new)
        last = end
    if not edits:
        return text, edits
    out.append(text[last:])
    return "".join(out), edits


def _characters(text):
    if not _CHANGING.search(text):
        return text, ()
    news = ("", "\n", "", " ", "\ufffd")
    return _edit(
        text,
        (
            (m.start(), m.end(), news[kind] * (len(m[0]) if kind > 2 else 1))
            for m in _CHARACTERS.finditer(text)
            if (kind := m.lastindex)
        ),
    )


def _composition(text):
    if text.isascii():
        return text, ()
    has_long_run = _has_long_run(text)
    if not has_long_run and _UNICODE.is_normalized("NFC", text):
        return text, ()
    return _edit(text, _compositions(text, has_long_run))


def _compositions(text, has_long_run):
    # A line end neither composes nor is reordered, so lines are independent and most need no closer
    # look.
    at = 0
    for line in text.split("\n"):
        is_long = has_long_run and _has_long_run(line)
        if is_long or not _UNICODE.is_normalized("NFC", line):
            for m in _clusters().finditer(line):
                new = _UNICODE.normalize("NFC", _in_order(m[0]) if is_long else m[0])
                if new != m[0]:
                    yield at + m.start(), at + m.end(), new
        at += len(line) + 1


def _in_order(cluster):
    """A cluster decomposed, its marks in canonical order: NFC sorts them itself, in time that grows
    with the square of a run.
    """
    parts = (part for c in cluster for part in _UNICODE.normalize("NFD", c))
    runs = itertools.groupby(parts, key=lambda part: _UNICODE.combining(part) > 0)
    return "".join(
        c
        for is_marks, run in runs
        for c in (sorted(run, key=_UNICODE.combining) if is_marks else run)
    )


@cache
def _marks():
    """As part of a class: marks, and the three Tibetan vowels that are none but begin with one when
    they are decomposed.
    """
    return (
        "".join(chr(c) for c in range(0x300, 0x1D1AE) if _UNICODE.combining(chr(c)))
        + "\u0f73\u0f75\u0f81"
    )


@cache
def _clusters():
    """A character with all that may join it: marks, and vowels and finals that compose
    backwards.
    """
    joining = (
        "ᅡ-ᅵᆨ-ᇂ\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u102e"
        + _marks()
    )
    return re.compile(f"[^\\x00-\\x7f][{joining}]*+|[\\x00-\\x7f][{joining}]++")


def _has_long_run(text):
    """Whether there are more marks in a row than any language has; few texts have one at every
    RUN-th place, and are read.
    """
    mark, run = _runs()
    return mark.search(text[::RUN]) is not None and run.search(text) is not None


@cache
def _runs():
    return re.compile(f"[{_marks()}]"), re.compile(f"[{_marks()}]{{{RUN}}}")


def _line_ends(text):
    if " \n" in text or "\t\n" in text or text[-1:] in (" ", "\t"):
        return _edit(text, _trailing_blanks(text))
    return text, ()


def _trailing_blanks(text):
    at = 0
    for line in text.split("\n"):
        end = at + len(line)
        if line and line[-1] in " \t":
            yield at + len(line.rstrip(" \t")), end, ""
        at = end + 1


def _gaps(text):
    if "\n\n\n\n" not in text:
        return text, ()
    return _edit(text, ((m.start(), m.end(), "\n\n\n") for m in _GAP.finditer(text)))


# A sentence ends at a mark followed by a blank (CJK marks need none), at an empty line, and before
# a line that starts a list item, heading, quotation or table row. Each alternative starts with one
# of a few characters, which lets `re` skip the others; the last one steps over marks inside a word,
# all at once.
_STOP = re.compile(
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


def sentences(text):
    """The spans of the sentences of a text, in order, without the blanks around them."""
    spans, start = [], 0
    for m in _STOP.finditer(text):
        if m.lastgroup == "sure" or (m.lastgroup == "mark" and _ends_sentence(text, m)):
            _add_trimmed(spans, text, start, m.end())
            start = m.end()
    _add_trimmed(spans, text, start, len(text))
    return spans


def _ends_sentence(text, m):
    if m[1] != ".":
        return not _LOWER.match(text, m.end())
    return not (
        _LOWER.match(text, m.end()) or _ABBREVIATION.search(text, max(0, m.start() - 12), m.end())
    )


def _add_trimmed(spans, text, start, end):
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
_WORD = re.compile(f"[{UNSPACED}]|[^{_MARKS}{UNSPACED}]+")


def words(text):
    """The words of a text in lower case: what the built-in re-ranker and the extraction of spans
    compare.
    """
    return _WORD.findall(text.lower())
