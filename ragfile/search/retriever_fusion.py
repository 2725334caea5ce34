"""What the retrievers of a search propose, made one answer: the middle of searching.

    words ─ their vectors' scores ─ the least that a further row's vector must score ─ near rows ─ union ─ fusion ─ cut

Words come first, for they cost least, and under calibrated fusion they say what the vector scan need not look for: k
rows with both scores are known then, and a row that no word brought in would have to beat them by its vector alone. The
answer is that of both in full, to the bit; the vector scan is two to three times faster.

Each step is one call into the core for all questions (csrc/fusion/fuse.c). tests/oracles/fusing.py says the same slowly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile.file import prefetch
from ragfile.file.config import TRANSFORMER_WEIGHT
from ragfile.search import fusion

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ragfile import _core
    from ragfile.search.file_rows import FileRows
    from ragfile.search.question import Notes, Question
    from ragfile.search.rows import Found, SearchedRows
    from ragfile.types import Float32s

Method = tuple[str, float]  # a method of fusion and its parameter
PARAMETER = {
    "calibrated": ("w", TRANSFORMER_WEIGHT),
    "rrf": ("rrf_k", fusion.RRF_K),
    "blend": ("alpha", 0.5),
}


class Ranked(NamedTuple):
    """The answers to some questions before they are fetched, a row of each array for each question: row -1, score -inf
    and parts NaN are what fills up shorter ones. `parts` are the scores by retriever."""

    score_type: str
    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    parts: dict[str, NDArray[np.float32]]

    def page(self, first: int, k: int) -> Ranked:
        """The places from `first` on, k of them."""
        if first == 0 and self.rows.shape[1] <= k:
            return self
        places = slice(first, first + k)
        parts = {name: part[:, places] for name, part in self.parts.items()}
        return Ranked(self.score_type, self.rows[:, places], self.scores[:, places], parts)

    def of(self, chosen: list[int]) -> Ranked:
        """The answers to some of the questions."""
        parts = {name: part[chosen] for name, part in self.parts.items()}
        return Ranked(self.score_type, self.rows[chosen], self.scores[chosen], parts)

    def taken(self, kept: list[NDArray[np.intp]], k: int) -> Ranked:
        """For each question the k first of the places that are kept, in their order."""
        out = nothing(self.score_type, len(self.rows), k, self.parts)
        for i, places in enumerate(kept):
            places = places[:k]
            out.rows[i, : len(places)] = self.rows[i, places]
            out.scores[i, : len(places)] = self.scores[i, places]
            for name, part in self.parts.items():
                out.parts[name][i, : len(places)] = part[i, places]
        return out


def nothing(score_type: str, count: int, k: int, names=()) -> Ranked:
    """Room for the answers to `count` questions, filled with none."""
    parts = {name: np.full((count, k), np.nan, np.float32) for name in names}
    return Ranked(
        score_type, np.full((count, k), -1, np.int64), np.full((count, k), -np.inf), parts
    )


def together(count: int, parts) -> Ranked:
    """The answers of parts, (places, answers, …) each, as one; several retrievers can have answered different parts."""
    if len(parts) == 1:
        return parts[0][1]
    width = max((ranked.rows.shape[1] for _, ranked, _ in parts), default=0)
    kinds = dict.fromkeys(ranked.score_type for _, ranked, _ in parts)
    names = dict.fromkeys(name for _, ranked, _ in parts for name in ranked.parts)
    out = nothing(next(iter(kinds), "none"), count, width, names)
    for places, ranked, _ in parts:
        at = np.array(places, np.intp), slice(ranked.rows.shape[1])
        out.rows[at], out.scores[at] = ranked.rows, ranked.scores
        for name, part in ranked.parts.items():
            out.parts[name][at] = part
    return out


def one_leg(name: str, found) -> Ranked:
    """The answers of a retriever that was asked alone."""
    rows, scores = found
    part = np.where(rows < 0, np.float32(np.nan), scores)
    return Ranked(name, rows, scores.astype(np.float64), {name: part})


def reached(
    rows: SearchedRows, question: Question, vectors: Any, k: int, chosen: Any, min_score: Any = None
) -> Found:
    """The k best rows by vector, with the question's effort; notes the share of the best that was found."""
    threads, effort, notes = question.threads, question.effort, question.notes
    if effort >= 1:
        return rows.nearest(vectors, k, chosen, threads, min_score, notes=notes)
    recall = np.ones(len(vectors))
    found = rows.nearest(vectors, k, chosen, threads, min_score, effort, recall, notes)
    question.recall.note(recall)
    return found


