"""A local Qdrant collection (a folder), with texts and their origins as payload."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np
from qdrant_client import QdrantClient, models

from ragfile.exchange.rows import Passage, gathered, passages

if TYPE_CHECKING:
    from ragfile.exchange.collection import Collection
    from ragfile.types import Float32s, StrPath

BATCH = 1000
DISTANCES = {"ip": models.Distance.DOT, "l2": models.Distance.EUCLID}


def write(collection: Collection, path: StrPath, *, name: str = "ragfile") -> None:
    """Create a Qdrant collection of the passages."""
    distance = DISTANCES.get(collection.index.metric, models.Distance.DOT)
    with contextlib.closing(QdrantClient(path=str(path))) as client:
        client.create_collection(name, models.VectorParams(size=collection.dim, distance=distance))
        points = [
            _point(p, vector, collection.model_name)
            for p, vector in zip(passages(collection), collection.index.vectors, strict=True)
        ]
        for at in range(0, len(points), BATCH):
            client.upsert(name, points[at : at + BATCH])


def read(path: StrPath, *, name: str | None = None) -> Collection:
    """Read a Qdrant collection, by default the first."""
    with contextlib.closing(QdrantClient(path=str(path))) as client:
        name = name or client.get_collections().collections[0].name
        distance = client.get_collection(name).config.params.vectors.distance
        points, after = [], None
        while True:
            batch, after = client.scroll(
                name, limit=BATCH, offset=after, with_payload=True, with_vectors=True
            )
            points += batch
            if after is None:
                break
    points.sort(key=lambda point: (isinstance(point.id, str), point.id))
    found = [_passage(point) for point in points]
    vectors = np.array([point.vector for point in points], np.float32)
    model = next((name for point in points if (name := (point.payload or {}).get("model"))), None)
    metric = "l2" if distance == models.Distance.EUCLID else "ip"
    return gathered(found, vectors, model_name=str(model) if model else None, metric=metric)


def _point(p: Passage, vector: Float32s, model: str | None) -> models.PointStruct:
    payload = {
        "text": p.text,
        "document_id": p.document_id,
        "chunk_key": p.chunk_key,
        "source": p.source,
    }
    return models.PointStruct(
        id=p.row,
        vector=vector.tolist(),
        payload={**payload, "title": p.title, "model": model, "metadata": p.metadata},
    )


def _passage(point: models.Record) -> Passage:
    held = dict(point.payload or {})
    metadata = held.get("metadata")
    return Passage(
        str(held.get("document_id") or point.id),
        str(held.get("chunk_key") or "text"),
        str(held.get("text") or held.get("page_content") or held.get("document") or ""),
        source=str(held.get("source") or ""),
        title=str(held.get("title") or ""),
        metadata=metadata if isinstance(metadata, dict) else {},
    )
