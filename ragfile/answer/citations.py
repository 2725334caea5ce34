"""Citations that are checked: [n] in an answer becomes a place in the file, or is reported; a
sentence is supported, or marked.

    numbered(hits)                 passages as a model sees them: 1, 2, 3, …
    Marks(sources).feed(piece)     what to show of a piece of an answer, and its citations
    judged(text, marks, sources)   the sentences of an answer that its passages do not support

Every span is one of the file. Of the model's answer only the number in the brackets is believed,
and only if there is such a passage.

A sentence is supported when at least SUPPORT of its distinct content words (stop words aside, by
their stems) stand in the passages that it cites, and every number in it does. A sentence that cites
nothing is held against all of the passages. Fewer than JUDGED content words and numbers make no
claim, and neither does a sentence that says what is not there. The measure sees words, not sense:
it finds what was made up, and not what was turned round.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ragfile.ingest.analysis import ENGLISH_1, stemmer
from ragfile.records import NUMBERED, Hit
from ragfile.text import sentences, words

SUPPORT, JUDGED = 0.6, 3
# Words that carry no claim, beside the stop words of the index.
_EMPTY_ENGLISH = (
    "about after all also any because been before both can could did do does each from had "
    "has have he her here his how i its just may me might more most must my only or other our "
    "out over she should so some than them through too up us very we were what when where "
    "which while who why would you your don doesn didn isn aren wasn t s re ve ll d m "
)
_EMPTY = frozenset(ENGLISH_1.split()) | frozenset(_EMPTY_ENGLISH.split())
# [1], [1, 2], [^1], [Source 1] and 【1†…】, as models write them, and the beginning of one at the end
# of a piece.
_MARK = re.compile(
    r"[\[【][ \t]*(?:\^|(?:source|passage)s?[ \t]+)?(\d{1,4}(?:[ \t]*[,;][ \t]*\d{1,4})*)[ \t]*"
    r"(?:†[^\]】\n]{0,80})?[\]】]",
    re.IGNORECASE,
)
_BEGUN = re.compile(r"[ \t]*(?:[\[【][^\]】\n]{0,90})?\Z")
# A sentence that says what is not there claims nothing.
_DECLINED = re.compile(
    r"\b(?:passages?|context|documents?|sources?|text)\b[^.]{0,40}\b(?:not|nothing)\b"
    r"|\b(?:do not|don['’]t|cannot|can['’]t) (?:know|find|tell|answer)\b", re.IGNORECASE,
)  # fmt: skip
_CODE = re.compile(r"(`+)")


@dataclass(slots=True)
class Source:
    """A passage that an answer may cite, by the number that it has in the prompt."""

    number: int
    id: str
    doc_id: str
    chunk_index: int
    file_id: str
    source: str
    text: str
    score: float
    scores: dict[str, float] = field(default_factory=dict)
    start: int = -1
    end: int = -1
    page: int | None = None
    slide: int | None = None
    row: int | None = None
    section: str | None = None
    checksum: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON, without what is not known."""
        return _known(asdict(self))


