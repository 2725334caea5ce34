"""The JSON Schemas of request and response bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile.answer.ask_options import ASK
from ragfile.chat.protocol import HOTTEST, STOPS
from ragfile.options import BATCH, SEARCH, K
from ragfile.search.option_schemas import schema_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ragfile.doors.server.settings import Settings
    from ragfile.ground.json_schema import Schema
    from ragfile.ground.option_table import Option

TEXT, WHOLE, NUMBER, YES = (
    {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"},
)  # fmt: skip
COUNT = {"type": "integer", "minimum": 0}
GENERATION = {"type": "integer", "minimum": 0, "maximum": 1 << 53}
FREE = {"type": "object"}
EXCERPTS = YES | {
    "description": "Return excerpts for people, without markup, by the id of the passage."
}
WITH_SUPPORT = YES | {
    "description": "Return how well the passages support an answer, and the question's words that each lacks."
}
NULL = {"type": "null"}
ONE = {"type": "integer", "enum": [1]}
POSITIVE = {"type": "integer", "minimum": 1}
TEMPERATURE = {"type": "number", "minimum": 0, "maximum": HOTTEST}


def many(items: Schema, **bounds: int) -> Schema:
    """Return the schema of a list of such values."""
    return {"type": "array", "items": items, **bounds}


def record(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """Return the schema of an object with these members and no others."""
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


def nullable(schema: Schema) -> Schema:
    """Return a schema whose optional members may also be null, at every depth."""
    if "anyOf" in schema:
        return schema | {"anyOf": [nullable(one) for one in schema["anyOf"]]}
    if "items" in schema:
        return schema | {"items": nullable(schema["items"])}
    if "properties" not in schema:
        return schema
    needed = schema.get("required", ())
    members = {name: nullable(one) for name, one in schema["properties"].items()}
    optional = {name: _or_null(one) for name, one in members.items() if name not in needed}
    return schema | {"properties": members | optional}


def _or_null(schema: Schema) -> Schema:
    """Return the schema of such a value or null."""
    return {"anyOf": [*(schema["anyOf"] if schema.keys() == {"anyOf"} else (schema,)), NULL]}


def given(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of an object that are not null: null stands for an absent one."""
    return {name: value for name, value in body.items() if value is not None}


