"""The endpoints that change files: one writer at a time, from a queue; readers never wait.

Documents that clients put or delete while another change is written share the next commit. Each has
its own answer; one that fails does not affect the others.

A request with uploads returns at once; they are indexed later, all that wait together in one
commit. A file that cannot be read gets the state `error` and does not affect the others. If a
commit fails for another reason, such as an embedding server that is down, its uploads stay queued
and are tried again, one at a time and at growing intervals. A worker that dies between the commit
and the states leaves documents that bear their upload's id, which the next attempt adopts. An upload
that was being indexed when a worker ended is tried in a commit of its own, and fails after two.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from typing import TYPE_CHECKING, Any

from ragfile.doors.mcp.client_metadata import client_metadata, origin_of
from ragfile.doors.server.failures import HttpFailure, failure_of
from ragfile.doors.server.stored_names import MARK, StoredNames, mark_of
from ragfile.ground.request_id import request
from ragfile.ground.urls import is_remote
from ragfile.ingest.chunker import split
from ragfile.ingest.document_loader import Loading
from ragfile.ingest.loaders import LimitError, LoadError
from ragfile.ingest.source_files import SourceFile

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.shared_state import Service
    from ragfile.doors.server.uploads import Upload
    from ragfile.records import Document
    from ragfile.write.editor import Editor
    from ragfile.write.group_commit import PendingChange

log = logging.getLogger("ragfile.serve")

ATTEMPTS = 2  # to index an upload, each of which ended a worker
AGAIN = (502, 503, 507)  # failures that pass: the upload stays queued
FIRST_WAIT, LONGEST_WAIT = 1.0, 300.0  # seconds until the next attempt


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
        """Remove and return the uploads of the next commit to a collection.

        These are all new ones. After them comes one at a time of those that failed before, the one
        with the fewest attempts, so that none holds up the others.
        """
        with self._lock:
            waiting = self._waiting.get(collection, {})
            ordered = sorted(waiting.values(), key=_tried)
            new = [upload for upload in ordered if not _tried(upload)] or ordered[:1]
            for upload in new:
                del waiting[upload.id]
            return new


def _tried(upload: Upload) -> int:
    return upload.attempts + upload.retries


def _local(service: Service, name: str) -> str:
    """Return the path of a collection that can be changed."""
    path = service.collections.path(service.collections.known(name))
    if is_remote(path):
        raise HttpFailure(
            409, f"the collection {name} is read from a URL: change the file at its origin"
        )
    return path


@contextlib.contextmanager
def editing(service: Service, name: str, message: str, request_id: str = "") -> Generator[Editor]:
    """Begin the next commit of a collection, after other writers have finished."""
    path = _local(service, name)
    with service.collections.edit(path, message=message, **service.collections.editing) as writer:
        try:
            with request(request_id or None):
                yield writer
        finally:
            service.board.add("embedding_calls", writer.embedding_calls)


def _handed_in(
    service: Service, call: Call, message: str, change: Callable[[Editor], str | None]
) -> PendingChange[str | None]:
    """Hand in a change of a collection, which shares its commit with those that wait beside it."""

    def counted(writer: Editor) -> str | None:
        before = writer.embedding_calls
        try:
            with request(call.request_id or None):
                return change(writer)
        finally:
            service.board.add("embedding_calls", writer.embedding_calls - before)

    path = _local(service, call.path["c"])
    return service.commits.begin(path, counted, message=message, **service.collections.editing)


def put_change(service: Service, call: Call) -> PendingChange[str | None]:
    """Hand in the change of `put_document`; its result is the mark of the older document."""
    doc_id = call.path["id"]
    record = {"id": doc_id, **call.body, "metadata": client_metadata(call.body.get("metadata"))}

    def change(writer: Editor) -> str | None:
        mark = mark_of(writer.take(doc_id))
        writer.upsert([record])
        return mark

    return _handed_in(service, call, f"put {doc_id}", change)


def put_document(service: Service, call: Call) -> dict[str, Any]:
    """Store a document under an id, replacing an older one."""
    name, doc_id = call.path["c"], call.path["id"]
    mark = (call.change or put_change(service, call)).result()
    _release(service, name, mark, doc_id)
    return _stored(service, call, doc_id)


def _stored(service: Service, call: Call, doc_id: str) -> dict[str, Any]:
    rf = service.collections.at_commit(call.path["c"])
    stored = rf.rows.find(doc_id)
    count = 0 if stored is None else len(stored.rows)
    call.sink["chunks"] = count
    return {"id": doc_id, "chunks": count, "generation": rf.generation}


def delete_change(service: Service, call: Call) -> PendingChange[str | None]:
    """Hand in the change of `delete_document`; its result is the document's mark."""
    name, doc_id = call.path["c"], call.path["id"]

    def change(writer: Editor) -> str | None:
        stored = writer.take(doc_id)
        if stored is None:
            raise HttpFailure(404, f"no document {doc_id!r:.120} in {name}")
        mark = mark_of(stored)
        writer.delete([doc_id])
        return mark

    return _handed_in(service, call, f"delete {doc_id}", change)


