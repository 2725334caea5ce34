"""Check JSON values against JSON Schema: the keywords that the schemas of the server and of MCP use.

    fault({"properties": {"k": {"type": "integer", "minimum": 1}}}, {"k": 0})
    Fault(path="k", reason="k must be at least 1, not 0")

A fault names the parameter that is wrong, also inside `anyOf`, which general validators report as a
whole. A test fails if a schema uses a keyword that is not in CHECKS.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from types import UnionType
from typing import Any, NamedTuple, TypeAlias, cast

Schema: TypeAlias = dict[str, Any]
KINDS: dict[str, tuple[type[object] | UnionType, str]] = {
    "string": (str, "a string"), "integer": (int, "an integer"), "number": (int | float, "a number"),
    "boolean": (bool, "a boolean"), "object": (dict, "an object"), "array": (list, "an array"),
    "null": (type(None), "null"),
}  # fmt: skip


class Fault(NamedTuple):
    """The first thing wrong with a value: the path of a member such as `boost[0].weight`, and why."""

    path: str
    reason: str


def fault(schema: Schema, value: object, path: str = "") -> Fault | None:
    """Return the first fault of a value that json.loads made, or None.

    `path` is the path of the value itself; the paths of its members begin with it.
    """
    for keyword in schema:
        check = CHECKS.get(keyword)
        found = check(schema, value, path) if check else None
        if found is not None:
            return found
    return None


def with_integers(schema: Schema, value: dict[str, Any]) -> dict[str, Any]:
    """Return a checked object with whole floats as ints where the schema has integers.

    Some clients write 5 as 5.0.
    """
    known = schema.get("properties", {})
    return {
        name: int(one) if isinstance(one, float) and _is_whole(known.get(name, {})) else one
        for name, one in value.items()
    }


def _is_whole(schema: Schema) -> bool:
    """Return whether a schema has integers but no other numbers."""
    kinds = [one.get("type") for one in schema.get("anyOf", [schema])]
    return "integer" in kinds and "number" not in kinds


def _type(schema: Schema, value: object, path: str) -> Fault | None:
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if _is(kinds[0], value) or any(_is(kind, value) for kind in kinds[1:]):
        return None
    return _wrong(path, f"be {' or '.join(KINDS[kind][1] for kind in kinds)}", value)


def _is(kind: str, value: object) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, float):
        is_whole = kind == "integer" and value.is_integer()
        return math.isfinite(value) and (kind == "number" or is_whole)
    return isinstance(value, KINDS[kind][0])


def _enum(schema: Schema, value: object, path: str) -> Fault | None:
    if value in schema["enum"]:
        return None
    return _wrong(path, f"be one of {', '.join(map(str, schema['enum']))}", value)


def _any_of(schema: Schema, value: object, path: str) -> Fault | None:
    """If no choice fits, return the fault of the first that takes the value's type, if any."""
    choices = schema["anyOf"]
    if any(fault(choice, value, path) is None for choice in choices):
        return None
    near = next((choice for choice in choices if not _type(_kinds(choice), value, path)), None)
    return fault(near or _kinds(schema), value, path)


def _kinds(schema: Schema) -> Schema:
    """Return a schema that takes all values of the types among a schema's choices."""
    if "anyOf" not in schema:
        return {"type": [schema["type"]]}
    kinds = [kind for choice in schema["anyOf"] for kind in _kinds(choice)["type"]]
    return {"type": list(dict.fromkeys(kinds))}


def _one_of(schema: Schema, value: object, path: str) -> Fault | None:
    """Return a fault unless exactly one choice fits; each is known by its first required member."""
    choices = schema["oneOf"]
    fitting = [choice for choice in choices if fault(choice, value, path) is None]
    if len(fitting) == 1:
        return None
    names = [_below(path, choice["required"][0]) for choice in choices]
    reason = f"give {' or '.join(names)}{', but only one of them' if fitting else ''}"
    return Fault(names[-1] if fitting else names[0], reason)


