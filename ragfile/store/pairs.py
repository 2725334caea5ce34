"""Version 0.1.0 of the format, literally: files of padded keyword and embedding pairs, written and read in place."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.errors import FormatError
from ragfile.ground.atomic_replace import replacing, spare_unless_ragfile

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Self

    from numpy.typing import NDArray

    from ragfile.types import (
        ByteOrder,
        Dialect,
        Float32s,
        Int64s,
        Metric,
        Padding,
        PairPrecision,
        PairStrategy,
        Rows,
        StrPath,
        Vector,
        Vectors,
    )

VERSION = (0, 1, 0)
DTYPES = {8: "i1", 16: "f2", 32: "f4", 64: "f8"}
NATIVE_BIG = sys.byteorder == "big"
PADDINGS = (4, 8, 16)
ALIGNMENT = 64
KEYS = "rag.keys"
SCRIPT_BLOCK = 4096  # 256 times the largest padding
WORK_MAX = 1 << 28  # bytes walked to work out the dimension of a damaged file before asking for it


# ------------------------------------------------------------------------------------------------------------- writing


def write_pairs(
    path: StrPath,
    keywords: Iterable[tuple[str, str]] = (),
    embeddings: Iterable[tuple[Vector, str]] = (),
    *,
    padding: Padding = 16,
    precision: PairPrecision = 32,
    byteorder: ByteOrder = "little",
    sorted_keys: bool = False,
    allow_nonfinite: bool = False,
) -> None:
    """Writes a 0.1.0 file of (keyword, content) and (embedding, content) pairs, atomically and in bounded memory.

    A keyword holds no "-" and no NUL, a content no NUL: the format has no escape for them. precision is 8, 16, 32 or 64
    bits a component. sorted_keys adds a section that makes lookups logarithmic; building it takes 32 bytes a keyword.
    """
    if padding not in PADDINGS:
        raise ValueError(f"padding must be 4, 8 or 16, not {padding!r}")
    if precision not in DTYPES:
        raise ValueError(f"precision must be 8, 16, 32 or 64, not {precision!r}")
    if byteorder not in ("little", "big"):
        raise ValueError(f"byteorder must be 'little' or 'big', not {byteorder!r}")
    spare_unless_ragfile(path)
    keywords, embeddings = _unless_empty(keywords), _unless_empty(embeddings)
    names = (
        ["keyword"] * bool(keywords)
        + [KEYS] * bool(keywords and sorted_keys)
        + ["vector"] * bool(embeddings)
    )
    with replacing(path) as file:
        draft = _Draft(file, names, padding, byteorder == "big")
        if keywords:
            draft.add_keywords(keywords, sorted_keys)
        if embeddings:
            draft.add_embeddings(embeddings, precision, allow_nonfinite)
        draft.finish()


def _unless_empty(items) -> Any:
    """The items again, or None when there are none."""
    items = iter(items)
    first = list(islice(items, 1))
    return chain(first, items) if first else None


def aligned(at: int) -> int:
    """The next place for pairs to start."""
    return -(-at // ALIGNMENT) * ALIGNMENT


class _Draft:
    """A file that grows section by section; the front is written last, into room that always suffices."""

    def __init__(self, file, names, padding, big):
        self.file = file
        self.padding = padding
        self.big = big
        self.names = names
        self.entries = []
        self.preambles = []
        longest = [(name, 10**19, 10**19) for name in names]
        # No directory of these names is longer.
        self.at = len(_core.write_directory(VERSION, big, longest))
        file.skip_to(self.at)

    def add_keywords(self, keywords, sorted_keys):
        writer = _core.PairWriter(self.file.write, padding=self.padding, big_endian=self.big)
        start = self._open("keyword")
        for keyword, content in keywords:
            writer.add_keyword(keyword, content)
        self._close("keyword", writer, start)
        if sorted_keys:
            block = self._sorted(start, writer.size, writer.count)
            self.file.write(block)
            self._end(KEYS, self.at, self.at + len(block) - 1)

    def add_embeddings(self, embeddings, precision, allow_nonfinite):
        rows = _rows(embeddings, precision, allow_nonfinite)
        first, text = next(rows)
        writer = _core.PairWriter(
            self.file.write,
            padding=self.padding,
            precision=precision,
            dim=len(first),
            big_endian=self.big,
            allow_nonfinite=allow_nonfinite,
        )
        start = self._open("vector")
        for row, content in chain([(first, text)], rows):
            writer.add_vector(row.view(np.uint8), content)
        self._close("vector", writer, start)

    def _open(self, name):
        """Where the pairs of the section that begins here start: aligned, and behind at least one NUL."""
        start = aligned(self.at + _core.PREAMBLES[name] + 1)
        self.file.write(bytes(start - self.at))
        return start

    def _close(self, name, writer, start):
        writer.flush()
        digest = self._digest(start, writer.size) if writer.precision else None
        self.preambles.append((self.at if self.entries else None, writer.preamble(start, digest)))
        end = self._section_end(name, start + writer.size)
        self.file.write(bytes(end + 1 - start - writer.size))
        self._end(name, self.at if self.entries else None, end)

    def _section_end(self, name, end):
        """The section's last byte: a NUL right after the pairs, or later, for the sake of the format's first script.

        That script takes ends as exclusive and searches in blocks that may reach over the section's end, where it fails
        on binary data. So a keyword section that others follow is filled up to a multiple of those blocks.
        """
        followers = self.names[self.names.index(name) + 1 :]
        if name != "keyword" or not followers:
            return end
        last = end
        for _ in range(
            3
        ):  # the directory's size moves the section's start; numbers behind this one are no shorter
            start = len(
                _core.write_directory(
                    VERSION, self.big, [(name, None, last), *((n, last, last) for n in followers)]
                )
            )
            last = start - 1 + -(-(end + 1 - start) // SCRIPT_BLOCK) * SCRIPT_BLOCK
        return last

    def _end(self, name, start, end):
        self.entries.append((name, start, end))
        self.file.write(b"\0")
        self.at = end + 2

    def _written(self, start, size):
        """Bytes that are in the file already, mapped; freed with the last reference."""
        return memoryview(self.file.mapped())[start : start + size]

    def _digest(self, start, size):
        return _core.hash64(self._written(start, size))

    def _sorted(self, start, size, count):
        section = _core.Section.over(self._written(start, size), "keyword")
        return _core.Pairs.bare(
            section, padding=self.padding, big_endian=self.big, at=start
        ).build_keys(count)

    def finish(self):
        front = _core.write_directory(VERSION, self.big, self.entries)
        self.file.write_at(0, front)
        for at, preamble in self.preambles:
            self.file.write_at(len(front) if at is None else at, preamble)
        end = self.entries[-1][2] + 1 if self.entries else len(front)
        self.file.truncate(end)


def _rows(embeddings, precision, allow_nonfinite) -> Iterator[tuple[np.ndarray, str]]:
    """Each vector as a contiguous row of the file's component type; all of one dimension."""
    dtype = np.dtype(DTYPES[precision])
    dim = None
    for number, (vector, content) in enumerate(embeddings):
        given = np.asarray(vector)
        if given.ndim != 1 or not 1 <= len(given) <= 65536:
            raise ValueError(
                f"row {number}: a vector has one axis of 1 to 65536 components, not shape {given.shape}"
            )
        if dim not in (None, len(given)):
            raise ValueError(f"row {number} has {len(given)} components, those before have {dim}")
        dim = len(given)
        with np.errstate(over="ignore", invalid="ignore"):
            row = np.ascontiguousarray(given, dtype=dtype)
        if precision == 8 and not np.array_equal(row, given):
            raise ValueError(
                f"row {number}: components at precision 8 are whole numbers from -128 to 127"
            )
        yield row, content