class RetrieverFusion:
    """Both retrievers' answers to some questions put together."""

    def __init__(self, rows: FileRows, question: Question, vectors: NDArray[Any]) -> None:
        self.rows, self.question, self.vectors = rows, question, vectors
        chosen = question.fusion
        self.how = rows.fusion_method if chosen is None else method_of(chosen, recorded(rows))
        self.core = rows.fusion_core
        self.sample = rows.sample_vectors if self.how[0] == "calibrated" else None
        self.threads = 1 if rows.is_elsewhere else question.threads
        self.words: Any = None  # what least() was given and found: arrays of the core
        self.queries: Any = None
        self.near: Any = None
        self.moments: Any = None

    @property
    def is_at_once(self) -> bool:
        """Whether one call into the core answers: one segment of a file that is here, asked as it is."""
        question = self.question
        return (
            self.core.is_alone
            and not (self.rows.is_elsewhere or question.fields)
            and question.effort == 1
        )

    def at_once(self, queries: _core.Queries, rows: Any, width: int, notes: Notes) -> Ranked:
        """The same as least, the vector scan and ranked, in that one call."""
        question = self.question
        found, (words, fusing, vectors) = self.core.answer(
            queries, self.vectors, rows, question.depth, width, question.wanted, self.how, self.sample,
            wants_least=self._wants_least, threads=self.threads,
        )  # fmt: skip
        notes.noted({"bm25": words, "fuse": fusing, "vector": vectors}, "fuse")
        return self._named(found)

    @property
    def _wants_least(self) -> bool:
        return self.how[0] == "calibrated" and not self.question.looks_beyond

    def _named(self, found: Sequence[Any]) -> Ranked:
        rows, scores, bm25, vector = found
        return Ranked(self.how[0], rows, scores, {"bm25": bm25, "vector": vector})

    def least(self, queries: _core.Queries, words: Found) -> Float32s | None:
        """What the vector scan must reach for each text, given what the words found; None where that cannot be said."""
        self.queries, self.words = queries, words
        if self.rows.is_elsewhere:
            prefetch.vector_rows(self.rows.segments, np.unique(words[0][words[0] >= 0]))
        question = self.question
        self.near, self.moments, min_score = self.core.near(
            queries, self.vectors, words, question.wanted, self.how, self.sample,
            wants_least=self._wants_least, threads=self.threads,
        )  # fmt: skip
        return min_score

    def ranked(self, dense: Found, width: int) -> Ranked:
        """The first `width` of the union of both legs, each row with both exact scores."""
        found = self.core.rank(
            self.queries, self.words, self.near, self.moments, dense, width, self.how, self.sample,
            threads=self.threads,
        )  # fmt: skip
        return self._named(found)


def check(chosen) -> None:
    """Refuses a fusion that no file can be asked for, whatever the retrievers are."""
    method, params = chosen if isinstance(chosen, tuple) else (chosen, {})
    if method is not None:
        fusion.check(method, params)


def recorded(rows: SearchedRows) -> Any:  # JSON
    """The fusion that a file records."""
    return rows.config.get("fusion") or {}


def method_of(chosen: Any, by_file: Any) -> Method:
    """(method, its parameter): the caller's choice before the file's."""
    method, params = chosen if isinstance(chosen, tuple) else (chosen, {})
    method = method or by_file.get("method", "calibrated")
    fusion.check(method, params)
    name, default = PARAMETER[method]
    value = {**by_file, **params}.get(name, default)
    fusion.check_value(method, value)
    return method, float(value)
