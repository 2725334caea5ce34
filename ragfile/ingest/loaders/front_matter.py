"""Read the front matter of Markdown: the YAML between a first line `---` and the next one.

Values are JSON by YAML 1.2's core schema: null, true, false and numbers; everything else is text
(so `no`, `on` and dates are text), in lists and mappings. Keys are text as written. A file can come
from anywhere, so aliases, tags of other types, nesting below DEPTH and blocks over LIMIT are not
accepted. A block with any of them, or one that is not YAML or not a mapping, is ordinary text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import yaml

from ragfile.types import Metadata

if TYPE_CHECKING:
    from yaml.events import Event

LIMIT = 64 << 10  # characters
DEPTH = 16
DIGITS = 300  # a longer number is text

_BLOCK = re.compile(
    r"---[ \t]*\n((?:(?!(?:---|\.\.\.)[ \t]*$).*\n)*+)(?:---|\.\.\.)[ \t]*$", re.MULTILINE
)
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_ODD = re.compile(r"[\t\\]|[|>][-+0-9]*#|:[\[\]{},]|\A[^\[{]*+[\[{][^?]*+\?")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?")
_TEXT = "tag:yaml.org,2002:str"


class _NotFrontMatter(ValueError):
    """YAML that is not accepted as front matter."""


class FrontMatter(NamedTuple):
    """The metadata and tags of a text, and the offset of its body."""

    metadata: Metadata
    tags: tuple[str, ...]
    body: int


def front_matter(text: str) -> FrontMatter:
    """Return the front matter of a normalised text; an empty one if it has none."""
    block = _BLOCK.match(text)
    if block is None or block.end() > LIMIT:
        return FrontMatter({}, (), 0)
    try:
        found = _document(yaml.parse(block[1], Loader=_reader(block[1])))
    except (yaml.YAMLError, ValueError, OverflowError):  # PyYAML's own, for escapes and versions
        return FrontMatter({}, (), 0)
    return FrontMatter(found, tags_of(found.get("tags")), block.end())


def _reader(text: str) -> type[yaml.SafeLoader | yaml.CSafeLoader]:
    """Return PyYAML's reader in C if PyYAML has it, which is ten times as fast.

    The two readers differ on tabs, escapes, a comment without a blank after `|` or `>`, and, in
    brackets, a `?` or a `:` before a bracket or comma. The result must not depend on how PyYAML was
    built, so such a text is left to the reader in Python.
    """
    return yaml.SafeLoader if _ODD.search(text) else getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _document(events: Iterator[Event]) -> Metadata:
    """Return the one mapping of a stream of events, empty for a stream without a document."""
    found: Metadata = {}
    for event in events:
        if isinstance(event, yaml.MappingStartEvent):
            found = _value(event, events, 1)
        elif isinstance(event, yaml.NodeEvent):
            raise _NotFrontMatter
    return found


def _value(event: Event, events: Iterator[Event], depth: int) -> Any:  # Any: JSON
    if depth > DEPTH or isinstance(event, yaml.AliasEvent):
        raise _NotFrontMatter
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event)
    if not isinstance(event, yaml.CollectionStartEvent) or event.tag is not None:
        raise _NotFrontMatter
    if isinstance(event, yaml.SequenceStartEvent):
        return [_value(inner, events, depth + 1) for inner in _until(events, yaml.SequenceEndEvent)]
    return {
        _key(key): _value(next(events), events, depth + 1)
        for key in _until(events, yaml.MappingEndEvent)
    }


def _until(events: Iterator[Event], end: type[Event]) -> Iterator[Event]:
    """Yield the events before the end of a list or mapping.

    The caller reads the contents of each event before it asks for the next one.
    """
    while not isinstance(event := next(events), end):
        yield event


def _key(event: Event) -> str:
    if not isinstance(event, yaml.ScalarEvent) or event.tag not in (None, _TEXT):
        raise _NotFrontMatter
    return _text(event.value)


def _text(value: str) -> str:
    """Return a scalar as text; as in JSON, escapes can name the two halves of a character.

    Half a character alone raises ValueError.
    """
    return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16")


def _scalar(event: yaml.ScalarEvent) -> str | float | bool | None:
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


def tags_of(value: object) -> tuple[str, ...]:
    """Return tags from a list, or from a text with commas."""
    values: Sequence[object] = value.split(",") if isinstance(value, str) else ()
    if isinstance(value, list):
        values = cast("list[object]", value)
    found = (
        str(each).strip()
        for each in values
        if isinstance(each, str | int | float) and not isinstance(each, bool)
    )
    return tuple(dict.fromkeys(each for each in found if each))
