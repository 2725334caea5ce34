"""A 0.1.0 file, opened: padded keyword and embedding pairs, read in place."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ragfile import _core
from ragfile.errors import FormatError
from ragfile.file.pairs_dialects import Reference, Report, Strict, VectorLayout
from ragfile.types import (
    ByteOrder,
    Dialect,
    Float32s,
    Int64s,
    Metric,
    PairStrategy,
    Rows,
    StrPath,
    Vector,
    Vectors,
)

NATIVE_BIG = sys.byteorder == "big"


class PairFile:
    """The sections of a 0.1.0 file, mapped. Nothing is read until it is asked for.

    dialect is "strict", "reference" (files of the format's first script) or "auto": the first of them that fits.
    """

    name: str
    _data: Any  # None once closed
    _source: Any
    _layout: VectorLayout | None

    def __init__(
        self,
        path: StrPath,
        *,
        dim: int | None = None,
        dialect: Dialect = "auto",
        data: Any = None,  # a buffer that holds a whole file, in the place of the path's
    ) -> None:
        data = _core.Map(path) if data is None else data
        self._read(data, os.fspath(path), dim, dialect)

    @classmethod
    def over(
        cls, data: Any, *, dim: int | None = None, dialect: Dialect = "auto", name: str = "memory"
    ) -> PairFile:
        """The same over a buffer that holds a whole file."""
        return cls(name, dim=dim, dialect=dialect, data=data)

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
            self._source = Strict(data, dim) if dialect == "strict" else Reference(data, dim)

    def _either(self):
        try:
            return Strict(self._data, self._given_dim)
        except FormatError as strict:
            try:
                source = Reference(self._data, self._given_dim)
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
    def file(self) -> Self:
        """The file as a container, as a KnowledgeBase has one: itself."""
        return self

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
