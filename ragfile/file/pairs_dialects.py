"""The two dialects of a 0.1.0 file: as specified, and as written by the format's first script."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from ragfile import _core
from ragfile.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.types import Dialect

    Component = np.dtype[Any]  # of floats or whole numbers
    Pair = tuple[str | NDArray[Any], str]
    Record = tuple[str, int, int, str | None, str]  # as _core.ReferencePairs.walk gives it
    Source = _core.Map | _core.Remote | memoryview | bytes


class PairSource(Protocol):
    """The methods that both dialects have."""

    directory: _core.Directory
    dialect: Dialect

    def report(self) -> Report | None: ...
    def verify(self, strategy: str) -> None: ...
    def precision(self) -> int | None: ...
    def count(self) -> int | None: ...
    def dim(self) -> int | None: ...
    def lookup(self, keyword: str) -> list[str]: ...
    def pairs(self, strategy: str, chunk: int | None) -> Iterator[Pair]: ...
    def layout(self) -> VectorLayout | None: ...
    def gather(self, layout: VectorLayout) -> NDArray[Any]: ...


DTYPES = {8: "i1", 16: "f2", 32: "f4", 64: "f8"}
PADDINGS = (4, 8, 16)
KEYS = "rag.keys"
WORK_MAX = 1 << 28  # bytes walked to infer the dimension of a damaged file before it must be passed


@dataclass(frozen=True)
class Remnant:
    """Bytes of a damaged file that have no single reading. kind is "ambiguous" or "damaged"."""

    strategy: str
    kind: str
    at: int
    size: int


@dataclass
class Report:
    """The losses of a file of the reference script.

    Its directory overwrote the bytes overwritten[0] to overwritten[1] - 1.
    """

    overwritten: tuple[int, int]
    remnants: list[Remnant] = field(default_factory=list[Remnant])


class VectorLayout(NamedTuple):
    """The layout of vectors: row i at i * stride of buffer, or at offsets[i] if the stride is 0."""

    buffer: memoryview
    rows: int
    dim: int
    stride: int
    offsets: NDArray[np.uint64] | None
    dtype: Component
    big_endian: bool


class SectionReading(NamedTuple):
    """One reading of a section: its shape, and the records that a walk found."""

    precision: int | None
    dim: int | None
    records: list[Record]


class Certain(NamedTuple):
    """A record with one reading only."""

    at: int
    head: str | None
    content: str


def _row_dtype(precision: int, big: bool) -> Component:
    return np.dtype((">" if big else "<") + DTYPES[precision])


def _vector_at(buffer: memoryview, at: int, dim: int, dtype: Component) -> NDArray[Any]:
    row = np.frombuffer(buffer, dtype, dim, at)
    return row if dtype.isnative else row.astype(dtype.newbyteorder("="))


def _inferred(vector: _core.Pairs) -> int:
    fitting = vector.infer_dims()
    if len(fitting) == 1:
        return fitting[0]
    reason = "no dimension fits the vector pairs"
    if fitting:
        reason = f"the dimension could be any of {fitting}: pass dim"
    raise FormatError(reason, at=vector.start, section="vector")


class Strict:
    """A file as specified."""

    keyword: _core.Pairs | None
    vector: _core.Pairs | None

    dialect: Dialect = "strict"

    def __init__(self, data: Source, dim: int | None) -> None:
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

    def _section(self, name: str) -> _core.Section:
        start, end = self.ranges[name]
        return _core.Section.over(self.data[start : end + 1], name)

    def _pairs(self, name: str, kind: Callable[..., _core.Pairs]) -> _core.Pairs | None:
        if name not in self.ranges:
            return None
        return kind(self._section(name), self.ranges[name][0], self.directory.big_endian)

    def _keys(self) -> _core.Keys | None:
        if KEYS not in self.ranges or self.keyword is None:
            return None
        return _core.Keys.over(
            self._section(KEYS), self.ranges[KEYS][0], self.keyword, self.directory.big_endian
        )

    def report(self) -> None:
        return None

    def verify(self, strategy: str) -> None:
        if strategy == "keyword" and self.keys:
            self.keys.verify()
        if strategy == "vector" and self.vector and self.dim() is not None:
            self.vector.verify()

    def precision(self) -> int | None:
        return self.vector.precision if self.vector else None

    def count(self) -> int | None:
        return self.vector.count if self.vector else None

    def dim(self) -> int | None:
        if not self.vector or (self.vector.dim is None and self.vector.size == 0):
            return None
        if self.vector.dim is None:
            self.vector.dim = _inferred(self.vector)
        return self.vector.dim

    def lookup(self, keyword: str) -> list[str]:
        return self.keyword.lookup(keyword, self.keys) if self.keyword else []

    def pairs(self, strategy: str, chunk: int | None) -> Iterator[Pair]:
        pairs = self.keyword if strategy == "keyword" else self.vector
        if not pairs or (strategy == "vector" and self.dim() is None):
            return iter(())
        if chunk is not None:
            return self._chunked(pairs, chunk)
        return iter(pairs) if strategy == "keyword" else self._in_place(pairs)

    def _in_place(self, pairs: _core.Pairs) -> Iterator[Pair]:
        dtype = _row_dtype(pairs.precision, self.directory.big_endian)
        buffer, dim = pairs.bytes, pairs.dim or 0
        for at, content in pairs:
            yield _vector_at(buffer, at, dim, dtype), content

    def _chunked(self, pairs: _core.Pairs, chunk: int) -> Iterator[Pair]:
        feed, buffer = _core.PairFeed(pairs), pairs.bytes
        dtype = _row_dtype(pairs.precision, self.directory.big_endian) if pairs.precision else None
        for at in range(0, len(buffer), chunk):
            feed.push(buffer[at : at + chunk], last=at + chunk >= len(buffer))
            while (pair := feed.pop()) is not None:
                head, content = pair
                yield (
                    (head if dtype is None else _vector_at(head, 0, pairs.dim or 0, dtype)),
                    content,
                )

    def layout(self) -> VectorLayout | None:
        vector, dim = self.vector, self.dim()
        if vector is None or dim is None:
            return None
        rows, stride, offsets = vector.count or 0, vector.stride, None
        if not stride:
            rows, stride = vector.walk()
        if not stride:
            offsets = np.empty(rows, dtype=np.uint64)
            vector.walk(offsets)
        dtype = _row_dtype(vector.precision, self.directory.big_endian)
        return VectorLayout(
            vector.bytes, rows, dim, stride, offsets, dtype, self.directory.big_endian
        )

    def gather(self, layout: VectorLayout) -> NDArray[Any]:
        out = np.empty((layout.rows, layout.dim), dtype=layout.dtype.newbyteorder("="))
        if layout.rows and self.vector:
            self.vector.gather(
                out.reshape(-1).view(np.uint8), layout.rows, layout.offsets, layout.stride
            )
        return out


class Reference:
    """A file by the format's first script: only records with a single reading count."""

    dialect: Dialect = "reference"

    def __init__(self, data: Source, dim: int | None) -> None:
        self.data = memoryview(data)
        self.directory = _core.read_directory(self.data, reference=True)
        self.given_dim = dim
        self.found: dict[str, SectionReading] = {}
        names = [name for name, _, _ in self.directory.entries]
        self.opened: dict[str, _core.ReferencePairs] = {
            name: _core.ReferencePairs.open(self.data, names.index(name), name)
            for name in ("keyword", "vector")
            if name in names
        }

    def _walked(self, name: str) -> SectionReading:
        """Return the reading of a section, inferring the fields that the preamble lost."""
        if name not in self.found:
            fitting = self._readings(name)
            shapes = {(one.precision or 0, one.dim or 0) for one in fitting}
            start = self.opened[name].start
            if len(shapes) > 1:
                listed = ", ".join(f"{dim} ({bits} bits)" for bits, dim in sorted(shapes))
                reason = f"the dimension could be any of {listed}: pass dim"
                raise FormatError(reason, at=start, section=name)
            if not fitting:
                reason = "no padding, precision and dimension explain this section"
                raise FormatError(reason, at=start, section=name)
            self.found[name] = fitting[0]
        return self.found[name]

    def _readings(self, name: str) -> list[SectionReading]:
        """Return the readings that explain every surviving byte.

        Of several paddings the smallest wins, since it accepts the fewest records. Components that are
        not finite rule out no reading: the script wrote any number.
        """
        opened = self.opened[name]
        if opened.size == 0:
            return [SectionReading(opened.precision or None, None, [])]
        readings: list[SectionReading] = []
        first: list[SectionReading] = []
        for precision, dim in self._shapes(opened) if name == "vector" else [(0, 0)]:
            for padding in [opened.padding] if opened.padding else PADDINGS:
                clean, records = opened.shaped(padding, precision, dim).walk()
                first.append(SectionReading(precision, dim, records))
                if clean:
                    readings.append(first[-1])
                    break
        certain_shape = name == "keyword" or (self.given_dim is not None and opened.precision)
        return readings or (first[:1] if certain_shape else [])

    def _shapes(self, opened: _core.ReferencePairs) -> list[tuple[int, int]]:
        """Return each (precision, dim) that puts a '-' after the first embedding."""
        shapes: list[tuple[int, int]] = []
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

    def verify(self, strategy: str) -> None:
        """Do nothing beyond the walk: the dialect has neither counts nor hashes."""

    def report(self) -> Report:
        report = Report((11, 11 + self.directory.size))
        for name in self.opened:
            for kind, at, size, _, _ in self._walked(name).records:
                if kind != "certain":
                    report.remnants.append(Remnant(name, kind, at, size))
        return report

    def precision(self) -> int | None:
        return self._walked("vector").precision if "vector" in self.opened else None

    def dim(self) -> int | None:
        if "vector" not in self.opened or self.opened["vector"].size == 0:
            return None
        return self._walked("vector").dim

    def count(self) -> None:
        return None

    def _certain(self, name: str) -> list[Certain]:
        if name not in self.opened or self.opened[name].size == 0:
            return []
        return [
            Certain(at, head, content)
            for kind, at, _, head, content in self._walked(name).records
            if kind == "certain"
        ]

    def lookup(self, keyword: str) -> list[str]:
        return [one.content for one in self._certain("keyword") if one.head == keyword]

    def pairs(self, strategy: str, chunk: int | None) -> Iterator[Pair]:
        """Return the pairs. The chunk size has no effect: records were found in one pass."""
        if strategy == "keyword":
            return iter([(one.head or "", one.content) for one in self._certain("keyword")])
        return self._vectors()

    def _vectors(self) -> Iterator[Pair]:
        for one in self._certain("vector"):
            dim, dtype = self._shape()
            yield _vector_at(self.data, one.at, dim, dtype), one.content

    def _shape(self) -> tuple[int, Component]:
        """Return the dimension and component type of a section with vectors."""
        precision, dim, _ = self._walked("vector")
        assert precision is not None
        assert dim is not None
        return dim, _row_dtype(precision, self.directory.big_endian)

    def layout(self) -> VectorLayout | None:
        certain = self._certain("vector")
        if not certain:
            return None
        dim, dtype = self._shape()
        offsets = np.array([one.at for one in certain], dtype=np.uint64)
        return VectorLayout(
            self.data, len(offsets), dim, 0, offsets, dtype, self.directory.big_endian
        )

    def gather(self, layout: VectorLayout) -> NDArray[Any]:
        rows = [vector for vector, _ in self._vectors()]
        if rows:
            return np.stack(rows)
        return np.empty((0, layout.dim), dtype=layout.dtype.newbyteorder("="))
