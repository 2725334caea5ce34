"""Several wordings of a question: each is answered on its own, and the answers are fused by ranks (RRF).

The scores by retriever are those of the question itself, which comes first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ragfile.search import fusion, refinement, repeats, retriever_fusion

if TYPE_CHECKING:
    from ragfile.search.question import Question
    from ragfile.search.retrieval import Retrieval
    from ragfile.search.retriever_fusion import Ranked
    from ragfile.types import Float32s, Int64s, Rewrites


def worded(rewrites: Rewrites, query: str) -> list[str]:
    """Return the other wordings of a question; a function is called with the question."""
    found = rewrites(query) if callable(rewrites) else rewrites
    if isinstance(found, str):
        raise TypeError("rewrites are a list of texts, not one text")
    return list(found)


def widened(retrieval: Retrieval, question: Question) -> tuple[Ranked, str]:
    """Return the answer to all wordings together, and why a retriever was skipped."""
    if question.query_syntax or question.mode == "keyword":
        raise ValueError("rewrites cannot be combined with query_syntax or with keyword mode")
    plain = replace(
        question,
        k=question.depth,
        offset=0,
        min_score=None,
        drop_repeats=False,
        diversity=0.0,
        boost=(),
    )
    degraded, base = "", retrieval.rows

    def candidates(asked: Question) -> Ranked:
        nonlocal degraded
        depth = max(asked.depth, plain.k)
        ((_, each, degraded),) = retrieval.found(replace(plain, k=depth, pool=depth))
        return _fused(retrieval, question, each)

    if question.drop_repeats:
        first = replace(question, texts=question.texts[:1], vectors=None)
        ranked = repeats.without(base, first, candidates)
    else:
        ranked = refinement.refined(base, question, candidates(question))
    question.notes.note("fuse")
    return ranked, degraded


def _fused(retrieval: Retrieval, question: Question, each: Ranked) -> Ranked:
    """Return the rows of all answers by the sum of 1 / (60 + rank), ties by key."""
    base, notes = retrieval.rows, question.notes
    keys = base.looked_at("keys", np.unique(each.rows[each.rows >= 0]), notes)
    rows = sorted(keys, key=keys.__getitem__)
    places = {row: place for place, row in enumerate(rows)}
    rankings = [
        fusion.Ranking([places[row] for row in found[found >= 0].tolist()], ())
        for found in each.rows
    ]
    order, scores = fusion.rrf(rankings)
    ranked = retriever_fusion.nothing("rrf", 1, len(rows), each.parts)
    ranked.rows[0], ranked.scores[0] = np.array(rows, np.int64)[order], scores
    for name, part in ranked.parts.items():
        part[0] = _scores(retrieval, question, name, ranked.rows[0])
    return ranked


def _scores(retrieval: Retrieval, question: Question, name: str, rows: Int64s) -> Float32s:
    """Return the scores of rows by one retriever, for the question itself."""
    base, notes = retrieval.rows, question.notes
    if name == "bm25":
        text, fields = question.texts[0], question.fields
        return base.scores_of(rows, text=text, fields=fields, notes=notes)
    if name == "sparse":
        return base.sparse_scores(rows, question.weights[0], notes)
    vectors = retrieval.retrievers(question).vectors
    assert vectors is not None  # the vector retriever ran
    return base.scores_of(rows, vector=vectors[0], notes=notes)
