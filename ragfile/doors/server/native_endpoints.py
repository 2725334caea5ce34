"""The endpoints of the native API: the library's results as JSON."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, cast

from ragfile import __version__
from ragfile.doors.mcp.tool_results import FACTS
from ragfile.doors.server.failures import HttpFailure, failure_of
from ragfile.options import BATCH, SEARCH
from ragfile.records import ALL_PARTS, standing_of
from ragfile.search.shown_passages import facts_of, viewer_of

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from typing import Any

    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.shared_state import Service
    from ragfile.file.row_segment import StoredDocument
    from ragfile.ground.option_table import OptionTable
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.options import BatchOptions
    from ragfile.records import Hit, Hits, Link

HIT = (
    "id", "doc_id", "chunk_index", "text", "score", "score_type", "scores", "tags", "metadata",
    "source", "start", "end",
)  # fmt: skip
EXCERPTS, SUPPORT = "excerpts", "support"  # members of a response that a body asks for
PAGE, LONGEST_PAGE = 100, 1000
COPIES = 4  # of a document's text in memory: its bytes, the text, as JSON, and as a body
NOT_SHOWN = ("path",)  # of a file's info: clients must not learn paths of the server


def health(service: Service, call: Call) -> dict[str, Any]:
    """Return the server's version; a response shows that it is up."""
    return {"status": "ok", "version": __version__}


def collections(service: Service, call: Call) -> dict[str, Any]:
    """List all collections; one that cannot be read has the reason under `error`."""
    return {"collections": [_line(service, name) for name in service.collections.names]}


def _line(service: Service, name: str) -> dict[str, Any]:
    """Return a collection's entry in the list."""
    try:
        info = service.collections.at_commit(name).info
    except Exception as error:  # noqa: BLE001 - a damaged collection must not hide the others
        return {"name": name, "error": str(failure_of(error, service.collections))}
    return {"name": name} | {key: info[key] for key in FACTS}


def collection(service: Service, call: Call) -> dict[str, Any]:
    """Describe one collection, with the chat model, write access and limits of this server."""
    name = call.path["c"]
    rf = service.collections.at_commit(name)
    info = rf.info
    facts = {key: value for key, value in info.items() if key not in NOT_SHOWN}
    return {
        "name": name, **facts, "chat_model": service.model_name, "write": service.can_write,
        "max_k": service.settings.max_k, "sources": service.folders.state(name, rf),
    }  # fmt: skip


def search(service: Service, call: Call) -> dict[str, Any]:
    """Return the hits of one question, or of each question of a batch."""
    body = dict(call.body)
    rf = service.collections.at_commit(call.path["c"], body.pop("generation", 0))
    asked_for = {name for name in (EXCERPTS, SUPPORT) if body.pop(name, False)}
    is_single = "query" in body
    table, other = (SEARCH, BATCH) if is_single else (BATCH, SEARCH)
    for name in other.options.keys() - table.options.keys():
        _refuse(name, body, is_single=is_single)
    options = options_of(table, body)
    options["request_id"] = call.request_id
    if is_single:
        query = options.pop("query")
        found = rf.search(query, **options)
        call.sink |= {"searches": 1, "timings": found.timings, "degraded": found.degraded}
        return shown(service, rf, found, query, asked_for)
    queries = options.pop("queries")
    results = rf.search_batch(queries, **cast("BatchOptions", options))
    call.sink |= {"searches": len(results), "timings": results[0].timings if results else {}}
    return {
        "results": [
            shown(service, rf, found, query, asked_for)
            for found, query in zip(results, queries, strict=True)
        ],
        "generation": rf.generation,
    }


def _refuse(name: str, options: dict[str, Any], *, is_single: bool) -> None:
    """Raise a failure 422 for an option that only the other form of a search takes."""
    if name in options:
        form = "queries, not query" if is_single else "query, not queries"
        raise HttpFailure(422, f"{name} is only valid with {form}", param=name)


def options_of(table: OptionTable, body: dict[str, Any]) -> dict[str, Any]:
    """Convert the options of a JSON body to their Python values."""
    found = dict(body)
    for name in found.keys() & table.readers.keys():
        try:
            found[name] = table.readers[name](found[name])
        except ValueError as error:
            raise HttpFailure(422, str(error), param=name) from None
    return found


def shown(
    service: Service, rf: KnowledgeBase, found: Hits, question: str, asked_for: Container[str] = ()
) -> dict[str, Any]:
    """Return hits ready for JSON, with the excerpts and the support of a question if asked for."""
    if asked_for:  # which read the hits, too
        for hit in found:
            hit.read()
    hits = [fields_of(hit) for hit in found]
    facts = facts_of(found, found) if SUPPORT in asked_for else {}
    excerpts = {EXCERPTS: excerpts_of(rf, found, question)} if EXCERPTS in asked_for else {}
    return {
        "hits": hits, **facts, **excerpts, "standing": standings_of(hits),
        "degraded": service.discreet(found.degraded), "timings": found.timings,
        "request_id": found.request_id, "generation": rf.generation,
        "exact": found.exact, "estimated_recall": found.estimated_recall,
    }  # fmt: skip


