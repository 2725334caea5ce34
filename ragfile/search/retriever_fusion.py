"""Fusion of the rows that the retrievers propose into one ranking.

    words ─ vector scores of their rows ─ the least score that another row needs ─ near rows ─ union ─ fusion ─ cut

Words are searched first because they cost least. Under calibrated fusion they bound the vector scan: k rows then have
both scores, and a row without any of the words would have to beat them by its vector alone. The answer equals that of
both searches in full, bit for bit, and the vector scan is two to three times faster.

Each step is one call into the core for all questions (csrc/fusion/fuse.c). tests/oracles/fusing.py is its slow oracle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ragfile import _core
from ragfile.errors import CorruptError
from ragfile.file import exact_retrievers, remote_prefetch
from ragfile.file.config import TRANSFORMER_WEIGHT
from ragfile.search import fusion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.file.exact_retrievers import Sets
    from ragfile.search.file_rows import FileRows
    from ragfile.search.question import Notes, Question
    from ragfile.search.rows_protocol import Found, SearchedRows, Selection
    from ragfile.types import Float32s, Floats, FusionChoice

AskedMethod: TypeAlias = "tuple[str, float, float, NDArray[np.float64] | None]"
FusedArrays: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float32], NDArray[np.float32], NDArray[np.float64]]"  # rows, scores, bm25, vector, scales
SHARES = (
    "evidence",
    "known",
    "named",
    "foreign",
    "linked",
)  # of calibrated fusion; the default of foreign is 1, of others 0
PARAMETER = {
    "calibrated": ("w", TRANSFORMER_WEIGHT),
    "rrf": ("rrf_k", fusion.RRF_K),
    "blend": ("alpha", 0.5),
}


class Method(NamedTuple):
    """A method of fusion with its parameter.

    Attributes:
        name: The method.
        parameter: Its parameter: w, rrf_k or alpha.
        evidence: The share of the evidence of documents, 0 for none.
        known: How much the share of a question counts that the model knows, 0 for nothing.
        named: The share by which pages rise that the best passages name, 0 for nothing.
        foreign: The largest share that counts as known of a question in another language than the model's.
        linked: The weight of a link beside that of a name, 0 for nothing.
        sparse: The weight of the sparse retriever beside words and vectors.
    """

    name: str
    parameter: float
    evidence: float = 0.0
    known: float = 0.0
    named: float = 0.0
    foreign: float = 1.0
    linked: float = 0.0
    sparse: float = 1.0

    def weight(self, question: Question, i: int) -> float:
        """Return the weight of a question's vector in calibrated fusion, inf if the words alone count."""
        if question.known is None or not self.known:
            return self.parameter
        return _core.calibrated_weight(self.parameter, self.known, self.share(question, i))

    def share(self, question: Question, i: int) -> float:
        """Return the share of a question that counts as known."""
        known = 1.0 if question.known is None else float(question.known[i])
        if known > self.foreign and _core.is_foreign(question.texts[i]):
            return self.foreign
        return known

    def of(self, question: Question) -> AskedMethod:
        """Return the method for the core."""
        if question.known is None or not self.known:
            return self.name, self.parameter, self.evidence, None
        weights = np.array([self.weight(question, i) for i in range(len(question.texts))])
        return self.name, self.parameter, self.evidence, weights


class Ranked(NamedTuple):
    """The answers to some questions as arrays, one row for each question.

    Unused places hold row -1, score -inf and NaN in `parts`, the scores by retriever. `scales` has the best BM25
    score, mean and deviation of each question under calibrated fusion, as long as all candidates are there.
    """

    score_type: str
    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    parts: dict[str, NDArray[np.float32]]
    scales: NDArray[np.float64] | None = None

    def page(self, first: int, k: int) -> Ranked:
        """Return `k` results of each answer, starting at `first`."""
        if first == 0 and self.rows.shape[1] <= k:
            return self
        places = slice(first, first + k)
        parts = {name: part[:, places] for name, part in self.parts.items()}
        return Ranked(self.score_type, self.rows[:, places], self.scores[:, places], parts)

    def of(self, chosen: list[int]) -> Ranked:
        """Return the answers to some of the questions."""
        parts = {name: part[chosen] for name, part in self.parts.items()}
        return Ranked(self.score_type, self.rows[chosen], self.scores[chosen], parts)

    def taken(self, kept: list[NDArray[np.intp]], k: int) -> Ranked:
        """Return the first k of the kept places of each answer, in their order."""
        out = nothing(self.score_type, len(self.rows), k, self.parts)
        for i, places in enumerate(kept):
            places = places[:k]
            out.rows[i, : len(places)] = self.rows[i, places]
            out.scores[i, : len(places)] = self.scores[i, places]
            for name, part in self.parts.items():
                out.parts[name][i, : len(places)] = part[i, places]
        return out


