"""A database of Milvus Lite: read, with fields found by name and type."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, cast

from pymilvus import MilvusClient, MilvusException

from ragfile.errors import FormatError
from ragfile.exchange import foreign_tables
from ragfile.ingest.column_roles import columns_of_records

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ragfile.exchange.collection import Collection
    from ragfile.types import StrPath

BATCH = 1000
INNER_PRODUCT, EUCLIDEAN = "IP", "L2"


def read(
    path: StrPath, *, name: str | None = None, columns: Mapping[str, str] | None = None
) -> Collection:
    """Read a collection, by default the only one.

    Args:
        path: The database.
        name: The collection.
        columns: The fields of roles; see column_roles.py.
    """
    with contextlib.closing(_client(path)) as client:
        names = sorted(cast("list[str]", client.list_collections()))
        name = foreign_tables.the_one(names, name, str(path), "collections")
        rows = list(_rows(client, name))
        metric = _metric(client, name)
    return foreign_tables.collection_of(
        columns_of_records(rows), f"{path}", columns,
        metric="l2" if metric == EUCLIDEAN else "ip", is_cosine=metric != INNER_PRODUCT,
    )  # fmt: skip


def _client(path: StrPath) -> MilvusClient:
    try:
        return MilvusClient(os.fspath(path))
    except MilvusException as error:
        raise FormatError(
            f"{path}: {error}; if another program has it open, close it there"
        ) from None


def _rows(client: MilvusClient, name: str) -> Iterator[dict[str, Any]]:
    client.load_collection(name)
    found = client.query_iterator(name, batch_size=BATCH, filter="", output_fields=["*"])
    try:
        while batch := found.next():
            yield from ({key: row[key] for key in row if key != "$meta"} for row in batch)
    finally:
        found.close()


def _metric(client: MilvusClient, name: str) -> str:
    """Return the metric of the first index, cosine if there is none."""
    for index in client.list_indexes(name):
        found: dict[str, object] = client.describe_index(name, index) or {}
        if "metric_type" in found:
            return str(found["metric_type"])
    return "COSINE"
