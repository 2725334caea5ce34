"""The front matter of Markdown: the YAML between a first line `---` and the next one, as metadata,
tags and where the body begins.

What is read is JSON by YAML 1.2's core schema: null, true, false, numbers, else text (so `no`, `on`
and dates are text), in lists and mappings; keys are text as written. YAML can do more, and a file
comes from anywhere: aliases, tags of other types, nesting below DEPTH and blocks over LIMIT are not
front matter. Such a block, and one that is not YAML or not a mapping, is text like the rest.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from typing import Any

LIMIT = 64 << 10  # characters
DEPTH = 16
DIGITS = 300  # a longer number is text

_BLOCK = re.compile(
    r"---[ \t]*\n((?:(?!(?:---|\.\.\.)[ \t]*$).*\n)*+)(?:---|\.\.\.)[ \t]*$", re.MULTILINE
)
_WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_ODD = re.compile(r"[\t\\]|[|>][-+0-9]*#|:[\[\]{},]|\A[^\[{]*+[\[{][^?]*+\?")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?")
_TEXT = "tag:yaml.org,2002:str"


class _NotFrontMatter(ValueError):
    """YAML that front matter must not be."""


def front_matter(text):
    """(metadata, tags, where the body begins) of a normalised text; ({}, (), 0) where it has no
    front matter.
    """
    block = _BLOCK.match(text)
    if block is None or block.end() > LIMIT:
        return {}, (), 0
    try:
        found = _document(yaml.parse(block[1], Loader=_reader(block[1])))
    except (
        yaml.YAMLError,
        ValueError,
        OverflowError,
    ):  # the parser's own, for escapes and versions beyond all numbers
        return {}, (), 0
    return found, tags_of(found.get("tags")), block.end()


def _reader(text):
    """PyYAML's reader in C if it was built with it, which takes a tenth of the time for the same
    events.

    The two differ where there are tabs, escapes, a comment without a blank after `|` or `>`, or, in
    brackets, a `?` or a `:` before a bracket or comma. What is read must not depend on how PyYAML
    was built, so such a text is left to the reader in Python.
    """
    return yaml.SafeLoader if _ODD.search(text) else getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _document(events) -> Any:
    """The one mapping of a stream of events, empty for a stream without a document."""
    found = {}
    for event in events:
        if isinstance(event, yaml.MappingStartEvent):
            found = _value(event, events, 1)
        elif isinstance(event, yaml.NodeEvent):
            raise _NotFrontMatter
    return found


def _value(event, events, depth):
    if depth > DEPTH or isinstance(event, yaml.AliasEvent):
        raise _NotFrontMatter
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event)
    if event.tag is not None:
        raise _NotFrontMatter
    if isinstance(event, yaml.SequenceStartEvent):
        return [_value(inner, events, depth + 1) for inner in _until(events, yaml.SequenceEndEvent)]
    return {
        _key(key): _value(next(events), events, depth + 1)
        for key in _until(events, yaml.MappingEndEvent)
    }


def _until(events, end):
    """The events before the end of a list or mapping; each is taken with all that is in it before
    the next one is asked for.
    """
    while not isinstance(event := next(events), end):
        yield event


def _key(event):
    if not isinstance(event, yaml.ScalarEvent) or event.tag not in (None, _TEXT):
        raise _NotFrontMatter
    return _text(event.value)


def _text(value):
    """A scalar as text: escapes can name the two halves of a character, as in JSON; one half alone
    is a ValueError.
    """
    return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16")


def _scalar(event):
    value, tag = _text(event.value), event.tag
    if tag not in (None, "!", _TEXT):
        raise _NotFrontMatter
    if tag is not None or event.style:  # a plain scalar's style is None, or "" by the reader in C
        return value
    if value in _WORDS:
        return _WORDS[value]
    if len(value) > DIGITS:
        return value
    if _INTEGER.fullmatch(value):
        return int(value)
    number = float(value) if _FLOAT.fullmatch(value) else None
    return value if number is None or number in (float("inf"), float("-inf")) else number


def tags_of(value):
    """Tags from a list, or from a text with commas."""
    values = (
        value.split(",") if isinstance(value, str) else value if isinstance(value, list) else ()
    )
    found = (
        str(each).strip()
        for each in values
        if isinstance(each, str | int | float) and not isinstance(each, bool)
    )
    return tuple(dict.fromkeys(each for each in found if each))
