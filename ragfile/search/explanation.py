"""Explanations of a passage's rank: every number behind it, down to the terms.

The contributions of the terms are summed in the order of the question, in binary64, and rounded once: the sum is the
BM25 score bit for bit. Ranks are those among all rows that pass, not those within a pool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isinf, isnan
from typing import TYPE_CHECKING, NamedTuple, TypedDict, cast

import numpy as np

from ragfile import _core
from ragfile.search import named_pages, one_retriever, retriever_fusion
from ragfile.search.question import Question

if TYPE_CHECKING:
    from typing import Any

    from ragfile.search.named_pages import Lift
    from ragfile.search.retrieval import Retrieval
    from ragfile.search.retriever_fusion import Ranked
    from ragfile.search.rows_protocol import SearchedRows, Selection
    from ragfile.types import FieldWeights, RowFilter, TagFilter, Vector


@dataclass(slots=True)
class TermShare:
    """The contribution of one term to a passage's BM25 score: count * idf * tf / (tf + norm).

    Attributes:
        term: The term, a stem.
        count: Occurrences in the question; a character or pair of a script without spaces counts less.
        tf: Occurrences in the passage.
        df: Live passages with the term.
        idf: Inverse document frequency.
        norm: Normalization by the passage's length.
        contribution: The term's part of the score.
        fields: Occurrences by field, before weights; empty if the file does not store its fields apart.
    """

    term: str
    count: float
    tf: int
    df: int
    idf: float
    norm: float
    contribution: float
    fields: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(slots=True)
class Explanation:
    """The reasons for a passage's rank in the answer to a question.

    Attributes:
        row: Row number of the passage.
        id: Id of the chunk.
        score_type: Kind of ranking, such as "calibrated".
        score: The passage's score in that ranking.
        rank: Its rank from 1; None if it is not among the candidates.
        scores: Scores by retriever.
        ranks: Ranks by retriever, among all rows that pass the filters.
        terms: Contributions of the question's terms to the BM25 score.
        length: Length of the passage in terms, fields weighted.
        scale: The numbers of calibrated fusion: `best` (the best BM25 score), `mean` and `deviation` of
            the question's vector scores over the sample, `weight`, `known`, the share of the question
            that a static model knows, by which the weight is divided (without any, there is no weight), `min_score`, the vector score that
            a row without any of the words needs, and for a document's best passage `evidence`, the part
            of its score that further passages of the document add.
        excluded_by: The filters that exclude the passage.
        degraded: Why a retriever was skipped, or "".
        code: For a passage of source code, the terms of its score: `fused` (the score without them),
            `path`, `file`, `prior` and `discount`; (fused + path + file) * prior * discount.
        named: For a passage that rises with what the best passages name: `gain`, the part of its score that this adds,
            `by`, the id of the passage that names its page ("" for the question), and `name`, the title as it stands
            there. A passage that only names others has `gain` alone.
        bounds: Lower and upper bound of the vector score by the compact codes; a search that knows k rows
            above the upper bound skips the vector. None without codes.
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
    code: dict[str, float] = field(default_factory=dict[str, float])
    named: dict[str, float | str] = field(default_factory=dict[str, "float | str"])

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a dict, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{self.id} (row {self.row}): {self.score_type} {_shown(self.score)}, rank {self.rank or '-'}"
        ]
        lines += [
            f"  {name:8} {_shown(score)}, rank {self.ranks[name] or '-'}"
            for name, score in self.scores.items()
        ]
        lines += [
            f"    {t.contribution:10.4f}  {t.term}  ({t.tf} here, in {t.df} passages, idf {t.idf:.3f})"
            for t in self.terms
        ]
        numbers = {**self.scale, **self.code}
        if self.named:
            by = self.named.get("by")
            said = "" if by is None else f": {by or 'the question'} names {self.named['name']!r}"
            lines.append(f"  named     +{_shown(float(self.named['gain']))}{said}")
        lines += [f"  {name:9} {_shown(value)}" for name, value in numbers.items()]
        if self.bounds is not None:
            lines.append(f"  bounds    {self.bounds[0]:.6g} to {self.bounds[1]:.6g} (vector)")
        lines += [f"  left out by {name}" for name in self.excluded_by]
        lines += [f"  degraded: {self.degraded}"] * bool(self.degraded)
        return "\n".join(lines)


def _shown(score: float | None) -> str:
    return "-" if score is None else f"{score:.6g}"


class _Query(NamedTuple):
    """A question to one retriever: a text for BM25, or a vector."""

    text: str | None = None
    fields: FieldWeights | None = None
    vector: Vector | None = None


class _Condition(TypedDict, total=False):
    """A part of a question's filters, as arguments of select()."""

    where: RowFilter
    tags_any: TagFilter
    tags_all: TagFilter


class _Terms(NamedTuple):
    """The contributions of the terms to a row, and its length."""

    shares: list[TermShare]
    length: int | None


class _RowRank(NamedTuple):
    """A row's rank and score in a ranking of candidates."""

    rank: int | None
    ranked: Ranked
    score: float | None
    lift: Lift | None