def delete_document(service: Service, call: Call) -> dict[str, Any]:
    """Delete a document, and its upload if no other document came from it."""
    name, doc_id = call.path["c"], call.path["id"]
    mark = (call.change or delete_change(service, call)).result()
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
        return service.uploads.put(upload)
    for duplicate in service.uploads.duplicates(upload):
        service.uploads.remove(duplicate)
    return service.uploads.remove(upload)


def sync(service: Service, call: Call) -> dict[str, Any]:
    """Make a collection match the source folders that the server was started with."""
    from dataclasses import asdict

    from ragfile.write.source_sync import sync as sync_file

    name = service.collections.known(call.path["c"])
    sources = [folder for c, folder in service.settings.sources if c == name]
    if not sources:
        raise HttpFailure(409, f"{name} has no source folder: start the server with --source")
    report = sync_file(service.collections.path(name), sources, dedupe=call.body.get("dedupe", False),
                       dry_run=call.body.get("dry_run", False), limits=service.settings.limits,
                       wait=service.collections.editing["wait"])  # fmt: skip
    shown: dict[str, Any] = asdict(report)
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


def retire(service: Service, upload: Upload) -> None:
    """Remove an upload that has lost its documents; its oldest duplicate is indexed in its place."""
    heir, *others = service.uploads.duplicates(upload) or [upload]
    if heir is not upload:
        _inherit(service, heir, upload)
    for other in others:
        other.original = heir.id
        service.uploads.put(other)
    service.uploads.remove(upload)
    if heir is not upload and heir.state == "queued":
        service.queue.put(heir)
        service.write_soon(heir.collection)


def _inherit(service: Service, heir: Upload, upload: Upload) -> None:
    """Make a duplicate an upload of its own, with the bytes of its original."""
    heir.duplicate, heir.original, heir.documents, heir.action = False, "", [], ""
    heir.state, heir.kept = "queued", upload.kept
    if not service.uploads.inherit(heir, upload):
        heir.state = "error"
        heir.error = "its bytes were those of a file that was deleted since: send it again"
    service.uploads.put(heir)


def index(service: Service, collection: str) -> None:
    """Index the waiting uploads to a collection, all new ones in one commit.

    An upload that a worker was indexing when it ended has a commit of its own, so that it cannot end
    another worker together with the others.
    """
    while taken := service.queue.take(collection):
        try:
            is_done = _index_taken(service, collection, taken)
        except OSError as error:  # a state cannot be read or written; the next attempt sees which
            log.warning("uploads to %s wait: %s", collection, error)
            for upload in taken:
                upload.attempts, upload.retries = 0, upload.retries + 1
                service.queue.put(upload)
            _try_later(service, collection, taken)
            return
        if not is_done:
            return


def _index_taken(service: Service, collection: str, taken: Sequence[Upload]) -> bool:
    """Index uploads that are still queued; return False if some are to be tried again later."""
    waiting = [upload for upload in taken if _is_queued(service, upload)]
    new = [upload for upload in waiting if not upload.attempts]
    groups = [new, *([upload] for upload in waiting if upload.attempts)]
    while groups:
        group = groups.pop(0)
        if group and not _index_together(service, collection, group):
            for upload in (upload for rest in groups for upload in rest):
                service.queue.put(upload)
            return False
    return True


def _try_later(service: Service, collection: str, waiting: Sequence[Upload]) -> None:
    """Schedule another attempt, the later the more often it failed."""
    most = max(upload.retries for upload in waiting)
    service.write_later(collection, min(FIRST_WAIT * 2 ** min(most, 20), LONGEST_WAIT))


def _index_together(service: Service, collection: str, waiting: Sequence[Upload]) -> bool:
    """Index uploads in one commit; return False if they are to be tried again later."""
    replaced: set[str] = set()
    for upload in waiting:
        upload.attempts += 1
        service.uploads.put(upload)
    try:
        with editing(service, collection, _message(waiting)) as writer:
            names = StoredNames(writer)
            for upload in waiting:
                with request(upload.request_id or None):
                    _index_one(service, writer, names, upload, replaced)
    except Exception as error:  # noqa: BLE001 - reported in the state of each upload
        return _failed(service, collection, waiting, failure_of(error, service.collections))
    _retire_all(service, replaced)  # while the states still lead to another attempt
    for upload in waiting:
        _settle(service, upload)
    return True


