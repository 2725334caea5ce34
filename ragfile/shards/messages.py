"""Messages between a dataset and its shards, as records that any process can be sent.

A search becomes a few asks, one after the other: rows by words, the vector scores of those rows, near rows, the word
scores of those, passages. Rows in an ask are numbered in the dataset; rows in a task and its result, in the shard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from ragfile._core import Queries, SparseQuestion
    from ragfile.ingest.analysis import Statistics
    from ragfile.search.query_syntax import Sign
    from ragfile.types import Float32s, Int64s, Where


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rows that may be found: those that pass a filter, or the listed rows of the dataset, ascending. Tags, signs of the
    query syntax and `without`, the row that a question is about, narrow them further."""

    where: Where | Collection[str] | None = None
    tags_any: tuple[str, ...] = ()
    tags_all: tuple[str, ...] = ()
    rows: Int64s | None = None
    without: int | None = None
    signs: tuple[Sign, ...] = ()

    @property
    def is_all(self) -> bool:
        """Whether every row may be found."""
        has_filter = self.where is not None or self.rows is not None or self.without is not None
        return not (has_filter or self.tags_any or self.tags_all or self.signs)


EVERYTHING = Chosen()


class Match(NamedTuple):
    """Find the k best rows by words for each of the queries."""

    queries: Queries
    stats: Statistics
    k: int
    chosen: Chosen
    threads: int | None = None
    k1: float | None = None
    b: float | None = None


class Nearest(NamedTuple):
    """Find the k best rows for each vector. `min_score` is a floor for each vector, `effort` the share of a shard's rows
    to scan. Below 1, the result has an estimate of recall for each vector."""

    vectors: NDArray[Any]
    k: int
    chosen: Chosen
    threads: int | None = None
    min_score: Float32s | None = None
    effort: float = 1.0


class Score(NamedTuple):
    """Score rows[i] exactly for question i: by words if there are queries, else by vectors."""

    rows: list[Int64s]
    queries: Queries | None = None
    stats: Statistics | None = None
    vectors: NDArray[Any] | None = None
    k1: float | None = None
    b: float | None = None
    sparse: SparseQuestion | None = None  # of every question, instead of both


class Weighed(NamedTuple):
    """Find the k best rows for the weights of each question."""

    questions: tuple[SparseQuestion, ...]
    k: int
    chosen: Chosen


class Pass(NamedTuple):
    """Find the rows that pass a filter."""

    chosen: Chosen


class Lengths(NamedTuple):
    """Sum the lengths of all rows in each BM25 field that has postings of its own."""


class Counted(NamedTuple):
    """Count the rows in which each term of the queries occurs, under the field weights of the queries."""

    queries: Queries


class RowRead(NamedTuple):
    """Read a part of some rows; `what` is one of the parts of StoredRows.looked_at."""

    what: str
    rows: Int64s


class Titled(NamedTuple):
    """Find the titles that stand in each of the texts."""

    texts: tuple[str, ...]


class Targeted(NamedTuple):
    """Find the documents that the targets of links mean."""

    targets: tuple[str, ...]


Ask = Match | Nearest | Weighed | Score | Pass | Lengths | Counted | RowRead | Titled | Targeted


class Task(NamedTuple):
    """An ask for one shard, with the identity that the manifest lists."""

    shard: int
    url: str
    cache: str | None
    identity: str
    rows: int
    ask: Ask
    content: str = ""  # the digest of the content that a trusted key signed
    window: int = 0  # bytes at the end of a remote shard to fetch first; 0 for a local one


class ShardResult(NamedTuple):
    """A shard's answer to a task: the value, and the keys of the filter that none of its rows has."""

    shard: int
    value: Any  # Any: its type depends on the ask
    unknown: list[str]


class ShardFailure(NamedTuple):
    """The reason why a shard did not answer."""

    shard: int
    reason: str
    error: Exception
