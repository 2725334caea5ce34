"""All that a server can be asked, in one list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile.server import asking, facets, native
from ragfile.server import schemas as s
from ragfile.server.operations import OPEN_TO_ALL, Operation

if TYPE_CHECKING:
    from ragfile.server.settings import Settings

ONE = "/v1/collections/{c}"
GENERATION = {"generation": s.GENERATION}


def operations(settings: Settings) -> list[Operation]:
    """The operations of a server with these settings."""
    return [*_reading(settings)]


def _reading(settings):
    limit = {"type": "integer", "minimum": 1, "maximum": native.LONGEST_PAGE}
    pages = {"prefix": s.TEXT, "after": s.TEXT, "limit": limit, **GENERATION}
    span = {"type": "string", "pattern": "^[0-9]{1,15}-[0-9]{1,15}$"}
    around = {"span": span, "context": {"type": "integer", "minimum": 0, "maximum": 100_000}}
    return [
        Operation("GET", "/v1/health", native.health, "Whether the server answers.",
                  scope=OPEN_TO_ALL,                  returns=s.shown(status=s.TEXT, version=s.TEXT)),
        Operation("GET", "/v1/collections", native.collections, "All collections.",
                  returns=s.shown(collections=s.many(s.COLLECTION))),
        Operation("GET", ONE, native.collection, "One collection.", returns=s.COLLECTION),
        Operation("POST", ONE + "/search", native.search, "Search for passages.",
                  body=s.search_body(settings), returns=s.FOUND),
        Operation("POST", ONE + "/ask", asking.ask, "Answer a question with its sources.",
                  body=s.ask_body(settings), returns=s.ANSWER, is_ask=True),
        Operation("GET", ONE + "/documents", native.documents, "Documents in order of their ids.",
                  query=pages, returns=s.DOCUMENTS),
        Operation("GET", ONE + "/documents/{id:path}", native.document, "A document, or a span.",
                  query=around | GENERATION, returns=s.STRETCH),
        Operation("GET", ONE + "/chunks/{row:path}", native.chunk, "A chunk by its row or id.",
                  query=GENERATION, returns=s.CHUNK),
        Operation("GET", ONE + "/facets", facets.facets, "Tags and metadata with their counts.",
                  returns=s.FACETS),
    ]  # fmt: skip
