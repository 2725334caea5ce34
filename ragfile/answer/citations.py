"""Checked citations: each [n] of an answer becomes a place in the file or is reported, each sentence is supported or marked.

    numbered(hits)                 passages with numbers, as a model sees them: 1, 2, 3, …
    Marks(sources).feed(piece)     the text to show of a piece of an answer, and its citations
    judged(text, marks, sources)   the sentences of an answer that its passages do not support

Every span is one of the file. Of the model's answer only the number in the brackets is used, and only if there is such
a passage.

A sentence is supported if at least SUPPORT of its different content words (without stop words, by their stems) occur in
the passages that it cites, and all of its numbers. A sentence without citations is compared with all passages. Fewer
than JUDGED content words and numbers make no claim; neither does a sentence that declines to answer. The measure sees
words, not their meaning: it finds inventions, not reversals.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from ragfile.ingest.analysis import stemmer
from ragfile.ingest.languages import languages
from ragfile.records import NUMBERED, Candidate, Hit, Span, standing_of
from ragfile.search.function_words import by_language, likely_language
from ragfile.text import sentences, words

SUPPORT, JUDGED = 0.6, 3
# [1], [1, 2], [^1], [Source 1] and 【1†…】, as models write them; below, the beginning of one at the end of a piece.
_MARK = re.compile(
    r"[\[【][ \t]*(?:\^|(?:source|passage)s?[ \t]+)?(\d{1,4}(?:[ \t]*[,;][ \t]*\d{1,4})*)[ \t]*"
    r"(?:†[^\]】\n]{0,80})?[\]】]",
    re.IGNORECASE,
)
_BEGUN = re.compile(r"[ \t]*(?:[\[【][^\]】\n]{0,90})?\Z")
# A sentence that declines to answer claims nothing.
_DECLINED = re.compile(
    r"\b(?:passages?|context|documents?|sources?|text)\b[^.]{0,40}\b(?:not|nothing)\b"
    r"|\b(?:do not|don['’]t|cannot|can['’]t) (?:know|find|tell|answer)\b", re.IGNORECASE,
)  # fmt: skip
_CODE = re.compile(r"(`+)")


@dataclass(slots=True)
class Source:
    """A passage that an answer may cite, by its number in the prompt.

    Attributes:
        number: Number in the prompt, from 1.
        id: Id of the chunk.
        doc_id: Id of its document.
        chunk_index: Index of the chunk in the document, from 0.
        file_id: Id of the source file; the document's id by default.
        source: Path or URL of the source; the document's id by default.
        text: Text of the passage.
        score: Score of the search.
        scores: Scores by retriever.
        start: Start in the document in characters; -1 if unknown.
        end: End in the document; -1 if unknown.
        page: Page, if the source has pages.
        slide: Slide, if the source has slides.
        row: Row, if the source has rows.
        section: Header path, if the passage has one and no page, slide or row.
        checksum: Checksum of the source file, if recorded.
        standing: How current and how trusted the document is, such as "stale since 2026-09-23,
            human-reviewed", if its front matter records it.
    """

    number: int
    id: str
    doc_id: str
    chunk_index: int
    file_id: str
    source: str
    text: str
    score: float
    scores: dict[str, float] = field(default_factory=lambda: {})
    start: int = -1
    end: int = -1
    page: int | None = None
    slide: int | None = None
    row: int | None = None
    section: str | None = None
    checksum: str | None = None
    standing: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return a dict ready for JSON, without unknown fields."""
        return _known(asdict(self))