def shown(**properties: Schema) -> Schema:
    """Return the schema of a response's object: all of these members, and possibly more."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def options(table: Mapping[str, Option], settings: Settings) -> dict[str, Schema]:
    """Return the schemas of the options that this server offers, within its limits."""
    offered = {name: option for name, option in table.items() if "rest" not in option.absent}
    return {name: option_schema(option, settings) for name, option in offered.items()}


def option_schema(option: Option, settings: Settings) -> Schema:
    """Return the schema of an option, within the limits of this server."""
    schema = schema_of(option) | {"description": option.description}
    if option.limit is None:
        return schema
    setting, factor = option.limit
    return limited(schema, factor * getattr(settings, setting) if setting else factor)


def limited(schema: Schema, most: int) -> Schema:
    """Return the schema for whole numbers and lists of at most this size."""
    if "anyOf" in schema:
        return schema | {"anyOf": [limited(one, most) for one in schema["anyOf"]]}
    bound = {"integer": {"maximum": most}, "array": {"maxItems": most}}
    return schema | bound.get(schema["type"], {})


def search_body(settings: Settings) -> Schema:
    """Return the schema of a search: one question, or a batch."""
    questions = many(TEXT, maxItems=settings.max_questions)
    found = options({"k": K} | SEARCH.options | BATCH.options, settings)
    body = record(
        (), query=TEXT, queries=questions, generation=GENERATION, excerpts=EXCERPTS,
        support=WITH_SUPPORT, **found,
    )  # fmt: skip
    return body | {"oneOf": [{"required": ["query"]}, {"required": ["queries"]}]}


def ask_body(settings: Settings) -> Schema:
    """Return the schema of a question to `ask`."""
    found = options(ASK.options, settings)
    return record(
        ("question",), question=TEXT, generation=GENERATION, stream=YES, excerpts=EXCERPTS, **found
    )


TEXTS = {"anyOf": [TEXT, many(TEXT)]}
STOP = {"type": "string", "minLength": 1}
STOP_TEXTS = {"anyOf": [STOP, many(STOP, minItems=1, maxItems=STOPS)]}


HIT = shown(
    id=TEXT, doc_id=TEXT, chunk_index=WHOLE, text=TEXT, score=NUMBER, score_type=TEXT,
    scores={"type": "object", "additionalProperties": NUMBER}, tags=many(TEXT), metadata=FREE,
    source=TEXT, start=WHOLE, end=WHOLE,
)  # fmt: skip
SUPPORT = shown(
    strength={"type": "string", "enum": ["strong", "fair", "weak"]}, share=NUMBER, needed=NUMBER,
    missing=many(TEXT), apart=YES,
)  # fmt: skip
HITS = shown(
    hits=many(HIT), degraded=TEXT, timings=FREE, request_id=TEXT, generation=WHOLE, exact=YES,
    estimated_recall=NUMBER,
)  # fmt: skip
HITS["properties"] |= {
    "support": {"anyOf": [SUPPORT, NULL]},
    "missing": {"type": "object", "additionalProperties": many(TEXT)},
    "lines": {"type": "object", "additionalProperties": many(WHOLE, minItems=2, maxItems=2)},
    "standing": {"type": "object", "additionalProperties": TEXT},
}
FOUND = {"anyOf": [HITS, shown(results=many(HITS), generation=WHOLE)]}
ANSWER = shown(
    question=TEXT, text=TEXT, citations=many(FREE), sources=many(FREE), dropped=many(FREE),
    supported=YES, unsupported=many(FREE), unknown=many(WHOLE), degraded=TEXT, note=TEXT, model=TEXT,
    finish=TEXT, rag=FREE, usage=FREE, timings=FREE, request_id=TEXT, generation=WHOLE,
)  # fmt: skip
LISTED = shown(id=TEXT, source=TEXT, tags=many(TEXT), metadata=FREE, chunks=WHOLE, bytes=WHOLE)
DOCUMENTS = shown(
    documents=many(LISTED), total=WHOLE, next={"type": ["string", "null"]}, generation=WHOLE
)
STRETCH = shown(
    id=TEXT, source=TEXT, tags=many(TEXT), metadata=FREE, start=WHOLE, end=WHOLE, size=WHOLE,
    text=TEXT, before=TEXT, after=TEXT, checksum={"type": ["string", "null"]}, generation=WHOLE,
)  # fmt: skip
CHUNK = shown(
    row=WHOLE, id=TEXT, doc_id=TEXT, chunk_index=WHOLE, text=TEXT, tags=many(TEXT), metadata=FREE,
    source=TEXT, start=WHOLE, end=WHOLE, generation=WHOLE,
)  # fmt: skip
LINK = shown(
    source=TEXT, document={"type": ["string", "null"]}, target=TEXT, kind=TEXT, fragment=TEXT, text=TEXT,
    start={"type": "integer"}, end={"type": "integer"}, weight=NUMBER,
)  # fmt: skip
LINKS = shown(id=TEXT, links=many(LINK), backlinks=many(LINK), generation=WHOLE)
COLLECTION = shown(name=TEXT)
FACETS = shown(tags=many(FREE), fields=many(FREE), generation=WHOLE)
STORED = shown(id=TEXT, chunks=WHOLE, generation=WHOLE)
DELETED = shown(id=TEXT, generation=WHOLE)
UPLOAD = shown(
    id=TEXT, name=TEXT, collection=TEXT, user=TEXT, date=TEXT, size=WHOLE, checksum=TEXT, mime=TEXT,
    state={"type": "string", "enum": ["queued", "indexed", "error"]}, error=TEXT,
    documents=many(TEXT), chunks=WHOLE, tags=many(TEXT), metadata=FREE, kept=YES, duplicate=YES,
    original=TEXT, replace=YES,
    action={"type": "string", "enum": ["", "added", "replaced", "numbered", "duplicate"]},
    attempts=WHOLE, retries=WHOLE, request_id=TEXT, created=WHOLE,
)  # fmt: skip
UPLOADS = shown(files=many(UPLOAD))
SENT = {
    "type": "object", "required": ["file"],
    "properties": {
        "file": many({"type": "string", "format": "binary"}, minItems=1),
        "dedupe": TEXT, "keep": TEXT, "replace": TEXT, "tags": TEXT, "metadata": TEXT,
    },
}  # fmt: skip
