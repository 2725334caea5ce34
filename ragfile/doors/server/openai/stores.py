"""Vector stores: each collection is one, its documents are its files."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

from ragfile.doors.server import schemas as s
from ragfile.doors.server.failures import HttpFailure

if TYPE_CHECKING:
    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.settings import Settings
    from ragfile.doors.server.shared_state import Service
    from ragfile.ground.json_schema import Schema

COMPARED = {n: f"${n}" for n in ("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin")}
JOINED = ("and", "or")
DEEPEST = 32
FOUND, LARGEST = 10, 50  # results, as OpenAI has it
FILES, MOST_FILES = 20, 100
LIST = s.shown(object=s.TEXT, data=s.many(s.FREE), has_more=s.YES)
STORE = s.shown(id=s.TEXT, object=s.TEXT, name=s.TEXT, status=s.TEXT, file_counts=s.FREE)
FILE = s.shown(id=s.TEXT, object=s.TEXT, vector_store_id=s.TEXT, status=s.TEXT)
RESULTS = s.shown(object=s.TEXT, search_query=s.many(s.TEXT), data=s.many(s.FREE), has_more=s.YES)
CONTENT = s.shown(object=s.TEXT, data=s.many(s.FREE), has_more=s.YES)
PAGES = {
    "limit": {"type": "integer", "minimum": 1, "maximum": MOST_FILES}, "after": s.TEXT,
    "before": s.TEXT, "order": {"type": "string", "enum": ["asc", "desc"]},
    "filter": {"type": "string", "enum": ["in_progress", "completed", "failed", "cancelled"]},
}  # fmt: skip


def search_body(settings: Settings) -> Schema:
    """A question with OpenAI's filters."""
    ranking = {"type": "object", "properties": {"score_threshold": s.NUMBER}}
    most = {"type": "integer", "minimum": 1, "maximum": min(LARGEST, settings.max_k)}
    return s.record(
        ("query",), query={"anyOf": [s.TEXT, s.many(s.TEXT, minItems=1)]}, filters=s.FREE,
        max_num_results=most, ranking_options=ranking, rewrite_query=s.YES,
    )  # fmt: skip


def stores(service: Service, call: Call) -> dict[str, Any]:
    """All collections that can be read."""
    shown = []
    for name in service.collections.names:
        try:
            shown.append(_store(service, name))
        except Exception:  # noqa: BLE001 - GET /v1/collections says why
            continue
    return _page(shown, has_more=False)


def store(service: Service, call: Call) -> dict[str, Any]:
    """One collection."""
    return _store(service, call.path["c"])


def _store(service, name):
    info = service.collections.at_commit(name).info
    counts = {"in_progress": 0, "completed": info["documents"], "failed": 0, "cancelled": 0}
    made = info["created"] // 10**9
    return {
        "id": name, "object": "vector_store", "name": name, "created_at": made,
        "last_active_at": made, "usage_bytes": info["size"], "status": "completed",
        "file_counts": counts | {"total": info["documents"]}, "metadata": {},
    }  # fmt: skip


def _page(shown, has_more):
    return {
        "object": "list", "data": shown, "has_more": has_more,
        "first_id": shown[0]["id"] if shown else None, "last_id": shown[-1]["id"] if shown else None,
    }  # fmt: skip


# ---------------------------------------------------------------------------------- searching ---


def search(service: Service, call: Call) -> dict[str, Any]:
    """The hits of rf.search. Several questions are asked as one."""
    body, rf = call.body, service.collections.at_commit(call.path["c"])
    queries = [body["query"]] if isinstance(body["query"], str) else body["query"]
    where = where_of(body["filters"]) if body.get("filters") else None
    found = rf.search(
        "\n".join(queries), body.get("max_num_results", FOUND), where=where,
        request_id=call.request_id,
    )  # fmt: skip
    least = body.get("ranking_options", {}).get("score_threshold", float("-inf"))
    call.sink |= {"searches": 1, "timings": found.timings, "degraded": found.degraded}
    return {
        "object": "vector_store.search_results.page", "search_query": queries,
        "data": [_result(hit) for hit in found if hit.score >= least],
        "has_more": False, "next_page": None,
    }  # fmt: skip


