"""The shapes of bodies, in JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragfile.search.question import MODES

if TYPE_CHECKING:
    from ragfile.doors.server.settings import Settings
    from ragfile.ground.json_schema import Schema

TEXT, WHOLE, NUMBER, YES = (
    {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"},
)  # fmt: skip
COUNT = {"type": "integer", "minimum": 0}
GENERATION = {"type": "integer", "minimum": 0, "maximum": 1 << 53}
FREE = {"type": "object"}
FUSIONS = {"type": "string", "enum": ["calibrated", "rrf", "blend"]}
ROWS = [
    {"type": "array", "items": TEXT},
    {"type": "array", "items": COUNT},
    {"type": "array", "items": YES},
]
WHERE = {"anyOf": [FREE, *ROWS]}
VECTOR = {"type": "array", "items": NUMBER, "minItems": 1, "maxItems": 65536}


def many(items: Schema, **bounds: int) -> Schema:
    """A list of such values."""
    return {"type": "array", "items": items, **bounds}


def record(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """An object with these members and no others."""
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


def shown(**properties: Schema) -> Schema:
    """An object of an answer: all of these are there, and there can be more."""
    return {"type": "object", "properties": properties, "required": list(properties)}


BOOST = record(
    ("field", "weight", "reference", "half_life"),
    field=TEXT, weight=NUMBER, reference={"anyOf": [NUMBER, TEXT]}, half_life=NUMBER,
)  # fmt: skip
PAGES = 10  # of the largest k that a client can go on


def search_options(settings: Settings) -> dict[str, Schema]:
    """The options of rf.search, but for the question."""
    most = {"type": "integer", "minimum": 0, "maximum": settings.max_k}
    return {
        "k": most, "mode": {"type": "string", "enum": list(MODES)}, "where": WHERE,
        "tags_any": many(TEXT), "tags_all": many(TEXT), "pool": most,
        "fusion": {"anyOf": [FUSIONS, {"type": "array", "minItems": 2, "maxItems": 2}]},
        "vector": {"anyOf": [VECTOR, many(VECTOR)]}, "drop_repeats": YES, "cache": YES, "generation": GENERATION,
        "threads": {"type": "integer", "minimum": 1, "maximum": 256},
        "offset": {"type": "integer", "minimum": 0, "maximum": PAGES * settings.max_k},
        "min_score": NUMBER, "similar_to": {"anyOf": [TEXT, COUNT]}, "group": most, "query_syntax": YES, "rerank": YES,
        "rewrites": many(TEXT, maxItems=settings.max_questions),
        "diversity": {"type": "number", "minimum": 0, "maximum": 1},
        "effort": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        "boost": {"anyOf": [BOOST, many(BOOST, maxItems=16)]},
        "fields": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 255}},
    }  # fmt: skip


def search_body(settings: Settings) -> Schema:
    """One question, or a batch of them."""
    options: Any = search_options(settings)
    each = {"anyOf": [FREE, *ROWS, {"type": "null"}]}
    options["where"] = {"anyOf": [FREE, *ROWS, many(each)]}
    questions = many(TEXT, maxItems=settings.max_questions)
    vectors = many(VECTOR, maxItems=settings.max_questions)
    body = record((), query=TEXT, queries=questions, vectors=vectors, **options)
    return body | {"oneOf": [{"required": ["query"]}, {"required": ["queries"]}]}


TURN = record(("role", "content"), role=TEXT, content=TEXT)
TEXTS = {"anyOf": [TEXT, many(TEXT)]}


def ask_body(settings: Settings) -> Schema:
    """A question for an answer. What the library checks itself is not narrowed here."""
    return record(
        ("question",), question=TEXT, **search_options(settings),
        budget={"type": "integer", "minimum": 0, "maximum": 1_000_000},
        history=many(TURN), system=TEXTS, model=TEXT, temperature=NUMBER, max_tokens=WHOLE,
        stop=TEXTS, seed=WHOLE, stream=YES, allow_ungrounded=YES,
    )  # fmt: skip


HIT = shown(
    id=TEXT, doc_id=TEXT, chunk_index=WHOLE, text=TEXT, score=NUMBER, score_type=TEXT,
    scores={"type": "object", "additionalProperties": NUMBER}, tags=many(TEXT), metadata=FREE,
    source=TEXT, start=WHOLE, end=WHOLE,
)  # fmt: skip
HITS = shown(
    hits=many(HIT), degraded=TEXT, timings=FREE, request_id=TEXT, generation=WHOLE, exact=YES,
    estimated_recall=NUMBER,
)  # fmt: skip
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
COLLECTION = shown(name=TEXT)
FACETS = shown(tags=many(FREE), fields=many(FREE), generation=WHOLE)
STORED = shown(id=TEXT, chunks=WHOLE, generation=WHOLE)
DELETED = shown(id=TEXT, generation=WHOLE)
UPLOAD = shown(
    id=TEXT, name=TEXT, collection=TEXT, user=TEXT, date=TEXT, size=WHOLE, checksum=TEXT, mime=TEXT,
    state={"type": "string", "enum": ["queued", "indexed", "error"]}, error=TEXT,
    documents=many(TEXT), chunks=WHOLE, tags=many(TEXT), metadata=FREE, kept=YES, duplicate=YES,
    created=WHOLE,
)  # fmt: skip
UPLOADS = shown(files=many(UPLOAD))
SENT = {
    "type": "object", "required": ["file"],
    "properties": {
        "file": many({"type": "string", "format": "binary"}, minItems=1),
        "dedupe": TEXT, "keep": TEXT, "tags": TEXT, "metadata": TEXT,
    },
}  # fmt: skip
