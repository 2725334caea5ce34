"""A local Chroma collection: texts as its documents, where they come from as its metadata."""

from typing import Any

import chromadb
import numpy as np

from ragfile.exchange.rows import Passage, gathered, passages

BATCH = 1000
SPACES = {"ip": "ip", "l2": "l2"}


def write(collection, path, *, name="ragfile"):
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


def read(path, *, name=None):
    client = _client(path)
    name = name or client.list_collections()[0].name
    source = client.get_collection(name)
    got = source.get(include=["embeddings", "documents", "metadatas"])
    order = np.argsort(got["ids"], kind="stable")
    found = [
        _passage(got["ids"][n], got["documents"][n], dict(got["metadatas"][n] or {})) for n in order
    ]
    said = source.metadata or {}
    vectors = np.asarray(got["embeddings"], np.float32)[order]
    metric = "l2" if said.get("hnsw:space", "l2") == "l2" else "ip"
    return gathered(found, vectors, model_name=said.get("model_name") or None, metric=metric)


def _client(path) -> Any:
    settings = chromadb.config.Settings(anonymized_telemetry=False)
    return chromadb.PersistentClient(str(path), settings=settings)


def _place(passage):
    return {
        "document_id": passage.document_id,
        "chunk_key": passage.chunk_key,
        "source": passage.source,
        "title": passage.title,
    }


def _plain(metadata):
    return {
        key: value for key, value in metadata.items() if isinstance(value, (str, int, float, bool))
    }


def _passage(name, text, metadata):
    taken = {
        key: str(metadata.pop(key, "") or "")
        for key in ("document_id", "chunk_key", "source", "title")
    }
    document, key = taken["document_id"] or name, taken["chunk_key"] or "text"
    return Passage(
        document, key, text or "", source=taken["source"], title=taken["title"], metadata=metadata
    )
