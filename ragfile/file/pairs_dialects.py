"""The two ways in which a 0.1.0 file is read: as the specification has it, and as the format's first script left it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.errors import FormatError

if TYPE_CHECKING:
    from typing import Any

DTYPES = {8: "i1", 16: "f2", 32: "f4", 64: "f8"}
PADDINGS = (4, 8, 16)
KEYS = "rag.keys"
WORK_MAX = 1 << 28  # bytes walked to work out the dimension of a damaged file before asking for it


@dataclass(frozen=True)
class Remnant:
    """Bytes of a damaged file that are not certainly one record. kind is "ambiguous" or "damaged"."""

    strategy: str
    kind: str
    at: int
    size: int


@dataclass
class Report:
    """What a file of the reference script lost: the directory lies over the bytes overwritten[0] to overwritten[1] - 1."""

    overwritten: tuple[int, int]
    remnants: list[Remnant] = field(default_factory=list)


class VectorLayout(NamedTuple):
    """Where the vectors lie: row i at i * stride of buffer, or at offsets[i] when the stride is 0."""

    buffer: memoryview
    rows: int
    dim: int
    stride: int
    offsets: np.ndarray | None
    dtype: np.dtype
    big_endian: bool


def _row_dtype(precision, big):
    return np.dtype((">" if big else "<") + DTYPES[precision])


def _vector_at(buffer, at, dim, dtype):
    row = np.frombuffer(buffer, dtype, dim, at)
    return row if dtype.isnative else row.astype(dtype.newbyteorder("="))


class Strict:
    """A file as the specification has it."""

    keyword: Any  # _core.Pairs, or None where there is no such section
    vector: Any

    dialect = "strict"

    def __init__(self, data, dim):
        self.data = memoryview(data)
        self.directory = _core.read_directory(self.data)
        self.ranges = {name: (start, end) for name, start, end in self.directory.entries}
        self.keyword = self._pairs("keyword", _core.Pairs.keyword)
        self.vector = self._pairs("vector", _core.Pairs.vector)
        if KEYS in self.ranges and not self.keyword:
            raise FormatError(f"{KEYS} without keyword", at=self.ranges[KEYS][0], section=KEYS)
        self.keys = self._keys() if self.keyword else None
        if self.vector and dim is not None:
            if self.vector.dim not in (None, dim):
                raise ValueError(f"dim is {self.vector.dim} in the file, not {dim}")
            self.vector.dim = dim

    def _section(self, name):
        start, end = self.ranges[name]
        return _core.Section.over(self.data[start : end + 1], name)

    def _pairs(self, name, kind):
        if name not in self.ranges:
            return None
        return kind(self._section(name), self.ranges[name][0], self.directory.big_endian)

    def _keys(self):
        if KEYS not in self.ranges:
            return None
        return _core.Keys.over(
            self._section(KEYS), self.ranges[KEYS][0], self.keyword, self.directory.big_endian
        )

    def report(self):
        return None

    def verify(self, strategy):
        if strategy == "keyword" and self.keys:
            self.keys.verify()
        if strategy == "vector" and self.dim() is not None:
            self.vector.verify()

    def precision(self):
        return self.vector.precision if self.vector else None

    def count(self):
        return self.vector.count if self.vector else None

    def dim(self):
        if not self.vector or (self.vector.dim is None and self.vector.size == 0):
            return None
        if self.vector.dim is None:
            self.vector.dim = self._inferred()
        return self.vector.dim

    def _inferred(self):
        fitting = self.vector.infer_dims()
        if len(fitting) == 1:
            return fitting[0]
        reason = (
            f"the dimension could be any of {fitting}: pass dim"
            if fitting
            else "no dimension fits the vector pairs"
        )
        raise FormatError(reason, at=self.vector.start, section="vector")

    def lookup(self, keyword):
        return self.keyword.lookup(keyword, self.keys) if self.keyword else []

    def pairs(self, strategy, chunk):
        pairs = self.keyword if strategy == "keyword" else self.vector
        if not pairs or (strategy == "vector" and self.dim() is None):
            return iter(())
        if chunk is not None:
            return self._chunked(pairs, chunk)
        return iter(pairs) if strategy == "keyword" else self._in_place()

    def _in_place(self):
        dtype = _row_dtype(self.vector.precision, self.directory.big_endian)
        buffer, dim = self.vector.bytes, self.dim()
        for at, content in self.vector:
            yield _vector_at(buffer, at, dim, dtype), content

    def _chunked(self, pairs, chunk):
        feed, buffer = _core.PairFeed(pairs), pairs.bytes
        dtype = _row_dtype(pairs.precision, self.directory.big_endian) if pairs.precision else None
        for at in range(0, len(buffer), chunk):
            feed.push(buffer[at : at + chunk], last=at + chunk >= len(buffer))
            while (pair := feed.pop()) is not None:
                head, content = pair
                yield (head if dtype is None else _vector_at(head, 0, pairs.dim, dtype)), content

    def layout(self):
        dim = self.dim()
        if dim is None:
            return None
        rows, stride, offsets = self.vector.count, self.vector.stride, None
        if not stride:
            rows, stride = self.vector.walk()
        if not stride:
            offsets = np.empty(rows, dtype=np.uint64)
            self.vector.walk(offsets)
        dtype = _row_dtype(self.vector.precision, self.directory.big_endian)
        return VectorLayout(
            self.vector.bytes, rows, dim, stride, offsets, dtype, self.directory.big_endian
        )

    def gather(self, layout):
        out = np.empty((layout.rows, layout.dim), dtype=layout.dtype.newbyteorder("="))
        if layout.rows:
            self.vector.gather(
                out.reshape(-1).view(np.uint8), layout.rows, layout.offsets, layout.stride
            )
        return out


class Reference:
    """A file as the format's first script left it: only records that have one reading count."""

    dialect = "reference"

    def __init__(self, data, dim):
        self.data = memoryview(data)
        self.directory = _core.read_directory(self.data, reference=True)
        self.given_dim = dim
        self.found = {}
        names = [name for name, _, _ in self.directory.entries]
        self.opened = {
            name: _core.ReferencePairs.open(self.data, names.index(name), name)
            for name in ("keyword", "vector")
            if name in names
        }

    def _walked(self, name):
        """(precision, dim, remnants) of a section; works out what the preamble no longer says."""
        if name not in self.found:
            fitting = self._readings(name)
            shapes = sorted({(precision, dim) for precision, dim, _ in fitting})
            if len(shapes) > 1:
                listed = ", ".join(f"{dim} ({precision} bits)" for precision, dim in shapes)
                raise FormatError(
                    f"the dimension could be any of {listed}: pass dim",
                    at=self.opened[name].start,
                    section=name,
                )
            if not fitting:
                raise FormatError(
                    "no padding, precision and dimension explain this section",
                    at=self.opened[name].start,
                    section=name,
                )
            self.found[name] = fitting[0]
        return self.found[name]

    def _readings(self, name):
        """Those that explain every surviving byte; the smallest padding of several, as it doubts the most.

        A component that is not a finite number speaks against none of them: the script wrote what it was given.
        """
        opened = self.opened[name]
        if opened.size == 0:
            return [(opened.precision or None, None, [])]
        readings, first = [], []
        for precision, dim in self._shapes(opened) if name == "vector" else [(0, 0)]:
            for padding in [opened.padding] if opened.padding else PADDINGS:
                clean, remnants = opened.shaped(padding, precision, dim).walk()
                first.append((precision, dim, remnants))
                if clean:
                    readings.append((precision, dim, remnants))
                    break
        certain_shape = name == "keyword" or (self.given_dim is not None and opened.precision)
        return readings or (first[:1] if certain_shape else [])

    def _shapes(self, opened):
        """(precision, dim) that put a '-' after the first embedding."""
        shapes = []
        for precision in [opened.precision] if opened.precision else (32, 16):
            if self.given_dim is not None:
                shapes.append((precision, self.given_dim))
                continue
            width = precision // 8
            heads = range(
                max(width, -(-opened.damaged // width) * width),
                min(opened.size, 65536 * width + 1),
                width,
            )
            shapes += [
                (precision, head // width)
                for head in heads
                if self.data[opened.start + head] == ord("-")
            ]
        if len(shapes) * opened.size > WORK_MAX and len(shapes) > 1:
            raise FormatError(
                "too many dimensions could fit: pass dim", at=opened.start, section="vector"
            )
        return shapes

    def verify(self, strategy):
        """Nothing beyond the walk: the dialect has neither counts nor hashes."""

    def report(self):
        report = Report((11, 11 + self.directory.size))
        for name in self.opened:
            for kind, at, size, _, _ in self._walked(name)[2]:
                if kind != "certain":
                    report.remnants.append(Remnant(name, kind, at, size))
        return report

    def precision(self):
        return self._walked("vector")[0] if "vector" in self.opened else None

    def dim(self):
        if "vector" not in self.opened or self.opened["vector"].size == 0:
            return None
        return self._walked("vector")[1]

    def count(self):
        return None

    def _certain(self, name):
        if name not in self.opened or self.opened[name].size == 0:
            return []
        return [
            (at, head, content)
            for kind, at, _, head, content in self._walked(name)[2]
            if kind == "certain"
        ]

    def lookup(self, keyword):
        return [content for _, head, content in self._certain("keyword") if head == keyword]

    def pairs(self, strategy, chunk):
        """The chunk size makes no difference here: records were found in one pass already."""
        if strategy == "keyword":
            return iter([(head, content) for _, head, content in self._certain("keyword")])
        return self._vectors()

    def _vectors(self):
        for at, _, content in self._certain("vector"):
            precision, dim, _ = self._walked("vector")
            yield (
                _vector_at(self.data, at, dim, _row_dtype(precision, self.directory.big_endian)),
                content,
            )

    def layout(self):
        certain = self._certain("vector")
        if not certain:
            return None
        precision, dim, _ = self._walked("vector")
        offsets = np.array([at for at, _, _ in certain], dtype=np.uint64)
        dtype = _row_dtype(precision, self.directory.big_endian)
        return VectorLayout(
            self.data, len(offsets), dim, 0, offsets, dtype, self.directory.big_endian
        )

    def gather(self, layout):
        rows = [vector for vector, _ in self._vectors()]
        return (
            np.stack(rows)
            if rows
            else np.empty((0, layout.dim), dtype=layout.dtype.newbyteorder("="))
        )
