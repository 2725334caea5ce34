"""A question with its options, checked once before anything is read or embedded."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from dataclasses import fields as fields_of
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ragfile import _core
from ragfile.file import row_sets
from ragfile.ground.json_values import is_object
from ragfile.ground.option_table import check_of
from ragfile.ingest.analysis import checked_weights
from ragfile.options import SEARCH, K
from ragfile.search import refinement

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.search.named_pages import Lifts
    from ragfile.types import Boost, FusionChoice, Mode, SparseWeights, TagFilter, Vectors

DEFAULTS = SEARCH.defaults
SPARE = 4  # candidates per place of an answer that drops repeats

AnswerKey: TypeAlias = "tuple[Hashable, ...]"


@dataclass(slots=True, eq=False, repr=False)
class Recall:
    """The share of the best by vector that each answer has: 1 if proved, else an estimate.

    Parts of a question write into the same array.
    """

    all: NDArray[np.float64]
    places: NDArray[np.intp]

    def part(self, places: list[int]) -> Recall:
        """Return the recall of some of the texts."""
        return Recall(self.all, self.places[places])

    def note(self, reached: NDArray[np.float64]) -> None:
        self.all[self.places] = np.minimum(self.all[self.places], reached)

    def lowest(self) -> float:
        return float(self.all.min(initial=1.0))


class Notes:
    """The notes of one question: milliseconds by stage, and for a dataset the shards that failed (by number, with
    the reason) and how many were skipped in each round. `lifts` are the rows that rise for each text because
    better ones name their pages."""

    __slots__ = ("_last", "failed", "lifts", "skips", "spent")

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self.spent: dict[str, float] = {}
        self.failed: dict[int, str] = {}
        self.skips: list[int] = []
        self.lifts: list[Lifts] = []

    def note(self, stage: str) -> None:
        """Add the time since the last note to a stage."""
        now = time.perf_counter()
        self.spent[stage] = self.spent.get(stage, 0.0) + (now - self._last) * 1e3
        self._last = now

    def noted(self, stages: dict[str, float], rest: str) -> None:
        """Add the times of stages measured elsewhere, and the rest of the time to the stage `rest`."""
        for stage, spent in stages.items():
            self.spent[stage] = self.spent.get(stage, 0.0) + spent
        self.note(rest)
        self.spent[rest] -= sum(stages.values())

    def untimed(self) -> Untimed:
        """Return notes for a step of this question that share its failures and ignore times."""
        return Untimed(self)


class Untimed(Notes):
    """Notes of a step of a question: failures and skips without times."""

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

    The options are those of ragfile.options, which checks their values, except `fields` and `boost`.
    """

    texts: list[str]
    k: int = K.default
    mode: Mode = DEFAULTS["mode"]
    where: Any = DEFAULTS["where"]  # Any: a RowFilters; checked where it is compiled
    tags_any: TagFilter = DEFAULTS["tags_any"]
    tags_all: TagFilter = DEFAULTS["tags_all"]
    pool: int = DEFAULTS["pool"]
    fusion: FusionChoice | None = DEFAULTS["fusion"]
    vectors: Any = None  # Any: Vectors before the check, then a float32 array
    sparse: SparseWeights | Sequence[SparseWeights | _core.SparseQuestion] | None = DEFAULTS[
        "sparse"
    ]
    weights: tuple[_core.SparseQuestion, ...] = field(default=(), init=False)  # of each text
    drop_repeats: bool = DEFAULTS["drop_repeats"]
    threads: int | None = DEFAULTS["threads"]
    offset: int = DEFAULTS["offset"]
    min_score: float | None = DEFAULTS["min_score"]
    diversity: float = DEFAULTS["diversity"]
    boost: Sequence[Boost] = DEFAULTS["boost"]
    without: int | None = None  # a row to leave out
    group: int = DEFAULTS["group"]
    is_whole: bool = False  # the answer is all candidates
    weighs: bool = False  # by weights of terms, too; set from the file that is asked
    ranks_code: bool = False  # by the paths of source code, too; set from the file that is asked
    hops: int = DEFAULTS["hops"]
    named: float = 0.0  # the share by which named pages rise; set from the file that is asked
    query_syntax: bool = DEFAULTS["query_syntax"]
    is_unranked: bool = False  # phrases of stop words alone: no word ranks the rows that have them
    fields: dict[str, int] | None = DEFAULTS["fields"]
    effort: float = DEFAULTS["effort"]
    recall: Recall | None = None  # None with an effort of 1, which misses nothing
    known: NDArray[np.float64] | None = None  # the share of each text that the model knows
    queries: _core.Queries | None = None  # the texts as terms, if they are more than their words
    notes: Notes = field(default_factory=Notes)  # shared by all parts of a question
    has_filters: bool = field(default=False, init=False)  # whether each text has its own filter

    def __post_init__(self) -> None:
        self.k = _checked_k(self.k)
        self.boost = refinement.checked_boosts(self.boost) if self.boost else ()
        self.fields = None if self.fields is None else checked_weights(self.fields)
        self.has_filters = self.where is not None and row_sets.is_one_each(self.where)
        if self.drop_repeats:  # rows further down fill the places of near-duplicates
            self.pool = max(self.pool, SPARE * self.wanted)
        self.texts = _checked_texts(self.texts)
        if self.recall is None and self.effort < 1:
            self.recall = Recall(np.ones(len(self.texts)), np.arange(len(self.texts)))
        if self.vectors is not None:
            self.vectors = _checked_vectors(self.vectors, len(self.texts))
        if self.mode == "sparse" and self.sparse is None:
            raise ValueError("mode sparse ranks by weights of terms: give sparse={term: weight}")
        if self.sparse is not None:
            self.sparse = self.weights = _checked_sparse(self.sparse, len(self.texts))
        if self.where is not None and self.has_filters and len(self.where) != len(self.texts):
            raise ValueError(f"where has {len(self.where)} filters for {len(self.texts)} questions")

    def limited(self, rows: int) -> Question:
        """Limit the numbers of results to the rows of a file, to save memory. Return the question itself."""
        self.k, self.pool = min(self.k, rows), min(self.pool, rows)
        self.offset = min(self.offset, rows)
        return self

    @property
    def looks_beyond(self) -> bool:
        """Whether rows after the k best by fusion can be in the answer."""
        refines = (
            self.drop_repeats or self.diversity or self.boost or self.ranks_code or self.weighs
        )
        return bool(refines or self.is_whole)

    @property
    def is_plain(self) -> bool:
        """Whether the answer is a page of the fused ranking."""
        return not (self.boost or self.diversity or self.is_whole) and self.min_score is None

    @property
    def wanted(self) -> int:
        """Number of results up to the end of the page."""
        return self.offset + self.k

    @property
    def led(self) -> int:
        """Number of rows at the top of the ranking that must be final: the page, and those that name others."""
        return max(self.wanted, _core.NAMED_ROWS) if self.named else self.wanted

    @property
    def width(self) -> int:
        """Number of candidates that fusion hands over."""
        if self.looks_beyond:
            return 2 * self.depth
        return max(self.led, _core.EVIDENCE_ROWS) if self.named else self.wanted

    @property
    def depth(self) -> int:
        """Number of rows that each retriever proposes."""
        return max(self.k, self.pool)

    def key(self) -> AnswerKey | None:
        """Return the key of the answer to one text within a commit, or None if the question cannot be cached."""
        if not (self.where is None or is_object(self.where)):
            return None
        spelled: Hashable = None if isinstance(self.fusion, tuple) else self.fusion
        has_more = self.boost or self.tags_any or self.tags_all or isinstance(self.fusion, tuple)
        if self.where is not None or has_more:
            parts: list[object] = [
                self.where,
                list(self.tags_any),
                list(self.tags_all),
                self.fusion,
            ]
            parts += [dict(boost) for boost in self.boost]
            try:
                spelled = json.dumps(parts, sort_keys=True)
            except (TypeError, ValueError, RecursionError):
                return None
        raw = None if self.vectors is None else self.vectors.tobytes()
        weights = None if self.fields is None else tuple(sorted(self.fields.items()))
        sparse = None if self.sparse is None else tuple(one.pairs for one in self.weights)
        return *self.texts, spelled, raw, weights, sparse, *_plain(self)

    def by_filter(self) -> list[tuple[list[int], Question]]:
        """Return the places of the texts that share a filter, with their question, for each filter."""
        parts = row_sets.grouped(self.where)
        return [(places, self.part(places, where)) for places, where in parts]

    def one_by_one(self) -> list[tuple[list[int], Question]]:
        """Return each text as a question of its own, with its filter and vector."""
        if len(self.texts) == 1 and not self.has_filters:
            return [([0], self)]
        filters = self.where if self.has_filters else [self.where] * len(self.texts)
        return [([i], self.part([i], where)) for i, where in enumerate(filters)]

    def changed(self, **values: object) -> Question:
        """Return a copy with other values, unchecked: `dataclasses.replace` takes five times as long."""
        made = object.__new__(Question)
        for name in _NAMES:
            setattr(made, name, values[name] if name in values else getattr(self, name))
        return made

    def part(self, places: list[int], where: object) -> Question:
        """Return the question of some of the texts, with one filter."""
        vectors = None if self.vectors is None else self.vectors[places]
        texts = [self.texts[i] for i in places]
        known = None if self.known is None else self.known[places]
        recall = None if self.recall is None else self.recall.part(places)
        sparse = None if self.sparse is None else tuple(self.weights[i] for i in places)
        return replace(
            self,
            texts=texts,
            where=where,
            vectors=vectors,
            known=known,
            recall=recall,
            sparse=sparse,
        )


