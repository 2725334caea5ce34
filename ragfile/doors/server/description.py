"""/openapi.json: what can be asked, in OpenAPI 3.1, made of the operations themselves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ragfile import __version__
from ragfile.doors.server.operations import OPEN_TO_ALL, Operation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragfile.ground.json_schema import Schema

ERROR = {
    "type": "object", "required": ["error"],
    "properties": {
        "error": {
            "type": "object", "required": ["type", "message", "param", "code", "request_id"],
            "properties": {
                "type": {"type": "string"}, "message": {"type": "string"},
                "param": {"type": ["string", "null"]}, "code": {"type": "integer"},
                "request_id": {"type": "string"},
            },
        },
    },
}  # fmt: skip
FAILURES = {
    400: "the request is not well formed", 401: "a key is missing or wrong",
    403: "the key, the Host or the Origin does not allow this", 404: "there is no such thing",
    405: "the method is not served here", 408: "the body came too slowly",
    409: "something else is in its place", 413: "the body is too large",
    415: "the body is of another type", 422: "a value is wrong; param says which",
    500: "this failed inside the server", 502: "a server that was asked failed",
    503: "come again later",
}  # fmt: skip
ALWAYS = (400, 401, 403, 405, 422, 500, 503)
WITH_BODY = (408, 413, 415, 502)
STREAMED = {"text/event-stream": {"schema": {"type": "string"}}}


def describe(operations: Iterable[Operation]) -> dict[str, Any]:
    """The whole description."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        path = operation.path.replace(":text}", "}")
        paths.setdefault(path, {})[operation.method.lower()] = _described(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "ragfile", "version": __version__, "license": {"name": "MIT"}},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": {"Error": ERROR},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"key": []}],
    }  # fmt: skip


def _described(operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": _name(operation), "summary": operation.summary,
        "parameters": [*map(_place, re.findall(r"{(\w+)", operation.path)), *_query(operation)],
        "responses": _responses(operation),
    }  # fmt: skip
    if operation.scope == OPEN_TO_ALL:
        found["security"] = []
    if operation.body is not None:
        content = {operation.media: {"schema": operation.body}}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _name(operation):
    words = re.findall(r"\w+", operation.path.removeprefix("/v1").replace(":text", ""))
    return "_".join([operation.method.lower(), *words])


def _place(name):
    schema = {"type": "string", "minLength": 1}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query(operation):
    for name, schema in operation.query.items():
        yield {"name": name, "in": "query", "required": False, "schema": schema}


def _responses(operation):
    media = {operation.answers: {"schema": operation.returns}}
    found = {str(operation.status): {"description": "the answer", "content": media}}
    if operation.is_ask:
        found[str(operation.status)]["content"] |= STREAMED
    codes = {*ALWAYS, *operation.failures, *(WITH_BODY if operation.body is not None else ())}
    if "{" in operation.path or operation.is_ask:
        codes.add(404)
    return found | {str(code): _failure(code) for code in sorted(codes)}


def _failure(code):
    schema: Schema = {"$ref": "#/components/schemas/Error"}
    content = {"application/json": {"schema": schema}}
    return {"description": FAILURES[code], "content": content}
