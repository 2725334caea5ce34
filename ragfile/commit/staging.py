"""What is being added to a file, kept until its order is known.

Rows of a segment lie in order of (document id, chunk index), and things arrive in any order; so texts, metadata and vectors
go to temporary files without names, and what stays in memory is 36 bytes a chunk and the ids.
"""

import contextlib
import json
import os
import tempfile
from array import array

import numpy as np

from ragfile.errors import CorruptError
from ragfile.store import config
from ragfile.text import restored

LOOSE = (
    1 << 63
)  # a place with this bit is an offset in the spool; without it, in the document's own text
NO_SPAN = 0xFFFFFFFF
OWN_BITS = 24  # of the size of a chunk's own metadata; the rest is where it lies


def to_utf8(text):
    """UTF-8 that keeps lone surrogates."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def to_json(value):
    """One line of JSON, or nothing for nothing."""
    if config.is_too_deep(value):
        raise ValueError(f"metadata may nest {config.DEPTH} deep")
    if config.has_other_keys(value):
        raise TypeError("a key in it is not a string")
    return (
        to_utf8(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))
        if value
        else b""
    )


def byte_offsets(text, raw, positions):
    """Where code points lie in the UTF-8 of text, for positions in any order."""
    if len(raw) == len(text):
        return {p: p for p in positions}
    found, at, before = {}, 0, 0
    for p in sorted(set(positions)):
        at += len(to_utf8(text[before:p]))
        found[p], before = at, p
    return found


def check_fields(metadata, tags, whose):
    """Refuses what a reader would call damage: metadata is an object, tags are a list of strings."""
    if not isinstance(metadata, dict):
        raise TypeError(f"metadata of {whose} is a dict, not {type(metadata).__name__}")
    if isinstance(tags, str) or not all(isinstance(tag, str) for tag in tags):
        raise TypeError(f"tags of {whose} are a list of strings, not {tags!r:.80}")


def described(fields, whose):
    """to_json, naming what it cannot write."""
    try:
        return to_json(fields)
    except (TypeError, ValueError) as error:
        raise type(error)(f"metadata of {whose} is no JSON: {error}") from None


def _checked(document):
    """The edits of a document, if they lead to an original, and its body if it has one."""
    if document.edits:
        restored(document.text, document.edits)
    if not 0 <= document.body <= len(document.text):
        raise ValueError(
            f"the body of document {document.id!r} begins within its text, not at {document.body}"
        )
    return list(document.edits)


class Spool:
    """A temporary file that is appended to and read at random."""

    def __init__(self, folder):
        self._file = tempfile.TemporaryFile(dir=folder, buffering=1 << 20)  # noqa: SIM115 - closed by close()
        self._clean, self.folder = True, folder
        self.size = 0

    def append(self, data):
        """Returns where data begins."""
        at = self.size
        try:
            self._file.write(data)
        except OSError as error:
            raise self._named(error) from None
        self.size += len(data)
        self._clean = False
        return at

    def read(self, at, size):
        self._flush()
        return os.pread(self._file.fileno(), size, at) if size else b""

    def matrix(self, dtype, width):
        """All that was appended, as rows, mapped."""
        self._flush()
        if not self.size:
            return np.empty((0, width), dtype)
        return np.memmap(self._file, dtype=dtype, mode="r").reshape(-1, width)

    def _flush(self):
        if not self._clean:
            try:
                self._file.flush()
            except OSError as error:
                raise self._named(error) from None
            self._clean = True

    def _named(self, error):
        """The error with the folder of the file, which has no name."""
        return OSError(error.errno, f"{error.strerror} (temporary file)", self.folder)

    def close(self):
        with contextlib.suppress(OSError):  # what could not be written is not needed any more
            self._file.close()


class StagedDocument:
    __slots__ = ("chars", "has_text", "json", "number", "tags", "text_at", "text_size")

    def __init__(self, number):
        self.number, self.text_at, self.text_size, self.chars, self.has_text = (
            number,
            0,
            0,
            0,
            False,
        )
        self.json, self.tags = (0, 0), ()


class Staging:
    """Documents, chunks and vectors in order of arrival."""

    def __init__(self, folder, dim=None, dtype=np.float32):
        self.folder, self.dim, self.dtype = folder, dim, np.dtype(dtype)
        self.texts, self.vectors = Spool(folder), Spool(folder)
        self.documents = {}
        self._document, self._index = array("I"), array("I")
        self._place, self._json = array("Q"), array("Q")
        self._size, self._char_start, self._char_size = array("I"), array("I"), array("I")
        self.vector_rows = 0

    def __len__(self):
        return len(self._index)

    def document(self, doc_id):
        """The entry of this id, made when it is new."""
        entry = self.documents.get(doc_id)
        if entry is None:
            if not isinstance(doc_id, str) or not doc_id:
                raise ValueError(f"a document id is a string that is not empty, not {doc_id!r}")
            entry = self.documents[doc_id] = StagedDocument(len(self.documents))
        return entry

    def add_document(self, document, has_text=True):
        """A document's own text and metadata. Its chunks follow through add_chunks."""
        check_fields(document.metadata, document.tags, whose := f"document {document.id!r}")
        if document.id in self.documents:
            raise ValueError(f"document {document.id!r} was added before")
        entry, raw = self.document(document.id), to_utf8(document.text)
        if len(raw) >= NO_SPAN:
            raise ValueError(
                f"document {document.id!r} has {len(raw)} bytes of text; the limit is 4 GiB"
            )
        entry.text_at, entry.text_size = self.texts.append(raw), len(raw)
        entry.chars, entry.has_text, entry.tags = len(document.text), has_text, tuple(document.tags)
        fields = {
            "source": document.source,
            "metadata": document.metadata,
            "tags": list(document.tags),
        }
        fields |= {"original": _checked(document), "body": document.body}
        packed = described({name: value for name, value in fields.items() if value}, whose)
        entry.json = self.texts.append(packed), len(packed)
        return raw

    def add_chunks(self, chunks, text="", raw=b""):
        """Chunks in order of arrival: spans of the text that is given, or loose where they have no start in it."""
        spans = [c for c in chunks if text and c.start >= 0]
        at = byte_offsets(text, raw, [p for c in spans for p in (c.start, c.end)])
        for c in chunks:
            if not isinstance(c.content, str):
                raise TypeError(
                    f"content of chunk {c.chunk_index} of {c.doc_id!r} is a str, not {type(c.content).__name__}"
                )
            if text and c.start >= 0:
                if text[c.start : c.end] != c.content:
                    raise ValueError(
                        f"chunk {c.chunk_index} of {c.doc_id!r} is not text[{c.start}:{c.end}]"
                    )
                self._add(c, at[c.start], at[c.end] - at[c.start])
            else:
                data = to_utf8(c.content)
                if len(data) >= NO_SPAN:
                    raise ValueError(
                        f"chunk {c.chunk_index} of {c.doc_id!r} is over the limit of 4 GiB"
                    )
                self._add(c, LOOSE | self.texts.append(data), len(data))

    def _add(self, chunk, place, size):
        entry = self.document(chunk.doc_id)
        if not 0 <= chunk.chunk_index < NO_SPAN:
            raise ValueError(
                f"chunk index {chunk.chunk_index} of {chunk.doc_id!r} is not in 0 … 2**32 - 2"
            )
        whose = f"chunk {chunk.chunk_index} of {chunk.doc_id!r}"
        check_fields(chunk.metadata, chunk.tags, whose)
        own = {}
        if chunk.metadata:
            own["metadata"] = chunk.metadata
        if tuple(chunk.tags) != entry.tags:
            own["tags"] = list(chunk.tags)
        raw = described(own, whose)
        if len(raw) >> OWN_BITS:
            raise ValueError(
                f"metadata of {whose} is over the limit of 16 MiB: {len(raw)} bytes as JSON"
            )
        own = self.texts.append(raw) << OWN_BITS | len(raw) if raw else 0
        start = chunk.start if chunk.start >= 0 else NO_SPAN
        self._append(entry, chunk.chunk_index, place, size, start, len(chunk.content), own)

    def _append(self, entry, index, place, size, char_start, char_size, own):
        self._document.append(entry.number)
        self._index.append(index)
        self._place.append(place)
        self._size.append(size)
        self._char_start.append(char_start)
        self._char_size.append(char_size)
        self._json.append(own)

    def carry(self, segment, number):
        """A document of an open file as it is, byte for byte. Returns its rows there."""
        record = segment.records.document(number)
        if not record.id or record.id in self.documents:
            raise CorruptError(
                f"document {record.id!r} is in the file twice, or has no id", section="rag.ids"
            )
        entry, at, text_size = self.document(record.id), record.blob_at, record.text_size
        entry.text_at, entry.text_size = (
            self.texts.append(segment.texts.read(at, text_size)),
            text_size,
        )
        entry.chars, entry.has_text = record.text_chars, record.has_text
        entry.json = (
            self.texts.append(segment.meta.read(record.meta_at, record.meta_size)),
            record.meta_size,
        )
        for row in record.rows:
            self._carry_chunk(entry, segment, segment.records.chunk(row), record)
        return record.rows

    def _carry_chunk(self, entry, segment, chunk, record):
        place, own = chunk.start, 0
        if chunk.start + chunk.size > record.text_size:
            place = LOOSE | self.texts.append(
                segment.texts.read(record.blob_at + chunk.start, chunk.size)
            )
        if chunk.meta_size:
            own = (
                self.texts.append(segment.meta.read(chunk.meta_at, chunk.meta_size)) << OWN_BITS
                | chunk.meta_size
            )
        start = NO_SPAN if chunk.char_start is None else chunk.char_start
        self._append(entry, chunk.index, place, chunk.size, start, chunk.char_size, own)

    def carry_vectors(self, rows):
        """Stored vectors of the chunks carried last."""
        self.dim = rows.shape[1]
        self.vectors.append(np.ascontiguousarray(rows, dtype=self.dtype).tobytes())
        self.vector_rows += len(rows)

    def add_vectors(self, vectors, count):
        """Vectors of the chunks added last."""
        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        if rows.ndim != 2 or len(rows) != count:
            raise ValueError(
                f"{count} chunks need {count} vectors, not an array of shape {np.shape(vectors)}"
            )
        if self.dim is None:
            self.dim = rows.shape[1]
        if rows.shape[1] != self.dim:
            raise ValueError(
                f"vectors of dimension {rows.shape[1]} do not fit a file of dimension {self.dim}"
            )
        stored = rows.astype(self.dtype)
        bad = np.flatnonzero(~np.isfinite(stored).all(axis=1))
        if len(bad):
            raise ValueError(
                f"vector {self.vector_rows + int(bad[0])} has a component that is not finite as {self.dtype}"
            )
        self.vectors.append(stored.data.cast("B") if stored.size else b"")
        self.vector_rows += count

    def ordered(self):
        """(documents by id, columns in row order, arrival number of each row)."""
        ids = sorted(self.documents, key=to_utf8)
        rank = np.empty(len(ids), np.uint32)
        for place, doc_id in enumerate(ids):
            rank[self.documents[doc_id].number] = place
        columns = {
            name: np.frombuffer(column, dtype=column.typecode)
            for name, column in (
                ("document", self._document), ("index", self._index), ("place", self._place), ("json", self._json),
                ("size", self._size), ("char_start", self._char_start), ("char_size", self._char_size),
            )
        }  # fmt: skip
        documents = rank[columns["document"]] if len(self) else columns["document"]
        order = np.lexsort((columns["index"], documents))
        columns = {name: column[order] for name, column in columns.items()}
        columns["document"] = documents[order]
        same = (np.diff(columns["document"].astype(np.int64)) == 0) & (
            np.diff(columns["index"].astype(np.int64)) == 0
        )
        if same.any():
            row = int(np.flatnonzero(same)[0])
            raise ValueError(
                f"chunk {columns['index'][row]} of {ids[columns['document'][row]]!r} was added twice"
            )
        return ids, columns, order

    def close(self):
        self.texts.close()
        self.vectors.close()
