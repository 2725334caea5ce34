"""Arguments of a tool held against its schema: the few words of JSON Schema that the tools use."""

from __future__ import annotations

from typing import Any

KINDS = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


def checked(
    tool: str, schema: dict[str, Any], arguments: dict[str, Any], limits: dict[str, tuple[int, int]]
) -> dict[str, Any]:
    """The arguments, if the schema takes them; ValueError with what it would take else."""
    known = schema["properties"]
    unknown = [name for name in arguments if name not in known]
    if unknown:
        raise ValueError(f"{tool} does not know {', '.join(unknown)}; it takes {', '.join(known)}")
    missing = [name for name in schema.get("required", ()) if name not in arguments]
    if missing:
        raise ValueError(f"{tool} needs {', '.join(missing)}")
    given = {name: value for name, value in arguments.items() if value is not None}
    return {name: _value(name, known[name], value, limits) for name, value in given.items()}


def _value(name, rule, value, limits):
    kind = rule["type"]
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)  # some clients know one kind of number
    if not isinstance(value, KINDS[kind]) or (kind == "integer" and isinstance(value, bool)):
        raise ValueError(f"{name} is of type {kind}, not {type(value).__name__}")
    if "enum" in rule and value not in rule["enum"]:
        raise ValueError(f"{name} is one of {', '.join(rule['enum'])}, not {value!r}")
    least, most = limits.get(name, (value, value))
    if kind == "integer" and not least <= value <= most:
        raise ValueError(f"{name} is from {least} to {most}, not {value}")
    return value
