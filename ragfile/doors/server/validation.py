"""Check the bodies and queries of requests against the schemas of /openapi.json."""

from __future__ import annotations

from typing import Any, cast

from ragfile.doors.server.failures import HttpFailure
from ragfile.ground.json_schema import Schema, fault, with_integers


def checked(schema: Schema, body: object) -> dict[str, Any]:
    """Return a body that its schema takes; raise Failure 422, which names the parameter, if not."""
    refused(schema, body)
    return with_integers(schema, cast("dict[str, Any]", body))


def refused(schema: Schema, value: object, path: str = "") -> None:
    """Raise Failure 422 if a schema does not take a value; a body's own `param` is "body"."""
    found = fault(schema, value, path)
    if found is not None:
        raise HttpFailure(422, found.reason, param=found.path or "body")


def of_query(schemas: dict[str, Schema], given: list[tuple[str, str]]) -> dict[str, str | int]:
    """Return the parameters of a URL by their types; each at most once, and none that is unknown."""
    found: dict[str, str | int] = {}
    for name, text in given:
        if name in found:
            raise HttpFailure(422, f"the parameter {name} is given twice", param=name)
        found[name] = _read(schemas.get(name, {}), text)
    refused({"properties": schemas, "additionalProperties": False}, found)
    return found


def _read(schema: Schema, text: str) -> str | int:
    """Return an integer for a parameter that is one."""
    if schema.get("type") == "integer" and text.lstrip("-").isdecimal() and len(text) < 20:
        return int(text)
    return text
