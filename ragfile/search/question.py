"""What is asked and how, checked once, before anything is read or embedded."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from dataclasses import fields as fields_of
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from ragfile.file import row_sets
from ragfile.ground.option_table import check_of
from ragfile.ingest.analysis import checked_weights
from ragfile.options import SEARCH, K
from ragfile.search import paging_and_diversity

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.types import FusionChoice, Mode, TagFilter

DEFAULTS = SEARCH.defaults
SPARE = 4  # rows that a retriever hands over for each place of a distinct answer


@dataclass(slots=True, eq=False, repr=False)
class Recall:
    """The share of the best by vector that the answers to some texts have: 1 where that is proved, else by
    estimate. Parts of a question note theirs in the same array."""

    all: NDArray[np.float64]
    places: NDArray[np.intp]

    def part(self, places: list[int]) -> Recall:
        return Recall(self.all, self.places[places])

    def note(self, reached: NDArray[np.float64]) -> None:
        self.all[self.places] = np.minimum(self.all[self.places], reached)

    def lowest(self) -> float:
        return float(self.all.min(initial=1.0))


class Notes:
    """What one question notes on its way: milliseconds by stage, and of a dataset the shards that failed (by number, with
    the reason) and how many were ruled out, ask by ask."""

    __slots__ = ("_last", "failed", "skips", "spent")

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self.spent: dict[str, float] = {}
        self.failed: dict[int, str] = {}
        self.skips: list[int] = []

    def note(self, stage: str) -> None:
        """Count the time since the last stage for this one."""
        now = time.perf_counter()
        self.spent[stage] = self.spent.get(stage, 0.0) + (now - self._last) * 1e3
        self._last = now

    def noted(self, stages: dict[str, float], rest: str) -> None:
        """Count the time of stages that were timed elsewhere; the rest of the time is one more's."""
        for stage, spent in stages.items():
            self.spent[stage] = self.spent.get(stage, 0.0) + spent
        self.note(rest)
        self.spent[rest] -= sum(stages.values())

    def untimed(self) -> Untimed:
        """Return notes of a step of this question, whose stages are not counted apart."""
        return Untimed(self)


class Untimed(Notes):
    """Notes of a step of a question: only failures and skips are noted."""

    __slots__ = ()

    def __init__(self, notes: Notes) -> None:
        super().__init__()
        self.failed, self.skips = notes.failed, notes.skips

    def note(self, stage: str) -> None:
        pass

    def noted(self, stages: dict[str, float], rest: str) -> None:
        pass


