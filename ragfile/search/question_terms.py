"""The terms of a question with their weights in a file, and which of them a text has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ragfile import _core
from ragfile.ingest.analysis import stemmer
from ragfile.ingest.languages import languages
from ragfile.search.function_words import (
    PAIRS,
    claims_nothing,
    function_words,
    likely_language,
)
from ragfile.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ragfile.search.rows_protocol import Dictionary, SearchedRows


_WORD = re.compile(r"[^\W_]+")
FLOOR = 1.0  # of a weight, so that the common words of a small file count
# In a question of so few words, one that no passage has weighs like the rarest ones, so that one of two is half.
FEW = 2


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
    each = _places_each(lexicon, text, clusters)
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
    each = _places_each(lexicon, text, False)
    return [tuple(dict.fromkeys(place.term for place in places if place.term)) for places in each]


def _places_each(lexicon: Dictionary, text: str, clusters: bool) -> list[list[TermPlace]]:
    """Return the words of a text with their terms, "" for a stop word, in each language of the file."""
    asker, numbers = lexicon.asker, (0, *lexicon.asker.numbers)
    first = _word_places(lexicon, text, lexicon.analysis.strip_accents, clusters)
    rest = first  # the words of other languages keep their accents, which ASCII has not
    if len(numbers) > 1 and lexicon.analysis.strip_accents and not text.isascii():
        rest = _word_places(lexicon, text, False, clusters)
    read = [first, *[rest] * (len(numbers) - 1)]
    parts = [dict.fromkeys(word for word, is_whole, _, _ in some if not is_whole) for some in read]
    marked = [
        word
        for some, number in zip(parts, numbers, strict=True)
        for word in _core.language_words(some, number)
    ]
    named = iter(asker.terms_of(marked))
    terms = [dict(zip(some, named, strict=False)) for some in parts]
    return [
        [
            TermPlace(word if is_whole else of[word], start, end)
            for word, is_whole, start, end in one
        ]
        for one, of in zip(read, terms, strict=True)
    ]


def _word_places(
    lexicon: Dictionary, text: str, strip: bool, clusters: bool
) -> list[tuple[str, bool, int, int]]:
    how = lexicon.analysis
    clusters = clusters and bool(how.clusters)
    return _core.word_places(text, strip_accents=strip, pieces=how.pieces, clusters=clusters)


class QuestionTerms(NamedTuple):
    """The terms of a question, except words that claim nothing.

    A word has a term in each language of the file, and counts once: a text has it if it has one of them.

    Attributes:
        weights: The weight of each term: the rarity of its word in the file.
        words: The word of each term in the question.
        places: A function that returns the places of all terms of a text.
        terms: A function that returns the terms of a text, those of its places; much faster.
    """

    weights: dict[str, float]
    words: dict[str, str]
    places: Callable[[str], list[TermPlace]]
    terms: Callable[[str], set[str]]

    def held(self, text: str) -> set[str]:
        """Return the question's terms in a text, with the others of their words."""
        if not self.weights:
            return set()
        held = {self.words[term] for term in self.terms(text) & self.weights.keys()}
        return {term for term, word in self.words.items() if word in held}

    def weight(self, terms: Iterable[str]) -> float:
        """Return the sum of the weights of the words of some terms."""
        found: dict[str, float] = {}
        for term in sorted(terms):
            found.setdefault(self.words[term], self.weights[term])
        return sum(found.values())


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
    """Return the terms of words that claim something, with their words.

    A pair of characters that shares one with a pair that claims nothing is across two words.
    """
    without, found = function_words(question), dict[str, str]()
    empty = {at for _, *span in places if question[slice(*span)] in PAIRS for at in range(*span)}
    for term, start, end in places:
        if not (claims_nothing(question[start:end], without) or {start, end - 1} & empty):
            found.setdefault(term, question[start:end])
    return found


def _parts(places: list[TermPlace]) -> list[TermPlace]:
    """Return places without identifiers of which the parts are terms, too."""
    return [
        one for one in places
        if not any(one.start <= p.start and p.end <= one.end and p[1:] != one[1:] for p in places)
    ]  # fmt: skip


def _weights(rows: SearchedRows, question: str, terms: dict[str, str]) -> dict[str, float]:
    statistics = rows.statistics_of(question)
    least = 1 if len(set(terms.values())) <= FEW else 0
    df = statistics.df or {}
    return {
        term: FLOOR + _core.bm25_idf(statistics.rows, max(least, df.get(term, 0))) for term in terms
    }


def plain_terms(question: str) -> QuestionTerms:
    """Return the stems of a question's words in its language, all of the same weight."""
    language = languages()[likely_language(words(question))]
    stem, without = stemmer(language.stemmer).stemWord, function_words(question)

    def places(text: str) -> list[TermPlace]:
        return [TermPlace(stem(m[0].lower()), m.start(), m.end()) for m in _WORD.finditer(text)]

    def terms(text: str) -> set[str]:
        return {place.term for place in places(text)}

    found = {stem(word): word for word in reversed(words(question)) if word not in without}
    return QuestionTerms(dict.fromkeys(found, 1.0), found, places, terms)
