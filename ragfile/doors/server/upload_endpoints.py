"""The endpoints for uploaded files: accept, show and delete them.

The documents of an upload bear its id. A duplicate has none of its own: deleting it deletes no
document, and deleting its original makes it the upload that is indexed.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.native_endpoints import document_ids
from ragfile.doors.server.stored_names import StoredNames, mark_of
from ragfile.doors.server.uploads import Upload
from ragfile.doors.server.write_endpoints import editing, retire

if TYPE_CHECKING:
    from ragfile.doors.server.multipart import Received
    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.shared_state import Service


def add_files(service: Service, call: Call) -> dict[str, Any]:
    """Queue uploaded files to be indexed."""
    return _accepted(service, call, is_replacing=False)


def replace_files(service: Service, call: Call) -> dict[str, Any]:
    """Queue uploaded files that replace the documents of the same names."""
    return _accepted(service, call, is_replacing=True)


def _accepted(service: Service, call: Call, *, is_replacing: bool) -> dict[str, Any]:
    """Queue the files of a request; the field `replace` overrides the method."""
    received: Received = call.body
    try:
        for upload in received.uploads:
            upload.replace = is_replacing if received.replace is None else received.replace
            upload.request_id = call.request_id
            _accept(service, upload, dedupe=received.dedupe)
    except OSError:  # the client learns that nothing was taken
        for upload in received.uploads:
            with contextlib.suppress(OSError):
                service.uploads.remove(upload)
        raise
    service.write_soon(call.path["c"])
    return {"files": [_shown(service, upload) for upload in received.uploads]}


def _accept(service: Service, upload: Upload, *, dedupe: bool) -> None:
    """Queue an upload; with `dedupe`, record a duplicate if its bytes are known."""
    uploads = service.uploads
    upload.action = _expected(service, upload)
    uploads.put(upload)  # before the claim: a claim must always lead to a state
    if not dedupe:
        return service.queue.put(upload)
    known = uploads.claim(upload)
    documents = [] if known else _documents_of(service, upload)
    if known is None and not documents:
        return service.queue.put(upload)
    upload.duplicate, upload.action, upload.kept = True, "duplicate", False
    upload.original, upload.documents = ("" if known is None else known.id), documents
    upload.state = "indexed"
    uploads.forget(upload)
    uploads.put(upload)
    uploads.drop(upload)
    return service.board.add("ingested_files", 1, "duplicate")


def _expected(service: Service, upload: Upload) -> str:
    """Return what indexing would do now: add the file, replace its name's documents, or number it."""
    rf = service.collections.at_commit(upload.collection)
    ids = service.of_commit(rf, "ids", document_ids)
    places = (bisect_left(ids, upload.name), bisect_left(ids, f"{upload.name}#"))
    found = [ids[place] for place in places if place < len(ids)]
    if not any(doc_id == upload.name or doc_id.startswith(f"{upload.name}#") for doc_id in found):
        return "added"
    return "replaced" if upload.replace else "numbered"


def _documents_of(service: Service, upload: Upload) -> list[str]:
    """Return the documents from elsewhere that have an upload's bytes."""
    rf = service.collections.at_commit(upload.collection)
    rows = rf.rows.mask({"checksum": upload.checksum})
    found = [] if rows is None else [rf.chunk(int(row)).doc_id for row in rows.nonzero()[0]]
    return list(dict.fromkeys(found))


def file(service: Service, call: Call) -> dict[str, Any]:
    """Return the state of an upload, or of the file that a document came from."""
    upload = _upload_of(service, call) or _file_of(service, call)
    if upload is None:
        raise _absent(call)
    return _shown(service, upload)


def files(service: Service, call: Call) -> dict[str, Any]:
    """List the uploads to a collection, newest first."""
    uploads = [u for u in service.uploads.all() if u.collection == call.path["c"]]
    uploads.sort(key=lambda upload: (-upload.created, upload.id))
    return {"files": [_shown(service, upload) for upload in uploads]}


def _shown(service: Service, upload: Upload) -> dict[str, Any]:
    """Return an upload ready for JSON; a duplicate has the state of its original."""
    original = service.uploads.get(upload.original) if upload.original else None
    if original is None:
        return upload.shown()
    names = ("state", "error", "documents", "chunks", "mime")
    return {**upload.shown(), **{name: getattr(original, name) for name in names}}


def delete_file(service: Service, call: Call) -> dict[str, Any]:
    """Delete an upload with its documents; those of other uploads and from elsewhere stay."""
    upload = _known(service, call)
    delete_documents(service, call, upload)
    retire(service, upload)
    return {"id": upload.id, "generation": service.collections.at_commit(call.path["c"]).generation}


def delete_documents(service: Service, call: Call, upload: Upload) -> None:
    """Delete the documents of an upload, but not the upload."""
    name = f"delete {upload.name}"
    with editing(service, call.path["c"], name, call.request_id) as writer:
        listed = [d for d in upload.documents if mark_of(writer.take(d)) == upload.id]
        mine = listed or StoredNames(writer).of_upload(upload.name, upload.id)
        writer.delete(mine)
    call.sink["deleted"] = len(mine)


def _known(service: Service, call: Call) -> Upload:
    """Return the upload that a path names; raise a failure 404 if there is none."""
    upload = _upload_of(service, call)
    if upload is None:
        raise _absent(call)
    return upload


def _absent(call: Call) -> HttpFailure:
    return HttpFailure(404, f"no file {call.path['id']!r:.80} was uploaded to {call.path['c']}")


def _upload_of(service: Service, call: Call) -> Upload | None:
    """Return the upload with an id, or the one that the document with this id came from."""
    name, given = call.path["c"], call.path["id"]
    upload = service.uploads.get(given)
    if upload is None:
        stored = service.collections.at_commit(name).rows.find(given)
        upload = service.uploads.get(mark_of(stored) or "")
    return upload if upload is not None and upload.collection == name else None


def _file_of(service: Service, call: Call) -> Upload | None:
    """Return the record of a document that was not uploaded, None without such a document."""
    name, doc_id = call.path["c"], call.path["id"]
    stored = service.collections.at_commit(name).rows.find(doc_id)
    if stored is None:
        return None
    metadata = stored.fields.get("metadata", {})
    checksum, mime = (str(metadata.get(key) or "") for key in ("checksum", "mime"))
    return Upload(
        doc_id, stored.fields.get("source") or doc_id, name, "", "", stored.record.text_size,
        checksum, mime, "indexed", documents=[doc_id], chunks=len(stored.rows), kept=False,
        tags=list(stored.fields.get("tags", [])),
    )  # fmt: skip