@dataclass(slots=True, eq=False, repr=False)
class Question:
    """Texts that are asked together. `where` is one filter for all of them, or a list with one for each.

    Its options are those of ragfile.options, which checks their values. `fields` and `boost` are
    checked here.
    """

    texts: Any  # a list of str once it is checked
    k: int = K.default
    mode: Mode = DEFAULTS["mode"]
    where: Any = DEFAULTS["where"]
    tags_any: TagFilter = DEFAULTS["tags_any"]
    tags_all: TagFilter = DEFAULTS["tags_all"]
    pool: int = DEFAULTS["pool"]
    fusion: FusionChoice | None = DEFAULTS["fusion"]
    vectors: Any = None  # an array once they are checked
    drop_repeats: bool = DEFAULTS["drop_repeats"]
    threads: int | None = DEFAULTS["threads"]
    offset: int = DEFAULTS["offset"]
    min_score: float | None = DEFAULTS["min_score"]
    diversity: float = DEFAULTS["diversity"]
    boost: Any = DEFAULTS["boost"]  # a list of boosts once they are checked
    without: int | None = None  # a row that is not to be found
    group: int = DEFAULTS["group"]
    is_whole: bool = False  # the answer is all candidates
    query_syntax: bool = DEFAULTS["query_syntax"]
    fields: Any = DEFAULTS["fields"]  # weights by name; a dict once they are checked
    effort: float = DEFAULTS["effort"]
    recall: Any = None  # a Recall of the answers, where an effort below 1 may miss some
    queries: Any = None  # the texts as terms, where they are more than their words
    notes: Notes = field(default_factory=Notes)  # shared by all parts of a question
    has_filters: bool = field(default=False, init=False)  # whether each text has one of its own

    def __post_init__(self):
        self.k = _checked_k(self.k)
        self.boost = paging_and_diversity.checked_boosts(self.boost) if self.boost else ()
        self.fields = None if self.fields is None else checked_weights(self.fields)
        self.has_filters = self.where is not None and row_sets.is_one_each(self.where)
        if self.drop_repeats:  # near-duplicates leave places that rows after them must fill
            self.pool = max(self.pool, SPARE * self.wanted)
        self.texts = _checked_texts(self.texts)
        if self.recall is None and self.effort < 1:
            self.recall = Recall(np.ones(len(self.texts)), np.arange(len(self.texts)))
        if self.vectors is not None:
            self.vectors = _checked_vectors(self.vectors, len(self.texts))
        each: Any = self.where
        if self.has_filters and len(each) != len(self.texts):
            raise ValueError(f"where has {len(each)} filters for {len(self.texts)} questions")

    def limited(self, rows: int) -> Question:
        """The same question of a file of so many rows: asking for more would only take memory."""
        self.k, self.pool, self.offset = (
            min(self.k, rows),
            min(self.pool, rows),
            min(self.offset, rows),
        )
        return self

    @property
    def looks_beyond(self) -> bool:
        """Whether rows after the k best can come into the answer."""
        return bool(self.drop_repeats or self.diversity or self.boost or self.is_whole)

    @property
    def is_plain(self) -> bool:
        """Whether the answer is what fusion gives, cut to the page."""
        return not (self.boost or self.diversity or self.is_whole) and self.min_score is None

    @property
    def wanted(self) -> int:
        """How many places the answer has, with those before its page."""
        return self.offset + self.k

    @property
    def depth(self) -> int:
        """How many rows each retriever hands to fusion."""
        return max(self.k, self.pool)

    def key(self) -> tuple | None:
        """What the answer to one text depends on, for a commit; None where that has no short form."""
        if not (self.where is None or isinstance(self.where, dict)):
            return None
        spelled: Any = self.fusion
        has_more = self.boost or self.tags_any or self.tags_all or isinstance(spelled, tuple)
        if self.where is not None or has_more:
            told = [self.where, list(self.tags_any), list(self.tags_all), self.fusion]
            told += [dict(boost) for boost in self.boost]
            try:
                spelled = json.dumps(told, sort_keys=True)
            except (TypeError, ValueError, RecursionError):
                return None
        raw = None if self.vectors is None else self.vectors.tobytes()
        weights = None if self.fields is None else tuple(sorted(self.fields.items()))
        return *self.texts, spelled, raw, weights, *_plain(self)

    def by_filter(self) -> list[tuple[list[int], Question]]:
        """Where each text has a filter of its own: which texts share one, and the question with it."""
        parts = row_sets.grouped(self.where)
        return [(places, self.part(places, where)) for places, where in parts]

    def one_by_one(self) -> list[tuple[list[int], Question]]:
        """Each text as a question of its own, with its filter and vector."""
        filters = self.where if self.has_filters else [self.where] * len(self.texts)
        return [([i], self.part([i], where)) for i, where in enumerate(filters)]

    def part(self, places: list[int], where: Any) -> Question:
        """Some of the texts, with one filter."""
        vectors = None if self.vectors is None else self.vectors[places]
        texts = [self.texts[i] for i in places]
        recall = None if self.recall is None else self.recall.part(places)
        return replace(self, texts=texts, where=where, vectors=vectors, recall=recall)


_checked_k: Any = check_of(K)
# The fields that a key takes as they are: all but those that it spells, and those that answers do not depend on.
_SPELLED = ["texts", "where", "tags_any", "tags_all", "fusion", "boost", "vectors", "fields"]
_UNKEYED = ["notes", "threads", "recall", "queries", "has_filters"]
_plain = attrgetter(*(f.name for f in fields_of(Question) if f.name not in _SPELLED + _UNKEYED))


def _checked_texts(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str):
        raise TypeError("questions are a list of texts, not one text: use search for a single one")
    texts = list(texts)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"a question is a str, not {type(text).__name__}")
    return texts


def _checked_vectors(vectors: Any, count: int) -> NDArray[np.float32]:
    """A float32 row for each question."""
    if len(vectors) != count:
        raise ValueError(f"{count} questions have a vector each, not {len(vectors)} together")
    found = np.asarray(vectors)
    if found.size and found.dtype.kind not in "fiu":
        raise ValueError(f"vectors must be real numbers, not {found.dtype}")
    if found.dtype == np.float32:
        return np.ascontiguousarray(found).reshape(count, found.size // max(count, 1))
    with np.errstate(over="ignore"):  # infinity is refused where it is searched
        return np.ascontiguousarray(found, dtype=np.float32).reshape(
            count, found.size // max(count, 1)
        )