def _result(hit):
    return {
        "file_id": hit.doc_id, "filename": hit.source or hit.doc_id, "score": hit.score,
        "attributes": _attributes(hit.metadata), "content": [{"type": "text", "text": hit.text}],
    }  # fmt: skip


def _attributes(metadata):
    """Of metadata what OpenAI's attributes can be."""
    return {name: v for name, v in metadata.items() if isinstance(v, str | int | float | bool)}


def where_of(given: Any, depth: int = 0) -> dict[str, Any]:
    """A filter of ours for one of OpenAI's."""
    kind = given.get("type") if isinstance(given, dict) else None
    if kind in JOINED and isinstance(given.get("filters"), list) and depth < DEEPEST:
        _refuse_others(given, ("type", "filters"))
        return {f"${kind}": [where_of(part, depth + 1) for part in given["filters"]]}
    if kind in COMPARED and isinstance(given.get("key"), str) and "value" in given:
        _refuse_others(given, ("type", "key", "value"))
        return {given["key"]: {COMPARED[kind]: given["value"]}}
    kinds = ", ".join((*COMPARED, *JOINED))
    said = "a filter is {type, key, value}, or {type, filters} for and and or; types are"
    raise HttpFailure(422, f"{said} {kinds}", param="filters")


def _refuse_others(given, known):
    other = [name for name in given if name not in known]
    if other:
        raise HttpFailure(422, f"a filter does not have {other[0]!r:.60}", param="filters")


# -------------------------------------------------------------------------------------- files ---


def files(service: Service, call: Call) -> dict[str, Any]:
    """The documents, as files, a page at a time."""
    name, asked = call.path["c"], call.query
    rf = service.collections.at_commit(name)
    ids = service.of_commit(rf, "ids", lambda rf: rf.document_ids())
    if asked.get("filter", "completed") != "completed":
        ids = []
    chosen, limit = _chosen(ids, asked), asked.get("limit", FILES)
    shown = [_file(rf, name, doc_id) for doc_id in chosen[:limit]]
    return _page(shown, has_more=limit < len(chosen))


def _chosen(ids, asked):
    """The ids between those that were said, in the order that was. All are of one time, so the
    order of time is that of names.
    """
    is_rising = asked.get("order", "desc") == "asc"
    low, high = asked.get("after"), asked.get("before")
    if not is_rising:
        low, high = high, low
    first = 0 if low is None else bisect_right(ids, low)
    chosen = ids[first : len(ids) if high is None else bisect_left(ids, high)]
    return chosen if is_rising else chosen[::-1]


def _file(rf, name, doc_id):
    there = rf.rows.find(doc_id)
    if there is None:
        raise HttpFailure(404, f"there is no file {doc_id!r:.120}")
    return {
        "id": doc_id, "object": "vector_store.file", "vector_store_id": name, "status": "completed",
        "created_at": rf.info["created"] // 10**9, "usage_bytes": there.record.text_size,
        "last_error": None, "attributes": _attributes(there.fields.get("metadata", {})),
        "chunking_strategy": {"type": "other"},
    }  # fmt: skip


def file(service: Service, call: Call) -> dict[str, Any]:
    """One document."""
    rf = service.collections.at_commit(call.path["c"])
    return _file(rf, call.path["c"], call.path["id"])


def content(service: Service, call: Call) -> dict[str, Any]:
    """The text of a document."""
    found = service.collections.at_commit(call.path["c"]).document(call.path["id"])
    if found is None:
        raise HttpFailure(404, f"there is no file {call.path['id']!r:.120}")
    return {
        "object": "vector_store.file_content.page", "has_more": False, "next_page": None,
        "data": [{"type": "text", "text": found.text}],
    }  # fmt: skip
