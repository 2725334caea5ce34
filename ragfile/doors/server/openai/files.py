"""OpenAI's files: uploads that belong to no collection until a vector store takes them.

A file has one vector store at a time, and one state for both interfaces: an upload of the native
interface is a file here, with the same id. A store indexes files with its own chunk policy.
"""

from __future__ import annotations

import mimetypes
import os
import secrets
from typing import TYPE_CHECKING, Any

from ragfile.doors.server import schemas as s
from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.openai.stores import file_of_upload, listed, page_of
from ragfile.doors.server.operations import Raw
from ragfile.doors.server.upload_endpoints import delete_documents, delete_file
from ragfile.doors.server.uploads import STORED, Upload
from ragfile.doors.server.write_endpoints import delete_document, retire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.doors.server.multipart import Received
    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.settings import Settings
    from ragfile.doors.server.shared_state import Service
    from ragfile.ground.json_schema import Schema

FILE = s.shown(
    id=s.TEXT, object=s.TEXT, bytes=s.WHOLE, created_at=s.WHOLE, filename=s.TEXT, purpose=s.TEXT,
    status=s.TEXT,
)  # fmt: skip
DELETED = s.shown(id=s.TEXT, object=s.TEXT, deleted=s.YES)
BATCH = s.shown(id=s.TEXT, object=s.TEXT, vector_store_id=s.TEXT, status=s.TEXT, file_counts=s.FREE)
FILE_PAGES: dict[str, Schema] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": 10_000}, "after": s.TEXT,
    "order": {"type": "string", "enum": ["asc", "desc"]}, "purpose": s.TEXT,
}  # fmt: skip
SENT = {
    "type": "object", "required": ["file"],
    "properties": {"file": {"type": "string", "format": "binary"}, "purpose": s.TEXT},
}  # fmt: skip
STRATEGY = {
    "type": "object", "required": ["type"],
    "properties": {"type": {"type": "string", "enum": ["auto"]}},
}  # fmt: skip
_TAKEN: dict[str, Schema] = {"attributes": s.FREE, "chunking_strategy": STRATEGY}
MOST = 500


def attach_body(settings: Settings) -> Schema:
    """Return the schema of a request that adds a file to a store."""
    return s.nullable(s.record(("file_id",), file_id=s.TEXT, **_TAKEN))


def batch_body(settings: Settings) -> Schema:
    """Return the schema of a request that adds several files to a store."""
    one = s.record(("file_id",), file_id=s.TEXT, **_TAKEN)
    ids = s.many(s.TEXT, minItems=1, maxItems=MOST)
    many = s.many(one, minItems=1, maxItems=MOST)
    return s.nullable(s.record((), file_ids=ids, files=many, **_TAKEN))


# ------------------------------------------------------------------------------------------ files


def create(service: Service, call: Call) -> dict[str, Any]:
    """Keep a file, for a store to take."""
    received: Received = call.body
    upload, *others = received.uploads
    if others:
        raise HttpFailure(422, "the body has more than one file: send one", param="file")
    upload.state, upload.purpose = STORED, received.purpose
    upload.mime = mimetypes.guess_type(upload.name)[0] or ""
    upload.request_id = call.request_id
    service.uploads.put(upload)
    return _shown(upload)


def _shown(upload: Upload) -> dict[str, Any]:
    return {
        "id": upload.id, "object": "file", "bytes": upload.size, "created_at": upload.created,
        "filename": upload.name, "purpose": upload.purpose or "assistants", "status": "processed",
        "status_details": upload.error or None, "expires_at": None,
    }  # fmt: skip


def files(service: Service, call: Call) -> dict[str, Any]:
    """List the files, newest first."""
    found = [_shown(upload) for upload in service.uploads.all()]
    purpose = call.query.get("purpose")
    shown = [one for one in found if purpose in (None, one["purpose"])]
    shown.sort(key=lambda one: (one["created_at"], one["id"]))
    if call.query.get("order", "desc") == "desc":
        shown.reverse()
    if "after" in call.query:
        last = _shown(known_file(service, call.query["after"], "after"))
        shown = shown[shown.index(last) + 1 :] if last in shown else []
    limit = call.query.get("limit", MOST)
    return page_of(shown[:limit], has_more=limit < len(shown))


def file(service: Service, call: Call) -> dict[str, Any]:
    """Return one file."""
    return _shown(known_file(service, call.path["id"]))


def content(service: Service, call: Call) -> Raw:
    """Return the bytes of a file."""
    upload = known_file(service, call.path["id"])
    try:
        with open(service.uploads.path(upload), "rb") as opened:
            return Raw(opened.read(), "application/octet-stream")
    except FileNotFoundError:
        reason = f"the bytes of {upload.name!r:.120} were not kept"
        raise HttpFailure(404, reason) from None


def content_weight(service: Service, call: Call) -> int:
    """Return the bytes that a response with a file takes."""
    return known_file(service, call.path["id"]).size