@dataclass(slots=True)
class Citation:
    """One [n] of an answer: at `at` in its text, for the sentence `text` of the document, which is
    its [start:end].
    """

    number: int
    at: int
    doc_id: str
    chunk_index: int
    source: str
    text: str
    start: int = -1
    end: int = -1
    page: int | None = None
    slide: int | None = None
    row: int | None = None
    section: str | None = None
    checksum: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON, without what is not known."""
        return _known(asdict(self))


@dataclass(slots=True)
class Unsupported:
    """A sentence of an answer, text[start:end], of whose content words only the share `support`
    stands in its passages.

    `numbers` are those that stand in none of them.
    """

    text: str
    start: int
    end: int
    support: float
    numbers: list[str] = field(default_factory=list)


def _known(fields):
    return {name: value for name, value in fields.items() if value is not None}


def place_of(metadata: dict[str, Any]) -> dict[str, Any]:
    """Page, slide or row, else the header path, and the checksum of the source."""
    place = {name: metadata[name] for name in NUMBERED if isinstance(metadata.get(name), int)}
    headers = metadata.get("headers")
    if not place and isinstance(headers, str) and headers:
        place["section"] = headers
    checksum = metadata.get("checksum")
    return place | ({"checksum": checksum} if isinstance(checksum, str) else {})


def place_name(source: Source | Citation) -> str:
    """Return the section or the numbered part that a passage is in ("page 3"), or ""."""
    numbers = ((name, getattr(source, name)) for name in NUMBERED)
    numbered_part = next((f"{name} {value}" for name, value in numbers if value is not None), "")
    return source.section or numbered_part


def numbered(contexts: Iterable[Any], hits: Iterable[Hit] = ()) -> list[Source]:
    """The passages in their order, from 1; the hits that they were give scores by retriever."""
    known = {(hit.doc_id, hit.chunk_index): hit for hit in hits}
    return [
        _source(number, c, known.get((c.doc_id, c.chunk_index)))
        for number, c in enumerate(contexts, 1)
    ]


def _source(number, context, hit):
    named, own = context.metadata, context.doc_id
    return Source(
        number, f"{own}#{context.chunk_index}", own, context.chunk_index,
        str(named.get("file_id") or own), str(named.get("source") or own), context.text,
        float(context.score), dict(hit.scores) if hit else {}, context.start, context.end,
        **place_of(named),
    )  # fmt: skip


def cited(source: Source, at: int, start: int, end: int) -> Citation:
    """A citation of the characters [start, end) of a passage."""
    known = source.start >= 0
    return Citation(
        source.number, at, source.doc_id, source.chunk_index, source.source, source.text[start:end],
        source.start + start if known else -1, source.start + end if known else -1,
        source.page, source.slide, source.row, source.section, source.checksum,
    )  # fmt: skip


# --------------------------------------------------------------------------- a stream's marks ---


class Marks:
    """Reads an answer as it comes: `text` is what was shown of it, with each good mark as [n].

    A mark with a number that no passage has is not shown; `unknown` lists the number. Code is left
    as it is. What might become a mark is held back until it is one or is none.
    """

    def __init__(self, sources: Sequence[Source]):
        self._sources = {source.number: source for source in sources}
        self._held, self._fence = "", ""
        self.text = ""
        self.citations: list[Citation] = []
        self.unknown: list[int] = []

    def feed(self, piece: str, *, is_last: bool = False) -> tuple[str, list[Citation]]:
        """(text to show now, citations that it completed)"""
        pending = self._held + piece
        ready = pending if is_last else pending[: _settled(pending)]
        self._held = pending[len(ready) :]
        shown, known = len(self.text), len(self.citations)
        for part in _CODE.split(ready):
            self._take(part)
        return self.text[shown:], self.citations[known:]

    def _take(self, part):
        """A run of backticks, or text that has none."""
        if part.startswith("`"):
            self._fence = "" if part == self._fence else self._fence or part
            self.text += part
        elif self._fence and (len(self._fence) > 2 or "\n" not in part):
            self.text += part
        elif self._fence:  # a code span ends with its line at the latest
            line, _, rest = part.partition("\n")
            self.text, self._fence = self.text + line + "\n", ""
            self._prose(rest)
        else:
            self._prose(part)

    def _prose(self, text):
        last = 0
        for mark in _MARK.finditer(text):
            self.text += text[last : mark.start()]
            last = mark.end()
            self._cite([int(number) for number in re.findall(r"\d+", mark[1])])
        self.text += text[last:]

    def _cite(self, numbers):
        good = [number for number in numbers if number in self._sources]
        self.unknown += [
            number
            for number in numbers
            if number not in self._sources and number not in self.unknown
        ]
        if not good:
            self.text = self.text.rstrip(" \t")
        claim = last_sentence(self.text)
        for number in good:
            source = self._sources[number]
            self.citations.append(cited(source, len(self.text), *best_sentence(claim, source.text)))
            self.text += f"[{number}]"


def _settled(text):
    """Where what might become a mark, or a run of backticks that might grow, begins."""
    end = len(text) - len(text[len(text.rstrip("`")) :])
    begun = _BEGUN.search(text)  # at the end of the text, if nowhere else
    return begun.start() if begun and end == len(text) else end


def last_sentence(text: str) -> str:
    """The sentence that a mark at the end of a text is for, without marks."""
    text = _MARK.sub("", text[-2000:]).rstrip()
    spans = sentences(text)
    return text[spans[-1][0] : spans[-1][1]] if spans else ""


def best_sentence(claim: str, passage: str) -> tuple[int, int]:
    """The span of the sentence of a passage that has the most of a claim's content words; the whole
    where none has any.
    """
    wanted, spans = content(claim), sentences(passage)
    shares = [len(wanted & content(passage[start:end])) for start, end in spans]
    if not any(shares):
        return 0, len(passage)
    return spans[shares.index(max(shares))]


# ----------------------------------------------------------------------------------- judgement ---


def content(text: str) -> set[str]:
    """The stems of the words that say something; numbers are judged by themselves."""
    said = [word for word in words(text) if word not in _EMPTY and not word.isdecimal()]
    return set(stemmer("english").stemWords(said))


def _numbers(text):
    """The numbers in a text as they are written, digit groups joined."""
    written = re.findall(r"\d[\d.,\u202f\xa0]*\d|\d", text)
    return {re.sub(r"(?<=\d)[,\u202f\xa0](?=\d{3}\b)", "", number) for number in written}


def judged(
    text: str, citations: Sequence[Citation], sources: Sequence[Source]
) -> list[Unsupported]:
    """The sentences of an answer that the passages do not support."""
    by_number = {source.number: _read(source) for source in sources}
    found = []
    for start, end, numbers in claims(text, citations):
        claim = _MARK.sub("", text[start:end])
        wanted = content(claim)
        stated = _numbers(claim)
        if len(wanted) + len(stated) < JUDGED or _DECLINED.search(claim):
            continue
        against = " ".join(by_number[number] for number in numbers or by_number)
        support = len(wanted & content(against)) / len(wanted) if wanted else 1.0
        missing = sorted(stated - _numbers(against))
        if support < SUPPORT or missing:
            found.append(Unsupported(text[start:end], start, end, round(support, 3), missing))
    return found


def _read(source):
    """What a model has read of a passage: where it is from, and its text."""
    return " ".join([source.source, source.section or "", str(source.page or ""), source.text])


def claims(text: str, citations: Sequence[Citation]) -> list[tuple[int, int, list[int]]]:
    """(start, end, numbers cited) of each sentence; marks at the beginning of a sentence belong to
    the one before.
    """
    found = []
    for start, end in sentences(text):
        led = start
        while (mark := _MARK.match(text, led)) is not None:
            led = mark.end()
            while led < end and text[led] in " \t":
                led += 1
        if led > start and found:
            found[-1][2].extend(c.number for c in citations if start <= c.at < led)
            start = led
        if start < end and text[start:end].strip():
            found.append((start, end, [c.number for c in citations if start <= c.at < end]))
    return found
