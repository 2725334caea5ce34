"""Write version 0.1.0 of the format: padded pairs, section by section, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ragfile import _core
from ragfile.file.pairs_dialects import DTYPES, KEYS, PADDINGS
from ragfile.ground.atomic_replace import replacing, spare_unless_ragfile
from ragfile.types import ByteOrder, Padding, PairPrecision, StrPath, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

Item = TypeVar("Item")
VERSION = (0, 1, 0)
ALIGNMENT = 64
SCRIPT_BLOCK = 4096  # 256 times the largest padding


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
    """Write a 0.1.0 file of keyword and embedding pairs, atomically and in bounded memory.

    Args:
        path: the file to write.
        keywords: pairs of (keyword, content). A keyword has no "-" and no NUL, a content no NUL, since
            the format cannot escape them.
        embeddings: pairs of (vector, content).
        padding: bytes between records: 4, 8 or 16.
        precision: bits of a component: 8, 16, 32 or 64.
        byteorder: "little" or "big".
        sorted_keys: add a section that makes lookups logarithmic; building it takes 32 bytes a keyword.
        allow_nonfinite: accept NaN and infinity in vectors.

    Raises:
        ValueError: an option or a pair is not valid.
    """
    if padding not in PADDINGS:
        raise ValueError(f"padding must be 4, 8 or 16, not {padding!r}")
    if precision not in DTYPES:
        raise ValueError(f"precision must be 8, 16, 32 or 64, not {precision!r}")
    if byteorder not in ("little", "big"):
        raise ValueError(f"byteorder must be 'little' or 'big', not {byteorder!r}")
    spare_unless_ragfile(path)
    texts, vectors = _unless_empty(keywords), _unless_empty(embeddings)
    names = (
        ["keyword"] * bool(texts)
        + [KEYS] * bool(texts and sorted_keys)
        + ["vector"] * bool(vectors)
    )
    with replacing(path) as file:
        draft = _PairDraft(file, names, padding, byteorder == "big")
        if texts:
            draft.add_keywords(texts, sorted_keys)
        if vectors:
            draft.add_embeddings(vectors, precision, allow_nonfinite)
        draft.finish()


def _unless_empty(items: Iterable[Item]) -> Iterator[Item] | None:
    """Return the items, or None if there are none."""
    rest = iter(items)
    first = list(islice(rest, 1))
    return chain(first, rest) if first else None


def aligned(at: int) -> int:
    """Return the next offset at which pairs can start."""
    return -(-at // ALIGNMENT) * ALIGNMENT


class _PairDraft:
    """A file under construction. Its directory is written last, into space reserved for the longest one."""

    def __init__(self, file: _core.Replacement, names: list[str], padding: int, big: bool) -> None:
        self.file = file
        self.padding = padding
        self.big = big
        self.names = names
        self.entries: list[tuple[str, int | None, int]] = []
        self.preambles: list[tuple[int | None, bytes]] = []
        # No directory of these names is longer.
        longest: list[tuple[str, int | None, int]] = [(name, 10**19, 10**19) for name in names]
        self.at = len(_core.write_directory(VERSION, big, longest))
        file.skip_to(self.at)

    def add_keywords(self, keywords: Iterable[tuple[str, str]], sorted_keys: bool) -> None:
        writer = _core.PairWriter(self.file.write, padding=self.padding, big_endian=self.big)
        start = self._open("keyword")
        for keyword, content in keywords:
            writer.add_keyword(keyword, content)
        self._close("keyword", writer, start)
        if sorted_keys:
            block = self._sorted(start, writer.size, writer.count)
            self.file.write(block)
            self._end(KEYS, self.at, self.at + len(block) - 1)

    def add_embeddings(
        self, embeddings: Iterable[tuple[Vector, str]], precision: int, allow_nonfinite: bool
    ) -> None:
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

    def _open(self, name: str) -> int:
        """Begin a section. Return the start of its pairs: aligned, after at least one NUL."""
        start = aligned(self.at + _core.PREAMBLES[name] + 1)
        self.file.write(bytes(start - self.at))
        return start

    def _close(self, name: str, writer: _core.PairWriter, start: int) -> None:
        writer.flush()
        digest = self._digest(start, writer.size) if writer.precision else None
        self.preambles.append((self.at if self.entries else None, writer.preamble(start, digest)))
        end = self._section_end(name, start + writer.size)
        self.file.write(bytes(end + 1 - start - writer.size))
        self._end(name, self.at if self.entries else None, end)

    def _section_end(self, name: str, end: int) -> int:
        """Return the offset of the section's last byte: a NUL after the pairs, maybe with padding.

        The format's first script takes ends as exclusive and searches in blocks that may extend past
        the section's end, where it fails on binary data. So a keyword section before others is padded
        to a multiple of those blocks.
        """
        followers = self.names[self.names.index(name) + 1 :]
        if name != "keyword" or not followers:
            return end
        last = end
        # The directory's size moves the section's start; later numbers are no shorter.
        for _ in range(3):
            start = len(
                _core.write_directory(
                    VERSION, self.big, [(name, None, last), *((n, last, last) for n in followers)]
                )
            )
            last = start - 1 + -(-(end + 1 - start) // SCRIPT_BLOCK) * SCRIPT_BLOCK
        return last

    def _end(self, name: str, start: int | None, end: int) -> None:
        self.entries.append((name, start, end))
        self.file.write(b"\0")
        self.at = end + 2

    def _written(self, start: int, size: int) -> memoryview:
        """Return written bytes, mapped until the last reference is gone."""
        return memoryview(self.file.mapped())[start : start + size]

    def _digest(self, start: int, size: int) -> int:
        return _core.hash64(self._written(start, size))

    def _sorted(self, start: int, size: int, count: int) -> bytearray:
        section = _core.Section.over(self._written(start, size), "keyword")
        return _core.Pairs.bare(
            section, padding=self.padding, big_endian=self.big, at=start
        ).build_keys(count)

    def finish(self) -> None:
        front = _core.write_directory(VERSION, self.big, self.entries)
        self.file.write_at(0, front)
        for at, preamble in self.preambles:
            self.file.write_at(len(front) if at is None else at, preamble)
        end = self.entries[-1][2] + 1 if self.entries else len(front)
        self.file.truncate(end)


def _rows(
    embeddings: Iterable[tuple[Vector, str]], precision: int, allow_nonfinite: bool
) -> Iterator[tuple[NDArray[Any], str]]:
    """Yield each vector as a contiguous row of the file's component type; all have one dimension."""
    dtype = np.dtype(DTYPES[precision])
    dim: int | None = None
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
