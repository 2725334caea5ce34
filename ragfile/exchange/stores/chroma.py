"""A local Chroma collection, with texts as documents and their origins as metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chromadb
import numpy as np

from ragfile.exchange.rows import Passage, gathered, passages

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from ragfile.exchange.collection import Collection, JsonObject
    from ragfile.types import StrPath

    class Client(Protocol):
        """A client of Chroma, whose own types refuse the plain lists that it accepts."""

        @property
        def create_collection(self) -> Callable[..., Any]: ...
        @property
        def get_collection(self) -> Callable[..., Any]: ...
        @property
        def list_collections(self) -> Callable[..., Any]: ...


BATCH = 1000
SPACES = {"ip": "ip", "l2": "l2"}


def write(collection: Collection, path: StrPath, *, name: str = "ragfile") -> None:
    """Create a Chroma collection of the passages."""
    space = SPACES.get(collection.index.metric, "ip")
    target = _client(path).create_collection(
        name, metadata={"hnsw:space": space, "model_name": collection.model_name or ""}
    )
    rows = list(passages(collection))
    for at in range(0, len(rows), BATCH):
        batch = rows[at : at + BATCH]
        target.add(
            ids=[f"{p.row:012d}" for p in batch],
            embeddings=collection.index.vectors[at : at + BATCH],
            documents=[p.text for p in batch],
            metadatas=[{**_plain(p.metadata), **_place(p)} for p in batch],
        )


def read(path: StrPath, *, name: str | None = None) -> Collection:
    """Read a Chroma collection, by default the first."""
    client = _client(path)
    name = name or client.list_collections()[0].name
    source = client.get_collection(name)
    got = source.get(include=["embeddings", "documents", "metadatas"])
    order = np.argsort(got["ids"], kind="stable")
    found = [
        _passage(got["ids"][n], got["documents"][n], dict(got["metadatas"][n] or {})) for n in order
    ]
    properties = source.metadata or {}
    vectors = np.asarray(got["embeddings"], np.float32)[order]
    metric = "l2" if properties.get("hnsw:space", "l2") == "l2" else "ip"
    return gathered(found, vectors, model_name=properties.get("model_name") or None, metric=metric)


def _client(path: StrPath) -> Client:
    settings = chromadb.config.Settings(anonymized_telemetry=False)
    return chromadb.PersistentClient(str(path), settings=settings)


def _place(passage: Passage) -> dict[str, str]:
    return {
        "document_id": passage.document_id,
        "chunk_key": passage.chunk_key,
        "source": passage.source,
        "title": passage.title,
    }


def _plain(metadata: JsonObject) -> JsonObject:
    return {
        key: value for key, value in metadata.items() if isinstance(value, (str, int, float, bool))
    }


def _passage(name: str, text: str | None, metadata: JsonObject) -> Passage:
    taken = {
        key: str(metadata.pop(key, "") or "")
        for key in ("document_id", "chunk_key", "source", "title")
    }
    document, key = taken["document_id"] or name, taken["chunk_key"] or "text"
    return Passage(
        document, key, text or "", source=taken["source"], title=taken["title"], metadata=metadata
    )
