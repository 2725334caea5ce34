"""Retrieval: a question's way through the retrievers of some rows.

    rows that pass ─ [bm25 ─ vector] ─ both exact scores for every row ─ fusion ─ paging ─ hits

A retriever that cannot run (the rows have no vectors, no embedder is available, a provider is down) is skipped, and
the reason is returned with the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ragfile.file.row_sets import RowSets
from ragfile.ground.annotations import deferred
from ragfile.ground.cancellation import steps
from ragfile.records import Hit
from ragfile.search import (
    code_order,
    named_pages,
    query_syntax,
    refinement,
    repeats,
    retriever_fusion,
    sparse_fusion,
)
from ragfile.search.retriever_fusion import Part, Ranked

if TYPE_CHECKING:
    from ragfile.search.question import Notes, Question
    from ragfile.search.question_vectors import QuestionVectors
    from ragfile.search.rows_protocol import Found, SearchedRows, Selection
    from ragfile.types import Booleans, Floats
else:
    Notes = deferred("ragfile.search.question", "Notes")
    Question = deferred("ragfile.search.question", "Question")
    QuestionVectors = deferred("ragfile.search.question_vectors", "QuestionVectors")
    SearchedRows = deferred("ragfile.search.rows_protocol", "SearchedRows")
    Booleans = deferred("ragfile.types", "Booleans")
    Floats = deferred("ragfile.types", "Floats")


class Retrievers(NamedTuple):
    """The retrievers of a question: its vectors or None, whether BM25 runs, and why one is skipped, or ""."""

    vectors: Floats | None
    has_words: bool
    degraded: str


class Retrieval:
    """Rows to search, and the vectors of questions."""

    __slots__ = ("rows", "vectors")

    def __init__(self, rows: SearchedRows, vectors: QuestionVectors) -> None:
        self.rows, self.vectors = rows, vectors

    def found(self, question: Question) -> list[Part]:
        """Return the answers in parts; questions with their own filters are asked filter by filter."""
        if question.query_syntax and question.mode != "keyword":
            asked = [
                (places, query_syntax.applied(self.rows, part))
                for places, part in steps(question.one_by_one())
            ]
        elif question.has_filters and not self._are_together(question):
            asked = question.by_filter()
        else:
            return [Part(range(len(question.texts)), *self._answered(question))]
        # Making a part raises its pool again if it drops repeats, so it is limited again.
        return [
            Part(places, *self._answered(part.limited(self.rows.live)))
            for places, part in steps(asked)
        ]

    def _answered(self, question: Question) -> tuple[Ranked, str]:
        return self._by_name(question) if question.mode == "keyword" else self.by_content(question)

    def _are_together(self, question: Question) -> bool:
        """Return whether questions with their own filters are asked together."""
        by_content = question.mode != "keyword" and not (question.drop_repeats or question.weights)
        return by_content and question.without is None and not self.rows.are_apart

    def chosen(self, question: Question) -> Selection:
        """Return the rows that a question may find, or those of each of its texts."""
        if question.has_filters:
            return RowSets.of(
                question.where,
                lambda one: self.rows.select(one, question.tags_any, question.tags_all),
            )
        return self.rows.select(
            question.where, question.tags_any, question.tags_all, question.without
        )

    def flags(self, question: Question) -> Booleans | None:
        """Return a bool for each row: whether a question may find it. None for all rows."""
        return self.rows.flags(self.chosen(question), question.notes)

    # ------------------------------------------------------------------------------------------------- by content --

    def by_content(self, question: Question, *, ranks_code: bool = True) -> tuple[Ranked, str]:
        """Return the answer by words and vectors, and why a retriever was skipped.

        Without ranks_code, source code is ranked like other text.
        """
        chosen, notes = self.chosen(question), question.notes
        notes.note("filter")
        vectors, has_words, degraded = self.retrievers(question)
        notes.note("embed")
        question.ranks_code = ranks_code and has_words and self.ranks_code(question)
        question.named = named_pages.share(
            self.rows, question, has_words=has_words, has_vectors=vectors is not None
        )
        if question.fusion is not None:
            retriever_fusion.check(question.fusion)
        if question.fields and (analysis := self.rows.analysis) is not None:
            analysis.weights_for(question.fields)  # refuses unknown fields
        if question.drop_repeats and not question.is_whole:
            asked = replace(question, vectors=vectors)
            ranked = repeats.without(
                self.rows,
                asked,
                lambda part: self._candidates(part, part.vectors, has_words, chosen),
            )
        else:
            ranked = self._candidates(question, vectors, has_words, chosen)
            if question.is_plain:
                ranked = ranked.page(question.offset, question.k)
            else:
                ranked = refinement.refined(self.rows, question, ranked)
        notes.note("fuse")
        return ranked, degraded

    def _candidates(
        self, question: Question, vectors: Floats | None, has_words: bool, chosen: Selection
    ) -> Ranked:
        if has_words and vectors is not None:
            found = self.rows.hybrid(question, vectors, chosen)
        else:
            found = self._by_one(question, vectors, has_words, chosen)
        if question.weighs:
            found = sparse_fusion.ranked(self.rows, question, found, vectors, chosen)
        if question.ranks_code:
            return code_order.ranked(self.rows, question, found)
        if not question.named:
            return found
        return named_pages.ranked(self.rows, question, found, vectors, chosen)

    def ranks_code(self, question: Question) -> bool:
        """Return whether the file records the ranking of source code, and the question has words for it."""
        return "code" in self.rows.config and question.without is None

    def _by_one(
        self, question: Question, vectors: Floats | None, has_words: bool, chosen: Selection
    ) -> Ranked:
        """Return the answer of one retriever, or of none."""
        depth = max(question.depth, question.wanted)
        if has_words and question.is_unranked:
            found = self._listed(chosen, depth, question.notes)
        elif has_words:
            found = self.rows.match(
                question.texts, depth, chosen, question.threads, queries=question.queries,
                fields=question.fields, notes=question.notes,
            )  # fmt: skip
        elif vectors is not None:
            found = retriever_fusion.reached(self.rows, question, vectors, depth, chosen)
        else:
            return retriever_fusion.nothing("none", len(question.texts), 0)
        name = "bm25" if has_words else "vector"
        question.notes.note(name)
        return retriever_fusion.alone(name, found)

    def _listed(self, chosen: Selection, depth: int, notes: Notes) -> Found:
        """Return the first rows that a question of one text may find, all with the score 0."""
        mask = self.rows.flags(chosen, notes)
        assert mask is not None  # a phrase selects rows
        passing = np.flatnonzero(mask)
        order = self.rows.ties_each([passing], notes)[0]
        listed = passing[np.argsort(order)][:depth]
        rows = np.full((1, depth), -1, np.int64)
        scores = np.full((1, depth), np.nan, np.float32)
        rows[0, : len(listed)], scores[0, : len(listed)] = listed, 0.0
        return rows, scores

    def retrievers(self, question: Question) -> Retrievers:
        """Return the retrievers that can run for a question."""
        vectors, degraded, rows = question.vectors, "", self.rows
        if not rows.live:  # an empty file is not degraded
            return Retrievers(None, False, "")
        asks_weights = question.sparse is not None and question.mode in ("hybrid", "sparse")
        question.weighs = asks_weights and rows.has_sparse
        without = (
            "the chunks have no sparse weights" if asks_weights and not rows.has_sparse else ""
        )
        if question.mode == "sparse":
            return Retrievers(None, False, without)
        if question.mode == "bm25":
            vectors = None
        elif not rows.has_vectors:
            vectors, degraded = None, "the file has no vectors"
        elif vectors is None:
            vectors, degraded = self.vectors.of(question.texts)
        has_words = question.mode != "vector" or vectors is None
        if has_words and not rows.has_bm25:
            has_words, degraded = False, degraded or "the file has no BM25 index"
        if has_words and vectors is not None and self._counts_known(question):
            question.known = self.vectors.known(question.texts)
        return Retrievers(vectors, has_words, degraded or without)

    def _counts_known(self, question: Question) -> bool:
        return retriever_fusion.method_for(self.rows, question.fusion).known > 0

    # ---------------------------------------------------------------------------------------------------- by name --

    def _by_name(self, question: Question) -> tuple[Ranked, str]:
        chosen = self.rows.select(question.where, question.tags_any, question.tags_all)
        mask = self.rows.flags(chosen, question.notes)
        named = [
            self._named(text, question.wanted, mask, question.notes)[question.offset :]
            for text in question.texts
        ]
        ranked = retriever_fusion.nothing(
            "keyword", len(named), max(map(len, named), default=0), ["keyword"]
        )
        for i, rows in enumerate(named):
            ranked.rows[i, : len(rows)] = rows
            ranked.scores[i, : len(rows)] = ranked.parts["keyword"][i, : len(rows)] = 1.0
        return ranked, ""

    def _named(
        self, name: str, k: int, chosen: Booleans | None, notes: Notes
    ) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Return the rows with a name among their "keywords", or as their id, document or source."""
        mask = self.rows.listing(name, notes)
        if (document := self.rows.find(name)) is not None:
            mask[document.file_rows.start : document.file_rows.stop] = True
        if (row := self.rows.row(name)) is not None:
            mask[row] = True
        return np.flatnonzero(mask if chosen is None else mask & chosen)[:k]

    # ---------------------------------------------------------------------------------------------------- support --

    def nearness(self, question: str, hits: Sequence[Hit]) -> float:
        """Return how many deviations the nearest hit's vector score is above the sample's mean; -inf without one."""
        near = [hit.scores["vector"] for hit in hits if "vector" in hit.scores]
        vectors = self.vectors.of([question])[0] if near else None
        if vectors is None:
            return -np.inf
        mean, deviation = self.rows.sample_statistics(vectors[0])
        return (max(near) - mean) / deviation if deviation > 0 else -np.inf
