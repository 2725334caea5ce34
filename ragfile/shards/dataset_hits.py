"""Hits of a dataset that were read where their shards are, and what stands in for rows of a shard that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ragfile.file.row_segment import copied
from ragfile.file.stored_rows import Standing
from ragfile.records import Hit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragfile.records import Hits
    from ragfile.search.question import Notes
    from ragfile.search.retriever_fusion import Ranked


def read(ranked: Ranked, found: list[Hits], known: Mapping[int, Hit]) -> None:
    """Fill hits that are not read yet with those that were read by row; rows that were not are left out."""
    for rows, hits in zip(ranked.rows.tolist(), found, strict=True):
        scored = zip(rows, list(hits), strict=False)
        hits[:] = [_made_hit(known[row], hit) for row, hit in scored if row in known]


def note_failed(hits: Hits, notes: Notes, shards: int) -> None:
    """Record in an answer which of the shards could not be asked."""
    hits.missing_shards = tuple(notes.failed[n] for n in sorted(notes.failed))
    lost = f"{len(hits.missing_shards)} of {shards} shards could not be asked"
    hits.degraded = f"{hits.degraded}; {lost}" if hits.degraded else lost


def missing(what: str, row: int, dim: int) -> Any:
    """Return what takes the place of a row whose shard failed meanwhile: its key comes after all others."""
    key = b"\xff", row
    return {
        "keys": key, "standings": Standing(key, row, row), "vectors": np.zeros(dim, np.float32),
        "metadata": {}, "contents": "", "ids": "",
    }[what]  # fmt: skip


def _made_hit(read: Hit, hit: Hit) -> Hit:
    """Return a hit of its own for each answer that a passage is in."""
    metadata: Any = copied(read.metadata)
    made = Hit(
        read.id, read.doc_id, read.chunk_index, read.text, hit.score, hit.score_type, hit.scores,
        read.tags, metadata, read.source, read.start, read.end,
    )  # fmt: skip
    reader, row, _ = hit.found_in
    made.found_in = reader, row, ()  # its vector and what is around it are read when asked for
    return made
