"""Vector stores: each collection is a vector store, and its documents are the files."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from ragfile.doors.server import schemas as s
from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.native_endpoints import document_ids, text_weight
from ragfile.doors.server.stored_names import MARK
from ragfile.doors.server.uploads import ID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.settings import Settings
    from ragfile.doors.server.shared_state import Service
    from ragfile.doors.server.uploads import Upload
    from ragfile.ground.json_schema import Schema
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.records import Hit

COMPARED = {n: f"${n}" for n in ("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin")}
JOINED = ("and", "or")
DEEPEST = 32
FOUND, LARGEST = 10, 50  # results by default and at most, as in OpenAI's API
FILES, MOST_FILES = 20, 100
SECTION = "openai.vector_store"  # of a file: the facts that it was made with, as JSON
FACTS = ("description", "metadata")
CREATED = "to make vector stores, start the server with `ragfile serve FOLDER --write`"
RENAMED = "a vector store is a file: rename the file, and its collection has the new name"
STATUSES = {"queued": "in_progress", "indexed": "completed", "error": "failed"}
LIST = s.shown(object=s.TEXT, data=s.many(s.FREE), has_more=s.YES)
STORE = s.shown(id=s.TEXT, object=s.TEXT, name=s.TEXT, status=s.TEXT, file_counts=s.FREE)
FILE = s.shown(id=s.TEXT, object=s.TEXT, vector_store_id=s.TEXT, status=s.TEXT)
RESULTS = s.shown(object=s.TEXT, search_query=s.many(s.TEXT), data=s.many(s.FREE), has_more=s.YES)
CONTENT = s.shown(object=s.TEXT, data=s.many(s.FREE), has_more=s.YES)
PAGES: dict[str, Schema] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": MOST_FILES}, "after": s.TEXT,
    "before": s.TEXT, "order": {"type": "string", "enum": ["asc", "desc"]},
    "filter": {"type": "string", "enum": ["in_progress", "completed", "failed", "cancelled"]},
}  # fmt: skip


def search_body(settings: Settings) -> Schema:
    """Return the schema of a search with OpenAI's filters."""
    ranking = {"type": "object", "properties": {"score_threshold": s.NUMBER}}
    most = {"type": "integer", "minimum": 1, "maximum": min(LARGEST, settings.max_k)}
    return s.nullable(s.record(
        ("query",), query={"anyOf": [s.TEXT, s.many(s.TEXT, minItems=1)]}, filters=s.FREE,
        max_num_results=most, ranking_options=ranking, rewrite_query=s.YES,
    ))  # fmt: skip


def stores(service: Service, call: Call) -> dict[str, Any]:
    """List all collections that can be read."""
    shown: list[dict[str, Any]] = []
    waiting = _waiting(service)
    for name in service.collections.names:
        try:
            shown.append(_store(service, name, waiting))
        except Exception:  # noqa: BLE001 - GET /v1/collections reports the reason
            continue
    return page_of(shown, has_more=False)


def store(service: Service, call: Call) -> dict[str, Any]:
    """Return one collection as a vector store."""
    return _store(service, call.path["c"], _waiting(service))


def _waiting(service: Service) -> Counter[tuple[str, str]]:
    """Return the number of uploads by collection and status."""
    return Counter((one.collection, STATUSES.get(one.state, "")) for one in service.uploads.all())


def _store(service: Service, name: str, waiting: Counter[tuple[str, str]]) -> dict[str, Any]:
    rf = service.collections.at_commit(name)
    info = rf.info
    counts = {n: waiting[name, n] for n in ("in_progress", "failed")}
    counts |= {"completed": info["documents"], "cancelled": 0}
    made = info["created"] // 10**9
    return {
        "id": name, "object": "vector_store", "name": name, "created_at": made,
        "last_active_at": made, "usage_bytes": info["size"],
        "status": "in_progress" if counts["in_progress"] else "completed",
        "file_counts": counts | {"total": sum(counts.values())}, "metadata": {}, **_facts(rf),
    }  # fmt: skip


def _facts(rf: KnowledgeBase) -> dict[str, Any]:
    """Return the description and the metadata of a store, {} for a file of other origin."""
    section = rf.file.section(SECTION) if SECTION in rf.file.strategies else None
    try:
        found: object = {} if section is None else json.loads(bytes(section))
    except ValueError:
        found = {}
    return {} if not isinstance(found, dict) else {n: found[n] for n in FACTS if n in found}