def nothing(score_type: str, count: int, k: int, names: Iterable[str] = ()) -> Ranked:
    """Return `count` empty answers with k places."""
    parts = {name: np.full((count, k), np.nan, np.float32) for name in names}
    return Ranked(
        score_type, np.full((count, k), -1, np.int64), np.full((count, k), -np.inf), parts
    )


class Part(NamedTuple):
    """The answers to some of the questions of a batch."""

    places: Sequence[int]  # of the questions
    ranked: Ranked
    degraded: str  # why a retriever was skipped, or ""


def together(count: int, parts: Sequence[Part]) -> Ranked:
    """Return the parts of `count` answers as one; different retrievers may have answered them."""
    if len(parts) == 1:
        return parts[0].ranked
    width = max((part.ranked.rows.shape[1] for part in parts), default=0)
    kinds = dict.fromkeys(part.ranked.score_type for part in parts)
    names = dict.fromkeys(name for part in parts for name in part.ranked.parts)
    out = nothing(next(iter(kinds), "none"), count, width, names)
    for places, ranked, _ in parts:
        at = np.array(places, np.intp), slice(ranked.rows.shape[1])
        out.rows[at], out.scores[at] = ranked.rows, ranked.scores
        for name, part in ranked.parts.items():
            out.parts[name][at] = part
    return out


def in_turn(answers: Sequence[Ranked]) -> Ranked:
    """Return the answers to single texts as one, in their order."""
    return together(len(answers), [Part([i], answer, "") for i, answer in enumerate(answers)])


def alone(name: str, found: Found) -> Ranked:
    """Return the answers of one retriever as a ranking."""
    rows, scores = found
    part = np.where(rows < 0, np.float32(np.nan), scores)
    return Ranked(name, rows, scores.astype(np.float64), {name: part})


def reached(
    rows: SearchedRows, question: Question, vectors: Floats, k: int, chosen: Selection,
    min_score: Float32s | None = None,
) -> Found:  # fmt: skip
    """Return the k best rows by vector with the question's effort, and note the recall."""
    threads, effort, notes = question.threads, question.effort, question.notes
    if effort >= 1:
        return rows.nearest(vectors, k, chosen, threads, min_score, notes=notes)
    recall = np.ones(len(vectors))
    found = rows.nearest(vectors, k, chosen, threads, min_score, effort, recall, notes)
    if question.recall is not None:
        question.recall.note(recall)
    return found


