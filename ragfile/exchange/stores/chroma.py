"""A local Chroma collection, with texts as documents and their origins as metadata."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING, Any

import chromadb
import numpy as np

from ragfile.exchange import foreign_tables
from ragfile.exchange.rows import Passage, gathered, passages
from ragfile.exchange.stores import tables
from ragfile.ground.json_values import is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from typing import Protocol

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

    class CollectionSettings(Protocol):
        """The part of a collection's settings that this module reads."""

        @property
        def metadata(self) -> Mapping[str, Any] | None: ...


BATCH = 1000
WHOLE, BODY = "ragfile", "ragfile_document"  # the keys of the parts that restore a file
ID, TEXT, VECTOR = "chroma:id", "chroma:document", "chroma:embedding"
SPACES = {"ip": "ip", "l2": "l2"}


def write(collection: Collection, path: StrPath, *, name: str = "ragfile") -> None:
    """Create a Chroma collection of the passages."""
    space = SPACES.get(collection.index.metric, "ip")
    whole = {WHOLE: tables.whole_note(collection)}
    with _client(path) as client:
        target = client.create_collection(
            name,
            metadata={"hnsw:space": space, "model_name": collection.model_name or "", **whole},
        )
        rows, bodies = list(passages(collection)), tables.first_rows(collection)
        for at in range(0, len(rows), BATCH):
            batch = rows[at : at + BATCH]
            target.add(
                ids=[f"{p.row:012d}" for p in batch],
                embeddings=collection.index.vectors[at : at + BATCH],
                documents=[p.text for p in batch],
                metadatas=[{**_plain(p.metadata), **_place(p), **_body(p, bodies)} for p in batch],
            )


def _body(passage: Passage, bodies: Mapping[int, str]) -> dict[str, str]:
    return {BODY: bodies[passage.row]} if passage.row in bodies else {}


def read(path: StrPath, *, name: str | None = None) -> Collection:
    """Read a Chroma collection, by default the only one, also beside a client that is open.

    A collection that was written here and did not change since is restored.
    """
    with _client(path) as client:
        names = [each.name for each in client.list_collections()]
        source = client.get_collection(
            foreign_tables.the_one(names, name, str(path), "collections")
        )
        got = source.get(include=["embeddings", "documents", "metadatas"])
        properties: JsonObject = source.metadata or {}
        configured = _space(source)
    order = np.argsort(got["ids"], kind="stable")
    vectors = np.asarray(got["embeddings"], np.float32)[order]
    metadata = [dict(got["metadatas"][n] or {}) for n in order]
    bodies = [body for held in metadata if (body := held.pop(BODY, None)) is not None]
    texts = zip(order, metadata, strict=True)
    if WHOLE in properties:
        found = [_passage(got["ids"][n], got["documents"][n], dict(held)) for n, held in texts]
        made = tables.put_together(properties[WHOLE], bodies, found, vectors)
        if made is not None:
            return made
        return gathered(found, vectors, model_name=properties.get("model_name") or None)
    columns = _columns(
        [got["ids"][n] for n in order], [got["documents"][n] for n in order], metadata
    )
    return foreign_tables.collection_of(
        {**columns, VECTOR: list(vectors)}, f"{path}", {"vector": VECTOR, "text": TEXT, "id": ID},
        model_name=properties.get("model_name") or None, metric="l2" if configured == "l2" else "ip",
        is_cosine=configured == "cosine",
    )  # fmt: skip


def _columns(
    ids: list[str], texts: list[str | None], metadata: list[JsonObject]
) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {ID: ids, TEXT: texts}
    for name in dict.fromkeys(name for held in metadata for name in held):
        found[name] = [held.get(name) for held in metadata]
    return found


def _space(source: CollectionSettings) -> str:
    """Return the distance of a collection: in its configuration, or its metadata before that existed."""
    configuration: object = getattr(source, "configuration", None)
    hnsw: JsonObject = (configuration.get("hnsw") if is_object(configuration) else None) or {}
    named = (source.metadata or {}).get("hnsw:space")
    return str(named or hnsw.get("space") or "l2")


@contextlib.contextmanager
def _client(path: StrPath) -> Generator[Client]:
    """Open a client, with the settings of the client that the program has open for this folder, if any."""
    client = _of_any_settings(str(path))
    try:
        yield client
    finally:
        getattr(client, "close", lambda: None)()


def _of_any_settings(path: str) -> Client:
    for telemetry, reset in itertools.product((False, True), (False, True)):
        settings = chromadb.config.Settings(anonymized_telemetry=telemetry, allow_reset=reset)
        with contextlib.suppress(ValueError):
            client: Client = chromadb.PersistentClient(path, settings=settings)
            return client
    raise ValueError(f"{path} is open in this process with settings of its own: close that client")


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