def page_of(shown: Sequence[dict[str, Any]], has_more: bool) -> dict[str, Any]:
    """Return one page of a list."""
    return {
        "object": "list", "data": list(shown), "has_more": has_more,
        "first_id": shown[0]["id"] if shown else None, "last_id": shown[-1]["id"] if shown else None,
    }  # fmt: skip


def search(service: Service, call: Call) -> dict[str, Any]:
    """Search a collection; several questions are joined into one."""
    body, rf = s.given(call.body), service.collections.at_commit(call.path["c"])
    queries = [body["query"]] if isinstance(body["query"], str) else body["query"]
    options = {"k": FOUND} | file_search_options(body)
    found = rf.search("\n".join(queries), request_id=call.request_id, **cast("Any", options))
    call.sink |= {"searches": 1, "timings": found.timings, "degraded": found.degraded}
    return {
        "object": "vector_store.search_results.page", "search_query": queries,
        "data": list(map(_result, found)), "has_more": False, "next_page": None,
    }  # fmt: skip


def file_search_options(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a search for those of OpenAI's file search."""
    found: dict[str, Any] = {}
    if given.get("filters"):
        found["where"] = where_of(given["filters"])
    if "max_num_results" in given:
        found["k"] = given["max_num_results"]
    ranking = s.given(given.get("ranking_options", {}))
    if "score_threshold" in ranking:
        found["min_score"] = ranking["score_threshold"]
    return found


def _result(hit: Hit) -> dict[str, Any]:
    return {
        "file_id": file_id_of(hit.doc_id, hit.metadata), "filename": hit.source or hit.doc_id, "score": hit.score,
        "attributes": _attributes(hit.metadata), "content": [{"type": "text", "text": hit.text}],
    }  # fmt: skip


def _attributes(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata with the types that OpenAI's attributes allow."""
    return {name: v for name, v in metadata.items() if isinstance(v, str | int | float | bool)}


def where_of(given: object, depth: int = 0) -> dict[str, Any]:
    """Translate a filter of OpenAI's API into one for `where`."""
    fields = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    kind = fields.get("type")
    if depth >= DEEPEST:
        raise HttpFailure(422, f"filters are nested at most {DEEPEST} deep", param="filters")
    if kind in JOINED and isinstance(fields.get("filters"), list):
        _refuse_others(fields, ("type", "filters"))
        return {f"${kind}": [where_of(part, depth + 1) for part in fields["filters"]]}
    if kind in COMPARED and isinstance(fields.get("key"), str) and "value" in fields:
        _refuse_others(fields, ("type", "key", "value"))
        return {fields["key"]: {COMPARED[kind]: fields["value"]}}
    forms = f"{{type, key, value}} with the type {', '.join(COMPARED)}, or {{type, filters}}"
    reason = f"{given!r:.60} is not a filter: use {forms} with the type {' or '.join(JOINED)}"
    raise HttpFailure(422, reason, param="filters")


def _refuse_others(given: dict[str, Any], known: tuple[str, ...]) -> None:
    """Raise a failure 422 if a filter has unknown members."""
    other = [name for name in given if name not in known]
    if other:
        reason = f"unknown member {other[0]!r:.60} of a filter: use {', '.join(known)}"
        raise HttpFailure(422, reason, param="filters")


def file_id_of(doc_id: str, metadata: dict[str, Any]) -> str:
    """Return the id of a document's file: that of its upload, or its own."""
    mark = metadata.get(MARK)
    return mark if isinstance(mark, str) and ID.fullmatch(mark) else doc_id


def files(service: Service, call: Call) -> dict[str, Any]:
    """List one page of the files: documents, and uploads that are not indexed."""
    name, asked = service.collections.known(call.path["c"]), call.query
    state = asked.get("filter", "completed")
    if state != "completed":
        waiting = [file_of_upload(one) for one in service.uploads.all() if one.collection == name]
        return listed([one for one in waiting if one["status"] == state], asked)
    rf = service.collections.at_commit(name)
    ids = service.of_commit(rf, "ids", document_ids)
    return _distinct(rf, name, _chosen(service, ids, asked), asked.get("limit", FILES))


def listed(found: list[dict[str, Any]], asked: dict[str, Any]) -> dict[str, Any]:
    """Return the page that is asked for of entries in the order of their ids."""
    found.sort(key=lambda one: one["id"])
    by_id = {one["id"]: one for one in found}
    chosen, limit = _between(list(by_id), asked), asked.get("limit", FILES)
    return page_of([by_id[name] for name in chosen[:limit]], has_more=limit < len(chosen))


def _distinct(rf: KnowledgeBase, name: str, ids: list[str], limit: int) -> dict[str, Any]:
    """Return a page of the first files; an upload with several documents is one."""
    found: dict[str, dict[str, Any]] = {}
    for doc_id in ids:
        one = _file(rf, name, doc_id)
        if one["id"] not in found and len(found) == limit:
            return page_of(list(found.values()), has_more=True)
        found.setdefault(one["id"], one)
    return page_of(list(found.values()), has_more=False)


def _chosen(service: Service, ids: list[str], asked: dict[str, Any]) -> list[str]:
    """Return the ids of documents between the files `after` and `before`, in the requested order."""
    bounds = {
        name: _documents_of(service, asked[name]) for name in ("after", "before") if name in asked
    }
    is_rising = asked.get("order", "desc") == "asc"
    ends = {"after": max, "before": min} if is_rising else {"after": min, "before": max}
    return _between(ids, asked | {name: ends[name](found) for name, found in bounds.items()})


def _documents_of(service: Service, file_id: str) -> list[str]:
    """Return the documents of a file."""
    upload = service.uploads.get(file_id)
    return [file_id] if upload is None else upload.documents or [file_id]


def _between(ids: list[str], asked: dict[str, Any]) -> list[str]:
    """Return the ids between `after` and `before`, in the requested order.

    OpenAI orders by time; all documents of a file have the same one, so the ids decide.
    """
    is_rising = asked.get("order", "desc") == "asc"
    low, high = asked.get("after"), asked.get("before")
    if not is_rising:
        low, high = high, low
    first = 0 if low is None else bisect_right(ids, low)
    chosen = ids[first : len(ids) if high is None else bisect_left(ids, high)]
    return chosen if is_rising else chosen[::-1]


def _file(rf: KnowledgeBase, name: str, doc_id: str) -> dict[str, Any]:
    """Return a document as a file; raise a failure 404 if there is none."""
    stored = rf.rows.find(doc_id)
    if stored is None:
        raise HttpFailure(404, f"no file {doc_id!r:.120} in {name}")
    metadata = stored.fields.get("metadata", {})
    return _entry(
        file_id_of(doc_id, metadata), name, created_at=rf.info["created"] // 10**9,
        usage_bytes=stored.record.text_size, attributes=_attributes(metadata),
    )  # fmt: skip


def _entry(file_id: str, store: str, **more: object) -> dict[str, Any]:
    return {
        "id": file_id, "object": "vector_store.file", "vector_store_id": store,
        "status": "completed", "last_error": None, "chunking_strategy": {"type": "other"}, **more,
    }  # fmt: skip


def file_of_upload(upload: Upload) -> dict[str, Any]:
    """Return an upload as a file of its store."""
    error = {"code": "server_error", "message": upload.error}
    return _entry(
        upload.id, upload.collection, created_at=upload.created, usage_bytes=upload.size,
        status=STATUSES[upload.state], attributes=_attributes(upload.metadata),
        last_error=error if upload.state == "error" else None,
    )  # fmt: skip


def file(service: Service, call: Call) -> dict[str, Any]:
    """Return one file of a store."""
    name, file_id = call.path["c"], call.path["id"]
    upload = service.uploads.get(file_id)
    if upload is not None and upload.collection == name:
        return file_of_upload(upload)
    return _file(service.collections.at_commit(name), name, file_id)


def content(service: Service, call: Call) -> dict[str, Any]:
    """Return the text of a file's documents."""
    rf = service.collections.at_commit(call.path["c"])
    found = [rf.document(doc_id) for doc_id in _documents_of(service, call.path["id"])]
    texts = [{"type": "text", "text": document.text} for document in found if document is not None]
    if not texts:
        raise HttpFailure(404, f"no file {call.path['id']!r:.120} in {call.path['c']}")
    return {
        "object": "vector_store.file_content.page", "has_more": False, "next_page": None,
        "data": texts,
    }  # fmt: skip


def content_weight(service: Service, call: Call) -> int:
    """Return the bytes that reading a file takes."""
    rf = service.collections.at_commit(call.path["c"])
    return sum(text_weight(rf, doc_id) for doc_id in _documents_of(service, call.path["id"]))
