"""Vectors of an unfinished build: kept beside it by text, so that the next run continues from them.

An mmap-ninja matrix of bytes, one row a text: its 128-bit hash, a checksum of the row, the vector.
A row counts when its checksum holds, and an append that was cut short is cut off before the next
one, so a torn tail costs a row, never a shift. The folder is removed when the build is done. An
embedding cache takes its place if one is in use.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import numpy as np
import xxhash

from ragfile.errors import ModelError

if TYPE_CHECKING:
    from typing import Any

KEY, CHECK = 16, 8
DATA, SHAPE = "data.ninja", "shape.ninja"  # what mmap-ninja calls the rows, and how many there are


def _ninja():
    """mmap-ninja, imported on use: it takes as long as all the rest."""
    from mmap_ninja import numpy

    return numpy


class Stash:
    """A folder of vectors of one model, named by all that makes its vectors what they are; made on
    the first append.

    dims can be None for a model that has not answered yet: then the folder says, or the first
    append.
    """

    dims: Any  # None until the model says
    _rows: Any

    def __init__(self, folder, model, dims=None):
        self.folder, self._model = folder, model.encode("utf-8", "surrogatepass") + b"\0"
        self._known, self._rows, self._is_used = {}, None, False
        stated = self._stated()
        self.dims = stated if dims is None else dims
        if self.dims is not None and stated in (None, self.dims) and os.path.isdir(folder):
            self._recover()

    def _stated(self):
        """The dims of the rows that are there, or None. A folder that does not say, for a run was
        killed while it said so, is taken up when the model has.
        """
        try:
            with open(os.path.join(self.folder, SHAPE), "rb") as file:
                raw = file.read()
        except OSError:
            return None
        width = (
            int(np.frombuffer(raw, np.int64)[1]) if len(raw) == 16 else 0
        )  # two numbers: rows, bytes a row
        dims, rest = divmod(width - KEY - CHECK, 4)
        return dims if dims > 0 and not rest else None

    def _width(self):
        return KEY + CHECK + 4 * self.dims

    def _recover(self):
        """Takes up what is there. A folder that does not agree with itself, because a run was
        killed inside an append, is written anew from those rows of its data that are whole.
        """
        rows: Any = None
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

    def _salvaged(self):
        data = os.path.join(self.folder, DATA)
        count = _size(data) // self._width() if os.path.exists(data) else 0
        kept = (
            np.fromfile(data, np.uint8, count * self._width()).reshape(count, self._width())
            if count
            else None
        )
        shutil.rmtree(self.folder, ignore_errors=True)
        if kept is None:
            return None
        _ninja().from_ndarray(f"{self.folder}.new", kept)
        os.rename(f"{self.folder}.new", self.folder)
        return _ninja().open_existing(self.folder)

    def _take(self, rows, first):
        self._rows = rows
        for i in range(first, len(rows)):
            row = rows[i].tobytes()
            if xxhash.xxh3_64_digest(row[:KEY] + row[KEY + CHECK :]) == row[KEY : KEY + CHECK]:
                self._known[row[:KEY]] = i

    def __len__(self):
        return len(self._known)

    def _key(self, text):
        return xxhash.xxh3_128_digest(self._model + text.encode("utf-8", "surrogatepass"))

    def find(self, text):
        """The vector made for a text, or None."""
        row = self._known.get(self._key(text))
        self._is_used |= row is not None
        return None if row is None else self._rows[row, KEY + CHECK :].view("<f4")

    def append(self, texts, vectors):
        """Keeps the vectors of texts."""
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

    def _learn(self, dims):
        """The model has said how many dims it has: other rows than such are another model's, if
        none of them was taken up.
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

    def discard(self):
        """Removes the folder: the build is done."""
        self._known, self._rows = {}, None
        shutil.rmtree(self.folder, ignore_errors=True)


def _size(path):
    return os.stat(path).st_size
