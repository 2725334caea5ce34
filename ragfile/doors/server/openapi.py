"""/openapi.json: the operations as OpenAPI 3.1."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ragfile import __version__
from ragfile.doors.server.operations import OPEN_TO_ALL, Operation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    400: "the request is malformed", 401: "the key is missing or wrong",
    403: "the key, the Host or the Origin does not allow this", 404: "not found",
    405: "the method is not supported at this path", 408: "the body arrived too slowly",
    409: "the collection's state does not allow this", 413: "the body is too large",
    415: "the body's media type is not supported", 422: "a value is invalid; param names it",
    500: "internal error", 502: "a model provider or remote server failed",
    503: "temporarily unavailable; retry later", 507: "the disk is full; nothing was changed",
}  # fmt: skip
ALWAYS = (400, 401, 403, 405, 422, 500, 503)
WITH_BODY = (408, 413, 415, 502)
STREAMED = {"text/event-stream": {"schema": {"type": "string"}}}


def describe(operations: Iterable[Operation]) -> dict[str, Any]:
    """Return the OpenAPI document of the operations."""
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


def _name(operation: Operation) -> str:
    """Return an operation's id, made of its method and path."""
    words = re.findall(r"\w+", operation.path.removeprefix("/v1").replace(":text", ""))
    return "_".join([operation.method.lower(), *words])


def _place(name: str) -> dict[str, Any]:
    """Return the parameter of a path segment."""
    schema = {"type": "string", "minLength": 1}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query(operation: Operation) -> Iterator[dict[str, Any]]:
    for name, schema in operation.query.items():
        yield {"name": name, "in": "query", "required": False, "schema": schema}


def _responses(operation: Operation) -> dict[str, Any]:
    media = {operation.answers: {"schema": operation.returns}}
    content = media | STREAMED if operation.is_ask else media
    found = {str(operation.status): {"description": "the answer", "content": content}}
    codes = {*ALWAYS, *operation.failures, *(WITH_BODY if operation.body is not None else ())}
    if "{" in operation.path or operation.is_ask:
        codes.add(404)
    return found | {str(code): _failure(code) for code in sorted(codes)}


def _failure(code: int) -> dict[str, Any]:
    schema: Schema = {"$ref": "#/components/schemas/Error"}
    content = {"application/json": {"schema": schema}}
    return {"description": FAILURES[code], "content": content}
