"""Query syntax, on request (query_syntax=True):

    "…"        a phrase that passages must contain: these words, side by side
    +word      a word that passages must contain       -word, -"…"    one that they must not contain
    kube*      words with this beginning               rotete~ ~2     words one edit away, or two

Operators select rows before anything is ranked, so the rest of the search stays exact. Words are compared as the index
does, by their stems. A star or a tilde stands for the WIDEST commonest matching terms of the dictionary. Phrases are
found by the positions of words; in a file without them, in the texts of the passages that contain all their words.

A question is parsed with the dictionary of the whole collection. The rows of an operator are found where they are: each
shard of a dataset answers for its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.file import remote_prefetch
from ragfile.file.row_sets import RowSet
from ragfile.ground.cancellation import steps
from ragfile.search import question_terms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragfile.file.row_segment import RowSegment
    from ragfile.file.row_sets import Words
    from ragfile.search.file_rows import FileRows
    from ragfile.search.question import Question
    from ragfile.search.rows_protocol import Dictionary, SearchedRows

    Phrase = tuple[str, ...]

SIGNS = 256  # operators of one question: each reads the dictionary, or texts
TEXTS = 1024  # read at a time for a phrase
WIDEST = _core.COMMONEST  # terms of the dictionary that a word with a star or a tilde stands for
SIGNED = re.compile(r'(?<!\S)([+-]?)"([^"]*)"|([^\s"]+)')
SPELLED = re.compile(r"(.+?)(?:(\*)|~([12]?))$", re.DOTALL)


class Sign(NamedTuple):
    """A condition on rows: they contain a word, any of some terms, or words side by side; or they do not.

    The marks of a word are its terms in each language of the file, those of one separated by spaces.
    """

    kind: Literal["word", "any", "phrase"]
    marks: tuple[str, ...]
    is_excluded: bool = False


@dataclass(slots=True)
class Parsed:
    """A parsed question: the text to embed, the words and terms to look up, the conditions on rows."""

    meaning: list[str] = field(default_factory=lambda: [])
    words: list[str] = field(default_factory=lambda: [])
    terms: list[str] = field(default_factory=lambda: [])
    signs: list[Sign] = field(default_factory=lambda: [])


def applied(base: SearchedRows, question: Question) -> Question:
    """Return a question of one text without its operators, limited to the rows that these select."""
    if not base.has_bm25:
        raise ValueError(f"{base.path} has no BM25 index, which query_syntax= needs")
    parsed = _read(_SyntaxReader(base), question.texts[0])
    found = question.changed(
        texts=[" ".join(parsed.meaning)],
        where=base.select(
            question.where, question.tags_any, question.tags_all, question.without, parsed.signs
        ),
        tags_any=(), tags_all=(), without=None, query_syntax=False, has_filters=False,
    )  # fmt: skip
    words = " ".join(parsed.words)
    if parsed.terms:
        found.queries = base.queries([words], question.fields, parsed.terms, question.notes)
    elif any(sign.kind == "phrase" and not sign.is_excluded for sign in parsed.signs):
        found.is_unranked = not base.lexicon.terms(words)
    return found


def _read(reader: _SyntaxReader, text: str) -> Parsed:
    pieces = SIGNED.findall(text)
    count = sum(map(_has_operator, pieces))
    if count > SIGNS:
        raise ValueError(
            f"the question has {count:,} operators of query_syntax=; the limit is {SIGNS}"
        )
    parsed = Parsed()
    for sign, phrase, word in pieces:
        if not word:
            _take_phrase(reader, parsed, sign, phrase)
        elif word[0] in "+-" and len(word) > 1:
            _take_word(reader, parsed, word[0], word[1:])
        else:
            _take_word(reader, parsed, "", word)
    return parsed


def _has_operator(piece: tuple[str, str, str]) -> bool:
    """Return whether a piece of a question is a phrase, or a word with an operator."""
    word = piece[2]
    is_signed = word[:1] in ("+", "-") and len(word) > 1
    return not word or is_signed or SPELLED.fullmatch(word) is not None


def _take_phrase(reader: _SyntaxReader, parsed: Parsed, sign: str, phrase: str) -> None:
    words = reader.folded(phrase)
    if not words:
        return
    parsed.signs.append(Sign("phrase", tuple(words), sign == "-"))
    if sign != "-":
        parsed.meaning.append(phrase)
        parsed.words.append(phrase)


def _take_word(reader: _SyntaxReader, parsed: Parsed, sign: str, word: str) -> None:
    spelled = SPELLED.fullmatch(word)
    terms = reader.spelled(*spelled.groups()) if spelled else None
    if sign:
        marks = reader.terms(word) if terms is None else terms
        if marks or terms is not None:  # stop words are in no index
            kind: Literal["word", "any"] = "word" if terms is None else "any"
            parsed.signs.append(Sign(kind, tuple(marks), sign == "-"))
    if sign == "-":
        return
    parsed.meaning.append(spelled[1] if spelled else word)
    if terms is None:
        parsed.words.append(word)
    else:
        parsed.terms += [term for term in terms if term not in parsed.terms]


class _SyntaxReader:
    """The dictionary of a collection, as the parser asks it."""

    def __init__(self, base: SearchedRows) -> None:
        self.base, self.lexicon = base, base.lexicon

    def folded(self, text: str) -> list[str]:
        return folded(self.lexicon, text)

    def terms(self, word: str) -> list[str]:
        """Return the terms of a word in each language, separated by spaces: identifiers have several."""
        forms = question_terms.word_forms(self.lexicon, word)
        return list(dict.fromkeys(" ".join(terms) for terms in forms if terms))

    def spelled(self, word: str, star: str | None, edits: str | None) -> list[str] | None:
        """Return the commonest terms that begin with a word or are spelled nearly so; None if it is not a single word."""
        parts = folded(self.lexicon, word)
        if len(parts) != 1:
            return None
        found: dict[str, int] = {}
        asker = self.lexicon.asker
        words = [
            one
            for language in (0, *asker.numbers)
            for one in in_language(self.lexicon, parts, language)
        ]
        for one in {*words, *asker.terms_of(words)} - {""}:
            found |= self.base.spelled(one, 0 if star else int(edits or 1))
        # Two sorts by plain values take a quarter of the time of one by tuples.
        return sorted(sorted(found), key=found.__getitem__, reverse=True)[:WIDEST]


def folded(lexicon: Dictionary, text: str) -> list[str]:
    """Return the words of a text as the index compares them, before stemming.

    Parts of identifiers are left out, because they would separate neighbours.
    """
    strip = lexicon.analysis.strip_accents and not lexicon.analysis.languages
    return [word for word, is_whole in _core.words(text, strip_accents=strip) if not is_whole]


def in_language(lexicon: Dictionary, words: Iterable[str], language: int) -> list[str]:
    """Return folded words as those of a language of the file, by its number."""
    if language or not lexicon.analysis.strip_accents:
        return _core.language_words(words, language)
    return [next(iter(_core.words(word, strip_accents=True)), (word,))[0] for word in words]


# ------------------------------------------------------------------------------------------ rows


def left(rows: FileRows, signs: Iterable[Sign], passing: RowSet) -> RowSet:
    """Return the live rows that pass a filter and all signs."""
    segments, finder = rows.segments, _RowFinder(rows)
    words = passing.words(segments)
    for sign in steps(signs):
        found = zip(segments, words, finder.rows_of(sign), strict=True)
        words = [_both(segment, here, sign, held) for segment, here, held in found]
    return RowSet.of_segments(segments, [_known(*one) for one in zip(segments, words, strict=True)])


def _both(segment: RowSegment, words: Words | None, sign: Sign, held: Words) -> Words:
    """Return the rows among some, or among all for None, that pass a sign."""
    if sign.is_excluded:
        return _known(segment, words) & ~held
    return held if words is None else words & held


def _known(segment: RowSegment, words: Words | None) -> Words:
    return _all_rows(segment) if words is None else words


def _all_rows(segment: RowSegment) -> Words:
    words = np.full((segment.rows + 63) // 64, ~np.uint64(0))
    if segment.rows % 64:
        words[-1] >>= np.uint64(64 - segment.rows % 64)
    return words


class _RowFinder:
    """Finds the rows of a file with some terms or phrases, as bits of each segment."""

    def __init__(self, rows: FileRows) -> None:
        self.rows, self.segments = rows, rows.segments

    def rows_of(self, sign: Sign) -> list[Words]:
        """Return the rows of a sign, whether it is excluded or not."""
        if sign.kind == "phrase":
            return self.phrase(sign.marks)
        if sign.kind == "word":
            return [_with_word(segment, sign.marks) for segment in self.segments]
        return [_with_any(segment, sign.marks) for segment in self.segments]

    def phrase(self, words: Phrase) -> list[Words]:
        """Return the rows of the words of a phrase side by side."""
        kept = self.rows.phrases
        known = kept.get(words)
        if known is None:
            known = self._looked_up(list(words))
            kept.put(words, known)
        return known

    def _looked_up(self, words: list[str]) -> list[Words]:
        asker = self.rows.lexicon.asker
        found = self._in_language(words, 0)
        for language in asker.numbers:
            for held, more in zip(found, self._in_language(words, language), strict=True):
                held |= more
        return found

    def _in_language(self, words: list[str], language: int) -> list[Words]:
        """Return the rows with a phrase by the terms of one language, which only its rows have."""
        asker = self.rows.lexicon.asker
        marked = in_language(self.rows.lexicon, words, language)
        terms = asker.terms_of(marked)
        marks = [(term or word, not term) for term, word in zip(terms, marked, strict=True)]
        if len(words) == 1 and terms[0]:  # found in all fields, like a word with a plus
            return [_with_any(segment, terms) for segment in self.segments]
        remote_prefetch.positions(self.segments, marks)
        found: list[Words] = []
        phrase: _core.Phrase | None = None
        for segment in steps(self.segments):
            if segment.has("rag.positions") and segment.positions is not None:
                found.append(segment.positions.phrase(marks))
                continue
            phrase = phrase or _core.Phrase(asker, words if language else marked, language)
            found.append(_read_texts(segment, phrase, _with_all(segment, filter(None, terms))))
        return found


def _with_any(segment: RowSegment, terms: Iterable[str]) -> Words:
    """Return the rows of a segment that contain any of some terms."""
    if not segment.has("rag.terms"):
        return np.zeros((segment.rows + 63) // 64, np.uint64)
    return segment.lexicon.marked(terms)


def _with_word(segment: RowSegment, forms: Iterable[str]) -> Words:
    """Return the rows of a segment that contain all terms of a word in one of its languages."""
    several = [form for form in forms if " " in form]
    found = _with_any(segment, [form for form in forms if " " not in form])
    for form in several:
        found |= _with_all(segment, form.split(" "))
    return found


def _with_all(segment: RowSegment, terms: Iterable[str]) -> Words:
    """Return the rows of a segment that contain all of some terms."""
    found: Words | None = None
    for term in dict.fromkeys(terms):
        held = _with_any(segment, [term])
        found = held if found is None else found & held
    return _known(segment, found)


def _read_texts(segment: RowSegment, phrase: _core.Phrase, words: Words) -> Words:
    """Return the live ones of some rows whose texts have the words of a phrase side by side."""
    live = words if segment.alive is None else words & segment.alive
    held = _core.flags_of(live, segment.rows)
    rows = np.flatnonzero(held)
    for first in steps(range(0, len(rows), TEXTS)):
        some = rows[first : first + TEXTS]
        texts = [text for row in some.tolist() for text in segment.passage(row)]
        held[some] = np.frombuffer(phrase.found(texts), bool)
    return _core.row_set(held, segment.rows)
