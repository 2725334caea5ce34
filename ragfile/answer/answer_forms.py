"""The form that an answer to a question has: an amount has a number, a procedure has a command or code."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from ragfile.search.function_words import AMOUNTS
from ragfile.text import words

if TYPE_CHECKING:
    from ragfile.search.blocks import Block

Form = Literal["amount", "procedure", ""]
_HOW_MANY = (
    "combien cuánta cuántas cuánto cuántos hoeveel ile kolik quanta quantas quante quanti quanto quantos wieviel "
    "wieviele сколько"
)
_MANY = frozenset(_HOW_MANY.split())
_DOING = frozenset(("do", "can", "could", "to", "should", "would", "must"))
_SIZES = frozenset(("maximum", "minimum", "max", "min", "limit", "size", "number", "percentage"))
_NUMBER = re.compile(r"(?<![\w.])\d")
_ITEM = re.compile(r"[ \t]*\d{1,9}[.)][ \t]")
_CODE = re.compile(r"`[^`\n]*[ \t][^`\n]*`")  # inline code of several words: a command


def wanted_form(question: str) -> Form:
    """Return the form that the answer to a question has, or "" if any will do."""
    asked = words(question)
    for how, word in pairwise(asked):
        if word in AMOUNTS.get(how, ()):
            return "amount"
        if how == "how" and word in _DOING:
            return "procedure"
    return "amount" if not (_SIZES | _MANY).isdisjoint(asked) else ""


def has_form(form: Form, block: Block, passage: str) -> bool:
    """Return whether a block has the form of an answer."""
    start, end = block.spans[-1]
    text = passage[start:end]
    if form == "amount":
        marker = _ITEM.match(text)
        return _NUMBER.search(text, marker.end() if marker else 0) is not None
    return form == "procedure" and (block.kind == "code" or _CODE.search(text) is not None)
