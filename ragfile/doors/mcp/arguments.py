"""Check the arguments of a tool against its schema."""

from __future__ import annotations

from typing import Any

from ragfile.ground.json_schema import Schema, fault, with_integers


def checked(tool: str, schema: Schema, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not null; raise a ValueError that names an invalid one."""
    given = {name: value for name, value in arguments.items() if value is not None}
    found = fault(schema, given)
    if found is not None:
        raise ValueError(f"{tool}: {found.reason}")
    return with_integers(schema, given)
