"""The endpoints that change files: one writer at a time, from a queue; readers never wait.

A request with uploads returns at once; they are indexed later, all that wait together in one
commit. A file that cannot be read gets the state `error` and does not affect the others.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from ragfile.doors.server.failures import HttpFailure, failure_of
from ragfile.ground.urls import is_remote
from ragfile.ingest.chunker import split
from ragfile.ingest.document_loader import Loading
from ragfile.ingest.loaders import LimitError, LoadError
from ragfile.ingest.source_files import SourceFile
from ragfile.write.editor import edit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.doors.server.multipart import Received
    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.shared_state import Service
    from ragfile.doors.server.uploads import Upload
    from ragfile.file.row_segment import StoredDocument
    from ragfile.write.editor import Editor

log = logging.getLogger("ragfile.serve")

MARK = "upload"  # the metadata key with the id of a document's upload


class Queue:
    """The uploads that wait to be indexed, by collection, each once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, dict[str, Upload]] = {}

    def put(self, upload: Upload) -> None:
        """Add an upload, unless it is waiting already."""
        with self._lock:
            self._waiting.setdefault(upload.collection, {}).setdefault(upload.id, upload)

    def take(self, collection: str) -> list[Upload]:
        """Remove and return all uploads to a collection."""
        with self._lock:
            return list(self._waiting.pop(collection, {}).values())


def editing(service: Service, name: str, message: str) -> Editor:
    """Begin the next commit of a collection, after other writers have finished."""
    path = service.collections.path(service.collections.known(name))
    if is_remote(path):
        raise HttpFailure(
            409, f"the collection {name} is read from a URL: change the file at its origin"
        )
    return edit(path, message=message, **service.collections.editing)


def put_document(service: Service, call: Call) -> dict[str, Any]:
    """Store a document under an id, replacing an older one."""
    name, doc_id = call.path["c"], call.path["id"]
    with editing(service, name, f"put {doc_id}") as writer:
        mark = _mark(writer.take(doc_id))
        writer.upsert([{"id": doc_id, **call.body}])
    _release(service, name, mark, doc_id)
    return _stored(service, call, doc_id)


def _mark(stored: StoredDocument | None) -> str | None:
    """Return the id of the upload that a document came from, or None."""
    mark = None if stored is None else stored.fields.get("metadata", {}).get(MARK)
    return mark if isinstance(mark, str) else None


def _stored(service: Service, call: Call, doc_id: str) -> dict[str, Any]:
    rf = service.collections.at_commit(call.path["c"])
    stored = rf.rows.find(doc_id)
    count = 0 if stored is None else len(stored.rows)
    call.sink["chunks"] = count
    return {"id": doc_id, "chunks": count, "generation": rf.generation}


def delete_document(service: Service, call: Call) -> dict[str, Any]:
    """Delete a document, and its upload if no other document came from it."""
    name, doc_id = call.path["c"], call.path["id"]
    with editing(service, name, f"delete {doc_id}") as writer:
        stored = writer.take(doc_id)
        if stored is None:
            raise HttpFailure(404, f"no document {doc_id!r:.120} in {name}")
        mark = _mark(stored)
        writer.delete([doc_id])
    _release(service, name, mark, doc_id)
    call.sink["deleted"] = 1
    return {"id": doc_id, "generation": service.collections.at_commit(name).generation}


def _release(service: Service, name: str, mark: str | None, doc_id: str) -> None:
    """Remove a document from its upload, and the upload with its last document."""
    upload = None if mark is None else service.uploads.get(mark)
    if upload is None or upload.collection != name:
        return
    upload.documents = [other for other in upload.documents if other != doc_id]
    if upload.documents:
        service.uploads.put(upload)
    else:
        service.uploads.remove(upload)


def sync(service: Service, call: Call) -> dict[str, Any]:
    """Make a collection match the source folders that the server was started with."""
    from dataclasses import asdict

    from ragfile.write.source_sync import sync as sync_file

    name = service.collections.known(call.path["c"])
    sources = [folder for c, folder in service.settings.sources if c == name]
    if not sources:
        raise HttpFailure(409, f"{name} has no source folder: start the server with --source")
    report = sync_file(service.collections.path(name), sources, dedupe=call.body.get("dedupe", False),
                       dry_run=call.body.get("dry_run", False))  # fmt: skip
    shown = asdict(report)
    del shown["path"], shown["deletions"]  # they hold paths; `removed` has the ids
    for listed in ("failures", "skipped"):
        shown[listed] = [_without_folders(service, sources, entry) for entry in shown[listed]]
    return shown


def _without_folders(
    service: Service, sources: Sequence[str], entry: dict[str, Any]
) -> dict[str, Any]:
    """Make the path of a failure relative to its source folder, which stays private."""
    for folder in sources:
        entry["path"] = entry["path"].removeprefix(folder).lstrip("/")
    return entry | {"reason": service.discreet(entry["reason"])}


def add_files(service: Service, call: Call) -> dict[str, Any]:
    """Queue uploaded files to be indexed."""
    received: Received = call.body
    shown = [_taken(service, upload, dedupe=received.dedupe) for upload in received.uploads]
    service.write_soon(call.path["c"])
    return {"files": [upload.shown() for upload in shown]}


