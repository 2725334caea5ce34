"""The generations of a dataset, as a file's log tells its commits, and which documents are stale."""

from __future__ import annotations

from typing import Any

from ragfile.embedding.protocol import Embedder
from ragfile.ingest.chunker import Policy
from ragfile.shards import new_generation
from ragfile.shards.manifest import FOLDER, generation_of
from ragfile.shards.open_dataset import Dataset
from ragfile.shards.stores import place
from ragfile.types import Fields, StrPath
from ragfile.write.history import stale_in


def log(path: StrPath) -> list[dict[str, Any]]:
    """Every generation that can still be opened, newest first. `added` and `deleted` are what the number of chunks changed by."""
    store = place(path)
    numbers = (generation_of(found.name) for found in store.names(FOLDER))
    told, before = [], 0
    for generation in sorted(number for number in numbers if number is not None):
        manifest = new_generation.read(store, generation)
        grown = manifest.live - before
        before = manifest.live
        told.append(
            {
                "generation": generation, "created": manifest.created, "message": manifest.message,
                "chunks": manifest.live, "added": max(grown, 0), "deleted": max(-grown, 0),
                "size": sum(shard.bytes for shard in manifest.shards),
            }
        )  # fmt: skip
    return told[::-1]


def stale(
    path: StrPath, *, chunking: Policy | str | Fields | None = None,
    embedder: str | Embedder | None = None,
) -> dict[str, str]:  # fmt: skip
    """{document id: reason} of the documents that another policy cut, or another model embedded, than the dataset's.

    With chunking or embedder: than those.
    """
    with Dataset(path, embedder="none") as rf:
        return stale_in(rf.rows, chunking, embedder)
