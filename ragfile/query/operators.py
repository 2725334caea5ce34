"""Signs in a question, where the caller asks for them (operators=True):

    "…"        a phrase that passages must have: these words, side by side
    +word      a word that passages must have          -word, -"…"    one that they must not
    kube*      words that begin so                      rotete~ ~2     words one edit away, or two

Signs become rows that may be found, before anything is ranked, so the rest of the search is as exact as
ever. Words are compared as the index does, stems included. Words that begin so, or are spelled so, are
the terms of the dictionary: the WIDEST commonest of them are asked for. Phrases are looked for in the
texts of the passages that hold all their words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ragfile import _core
from ragfile.ground.lru import Recent
from ragfile.store.row_sets import RowSet

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.query.question import Question

WIDEST = 64  # terms of the dictionary that a word with a star or a tilde stands for
KEPT_PHRASES = 64  # whose rows are known
SIGNED = re.compile(r'(?<!\S)([+-]?)"([^"]*)"|([^\s"]+)')
SPELLED = re.compile(r"(.+?)(?:(\*)|~([12]?))$", re.DOTALL)


@dataclass(slots=True)
class Parsed:
    """A question read: what is embedded, what is looked up as words, and what rows must and must not have."""

    meaning: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    required: list[NDArray[np.bool_]] = field(default_factory=list)
    excluded: list[NDArray[np.bool_]] = field(default_factory=list)


def applied(base: Any, question: Question) -> Question:
    """The same question of one text without its signs, asked of the rows that they leave."""
    if not base.has_bm25:
        raise ValueError(f"{base.path} has no BM25 index, which operators= looks words up in")
    parsed = _read(_Reader(base), question.texts[0])
    passing = base._passing(question)
    mask = base.alive(np.ones(base.rows, bool)) if passing is None else passing.copy()
    for required in parsed.required:
        mask &= required
    for excluded in parsed.excluded:
        mask &= ~excluded
    found = replace(
        question, texts=[" ".join(parsed.meaning)], where=RowSet(mask), tags_any=(),
        tags_all=(), without=None, operators=False,
    )  # fmt: skip
    if parsed.terms:
        found.queries = base._searched("rag.terms").questions(
            [" ".join(parsed.words)], parsed.terms
        )
    return found


def _read(reader, text) -> Parsed:
    parsed = Parsed()
    for sign, phrase, word in SIGNED.findall(text):
        if not word:
            _take_phrase(reader, parsed, sign, phrase)
        elif word[0] in "+-" and len(word) > 1:
            _take_word(reader, parsed, word[0], word[1:])
        else:
            _take_word(reader, parsed, "", word)
    return parsed


def _take_phrase(reader, parsed, sign, phrase):
    rows = reader.phrase(phrase)
    if rows is None:
        return
    (parsed.excluded if sign == "-" else parsed.required).append(rows)
    if sign != "-":
        parsed.meaning.append(phrase)
        parsed.words.append(phrase)


def _take_word(reader, parsed, sign, word):
    spelled = SPELLED.fullmatch(word)
    terms = reader.spelled(*spelled.groups()) if spelled else None
    rows = reader.rows_with(word) if terms is None else reader.rows_of_any(terms)
    if sign and rows is not None:
        (parsed.excluded if sign == "-" else parsed.required).append(rows)
    if sign == "-":
        return
    parsed.meaning.append(spelled[1] if spelled else word)
    if terms is None:
        parsed.words.append(word)
    else:
        parsed.terms += [term for term in terms if term not in parsed.terms]


class _Reader:
    """The words of a file: which rows hold them."""

    def __init__(self, base):
        self.base, self.segments = base, base._searched("rag.terms")
        self.lexicon = self.segments[0].lexicon

    def _rows(self, term):
        """bool[rows]: those that hold a term."""
        mask = np.zeros(self.base.rows, bool)
        for segment in self.segments:
            mask[segment.base + segment.lexicon.rows(term)[0].astype(np.int64)] = True
        return mask

    def rows_of_any(self, terms):
        """The rows that hold one of the terms."""
        mask = np.zeros(self.base.rows, bool)
        for term in terms:
            mask |= self._rows(term)
        return mask

    def rows_with(self, word):
        """The rows that hold all that a word is made of; None for a stop word, which no index has."""
        terms = [term for term, _ in self.lexicon.terms(word)]
        if not terms:
            return None
        mask = np.ones(self.base.rows, bool)
        for term in terms:
            mask &= self._rows(term)
        return mask

    # ------------------------------------------------------------------------------------------------- dictionary --

    def spelled(self, word, star, edits):
        """The commonest terms that begin with a word, or are spelled nearly so; None where it is no single word."""
        parts = self._folded(word)
        if len(parts) != 1:
            return None
        asked = {parts[0], *self.lexicon.asker.terms_of(parts)} - {""}
        found = {}
        for segment in self.segments:
            for one in asked:
                near = (
                    segment.lexicon.beginning(one)
                    if star
                    else segment.lexicon.near(one, int(edits or 1))
                )
                for term in near:
                    found[term] = 0
        for term in found:
            found[term] = sum(s.lexicon.df(term, s.alive) for s in self.segments)
        return sorted((t for t in found if found[t]), key=lambda t: (-found[t], t))[:WIDEST]

    def _folded(self, text):
        strip = self.lexicon.analysis.strip_accents
        return [word for word, is_whole in _core.words(text, strip_accents=strip) if not is_whole]

    # ---------------------------------------------------------------------------------------------------- phrases --

    def phrase(self, phrase):
        """The rows whose text has the words of a phrase side by side; None for a phrase without words."""
        words = self._folded(phrase)
        if not words:
            return None
        kept = self.base._made.setdefault("phrases", Recent(KEPT_PHRASES))
        known = kept.get(tuple(words))
        if known is None:
            known = self._looked_up(words)
            kept.put(tuple(words), known)
        return known

    def _looked_up(self, words):
        wanted, terms = self._marks(words), {}
        mask = np.ones(self.base.rows, bool)
        for term in dict.fromkeys(
            term for term, word in zip(wanted, words, strict=True) if term != (word,)
        ):
            mask &= self._rows(term)
        mask = self.base.alive(mask)
        if len(words) > 1 or wanted[0] == (words[0],):
            for row in np.flatnonzero(mask).tolist():
                mask[row] = self._has(row, wanted, terms)
        return mask

    def _marks(self, words):
        """What a word is compared by: its term, or (itself,) for a stop word, which has none."""
        terms = self.lexicon.asker.terms_of(words)
        return [term or (word,) for term, word in zip(terms, words, strict=True)]

    def _has(self, row, wanted, known):
        """Whether a row's text has the marks in a row. `known` are the marks of words met before."""
        segment, local = self.base.place(row)
        words = self._folded(segment.passage(local))
        new = [word for word in dict.fromkeys(words) if word not in known]
        known.update(zip(new, self._marks(new), strict=True))
        marks = [known[word] for word in words]
        size = len(wanted)
        return any(
            mark == wanted[0] and marks[i : i + size] == wanted for i, mark in enumerate(marks)
        )