_NAMES = [f.name for f in fields_of(Question)]
_checked_k = cast("Callable[[int], int]", check_of(K))
# A key holds all fields as they are, except those that it spells and those that do not change the answer.
_SPELLED = [
    "texts", "where", "tags_any", "tags_all", "fusion", "boost", "vectors", "fields", "sparse", "weights",
]  # fmt: skip
_UNKEYED = [
    "notes", "threads", "recall", "known", "queries", "has_filters", "ranks_code", "named", "weighs",
]  # fmt: skip
_plain = attrgetter(*(f.name for f in fields_of(Question) if f.name not in _SPELLED + _UNKEYED))


def _checked_texts(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str):
        raise TypeError("questions are a list of texts, not one text: use search for a single one")
    texts = list(texts)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"a question is a str, not {type(text).__name__}")
    return texts


def _checked_sparse(
    sparse: SparseWeights | Sequence[SparseWeights | _core.SparseQuestion], count: int
) -> tuple[_core.SparseQuestion, ...]:
    """Return the weights of terms of each question; one mapping is for all of them."""
    if not isinstance(sparse, list | tuple):
        return (_core.SparseQuestion(cast("SparseWeights", sparse)),) * count
    if len(sparse) != count:
        raise ValueError(f"{count} questions have sparse weights each, not {len(sparse)} together")
    return tuple(
        one if isinstance(one, _core.SparseQuestion) else _core.SparseQuestion(one)
        for one in sparse
    )


def _checked_vectors(vectors: Vectors, count: int) -> NDArray[np.float32]:
    """Return the vectors as float32, one row for each question."""
    if len(vectors) != count:
        raise ValueError(f"{count} questions have a vector each, not {len(vectors)} together")
    found = np.asarray(vectors)
    if found.size and found.dtype.kind not in "fiu":
        raise ValueError(f"vectors must be real numbers, not {found.dtype}")
    if found.dtype == np.float32:
        return np.ascontiguousarray(found).reshape(count, found.size // max(count, 1))
    with np.errstate(over="ignore"):  # the search refuses infinity
        return np.ascontiguousarray(found, dtype=np.float32).reshape(
            count, found.size // max(count, 1)
        )
