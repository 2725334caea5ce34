"""Vectors of an unfinished build, kept in a folder beside it so that the next run can continue.

An mmap-ninja matrix of bytes with one row per text: its 128-bit hash, a checksum of the row, the
vector. Rows with wrong checksums are ignored, and a partial row at the end is cut off before the
next append, so an interrupted append loses one row and shifts none. The folder is removed when the
build is done. With an embedding cache, that is used instead.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
import xxhash

from ragfile.errors import ModelError
from ragfile.ground import system

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from types import ModuleType
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.types import Float32s, StrPath

KEY, CHECK = 16, 8
DATA, SHAPE = "data.ninja", "shape.ninja"  # what mmap-ninja calls the rows, and how many there are


def _ninja() -> ModuleType:
    """Return mmap-ninja's module for arrays, imported on use: its import is slow."""
    return import_module("mmap_ninja.numpy")


class Stash:
    """A folder of vectors of one model, created by the first append.

    `model` is the model's identity. dims can be None for a model that has not answered yet; then
    they come from the folder, or from the first append.
    """

    _rows: Any  # Any: an array with mmap-ninja's attributes, or None

    def __init__(self, folder: StrPath, model: str, dims: int | None = None) -> None:
        self.folder, self._model = folder, model.encode("utf-8", "surrogatepass") + b"\0"
        self._known: dict[bytes, int] = {}
        self._rows, self._is_used = None, False
        stated = self._stated()
        self.dims = stated if dims is None else dims
        if self.dims is not None and stated in (None, self.dims) and os.path.isdir(folder):
            self._recover()

    def _stated(self) -> int | None:
        """Return the dims of the folder's rows; None if a killed run left their number unwritten."""
        try:
            with open(os.path.join(self.folder, SHAPE), "rb") as file:
                raw = file.read()
        except OSError:
            return None
        # Two numbers: rows, and bytes per row.
        width = int(np.frombuffer(raw, np.int64)[1]) if len(raw) == 16 else 0
        dims, rest = divmod(width - KEY - CHECK, 4)
        return dims if dims > 0 and not rest else None

    def _width(self) -> int:
        return KEY + CHECK + 4 * (self.dims or 0)

    def _recover(self) -> None:
        """Load the folder's rows; if a run was killed inside an append, first keep the whole rows."""
        rows: Any = None  # Any: an array with mmap-ninja's attributes
        try:
            is_whole = _size(os.path.join(self.folder, SHAPE)) == 16  # two numbers
            if is_whole:
                rows = _ninja().open_existing(self.folder)
            is_whole = is_whole and rows.dtype == np.uint8 and rows.shape[1:] == (self._width(),)
            is_whole = is_whole and _size(rows.filename) == rows.size
        except (OSError, ValueError, KeyError, TypeError, EOFError):
            is_whole = False
        if not is_whole:
            rows = self._salvaged()
        if rows is not None:
            self._take(rows, 0)

    def _salvaged(self) -> NDArray[np.uint8] | None:
        """Rewrite the folder from the whole rows of its data."""
        data = os.path.join(self.folder, DATA)
        count = _size(data) // self._width() if os.path.exists(data) else 0
        kept = (
            np.fromfile(data, np.uint8, count * self._width()).reshape(count, self._width())
            if count
            else None
        )
        system.remove_folder(self.folder)
        if kept is None:
            return None
        _ninja().from_ndarray(f"{self.folder}.new", kept)
        system.rename_folder(f"{self.folder}.new", self.folder)
        recovered: NDArray[np.uint8] = _ninja().open_existing(self.folder)
        return recovered

    def _take(self, rows: NDArray[np.uint8], first: int) -> None:
        """Index the rows from `first` on that have correct checksums."""
        self._rows = rows
        for i in range(first, len(rows)):
            row = rows[i].tobytes()
            if xxhash.xxh3_64_digest(row[:KEY] + row[KEY + CHECK :]) == row[KEY : KEY + CHECK]:
                self._known[row[:KEY]] = i

    def __len__(self) -> int:
        return len(self._known)

    def _key(self, text: Hashable) -> bytes:
        return xxhash.xxh3_128_digest(self._model + str(text).encode("utf-8", "surrogatepass"))

    def find(self, text: Hashable) -> Float32s | None:
        """Return the vector of a text, or None."""
        row = self._known.get(self._key(text))
        self._is_used |= row is not None
        return None if row is None else self._rows[row, KEY + CHECK :].view("<f4")

    def append(self, texts: Sequence[Hashable], vectors: Float32s) -> None:
        """Store the vectors of texts."""
        if vectors.shape[1] != self.dims:
            self._learn(vectors.shape[1])
        rows = np.empty((len(texts), self._width()), dtype=np.uint8)
        for row, text, vector in zip(
            rows, texts, np.ascontiguousarray(vectors, dtype="<f4"), strict=True
        ):
            key, raw = self._key(text), vector.tobytes()
            row[:] = np.frombuffer(key + xxhash.xxh3_64_digest(key + raw) + raw, dtype=np.uint8)
        before = 0 if self._rows is None else len(self._rows)
        if self._rows is None:
            _ninja().from_ndarray(self.folder, rows)
        else:
            _ninja().extend(self._rows, rows)
        self._take(_ninja().open_existing(self.folder), before)

    def _learn(self, dims: int) -> None:
        """Set the dims from the model's first answer, and discard rows with others.

        ModelError is raised if such rows have been used already.
        """
        if self._is_used:
            raise ModelError(
                f"the model answers with {dims} dims, and {self.folder} has vectors of it with {self.dims}: it is not the same "
                "model any more; build without resuming"
            )
        was_known, self.dims = self.dims, dims
        if was_known is None and os.path.isdir(self.folder):
            self._recover()
        else:
            self.discard()

    def discard(self) -> None:
        """Remove the folder."""
        self._known, self._rows = {}, None
        system.remove_folder(self.folder)


def _size(path: StrPath) -> int:
    return os.stat(path).st_size