@dataclass(slots=True)
class Citation:
    """One citation [n] of an answer.

    Attributes:
        number: Number of the cited source.
        at: Place of the mark in the answer's text, in characters.
        doc_id: Id of the document.
        chunk_index: Index of the cited chunk.
        source: Path or URL of the source.
        text: The sentence of the passage that supports the claim best.
        start: Start of that sentence in the document in characters; -1 if unknown.
        end: End of that sentence; -1 if unknown.
        page: Page, if the source has pages.
        slide: Slide, if the source has slides.
        row: Row, if the source has rows.
        section: Header path, if the passage has one and no page, slide or row.
        checksum: Checksum of the source file, if recorded.
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
        """Return a dict ready for JSON, without unknown fields."""
        return _known(asdict(self))


@dataclass(slots=True)
class Unsupported:
    """A sentence of an answer that its passages do not support.

    Attributes:
        text: The sentence.
        start: Start in the answer's text, in characters.
        end: End in the answer's text.
        support: Share of its content words that occur in the passages, from 0 to 1.
        numbers: Its numbers that occur in none of them.
    """

    text: str
    start: int
    end: int
    support: float
    numbers: list[str] = field(default_factory=lambda: [])


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def place_of(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the page, slide or row, else the header path, and the checksum of the source."""
    place = {name: metadata[name] for name in NUMBERED if isinstance(metadata.get(name), int)}
    headers = metadata.get("headers")
    if not place and isinstance(headers, str) and headers:
        place["section"] = headers
    checksum = metadata.get("checksum")
    return place | ({"checksum": checksum} if isinstance(checksum, str) else {})


def place_name(source: Source | Citation) -> str:
    """Return the section or numbered part of a passage ("page 3"), or ""."""
    numbers = ((name, getattr(source, name)) for name in NUMBERED)
    numbered_part = next((f"{name} {value}" for name, value in numbers if value is not None), "")
    return source.section or numbered_part


def numbered(contexts: Iterable[Candidate], hits: Iterable[Hit] = ()) -> list[Source]:
    """Return passages numbered from 1, with the scores by retriever of their hits."""
    known = {(hit.doc_id, hit.chunk_index): hit for hit in hits}
    return [
        _source(number, c, known.get((c.doc_id, c.chunk_index)))
        for number, c in enumerate(contexts, 1)
    ]


def _source(number: int, context: Candidate, hit: Hit | None) -> Source:
    named, own = context.metadata, context.doc_id
    return Source(
        number, f"{own}#{context.chunk_index}", own, context.chunk_index,
        str(named.get("file_id") or own), str(named.get("source") or own), context.text,
        float(context.score), dict(hit.scores) if hit else {}, context.start, context.end,
        **place_of(named), standing=standing_of(named) or None,
    )  # fmt: skip


def cited(source: Source, at: int, start: int, end: int) -> Citation:
    """Return a citation of the characters [start, end) of a passage."""
    known = source.start >= 0
    return Citation(
        source.number, at, source.doc_id, source.chunk_index, source.source, source.text[start:end],
        source.start + start if known else -1, source.start + end if known else -1,
        source.page, source.slide, source.row, source.section, source.checksum,
    )  # fmt: skip


def cited_lines(source: Source, at: int, text: str, place: Span) -> Citation:
    """Return a citation of text elsewhere in the document of a passage."""
    found = cited(source, at, 0, 0)
    return replace(found, text=text, start=place.start, end=place.end)


# --------------------------------------------------------------------------- a stream's marks ---