def delete(service: Service, call: Call) -> dict[str, Any]:
    """Delete a file, and its documents from its store."""
    upload = known_file(service, call.path["id"])
    if upload.collection:
        call.path["c"] = upload.collection
        delete_file(service, call)
    else:
        service.uploads.remove(upload)
    return _deleted(upload.id, "file")


def _deleted(name: str, kind: str) -> dict[str, Any]:
    return {"id": name, "object": kind, "deleted": True}


def known_file(service: Service, file_id: str, param: str | None = None) -> Upload:
    """Return a file; raise a failure 404 if there is none."""
    upload = service.uploads.get(file_id)
    if upload is None:
        raise HttpFailure(404, f"no file {file_id!r:.120}", param=param)
    return upload


# ------------------------------------------------------------------------------- files of a store


def attach(service: Service, call: Call) -> dict[str, Any]:
    """Let a store take a file; it is indexed soon after."""
    [upload] = take_files(service, call, [s.given(call.body)])
    return file_of_upload(upload)


def _attached(service: Service, call: Call, asked: dict[str, Any], batch: str = "") -> Upload:
    """Queue a file for a store; a file of the store stays as it is."""
    name = service.collections.known(call.path["c"])
    upload = known_file(service, asked["file_id"], "file_id")
    if upload.collection not in ("", name):
        reason = (
            f"the file {upload.id} belongs to {upload.collection}: "
            f"delete it there, or upload it again for {name}"
        )
        raise HttpFailure(409, reason, param="file_id")
    is_new = upload.state == STORED
    upload.batch = batch or upload.batch
    if is_new:
        upload.collection, upload.state = name, "queued"
        upload.metadata = asked.get("attributes", {})
        upload.request_id = call.request_id
    service.uploads.put(upload)
    if is_new:
        service.queue.put(upload)
    return upload


def remove(service: Service, call: Call) -> dict[str, Any]:
    """Delete a file's documents from a store. A file of `POST /v1/files` stays, without a store."""
    name, file_id = service.collections.known(call.path["c"]), call.path["id"]
    upload = service.uploads.get(file_id)
    if upload is None or upload.collection != name:
        delete_document(service, call)
    else:
        delete_documents(service, call, upload)
        free_of_store(service, upload)
    return _deleted(file_id, "vector_store.file.deleted")


def free_of_store(service: Service, upload: Upload) -> None:
    """Keep a file of this interface without a store; other uploads end with their documents."""
    if not upload.purpose or not os.path.exists(service.uploads.path(upload)):
        return retire(service, upload)
    upload.collection, upload.state, upload.error = "", STORED, ""
    upload.documents, upload.chunks, upload.metadata = [], 0, {}
    return service.uploads.put(upload)


# ---------------------------------------------------------------------------------------- batches


def create_batch(service: Service, call: Call) -> dict[str, Any]:
    """Let a store take several files."""
    body = s.given(call.body)
    common = {name: body[name] for name in _TAKEN if name in body}
    asked = [s.given(one) for one in body.get("files", [])]
    asked += [{"file_id": file_id, **common} for file_id in body.get("file_ids", [])]
    if not asked:
        raise HttpFailure(422, "file_ids or files is required", param="file_ids")
    for one in asked:
        known_file(service, one["file_id"], "file_ids")  # all of them, before the first is queued
    name = f"vsfb_{secrets.token_hex(12)}"
    return _batch(name, call.path["c"], take_files(service, call, asked, name))


def take_files(
    service: Service, call: Call, asked: Sequence[dict[str, Any]], batch: str = ""
) -> list[Upload]:
    """Queue files for the store of a call."""
    taken = [_attached(service, call, one, batch) for one in asked]
    service.write_soon(call.path["c"])
    return taken


def batch(service: Service, call: Call) -> dict[str, Any]:
    """Return the state of a batch."""
    return _batch(call.path["batch"], call.path["c"], _of_batch(service, call))


def batch_files(service: Service, call: Call) -> dict[str, Any]:
    """List the files of a batch."""
    return listed(list(map(file_of_upload, _of_batch(service, call))), call.query)


def _of_batch(service: Service, call: Call) -> list[Upload]:
    name, store = call.path["batch"], service.collections.known(call.path["c"])
    found = [one for one in service.uploads.all() if (one.batch, one.collection) == (name, store)]
    if not found:
        raise HttpFailure(404, f"no batch {name!r:.80} in {store}")
    return sorted(found, key=lambda one: one.id)


def _batch(name: str, store: str, uploads: Sequence[Upload]) -> dict[str, Any]:
    states = [file_of_upload(upload)["status"] for upload in uploads]
    counts = {n: states.count(n) for n in ("in_progress", "completed", "failed", "cancelled")}
    return {
        "id": name, "object": "vector_store.file_batch", "vector_store_id": store,
        "created_at": min(upload.created for upload in uploads),
        "status": "in_progress" if counts["in_progress"] else "completed",
        "file_counts": counts | {"total": len(states)},
    }  # fmt: skip
