"""A folder of LanceDB, or one of its tables: read, with columns found by name and type."""

from __future__ import annotations

# Where the package is missing, pyright takes this very module for it.
# pyright: reportAttributeAccessIssue=false
import json
import os
from typing import TYPE_CHECKING, Any

import lancedb

from ragfile.exchange import foreign_tables
from ragfile.ingest.column_roles import columns_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragfile.exchange.collection import Collection
    from ragfile.types import StrPath

SUFFIX = ".lance"
SCHEMES = {"sentence-transformers": "st", "ollama": "ollama", "openai": "openai"}


def read(
    path: StrPath, *, name: str | None = None, columns: Mapping[str, str] | None = None
) -> Collection:
    """Read a table, by default the only one.

    Args:
        path: The folder of the database, or of a table in it.
        name: The table.
        columns: The columns of roles; see column_roles.py.
    """
    folder = os.path.abspath(path)
    if folder.endswith(SUFFIX):
        folder, name = os.path.dirname(folder), os.path.basename(folder).removesuffix(SUFFIX)
    names = sorted(
        each.removesuffix(SUFFIX) for each in os.listdir(folder) if each.endswith(SUFFIX)
    )
    chosen = foreign_tables.the_one(names, name, str(path), "tables")
    table = lancedb.connect(folder).open_table(chosen).to_arrow()
    model = _model_of(table.schema.metadata or {})
    return foreign_tables.collection_of(columns_of(table), f"{path}", columns, model_name=model)


def _model_of(metadata: Mapping[bytes, bytes]) -> str | None:
    """Return the model of the embedding function that a table records."""
    recorded: list[dict[str, Any]] = json.loads(metadata.get(b"embedding_functions", b"[]"))
    for one in recorded:
        built: dict[str, object] = one.get("model") or {}
        model, scheme = built.get("name"), SCHEMES.get(str(one.get("name")))
        if isinstance(model, str):
            return f"{scheme}:{model}" if scheme else model
    return None
