"""Signs in a question, where the caller asks for them (query_syntax=True):

    "…"        a phrase that passages must have: these words, side by side
    +word      a word that passages must have          -word, -"…"    one that they must not
    kube*      words that begin so                      rotete~ ~2     words one edit away, or two

Signs become rows that may be found, before anything is ranked, so the rest of the search is as exact as
ever. Words are compared as the index does, stems included. Words that begin so, or are spelled so, are
the terms of the dictionary: the WIDEST commonest of them are asked for. Phrases are looked for in the
texts of the passages that hold all their words.

A question is read with the dictionary of the whole collection. Which rows a sign leaves is found where
the rows are: in a dataset each shard answers for its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ragfile import _core

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.search.file_rows import FileRows
    from ragfile.search.question import Question
    from ragfile.search.rows import SearchedRows

WIDEST = 64  # terms of the dictionary that a word with a star or a tilde stands for
SIGNED = re.compile(r'(?<!\S)([+-]?)"([^"]*)"|([^\s"]+)')
SPELLED = re.compile(r"(.+?)(?:(\*)|~([12]?))$", re.DOTALL)


class Sign(NamedTuple):
    """What rows must hold, or must not: all of some terms, one of them, or words side by side."""

    kind: Literal["all", "any", "phrase"]
    marks: tuple[str, ...]
    is_excluded: bool = False


@dataclass(slots=True)
class Parsed:
    """A question read: what is embedded, what is looked up as words, and what rows must and must not have."""

    meaning: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    signs: list[Sign] = field(default_factory=list)


def applied(base: SearchedRows, question: Question) -> Question:
    """The same question of one text without its signs, asked of the rows that they leave."""
    if not base.has_bm25:
        raise ValueError(f"{base.path} has no BM25 index, which query_syntax= looks words up in")
    parsed = _read(_SyntaxReader(base), question.texts[0])
    found = replace(
        question, texts=[" ".join(parsed.meaning)],
        where=base.select(
            question.where, question.tags_any, question.tags_all, question.without, parsed.signs
        ),
        tags_any=(), tags_all=(), without=None, query_syntax=False,
    )  # fmt: skip
    if parsed.terms:
        words = [" ".join(parsed.words)]
        found.queries = base.queries(words, question.fields, parsed.terms, question.notes)
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
    words = reader.folded(phrase)
    if not words:
        return
    parsed.signs.append(Sign("phrase", tuple(words), sign == "-"))
    if sign != "-":
        parsed.meaning.append(phrase)
        parsed.words.append(phrase)


def _take_word(reader, parsed, sign, word):
    spelled = SPELLED.fullmatch(word)
    terms = reader.spelled(*spelled.groups()) if spelled else None
    marks = reader.terms(word) if terms is None else terms
    if sign and (marks or terms is not None):  # no index has a stop word
        kind: Any = "all" if terms is None else "any"
        parsed.signs.append(Sign(kind, tuple(marks), sign == "-"))
    if sign == "-":
        return
    parsed.meaning.append(spelled[1] if spelled else word)
    if terms is None:
        parsed.words.append(word)
    else:
        parsed.terms += [term for term in terms if term not in parsed.terms]


class _SyntaxReader:
    """The dictionary of a collection."""

    def __init__(self, base: SearchedRows) -> None:
        self.base, self.lexicon = base, base.lexicon

    def folded(self, text):
        return folded(self.lexicon, text)

    def terms(self, word):
        """All that a word is made of."""
        return [term for term, _ in self.lexicon.terms(word)]

    def spelled(self, word, star, edits):
        """The commonest terms that begin with a word, or are spelled nearly so; None where it is no single word."""
        parts = self.folded(word)
        if len(parts) != 1:
            return None
        found = {}
        for one in {parts[0], *self.lexicon.asker.terms_of(parts)} - {""}:
            found |= self.base.spelled(one, 0 if star else int(edits or 1))
        return sorted(found, key=lambda term: (-found[term], term))[:WIDEST]


def folded(lexicon: Any, text: str) -> list[str]:
    """The words of a text as an index compares them, before they become terms; without pieces of
    identifiers, which would stand between neighbours."""
    strip = lexicon.analysis.strip_accents
    return [word for word, is_whole in _core.words(text, strip_accents=strip) if not is_whole]


# ------------------------------------------------------------------------------------------ rows


def left(
    rows: FileRows, signs: Iterable[Sign], passing: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    """The live rows of a file that pass and that all signs leave."""
    mask = np.ones(rows.count, bool) if passing is None else passing.copy()
    holding = _Holding(rows)
    for sign in signs:
        held = holding.rows_of(sign)
        mask &= ~held if sign.is_excluded else held
    return rows.alive(mask)


class _Holding:
    """Which rows of a file hold what."""

    def __init__(self, rows: FileRows) -> None:
        self.rows, self.segments = rows, rows.searched("rag.terms")
        self.lexicon: Any = self.segments[0].lexicon if self.segments else None

    def rows_of(self, sign):
        """bool[rows]"""
        if sign.kind == "phrase":
            return self.phrase(sign.marks)
        rows = [self._rows(term) for term in sign.marks]
        if sign.kind == "all":
            return np.logical_and.reduce(rows)
        return np.logical_or.reduce([np.zeros(self.rows.count, bool), *rows])

    def _rows(self, term):
        """bool[rows]: those that hold a term."""
        mask = np.zeros(self.rows.count, bool)
        for segment in self.segments:
            mask[segment.base + segment.lexicon.rows(term)[0].astype(np.int64)] = True
        return mask

    def phrase(self, words):
        """The rows whose text has the words of a phrase side by side."""
        kept = self.rows.phrases
        known = kept.get(words)
        if known is None:
            known = self._looked_up(list(words))
            kept.put(words, known)
        return known

    def _looked_up(self, words):
        wanted, terms = self._marks(words), {}
        mask = np.ones(self.rows.count, bool)
        for term in dict.fromkeys(
            term for term, word in zip(wanted, words, strict=True) if term != (word,)
        ):
            mask &= self._rows(term)
        mask = self.rows.alive(mask)
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
        segment, local = self.rows.place(row)
        words = folded(self.lexicon, *segment.passage(local))
        new = [word for word in dict.fromkeys(words) if word not in known]
        known.update(zip(new, self._marks(new), strict=True))
        marks = [known[word] for word in words]
        size = len(wanted)
        return any(
            mark == wanted[0] and marks[i : i + size] == wanted for i, mark in enumerate(marks)
        )
