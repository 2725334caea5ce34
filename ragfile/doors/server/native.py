"""The native interface: each answer is what the library gives, as JSON."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from ragfile import __version__
from ragfile.doors.server.failures import HttpFailure, failure_of
from ragfile.options import BATCH, SEARCH

if TYPE_CHECKING:
    from typing import Any

    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.shared_state import Service
    from ragfile.ground.option_table import OptionTable
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.records import Hit, Hits

HIT = (
    "id", "doc_id", "chunk_index", "text", "score", "score_type", "scores", "tags", "metadata",
    "source", "start", "end",
)  # fmt: skip
PAGE, LONGEST_PAGE = 100, 1000
NOT_SHOWN = ("path",)  # of a file's info: where it lies is nobody's business


def health(service: Service, call: Call) -> dict[str, Any]:
    """Whether the server answers."""
    return {"status": "ok", "version": __version__}


def collections(service: Service, call: Call) -> dict[str, Any]:
    """All collections, those that cannot be read with the reason."""
    return {"collections": [_line(service, name) for name in service.collections.names]}


def _line(service, name):
    try:
        info = service.collections.at_commit(name).info
    except Exception as error:  # noqa: BLE001 - one that is damaged must not hide the others
        return {"name": name, "error": str(failure_of(error, service.collections))}
    kept = ("generation", "chunks", "documents", "dim", "model", "size")
    return {"name": name} | {key: info[key] for key in kept}


def collection(service: Service, call: Call) -> dict[str, Any]:
    """One collection at a glance, and what can be done with it here."""
    name = call.path["c"]
    info = service.collections.at_commit(name).info
    facts = {key: value for key, value in info.items() if key not in NOT_SHOWN}
    return {
        "name": name, **facts, "chat_model": service.model_name, "write": service.can_write,
        "max_k": service.settings.max_k,
    }  # fmt: skip


# ---------------------------------------------------------------------------------- searching ---


def search(service: Service, call: Call) -> dict[str, Any]:
    """The hits of rf.search, or of rf.search_batch for a list of questions."""
    body = dict(call.body)
    rf = service.collections.at_commit(call.path["c"], body.pop("generation", 0))
    is_single = "query" in body
    table, other = (SEARCH, BATCH) if is_single else (BATCH, SEARCH)
    for name in other.options.keys() - table.options.keys():
        _refuse(name, body)
    options: Any = options_of(table, body) | {"request_id": call.request_id}
    if is_single:
        found = rf.search(options.pop("query"), **options)
        call.sink |= {"searches": 1, "timings": found.timings, "degraded": found.degraded}
        return shown(service, rf, found)
    results = rf.search_batch(options.pop("queries"), **options)
    call.sink |= {"searches": len(results), "timings": results[0].timings if results else {}}
    return {
        "results": [shown(service, rf, hits) for hits in results], "generation": rf.generation
    }  # fmt: skip


def _refuse(name, options):
    if name in options:
        raise HttpFailure(422, f"{name} does not go with this form of a search", param=name)


def options_of(table: OptionTable, body: dict[str, Any]) -> dict[str, Any]:
    """Options of a body as Python spells them."""
    found = dict(body)
    for name in found.keys() & table.readers.keys():
        try:
            found[name] = table.readers[name](found[name])
        except ValueError as error:
            raise HttpFailure(422, str(error), param=name) from None
    return found


def shown(service: Service, rf: KnowledgeBase, found: Hits) -> dict[str, Any]:
    """Hits, ready for JSON."""
    return {
        "hits": [fields_of(hit) for hit in found],
        "degraded": service.discreet(found.degraded), "timings": found.timings,
        "request_id": found.request_id, "generation": rf.generation,
        "exact": found.exact, "estimated_recall": found.estimated_recall,
    }  # fmt: skip


def fields_of(hit: Hit) -> dict[str, Any]:
    """What dataclasses.asdict gives, without its copies."""
    hit.read()
    return {name: getattr(hit, name) for name in HIT}


# ---------------------------------------------------------------------------------- documents ---


def documents(service: Service, call: Call) -> dict[str, Any]:
    """Documents in order of their ids, a page at a time."""
    rf = service.collections.at_commit(call.path["c"], call.query.get("generation", 0))
    limit, prefix = call.query.get("limit", PAGE), call.query.get("prefix", "")
    ids = service.of_commit(rf, "ids", lambda rf: rf.document_ids())
    if prefix:
        ids = [name for name in ids if name.startswith(prefix)]
    first = bisect_right(ids, call.query["after"]) if "after" in call.query else 0
    shown = ids[first : first + limit]
    return {
        "documents": [_listed(rf, name) for name in shown], "total": len(ids),
        "next": shown[-1] if first + limit < len(ids) else None, "generation": rf.generation,
    }  # fmt: skip


def _listed(rf, name):
    there = rf.rows.find(name)
    fields, rows = there.fields, there.rows
    return {
        "id": name, "source": fields.get("source", ""), "tags": fields.get("tags", []),
        "metadata": fields.get("metadata", {}), "chunks": len(rows),
        "bytes": there.record.text_size,
    }  # fmt: skip


def document(service: Service, call: Call) -> dict[str, Any]:
    """A document, or the characters of a span with as many on either side as `context` says."""
    rf = service.collections.at_commit(call.path["c"], call.query.get("generation", 0))
    found = rf.document(call.path["id"])
    if found is None:
        raise HttpFailure(404, f"there is no document {call.path['id']!r:.120}")
    text, size = found.text, len(found.text)
    start, end = _span(call.query.get("span"), size)
    context = call.query.get("context", 0)
    return {
        "id": found.id, "source": found.source, "tags": found.tags, "metadata": found.metadata,
        "start": start, "end": end, "size": size, "text": text[start:end],
        "before": text[max(0, start - context) : start], "after": text[end : end + context],
        "checksum": _checksum(found.metadata), "generation": rf.generation,
    }  # fmt: skip


def _checksum(metadata):
    value = metadata.get("checksum")
    return value if isinstance(value, str) else None


def _span(span, size):
    """The span START-END in characters; all of the text where none is said."""
    if span is None:
        return 0, size
    start, end = map(int, span.split("-"))
    if not start <= end <= size:
        raise HttpFailure(
            422, f"the span {span:.40} is not in the document, which has {size:,} characters",
            param="span",
        )  # fmt: skip
    return start, end


def chunk(service: Service, call: Call) -> dict[str, Any]:
    """A chunk by its row, or by its id as a hit names it."""
    rf = service.collections.at_commit(call.path["c"], call.query.get("generation", 0))
    name = call.path["row"]
    row = int(name) if name.isascii() and name.isdecimal() and len(name) < 16 else rf.row(name)
    if row is None:
        raise HttpFailure(404, f"there is no chunk {name!r:.120}")
    try:
        hit = fields_of(rf.hit(row))
    except IndexError as error:
        raise HttpFailure(404, str(error)) from None
    for score in ("score", "score_type", "scores"):
        del hit[score]
    return {"row": row, **hit, "generation": rf.generation}
