"""Datasets: many RAGFiles in a folder or on an object store that answer as one file would, to the bit.

    ragfile.dataset.build(["docs/"], "kb/", shards=12)
    with ragfile.open("kb/") as rf:
        print(rf.search("How long do pods live?")[0].text)

build makes one, and convert one of a single file, or the other way round. add, sync, delete, reindex and compact make a
new generation of it, vacuum removes what no
generation needs, sign vouches for the newest, verify checks every byte. On Ray (ragfile[ray]), map_batches and ask put many questions to one,
read_ragfile and write_ragfile let chunks and vectors flow from and to Ray Data.
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
