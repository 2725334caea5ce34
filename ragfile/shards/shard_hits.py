"""Hits of a dataset that were read by its shards, and placeholders for rows of a shard that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ragfile.file.row_segment import copied
from ragfile.file.stored_rows import Standing
from ragfile.records import Hit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragfile.records import Hits
    from ragfile.search.question import Notes
    from ragfile.search.retriever_fusion import Ranked
    from ragfile.types import Float32s, Metadata

    Placeholder: TypeAlias = tuple[bytes, int] | Standing | Float32s | Metadata | str | list[object]


def read(ranked: Ranked, found: list[Hits], known: Mapping[int, Hit]) -> None:
    """Replace unread hits by those that the shards read; drop rows that no shard read."""
    for rows, hits in zip(ranked.rows.tolist(), found, strict=True):
        scored = zip(rows, list(hits), strict=False)
        hits[:] = [_made_hit(known[row], hit) for row, hit in scored if row in known]


def note_failed(hits: Hits, notes: Notes, shards: int) -> None:
    """Record the shards that failed in an answer."""
    hits.missing_shards = tuple(notes.failed[n] for n in sorted(notes.failed))
    lost = f"{len(hits.missing_shards)} of {shards} shards did not answer"
    hits.degraded = f"{hits.degraded}; {lost}" if hits.degraded else lost


def missing(what: str, row: int, dim: int) -> Placeholder:
    """Return a placeholder for a row of a shard that failed; its key sorts after all others."""
    key = b"\xff", row
    placeholders: dict[str, Placeholder] = {
        "keys": key, "standings": Standing(key, row, row), "vectors": np.zeros(dim, np.float32),
        "metadata": {}, "contents": "", "passages": "", "ids": "", "links": [],
    }  # fmt: skip
    return placeholders[what]


def _made_hit(read: Hit, hit: Hit) -> Hit:
    """Return a separate hit for each answer that has the passage."""
    metadata: dict[str, Any] = copied(read.metadata)
    made = Hit(
        read.id, read.doc_id, read.chunk_index, read.text, hit.score, hit.score_type, hit.scores,
        read.tags, metadata, read.source, read.start, read.end,
    )  # fmt: skip
    reader, row, _ = hit.found_in
    made.found_in = reader, row, ()  # its vector and neighbours are read on use
    return made
