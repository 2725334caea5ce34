"""A 0.1.0 file, opened: padded keyword and embedding pairs, read in place."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ragfile import _core
from ragfile.errors import CorruptError, FormatError
from ragfile.file.pairs_dialects import PairSource, Reference, Report, Strict, VectorLayout
from ragfile.ground.call_site import stack_level
from ragfile.ground.missing_files import explained
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

if TYPE_CHECKING:
    from ragfile.file.pairs_dialects import Source

NATIVE_BIG = sys.byteorder == "big"


class PairFile:
    """The sections of a 0.1.0 file, mapped and read on first use.

    Args:
        path: the file.
        dim: components of a vector, for a file that does not record them.
        dialect: "strict", "reference" (files of the format's first script) or "auto": the first that fits.
        data: a buffer with the bytes of a whole file, read instead of `path`.

    Raises:
        FormatError: the file fits no dialect.
    """

    name: str
    _data: Any  # Any: a map or a buffer, None once closed
    _source: PairSource | None
    _layout: VectorLayout | None

    def __init__(
        self,
        path: StrPath,
        *,
        dim: int | None = None,
        dialect: Dialect = "auto",
        data: Any = None,  # Any: a map or any buffer
    ) -> None:
        with explained(path):
            data = _core.Map(path) if data is None else data
        self._read(data, os.fspath(path), dim, dialect)

    @classmethod
    def over(
        cls,
        data: Any,  # Any: a map or any buffer
        *,
        dim: int | None = None,
        dialect: Dialect = "auto",
        name: str = "memory",
    ) -> PairFile:
        """Open a buffer with the bytes of a whole file."""
        return cls(name, dim=dim, dialect=dialect, data=data)

    def _read(self, data: Source, name: str, dim: int | None, dialect: Dialect) -> None:
        if dialect not in ("strict", "reference", "auto"):
            raise ValueError(f"dialect must be 'strict', 'reference' or 'auto', not {dialect!r}")
        if dim is not None and not 1 <= dim <= 65536:
            raise ValueError(f"dim must be 1 to 65536, not {dim}")
        self.name = name
        self._data = data
        self._given_dim = dim
        self._layout = None
        try:
            if dialect == "auto":
                self._source = self._either()
            else:
                self._source = Strict(data, dim) if dialect == "strict" else Reference(data, dim)
        except FormatError as error:
            error.name_file(name)
            raise

    def _either(self) -> PairSource:
        try:
            return Strict(self._data, self._given_dim)
        except FormatError as strict:
            try:
                source = Reference(self._data, self._given_dim)
            except FormatError as reference:  # a file that was cut off breaks other rules, too
                is_cut = isinstance(reference, CorruptError)
                raise (reference if is_cut else strict) from None
            warnings.warn(
                f"{self.name}: read in the reference dialect ({strict})", stacklevel=stack_level()
            )
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

    if not TYPE_CHECKING:  # a type checker would accept any name

        def __getattr__(self, name: str) -> object:
            if name in ("search", "search_batch", "ask", "prepare", "documents", "hit"):
                raise AttributeError(
                    f"{self.name} has no {name}(): a 0.1.0 file has pairs, not passages; "
                    "lookup(), pairs() and nearest() read it"
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def close(self) -> None:
        """Release the file. Arrays returned earlier stay valid; the last of them ends the mapping."""
        self._data = self._source = self._layout = None

    def raw(self, at: int, size: int) -> bytes:
        """Return a copy of bytes of the file, as many as there are."""
        return bytes(memoryview(self._data)[at : at + size])

    @property
    def _open(self) -> PairSource:
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
        """The dialect of the file: "strict" or "reference"."""
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
        """The losses of a file in the reference dialect; None for a strict one."""
        return self._open.report()

    @property
    def dim(self) -> int | None:
        """Components of a vector: as recorded, else as given, else inferred; None without vectors.

        Raises:
            FormatError: several dimensions fit; the message lists them.
        """
        return self._open.dim()

    @property
    def precision(self) -> int | None:
        """Bits of a component, None without vectors."""
        return self._open.precision()

    @property
    def count(self) -> int | None:
        """Number of vectors that the file records; None without a record."""
        return self._open.count()

    def lookup(self, keyword: str) -> list[str]:
        """Return the contents of all pairs with this keyword, in file order."""
        return self._open.lookup(keyword)

    def pairs(self, strategy: PairStrategy, chunk: int | None = None) -> Iterator[tuple[Any, str]]:
        """Yield (keyword, content) or (vector, content) of each pair, in order.

        Args:
            strategy: "keyword" or "vector".
            chunk: bytes to read at a time; by default pairs are read in place.

        Vectors are read-only views of the file if its byte order is this machine's, else copies.
        """
        if strategy not in ("keyword", "vector"):
            raise ValueError(f"pairs are in 'keyword' and 'vector', not in {strategy!r}")
        if chunk is not None and chunk < 1:
            raise ValueError(f"chunk must be at least 1, not {chunk}")
        return self._open.pairs(strategy, chunk)

    def verify(self, strategy: PairStrategy) -> int:
        """Check all pairs of a section and its hashes. Return the number of pairs.

        Raises:
            FormatError: the section is damaged.
        """
        count = sum(1 for _ in self.pairs(strategy))
        self._open.verify(strategy)
        return count

    def layout(self) -> VectorLayout | None:
        """Return the layout of the vectors, for scanning them in place; None without vectors.

        This walks the section unless it records its layout.
        """
        if self._layout is None:
            self._layout = self._open.layout()
        return self._layout

    def vectors(self) -> np.ndarray[Any, np.dtype[Any]]:
        """Return all vectors as a matrix: a strided view of the file if stride and byte order allow, else a copy."""
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

    def vector(self, row: int) -> np.ndarray[Any, np.dtype[Any]]:
        """Return one vector."""
        vector: np.ndarray[Any, np.dtype[Any]] = self.vectors()[row]
        return vector

    def nearest(
        self, vectors: Vector | Vectors, k: int = 10, *, where: Rows | None = None,
        threads: int | None = None, metric: Metric = "cosine",
    ) -> tuple[Int64s, Float32s]:  # fmt: skip
        """Find the k nearest rows of each query vector, exactly.

        Args:
            vectors: one query vector, or one a row.
            k: results per query.
            where: row numbers, or a bool for each row; by default all rows.
            threads: threads to use; by default one per processor.
            metric: "cosine", "ip" or "l2".

        Returns:
            Rows int64[m, k] and scores float32[m, k], best first. Unused places are row -1 with score -inf.
        """
        return self._matrix(metric).nearest(vectors, k, where, threads)

    def _matrix(self, metric: Metric) -> _core.Matrix:
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
        """The container, as of a KnowledgeBase: the file itself."""
        return self

    @property
    def entries(self) -> list[dict[str, Any]]:
        """One dict for each section."""
        return [
            {"name": name, "segment": 0, "at": start, "size": end + 1 - start}
            for name, (start, end) in self.sections.items()
        ]

    @property
    def info(self) -> dict[str, Any]:
        """Facts about the file, by name; "unread" is the reason why its vectors cannot be read."""
        facts: dict[str, Any] = {
            "path": self.name, "format": ".".join(map(str, self.version)), "size": len(self._data),
            "byte order": self.byteorder, "dialect": self.dialect, "strategies": self.strategies,
        }  # fmt: skip
        try:
            facts |= {"dim": self.dim, "precision": self.precision, "vectors": self.count}
            report = self.report
        except FormatError as error:
            return facts | {"dim": None, "precision": None, "vectors": None, "unread": str(error)}
        if report is not None:
            facts |= {
                "overwritten": list(report.overwritten),
                "remnants": len(report.remnants),
            }
        return facts
