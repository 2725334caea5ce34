"""Check the bodies and queries of requests against the schemas of /openapi.json."""

from __future__ import annotations

from typing import Any, cast

from ragfile.doors.server.failures import HttpFailure
from ragfile.ground.json_schema import Schema, fault, with_integers


def checked(schema: Schema, body: object) -> dict[str, Any]:
    """Return a valid body; raise a failure 422 that names the parameter for any other."""
    refused(schema, body)
    return with_integers(schema, cast("dict[str, Any]", body))


def refused(schema: Schema, value: object, path: str = "") -> None:
    """Raise a failure 422 for an invalid value; a body's own `param` is "body"."""
    found = fault(schema, value, path)
    if found is not None:
        raise HttpFailure(422, found.reason, param=found.path or "body")


def of_query(schemas: dict[str, Schema], given: list[tuple[str, str]]) -> dict[str, str | int]:
    """Return the parameters of a URL by their types; refuse unknown and repeated ones."""
    found: dict[str, str | int] = {}
    for name, text in given:
        if name in found:
            raise HttpFailure(422, f"the parameter {name:.60} is given twice: give it once",
                              param=name)  # fmt: skip
        found[name] = _read(schemas.get(name, {}), text)
    refused({"properties": schemas, "additionalProperties": False}, found)
    return found


def _read(schema: Schema, text: str) -> str | int:
    """Return an integer for a parameter that is one."""
    if schema.get("type") == "integer" and text.lstrip("-").isdecimal() and len(text) < 20:
        return int(text)
    return text
