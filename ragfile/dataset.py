"""Datasets: many RAGFiles in a folder or an object store, with exactly the answers of a single file.

    ragfile.dataset.build(["docs/"], "kb/", shards=12)
    with ragfile.open("kb/") as rf:
        print(rf.search("How long do pods live?")[0].text)

`build` makes a dataset; `convert` makes one from a single file, or a single file from one. `add`, `sync`,
`delete`, `reindex` and `compact` commit a new generation. `vacuum` removes unused objects, `sign` signs
the newest generation, and `verify` checks every byte. On Ray (ragfile[ray]), `map_batches` and `ask`
answer many questions; `read_ragfile` and `write_ragfile` exchange chunks and vectors with Ray Data.
"""

from ragfile.shards.builder import build
from ragfile.shards.changes import add, compact, delete, sync
from ragfile.shards.conversion import convert
from ragfile.shards.dataset_signatures import sign
from ragfile.shards.executors.ray_cluster import OnRay
from ragfile.shards.history import stale
from ragfile.shards.ray_data import ask, map_batches, read_ragfile, write_ragfile
from ragfile.shards.reindex import reindex
from ragfile.shards.vacuum import vacuum
from ragfile.shards.verification import verify

__all__ = [
    "OnRay",
    "add",
    "ask",
    "build",
    "compact",
    "convert",
    "delete",
    "map_batches",
    "read_ragfile",
    "reindex",
    "sign",
    "stale",
    "sync",
    "vacuum",
    "verify",
    "write_ragfile",
]
