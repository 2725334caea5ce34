"""Decide whether passages can support an answer: by the question's words, or by nearness in meaning.

A passage supports an answer if it has more than half of the question's words, or four of them. Words are compared by
their stems. Stop words do not count, numbers only if there are no other words; a passage's header path counts as text.
A passage without the words can still be near: its vector score is NEAR deviations above the mean of the sample.

bench/eval.md measures how well this separates the questions of a collection from those of others.
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
NAMED = 6  # missing words in a refusal


class Support(NamedTuple):
    """The question's words in some passages: how many it has, the `most` in one passage, those `missing` in all."""

    words: int
    most: int
    missing: list[str]

    @property
    def is_enough(self) -> bool:
        """Whether some passage has enough of the words."""
        return 2 * self.most > self.words or self.most >= ENOUGH

    def refusal(self) -> str:
        """Return the text that replaces an answer."""
        if not self.words:
            return "Nothing here supports an answer: the question has no words to look for."
        named = ", ".join(self.missing[:NAMED])
        lacking = f"; the nearest do not have: {named}" if named else ""
        words = f"more than {self.most} of" if self.most else "any of"
        has = f"no passage has {words} the question's {self.words} words"
        return f"Nothing here supports an answer: {has}{lacking}."


def support(question: str, passages: Sequence[str]) -> Support:
    """Return which words of the question the best passages have; passages include their header paths."""
    claims = content if content(question) else _numbers
    asked = claims(question)
    held = [asked & claims(text) for text in passages[:LOOKED_AT]]
    missing = asked.difference(*held)
    named = [word for word in dict.fromkeys(words(question)) if claims(word) & missing]
    return Support(len(asked), max(map(len, held), default=0), named)


def _numbers(text: str) -> set[str]:
    return {word for word in words(text) if word.isdecimal()}
