"""A local Qdrant collection (a folder), with texts and their origins as payload."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import sqlite3
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import numpy as np
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, PointStruct, Record, VectorParams

from ragfile.errors import FormatError
from ragfile.exchange import foreign_tables
from ragfile.exchange.rows import Passage, gathered, passages
from ragfile.exchange.stores import tables
from ragfile.ground import system
from ragfile.ground.json_values import is_object

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from ragfile.exchange.collection import Collection, JsonObject
    from ragfile.types import Float32s, StrPath

BATCH = 1000
META, COLLECTIONS, STORAGE = "meta.json", "collection", "storage.sqlite"  # names in a folder
WHOLE, BODY = "ragfile", "ragfile_document"  # the keys of the parts that restore a file
MODELS = {"qdrant_client.http.models.models", "qdrant_client.models"}  # the modules of points
PLAIN = {("builtins", "set"), ("datetime", "datetime"), ("datetime", "date"), ("uuid", "UUID")}
DAMAGED = (pickle.UnpicklingError, ArithmeticError, AttributeError, EOFError, ImportError, LookupError,
           MemoryError, RecursionError, TypeError, ValueError)  # fmt: skip
ID, VECTOR = "qdrant:id", "qdrant:vector"
DISTANCES = {"ip": Distance.DOT, "l2": Distance.EUCLID}


def write(collection: Collection, path: StrPath, *, name: str = "ragfile") -> None:
    """Create a Qdrant collection of the passages."""
    distance = DISTANCES.get(collection.index.metric, Distance.DOT)
    with contextlib.closing(QdrantClient(path=str(path))) as client:
        client.create_collection(name, VectorParams(size=collection.dim, distance=distance))
        bodies, whole = tables.first_rows(collection), tables.whole_note(collection)
        points = [
            _point(p, vector, collection.model_name)
            for p, vector in zip(passages(collection), collection.index.vectors, strict=True)
        ]
        for row, body in bodies.items():
            (points[row].payload or {})[BODY] = body
        if points:
            (points[0].payload or {})[WHOLE] = whole
        for at in range(0, len(points), BATCH):
            client.upsert(name, points[at : at + BATCH])


def read(
    path: StrPath, *, name: str | None = None, columns: Mapping[str, str] | None = None
) -> Collection:
    """Read a Qdrant collection, by default the only one, also beside a client that is open.

    Of several named vectors, `columns` names the one to read as "vector".
    """
    with _copied(path) as folder, contextlib.closing(QdrantClient(path=folder)) as client:
        names = sorted(each.name for each in client.get_collections().collections)
        name = foreign_tables.the_one(names, name, str(path), "collections")
        settings = client.get_collection(name).config.params.vectors
        chosen = dict(columns or {})
        named = _named(settings, chosen.pop("vector", None), str(path))
        distance = cast(
            "VectorParams", settings[str(named)] if is_object(settings) else settings
        ).distance
        points: list[Record] = []
        after = None
        while True:
            batch, after = client.scroll(
                name, limit=BATCH, offset=after, with_payload=True, with_vectors=True
            )
            points += batch
            if after is None:
                break
    points.sort(key=lambda point: (isinstance(point.id, str), point.id))
    held: list[JsonObject] = [dict(point.payload or {}) for point in points]
    given = [_vector(point, named) for point in points]
    if any(vector is None for vector in given):
        return _foreign(points, held, given, str(path), distance, chosen)
    vectors = np.array(given, np.float32)
    whole = next((payload[WHOLE] for payload in held if WHOLE in payload), None)
    if whole is None and not any("chunk_key" in payload for payload in held):
        return _foreign(points, held, list(vectors), str(path), distance, chosen)
    bodies = [payload.pop(BODY) for payload in held if BODY in payload]
    found = [_passage(point) for point in points]
    made = None if whole is None else tables.put_together(whole, bodies, found, vectors)
    if made is not None:
        return made
    model = next((payload["model"] for payload in held if payload.get("model")), None)
    metric = "l2" if distance == Distance.EUCLID else "ip"
    return gathered(found, vectors, model_name=str(model) if model else None, metric=metric)


@contextlib.contextmanager
def _copied(path: StrPath) -> Generator[str]:
    """Yield a copy of a folder: Qdrant lets a single client open one, and writes to it.

    SQLite copies each database as of one moment.
    """
    with system.temporary_folder() as folder:
        with open(os.path.join(path, META), "rb") as meta, open(f"{folder}/{META}", "wb") as copied:
            copied.write(meta.read())
        collections = os.path.join(path, COLLECTIONS)
        for name in os.listdir(collections):
            copy = os.path.join(folder, COLLECTIONS, name)
            os.makedirs(copy)
            stored = os.path.join(collections, name, STORAGE)
            if os.path.exists(stored):
                _copy_database(stored, os.path.join(copy, STORAGE))
                _refuse_programs(os.path.join(copy, STORAGE), stored)
        yield folder


def _copy_database(path: str, copy: str) -> None:
    place = f"file:{quote(os.path.abspath(path))}?mode=ro"
    with (
        contextlib.closing(sqlite3.connect(place, uri=True)) as source,
        contextlib.closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)


class _PointReader(pickle.Unpickler):
    """Reads a point that Qdrant's client has pickled, and nothing else: other pickles can run programs."""

    def find_class(self, module_name: str, global_name: str, /) -> type:
        if (module_name, global_name) in PLAIN or (
            module_name in MODELS and "." not in global_name
        ):
            found = super().find_class(module_name, global_name)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"it names {module_name}.{global_name}")