def _failed(
    service: Service, collection: str, waiting: Sequence[Upload], failure: HttpFailure
) -> bool:
    """Record why a commit failed; queue its uploads again if the reason may pass."""
    passes = failure.status in AGAIN
    for upload in waiting:
        if upload.state == "error":  # the file itself cannot be read
            _settle(service, upload)
            continue
        upload.state, upload.error = "queued" if passes else "error", str(failure)
        upload.documents, upload.chunks = [], 0
        upload.attempts, upload.retries = 0, upload.retries + 1
        _settle(service, upload)
        if passes:
            service.queue.put(upload)
    if passes:
        _try_later(service, collection, waiting)
    return not passes


def _retire_all(service: Service, ids: Iterable[str]) -> None:
    """Retire the uploads that other ones have replaced."""
    for upload_id in ids:
        upload = service.uploads.get(upload_id)
        if upload is not None:
            retire(service, upload)


def _is_queued(service: Service, upload: Upload) -> bool:
    """Return whether an upload is still to be indexed; a starting server may queue it twice."""
    known = service.uploads.get(upload.id)
    return known is not None and known.state == "queued"


def _message(waiting: Sequence[Upload]) -> str:
    """Return the message of a commit of these uploads."""
    return f"upload {waiting[0].name}" + (f" and {len(waiting) - 1} more" * (len(waiting) > 1))


def _index_one(
    service: Service, writer: Editor, names: StoredNames, upload: Upload, replaced: set[str]
) -> None:
    """Add the documents of an upload to the commit, or record the reason if that fails."""
    if adopted := names.of_upload(upload.name, upload.id):
        upload.documents, upload.state, upload.error = adopted, "indexed", ""
        found = [writer.archive.find(doc_id) for doc_id in adopted]
        upload.chunks = sum(len(stored.rows) for stored in found if stored is not None)
        replaced.update(_overwritten(service, upload))
        return
    if upload.attempts > ATTEMPTS:
        upload.state = "error"
        upload.error = f"the server ended {ATTEMPTS} times while it indexed this file"
        return
    before = names.documents(upload.name) if upload.replace else []
    is_replacing = upload.replace and not names.staged(upload.name)
    name = upload.name if is_replacing else names.free(upload.name)
    try:
        documents = _loaded(service, writer, upload, name)
        writer.upsert(documents)
        ids = [document.id for document in documents]
        if is_replacing:
            writer.delete([doc_id for doc_id in before if doc_id not in ids])
            replaced.update(mark for mark in names.marks(before).values() if mark is not None)
        upload.documents, upload.state, upload.error = ids, "indexed", ""
        upload.action = "numbered" if name != upload.name else "replaced" if before else "added"
    except (LoadError, ValueError, TypeError) as error:
        upload.state, upload.error = "error", str(failure_of(error, service.collections))
        upload.chunks = 0


def _overwritten(service: Service, upload: Upload) -> Iterator[str]:
    """Yield the uploads with documents that an adopted upload has replaced."""
    for one in service.uploads.all():
        is_other = one.id != upload.id and one.collection == upload.collection
        if is_other and not one.duplicate and set(one.documents) & set(upload.documents):
            yield one.id


def _loaded(service: Service, writer: Editor, upload: Upload, name: str) -> list[Document]:
    """Return the documents of an upload, marked with its id."""
    loading = Loading([], limits=service.limits, parser=service.parser)
    documents = list(loading.file(SourceFile(service.uploads.path(upload), name, named=True)))
    if not documents:
        raise LoadError(loading.failures[0].reason if loading.failures else "it has no text")
    upload.mime = documents[0].metadata["mime"]
    for document in documents:
        document.source = name
        document.tags = tuple(dict.fromkeys([*document.tags, *upload.tags]))
        origin = {**origin_of(document.metadata), MARK: upload.id}
        document.metadata = {**document.metadata, **upload.metadata, **origin}
    upload.chunks = sum(len(split(document, writer.policy)) for document in documents)
    if upload.chunks > service.settings.max_chunks:
        raise LimitError(
            f"the file has {upload.chunks:,} chunks; the limit is "
            f"{service.settings.max_chunks:,}: split the file"
        )
    return documents


def _settle(service: Service, upload: Upload) -> None:
    """Record the final state of an upload, and delete its bytes if they are no longer needed."""
    if service.uploads.get(upload.id) is None:  # deleted since, with its documents
        return
    if upload.state == "error":
        service.uploads.forget(upload)
    service.uploads.put(upload)  # before the bytes are deleted, which another attempt would need
    if upload.state == "queued":
        return
    if upload.state == "error" or not upload.kept:
        service.uploads.drop(upload)
    service.board.add("ingested_files", 1, upload.state)
    service.board.add("ingested_chunks", upload.chunks)
