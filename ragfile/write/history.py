"""What a file says of its own past, and bringing documents up to the file's policy and model: log, stale, reindex."""

from __future__ import annotations

import os
from typing import TypedDict

from ragfile import _core
from ragfile.embedding.embedded_text import Context
from ragfile.embedding.protocol import Embedder, open_embedder, told
from ragfile.file import config
from ragfile.ground.urls import is_remote
from ragfile.ingest.chunker import Policy
from ragfile.net import fetcher
from ragfile.search.file_rows import rows_of
from ragfile.types import Fields, StrPath


class Commit(TypedDict):
    """A commit in the log. created is in ns since 1970, 0 if it was not recorded; chunks are live ones."""

    generation: int
    created: int
    message: str
    chunks: int
    added: int
    deleted: int
    size: int


def log(path: StrPath, *, cache: StrPath | None = None) -> list[Commit]:
    """Every commit that can still be opened, newest first: generation, created (ns since 1970, 0 = not recorded), message,
    chunks that were live, chunks it added, chunks it deleted, and the bytes that the file had."""
    mapped = fetcher.mapped(path, cache) if is_remote(path) else _core.Map(os.fspath(path))
    newest = _core.Reader(mapped)
    commits: list[Commit] = []
    before, first = 0, config.first_generation(newest, os.fspath(path))
    for generation in range(1, newest.commit["generation"] + 1):
        reader = (
            newest
            if generation == newest.commit["generation"]
            else _core.Reader(mapped, generation)
        )
        commit, segments = reader.commit, reader.segments
        live, added = (
            sum(s.live for s in segments),
            sum(s.rows for s in segments if s.generation == generation),
        )
        commits.append(
            {
                "generation": first - 1 + generation,
                "created": commit["created"],
                "message": commit["message"],
                "chunks": live,
                "added": added,
                "deleted": before + added - live,
                "size": commit["end"],
            }
        )
        before = live
    return commits[::-1]


def stale(
    path: StrPath,
    *,
    chunking: Policy | str | Fields | None = None,
    embedder: str | Embedder | None = None,
) -> dict[str, str]:
    """{document id: reason} of the documents that were cut by another policy, or embedded by another model, than the file's.

    With chunking or embedder: than those.
    """
    with rows_of(path) as archive:
        return stale_in(archive, chunking, embedder)


def stale_in(archive, chunking=None, embedder=None):
    """As stale, of an open file."""
    recorded = archive.config.get("chunking")
    wanted = recorded if chunking is None else Policy.of(chunking).record()
    listed = {
        doc_id: entry["chunking"]
        for entry in archive.file.stale_records
        for doc_id in entry["documents"]
    }
    model, other = archive.config.get("model") or {}, open_embedder(embedder)
    is_moved = Context.for_embedder(other) != Context.recorded(archive.config)
    found = {}
    for segment in archive.segments:
        for document in (there.record for there in segment.live_documents()):
            policy, reasons = listed.get(document.id, recorded), []
            if policy != wanted and document.has_text:
                reasons.append(f"cut by {_shown(policy)}, not {_shown(wanted)}")
            if other is not None and not other.model.is_of(model) and document.rows:
                here = told(other.model.record())
                reasons.append(f"embedded by {told(model)}, not {here}")
            elif other is not None and is_moved and document.rows:
                reasons.append("embedded without the context that new files give")
            if reasons:
                found[document.id] = "; ".join(reasons)
    return found


def _shown(policy):
    return (
        "no known policy"
        if not policy
        else f"{policy.get('kind')}:{policy.get('size')}/{policy.get('overlap')}"
    )
