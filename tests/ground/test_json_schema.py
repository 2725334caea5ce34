"""Every constraint of every schema that a door publishes is checked, and a refusal names its parameter."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from ragfile.doors.mcp.tools import ARGUMENTS, REQUIRED
from ragfile.ground.json_schema import CHECKS, Fault, fault

Wrong = tuple[str, Any]  # the path of what is wrong, and the whole value
SAMPLES = ["x", 1.5, True, None, {}, []]
PLAIN = {"string": "x", "integer": 1, "number": 1, "boolean": True, "object": {}, "array": []}


def tool(name: str) -> dict[str, Any]:
    return {
        "type": "object", "properties": ARGUMENTS[name], "required": REQUIRED.get(name, []),
        "additionalProperties": False,
    }  # fmt: skip


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas of all bodies, all queries and all tools by name."""
    found = {name: tool(name) for name in ARGUMENTS}
    pytest.importorskip("starlette", reason="the extra server is not installed")
    from ragfile.doors.server.endpoints import operations
    from ragfile.doors.server.settings import Settings

    for operation in operations(Settings(files=("kb.ragfile",), can_write=True)):
        name = f"{operation.method} {operation.path}"
        if operation.query:
            found[f"{name}?"] = {"properties": operation.query, "additionalProperties": False}
        if operation.body and operation.media == "application/json":
            found[name] = operation.body
    return found


def example(schema: dict[str, Any]) -> Any:
    """Return a value that a schema takes, with what it requires and no more."""
    if "anyOf" in schema:
        return example(schema["anyOf"][0])
    if "enum" in schema:
        return schema["enum"][0]
    if "pattern" in schema:
        return "1-2"
    if schema.get("type") == "array":
        return [example(schema.get("items", {"type": "string"}))] * schema.get("minItems", 0)
    required = [*schema.get("required", ()), *schema.get("oneOf", [{}])[0].get("required", ())]
    if "properties" in schema:
        return {name: example(schema["properties"][name]) for name in required}
    if "minimum" in schema or "exclusiveMinimum" in schema:
        return schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
    return copy.copy(PLAIN[schema["type"]])


def kinds_of(schema: dict[str, Any]) -> list[str]:
    """The types that a schema takes, those of its choices too."""
    choices = schema.get("anyOf")
    return [k for one in choices for k in kinds_of(one)] if choices else [schema["type"]]


def is_of(kinds: Any, value: Any) -> bool:
    """The slow way: by what JSON calls a value."""
    kind = {str: "string", float: "number", bool: "boolean", type(None): "null", dict: "object"}
    return kind.get(type(value), "array") in ([kinds] if isinstance(kinds, str) else kinds)


def wrong_values(schema: dict[str, Any], path: str = "") -> Iterator[Wrong]:
    """Yield a value against each constraint of a schema, and the path that a refusal must name."""
    for keyword in schema.keys() - {"description"}:
        if keyword == "type":
            value = next(one for one in SAMPLES if not is_of(schema["type"], one))
            yield path, value
        elif keyword == "enum":
            yield path, "no such value"
        elif keyword == "pattern":
            yield path, "no such text"
        elif keyword == "minimum":
            yield path, schema["minimum"] - 1
        elif keyword == "exclusiveMinimum":
            yield path, schema["exclusiveMinimum"]
        elif keyword == "maximum":
            yield path, schema["maximum"] + 1
        elif keyword == "minItems":
            yield (
                path,
                [example(schema.get("items", {"type": "string"}))] * (schema["minItems"] - 1),
            )
        elif keyword == "maxItems":
            yield (
                path,
                [example(schema.get("items", {"type": "string"}))] * (schema["maxItems"] + 1),
            )
        elif keyword == "maxProperties":
            one = example(schema["additionalProperties"])
            yield path, {f"name{i}": one for i in range(schema["maxProperties"] + 1)}
        elif keyword == "anyOf":
            yield (
                path,
                next(v for v in SAMPLES if not is_of(kinds_of(schema), v)),
            )
        elif keyword == "oneOf":
            first, second = (choice["required"][0] for choice in schema["oneOf"])
            both = {name: example(schema["properties"][name]) for name in (first, second)}
            yield from ((path + first, {}), (path + second, both))
        elif keyword in ("items", "properties", "required", "additionalProperties"):
            yield from wrong_members(schema, keyword, path)
        else:
            raise AssertionError(f"{keyword} is not known here")


