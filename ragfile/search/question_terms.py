"""The terms of a question with their weights in a file, and which of them a text has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ragfile import _core
from ragfile.ingest.analysis import stemmer
from ragfile.search.function_words import claims_nothing, function_words
from ragfile.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ragfile.search.rows import Dictionary, SearchedRows


_WORD = re.compile(r"[^\W_]+")
FLOOR = 1.0  # of a weight, so that the common words of a small file count


class TermPlace(NamedTuple):
    """One occurrence of a term in a text."""

    term: str
    start: int
    end: int


def term_places(lexicon: Dictionary, text: str) -> list[TermPlace]:
    """Return the terms of a text in order, without stop words."""
    how = lexicon.analysis
    found = _core.word_places(text, strip_accents=how.strip_accents, pieces=how.pieces)
    parts = dict.fromkeys(word for word, is_whole, _, _ in found if not is_whole)
    terms = dict(zip(parts, lexicon.asker.terms_of(parts), strict=True))
    named = (
        (word if is_whole else terms[word], start, end) for word, is_whole, start, end in found
    )
    return [TermPlace(*place) for place in named if place[0]]


class QuestionTerms(NamedTuple):
    """The terms of a question, except words that claim nothing.

    Attributes:
        weights: The weight of each term: its rarity in the file.
        words: The word of each term in the question.
        places: A function that returns the places of all terms of a text.
        terms: A function that returns the terms of a text, those of its places; much faster.
    """

    weights: dict[str, float]
    words: dict[str, str]
    places: Callable[[str], list[TermPlace]]
    terms: Callable[[str], set[str]]

    def held(self, text: str) -> set[str]:
        """Return the question's terms in a text."""
        if not self.weights:
            return set()
        return self.terms(text) & self.weights.keys()

    def weight(self, terms: Iterable[str]) -> float:
        """Return the sum of the weights of some terms."""
        return sum(self.weights[term] for term in sorted(terms))


def question_terms(rows: SearchedRows, question: str) -> QuestionTerms:
    """Return the terms of a question as the index has them, or else its stems, all of the same weight."""
    if not rows.has_bm25:
        return plain_terms(question)
    found = _claims(question, _parts(term_places(rows.lexicon, question)))
    weights = _weights(rows, question, found) if found else {}

    def places(text: str) -> list[TermPlace]:
        return term_places(rows.lexicon, text)

    def terms(text: str) -> set[str]:
        return {term for term, _ in rows.lexicon.terms(text)}

    return QuestionTerms(weights, found, places, terms)


def _claims(question: str, places: list[TermPlace]) -> dict[str, str]:
    """Return the terms of words that claim something, with their words."""
    without, found = function_words(question), dict[str, str]()
    for term, start, end in places:
        if not claims_nothing(question[start:end], without):
            found.setdefault(term, question[start:end])
    return found


def _parts(places: list[TermPlace]) -> list[TermPlace]:
    """Return places without identifiers of which the parts are terms, too."""
    return [
        one for one in places
        if not any(one.start <= p.start and p.end <= one.end and p[1:] != one[1:] for p in places)
    ]  # fmt: skip


def _weights(rows: SearchedRows, question: str, terms: Iterable[str]) -> dict[str, float]:
    statistics = rows.statistics_of(question)
    df = statistics.df or {}
    return {term: FLOOR + _core.bm25_idf(statistics.rows, df.get(term, 0)) for term in terms}


def plain_terms(question: str) -> QuestionTerms:
    """Return the English stems of a question's words, all of the same weight."""
    stem, without = stemmer("english").stemWord, function_words(question)

    def places(text: str) -> list[TermPlace]:
        return [TermPlace(stem(m[0].lower()), m.start(), m.end()) for m in _WORD.finditer(text)]

    def terms(text: str) -> set[str]:
        return {place.term for place in places(text)}

    found = {stem(word): word for word in reversed(words(question)) if word not in without}
    return QuestionTerms(dict.fromkeys(found, 1.0), found, places, terms)
