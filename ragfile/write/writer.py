"""Create a file: stage additions, sort them, and write them as the first commit."""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable, Iterable, Sequence
from operator import index
from typing import Any

import numpy as np

from ragfile import _core
from ragfile.embedding.embedded_text import Context
from ragfile.embedding.protocol import (
    DEFAULT_MODEL,
    Embedder,
    StaticEmbedder,
    open_embedder,
    with_vector_options,
)
from ragfile.file.config import (
    EVIDENCE,
    FOREIGN,
    KNOWN,
    LINKED,
    METRICS,
    NAMED,
    STATIC_WEIGHT,
    TRANSFORMER_WEIGHT,
)
from ragfile.ground.atomic_replace import spare_unless_ragfile
from ragfile.ground.call_site import stack_level
from ragfile.ground.encryption_keys import KeyChoice, new_keys
from ragfile.ground.urls import local_file
from ragfile.ingest.analysis import Analysis
from ragfile.ingest.chunker import Policy, split
from ragfile.records import Chunk, Document
from ragfile.types import Fields, Metadata, Metric, Precision, SomeVectors, StrPath, Table, Vector
from ragfile.write.analysis_record import PAGES
from ragfile.write.draft import Draft, Transaction, batches, no_vectors, numbered
from ragfile.write.old_generations import NEWEST, checked_keep
from ragfile.write.tables import has_columns_of_a_file, is_table, model_of, streamed
from ragfile.write.vector_clusters import recorded


def model_record(embedder: Embedder | None, spec: str | None) -> dict[str, Any] | None:
    """Return the model entry of a file: enough to recognize the model and to open it again."""
    if embedder is None:
        return None
    name = spec and spec.partition("?")[0]
    if name and os.path.exists(name.partition(":")[2]):
        name = embedder.model.name  # a path of this machine means nothing on another
    return {**embedder.model.record(), "spec": name and with_vector_options(name, spec or "")}


def fusion_record(embedder: Embedder | None) -> dict[str, Any]:
    """Return the default fusion, which weights vectors by the kind of model, and counts evidence
    and names."""
    weight = STATIC_WEIGHT if getattr(embedder, "is_static", False) else TRANSFORMER_WEIGHT
    known: dict[str, float] = {}
    if isinstance(embedder, StaticEmbedder):
        known = {"known": KNOWN}
        if embedder.path == DEFAULT_MODEL:  # which is English
            known["foreign"] = FOREIGN
    names = {"named": NAMED, "linked": LINKED}
    return {"method": "calibrated", "w": weight, "evidence": EVIDENCE, **names, **known}


