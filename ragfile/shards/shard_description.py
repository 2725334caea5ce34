"""Description of a shard for the manifest: sizes, first and last id, and bounds that rule the shard out for questions."""

from __future__ import annotations

import hashlib
import math
import os
from typing import TYPE_CHECKING

import numpy as np

from ragfile.shards import pruned_shards
from ragfile.shards.manifest import SHARDS, ShardRecord, object_name
from ragfile.shards.statistics import sizes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ragfile.search.file_rows import FileRows

FIELDS, TAGS = 64, 64  # most that are listed
TEXT_LIMIT = 64  # characters of a bound


def record_of(archive: FileRows, path: str, added: int) -> ShardRecord:
    """Return the record of an open shard, stored at a path, that a generation added."""
    digest = file_sha256(path)
    info, (rows, length) = archive.file.info, sizes(archive)
    ids = archive.document_ids()
    bounds, knows_all = _bounds(archive)
    centroid, radius = _centroid(archive)
    return ShardRecord(
        object_name(SHARDS, digest, added), os.path.getsize(path), digest, info["identity"],
        info["generation"], len(ids), archive.count, rows, length, min(ids), max(ids),
        footer=list(archive.file.footer), sections=_sections(archive),
        is_ordered=len(archive.segments) == 1, bounds=bounds, knows_all_fields=knows_all,
        tags=_tags(archive), centroid=centroid, radius=radius,
    )  # fmt: skip


def file_sha256(path: str) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sections(archive: FileRows) -> list[list[Any]]:
    """Return [name, segment, offset, bytes with checksums] of each section."""
    return [[e["name"], e["segment"], e["at"], e["extent"]] for e in archive.file.entries]


def _bounds(archive: FileRows) -> tuple[dict[str, Any], bool]:
    """Return the bounds of each metadata field, and whether these are all fields."""
    names = archive.columns.names
    found = {name: _bounds_of(archive.columns.column(name).keys) for name in names[:FIELDS]}
    return found, len(names) <= FIELDS


def _bounds_of(keys: Sequence[tuple[int, Any]]) -> dict[str, Any]:
    numbers = [key[1] for key in keys if key[0] == pruned_shards.NUMBER]
    texts = [key[1] for key in keys if key[0] == pruned_shards.TEXT]
    found: dict[str, Any] = {}
    if numbers:
        found["numbers"] = [min(numbers), max(numbers)]
    if texts:
        found["texts"] = [min(texts)[:TEXT_LIMIT], _above(max(texts))]
    if len(numbers) + len(texts) < len(keys) or not all(map(_is_plain, numbers)):
        found["others"] = True
        found.pop("numbers", None)
    return found


def _is_plain(number: float) -> bool:
    """Return whether every JSON reader reads the same number."""
    return math.isfinite(number) and abs(number) < 1 << 53


def _above(text: str) -> str:
    """Return a text of limited length that sorts no lower."""
    return text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + "\U0010ffff"


def _tags(archive: FileRows) -> list[str] | None:
    tags = sorted({tag[1] for key in archive.columns.tags().keys for tag in key[1]})
    return tags if len(tags) <= TAGS else None


def _centroid(archive: FileRows) -> tuple[list[int] | None, float]:
    """Return the mean direction of the vectors in steps of 1/127, and the radius around it; for cosine only."""
    vectors = archive.vectors()
    is_cosine = archive.config.get("metric", "cosine") == "cosine"
    if vectors is None or not is_cosine:
        return None, 0.0
    vectors = vectors[~np.isnan(vectors[:, 0])]
    if not len(vectors):
        return None, 0.0
    mean = pruned_shards.directions(vectors).mean(axis=0)
    centroid = np.rint(np.clip(mean, -1, 1) * 127).astype(int).tolist()
    return centroid, pruned_shards.radius_of(vectors, centroid)