def wrong_members(schema: dict[str, Any], keyword: str, path: str) -> Iterator[Wrong]:
    dot = f"{path}." if path else ""
    if keyword == "items":
        yield from ((at, [one]) for at, one in wrong_values(schema["items"], f"{path}[0]"))
    elif keyword == "required":
        for name in schema["required"]:
            rest = {k: v for k, v in example(schema).items() if k != name}
            yield dot + name, rest
    elif keyword == "properties":
        for name, rule in schema["properties"].items():
            for at, one in wrong_values(rule, dot + name):
                yield at, {**example(schema), name: one}
    elif schema["additionalProperties"] is False:
        yield f"{dot}nope", {**example(schema), "nope": 1}
    else:
        for at, one in wrong_values(schema["additionalProperties"], f"{dot}nope"):
            yield at, {"nope": one}


@pytest.mark.parametrize("name", schemas())
def test_each_constraint_refuses_a_value_and_names_it(name: str) -> None:
    schema = schemas()[name]
    assert fault(schema, example(schema)) is None
    for path, value in wrong_values(schema):
        found = fault(schema, value)
        assert found is not None, (path, value)
        assert found.path == path, (found, value)
        assert found.reason.startswith((path or "the body", "give ")), found


def test_the_schemas_have_hundreds_of_constraints() -> None:
    assert sum(1 for schema in schemas().values() for _ in wrong_values(schema)) > 250


@pytest.mark.parametrize("name", schemas())
def test_a_schema_has_only_keywords_that_are_checked(name: str) -> None:
    def keywords(schema: Any) -> Iterator[str]:
        yield from schema
        members = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
        others = schema.get("additionalProperties")
        members += [schema["items"]] if "items" in schema else []
        for one in members + ([others] if isinstance(others, dict) else []):
            yield from keywords(one)

    assert set(keywords(schemas()[name])) - {"description"} <= set(CHECKS)


@pytest.mark.parametrize(
    ("schema", "value", "path", "reason"),
    [
        ({"type": "integer"}, 2.5, "", "the body must be an integer, not 2.5"),
        ({"type": ["string", "null"]}, {}, "", "the body must be a string or null, not an object"),
        ({"type": "number"}, float("nan"), "", "the body must be a number, not NaN"),
        ({"properties": {"k": {"minimum": 1, "maximum": 50}}}, {"k": 51}, "k",
         "k must be at least 1 and at most 50, not 51"),
        ({"properties": {"v": {"items": {"type": "number"}}}}, {"v": [1, "a"]}, "v[1]",
         'v[1] must be a number, not "a"'),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"b": 1}, "b",
         "b is unknown; known here: a"),
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, ["a", 1],
         "[1]", "[1] must be a string, not 1"),
    ],
)  # fmt: skip
def test_a_reason_is_a_sentence(schema: Any, value: Any, path: str, reason: str) -> None:
    assert fault(schema, value) == Fault(path, reason)


def test_verdicts_are_those_of_another_implementation() -> None:
    jsonschema = pytest.importorskip(
        "jsonschema", reason="jsonschema, the oracle, is not installed"
    )
    for schema in schemas().values():
        oracle = jsonschema.Draft202012Validator(schema)
        values = [example(schema), *(value for _, value in wrong_values(schema)), *SAMPLES]
        for value in values:
            assert (fault(schema, value) is None) == oracle.is_valid(value), (schema, value)