class RetrieverFusion:
    """The fusion of both retrievers' answers to some questions."""

    def __init__(self, rows: FileRows, question: Question, vectors: Floats) -> None:
        self.rows, self.question, self.vectors = rows, question, vectors
        self.how = method_for(rows, question.fusion)
        self.asked = self.how.of(question)
        self.core = rows.fusion_core
        self.sample = rows.sample_vectors if self.how.name == "calibrated" else None
        self.threads = 1 if rows.is_elsewhere else question.threads
        # Set by least(), read by ranked():
        self.words: Found | None = None
        self.queries: _core.Queries | None = None
        self.near: NDArray[np.float32] | None = None
        self.moments: NDArray[np.float64] | None = None

    @property
    def is_at_once(self) -> bool:
        """Whether one call into the core answers: a local file with its own weights, full effort, and words and vectors
        in every segment. The lists of a large batch over many segments are merged in parts instead."""
        question = self.question
        listed = len(question.texts) * len(self.rows.segments) * question.depth
        return (
            self.core.is_whole
            and not (self.rows.is_elsewhere or question.fields)
            and question.effort == 1
            and (len(self.rows.segments) == 1 or listed <= exact_retrievers.BATCH_ROWS)
        )

    def at_once(self, queries: _core.Queries, rows: Sets, width: int, notes: Notes) -> Ranked:
        """Do the steps of least, the vector scan and ranked in one call into the core."""
        question = self.question
        found, (words, fusing, vectors) = self.core.answer(
            queries, self.vectors, rows, question.depth, width, question.led, self.asked, self.sample,
            wants_least=self._wants_least, threads=self.threads,
        )  # fmt: skip
        notes.noted({"bm25": words, "fuse": fusing, "vector": vectors}, "fuse")
        return self._named(found)

    @property
    def _wants_least(self) -> bool:
        return self.how.name == "calibrated" and not self.question.looks_beyond

    def _named(self, found: FusedArrays) -> Ranked:
        rows, scores, bm25, vector, scales = found
        return Ranked(self.how.name, rows, scores, {"bm25": bm25, "vector": vector}, scales)

    def least(self, queries: _core.Queries, words: Found) -> Float32s | None:
        """Return the vector score that other rows need for each text, given the rows with its words; None if unbounded."""
        self.queries, self.words = queries, words
        if self.rows.is_elsewhere:
            remote_prefetch.vector_rows(self.rows.segments, np.unique(words[0][words[0] >= 0]))
        question = self.question
        self.near, self.moments, min_score = self.core.near(
            queries, self.vectors, words, question.led, self.asked, self.sample,
            wants_least=self._wants_least, threads=self.threads,
        )  # fmt: skip
        return min_score

    def ranked(self, dense: Found, width: int) -> Ranked:
        """Return the first `width` rows of the union of both retrievers, each with both exact scores."""
        if self.queries is None or self.words is None or self.near is None or self.moments is None:
            raise AssertionError("least() comes before ranked()")
        if self.rows.is_elsewhere and self.how.evidence:
            candidates = np.union1d(self.words[0], dense[0])
            remote_prefetch.chunk_records(self.rows.segments, candidates[candidates >= 0])
        found = self.core.rank(
            self.queries, self.words, self.near, self.moments, dense, width, self.asked, self.sample,
            threads=self.threads,
        )  # fmt: skip
        return self._named(found)


def check(chosen: FusionChoice | None) -> None:
    """Refuse a fusion or parameter that does not exist."""
    nothing: Mapping[str, float] = {}
    method, params = chosen if isinstance(chosen, tuple) else (chosen, nothing)
    if method is not None:
        fusion.check(method, params)


def recorded(rows: SearchedRows) -> dict[str, Any]:  # JSON
    """Return the fusion that a file records, {} if none."""
    return rows.config.get("fusion") or {}


def method_for(rows: SearchedRows, chosen: FusionChoice | None) -> Method:
    """Return the fusion of some rows: the caller's choice, else the file's.

    It counts no evidence where no document has a second passage.
    """
    how = rows.fusion_method
    if chosen is not None:
        how = method_of(chosen, recorded(rows))
    return how if not how.evidence or rows.has_further_passages else how._replace(evidence=0.0)


def recorded_method(rows: SearchedRows) -> Method:
    """Return the method of fusion that a file records; another one than ours is damage."""
    try:
        return method_of(None, recorded(rows))
    except ValueError as error:
        raise CorruptError(f"{rows.path}: rag.config: {error}") from None


def method_of(chosen: FusionChoice | None, by_file: Mapping[str, Any]) -> Method:
    """Return the method of fusion and its parameters: the caller's choice, else the file's."""
    nothing: Mapping[str, float] = {}
    method, params = chosen if isinstance(chosen, tuple) else (chosen, nothing)
    method = method or by_file.get("method", "calibrated")
    fusion.check(method, params)
    name, default = PARAMETER[method]
    values = {**by_file, **params}
    value = values.get(name, default)
    fusion.check_value(method, value)
    shares = [values.get(share, 1 if share == "foreign" else 0) for share in SHARES]
    for share, given in zip(SHARES, shares, strict=True):
        fusion.check_share(share, given)
    sparse = values.get("sparse", 1.0)
    fusion.check_sparse(sparse)
    found = Method(method, float(value), *(map(float, shares) if method == "calibrated" else ()))
    return found if sparse == 1 else found._replace(sparse=float(sparse))