class Writer(Transaction):
    """A new file, as `create()` returns it.

    The file appears under its name when it is complete. A failure leaves nothing behind. Use it in a
    `with` block, which closes it, or discards it after an exception.
    """

    def __init__(
        self, path: StrPath, *, dim: int | None = None, metric: Metric = "cosine",
        precision: Precision = 32, embedder: str | Embedder | None = None,
        chunking: Policy | str | Fields | None = None, analysis: Analysis | None = PAGES,
        portable: bool = False, spec: str | None = None, created: int | None = None,
        config: Metadata | None = None, embedding_cache: StrPath | bool | None = None,
        parity: int = 0, clusters: bool | int | None = None, keep: int | str | None = None,
        key: KeyChoice = None,
    ) -> None:  # fmt: skip
        """Start a new file; `create()` describes the options."""
        path = local_file(path)
        refuse_plain_cache(key, embedding_cache)
        spare_unless_ragfile(path, key not in (None, False))
        if metric not in METRICS:
            raise ValueError(f"unknown metric {metric!r}: use one of {', '.join(METRICS)}")
        if precision not in (16, 32):
            raise ValueError(f"precision is 16 or 32 bits a component, not {precision}")
        if dim is not None and index(dim) < 1:
            raise ValueError(f"dim is how many numbers a vector has, at least 1, not {dim}")
        spec = embedder if isinstance(embedder, str) else spec
        self.embedder = open_embedder(
            embedder, cache=embedding_cache if key in (None, False) else False
        )
        self.policy = Policy.of(chunking)
        record = {
            "metric": metric, "precision": precision, "chunking": self.policy.record(),
            "portable": portable, "bm25": analysis is not None,
            "model": model_record(self.embedder, spec), "fusion": fusion_record(self.embedder),
            **Context.for_embedder(self.embedder).record(), **(config or {}),
            **parity_record(parity), **recorded(clusters), **keep_record(keep),
        }  # fmt: skip
        if dim is None and self.embedder is not None:
            dim = self.embedder.model.dims
        self.draft = Draft(
            _core.FileWriter.create(path, new_keys(key)), record, dim=dim, analysis=analysis, created=created,
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
        """Add chunks of any documents.

        Each chunk has a vector, given here or made by the embedder, or none of the chunks has one; None
        in `vectors` marks a chunk without a vector.

        Args:
            chunks: `Chunk` objects, mappings with their fields, or a table (data frame, Arrow, DuckDB).
                A generator is read about a thousand chunks at a time.
            vectors: One vector a chunk. A table has its own in the column `embedding`.
            order: A metadata field that receives each chunk's number in order of arrival.

        Raises:
            ModelError: Some chunks have vectors and others neither a vector nor None.
            ValueError: A chunk or a vector is malformed.
        """
        if is_table(chunks):
            table = streamed(chunks)
            self._take_model(model_of(chunks, table), table)
            chunks = table
        batched = batches(chunks, vectors)
        if order is not None:
            batched = numbered(batched, order, len(self))
        for batch, given in batched:
            self.draft.add_chunks(batch, given)

    def _take_model(self, noted: Metadata | None, table: Table) -> None:
        """Record the model that a table notes, unless the file has one or chunks."""
        if self.embedder is not None or self.draft.record["model"] or len(self):
            return
        if noted is None and has_columns_of_a_file(table):
            warnings.warn(
                "the table has vectors of a RAGFile without the name of their model: pass embedder= to create()",
                UserWarning, stacklevel=stack_level(),
            )  # fmt: skip
        self.draft.record |= noted or {}

    def add_documents(
        self, documents: Iterable[Document | Fields], vectors: SomeVectors | None = None
    ) -> None:  # fmt: skip
        """Split documents into chunks by the file's policy, and add them.

        Args:
            documents: `Document` objects, or mappings with their fields.
            vectors: One vector for each chunk of each document. Made by the embedder if omitted.
        """
        for document in map(Document.of, documents):
            self.draft.add_document(document, split(document, self.policy), vectors)

    def add_document(
        self, document: Document | Fields, chunks: Sequence[Chunk], vectors: SomeVectors | None = None,
        *, has_text: bool = True,
    ) -> None:  # fmt: skip
        """Add a document that is already split into chunks.

        Args:
            document: A `Document`, or a mapping with its fields.
            chunks: Its chunks. Those with a start are spans of the document's text.
            vectors: One vector a chunk. Made by the embedder if omitted.
            has_text: False records the text as unknown rather than empty.

        Raises:
            ValueError: A chunk is of another document, or is not the span that it names.
        """
        self.draft.add_document(Document.of(document), chunks, vectors, has_text)

    def close(self) -> None:
        """Write the file and make it durable under its name. Does nothing after `discard()`."""
        if self.draft.is_over:
            return
        try:
            self.draft.write()
            self.draft.commit()
        finally:
            self.discard()


def refuse_plain_cache(key: KeyChoice, embedding_cache: StrPath | bool | None) -> None:
    """Raise ValueError for a cache of vectors beside an encrypted file."""
    if key not in (None, False) and embedding_cache:
        raise ValueError("an embedding cache is not encrypted: leave out embedding_cache=")


def check_layout(layout: str | None) -> None:
    """Raise ValueError for an unknown layout."""
    if layout not in (None, "default", "web"):
        raise ValueError(f"unknown layout {layout!r}: use default or web")


def layout_record(layout: str | None) -> dict[str, str]:
    """Return the configuration entry of a layout."""
    return {"layout": layout} if layout == "web" else {}


def parity_record(parity: int) -> dict[str, int]:
    """Return the configuration entry of a parity in per cent; 0 has none."""
    if not 0 <= index(parity) <= 100:
        raise ValueError(f"parity is 1 to 100 per cent, or 0 for none, not {parity}")
    return {"parity": index(parity)} if parity else {}


def keep_record(keep: int | str | None) -> dict[str, int | str]:
    """Return the configuration entry of the generations to keep; none for the default."""
    if keep is None or (chosen := checked_keep(keep)) == NEWEST:
        return {}
    return {"keep": chosen}


def create(
    path: StrPath, *, dim: int | None = None, metric: Metric = "cosine", precision: Precision = 32,
    embedder: str | Embedder | None = None, chunking: Policy | str | Fields | None = None,
    analysis: Analysis | None = PAGES, portable: bool = False, spec: str | None = None,
    created: int | None = None, config: Metadata | None = None,
    embedding_cache: StrPath | bool | None = None, parity: int = 0, clusters: bool | int | None = None,
    keep: int | str | None = None, key: KeyChoice = None,
) -> Writer:  # fmt: skip
    """Start a new file, which appears under its name when the `with` block ends without an error.

        with ragfile.create("kb.ragfile", dim=2) as writer:
            writer.add([{"doc_id": "a", "chunk_index": 0, "content": "Pods live long."}], [[0.6, 0.8]])

    Args:
        path: The file to write. An existing RAGFile is replaced; any other file is left alone.
        dim: Length of the vectors. Defaults to the embedder's, or that of the first vector.
        metric: `"cosine"`, `"ip"` (inner product) or `"l2"` (Euclidean distance).
        precision: Bits of a stored vector component, 16 or 32.
        embedder: A name or an object that embeds chunks added without vectors; see `build()`.
        chunking: The chunk policy for documents; see `build()`.
        analysis: The fields and word rules of BM25; None builds no BM25 index. Defaults to the text
            and the metadata field `headers`, as in `build()`.
        portable: Also store each passage under a keyword, for readers of format 0.1.0.
        spec: The embedder name to record when `embedder` is an object.
        created: Creation time in ns since 1970. Defaults to `SOURCE_DATE_EPOCH`, else 0.
        config: Further entries for the file's configuration.
        embedding_cache: A folder that keeps vectors between runs; True chooses the default folder.
        parity: Size of the recovery data that `repair()` uses, 0 to 100 per cent of the file.
        clusters: Number of vector clusters for searches with `effort=`; True derives it from the
            number of rows. Defaults to none.
        keep: The generations that edits keep: a number of the newest, a date, or `"all"`; see
            `edit()`. Defaults to the newest alone.
        key: Encrypts the file: 32 bytes, the path of a key file, or a function that returns one of
            them; True takes the key of the environment. Defaults to a plain file.

    Returns:
        A writer, to be used in a `with` block.

    Raises:
        ValueError: An option is out of range, or `path` is a URL.
        FileExistsError: `path` exists and is not a RAGFile.
    """
    return Writer(
        path, dim=dim, metric=metric, precision=precision, embedder=embedder, chunking=chunking,
        analysis=analysis, portable=portable, spec=spec, created=created, config=config,
        embedding_cache=embedding_cache, parity=parity, clusters=clusters, keep=keep, key=key,
    )  # fmt: skip
