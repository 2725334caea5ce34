"""Change one member of a JSON text that has comments or trailing commas; the rest stays as it is.

put(text, "context_servers", "ragfile", {"command": "ragfile"})
take(text, "context_servers", "ragfile")
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_STRING = r'"(?:\\.|[^"\\])*"'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)
_DECODER = json.JSONDecoder()


class Member(NamedTuple):
    """Where a member of an object begins, where its value begins, and where that ends."""

    start: int
    value: int
    end: int


def plain(text: str) -> str:
    """Return the text with spaces in place of comments and trailing commas, equally long."""
    return _COMMA.sub(_blank, _COMMENT.sub(_blank, text))


def _blank(found: re.Match[str]) -> str:
    return found[1] or re.sub(r"[^\n]", " ", found[0])


def _skip(text: str, at: int) -> int:
    """Return the position of the next character that is no space."""
    while text[at].isspace():
        at += 1
    return at


def _members(text: str, at: int) -> dict[str, Member]:
    """Return the members of the object that begins at a position of a plain text."""
    found: dict[str, Member] = {}
    at = _skip(text, at + 1)
    while text[at] == '"':
        key, end = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, end) + 1)
        end = _DECODER.raw_decode(text, value)[1]
        found[key] = Member(at, value, end)
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def put(text: str, key: str, name: str, entry: Mapping[str, Any]) -> str:
    """Add or replace a member of the object under `key`, which is created if it is missing."""
    clear = plain(text)
    root = clear.index("{")
    outer = _members(clear, root)
    if key not in outer:
        return _inserted(text, root, {key: {name: entry}}, has_more=bool(outer))
    inner = _members(clear, outer[key].value)
    if name not in inner:
        return _inserted(text, outer[key].value, {name: entry}, has_more=bool(inner))
    place = inner[name]
    return text[: place.value] + json.dumps(entry, ensure_ascii=False) + text[place.end :]


def _inserted(text: str, at: int, members: dict[str, Any], *, has_more: bool) -> str:
    """Insert members at the beginning of the object at a position."""
    shown = json.dumps(members, indent=2, ensure_ascii=False)[1:-2]
    return text[: at + 1] + shown + ("," if has_more else "\n") + text[at + 1 :]


def take(text: str, key: str, name: str) -> str:
    """Remove a member of the object under `key`, with its comma."""
    clear = plain(text)
    outer = _members(clear, clear.index("{"))[key]
    place = _members(clear, outer.value)[name]
    start, end = place.start, _skip(clear, place.end)
    if clear[end] == ",":
        return text[:start] + text[_skip(text, end + 1) :]
    comma = clear.rfind(",", outer.value, start)
    is_only = clear[outer.value + 1 : start].isspace() or comma < 0
    return text[: start if is_only else comma] + text[place.end :]
