"""Making a file: what is added is staged, put in order, and written as the first commit."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from operator import index
from typing import Any

import numpy as np

from ragfile import _core
from ragfile.embedding.embedded_text import Context
from ragfile.embedding.protocol import Embedder, open_embedder
from ragfile.file.config import METRICS, STATIC_WEIGHT, TRANSFORMER_WEIGHT
from ragfile.ground.atomic_replace import spare_unless_ragfile
from ragfile.ground.urls import refuse_remote
from ragfile.ingest.analysis import Analysis
from ragfile.ingest.chunker import Policy, split
from ragfile.records import Chunk, Document
from ragfile.types import Fields, Metadata, Metric, Precision, SomeVectors, StrPath, Table, Vector
from ragfile.write.analysis_record import DEFAULT
from ragfile.write.draft import Draft, Transaction, batches, no_vectors, numbered
from ragfile.write.vector_clusters import recorded


def model_record(embedder: Embedder | None, spec: str | None) -> dict[str, Any] | None:
    """What a file keeps of its model: enough to know another one, and to open the same again."""
    if embedder is None:
        return None
    name = spec and spec.partition("?")[0]
    return {**embedder.model.record(), "spec": name}


def fusion_record(embedder: Embedder | None) -> dict[str, Any]:
    """How two retrievers are put together: the weight of vectors depends on the kind of model."""
    weight = STATIC_WEIGHT if getattr(embedder, "is_static", False) else TRANSFORMER_WEIGHT
    return {"method": "calibrated", "w": weight}


class Writer(Transaction):
    """A file in the making: nothing is visible before it is whole, nothing is left if it fails."""

    def __init__(
        self, path: StrPath, *, dim: int | None = None, metric: Metric = "cosine",
        precision: Precision = 32, embedder: str | Embedder | None = None,
        chunking: Policy | str | Fields | None = None, analysis: Analysis | None = DEFAULT,
        portable: bool = False, spec: str | None = None, created: int | None = None,
        config: Metadata | None = None, embedding_cache: StrPath | bool | None = None,
        parity: int = 0, clusters: bool | int | None = None,
    ) -> None:  # fmt: skip
        """See create()."""
        refuse_remote(path)
        spare_unless_ragfile(path)
        if metric not in METRICS:
            raise ValueError(f"unknown metric {metric!r}: use one of {', '.join(METRICS)}")
        if precision not in (16, 32):
            raise ValueError(f"precision is 16 or 32 bits a component, not {precision}")
        if dim is not None and index(dim) < 1:
            raise ValueError(f"dim is how many numbers a vector has, at least 1, not {dim}")
        spec = embedder if isinstance(embedder, str) else spec
        self.embedder = open_embedder(embedder, cache=embedding_cache)
        self.policy = Policy.of(chunking)
        record = {
            "metric": metric, "precision": precision, "chunking": self.policy.record(),
            "portable": portable, "bm25": analysis is not None,
            "model": model_record(self.embedder, spec), "fusion": fusion_record(self.embedder),
            **Context.for_embedder(self.embedder).record(), **(config or {}),
            **parity_record(parity), **recorded(clusters),
        }  # fmt: skip
        if dim is None and self.embedder is not None:
            dim = self.embedder.model.dims
        self.draft = Draft(
            _core.FileWriter.create(path), record, dim=dim, analysis=analysis, created=created,
            embed=no_vectors if self.embedder is None else self._embed,
        )  # fmt: skip

    def _embed(self, keys: list[Hashable]) -> np.ndarray:
        assert self.embedder is not None
        return self.context.embed(self.embedder, keys)

    def add(
        self,
        chunks: Iterable[Chunk | Fields] | Table,
        vectors: SomeVectors | Iterable[Vector | None] | None = None,
        *,
        order: str | None = None,
    ) -> None:
        """Chunk objects, or mappings with their fields, of any documents.

        Each has a vector, given here or made by the embedder, or none has; None among the vectors stands
        for a chunk without one. Chunks, and vectors beside them, can come from generators, of which some
        thousand are held at a time, and from tables (data frames, Arrow, DuckDB). order names a field of
        metadata that gets each chunk's number in order of arrival.
        """
        batched = batches(chunks, vectors)
        if order is not None:
            batched = numbered(batched, order, len(self))
        for batch, given in batched:
            self.draft.add_chunks(batch, given)

    def add_documents(
        self, documents: Iterable[Document | Fields], vectors: SomeVectors | None = None
    ) -> None:  # fmt: skip
        """Document objects, or mappings with their fields, cut into chunks by the file's policy."""
        for document in map(Document.of, documents):
            self.draft.add_document(document, split(document, self.policy), vectors)

    def add_document(
        self, document: Document | Fields, chunks: Sequence[Chunk], vectors: SomeVectors | None = None,
        *, has_text: bool = True,
    ) -> None:  # fmt: skip
        """A document with chunks that were cut elsewhere: those with a start are spans of its text.

        has_text=False says that its text is not known, rather than empty.
        """
        self.draft.add_document(Document.of(document), chunks, vectors, has_text)

    def close(self) -> None:
        """Writes the file and makes it durable under its name; does nothing after discard."""
        if self.draft.is_over:
            return
        try:
            self.draft.write()
            self.draft.commit()
        finally:
            self.discard()


def check_layout(layout: str | None) -> None:
    """Refuses a name that is none."""
    if layout not in (None, "default", "web"):
        raise ValueError(f"unknown layout {layout!r}: use default or web")


def layout_record(layout: str | None) -> dict[str, str]:
    """What a file records of its layout."""
    return {"layout": layout} if layout == "web" else {}


def parity_record(parity: int) -> dict[str, int]:
    """What a file records of its parity, in per cent; 0 is none."""
    if not 0 <= index(parity) <= 100:
        raise ValueError(f"parity is 1 to 100 per cent, or 0 for none, not {parity}")
    return {"parity": index(parity)} if parity else {}


def create(
    path: StrPath, *, dim: int | None = None, metric: Metric = "cosine", precision: Precision = 32,
    embedder: str | Embedder | None = None, chunking: Policy | str | Fields | None = None,
    analysis: Analysis | None = DEFAULT, portable: bool = False, spec: str | None = None,
    created: int | None = None, config: Metadata | None = None,
    embedding_cache: StrPath | bool | None = None, parity: int = 0, clusters: bool | int | None = None,
) -> Writer:  # fmt: skip
    """Starts a new file; it appears under its name when the `with` block ends without an error.

    Chunks come with vectors of your own (`dim` is their length if there are none to see it by), or
    `embedder` makes them, with a cache if there is one. spec is the name to record for an embedder
    that is an object, config what else the file is to record. analysis=None leaves out BM25;
    created is a time in ns since 1970. parity is how many per cent of extra blocks the file holds,
    with which ragfile.repair() brings damaged ones back. clusters is how many clusters a search
    with effort= chooses among, True for a number that suits the rows, False (as without it) for none.

        with ragfile.create("kb.ragfile", dim=2) as writer:
            writer.add([{"doc_id": "a", "chunk_index": 0, "content": "Pods live long."}], [[0.6, 0.8]])
    """
    return Writer(
        path, dim=dim, metric=metric, precision=precision, embedder=embedder, chunking=chunking,
        analysis=analysis, portable=portable, spec=spec, created=created, config=config,
        embedding_cache=embedding_cache, parity=parity, clusters=clusters,
    )  # fmt: skip
