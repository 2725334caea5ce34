"""Why a passage has its place: every number that ranked it, from the terms up.

The contributions of the terms are added in the order of the question, in binary64, and rounded once:
their sum is the BM25 score to the bit. Ranks are those among all rows that pass, not those of a pool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from ragfile import _core
from ragfile.search import reachable_rows, retriever_fusion
from ragfile.search.question import Question

if TYPE_CHECKING:
    from typing import Any

    from ragfile.search.retrieval import Retrieval
    from ragfile.search.retriever_fusion import Ranked


@dataclass(slots=True)
class TermShare:
    """What a term of the question gives to a passage's BM25 score:

    count * idf * tf / (tf + norm), where count says how often the question has it, tf how often the
    passage, and norm follows from the passage's length. `fields` says how often each field of the
    passage has it, before weights; it is empty where a file does not keep its fields apart.
    """

    term: str
    count: int
    tf: int
    df: int
    idf: float
    norm: float
    contribution: float
    fields: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Explanation:
    """Why a row has its place in the answer to a question.

    `score` and `rank` (from 1) are those of the ranking that `score_type` names; rank is None where
    the row is not among the candidates of the pool. `ranks` are by retriever, among all rows that
    pass. `scale` holds the numbers of calibrated fusion: best (the best BM25 score), mean and
    deviation (of the question's vector scores over the sample), weight, and min_score, the vector score
    that a row which no word found needs for the answer. `excluded_by` names what keeps the row out.
    `bounds` are the scores between which the vectors' shadow puts the row, before its vector is
    looked at: a search that knows k rows above the upper one passes over it. None without a shadow.
    """

    row: int
    id: str
    score_type: str
    score: float | None
    rank: int | None
    scores: dict[str, float]
    ranks: dict[str, int | None]
    terms: list[TermShare]
    length: int | None
    scale: dict[str, float]
    excluded_by: list[str]
    degraded: str
    bounds: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{self.id} (row {self.row}): {self.score_type} {_said(self.score)}, rank {self.rank or '-'}"
        ]
        lines += [
            f"  {name:8} {_said(score)}, rank {self.ranks[name] or '-'}"
            for name, score in self.scores.items()
        ]
        lines += [
            f"    {t.contribution:10.4f}  {t.term}  ({t.tf} here, in {t.df} passages, idf {t.idf:.3f})"
            for t in self.terms
        ]
        lines += [f"  {name:9} {_said(value)}" for name, value in self.scale.items()]
        if self.bounds is not None:
            lines.append(f"  bounds    {self.bounds[0]:.6g} to {self.bounds[1]:.6g} (vector)")
        lines += [f"  left out by {name}" for name in self.excluded_by]
        lines += [f"  degraded: {self.degraded}"] * bool(self.degraded)
        return "\n".join(lines)


def _said(score):
    return "-" if score is None else f"{score:.6g}"


def explained(
    retrieval: Retrieval, query: str, row: int, k: int, options: dict[str, Any]
) -> Explanation:
    """Return the Explanation of a live row; options are all those of ExplainOptions."""
    vector = options.pop("vector")
    vectors = None if vector is None else [vector]
    question = Question([query], k, vectors=vectors, threads=1, **options)
    if question.mode == "keyword" or question.has_filters:
        raise ValueError("explain takes one filter, and not keyword mode")
    base, notes = retrieval.rows, question.notes
    vectors, has_words, degraded = retrieval.retrievers(question.limited(base.live))
    asked: dict[str, Any] = {}
    if has_words:
        asked["bm25"] = {"text": query, "fields": question.fields}
    if vectors is not None:
        asked["vector"] = {"vector": vectors[0]}
    rows = retrieval.chosen(question)
    scores = {
        name: float(base.scores_of(np.array([row]), notes=notes, **how)[0])
        for name, how in asked.items()
    }
    scores = {name: score for name, score in scores.items() if not isnan(score)}  # without a vector
    terms, length = _terms(base, question, row) if has_words else ([], None)
    base.check_live(np.array([row]))
    rank, ranked, score = _place(retrieval, question, row, scores)
    return Explanation(
        row, base.looked_at("ids", [row], notes)[row], ranked.score_type, score, rank, scores,
        {name: _rank(base, row, score, asked[name], rows) for name, score in scores.items()},
        terms, length, _scale(base, question, asked, ranked, rows, k), _excluded(base, question, row), degraded,
        _bounds(base, row, asked),
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------- words


def _terms(base, question, row):
    """(the share of each term, the length of the row)."""
    segment, local = base.place(row)
    lexicon, analysis = segment.lexicon, segment.lexicon.analysis
    if segment.has_fields:
        segment.attach_fields()
    fields, query = lexicon.fields or (), question.texts[0]
    weights = analysis.weights_for(question.fields) if question.fields else None
    statistics = base.statistics_of(query, question.fields, question.notes)

    def joined(of):
        """A number of the row, and what its fields have of it; by the weights that are asked for."""
        stored, own = of(lexicon), [of(each) for each in fields]
        whole = stored if weights is None else analysis.reweighed(stored, own, weights)
        return whole, {} if lexicon.fields is None else analysis.by_name(stored, own)

    length, _ = joined(lambda each: int(each.lengths()[local]))
    norm = lexicon.norm_of(length, statistics.rows, statistics.total_length)
    found = []
    for term, count in base.lexicon.terms(query):
        df = statistics.df[term]
        idf = _core.bm25_idf(statistics.rows, df) if df else 0.0
        tf, parts = joined(lambda each, term=term: each.tf(term, local))
        share = (count * idf) * (tf / (tf + norm)) if tf else 0.0
        found.append(TermShare(term, count, tf, df, idf, norm, share, parts))
    return found, length


# ------------------------------------------------------------------------------------------------------ ranks and fusion


def _rank(base, row, score, how, rows):
    """The row's place among all that pass, or None for one that the retriever does not find."""
    if not np.isfinite(score) or (score <= 0 and "text" in how):
        return None
    if "text" in how:
        better, _ = reachable_rows.match(
            base, [how["text"]], None, rows, 1, min_score=score, fields=how["fields"]
        )
    else:
        better, _ = reachable_rows.nearest(base, how["vector"], None, rows, 1, min_score=score)
    places = np.flatnonzero(better[0] == row)
    return int(places[0]) + 1 if len(places) else None


def _place(
    retrieval: Retrieval, question: Question, row: int, scores: dict[str, float]
) -> tuple[int | None, Ranked, float | None]:
    """(rank, the ranking, score) of the row among the candidates."""
    ranked, _ = retrieval.by_content(replace(question, is_whole=True))
    places = np.flatnonzero(ranked.rows[0] == row) if len(ranked.rows) else []
    if len(places):
        return int(places[0]) + 1, ranked, float(ranked.scores[0, places[0]])
    return None, ranked, scores.get(ranked.score_type)


def _scale(base, question, asked, ranked, rows, k):
    """The numbers of calibrated fusion."""
    if len(asked) < 2 or ranked.score_type != "calibrated":
        return {}
    weight = retriever_fusion.method_of(question.fusion, retriever_fusion.recorded(base))[1]
    mean, deviation = base.sample_statistics(asked["vector"]["vector"])
    found, bm25 = base.match(
        [asked["bm25"]["text"]], min(question.depth, base.live), rows, 1, fields=question.fields,
        notes=question.notes,
    )  # fmt: skip
    best = float(bm25[0, 0]) if found.size and found[0, 0] >= 0 else 0.0
    min_score = base.least(question, asked["vector"]["vector"][None], (found, bm25))
    scale = {"best": best, "mean": mean, "deviation": deviation, "weight": weight}
    return (
        scale
        if min_score is None or not np.isfinite(min_score[0])
        else scale | {"min_score": float(min_score[0])}
    )


def _bounds(base, row, asked):
    """Between which scores the shadow puts the row's vector."""
    segment, local = base.place(row)
    if "vector" not in asked or not segment.has("vector"):
        return None
    found = segment.matrix.bounds([local], asked["vector"]["vector"])
    return None if found is None or not np.isfinite(found).all() else tuple(found[0].tolist())


# --------------------------------------------------------------------------------------------------------------- filters


def _excluded(base, question, row):
    """Which parts of the filters the row does not pass."""
    parts: dict[str, Any] = {}
    if isinstance(question.where, Mapping):
        for name, condition in question.where.items():
            parts[f"where: {name}"] = {"where": {name: condition}}
    elif question.where is not None:
        parts["where"] = {"where": question.where}
    for name in ("tags_any", "tags_all"):
        if getattr(question, name):
            parts[name] = {name: getattr(question, name)}
    masks = {name: base.flags(base.select(**how), question.notes) for name, how in parts.items()}
    return [name for name, mask in masks.items() if mask is not None and not mask[row]]