def _taken(service: Service, upload: Upload, *, dedupe: bool) -> Upload:
    """Queue an upload and return it; with `dedupe`, return an earlier one of the same bytes."""
    uploads = service.uploads
    uploads.put(upload)  # before the claim: a claim must always lead to a state
    known = (uploads.claim(upload) or _document_of(service, upload)) if dedupe else None
    if known is None:
        service.queue.put(upload)
        return upload
    uploads.drop(upload)
    if known is not upload:
        uploads.remove(upload)
    service.board.add("ingested_files", 1, "duplicate")
    known.duplicate = True
    return known


def _document_of(service: Service, upload: Upload) -> Upload | None:
    """Mark an upload as indexed if documents from elsewhere have its bytes; None if not."""
    rf = service.collections.at_commit(upload.collection)
    rows = rf.rows.mask({"checksum": upload.checksum})
    found = [] if rows is None else [rf.chunk(int(row)).doc_id for row in rows.nonzero()[0]]
    if not found:
        return None
    service.uploads.forget(upload)
    upload.state, upload.documents, upload.kept = "indexed", list(dict.fromkeys(found)), False
    service.uploads.put(upload)
    return upload


def file(service: Service, call: Call) -> dict[str, Any]:
    """Return the state of an upload."""
    return _known(service, call).shown()


def files(service: Service, call: Call) -> dict[str, Any]:
    """List the uploads to a collection, newest first."""
    uploads = [u for u in service.uploads.all() if u.collection == call.path["c"]]
    uploads.sort(key=lambda upload: (-upload.created, upload.id))
    return {"files": [upload.shown() for upload in uploads]}


def delete_file(service: Service, call: Call) -> dict[str, Any]:
    """Delete an upload with its documents."""
    upload, name = _known(service, call), call.path["c"]
    with editing(service, name, f"delete {upload.name}") as writer:
        writer.delete([d for d in upload.documents if writer.take(d) is not None])
    service.uploads.remove(upload)
    call.sink["deleted"] = len(upload.documents)
    return {"id": upload.id, "generation": service.collections.at_commit(name).generation}


def _known(service: Service, call: Call) -> Upload:
    """Return the upload that a path names; raise a failure 404 if there is none."""
    upload = service.uploads.get(call.path["id"])
    if upload is None or upload.collection != call.path["c"]:
        raise HttpFailure(404, f"no file {call.path['id']!r:.80} was uploaded to {call.path['c']}")
    return upload


def index(service: Service, collection: str) -> None:
    """Index all waiting uploads to a collection in one commit."""
    waiting = [u for u in service.queue.take(collection) if _is_queued(service, u)]
    if not waiting:
        return
    try:
        with editing(service, collection, _message(waiting)) as writer:
            for upload in waiting:
                _index_one(service, writer, upload)
    except Exception as error:  # noqa: BLE001 - reported in the state of each upload
        reason = str(failure_of(error, service.collections))
        for upload in waiting:
            upload.state, upload.error = "error", reason
            upload.documents, upload.chunks = [], 0
    for upload in waiting:
        _settle(service, upload)


def _is_queued(service: Service, upload: Upload) -> bool:
    """Return whether an upload is still to be indexed; a starting server may queue it twice."""
    known = service.uploads.get(upload.id)
    return known is not None and known.state == "queued"


def _message(waiting: Sequence[Upload]) -> str:
    """Return the message of a commit of these uploads."""
    return f"upload {waiting[0].name}" + (f" and {len(waiting) - 1} more" * (len(waiting) > 1))


def _index_one(service: Service, writer: Editor, upload: Upload) -> None:
    """Add the documents of an upload to the commit, or record the reason if that fails."""
    name = _free(writer, upload.name)
    loading = Loading([], limits=service.limits)
    try:
        documents = list(loading.file(SourceFile(service.uploads.path(upload), name, named=True)))
        if not documents:
            raise LoadError(loading.failures[0].reason if loading.failures else "it has no text")
        upload.mime = documents[0].metadata["mime"]
        for document in documents:
            document.source = name
            document.tags = tuple(dict.fromkeys([*document.tags, *upload.tags]))
            document.metadata = {**document.metadata, **upload.metadata, MARK: upload.id}
        upload.chunks = sum(len(split(document, writer.policy)) for document in documents)
        if upload.chunks > service.settings.max_chunks:
            raise LimitError(
                f"the file has {upload.chunks:,} chunks; the limit is "
                f"{service.settings.max_chunks:,}: split the file"
            )
        writer.upsert(documents)
        upload.documents, upload.state = [d.id for d in documents], "indexed"
    except (LoadError, ValueError, TypeError) as error:
        upload.state, upload.error = "error", str(failure_of(error, service.collections))
        upload.chunks = 0


def _free(writer: Editor, name: str) -> str:
    """Return the name, with a number if a document has it: uploads overwrite nothing."""
    stem, dot, suffix = name.rpartition(".")
    stem, suffix = (stem, dot + suffix) if stem else (name, "")
    number, free = 1, name
    while writer.archive.find(free) is not None or _is_staged(writer, free):
        number += 1
        free = f"{stem} ({number}){suffix}"
    return free


def _is_staged(writer: Editor, name: str) -> bool:
    """Return whether this commit has a document of that name."""
    return any(i == name or i.startswith(name + "#") for i in writer.draft.staging.documents)


def _settle(service: Service, upload: Upload) -> None:
    """Record the final state of an upload, and delete its bytes if they are no longer needed."""
    if upload.state == "error" or not upload.kept:
        service.uploads.drop(upload)
    if upload.state == "error":
        service.uploads.forget(upload)
    service.uploads.put(upload)
    service.board.add("ingested_files", 1, upload.state)
    service.board.add("ingested_chunks", upload.chunks)
