"""The rule that joins repeats: the same words in the same order.

Ignored are case, punctuation around words, the articles, and phrases that only introduce a statement
or call it a repeat, at its begin or end. Everything else counts: "no", "was", a number, a sign or a
symbol ("-5", "C++") makes another statement.
Repeats in other words are for the writer to name, because no measure of likeness separates "she drinks
coffee" from "she drinks tea".
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from ragfile.file.row_sets import ALL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile.search.file_rows import FileRows

RULE = "the same words in the same order"
_ARTICLES = frozenset({"a", "an", "the"})
_BESIDE = (  # a statement, at its begin or end; longer phrases first
    "as i said before", "as i said", "as mentioned before", "as mentioned", "by way", "for record",
    "just so you know", "once more", "fyi",
)  # fmt: skip
_BEFORE_IT = ("please remember that", "remember that", "please note that", "note that", *_BESIDE)
_BEGINS = tuple(tuple(phrase.split()) for phrase in _BEFORE_IT)
_ENDS = tuple(tuple(phrase.split()) for phrase in _BESIDE)
_BEFORE, _AFTER = "\"'“‘„«([{¿¡", "\"'”’»)]}.,;:!?…"
_DASHES = frozenset("-–—")
NEAR = 16  # rows that are compared


def words_of(text: str) -> tuple[str, ...]:
    """Return the words by which a statement is compared with others."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    words = [word.lstrip(_BEFORE).rstrip(_AFTER) for word in plain.split()]
    found = tuple(
        word.casefold()
        for i, word in enumerate(words)
        if word and not _is_empty(word, is_first=not i)
    )
    return _without_introduction(found) or found


def _is_empty(word: str, *, is_first: bool) -> bool:
    """Return whether a word is an article or a dash; the A of "vitamin A" is neither."""
    is_article = word in _ARTICLES or (is_first and word.casefold() in _ARTICLES)
    return is_article or word in _DASHES


def _without_introduction(words: tuple[str, ...]) -> tuple[str, ...]:
    begin, end = 0, len(words)
    while phrase := next((p for p in _BEGINS if words[begin : begin + len(p)] == p), None):
        begin += len(phrase)
    while phrase := next((p for p in _ENDS if words[max(begin, end - len(p)) : end] == p), None):
        end -= len(phrase)
    return words[begin:end]


def documents_saying(rows: FileRows, about: str, words: tuple[str, ...]) -> Iterator[str]:
    """Yield the ids of memories with the same words in one of their statements.

    The subject of a memory is indexed with its words, so memories with the same subject come first.
    """
    if not (rows.live and rows.has_bm25):
        return
    found, _ = rows.match([f"{about} {' '.join(words)}"], NEAR, ALL, 1)
    for row in found[0].tolist():
        hit = rows.chunk(row) if row >= 0 else None
        if hit is not None and "kind" in hit.metadata and words_of(hit.content) == words:
            yield hit.doc_id
