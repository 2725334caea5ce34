"""A question in several wordings: each is answered on its own, and the answers are fused by ranks (RRF).

The scores by retriever are those of the question itself, which comes first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ragfile.search import fusion, paging_and_diversity, repeats, retriever_fusion

if TYPE_CHECKING:
    from typing import Any

    from ragfile.search.question import Question
    from ragfile.search.retrieval import Retrieval
    from ragfile.search.retriever_fusion import Ranked


def worded(rewrites: Any, query: str) -> list[str]:
    """The other wordings of a question: a list, or what a function makes of it."""
    found: Any = rewrites(query) if callable(rewrites) else rewrites
    if isinstance(found, str):
        raise TypeError("rewrites are a list of texts, not one text")
    return list(found)


def widened(retrieval: Retrieval, question: Question) -> tuple[Ranked, str]:
    """(the answer to all wordings together, what was left out and why)."""
    if question.query_syntax or question.mode == "keyword":
        raise ValueError("rewrites go neither with query_syntax nor with keyword mode")
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
        ranked = paging_and_diversity.refined(base, question, candidates(question))
    question.notes.note("fuse")
    return ranked, degraded


def _fused(retrieval: Retrieval, question: Question, each: Ranked) -> Ranked:
    """The rows of all answers by the sum of 1 / (60 + rank), ties by key."""
    base, notes = retrieval.rows, question.notes
    keys = base.looked_at("keys", np.unique(each.rows[each.rows >= 0]), notes)
    rows = sorted(keys, key=keys.__getitem__)
    places = {row: place for place, row in enumerate(rows)}
    legs = [([places[row] for row in found[found >= 0].tolist()], None) for found in each.rows]
    order, scores = fusion.rrf(legs)
    ranked = retriever_fusion.nothing("rrf", 1, len(rows), each.parts)
    ranked.rows[0], ranked.scores[0] = np.array(rows, np.int64)[order], scores
    for name, part in ranked.parts.items():
        part[0] = base.scores_of(ranked.rows[0], notes=notes, **_asked(retrieval, question, name))
    return ranked


def _asked(retrieval: Retrieval, question: Question, name: str) -> dict[str, Any]:
    """What a retriever is asked by the question itself."""
    if name == "bm25":
        return {"text": question.texts[0], "fields": question.fields}
    return {"vector": retrieval.retrievers(question).vectors[0]}
