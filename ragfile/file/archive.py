"""An open 1.0 file as a whole: its documents and tables, beside what it has, its rows and their search.

Each layer is a module of its own: opened, described, row_reading, exact_search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ragfile.file import arrow, prefetch
from ragfile.file.exact_search import ExactSearch
from ragfile.file.open_file import of_one_commit
from ragfile.ground.extras import optional
from ragfile.records import Document

if TYPE_CHECKING:
    import pandas
    import pyarrow
    import pyarrow.dataset


class Archive(ExactSearch):
    """A 1.0 file opened for reading; see the package's open()."""

    def documents(self) -> Iterator[Document]:
        """Every document, in order of segment and id."""
        prefetch.whole(self.segments, "rag.chunks", "rag.documents", "rag.ids")
        for segment in self.segments:
            for there in segment.live_documents():
                yield there.read()

    def document_ids(self) -> list[str]:
        """The ids of all documents, in order; no text is read."""
        prefetch.whole(self.segments, "rag.tombs", "rag.documents", "rag.ids")
        return sorted(there.id for segment in self.segments for there in segment.live_documents())

    def document(self, doc_id: str) -> Document | None:
        """The Document with this id, or None."""
        view = self if self._is_pinned else self._pinned()
        view.check_unchanged()
        there = view.find(doc_id)
        return None if there is None else there.read()

    @of_one_commit
    def sources(self, chunk_ids: str | Iterable[str]) -> list[Document]:
        """The documents that these chunks are from, each once, in order of first mention; unknown ids are passed over."""
        chunk_ids = [chunk_ids] if isinstance(chunk_ids, str) else chunk_ids
        ids = dict.fromkeys(c.rpartition("#")[0] for c in chunk_ids if self.row(c) is not None)
        found = (self.document(doc_id) for doc_id in ids)
        return [document for document in found if document is not None]

    @of_one_commit
    def context(self, chunk_id: str, before: int = 200, after: int = 200) -> str:
        """The chunk's text with up to so many characters of its document on either side."""
        row = self.row(chunk_id)
        if row is None:
            raise KeyError(chunk_id)
        chunk, document = self.chunk(row), self.document(chunk_id.rpartition("#")[0])
        if document is None or chunk.start < 0 or not document.text:
            return chunk.content
        return document.text[max(0, chunk.start - before) : chunk.end + after]

    # ------------------------------------------------------------------------------------------------------- tables --

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The live chunks for anything that takes Arrow streams: texts, ids, metadata with types, vectors. Needs no extra."""
        return arrow.arrow_stream(self)

    def to_dataset(self) -> pyarrow.dataset.Dataset:
        """The live chunks as a dataset for DuckDB, polars and pyarrow, which reads the columns that a query
        names of the rows that pass its conditions.
        """
        optional("pyarrow.dataset", "a dataset of chunks")
        from ragfile.file.arrow_dataset import FileDataset

        return FileDataset(self)

    def to_arrow(self) -> pyarrow.Table:
        """The live chunks as a pyarrow.Table."""
        return arrow.arrow_reader(self).read_all()

    def to_pandas(self) -> pandas.DataFrame:
        """The live chunks as a pandas.DataFrame."""
        return self.to_arrow().to_pandas()