def standings_of(hits: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return the standing (how current and trusted) of documents by the ids of their hits; omit those without one."""
    found = {hit["id"]: standing_of(hit["metadata"]) for hit in hits}
    return {name: words for name, words in found.items() if words}


def excerpts_of(rf: KnowledgeBase, found: Hits, question: str) -> dict[str, Any]:
    """Return the excerpts of hits by their ids."""
    viewer = viewer_of(found, question, rf.document)
    return {
        hit.id: viewer.shown(hit.text, hit.metadata, hit.doc_id, hit.start).to_dict()
        for hit in found
    }


def fields_of(hit: Hit) -> dict[str, Any]:
    """Return the same as dataclasses.asdict, without copying the values. Fields that it reads are not kept in the hit."""
    reader, row, waiting = hit.found_in
    if waiting != ALL_PARTS:
        return {name: getattr(hit, name) for name in HIT}
    name, doc_id, index, start, end, text, tags, metadata, source = reader.read(row, "whole")
    return {
        "id": name, "doc_id": doc_id, "chunk_index": index, "text": text, "score": hit.score,
        "score_type": hit.score_type, "scores": hit.scores, "tags": tags, "metadata": metadata,
        "source": source, "start": start, "end": end,
    }  # fmt: skip


def documents(service: Service, call: Call) -> dict[str, Any]:
    """List one page of the documents, ordered by id."""
    rf = service.collections.at_commit(call.path["c"], call.query.get("generation", 0))
    limit, prefix = call.query.get("limit", PAGE), call.query.get("prefix", "")
    ids = service.of_commit(rf, "ids", document_ids)
    if prefix:
        ids = [name for name in ids if name.startswith(prefix)]
    first = bisect_right(ids, call.query["after"]) if "after" in call.query else 0
    shown = ids[first : first + limit]
    return {
        "documents": [_listed(rf, name) for name in shown], "total": len(ids),
        "next": shown[-1] if first + limit < len(ids) else None, "generation": rf.generation,
    }  # fmt: skip


def document_ids(rf: KnowledgeBase) -> list[str]:
    """Return the ids of a commit's documents, in order."""
    return rf.document_ids()


def _listed(rf: KnowledgeBase, name: str) -> dict[str, Any]:
    """Return a document's entry in the list."""
    stored = cast("StoredDocument", rf.rows.find(name))  # a commit's documents never change
    fields = stored.fields
    return {
        "id": name, "source": fields.get("source", ""), "tags": fields.get("tags", []),
        "metadata": fields.get("metadata", {}), "chunks": len(stored.rows),
        "bytes": stored.record.text_size,
    }  # fmt: skip


def document_weight(service: Service, call: Call) -> int:
    """Return the bytes that reading a document takes."""
    rf = service.collections.at_commit(call.path["c"], call.query.get("generation", 0))
    return text_weight(rf, call.path["id"])


def text_weight(rf: KnowledgeBase, doc_id: str) -> int:
    """Return the bytes that a response with a document's text takes, 0 if there is none."""
    stored = rf.rows.find(doc_id)
    return 0 if stored is None else COPIES * stored.record.text_size


def document(service: Service, call: Call) -> dict[str, Any]:
    """Return a document, or a span of it with `context` characters on either side."""
    rf = service.collections.at_commit(call.path["c"], call.query.get("generation", 0))
    found = rf.document(call.path["id"])
    if found is None:
        raise HttpFailure(404, f"no document {call.path['id']!r:.120} in {call.path['c']}")
    text, size = found.text, len(found.text)
    start, end = _span(call.query.get("span"), size)
    context = call.query.get("context", 0)
    return {
        "id": found.id, "source": found.source, "tags": found.tags, "metadata": found.metadata,
        "start": start, "end": end, "size": size, "text": text[start:end],
        "before": text[max(0, start - context) : start], "after": text[end : end + context],
        "checksum": _checksum(found.metadata), "generation": rf.generation,
    }  # fmt: skip


def links(service: Service, call: Call) -> dict[str, Any]:
    """Return the links of a document, and those to it."""
    rf = service.collections.at_commit(call.path["c"], call.query.get("generation", 0))
    name = call.path["id"]
    if rf.document(name) is None:
        raise HttpFailure(404, f"no document {name!r:.120} in {call.path['c']}")
    found = {"links": rf.links(name), "backlinks": rf.backlinks(name)}
    listed = {key: [_link(link) for link in value] for key, value in found.items()}
    return {"id": name, **listed, "generation": rf.generation}


def _link(link: Link) -> dict[str, Any]:
    return {
        "source": link.source, "document": link.document, "target": link.target, "kind": link.kind,
        "fragment": link.fragment, "text": link.text, "start": link.start, "end": link.end,
        "weight": link.weight,
    }  # fmt: skip


def _checksum(metadata: dict[str, Any]) -> str | None:
    value = metadata.get("checksum")
    return value if isinstance(value, str) else None


def _span(span: str | None, size: int) -> tuple[int, int]:
    """Return the bounds of a span START-END in characters; by default, of the whole text."""
    if span is None:
        return 0, size
    start, end = map(int, span.split("-"))
    if not start <= end <= size:
        raise HttpFailure(
            422, f"span {span:.40} is out of range: the document has {size:,} characters",
            param="span",
        )  # fmt: skip
    return start, end


def chunk(service: Service, call: Call) -> dict[str, Any]:
    """Return a chunk by its row number, or by the id that a hit has."""
    rf = service.collections.at_commit(call.path["c"], call.query.get("generation", 0))
    name = call.path["row"]
    row = int(name) if name.isascii() and name.isdecimal() and len(name) < 16 else rf.row(name)
    if row is None:
        raise HttpFailure(404, f"no chunk {name!r:.120} in {call.path['c']}")
    try:
        hit = fields_of(rf.hit(row))
    except IndexError:
        raise HttpFailure(404, f"no chunk {name!r:.120} in {call.path['c']}") from None
    for score in ("score", "score_type", "scores"):
        del hit[score]
    return {"row": row, **hit, "generation": rf.generation}
