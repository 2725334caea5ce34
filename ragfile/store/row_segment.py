"""The rows that one commit added: their records, texts, metadata, vectors and terms, read where they lie.

A section is opened when it is first asked for. What it must agree with (the number of rows, above all) is checked there.
"""

import json
import secrets
import threading

import numpy as np
import zstandard

from ragfile import _core
from ragfile.errors import CorruptError
from ragfile.store import config

NO_METADATA = {}
BLOCK_LIMIT = 16 << 20  # of a stream, unpacked
KEPT, KEPT_LEAST = 16 << 20, 1 << 20  # bytes of unpacked blocks
_thread = (
    threading.local()
)  # a decompressor is a large thing to make, and serves one thread at a time


def unpack(data, raw_size):
    """One zstd frame whose stated size is believed only when it is the one that the block must have."""
    decompressor = getattr(_thread, "decompressor", None)
    if decompressor is None:
        decompressor = _thread.decompressor = zstandard.ZstdDecompressor(
            max_window_size=BLOCK_LIMIT
        )
    try:
        if zstandard.frame_content_size(data) != raw_size:
            raise CorruptError(
                "a compressed block does not state its size, or another one than it must have"
            )
        return decompressor.decompress(data)
    except zstandard.ZstdError as error:
        raise CorruptError(f"a compressed block does not unpack: {error}") from None


def _are_fields(fields):
    """What the metadata stream may hold for a document or chunk."""
    if (
        type(fields) is dict and len(fields) == 1 and type(fields.get("metadata")) is dict
    ):  # most of them
        return True
    return (
        isinstance(fields, dict)
        and isinstance(fields.get("metadata", {}), dict)
        and isinstance(fields.get("source", ""), str)
        and isinstance(fields.get("tags", []), list)
        and all(isinstance(tag, str) for tag in fields.get("tags", ()))
        and isinstance(fields.get("original", []), list)
        and type(body := fields.get("body", 0)) is int
        and body >= 0
    )


def _bit(section, i):
    section.check()
    view = memoryview(section)
    return i // 8 < len(view) and bool(view[i // 8] >> i % 8 & 1)


