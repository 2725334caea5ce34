"""FAISS indexes as bytes: the head of any kind and the rows of flat kinds, without FAISS.

The bytes are kept unchanged, so an index is written as it was read. In memory, the rows of a flat index
start at a 64-byte boundary, so that they are a numpy view without a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragfile import _core
from ragfile.errors import FormatError

if TYPE_CHECKING:
    from ragfile.types import Float32s, Integers, StrPath, Vectors

# Class names in FAISS by four-letter code. Unknown kinds are named by their code.
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
# Kinds small enough for a text file; others need allow_large.
SMALL = {"IxFI", "IxF2", "IxFl", "IwFl", "IxMp", "IxM2"}
METRICS = {0: "ip", 1: "l2"}
ALIGNMENT = 64


def aligned_bytes(size: int, head: int = _core.FAISS_FLAT_HEAD) -> Integers:
    """Allocate `size` bytes with the byte at offset `head` on a 64-byte boundary."""
    block = np.empty(size + 2 * ALIGNMENT, np.uint8)
    start = -(block.ctypes.data + head) % ALIGNMENT
    return block[start : start + size]


class Index:
    """The bytes of a FAISS index. An index belongs to one collection: `append` grows it in place.

    Attributes:
        data: The bytes.
        kind: The four-letter code.
        dim: Length of the vectors.
        count: Number of vectors.
        metric: `"ip"`, `"l2"` or `"metric N"`.
    """

    def __init__(self, data: bytes | bytearray | memoryview | Integers) -> None:
        self._block: Integers | None = None  # starts with data and has room to grow
        self.data = np.frombuffer(data, np.uint8) if not isinstance(data, np.ndarray) else data
        self.kind, self.dim, self.count, metric, self._rows_at = _core.faiss_read(self.data)
        self.metric = METRICS.get(metric, f"metric {metric}")

    @classmethod
    def of(cls, vectors: Vectors, metric: str = "ip") -> Index:
        """Make a flat index of float32 rows, with the bytes that FAISS would write."""
        rows = np.ascontiguousarray(vectors, "<f4")
        if rows.ndim != 2 or metric not in ("ip", "l2"):
            raise ValueError("a flat index needs a matrix of vectors and metric 'ip' or 'l2'")
        data = aligned_bytes(_core.FAISS_FLAT_HEAD + rows.nbytes)
        head = _core.faiss_flat_head(rows.shape[1], rows.shape[0], metric == "ip")
        data[: len(head)] = np.frombuffer(head, np.uint8)
        data[len(head) :] = rows.reshape(-1).view(np.uint8)
        return cls(data)

    @classmethod
    def read(cls, path: StrPath) -> Index:
        """Read a .faiss file."""
        with open(path, "rb", buffering=0) as file:
            size = file.seek(0, 2)
            file.seek(0)
            data = aligned_bytes(size)
            filled = 0
            while filled < size and (count := file.readinto(data[filled:].data)):
                filled += count
        return cls(data[:filled])

    def append(self, vectors: Vectors) -> None:
        """Append rows to a flat index.

        Capacity doubles, so single rows are cheap; earlier views of rows stay valid.
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
    def is_flat(self) -> bool:
        """Whether rows can be read without FAISS."""
        return self._rows_at > 0

    @property
    def class_name(self) -> str:
        """The name of the class in FAISS."""
        return CLASS_NAMES.get(self.kind, self.kind)

    @property
    def vectors(self) -> Float32s:
        """The rows of a flat index, as a read-only view."""
        if not self.is_flat:
            raise FormatError(
                f"the rows of an {self.class_name} need FAISS: ragfile.exchange.faiss.native reads them"
            )
        rows = self.data[self._rows_at :].view("<f4").reshape(self.count, self.dim)
        rows.flags.writeable = False
        return rows

    @property
    def layout(self) -> tuple[int, int]:
        """Bytes of the head and of a row, at which base64 text breaks lines."""
        return (self._rows_at, 4 * self.dim) if self.is_flat else (0, 0)

    def refuse_if_large(self, allow_large: bool) -> None:
        """Raise FormatError for kinds that are too large for a text file."""
        if self.kind not in SMALL and not allow_large:
            raise FormatError(
                f"an {self.class_name} does not belong into a text file; use a .ragfile, or insist with allow_large"
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Index) and bytes(self.data) == bytes(other.data)