def _refuse_programs(database: str, place: str) -> None:
    """Refuse a database with a point that is anything but data. Qdrant's client unpickles all of them.

    Raises:
        FormatError: A point is damaged, or names a class or function that is no part of points.
    """
    with contextlib.closing(sqlite3.connect(database)) as opened:
        try:
            points = opened.execute("SELECT rowid, point FROM points").fetchall()
        except sqlite3.DatabaseError as error:
            raise FormatError(f"{place}: {error}") from None
    for row, point in points:
        try:
            _PointReader(io.BytesIO(point)).load()
        except DAMAGED as error:
            raise FormatError(f"{place}: point {row} is not one of Qdrant: {error}") from None


def _named(settings: object, chosen: str | None, place: str) -> str | None:
    """Return which named vectors to read; None for a collection whose vectors have no name.

    Raises:
        FormatError: There are no dense vectors, several and none is chosen, or no such ones.
    """
    names = list(settings) if is_object(settings) else [] if settings is None else None
    if names is None:
        return None
    if chosen in names:
        return chosen
    if len(names) == 1 and chosen is None:
        return names[0]
    if not names:
        raise FormatError(f"{place}: the collection has no dense vectors")
    wrong = "several vectors" if chosen is None else f"no vectors {chosen!r}"
    raise FormatError(
        f"{place}: a point has {wrong}; choose with --map vector=NAME, one of {', '.join(names)}"
    )


def _vector(point: Record, named: str | None) -> object:
    """Return the vector of a point, None if it has none."""
    found: object = point.vector
    if named is None:
        return found
    return found.get(named) if is_object(found) else None


def _foreign(
    points: list[Record], held: list[dict[str, Any]], vectors: Sequence[object], place: str,
    distance: Distance, chosen: Mapping[str, str],
) -> Collection:  # fmt: skip
    """Return a collection of another program: each field of its payload is a column."""
    names = dict.fromkeys(name for payload in held for name in payload)
    columns: dict[str, list[Any]] = {n: [payload.get(n) for payload in held] for n in names}
    columns |= {ID: [str(point.id) for point in points], VECTOR: list(vectors)}
    metric = "l2" if distance == Distance.EUCLID else "ip"
    model = next((p["model"] for p in held if isinstance(p.get("model"), str)), None)
    return foreign_tables.collection_of(
        columns, place, {"id": ID, **chosen, "vector": VECTOR}, model_name=model, metric=metric,
        is_cosine=distance == Distance.COSINE,
    )  # fmt: skip


def _point(p: Passage, vector: Float32s, model: str | None) -> PointStruct:
    payload = {
        "text": p.text,
        "document_id": p.document_id,
        "chunk_key": p.chunk_key,
        "source": p.source,
    }
    return PointStruct(
        id=p.row,
        vector=vector.tolist(),
        payload={**payload, "title": p.title, "model": model, "metadata": p.metadata},
    )


def _passage(point: Record) -> Passage:
    held: JsonObject = dict(point.payload or {})
    metadata = held.get("metadata")
    return Passage(
        str(held.get("document_id") or point.id),
        str(held.get("chunk_key") or "text"),
        str(held.get("text") or held.get("page_content") or held.get("document") or ""),
        source=str(held.get("source") or ""),
        title=str(held.get("title") or ""),
        metadata=metadata if is_object(metadata) else {},
    )
