"""Datasets: many RAGFiles in a folder or on an object store that answer as one file would, to the bit.

ragfile.dataset.build(["docs/"], "kb/", shards=12)
with ragfile.open("kb/") as rf:
    print(rf.search("How long do pods live?")[0].text)
"""

from ragfile.sharding.building import build

__all__ = ["build"]
