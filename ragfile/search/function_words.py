"""Words of a question that claim nothing: articles, pronouns, auxiliary verbs and question words, by language.

The lists are those of spec/languages.toml. The language of a question is found by its words in them: a word that n
languages list counts 12 / n for each, rounded down, and the first of the best languages is taken. A question without
any of these words loses none.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ragfile import _core
from ragfile.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable

WHOLE_WORD = 12  # weight of a word that only one language lists
# Words that ask for an amount together with the word before them.
AMOUNTS = {
    "how": frozenset(
        "big deep far fast heavy high large late long many much often old quickly soon tall wide".split()  # noqa: SIM905
    ),
    "was": frozenset(("kostet", "kosten")),
    "wie": frozenset("alt groß hoch lange oft schnell schwer spät teuer viel viele weit".split()),  # noqa: SIM905
    "combien": frozenset(("coûte", "coûtent")),
    "cuánto": frozenset(("cuesta", "cuestan", "dura", "tarda")),
    "quanto": frozenset(("costa", "costano", "custa", "custam", "dura")),
    "hoeveel": frozenset(("kost", "kosten")),
    "сколько": frozenset(("стоит", "стоят", "длится")),
}
# Pairs of neighbouring characters that claim nothing, in Chinese and in Korean.
_PAIRS = (
    "什么 么是 是什 怎么 么样 怎样 如何 为什 哪些 哪个 哪里 哪种 多少 可以 是否 能否 请问 有什 "
    "하기 하는 하려 려면 니까 습니 니다 에서 으로 하고 위한 위해 무엇 엇입 입니 어떻 떻게 어디 언제 누가 나요 까요 인가 가요"
)
PAIRS = frozenset(_PAIRS.split())
# What marks a question in scripts without spaces.
_PARTS = (
    "什么 怎么 怎样 如何 为什 哪些 哪个 哪里 多少 是否 能否 吗 ですか ますか どう どこ いつ なぜ どれ 何 무엇 어떻게 어디 언제 왜 "
    "나요 까요 니까"
)
_ASKING_PARTS = tuple(_PARTS.split())


class QuestionWords(NamedTuple):
    """Words of questions in a language: those that claim nothing, and those that mark a question."""

    empty: frozenset[str]
    asking: frozenset[str]


@cache
def by_language() -> tuple[QuestionWords, ...]:
    """Return the words of each language of the table."""
    return tuple(
        QuestionWords(frozenset(empty.split()), frozenset(asking.split()))
        for empty, asking in _core.question_words()
    )


@cache
def _listed() -> dict[str, tuple[int, ...]]:
    """Return the languages that list each word."""
    found: dict[str, tuple[int, ...]] = {}
    for number, language in enumerate(by_language()):
        for word in language.empty:
            found[word] = (*found.get(word, ()), number)
    return found


def likely_language(asked: Iterable[str]) -> int:
    """Return the number of the likeliest language of some words; that of English if none is listed."""
    listed, scores = _listed(), [0] * len(by_language())
    for word in set(asked):
        numbers = listed.get(word, ())
        for number in numbers:
            scores[number] += WHOLE_WORD // len(numbers)
    return scores.index(max(scores))


def function_words(question: str) -> frozenset[str]:
    """Return the words that claim nothing in the language of a question."""
    asked = words(question)
    amounts = {word for how, word in pairwise(asked) if word in AMOUNTS.get(how, ())}
    return by_language()[likely_language(asked)].empty | PAIRS | amounts


def claims_nothing(word: str, without: frozenset[str]) -> bool:
    """Return whether a word of a question is one of those, or of hiragana alone: a particle or an ending."""
    return word.lower() in without or all("\u3041" <= letter <= "\u309f" for letter in word)


def is_question(text: str) -> bool:
    """Return whether a text is a question in a sentence, not a list of keywords."""
    if text.rstrip().endswith(("?", "\uff1f")) or any(part in text for part in _ASKING_PARTS):
        return True
    asked = words(text)
    return not by_language()[likely_language(asked)].asking.isdisjoint(asked)
