"""The log of a file's commits, and its documents with an outdated chunk policy or model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from typing import TypedDict

from ragfile import _core
from ragfile.embedding.embedded_text import Context
from ragfile.embedding.protocol import Embedder, open_embedder, told
from ragfile.file import config
from ragfile.file.consistency import merged_rows
from ragfile.file.source import decrypted, opened_map
from ragfile.ground.missing_files import explained
from ragfile.ground.urls import is_remote, local_path
from ragfile.ingest.chunker import Policy
from ragfile.net import fetcher
from ragfile.search.file_rows import FileRows, rows_of
from ragfile.types import Fields, Metadata, StrPath


class Commit(TypedDict):
    """A commit in the log.

    Attributes:
        generation: Its number.
        created: Its time in ns since 1970, 0 if it was not recorded.
        message: Its message.
        chunks: Live chunks after it.
        added: Chunks it added.
        deleted: Chunks it deleted.
        size: Size of the file after it, in bytes.
    """

    generation: int
    created: int
    message: str
    chunks: int
    added: int
    deleted: int
    size: int


def log(path: StrPath, *, cache: StrPath | None = None) -> list[Commit]:
    """List the commits of a file that can still be opened, newest first.

    Args:
        path: A file or a URL.
        cache: A folder for the parts fetched from a URL.

    Returns:
        The number, time, message and size of each commit.

    Raises:
        FormatError: `path` is not a RAGFile, or is damaged.
        RemoteError: The URL cannot be read.
    """
    with explained(path):
        mapped = (
            decrypted(fetcher.mapped(path, cache))
            if is_remote(path)
            else opened_map(local_path(os.fspath(path)))
        )
    newest = _core.Reader(mapped)
    first = config.first_generation(newest, os.fspath(path))
    commits = [_entry(reader, first) for reader in _walk(newest)]
    for commit, before in pairwise(commits):
        commit["deleted"] = before["chunks"] + commit["added"] - commit["chunks"]
    commits[-1]["deleted"] = commits[-1]["added"] - commits[-1]["chunks"]
    return commits


def _walk(reader: _core.Reader) -> Iterator[_core.Reader]:
    """Yield the commits from this one back to the first."""
    yield reader
    while reader.commit["generation"] > 1:
        reader = reader.previous()
        yield reader


def _entry(reader: _core.Reader, first: int) -> Commit:
    """Return the entry of a commit, without the chunks that it deleted."""
    commit, segments = reader.commit, reader.segments
    generation = commit["generation"]
    return {
        "generation": first - 1 + generation,
        "created": commit["created"],
        "message": commit["message"],
        "chunks": sum(s.live for s in segments),
        "added": sum(s.rows for s in segments if s.generation == generation) - merged_rows(reader),
        "deleted": 0,
        "size": commit["end"],
    }


def stale(
    path: StrPath,
    *,
    chunking: Policy | str | Fields | None = None,
    embedder: str | Embedder | None = None,
) -> dict[str, str]:
    """Find documents that another chunk policy split, or another model embedded, than the current one.

    Args:
        path: The file.
        chunking: The policy to compare with. Defaults to the file's own.
        embedder: The model to compare with. Defaults to the file's own.

    Returns:
        The reason for each outdated document, by id.
    """
    with rows_of(path) as archive:
        return stale_in(archive, chunking, embedder)


def stale_in(
    archive: FileRows,
    chunking: Policy | str | Fields | None = None,
    embedder: str | Embedder | None = None,
) -> dict[str, str]:
    """Find outdated documents of an open file, as stale() does."""
    recorded = archive.config.get("chunking")
    wanted = recorded if chunking is None else Policy.of(chunking).record()
    listed = {
        doc_id: entry["chunking"]
        for entry in archive.file.stale_records
        for doc_id in entry["documents"]
    }
    model: Metadata = archive.config.get("model") or {}
    other = open_embedder(embedder)
    is_moved = Context.for_embedder(other) != Context.recorded(archive.config)
    found: dict[str, str] = {}
    for segment in archive.segments:
        for document in (stored.record for stored in segment.live_documents()):
            policy = listed.get(document.id, recorded)
            reasons: list[str] = []
            if policy != wanted and document.has_text:
                reasons.append(f"cut by {_shown(policy)}, not {_shown(wanted)}")
            if other is not None and not other.model.is_of(model) and document.rows:
                reasons.append(f"embedded by {told(model)}, not {told(other.model.record())}")
            elif other is not None and is_moved and document.rows:
                reasons.append("embedded without the context that new files give")
            if reasons:
                found[document.id] = "; ".join(reasons)
    return found


def _shown(policy: Fields | None) -> str:
    return (
        "no known policy"
        if not policy
        else f"{policy.get('kind')}:{policy.get('size')}/{policy.get('overlap')}"
    )
