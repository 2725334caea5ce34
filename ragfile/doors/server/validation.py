"""Bodies and queries held against their schemas: the words of JSON Schema that the interface uses.

The schemas are those of /openapi.json, so what it says is what is checked.
"""

from __future__ import annotations

import math
from typing import Any

from ragfile.doors.server.failures import HttpFailure

Schema = dict[str, Any]
KINDS = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,),
    "object": (dict,), "array": (list,), "null": (type(None),),
}  # fmt: skip


def checked(schema: Schema, value: Any, at: str = "") -> Any:
    """The value, if the schema takes it; Failure 422 with what it would take else."""
    wrong = fault(schema, value, at)
    if wrong is not None:
        raise HttpFailure(422, wrong[1], param=wrong[0] or None)
    return value


def of_query(schemas: dict[str, Schema], given: list[tuple[str, str]]) -> dict[str, Any]:
    """The parameters of an address by their kinds; each at most once, and none that is unknown."""
    found: dict[str, Any] = {}
    for name, text in given:
        if name not in schemas or name in found:
            what = (
                "is given twice" if name in found else f"is not known; there are {_listed(schemas)}"
            )
            raise HttpFailure(422, f"the parameter {name} {what}", param=name)
        found[name] = checked(schemas[name], _read(schemas[name], text), name)
    return found


def _listed(names):
    return ", ".join(names) or "none"


def _read(schema, text):
    """The text of a parameter as its kind."""
    if schema.get("type") == "integer" and text.lstrip("-").isdecimal() and len(text) < 20:
        return int(text)
    return text


def fault(schema: Schema, value: Any, at: str) -> tuple[str, str] | None:
    """(where, what is wrong) with a value, or None."""
    if "anyOf" in schema:
        return _none_of(schema["anyOf"], value, at)
    kind = schema.get("type")
    if kind is not None and not _is(kind, value):
        said = " or ".join(kind) if isinstance(kind, list) else kind
        return at, f"{at or 'the body'} is of type {said}, not {_kind_of(value)}"
    if "enum" in schema and value not in schema["enum"]:
        return at, f"{at} is one of {', '.join(map(str, schema['enum']))}, not {value!r:.60}"
    if isinstance(value, bool | None):
        return None
    if isinstance(value, int | float):
        return _number(schema, value, at)
    return _sized(schema, value, at)


def _is(kind, value):
    if isinstance(kind, list):
        return any(_is(one, value) for one in kind)
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return isinstance(value, KINDS[kind]) or (
        kind == "integer" and isinstance(value, float) and value.is_integer()
    )


def _kind_of(value):
    if isinstance(value, bool):
        return "boolean"
    return next((kind for kind, types in KINDS.items() if isinstance(value, types)), "unknown")


def _none_of(choices, value, at):
    """What is wrong where no choice fits: of the one of the value's own kind, if there is one."""
    wrongs = [(choice, fault(choice, value, at)) for choice in choices]
    if any(wrong is None for _, wrong in wrongs):
        return None
    near = [wrong for choice, wrong in wrongs if _is(choice.get("type", []), value)]
    kinds = dict.fromkeys(str(choice.get("type")) for choice in choices)
    return near[0] if near else (at, f"{at} is of type {' or '.join(kinds)}, not {_kind_of(value)}")


def _number(schema, value, at):
    least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if least <= value <= most:
        return None
    if most == math.inf:
        return at, f"{at} is at least {least}, not {value}"
    return at, f"{at} is from {least} to {most}, not {value}"


def _sized(schema, value, at):
    size = len(value)
    least = schema.get("minLength", schema.get("minItems", 0))
    most = schema.get("maxLength", schema.get("maxItems", math.inf))
    if not least <= size <= most:
        what = "characters" if isinstance(value, str) else "entries"
        bound = f"at least {least}" if size < least else f"at most {most:,}"
        return at, f"{at} has {bound} {what}, not {size:,}"
    if isinstance(value, dict):
        return _members(schema, value, at)
    if isinstance(value, list) and "items" in schema:
        return _first(fault(schema["items"], v, f"{at}[{i}]") for i, v in enumerate(value))
    return None


def _members(schema, value, at):
    known, dot = schema.get("properties"), f"{at}." if at else ""
    if known is None:
        return None
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        return dot + missing[0], f"{dot}{missing[0]} is missing"
    unknown = [name for name in value if name not in known]
    if unknown and schema.get("additionalProperties") is False:
        name = f"{unknown[0]:.60}"
        return dot + name, f"{dot}{name} is not known; there are {_listed(known)}"
    return _first(fault(known[n], v, dot + n) for n, v in value.items() if n in known)


def _first(faults):
    return next((wrong for wrong in faults if wrong is not None), None)
