"""A FAISS index as bytes: its head for any kind, its rows for the flat kinds, all without FAISS.

The bytes are kept as they came, so what is written is what was read. They lie in memory so that the
rows of a flat index start at a 64-byte boundary: the rows are a numpy view, nothing is copied.
"""

import numpy as np

from ragfile import _core
from ragfile.errors import FormatError

# Four letters -> the class that FAISS calls it. Others are named by their letters.
CLASS_NAMES = {
    "IxFI": "IndexFlatIP",
    "IxF2": "IndexFlatL2",
    "IxFl": "IndexFlat",
    "IwFl": "IndexIVFFlat",
    "IxPq": "IndexPQ",
    "IwPQ": "IndexIVFPQ",
    "IwQR": "IndexIVFPQR",
    "IxSQ": "IndexScalarQuantizer",
    "IwSq": "IndexIVFScalarQuantizer",
    "IHNf": "IndexHNSWFlat",
    "IHNp": "IndexHNSWPQ",
    "IHNs": "IndexHNSWSQ",
    "IHN2": "IndexHNSW2Level",
    "INSf": "IndexNSGFlat",
    "IxHe": "IndexLSH",
    "IxPT": "IndexPreTransform",
    "IxMp": "IndexIDMap",
    "IxM2": "IndexIDMap2",
}
# Small enough for a text file: everything else is refused unless the caller insists.
SMALL = {"IxFI", "IxF2", "IxFl", "IwFl", "IxMp", "IxM2"}
METRICS = {0: "ip", 1: "l2"}
ALIGNMENT = 64


def aligned_bytes(size, head=_core.FAISS_FLAT_HEAD):
    """`size` fresh bytes whose byte number `head` lies at a 64-byte boundary."""
    block = np.empty(size + 2 * ALIGNMENT, np.uint8)
    start = -(block.ctypes.data + head) % ALIGNMENT
    return block[start : start + size]


class Index:
    """The bytes of one FAISS index and what its head says: kind (four letters), dim, count, metric.

    An index belongs to one collection: `append` grows it in place."""

    def __init__(self, data):
        self._block = None  # what data is the beginning of, once there is room to grow
        self.data = np.frombuffer(data, np.uint8) if not isinstance(data, np.ndarray) else data
        self.kind, self.dim, self.count, metric, self._rows_at = _core.faiss_read(self.data)
        self.metric = METRICS.get(metric, f"metric {metric}")

    @classmethod
    def of(cls, vectors, metric="ip"):
        """A flat index of float32 rows; byte for byte what FAISS would write."""
        rows = np.ascontiguousarray(vectors, "<f4")
        if rows.ndim != 2 or metric not in ("ip", "l2"):
            raise ValueError("a flat index needs a matrix of vectors and metric 'ip' or 'l2'")
        data = aligned_bytes(_core.FAISS_FLAT_HEAD + rows.nbytes)
        head = _core.faiss_flat_head(rows.shape[1], rows.shape[0], metric == "ip")
        data[: len(head)] = np.frombuffer(head, np.uint8)
        data[len(head) :] = rows.reshape(-1).view(np.uint8)
        return cls(data)

    @classmethod
    def read(cls, path):
        """The index in a .faiss file."""
        with open(path, "rb", buffering=0) as file:
            size = file.seek(0, 2)
            file.seek(0)
            data = aligned_bytes(size)
            filled = 0
            while filled < size and (count := file.readinto(data[filled:].data)):
                filled += count
        return cls(data[:filled])

    def append(self, vectors):
        """Adds rows to a flat index. The room doubles, so rows can come one by one; earlier views
        of rows stay valid.
        """
        if not self.is_flat:
            raise FormatError(f"rows cannot be added to an {self.class_name} without FAISS")
        rows = np.ascontiguousarray(vectors, "<f4").reshape(-1, self.dim)
        used, size = len(self.data), len(self.data) + rows.nbytes
        if self._block is None or len(self._block) < size:
            self._block = aligned_bytes(2 * size)
            self._block[:used] = self.data
        self._block[used:size] = rows.reshape(-1).view(np.uint8)
        self.count += len(rows)
        head = _core.faiss_flat_head(self.dim, self.count, self.metric == "ip")
        self._block[: len(head)] = np.frombuffer(head, np.uint8)
        self.data = self._block[:size]

    @property
    def is_flat(self):
        """True when the rows can be had without FAISS."""
        return self._rows_at > 0

    @property
    def class_name(self):
        return CLASS_NAMES.get(self.kind, self.kind)

    @property
    def vectors(self):
        """The rows of a flat index, float32, a read-only view."""
        if not self.is_flat:
            raise FormatError(
                f"the rows of an {self.class_name} need FAISS: ragfile.exchange.faiss.native reads them"
            )
        rows = self.data[self._rows_at :].view("<f4").reshape(self.count, self.dim)
        rows.flags.writeable = False
        return rows

    @property
    def layout(self):
        """(head, row) in bytes: where a text of these bytes can be broken into lines."""
        return (self._rows_at, 4 * self.dim) if self.is_flat else (0, 0)

    def refuse_if_large(self, allow_large):
        """Refuses the kinds that a text file is the wrong home for."""
        if self.kind not in SMALL and not allow_large:
            raise FormatError(
                f"an {self.class_name} does not belong into a text file; use a .ragfile, or insist with allow_large"
            )

    def __eq__(self, other):
        return isinstance(other, Index) and bytes(self.data) == bytes(other.data)
