"""Datasets: many RAGFiles in a folder or on an object store that answer as one file would, to the bit.

    ragfile.dataset.build(["docs/"], "kb/", shards=12)
    with ragfile.open("kb/") as rf:
        print(rf.search("How long do pods live?")[0].text)

build makes one. add, sync, delete and compact make a new generation of it, vacuum removes what no
generation needs, verify checks every byte.
"""

from ragfile.sharding.building import build
from ragfile.sharding.changing import add, compact, delete, sync
from ragfile.sharding.vacuuming import vacuum
from ragfile.sharding.verifying import verify

__all__ = ["add", "build", "compact", "delete", "sync", "vacuum", "verify"]
