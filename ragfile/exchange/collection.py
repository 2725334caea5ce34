"""A collection in memory: what FAISS + JSON and .ragmd files both hold, and what conversions pass
along.

Documents, references and unknown keys are kept as the plain dicts they were, in their order, so
that a collection can be written as it was read. Row r of the index belongs to refs[r]; a document's
chunk can claim its row back by faiss_id.
"""

import os
import time
from dataclasses import dataclass, field

from ragfile.errors import FormatError, ModelError
from ragfile.exchange.faiss.index import Index


def timestamp(now=None):
    """ISO 8601 in UTC: of `now` (seconds), else of SOURCE_DATE_EPOCH, else of this moment."""
    seconds = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time()) if now is None else now
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


@dataclass
class Collection:
    """Documents by id, one reference per row, and the index."""

    index: Index
    refs: list[dict] = field(default_factory=list)  # {"document_id", "chunk_key", …} of each row
    documents: dict[str, dict] = field(
        default_factory=dict
    )  # {"id", "source", "content", "full_text", "chunks", …}
    model_name: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    front: object = None  # the frontmatter of a .ragmd file as it was written, see ragmd/front.py
    sections: list = field(
        default_factory=list
    )  # its unknown sections: (section it follows, title, text)
    pair: dict = field(
        default_factory=dict
    )  # how the JSON of a FAISS + JSON pair was written, see faiss/json_pair.py

    @property
    def dim(self):
        return self.index.dim

    def __len__(self):
        return len(self.refs)

    def chunk(self, row):
        """The entry in its document's `chunks` that row's reference names, or None."""
        ref = self.refs[row]
        document = self.documents.get(ref["document_id"])
        return None if document is None else (document.get("chunks") or {}).get(ref["chunk_key"])

    def text(self, row):
        """The text of a row: a span of full_text, else the field of that name; None when nothing
        has it.
        """
        ref = self.refs[row]
        document = self.documents.get(ref["document_id"])
        return None if document is None else chunk_text(document, ref["chunk_key"])

    def dangling(self):
        """The rows whose reference names a document or a chunk that is not there."""
        known = {name: _chunk_keys(document) for name, document in self.documents.items()}
        nothing = ()
        return [
            row
            for row, ref in enumerate(self.refs)
            if ref["chunk_key"] not in known.get(ref["document_id"], nothing)
        ]

    def check(self):
        """Raises FormatError unless references, documents and index belong together."""
        if len(self.refs) != self.index.count:
            raise FormatError(
                f"{len(self.refs)} chunk references for an index of {self.index.count} vectors"
            )
        for row, ref in enumerate(self.refs):
            if type(ref.get("document_id")) is not str or type(ref.get("chunk_key")) is not str:
                raise FormatError(
                    f"chunk reference {row} needs a document_id and a chunk_key, both text"
                )
        for name, document in self.documents.items():
            _check_document(name, document, self.index.count)

    def touch(self, now=None):
        """Marks a change: the next save carries this moment as updated_at."""
        self.updated_at = timestamp(now)
        self.created_at = self.created_at or self.updated_at

    def add(self, document, vectors, now=None):
        """Appends a document with one vector for each entry of its `chunks`, and lets each entry
        claim its row.

        A document of the same id is replaced; the rows of the old one stay until
        `drop_unclaimed`.
        """
        import numpy as np

        keys = list(document.get("chunks") or {})
        rows = (
            np.asarray(vectors, np.float32).reshape(len(keys), -1)
            if keys
            else np.empty((0, self.dim), np.float32)
        )
        if rows.shape[1] != self.dim:
            raise ModelError(f"vectors have {rows.shape[1]} dimensions, the collection {self.dim}")
        for row, key in enumerate(keys, len(self.refs)):
            document["chunks"][key]["faiss_id"] = row
            self.refs.append({"document_id": document["id"], "chunk_key": key})
        self.index.append(rows)
        self.documents[document["id"]] = document
        self.touch(now)

    def replace(self, document, vectors, now=None):
        """As add, but the rows of the document that had this id go."""
        name = document["id"]
        old = {row for row, ref in enumerate(self.refs) if ref["document_id"] == name}
        self.add(document, vectors, now)
        if old:
            self._keep([row for row in range(len(self.refs)) if row not in old])

    def delete(self, document_id, now=None):
        """Removes a document with its rows; later rows move up."""
        del self.documents[document_id]
        self._keep([row for row, ref in enumerate(self.refs) if ref["document_id"] != document_id])
        self.touch(now)

    def drop_unclaimed(self, now=None):
        """Takes out the rows that no document claims (left by replaced documents); how many there
        were.
        """
        kept = [row for row in range(len(self.refs)) if self._claimed(row)]
        dropped = len(self.refs) - len(kept)
        if dropped:
            self._keep(kept)
            self.touch(now)
        return dropped

    def _claimed(self, row):
        chunk = self.chunk(row)
        return chunk is not None and chunk.get("faiss_id", row) in (row, None)

    def _keep(self, rows):
        moved = {old: new for new, old in enumerate(rows)}
        self.index = Index.of(self.index.vectors[rows], self.index.metric)
        self.refs = [self.refs[row] for row in rows]
        for document in self.documents.values():
            for chunk in (document.get("chunks") or {}).values():
                if chunk.get("faiss_id") is not None:
                    chunk["faiss_id"] = moved.get(chunk["faiss_id"])


def empty(dim, metric="ip", model_name=None):
    """A collection without rows."""
    import numpy as np

    return Collection(Index.of(np.empty((0, dim), np.float32), metric), model_name=model_name)


def chunk_text(document, key):
    """The text of one chunk of a document, or None."""
    chunk = (document.get("chunks") or {}).get(key) or {}
    start, full_text = chunk.get("i_start"), document.get("full_text")
    if start is not None and full_text is not None:
        return full_text[start : chunk.get("i_end")]
    value = (document.get("content") or {}).get(key)
    return value if value is None or isinstance(value, str) else str(value)


def _chunk_keys(document):
    chunks, content = document.get("chunks") or {}, document.get("content") or {}
    return chunks if not content else {**content, **chunks}


def _check_document(name, document, count):
    if type(document) is not dict:
        raise FormatError(f"document {name!r} is not an object")
    chunks, content, text = (
        document.get("chunks"),
        document.get("content"),
        document.get("full_text"),
    )
    if document.get("id", name) != name:
        raise FormatError(f"document {name!r} calls itself {document['id']!r}")
    if (
        type(chunks) not in (dict, _NONE)
        or type(content) not in (dict, _NONE)
        or type(text) not in (str, _NONE)
    ):
        raise FormatError(f"document {name!r}: chunks and content are objects, full_text is text")
    for key, chunk in (chunks or {}).items():
        if type(chunk) is not dict:
            raise FormatError(f"chunk {key!r} of document {name!r} is not an object")
        row = chunk.get("faiss_id")
        if row is not None and (type(row) is not int or not 0 <= row < count):
            raise FormatError(
                f"chunk {key!r} of document {name!r} has faiss_id {row} in an index of {count} vectors"
            )
        start, end = chunk.get("i_start"), chunk.get("i_end")
        if start is None and end is None:
            continue
        if type(start) is not int or type(end) is not int or not 0 <= start <= end:
            raise FormatError(f"chunk {key!r} of document {name!r} has no span: {start} to {end}")


_NONE = type(None)
