"""Whether passages can support an answer to a question: by its words, or by how near one is in meaning.

A passage supports an answer if it has more than half of the question's words, or four of them. Words are those that
say something, by their stems; stop words do not count, numbers only where there is nothing else, and a passage's header
path does. A passage without them can still be near: its vector's score stands so many deviations above the mean of the
collection's sample.

bench/eval.md has how well this tells the questions of a collection from those of others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragfile.answer.citations import content
from ragfile.text import words

if TYPE_CHECKING:
    from collections.abc import Sequence

ENOUGH = 4  # words
NEAR = 6.0  # deviations
LOOKED_AT = 5  # passages
NAMED = 6  # missing words that are named


class Support(NamedTuple):
    """What passages have of a question: how many `words` it has, the `most` of them in one passage, those `missing` in
    all of them."""

    words: int
    most: int
    missing: list[str]

    @property
    def is_enough(self) -> bool:
        """Whether some passage has enough of the words."""
        return 2 * self.most > self.words or self.most >= ENOUGH

    def refusal(self) -> str:
        """What is said in the place of an answer."""
        if not self.words:
            return "Nothing here supports an answer: the question has no words to look for."
        named = ", ".join(self.missing[:NAMED])
        none = f" The nearest passages do not have: {named}." if named else ""
        words = f"more than {self.most} of" if self.most else "any of"
        has = f"no passage has {words} the question's {self.words} words."
        return f"Nothing here supports an answer: {has}{none}"


def support(question: str, passages: Sequence[str]) -> Support:
    """What passages, which come best first with their header paths, have of the question's words."""
    said = content if content(question) else _numbers
    asked = said(question)
    held = [asked & said(text) for text in passages[:LOOKED_AT]]
    missing = asked.difference(*held)
    named = [word for word in dict.fromkeys(words(question)) if said(word) & missing]
    return Support(len(asked), max(map(len, held), default=0), named)


def _numbers(text):
    return {word for word in words(text) if word.isdecimal()}
