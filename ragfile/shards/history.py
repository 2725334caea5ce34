"""The generations of a dataset, and its stale documents."""

from __future__ import annotations

from typing import Any

from ragfile.embedding.protocol import Embedder
from ragfile.ingest.chunker import Policy
from ragfile.shards import dataset_commit
from ragfile.shards.manifest import FOLDER, generation_of
from ragfile.shards.open_dataset import Dataset
from ragfile.shards.stores import place
from ragfile.types import Fields, StrPath
from ragfile.write.history import stale_in


def log(path: StrPath) -> list[dict[str, Any]]:
    """List the generations that can still be opened, newest first.

    Args:
        path: A folder or a bucket's URL of a dataset.

    Returns:
        For each generation its number, time (nanoseconds since 1970), message, chunks and bytes. `added` or `deleted` is
        the change of the number of chunks.
    """
    store = place(path)
    numbers = (generation_of(found.name) for found in store.names(FOLDER))
    found: list[dict[str, Any]] = []
    before = 0
    for generation in sorted(number for number in numbers if number is not None):
        manifest = dataset_commit.read(store, generation)
        grown = manifest.live - before
        before = manifest.live
        found.append(
            {
                "generation": generation, "created": manifest.created, "message": manifest.message,
                "chunks": manifest.live, "added": max(grown, 0), "deleted": max(-grown, 0),
                "size": sum(shard.bytes for shard in manifest.shards),
            }
        )  # fmt: skip
    return found[::-1]


def stale(
    path: StrPath, *, chunking: Policy | str | Fields | None = None,
    embedder: str | Embedder | None = None,
) -> dict[str, str]:  # fmt: skip
    """Return the documents that were cut by another policy, or embedded by another model, than the dataset's.

    Args:
        path: A folder or a bucket's URL of a dataset.
        chunking: The policy to compare with; by default, the dataset's.
        embedder: The embedder to compare with; by default, the dataset's.

    Returns:
        A reason for each document id.
    """
    with Dataset(path, embedder="none") as rf:
        return stale_in(rf.rows, chunking, embedder)
