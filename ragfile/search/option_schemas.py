"""JSON Schema of the options of a question, derived from their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import TYPE_CHECKING, Literal, get_args, get_origin, get_type_hints, is_typeddict

from ragfile.ground.option_table import members
from ragfile.options import SEARCH, K

if TYPE_CHECKING:
    from ragfile.ground.option_table import Option, Schema

PLAIN: dict[object, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null",
}  # fmt: skip


TOOL = {o.name: o.tool for o in (K, *SEARCH.options.values()) if o.tool is not None}
"""The schemas of the options of a search that tools for language models offer."""


def schema_of(option: Option) -> Schema:
    """Return the schema of an option's values: the one that it declares, or that of its type."""
    if option.schema is not None:
        return option.schema
    bounds = {
        "minimum": option.minimum, "exclusiveMinimum": option.above, "maximum": option.maximum
    }  # fmt: skip
    return of_type(option.kind) | {name: n for name, n in bounds.items() if abs(n) < inf}


def of_type(kind: object) -> Schema:
    """Return the schema of a type. Functions have none and are left out of unions."""
    found: list[Schema] = []
    for member in members(kind):
        if get_origin(member) is not Callable and (one := _of_member(member)) not in found:
            found.append(one)
    if len(found) == 1:
        return found[0]
    if all(one.keys() == {"type"} for one in found):
        return {"type": [one["type"] for one in found]}
    return {"anyOf": found}


def _of_member(kind: object) -> Schema:
    if kind in PLAIN:
        return {"type": PLAIN[kind]}
    if is_typeddict(kind):
        hints = get_type_hints(kind)
        properties = {name: of_type(hint) for name, hint in hints.items()}
        return {
            "type": "object", "properties": properties, "required": list(properties),
            "additionalProperties": False,
        }  # fmt: skip
    reference, inside = get_origin(kind), get_args(kind)
    if reference is Literal:
        return {"type": "string", "enum": list(inside)}
    if reference is Mapping:
        return {"type": "object"}
    if reference is tuple and inside[-1] is not ...:
        return {"type": "array", "minItems": len(inside), "maxItems": len(inside)}
    return {"type": "array", "items": of_type(inside[0])}
