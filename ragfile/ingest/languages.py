"""Languages: the stemmer, the stop words and the rule for accents of each.

spec/languages.toml has the table; the core contains it. Files that find the language of each document name the table,
so it never changes. Files in one language have its words in their configuration.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from ragfile import _core

if TYPE_CHECKING:
    from collections.abc import Callable

TABLES = ("1",)  # the tables of languages that this version has


class Language(NamedTuple):
    """How the words of a language become terms.

    Attributes:
        code: Its code, such as "de".
        stemmer: The algorithm of Snowball.
        stop_words: The words that give no term.
        accents: Whether texts lose their accents ("strip"), or words before they are stemmed ("foreign"), or terms
            ("fold"), or none of them ("keep").
        letters: The letters that keep their accents.
    """

    code: str
    stemmer: str
    stop_words: frozenset[str]
    accents: Literal["strip", "keep", "fold", "foreign"]
    letters: frozenset[str]

    def terms(self, words: list[str], stem: Callable[[list[str]], list[str]]) -> list[str]:
        """Return the terms of words, "" for a stop word."""
        read = [self._folded(word) for word in words] if self.accents == "foreign" else words
        terms = stem(read)
        if self.accents == "fold":
            terms = [self._folded(term) for term in terms]
        return [
            "" if word in self.stop_words else term for word, term in zip(words, terms, strict=True)
        ]

    def _folded(self, word: str) -> str:
        if word.isascii():
            return word
        return "".join(letter if letter in self.letters else bare(letter) for letter in word)


@cache
def languages() -> tuple[Language, ...]:
    """Return the languages with rules of their own, by number; the first is English."""
    return tuple(
        Language(code, stemmer, frozenset(stop_words.split()), accents, frozenset(letters))
        for code, stemmer, letters, accents, stop_words in _core.languages()
    )


def language_of(text: str) -> str:
    """Return the code of the language that a build finds for a text; "en" for any without rules, too."""
    return languages()[_core.language_of(text)].code


@cache
def by_code() -> dict[str, Language]:
    """Return the languages that can be named, by code."""
    found = {language.code: language for language in languages()}
    # Text of scripts without a stemmer has English names and commands in it.
    return found | dict.fromkeys(("ja", "ko", "th", "zh"), found["en"])


def bare(letter: str) -> str:
    """Return a Latin letter without its accents; any other as it is."""
    first, *marks = list(unicodedata.normalize("NFD", letter))
    is_latin = "a" <= first <= "z" and all("\u0300" <= mark <= "\u036f" for mark in marks)
    return first if is_latin else letter
