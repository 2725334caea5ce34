"""FAISS itself: rows of indexes that are not flat, and a live index for those who search with
FAISS.
"""

# Where the package is missing, pyright takes this very module for it.
# pyright: reportAttributeAccessIssue=false

import faiss
import numpy as np

from ragfile.exchange.faiss.index import Index


def live(index):
    """The faiss index object of an Index."""
    return faiss.deserialize_index(np.array(index.data))


def index_of(live_index):
    """The Index of a faiss index object."""
    return Index(faiss.serialize_index(live_index))


def rows(index):
    """float32 rows of any index that can reconstruct them; a quantised index gives what it kept."""
    if index.is_flat:
        return index.vectors
    found = live(index)
    inner = faiss.downcast_index(found.index) if hasattr(found, "index") else found
    if hasattr(inner, "make_direct_map"):
        inner.make_direct_map()
    return inner.reconstruct_n(0, inner.ntotal)
