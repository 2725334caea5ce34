"""What is said of every row of a file, as columns for filters: the metadata and tags of a chunk over those of its document.

Where metadata have no key "source", "doc_id" or "id" of their own, these names mean the fields of a hit.

    rag.chunks, rag.documents ─ stretches of rag.meta, equal ones parsed once ─ members by key ─ a column when asked for

Objects are taken apart as they are parsed: of each key the values are kept and who has them, so that memory is in proportion
to what is said, whatever the number of rows and keys.

A writer gives each document and chunk a stretch of its own, or lets some share one. Stretches that overlap otherwise have no
use but to make a reader parse the same bytes again and again: where all that differ come to more than OVERLAP times their
stream and a mebibyte, the file is refused.
"""

import numpy as np

from ragfile.errors import CorruptError
from ragfile.file import filters

OVERLAP, SPARE = 2, 1 << 20
BATCH_BYTES = 1 << 20
NONE, FIELD, PARTIAL, FULL = 0, 1, 2, 3  # how an object says something, the stronger the larger


class Labels:
    """filters.FilterColumns over all rows of some segments, made on first use."""

    def __init__(self, segments):
        self._segments, self._members, self._columns, self._count = segments, {}, {}, 0
        self._tags, self._sources = ([], []), ([], [])
        own, shared = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        self._take({})  # what is said where nothing is
        for segment in segments:
            own.append(self._read(segment, *segment.records.stretches(of_rows=True)))
            of_documents = self._read(segment, *segment.records.stretches(of_rows=False))
            shared.append(of_documents[segment.records.documents_of_rows()])
        self._own, self._shared = np.concatenate(own), np.concatenate(shared)

    def __len__(self):
        return len(self._own)

    @property
    def paths(self):
        """The names that metadata have at their first level."""
        return list(self._members)

    def column(self, path):
        if path not in self._columns:
            column = self._layered(*self._resolved(path))
            if path in IDS:
                column = filters.filled(column, IDS[path](self._segments))
            self._columns[path] = column
        return self._columns[path]

    @property
    def names(self):
        """The keys that some row's metadata have, in order."""
        return sorted(self._members)

    def tags(self):
        if None not in self._columns:
            values, found = [()] * self._count, np.zeros(self._count, np.int8)
            _put(values, found, *self._tags, FULL)
            self._columns[None] = self._layered(values, found)
        return self._columns[None]

    def _resolved(self, path):
        """(the value at a path, how it is there) of each object, as filters.resolve finds it."""
        values, found = [filters.MISSING] * self._count, np.zeros(self._count, np.int8)
        if path == "source":
            _put(values, found, *self._sources, FIELD)
        head, dot, rest = path.partition(".")
        if dot:
            places, heads = self._members.get(head, ((), ()))
            below = [
                filters.resolve(v, rest, filters.MISSING)
                if isinstance(v, dict)
                else filters.MISSING
                for v in heads
            ]
            _put(values, found, places, below, PARTIAL)
        places, members = self._members.get(path, ((), ()))
        _put(values, found, places, members, FULL)
        return values, found

    def _layered(self, values, found):
        """Rows from objects: a chunk's own value before its document's, but a key that equals the path before its parts."""
        column, own, shared = filters.encode(values), self._own, self._shared
        codes = np.where(found[shared] > found[own], column.codes[shared], column.codes[own])
        return filters.Column(codes, column.keys)

    # -------------------------------------------------------------------------------------------------------- reading --

    def _read(self, segment, at, size):
        """The number of the object of each stretch of the segment's metadata; of none where it is empty."""
        numbers, said = np.zeros(len(at), np.int64), np.flatnonzero(size)
        at, size, places = _distinct(at[said], size[said])
        _check(segment, at, size)
        starts, sizes, read, known = at.astype(np.int64), size.astype(np.int64), [], {}
        while len(read) < len(starts):
            first = len(read)
            last = int(np.searchsorted(starts, starts[first] + BATCH_BYTES, side="right"))
            read.extend(self._parsed(segment, starts[first:last], sizes[first:last], known))
        numbers[said] = np.array(read, np.int64)[places]
        return numbers

    def _parsed(self, segment, starts, sizes, known):
        """The numbers of the objects at some stretches, in order of where they start; known texts are not parsed again."""
        base, ends = int(starts[0]), starts + sizes
        raw = segment.meta.read(base, int(ends.max()) - base)
        said = [
            raw[start:end]
            for start, end in zip((starts - base).tolist(), (ends - base).tolist(), strict=True)
        ]
        first = dict(
            zip(reversed(said), reversed(starts.tolist()), strict=True)
        )  # where a text stands first
        new = {text: at for text, at in first.items() if text not in known}
        for text, fields in zip(new, segment.parsed_all(new), strict=True):
            known[text] = self._count
            self._take(fields)
        return map(known.__getitem__, said)

    def _take(self, fields):
        """Takes an object apart."""
        number = self._count
        self._count += 1
        for key, value in fields.get("metadata", {}).items():
            places, values = self._members.get(key) or self._members.setdefault(key, ([], []))
            places.append(number)
            values.append(value)
        if fields.get("source"):
            self._sources[0].append(number)
            self._sources[1].append(fields["source"])
        if "tags" in fields:
            self._tags[0].append(number)
            self._tags[1].append(fields["tags"])


def _document_ids(segments):
    """The document id of each row."""
    names, codes, first = [], [], 0
    for segment in segments:
        names += [segment.records.document(n).id for n in range(segment.records.documents)]
        codes.append(segment.records.documents_of_rows().astype(np.int64) + first)
        first = len(names)
    return filters.encode_codes(np.concatenate(codes) if codes else np.empty(0, np.int64), names)


def _chunk_ids(segments):
    """The id of each row: document#index."""
    found = []
    for records in (segment.records for segment in segments):
        names = [records.document(n).id for n in range(records.documents)]
        chunks = map(records.chunk, range(len(records)))
        found += [f"{names[chunk.document]}#{chunk.index}" for chunk in chunks]
    return filters.encode(found)


IDS = {"doc_id": _document_ids, "id": _chunk_ids}


def _put(values, found, places, members, how):
    for place, value in zip(places, members, strict=True):
        values[place] = value
    found[np.array(places, dtype=np.int64)] = how


def _check(segment, at, size):
    """Refuses stretches that lie outside their stream, or over one another beyond all use."""
    there = np.uint64(segment.meta.size)
    if ((at > there) | (size > there - np.minimum(at, there))).any():
        raise CorruptError(
            f"metadata of segment {segment.number} lie after their end", section="rag.meta"
        )
    if int(size.sum(dtype=np.uint64)) > OVERLAP * segment.meta.size + SPARE:
        what = f"the metadata of segment {segment.number} overlap and come to more than {OVERLAP} times what there is"
        raise CorruptError(what, section="rag.meta")


def _distinct(at, size):
    """(at, size) of the distinct stretches in order, and where each one is among them. A writer's own come in order."""
    if (at[1:] > at[:-1]).all():
        return at, size, np.arange(len(at))
    order = np.lexsort((size, at))
    at, size = at[order], size[order]
    first = np.append(True, (at[1:] != at[:-1]) | (size[1:] != size[:-1]))[: len(at)]
    places = np.empty(len(order), np.int64)
    places[order] = np.cumsum(first) - 1
    return at[first], size[first], places