class Segment:
    """The rows that one commit added."""

    def __init__(self, reader, number, rows, live, base):
        self.reader, self.number, self.rows, self.live, self.base = reader, number, rows, live, base
        self._records = self._texts = self._meta = self._alive = None
        self._layout = self._view = self._matrix = self._lexicon = self._lexical_size = None
        self.metric, self.document_fields = "cosine", {}
        self.brought = set()  # names of plans (see ahead) that were carried out once for all

    def section(self, name):
        return self.reader.section(name, self.number)

    def has(self, name):
        """Whether there is such a section; nothing is read."""
        return self.reader.has(name, self.number)

    def need(self, name):
        section = self.section(name)
        if section is None:
            raise CorruptError(f"segment {self.number} has no section {name}", section=name)
        return section

    @property
    def records(self):
        if self._records is None:
            records = _core.Records(
                self.need("rag.chunks"), self.need("rag.documents"), self.need("rag.ids")
            )
            if len(records) != self.rows:
                raise CorruptError(
                    f"segment {self.number} has {self.rows} rows but {len(records)} chunk records"
                )
            self._records = records
        return self._records

    @property
    def texts(self):
        if self._texts is None:
            self._texts = self._stream("rag.text")
        return self._texts

    @property
    def meta(self):
        if self._meta is None:
            self._meta = self._stream("rag.meta")
        return self._meta

    def _stream(self, name):
        """Unpacking takes half of the time of reading a hit, so the last blocks are kept; segments share the room for them."""
        return _core.Stream(
            self.need(name), unpack, max(KEPT // len(self.reader.segments), KEPT_LEAST)
        )

    @property
    def alive(self):
        """Bits of the rows that are not deleted, as uint64 words, or None when none is."""
        if self.live == self.rows:
            return None
        if self._alive is None:
            section = self.need("rag.tombs")
            section.check()
            words = ~np.frombuffer(section, dtype="<u8")
            if self.rows % 64:
                words[-1] &= np.uint64((1 << self.rows % 64) - 1)
            self._alive = words
        return self._alive

    def live_mask(self):
        """bool[rows]: the rows that are not deleted."""
        if self.alive is None:
            return np.ones(self.rows, dtype=bool)
        return np.unpackbits(self.alive.view(np.uint8), bitorder="little")[: self.rows].astype(bool)

    def is_live(self, row):
        return self.alive is None or bool(
            self.alive[row // 64] >> np.uint64(row % 64) & np.uint64(1)
        )

    def document_is_live(self, number):
        """A document lives or dies with all its rows; one without rows dies by name."""
        first, rows = self.records.document(number)[8:]
        if rows:
            return self.is_live(first)
        gone = self.section("rag.gone")
        return gone is None or not _bit(gone, number)

    def live_documents(self):
        """Numbers of the live documents, in order of id."""
        return [n for n in range(self.records.documents) if self.document_is_live(n)]

    @property
    def has_deletions(self):
        return self.live < self.rows or self.has("rag.gone")

    def document_count(self):
        """How many documents live. Where nothing is deleted no record is read."""
        if not self.has_deletions:
            return len(self.need("rag.documents")) // _core.DOCUMENT_RECORD_SIZE
        return len(self.live_documents())

    def find(self, doc_id):
        """The number of the live document with this id, or None."""
        number = self.records.find(doc_id)
        return number if number is not None and self.document_is_live(number) else None

    def vector_layout(self):
        """(dim, bits, rows, stride, offset of the first row) of the vector section."""
        if self._layout is None:
            at = self.reader.entry("vector", self.number)["at"]
            layout = _core.vector_layout(self.need("vector"), at)
            if layout[2] != self.rows:
                what = f"segment {self.number} has {self.rows} rows but {layout[2]} vectors"
                raise CorruptError(what, section="vector")
            self._layout = layout
        return self._layout

    def vectors(self):
        """The matrix as a strided view of the map, or None. Its bytes are not checked: stored_vectors does that. Those of a
        file that is elsewhere are brought and checked first."""
        if not self.has("vector"):
            return None
        if self.reader.is_elsewhere:
            self.section("vector").check()
        return self._all_vectors()[:]

    def _all_vectors(self):
        if self._view is None:
            dim, bits, rows, stride, first = self.vector_layout()
            dtype = np.dtype("<f4" if bits == 32 else "<f2")
            bare = _core.Bare(self.section("vector"))
            self._view = np.ndarray(
                (rows, dim), dtype, buffer=bare, offset=first, strides=(stride, dtype.itemsize)
            )
        return self._view

    def stored_vectors(self, first, count):
        """The vectors of some rows, their bytes checked; None where there are none."""
        if not self.has("vector"):
            return None
        vectors = self._all_vectors()
        if count:
            _, _, _, stride, at = self.vector_layout()
            self.section("vector").check(at + first * stride, count * stride)
        return vectors[first : first + count]

    def keyword_pairs(self):
        return _core.Pairs.keyword(
            self.need("keyword"), self.reader.entry("keyword", self.number)["at"]
        )

    @property
    def matrix(self):
        """The vectors, searchable."""
        if self._matrix is None:
            dim, bits, rows, stride, first = self.vector_layout()
            self._matrix = _core.Matrix(
                self.need("vector"),
                rows,
                dim,
                stride,
                f"f{bits}",
                at=first,
                metric=self.metric,
                shadow=self.section("rag.shadow"),
            )
        return self._matrix

    @property
    def lexicon(self):
        """The terms and postings, searchable."""
        if self._lexicon is None:
            self._lexicon = _core.Lexicon(self.need("rag.terms"), self.need("rag.postings"))
            if len(self._lexicon) != self.rows:
                raise CorruptError(
                    f"segment {self.number} has {self.rows} rows, its postings {len(self._lexicon)}"
                )
        return self._lexicon

    @property
    def lexical_size(self):
        """(live rows, their summed length)"""
        if self._lexical_size is None:
            self._lexical_size = self.lexicon.live(self.alive)
        return self._lexical_size

    def fields(self, at, size):
        """A JSON object of the metadata stream."""
        return self.parsed(self.meta.read(at, size), at) if size else NO_METADATA

    def parsed(self, raw, at):
        """The same from the bytes that stand there."""
        try:
            fields = json.loads(raw.decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError):
            fields = None
        return self._checked(fields, raw, at)

    def parsed_all(self, places):
        """The objects of many texts, given where each of them stands: parsed as one list, which takes half the time.

        Between them stands a number that nobody can guess, so that no text can end in the next one's place.
        """
        mark = 1 << 60 | secrets.randbits(60)
        try:
            found = json.loads(
                (b"[" + (b",%d," % mark).join(places) + b"]").decode("utf-8", "surrogatepass")
            )
        except (ValueError, RecursionError):
            found = []
        if len(found) != 2 * len(places) - 1 or found[1::2] != [mark] * (len(places) - 1):
            return [self.parsed(raw, at) for raw, at in places.items()]
        return [
            self._checked(fields, raw, at)
            for fields, (raw, at) in zip(found[::2], places.items(), strict=True)
        ]

    def _checked(self, fields, raw, at):
        # A level of JSON takes a byte or more: short ones are not too deep.
        if not _are_fields(fields) or (len(raw) > config.DEPTH and config.is_too_deep(fields)):
            raise CorruptError(
                f"metadata at {at} of segment {self.number} is not what it must be",
                section="rag.meta",
            )
        return fields

    def text(self, document, start, size):
        if start + size > document[3]:
            raise CorruptError(
                f"a text of document {document[0]!r} lies outside of it", section="rag.chunks"
            )
        raw = self.texts.read(document[1] + start, size)
        try:
            return raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise CorruptError(
                f"the text of document {document[0]!r} is not UTF-8", section="rag.text"
            ) from None