def explained(
    retrieval: Retrieval, query: str, row: int, k: int, options: dict[str, Any]
) -> Explanation:
    """Return the Explanation of a live row; `options` has all ExplainOptions."""
    vector = options.pop("vector")
    given = None if vector is None else [vector]
    question = Question([query], k, vectors=given, threads=1, **options)
    if question.mode == "keyword" or question.has_filters:
        raise ValueError("explain takes one filter, and not keyword mode")
    base, notes = retrieval.rows, question.notes
    vectors, has_words, degraded = retrieval.retrievers(question.limited(base.live))
    asked: dict[str, _Query] = {}
    if has_words:
        asked["bm25"] = _Query(query, question.fields)
    if vectors is not None:
        asked["vector"] = _Query(vector=vectors[0])
    rows = retrieval.chosen(question)
    scores = {
        name: float(base.scores_of(np.array([row]), notes=notes, **how._asdict())[0])
        for name, how in asked.items()
    }
    scores = {name: score for name, score in scores.items() if not isnan(score)}  # without a vector
    terms, length = _terms(base, question, row) if has_words else _Terms([], None)
    base.check_live(np.array([row]))
    question.named = named_pages.share(
        base, question, has_words=has_words, has_vectors=vectors is not None
    )
    rank, ranked, score, lift = _place(retrieval, question, row, scores)
    scale = _scale(base, question, asked, ranked, rows, k)
    code = _code(retrieval, question, row) if has_words else {}
    fused, named = score, dict[str, "float | str"]()
    if lift is not None and score is not None:
        fused, named = _named(retrieval, question, _RowRank(rank, ranked, score, lift), row, scale)
    if rank is not None and fused is not None and scale:
        scale |= _evidence(ranked, rank - 1, scale, code.get("fused", fused))
    if isinf(scale.get("weight", 0)):  # no vector score matters
        scale = {k: v for k, v in scale.items() if k not in ("weight", "min_score")}
    return Explanation(
        row, base.looked_at("ids", [row], notes)[row], ranked.score_type, score, rank, scores,
        {name: _rank(base, row, score, asked[name], rows) for name, score in scores.items()},
        terms, length, scale, _excluded(base, question, row), degraded,
        _bounds(base, row, asked), code, named,
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------- words


def _terms(base: SearchedRows, question: Question, row: int) -> _Terms:
    """Return the contributions of the question's terms to a row."""
    segment, local = base.place(row)
    lexicon, analysis = segment.lexicon, segment.lexicon.analysis
    if segment.has_fields:
        segment.attach_fields()
    fields, query = lexicon.fields or (), question.texts[0]
    weights = analysis.weights_for(question.fields) if question.fields else None
    statistics = base.statistics_of(query, question.fields, question.notes)

    def joined(of: Callable[[Any], int]) -> tuple[int, dict[str, int]]:
        """Return a number of the row by the weights in use, and the same number by field."""
        stored, own = of(lexicon), [of(each) for each in fields]
        whole = stored if weights is None else analysis.reweighed(stored, own, weights)
        return whole, {} if lexicon.fields is None else analysis.by_name(stored, own)

    length, _ = joined(lambda each: int(each.lengths()[local]))
    norm = lexicon.norm_of(length, statistics.rows, statistics.total_length)
    found: list[TermShare] = []
    frequencies = statistics.df or {}
    for term, count in base.lexicon.terms(query):
        df = frequencies[term]
        idf = _core.bm25_idf(statistics.rows, df) if df else 0.0
        tf, parts = joined(lambda each: each.tf(term, local))  # noqa: B023 - called at once
        share = (count * idf) * (tf / (tf + norm)) if tf else 0.0
        found.append(TermShare(term, count, tf, df, idf, norm, share, parts))
    return _Terms(found, length)


# ------------------------------------------------------------------------------------------------------ ranks and fusion


def _rank(base: SearchedRows, row: int, score: float, how: _Query, rows: Selection) -> int | None:
    """Return the row's rank among all rows that pass, or None if the retriever does not find it."""
    if not np.isfinite(score) or (score <= 0 and how.text is not None):
        return None
    if how.text is not None:
        better, _ = one_retriever.match(
            base, [how.text], None, rows, 1, min_score=score, fields=how.fields
        )
    else:
        assert how.vector is not None
        better, _ = one_retriever.nearest(base, how.vector, None, rows, 1, min_score=score)
    places = np.flatnonzero(better[0] == row)
    return int(places[0]) + 1 if len(places) else None


def _place(
    retrieval: Retrieval, question: Question, row: int, scores: dict[str, float]
) -> _RowRank:
    """Return the rank and score of the row among the candidates."""
    ranked, _ = retrieval.by_content(replace(question, is_whole=True))
    lift = question.notes.lifts[0].get(row) if question.notes.lifts else None
    places = np.flatnonzero(ranked.rows[0] == row).tolist() if len(ranked.rows) else []
    if len(places):
        return _RowRank(int(places[0]) + 1, ranked, float(ranked.scores[0, places[0]]), lift)
    return _RowRank(None, ranked, scores.get(ranked.score_type), None)


def _named(
    retrieval: Retrieval, question: Question, risen: _RowRank, row: int, scale: Mapping[str, float]
) -> tuple[float, dict[str, float | str]]:
    """Return the score of a row that rises before it rises, and what raises it."""
    assert risen.rank is not None
    assert risen.score is not None
    assert risen.lift is not None
    plain, _ = retrieval.by_content(replace(question, is_whole=True, hops=0))
    places = np.flatnonzero(plain.rows[0] == row).tolist()
    if places:
        fused = float(plain.scores[0, places[0]])
    else:
        fused = _fused(risen.ranked, risen.rank - 1, scale)
    found: dict[str, float | str] = {"gain": risen.score - fused}
    if (by := risen.lift.by) is not None:
        ids = retrieval.rows.looked_at("ids", [by] if by >= 0 else [], question.notes)
        found |= {"by": ids.get(by, ""), "name": risen.lift.shown}
    return fused, found


def _code(retrieval: Retrieval, question: Question, row: int) -> dict[str, float]:
    """Return the terms that the ranking of source code adds for a row, or {}."""
    base, notes = retrieval.rows, question.notes
    if not retrieval.ranks_code(question):
        return {}
    ranked, _ = retrieval.by_content(replace(question, is_whole=True), ranks_code=False)
    rows: list[int] = ranked.rows[0, ranked.rows[0] >= 0].tolist() if len(ranked.rows) else []
    keys = base.looked_at("keys", [*rows, row], notes)
    if row not in rows or not _core.is_code(keys[row][0].decode("utf-8", "surrogatepass")):
        return {}
    scores = ranked.scores[0, : len(rows)].tolist()
    found = _core.rank_code(question.texts[0], [keys[each][0] for each in rows], scores)
    one = next(one for one in found if rows[one.at] == row)
    terms = {"path": one.path, "file": one.file, "prior": one.prior, "discount": one.discount}
    return {"fused": scores[one.at], **terms}


def _scale(
    base: SearchedRows, question: Question, asked: Mapping[str, _Query],
    ranked: Ranked, rows: Selection, k: int,
) -> dict[str, float]:  # fmt: skip
    """Return the numbers of calibrated fusion, or {} for another fusion."""
    if len(asked) < 2 or ranked.score_type != "calibrated":
        return {}
    how = retriever_fusion.method_for(base, question.fusion)
    vector, text = asked["vector"].vector, question.texts[0]
    assert vector is not None  # both retrievers ran
    mean, deviation = base.sample_statistics(vector)
    found, bm25 = base.match(
        [text], min(question.depth, base.live), rows, 1, fields=question.fields,
        notes=question.notes,
    )  # fmt: skip
    best = float(bm25[0, 0]) if found.size and found[0, 0] >= 0 else 0.0
    min_score = base.least(question, np.asarray(vector)[None], (found, bm25))
    scale = {"best": best, "mean": mean, "deviation": deviation, "weight": how.weight(question, 0)}
    if question.known is not None:
        scale["known"] = how.share(question, 0)
    return (
        scale
        if min_score is None or not np.isfinite(min_score[0])
        else scale | {"min_score": float(min_score[0])}
    )


def _evidence(
    ranked: Ranked, place: int, scale: Mapping[str, float], score: float
) -> dict[str, float]:
    """Return the share of a fused score that the document's further passages add, {} if none."""
    added = score - _fused(ranked, place, scale)
    return {"evidence": added} if added else {}


def _fused(ranked: Ranked, place: int, scale: Mapping[str, float]) -> float:
    """Return the fused score of a candidate's own two scores, or its BM25 score alone."""
    if not scale:
        return float(ranked.parts["bm25"][0, place])
    by = _core.Calibration(scale["mean"], scale["deviation"], scale["weight"])
    bm25, near = (ranked.parts[name][0, place : place + 1] for name in ("bm25", "vector"))
    return float(by.scores(bm25, near, scale["best"])[0])


def _bounds(
    base: SearchedRows, row: int, asked: Mapping[str, _Query]
) -> tuple[float, float] | None:
    """Return the bounds of the row's vector score by its compact codes."""
    segment, local = base.place(row)
    if "vector" not in asked or not segment.has("vector"):
        return None
    found = segment.matrix.bounds([local], np.asarray(asked["vector"].vector))
    if found is None or not np.isfinite(found).all():
        return None
    low, high = found[0].tolist()
    return low, high


# --------------------------------------------------------------------------------------------------------------- filters


def _excluded(base: SearchedRows, question: Question, row: int) -> list[str]:
    """Return the parts of the filters that the row does not pass."""
    parts: dict[str, _Condition] = {}
    where = question.where
    if isinstance(where, Mapping):
        for name, condition in cast("Mapping[str, Any]", where).items():
            parts[f"where: {name}"] = {"where": {name: condition}}
    elif where is not None:
        parts["where"] = {"where": where}
    if question.tags_any:
        parts["tags_any"] = {"tags_any": question.tags_any}
    if question.tags_all:
        parts["tags_all"] = {"tags_all": question.tags_all}
    masks = {name: base.flags(base.select(**how), question.notes) for name, how in parts.items()}
    return [name for name, mask in masks.items() if mask is not None and not mask[row]]