# ------------------------------------------------------------------------------------------------------------- reading


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


class PairFile:
    """The sections of a 0.1.0 file, mapped. Nothing is read until it is asked for.

    dialect is "strict", "reference" (files of the format's first script) or "auto": the first of them that fits.
    """

    name: str
    _data: Any  # None once closed
    _source: Any
    _layout: VectorLayout | None

    def __init__(self, path: StrPath, *, dim: int | None = None, dialect: Dialect = "auto") -> None:
        self._read(_core.Map(path), os.fspath(path), dim, dialect)

    @classmethod
    def over(
        cls, data: Any, *, dim: int | None = None, dialect: Dialect = "auto", name: str = "memory"
    ) -> PairFile:
        """The same over a buffer that holds a whole file."""
        file = cls.__new__(cls)
        file._read(data, name, dim, dialect)
        return file

    def _read(self, data, name, dim, dialect):
        if dialect not in ("strict", "reference", "auto"):
            raise ValueError(f"dialect must be 'strict', 'reference' or 'auto', not {dialect!r}")
        if dim is not None and not 1 <= dim <= 65536:
            raise ValueError(f"dim must be 1 to 65536, not {dim}")
        self.name = name
        self._data = data
        self._given_dim = dim
        self._layout = None
        if dialect == "auto":
            self._source = self._either()
        else:
            self._source = _Strict(data, dim) if dialect == "strict" else _Reference(data, dim)

    def _either(self):
        try:
            return _Strict(self._data, self._given_dim)
        except FormatError as strict:
            try:
                source = _Reference(self._data, self._given_dim)
            except FormatError:
                raise strict from None
            warnings.warn(f"{self.name}: read in the reference dialect ({strict})", stacklevel=4)
            return source

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    if not TYPE_CHECKING:  # a checker that saw this would let any name pass

        def __getattr__(self, name):
            if name in ("search", "search_batch", "ask", "prepare", "documents", "hit"):
                raise AttributeError(
                    f"{self.name} has no {name}(): a 0.1.0 file has pairs, not passages; "
                    "lookup(), pairs() and nearest() read it"
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def close(self) -> None:
        """Lets go of the file. Arrays that were handed out stay valid; the mapping goes with the last of them."""
        self._data = self._source = self._layout = None

    def raw(self, at: int, size: int) -> bytes:
        """A copy of bytes of the file, as many as there are."""
        return bytes(memoryview(self._data)[at : at + size])

    @property
    def _open(self):
        if self._source is None:
            raise ValueError(f"{self.name} is closed")
        return self._source

    @property
    def version(self) -> tuple[int, int, int]:
        """Major, minor and patch of the format."""
        return self._open.directory.version

    @property
    def byteorder(self) -> ByteOrder:
        """The byte order of the file."""
        return "big" if self._open.directory.big_endian else "little"

    @property
    def dialect(self) -> Dialect:
        """How the file was read: "strict" or "reference"."""
        return self._open.dialect

    @property
    def strategies(self) -> list[str]:
        """The names in the directory, known or not."""
        return [name for name, _, _ in self._open.directory.entries]

    @property
    def sections(self) -> dict[str, tuple[int, int]]:
        """First and last byte of each strategy's section."""
        return {name: (start, end) for name, start, end in self._open.directory.entries}

    @property
    def report(self) -> Report | None:
        """What was lost, for a file in the reference dialect; None for a strict one."""
        return self._open.report()

    @property
    def dim(self) -> int | None:
        """Components of a vector: as the file says, else as given, else worked out; None without vectors.

        FormatError lists the candidates when more than one fits.
        """
        return self._open.dim()

    @property
    def precision(self) -> int | None:
        """Bits of a component, None without vectors."""
        return self._open.precision()

    @property
    def count(self) -> int | None:
        """How many vectors the file says that it holds; None when it does not say."""
        return self._open.count()

    def lookup(self, keyword: str) -> list[str]:
        """The contents of all pairs with this keyword, in the order of the file."""
        return self._open.lookup(keyword)

    def pairs(self, strategy: PairStrategy, chunk: int | None = None) -> Iterator[tuple[Any, str]]:
        """(keyword, content) or (vector, content) of each pair, in place; with chunk, by reading that many bytes at a time.

        Vectors are views of the file where its byte order is this machine's, read-only.
        """
        if strategy not in ("keyword", "vector"):
            raise ValueError(f"pairs are in 'keyword' and 'vector', not in {strategy!r}")
        if chunk is not None and chunk < 1:
            raise ValueError(f"chunk must be at least 1, not {chunk}")
        return self._open.pairs(strategy, chunk)

    def verify(self, strategy: PairStrategy) -> int:
        """Walks all pairs, checks the hashes that the section has, and counts the pairs; FormatError says what is wrong."""
        count = sum(1 for _ in self.pairs(strategy))
        self._open.verify(strategy)
        return count

    def layout(self) -> VectorLayout | None:
        """Where the vectors lie, for scanning them in place; None without vectors. Walks the section unless it says."""
        if self._layout is None:
            self._layout = self._open.layout()
        return self._layout

    def vectors(self) -> NDArray[Any]:
        """All vectors as a matrix: a strided view of the file where stride and byte order allow, else a copy."""
        layout = self.layout()
        if layout is None:
            return np.empty((0, 0), dtype=np.float32)
        native = layout.big_endian == NATIVE_BIG
        if layout.offsets is None and native and layout.rows:
            return np.ndarray(
                (layout.rows, layout.dim),
                layout.dtype,
                layout.buffer,
                strides=(layout.stride, layout.dtype.itemsize),
            )
        return self._open.gather(layout)

    def vector(self, row: int) -> NDArray[Any]:
        """One vector."""
        return self.vectors()[row]

    def nearest(
        self, vectors: Vector | Vectors, k: int = 10, *, where: Rows | None = None,
        threads: int | None = None, metric: Metric = "cosine",
    ) -> tuple[Int64s, Float32s]:  # fmt: skip
        """The k best rows for each query vector, exactly, scanned where they lie: rows int64[m, k], scores float32[m, k].

        where is a bool for each row. What is left over is row -1 with score -inf.
        """
        return self._matrix(metric).nearest(vectors, k, where, threads)

    def _matrix(self, metric):
        layout = self.layout()
        if layout is None:
            raise ValueError(f"{self.name} has no vectors")
        if layout.dtype.itemsize == 1:
            return _core.Matrix(
                self.vectors().astype(np.float32), layout.rows, layout.dim, metric=metric
            )
        return _core.Matrix(
            layout.buffer, layout.rows, layout.dim, layout.stride or None, f"f{8 * layout.dtype.itemsize}",
            big_endian=layout.big_endian, offsets=layout.offsets, metric=metric,
        )  # fmt: skip

    @property
    def entries(self) -> list[dict[str, Any]]:
        """One dict a section, as an Archive gives them."""
        return [
            {"name": name, "segment": 0, "at": start, "size": end + 1 - start}
            for name, (start, end) in self.sections.items()
        ]

    @property
    def info(self) -> dict[str, Any]:
        """The file at a glance."""
        facts = {
            "path": self.name, "format": ".".join(map(str, self.version)), "size": len(self._data),
            "byte order": self.byteorder, "dialect": self.dialect, "dim": self.dim, "precision": self.precision,
            "vectors": self.count, "strategies": self.strategies,
        }  # fmt: skip
        if self.report is not None:
            facts |= {
                "overwritten": list(self.report.overwritten),
                "remnants": len(self.report.remnants),
            }
        return facts


def _row_dtype(precision, big):
    return np.dtype((">" if big else "<") + DTYPES[precision])


def _vector_at(buffer, at, dim, dtype):
    row = np.frombuffer(buffer, dtype, dim, at)
    return row if dtype.isnative else row.astype(dtype.newbyteorder("="))


class _Strict:
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


class _Reference:
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