def _range(schema: Schema, value: object, path: str) -> Fault | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    above, below = schema.get("exclusiveMinimum", -math.inf), schema.get("maximum", math.inf)
    if schema.get("minimum", -math.inf) <= value <= below and value > above:
        return None
    bounds = (("minimum", "at least"), ("exclusiveMinimum", "greater than"), ("maximum", "at most"))
    needed = (f"{words} {schema[name]:,}" for name, words in bounds if name in schema)
    return _wrong(path, f"be {' and '.join(needed)}", value)


def _size(schema: Schema, value: object, path: str) -> Fault | None:
    floor = _bound(schema, ("minLength", "minItems"), 0)
    most = _bound(schema, ("maxLength", "maxItems"), math.inf)
    size = len(value) if isinstance(value, str) else len(_list(value) or ())
    if not isinstance(value, str | list) or floor <= size <= most:
        return None
    unit = "characters" if isinstance(value, str) else "items"
    bound = f"at least {floor:,}" if size < floor else f"at most {most:,}"
    return Fault(path, f"{path or 'the body'} must have {bound} {unit}, not {size:,}")


def _member_count(schema: Schema, value: object, path: str) -> Fault | None:
    size, most = len(_members(value) or ()), schema["maxProperties"]
    if size <= most:
        return None
    return Fault(path, f"{path or 'the body'} must have at most {most:,} members, not {size:,}")


def _bound(schema: Schema, keywords: tuple[str, ...], default: float) -> float:
    return next((schema[keyword] for keyword in keywords if keyword in schema), default)


def _pattern(schema: Schema, value: object, path: str) -> Fault | None:
    if not isinstance(value, str) or re.search(schema["pattern"], value):
        return None
    return _wrong(path, f"match {schema['pattern']}", value)


def _items(schema: Schema, value: object, path: str) -> Fault | None:
    items = schema["items"]
    for n, one in enumerate(_list(value) or ()):
        if fault(items, one) is not None:  # the path is made only now: vectors have many items
            return fault(items, one, f"{path}[{n}]")
    return None


def _required(schema: Schema, value: object, path: str) -> Fault | None:
    members = _members(value)
    names = () if members is None else schema["required"]
    missing = (_below(path, name) for name in names if name not in (members or ()))
    return _first(Fault(at, f"{at} is required") for at in missing)


def _properties(schema: Schema, value: object, path: str) -> Fault | None:
    known, members = schema["properties"], _members(value) or {}
    return _first(
        fault(known[name], one, _below(path, name))
        for name, one in members.items()
        if name in known
    )


def _others(schema: Schema, value: object, path: str) -> Fault | None:
    """Refuse the members that `properties` does not name, or check them against their own schema."""
    known, others = schema.get("properties", {}), schema["additionalProperties"]
    members = _members(value) or {}
    rest = {_below(path, f"{name:.60}"): one for name, one in members.items() if name not in known}
    if others is False:
        names = ", ".join(known) or "no names"
        return _first(Fault(at, f"{at} is unknown; known here: {names}") for at in rest)
    return _first(fault(others, one, at) for at, one in rest.items())


CHECKS: dict[str, Callable[[Schema, object, str], Fault | None]] = {
    "type": _type, "enum": _enum, "anyOf": _any_of, "oneOf": _one_of, "minimum": _range,
    "exclusiveMinimum": _range, "maximum": _range, "minLength": _size, "maxLength": _size,
    "minItems": _size, "maxItems": _size, "pattern": _pattern, "items": _items,
    "required": _required, "properties": _properties, "maxProperties": _member_count,
    "additionalProperties": _others,
}  # fmt: skip


COMPOUND: dict[type[object], str] = {dict: "an object", list: "an array"}


def _wrong(path: str, needed: str, value: object) -> Fault:
    """Return a fault that shows a plain value, but only the type of an object or array."""
    kind = COMPOUND.get(type(value))
    shown = kind or f"{json.dumps(value, ensure_ascii=False):.60}"
    return Fault(path, f"{path or 'the body'} must {needed}, not {shown}")


def _list(value: object) -> list[object] | None:
    return cast("list[object]", value) if isinstance(value, list) else None


def _members(value: object) -> dict[str, object] | None:
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _first(faults: Iterable[Fault | None]) -> Fault | None:
    return next((found for found in faults if found is not None), None)
