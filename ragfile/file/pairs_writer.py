"""Writing version 0.1.0 of the format, literally: padded pairs, section by section, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

from ragfile import _core
from ragfile.file.pairs_dialects import DTYPES, KEYS, PADDINGS
from ragfile.ground.atomic_replace import replacing, spare_unless_ragfile
from ragfile.types import ByteOrder, Padding, PairPrecision, StrPath, Vector

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
        draft = _PairDraft(file, names, padding, byteorder == "big")
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


class _PairDraft:
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
