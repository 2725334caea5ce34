"""What a dataset is asked, what a shard is asked of it, and what a shard says: records that any process can be sent.

A question of a search becomes a few such asks, one after the other: rows by words, their vectors' scores, near rows, their
words' scores, passages. Rows of an ask are rows of the dataset, those of a task and a leg are rows of the shard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ragfile._core import Queries
    from ragfile.ingest.analysis import Statistics
    from ragfile.search.query_syntax import Sign


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which rows may be found: a filter on metadata or ids, or rows of the dataset, ascending; of these those that have the
    tags and that signs of the question leave, without the one row that the question is about."""

    where: Any = None
    tags_any: Any = ()
    tags_all: Any = ()
    rows: np.ndarray | None = None
    without: int | None = None
    signs: tuple[Sign, ...] = ()

    @property
    def is_all(self) -> bool:
        """Whether no row is left out."""
        has_filter = self.where is not None or self.rows is not None or self.without is not None
        return not (has_filter or self.tags_any or self.tags_all or self.signs)


EVERYTHING = Chosen()


class Match(NamedTuple):
    """The k best rows by words for each of the queries."""

    queries: Queries
    stats: Statistics
    k: int
    chosen: Chosen
    threads: int | None = None
    k1: float | None = None
    b: float | None = None


class Nearest(NamedTuple):
    """The k best rows for each vector; `min_score` is a score for each that rows must reach, `effort` the share
    of a shard's rows that is looked at. Below 1, an answer tells its recall as a third array."""

    vectors: Any
    k: int
    chosen: Chosen
    threads: int | None = None
    min_score: Any = None
    effort: float = 1.0


class Score(NamedTuple):
    """The exact scores of rows[i] for question i: by words if there are queries, else by vectors."""

    rows: list[np.ndarray]
    queries: Queries | None = None
    stats: Statistics | None = None
    vectors: Any = None
    k1: float | None = None
    b: float | None = None


class Pass(NamedTuple):
    """Which rows may be found."""

    chosen: Chosen


class Lengths(NamedTuple):
    """For each field of BM25 with lists of its own the summed length of all rows in it."""


class Counted(NamedTuple):
    """In how many rows each term of the queries occurs, by the weights of fields that the queries bring."""

    queries: Queries


class RowRead(NamedTuple):
    """What stands at some rows; `what` is one of the words of StoredRows.looked_at."""

    what: str
    rows: np.ndarray


class Task(NamedTuple):
    """What one shard is asked, and by what it is known to be the one of the manifest."""

    shard: int
    url: str
    cache: str | None
    identity: str
    rows: int
    ask: Any
    content: str = ""  # the digest of what somebody who is trusted signed
    window: int = (
        0  # bytes at the shard's end that the first request for it brings; 0 where it is at hand
    )


class ShardLeg(NamedTuple):
    """What a shard says: the value, and the keys of the filter that none of its rows has."""

    shard: int
    value: Any
    unknown: list[str]


class ShardFailure(NamedTuple):
    """Why a shard says nothing."""

    shard: int
    reason: str
    error: Exception