class Marks:
    """Reads an answer piece by piece: `text` is the part shown so far, with each valid mark as [n].

    Marks with an unknown number are removed and listed in `unknown`. Code stays as it is. A possible
    beginning of a mark is held back until the next piece decides.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = {source.number: source for source in sources}
        self._held, self._fence = "", ""
        self.text = ""
        self.citations: list[Citation] = []
        self.unknown: list[int] = []

    def feed(self, piece: str, *, is_last: bool = False) -> tuple[str, list[Citation]]:
        """Return the text to show now, and the citations that it completes."""
        pending = self._held + piece
        ready = pending if is_last else pending[: _settled(pending)]
        self._held = pending[len(ready) :]
        shown, known = len(self.text), len(self.citations)
        for part in _CODE.split(ready):
            self._take(part)
        return self.text[shown:], self.citations[known:]

    def _take(self, part: str) -> None:
        """Take a run of backticks, or text without any."""
        if part.startswith("`"):
            self._fence = "" if part == self._fence else self._fence or part
            self.text += part
        elif self._fence and (len(self._fence) > 2 or "\n" not in part):
            self.text += part
        elif self._fence:  # a code span ends at the end of its line
            line, _, rest = part.partition("\n")
            self.text, self._fence = self.text + line + "\n", ""
            self._prose(rest)
        else:
            self._prose(part)

    def _prose(self, text: str) -> None:
        last = 0
        for mark in _MARK.finditer(text):
            self.text += text[last : mark.start()]
            last = mark.end()
            self._cite([int(number) for number in re.findall(r"\d+", mark[1])])
        self.text += text[last:]

    def _cite(self, numbers: list[int]) -> None:
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


def _settled(text: str) -> int:
    """Return where a possible mark, or a run of backticks that might grow, begins at the end of a text."""
    end = len(text) - len(text[len(text.rstrip("`")) :])
    begun = _BEGUN.search(text)  # at the end of the text, if nowhere else
    return begun.start() if begun and end == len(text) else end


def last_sentence(text: str) -> str:
    """Return the sentence before a mark at the end of a text, without marks."""
    text = _MARK.sub("", text[-2000:]).rstrip()
    spans = sentences(text)
    return text[spans[-1][0] : spans[-1][1]] if spans else ""


def best_sentence(claim: str, passage: str) -> tuple[int, int]:
    """Return the span of the sentence with most of a claim's content words, or of the whole passage if none has any."""
    number = likely_language(words(claim))
    wanted, spans = content(claim, number), sentences(passage)
    shares = [len(wanted & content(passage[start:end], number)) for start, end in spans]
    if not any(shares):
        return 0, len(passage)
    start, end = spans[shares.index(max(shares))]
    return start, end


# ----------------------------------------------------------------------------------- judgement ---


def content(text: str, number: int = 0) -> set[str]:
    """Return the stems of the content words by the rules of a language; numbers are judged separately."""
    empty = by_language()[number].empty
    found = [word for word in words(text) if word not in empty and not word.isdecimal()]
    return set(stemmer(languages()[number].stemmer).stemWords(found))


def _numbers(text: str) -> set[str]:
    """Return the numbers in a text as written, digit groups joined."""
    written = re.findall(r"\d[\d.,\u202f\xa0]*\d|\d", text)
    return {re.sub(r"(?<=\d)[,\u202f\xa0](?=\d{3}\b)", "", number) for number in written}


def judged(
    text: str, citations: Sequence[Citation], sources: Sequence[Source]
) -> list[Unsupported]:
    """Return the sentences of an answer that the passages do not support."""
    by_number = {source.number: _read(source) for source in sources}
    found: list[Unsupported] = []
    for start, end, numbers in claims(text, citations):
        claim = _MARK.sub("", text[start:end])
        number = likely_language(words(claim))
        wanted = content(claim, number)
        stated = _numbers(claim)
        if len(wanted) + len(stated) < JUDGED or _DECLINED.search(claim):
            continue
        against = " ".join(by_number[number] for number in numbers or by_number)
        support = len(wanted & content(against, number)) / len(wanted) if wanted else 1.0
        missing = sorted(stated - _numbers(against))
        if support < SUPPORT or missing:
            found.append(Unsupported(text[start:end], start, end, round(support, 3), missing))
    return found


def _read(source: Source) -> str:
    """Return a passage as the model reads it: its source and its text."""
    return " ".join([source.source, source.section or "", str(source.page or ""), source.text])


class Claim(NamedTuple):
    """A sentence, text[start:end], and the numbers that it cites."""

    start: int
    end: int
    numbers: list[int]


def claims(text: str, citations: Sequence[Citation]) -> list[Claim]:
    """Return the sentences of an answer; a mark at the beginning of one belongs to the one before."""
    found: list[Claim] = []
    for start, end in sentences(text):
        led = start
        while (mark := _MARK.match(text, led)) is not None:
            led = mark.end()
            while led < end and text[led] in " \t":
                led += 1
        if led > start and found:
            found[-1].numbers.extend(c.number for c in citations if start <= c.at < led)
            start = led
        if start < end and text[start:end].strip():
            cited_numbers = [c.number for c in citations if start <= c.at < end]
            found.append(Claim(start, end, cited_numbers))
    return found
