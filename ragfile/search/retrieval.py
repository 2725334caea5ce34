"""The way of a question through the retrievers of some rows:

    rows that pass ─ [bm25 ─ vector] ─ both exact scores for every row ─ fusion ─ refining ─ hits

A retriever that cannot run (no vectors in the file, no embedder, a provider that is down) is left out, and the
reason goes along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragfile.file.row_sets import RowSets
from ragfile.ground.annotations import deferred
from ragfile.records import Hit
from ragfile.search import paging_and_diversity, query_syntax, repeats, retriever_fusion
from ragfile.search.retriever_fusion import Ranked

if TYPE_CHECKING:
    from ragfile.search.question import Notes, Question
    from ragfile.search.question_vectors import QuestionVectors
    from ragfile.search.rows import SearchedRows
else:
    Notes = deferred("ragfile.search.question", "Notes")
    Question = deferred("ragfile.search.question", "Question")
    QuestionVectors = deferred("ragfile.search.question_vectors", "QuestionVectors")
    SearchedRows = deferred("ragfile.search.rows", "SearchedRows")


class Retrievers(NamedTuple):
    """What a question is asked with: its vectors or None, whether BM25 is asked, why a retriever is left out or ""."""

    vectors: Any  # an array
    has_words: bool
    degraded: str


Part = tuple["Sequence[int]", "Ranked", str]
"""Which questions, their answers, and why a retriever was left out."""


class Retrieval:
    """Rows that are searched, and what makes vectors of questions."""

    __slots__ = ("rows", "vectors")

    def __init__(self, rows: SearchedRows, vectors: QuestionVectors) -> None:
        self.rows, self.vectors = rows, vectors

    def found(self, question: Question) -> list[Part]:
        """Return the answers in parts. Questions that have filters of their own are asked filter by filter."""
        if question.query_syntax and question.mode != "keyword":
            asked = [
                (places, query_syntax.applied(self.rows, part))
                for places, part in question.one_by_one()
            ]
        elif question.has_filters and not self._are_together(question):
            asked = question.by_filter()
        else:
            return [(range(len(question.texts)), *self._answered(question))]
        # A part is a question of its own, which wants more rows for a distinct answer again.
        return [(places, *self._answered(part.limited(self.rows.live))) for places, part in asked]

    def _answered(self, question: Question) -> tuple[Ranked, str]:
        return self._by_name(question) if question.mode == "keyword" else self.by_content(question)

    def _are_together(self, question: Question) -> bool:
        """Whether questions with filters of their own are asked in one go."""
        by_content = question.mode != "keyword" and not question.drop_repeats
        return by_content and question.without is None and not self.rows.are_apart

    def chosen(self, question: Question) -> Any:
        """Return the rows that a question may find, or each of the questions."""
        if question.has_filters:
            return RowSets.of(
                question.where,
                lambda one: self.rows.select(one, question.tags_any, question.tags_all),
            )
        return self.rows.select(
            question.where, question.tags_any, question.tags_all, question.without
        )

    def flags(self, question: Question) -> NDArray[np.bool_] | None:
        """Return the same as a bool for each row, or None for all of them."""
        return self.rows.flags(self.chosen(question), question.notes)

    # ------------------------------------------------------------------------------------------------- by content --

    def by_content(self, question: Question) -> tuple[Ranked, str]:
        """Return the answer by words and vectors, and why a retriever was left out."""
        chosen, notes = self.chosen(question), question.notes
        notes.note("filter")
        vectors, has_words, degraded = self.retrievers(question)
        notes.note("embed")
        if question.fusion is not None:
            retriever_fusion.check(question.fusion)
        if question.fields and (analysis := self.rows.analysis) is not None:
            analysis.weights_for(question.fields)  # which refuses names that it does not know
        if (
            question.drop_repeats and not question.is_whole
        ):  # some of the texts may be asked for more
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
                ranked = paging_and_diversity.refined(self.rows, question, ranked)
        notes.note("fuse")
        return ranked, degraded

    def _candidates(self, question: Question, vectors: Any, has_words: bool, chosen: Any) -> Ranked:
        if has_words and vectors is not None:
            return self.rows.hybrid(question, vectors, chosen)
        return self._by_one(question, vectors, has_words, chosen)

    def _by_one(self, question: Question, vectors: Any, has_words: bool, chosen: Any) -> Ranked:
        """Return the answer of one retriever, or of none."""
        depth = max(question.depth, question.wanted)
        if vectors is None and not has_words:
            return retriever_fusion.nothing("none", len(question.texts), 0)
        if has_words:
            found = self.rows.match(
                question.texts, depth, chosen, question.threads, queries=question.queries,
                fields=question.fields, notes=question.notes,
            )  # fmt: skip
        else:
            found = retriever_fusion.reached(self.rows, question, vectors, depth, chosen)
        name = "bm25" if has_words else "vector"
        question.notes.note(name)
        return retriever_fusion.one_leg(name, found)

    def retrievers(self, question: Question) -> Retrievers:
        """Return what a question is asked with."""
        vectors, degraded, rows = question.vectors, "", self.rows
        if not rows.live:  # nothing to find, and nothing amiss
            return Retrievers(None, False, "")
        if question.mode == "bm25":
            vectors = None
        elif not rows.has_vectors:
            vectors, degraded = None, "the file has no vectors"
        elif vectors is None:
            vectors, degraded = self.vectors.of(question.texts)
        has_words = question.mode != "vector" or vectors is None
        if has_words and not rows.has_bm25:
            has_words, degraded = False, degraded or "the file has no BM25 index"
        return Retrievers(vectors, has_words, degraded)

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
        self, name: str, k: int, chosen: NDArray[np.bool_] | None, notes: Notes
    ) -> NDArray[np.intp]:
        """Return rows with metadata that list the name among their "keywords", or of which it is the id, document or source."""
        mask = self.rows.listing(name, notes)
        if (document := self.rows.find(name)) is not None:
            mask[document.file_rows.start : document.file_rows.stop] = True
        if (row := self.rows.row(name)) is not None:
            mask[row] = True
        return np.flatnonzero(mask if chosen is None else mask & chosen)[:k]

    # ---------------------------------------------------------------------------------------------------- support --

    def nearness(self, question: str, hits: Sequence[Hit]) -> float:
        """Return how many deviations the nearest of some hits is above the mean of the sample, by the vector of the
        question; -inf where vectors were not asked."""
        near = [hit.scores["vector"] for hit in hits if "vector" in hit.scores]
        vectors = self.vectors.of([question])[0] if near else None
        if vectors is None:
            return -np.inf
        mean, deviation = self.rows.sample_statistics(vectors[0])
        return (max(near) - mean) / deviation if deviation > 0 else -np.inf
