"""Changing files over HTTP: one writer at a time, in a queue; readers never wait for it.

An upload answers at once and is indexed when its turn comes. Uploads that wait together are one
commit. A file that cannot be read gets the state error and spares the others.
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
    from ragfile.doors.server.multipart import Received
    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.shared_state import Service
    from ragfile.doors.server.uploads import Upload
    from ragfile.write.editor import Editor

log = logging.getLogger("ragfile.serve")

MARK = "upload"  # the key of metadata that names a document's upload


class Queue:
    """The uploads that wait, by collection, each once."""

    def __init__(self):
        self._lock, self._waiting = threading.Lock(), {}

    def put(self, upload: Upload) -> None:
        """One more."""
        with self._lock:
            self._waiting.setdefault(upload.collection, {}).setdefault(upload.id, upload)

    def take(self, collection: str) -> list[Upload]:
        """All that wait for a collection."""
        with self._lock:
            return list(self._waiting.pop(collection, {}).values())


def editing(service: Service, name: str, message: str) -> Editor:
    """The next commit of a collection; it waits for other writers."""
    if name not in service.collections.names:
        raise HttpFailure(404, f"there is no collection {name!r:.80}")
    path = service.collections.path(name)
    if is_remote(path):
        raise HttpFailure(
            409, f"the collection {name} is behind a URL: it is changed where it is kept"
        )
    return edit(path, message=message, **service.collections.editing)


# ---------------------------------------------------------------------------------- documents ---


def put_document(service: Service, call: Call) -> dict[str, Any]:
    """Stores a document under an id, in the place of what it was."""
    name, doc_id = call.path["c"], call.path["id"]
    with editing(service, name, f"put {doc_id}") as writer:
        mark = _mark(writer.take(doc_id))
        writer.upsert([{"id": doc_id, **call.body}])
    _let_go(service, name, mark, doc_id)
    return _stored(service, call, doc_id)


def _mark(there):
    """The id of the upload that a document is of, or None."""
    mark = None if there is None else there.fields.get("metadata", {}).get(MARK)
    return mark if isinstance(mark, str) else None


def _stored(service, call, doc_id):
    rf = service.collections.at_commit(call.path["c"])
    there = rf.rows.find(doc_id)
    count = 0 if there is None else len(there.rows)
    call.sink["chunks"] = count
    return {"id": doc_id, "chunks": count, "generation": rf.generation}


def delete_document(service: Service, call: Call) -> dict[str, Any]:
    """Deletes a document, and its upload with its last document."""
    name, doc_id = call.path["c"], call.path["id"]
    with editing(service, name, f"delete {doc_id}") as writer:
        there = writer.take(doc_id)
        if there is None:
            raise HttpFailure(404, f"there is no document {doc_id!r:.120}")
        mark = _mark(there)
        writer.delete([doc_id])
    _let_go(service, name, mark, doc_id)
    call.sink["deleted"] = 1
    return {"id": doc_id, "generation": service.collections.at_commit(name).generation}


def _let_go(service, name, mark, doc_id):
    """Takes an upload away when none of its documents is left."""
    upload = None if mark is None else service.uploads.get(mark)
    if upload is None or upload.collection != name:
        return
    upload.documents = [other for other in upload.documents if other != doc_id]
    if upload.documents:
        service.uploads.put(upload)
    else:
        service.uploads.remove(upload)


def sync(service: Service, call: Call) -> dict[str, Any]:
    """Makes a collection follow the folders that the server was started with for it."""
    from dataclasses import asdict

    from ragfile.write.source_sync import sync as sync_file

    name = call.path["c"]
    sources = [folder for c, folder in service.settings.sources if c == name]
    if name not in service.collections.names:
        raise HttpFailure(404, f"there is no collection {name!r:.80}")
    if not sources:
        raise HttpFailure(409, f"the server knows no folder for {name}: start it with --source")
    report = sync_file(service.collections.path(name), sources, dedupe=call.body.get("dedupe", False),
                       dry_run=call.body.get("dry_run", False))  # fmt: skip
    said = asdict(report)
    del said["path"], said["deletions"]  # which name places; `removed` has the ids
    for listed in ("failures", "skipped"):
        said[listed] = [_without_folders(service, sources, entry) for entry in said[listed]]
    return said


def _without_folders(service, sources, entry):
    """A failure with the place below its folder, and nothing of where the folder is."""
    for folder in sources:
        entry["path"] = entry["path"].removeprefix(folder).lstrip("/")
    return entry | {"reason": service.discreet(entry["reason"])}


# -------------------------------------------------------------------------------------- files ---


def add_files(service: Service, call: Call) -> dict[str, Any]:
    """Takes files in; they are indexed in their turn."""
    received: Received = call.body
    shown = [_taken(service, upload, dedupe=received.dedupe) for upload in received.uploads]
    service.write_soon(call.path["c"])
    return {"files": [upload.shown() for upload in shown]}


def _taken(service, upload, dedupe):
    """The upload, queued; or the one that has its bytes already."""
    uploads = service.uploads
    uploads.put(upload)  # before it is claimed: who finds the claim finds the state
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


def _document_of(service, upload):
    """The upload as one that is done, where a document of another origin has its bytes."""
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
    """What became of an upload."""
    return _known(service, call).shown()


def files(service: Service, call: Call) -> dict[str, Any]:
    """The uploads to a collection, the newest first."""
    mine = [u for u in service.uploads.all() if u.collection == call.path["c"]]
    mine.sort(key=lambda upload: (-upload.created, upload.id))
    return {"files": [upload.shown() for upload in mine]}


def delete_file(service: Service, call: Call) -> dict[str, Any]:
    """Deletes an upload with its documents."""
    upload, name = _known(service, call), call.path["c"]
    with editing(service, name, f"delete {upload.name}") as writer:
        writer.delete([d for d in upload.documents if writer.take(d) is not None])
    service.uploads.remove(upload)
    call.sink["deleted"] = len(upload.documents)
    return {"id": upload.id, "generation": service.collections.at_commit(name).generation}


def _known(service, call):
    upload = service.uploads.get(call.path["id"])
    if upload is None or upload.collection != call.path["c"]:
        raise HttpFailure(404, f"there is no file {call.path['id']!r:.80}")
    return upload


# ----------------------------------------------------------------------------------- indexing ---


def index(service: Service, collection: str) -> None:
    """Indexes what waits for a collection, in one commit."""
    waiting = [u for u in service.queue.take(collection) if _is_queued(service, u)]
    if not waiting:
        return
    try:
        with editing(service, collection, _said(waiting)) as writer:
            for upload in waiting:
                _index_one(service, writer, upload)
    except Exception as error:  # noqa: BLE001 - told in the state of each
        reason = str(failure_of(error, service.collections))
        for upload in waiting:
            upload.state, upload.error = "error", reason
            upload.documents, upload.chunks = [], 0
    for upload in waiting:
        _settle(service, upload)


def _is_queued(service, upload):
    """Whether it is still to be indexed: a server that starts meets what has just come in, too."""
    known = service.uploads.get(upload.id)
    return known is not None and known.state == "queued"


def _said(waiting):
    return f"upload {waiting[0].name}" + (f" and {len(waiting) - 1} more" * (len(waiting) > 1))


def _index_one(service, writer, upload):
    """Puts the documents of an upload into the commit, or notes why it has none."""
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
                f"{upload.chunks:,} chunks, the limit is {service.settings.max_chunks:,}"
            )
        writer.upsert(documents)
        upload.documents, upload.state = [d.id for d in documents], "indexed"
    except (LoadError, ValueError, TypeError) as error:
        upload.state, upload.error = "error", str(failure_of(error, service.collections))
        upload.chunks = 0


def _free(writer, name):
    """The name, with a number where a document has it: nothing is ever overwritten."""
    stem, dot, suffix = name.rpartition(".")
    stem, suffix = (stem, dot + suffix) if stem else (name, "")
    number, free = 1, name
    while writer.archive.find(free) is not None or _is_staged(writer, free):
        number += 1
        free = f"{stem} ({number}){suffix}"
    return free


def _is_staged(writer, name):
    return any(i == name or i.startswith(name + "#") for i in writer.draft.staging.documents)


def _settle(service, upload):
    """Notes the end of an upload; bytes that are of no use go."""
    if upload.state == "error" or not upload.kept:
        service.uploads.drop(upload)
    if upload.state == "error":
        service.uploads.forget(upload)
    service.uploads.put(upload)
    service.board.add("ingested_files", 1, upload.state)
    service.board.add("ingested_chunks", upload.chunks)
