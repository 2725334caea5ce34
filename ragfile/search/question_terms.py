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
    """Return the terms of a text in order, without stop words.

    The text can be in any language of the file: a word has a term of each.
    """
    return _all_places(lexicon, text, True)


def asked_places(lexicon: Dictionary, question: str) -> list[TermPlace]:
    """Return the terms of a question in order, without the single characters of longer words."""
    return _all_places(lexicon, question, False)


def _all_places(lexicon: Dictionary, text: str, clusters: bool) -> list[TermPlace]:
    each = [_places(lexicon, text, number, clusters) for number in (0, *lexicon.asker.numbers)]
    if len(each) == 1:
        return [place for place in each[0] if place.term]
    return [
        place
        for of_word in zip(*each, strict=True)
        for place in dict.fromkeys(of_word)
        if place.term
    ]


def asked_terms(lexicon: Dictionary, question: str) -> set[str]:
    """Return the terms of a question, without the single characters of longer words."""
    return {place.term for place in asked_places(lexicon, question)}


def word_forms(lexicon: Dictionary, text: str) -> list[tuple[str, ...]]:
    """Return the distinct terms of a text in each language of the file, without stop words."""
    each = (_places(lexicon, text, number, False) for number in (0, *lexicon.asker.numbers))
    return [tuple(dict.fromkeys(place.term for place in places if place.term)) for places in each]


def _places(lexicon: Dictionary, text: str, language: int, clusters: bool) -> list[TermPlace]:
    """Return the words of a text with their terms in a language, "" for a stop word."""
    how = lexicon.analysis
    strip = how.strip_accents and language == 0
    clusters = clusters and bool(how.clusters)
    found = _core.word_places(text, strip_accents=strip, pieces=how.pieces, clusters=clusters)
    parts = dict.fromkeys(word for word, is_whole, _, _ in found if not is_whole)
    named = lexicon.asker.terms_of(_core.language_words(parts, language))
    terms = dict(zip(parts, named, strict=True))
    return [
        TermPlace(word if is_whole else terms[word], start, end)
        for word, is_whole, start, end in found
    ]


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
    found = _claims(question, _parts(asked_places(rows.lexicon, question)))
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
