"""Make and delete vector stores: each is a file in the server's first folder."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any

from ragfile.doors.server import schemas as s
from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.openai.files import STRATEGY, free_of_store, known_file, take_files
from ragfile.doors.server.openai.stores import FACTS, SECTION, store
from ragfile.doors.server.uploads import STORED
from ragfile.folder import path_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.settings import Settings
    from ragfile.doors.server.shared_state import Service
    from ragfile.ground.json_schema import Schema

MOST_FILES, MOST_PAIRS, LONGEST_KEY, LONGEST_VALUE = 500, 16, 64, 512


def store_body(settings: Settings) -> Schema:
    """Return the schema of a request that makes a store."""
    return s.nullable(s.record(
        (), name=s.TEXT, file_ids=s.many(s.TEXT, maxItems=MOST_FILES), metadata=s.FREE,
        description=s.TEXT, chunking_strategy=STRATEGY, expires_after=s.NULL,
    ))  # fmt: skip


def create(service: Service, call: Call) -> dict[str, Any]:
    """Make a store, and let it take files that were uploaded."""
    body = s.given(call.body)
    facts = {name: body[name] for name in FACTS if body.get(name)}
    _check_metadata(facts.get("metadata", {}))
    name, file_ids = body.get("name", f"vs_{secrets.token_hex(12)}"), body.get("file_ids", [])
    for file_id in file_ids:
        if known_file(service, file_id, "file_ids").state != STORED:
            reason = f"the file {file_id} belongs to another store: upload it again for {name}"
            raise HttpFailure(409, reason, param="file_ids")
    _make(service, name, facts)
    call.path["c"] = name
    if file_ids:
        take_files(service, call, [{"file_id": file_id} for file_id in file_ids])
    return store(service, call)


def _check_metadata(metadata: Mapping[str, object]) -> None:
    """Raise a failure 422 unless metadata has OpenAI's form."""
    are_right = all(
        isinstance(value, str) and len(value) <= LONGEST_VALUE and len(key) <= LONGEST_KEY
        for key, value in metadata.items()
    )
    if not are_right or len(metadata) > MOST_PAIRS:
        reason = (
            f"metadata has up to {MOST_PAIRS} pairs: keys of {LONGEST_KEY} characters at most, and "
            f"texts of {LONGEST_VALUE}"
        )
        raise HttpFailure(422, reason, param="metadata")


def _make(service: Service, name: str, facts: Mapping[str, object]) -> None:
    """Make a file with the name of a store; raise a failure 409 if the name is taken."""
    if not service.collections.has_folder:
        reason = (
            "the server has no folder for new stores: start it with `ragfile serve FOLDER --write`"
        )
        raise HttpFailure(409, reason)
    try:
        path_in("", name)
        is_made = service.collections.make(name)
    except ValueError as error:
        raise HttpFailure(422, str(error), param="name") from None
    if not is_made:
        reason = f"the collection {name!r:.80} exists: use it, or choose another name"
        raise HttpFailure(409, reason, param="name")
    if facts:
        _keep_facts(service, name, facts)


def _keep_facts(service: Service, name: str, facts: Mapping[str, object]) -> None:
    """Write the description and the metadata of a store into its file."""
    path = service.collections.path(name)
    with service.collections.edit(path, **service.collections.editing) as writer:
        writer.add_section(SECTION, json.dumps(facts).encode())


def delete(service: Service, call: Call) -> dict[str, Any]:
    """Delete the file of a store. Its files of `POST /v1/files` stay, without a store."""
    name = service.collections.known(call.path["c"])
    service.collections.delete(name)
    for upload in list(service.uploads.all()):
        if upload.collection == name:
            free_of_store(service, upload)
    return {"id": name, "object": "vector_store.deleted", "deleted": True}
