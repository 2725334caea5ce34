"""FAISS itself: rows of indexes that are not flat, and live index objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

# Where the package is missing, pyright takes this very module for it.
# pyright: reportAttributeAccessIssue=false
import faiss
import numpy as np

from ragfile.exchange.faiss.index import Index

if TYPE_CHECKING:
    from ragfile.types import Float32s


def live(index: Index) -> faiss.Index:
    """Return the faiss object of an Index."""
    return faiss.deserialize_index(np.array(index.data))


def index_of(live_index: faiss.Index) -> Index:
    """Return the Index of a faiss object."""
    return Index(faiss.serialize_index(live_index))


def rows(index: Index) -> Float32s:
    """Return the rows of an index that can reconstruct them; quantized rows are approximate."""
    if index.is_flat:
        return index.vectors
    found = live(index)
    inner = faiss.downcast_index(found.index) if hasattr(found, "index") else found
    if hasattr(inner, "make_direct_map"):
        inner.make_direct_map()
    found_rows: Float32s = inner.reconstruct_n(0, inner.ntotal)
    return found_rows
