"""The way of a question through the retrievers of an open file:

    rows that pass ─ [bm25 ─ vector] ─ both exact scores for every row ─ fusion ─ refining ─ hits

A retriever that cannot run (no vectors in the file, no embedder, a provider that is down) is left out, and the
reason goes along.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragfile import _core
from ragfile.file import filters, prefetch, sample_rows
from ragfile.file.archive import Archive
from ragfile.file.row_sets import RowSet, RowSets
from ragfile.ground.annotations import deferred
from ragfile.ingest.analysis import Statistics
from ragfile.records import Hit, Hits
from ragfile.search import paging_and_diversity, query_syntax, repeats, retriever_fusion
from ragfile.search.retriever_fusion import Ranked
from ragfile.types import Vector

if TYPE_CHECKING:
    from ragfile.search.question import Question
    from ragfile.search.question_vectors import QuestionVectors
else:
    Question = deferred("ragfile.search.question", "Question")
    QuestionVectors = deferred("ragfile.search.question_vectors", "QuestionVectors")


class Clock:
    """Milliseconds by stage."""

    def __init__(self):
        self._last, self.spent = time.perf_counter(), {}

    def note(self, stage):
        now = time.perf_counter()
        self.spent[stage] = self.spent.get(stage, 0.0) + (now - self._last) * 1e3
        self._last = now

    def noted(self, stages, rest):
        """The same of several stages that were timed elsewhere; the rest of the time is one more's."""
        for stage, spent in stages.items():
            self.spent[stage] = self.spent.get(stage, 0.0) + spent
        self.note(rest)
        self.spent[rest] -= sum(stages.values())


class Retrieval(Archive):
    """A 1.0 file whose retrievers can be asked together."""

    _question_vectors: QuestionVectors

    def _found(self, question, clock) -> list[tuple[Sequence[int], Ranked, str]]:
        """What was found, in parts: (which questions, their answers, what was left out and why). Questions that have
        filters of their own are asked filter by filter."""
        asked = [(range(len(question.texts)), question)]
        if question.query_syntax and question.mode != "keyword":
            asked = [
                (places, query_syntax.applied(self, part)) for places, part in question.one_by_one()
            ]
        elif question.has_filters and not self._are_together(question):
            asked = question.by_filter()
        ask = self._by_name if question.mode == "keyword" else self._by_content
        # A part is a question of its own, which wants more rows for a distinct answer again.
        answers = [
            ask(part if part is question else part.limited(len(self)), clock) for _, part in asked
        ]
        return [
            (places, ranked, why) for (places, _), (ranked, why) in zip(asked, answers, strict=True)
        ]

    def nearness(self, question: str, hits: Sequence[Hit]) -> float:
        """How many deviations of the sample the nearest of some hits stands above its mean, by the vector of the
        question; -inf where vectors were not asked."""
        near = [hit.scores["vector"] for hit in hits if "vector" in hit.scores]
        vectors = self._question_vectors.of([question])[0] if near else None
        if vectors is None:
            return -np.inf
        mean, deviation = self.sample_statistics(vectors[0])
        return (max(near) - mean) / deviation if deviation > 0 else -np.inf

    has_filters_apart = False  # whether questions with filters of their own are asked one by one

    def _are_together(self, question):
        """Whether questions with filters of their own are asked in one go."""
        by_content = question.mode != "keyword" and not question.drop_repeats
        return by_content and question.without is None and not self.has_filters_apart

    def _rows_for(self, question):
        """The rows that a question may find, or each of the questions."""
        if question.has_filters:
            return RowSets.of(
                question.where, lambda one: self.row_set(one, question.tags_any, question.tags_all)
            )
        if question.without is not None:
            return self.row_set(self._passing(question))
        if question.where is None and not (question.tags_any or question.tags_all):
            return RowSet(None)
        return self.row_set(question.where, question.tags_any, question.tags_all)

    def _passing(self, question) -> NDArray[np.bool_] | None:
        """The same as a bool for each row, or None for all of them."""
        mask = self.mask(question.where, question.tags_any, question.tags_all)
        if question.without is None:
            return mask
        mask = np.ones(self.rows, bool) if mask is None else mask.copy()
        mask[question.without] = False
        return self.alive(mask)

    # ------------------------------------------------------------------------------------------ the dictionary --

    @property
    def lexicon(self) -> Any:
        """What makes terms of words as the index does."""
        return self._searched("rag.terms")[0].lexicon

    def _spelled(self, word: str, edits: int) -> dict[str, int]:
        """The terms that begin with a word, or are so many edits away, with how many live rows have them."""
        segments, found = self._searched("rag.terms"), {}
        for lexicon in (segment.lexicon for segment in segments):
            for term in lexicon.near(word, edits) if edits else lexicon.beginning(word):
                found[term] = 0
        for term in found:
            found[term] = sum(s.lexicon.df(term, s.alive) for s in segments)
        return {term: df for term, df in found.items() if df}

    def _statistics_of(self, query: str, fields: Any = None) -> Statistics:
        """The sums over all live rows that a question's terms are weighed by."""
        segments = self._searched("rag.terms")
        if self._weights(segments, fields) is not None:
            return Statistics.weighed(self._asked_for([query], fields))
        pairs = [(s.lexicon, s.alive) for s in segments]
        return Statistics.over(pairs, self.lexicon.queries([query]))

    def _asked_for(self, texts: list[str], fields: Any = None, terms: Sequence[str] = ()) -> Any:
        """Texts, and terms of the dictionary with the one that there is, as what the index is asked, by weights of
        fields."""
        segments = self._searched("rag.terms")
        return segments.questions(texts, terms, self._weights(segments, fields))

    def _signed(self, question: Any, signs: Sequence[query_syntax.Sign]) -> Any:
        """The rows that a question may find and that its signs leave."""
        return RowSet(query_syntax.left(self, signs, self._passing(question)))

    def _by_content(self, question, clock):
        rows = self._rows_for(question)
        clock.note("filter")
        vectors, has_words, degraded = self._retrievers(question)
        clock.note("embed")
        retriever_fusion.check(question.fusion)
        if question.fields and self.analysis is not None:
            self.analysis.weights_for(question.fields)  # which refuses names that it does not know

        def candidates(asked, vectors):
            if has_words and vectors is not None:
                return self._fused(asked, vectors, rows, clock)
            return self._by_one(asked, vectors, has_words, rows, clock)

        if (
            question.drop_repeats and not question.is_whole
        ):  # some of the texts may be asked for more
            asked = replace(question, vectors=vectors)
            ranked = repeats.without(self, asked, lambda part: candidates(part, part.vectors))
        else:
            ranked = paging_and_diversity.refined(self, question, candidates(question, vectors))
        clock.note("fuse")
        return ranked, degraded

    def _fused(self, question, vectors, rows, clock):
        """The answer of both retrievers."""
        fusing = retriever_fusion.RetrieverFusion(self, question, vectors)
        depth, threads = question.depth, question.threads
        segments = self._searched("rag.terms")
        width = 2 * depth if question.looks_beyond else question.wanted
        if fusing.is_at_once:
            queries = question.queries or segments.questions(question.texts)
            clock.note("bm25")
            return fusing.at_once(queries, rows.alone(segments), width, clock)
        prefetch.terms(segments)
        weights = self._weights(segments, question.fields)
        prefetch.lists(segments, question.texts, weights is not None)
        queries = question.queries or segments.questions(question.texts, weights=weights)
        words = self._matched(
            question.texts, depth, rows, threads, queries=queries, fields=question.fields
        )
        clock.note("bm25")
        min_score = fusing.least(queries, words)
        clock.note("fuse")
        dense = self._reached(question, vectors, depth, rows, min_score)
        clock.note("vector")
        return fusing.ranked(dense, width)

    def _reached(
        self, question: Question, vectors: Any, k: int, rows: Any, min_score: Any = None
    ) -> Any:
        """The k best rows by vector, with the question's effort; notes what share of them there is."""
        threads, effort = question.threads, question.effort
        if effort >= 1:
            return self.nearest(vectors, k, where=rows, threads=threads, min_score=min_score)
        recall = np.ones(len(vectors))
        found = self.nearest(
            vectors,
            k,
            where=rows,
            threads=threads,
            min_score=min_score,
            effort=effort,
            recall=recall,
        )
        question.recall.note(recall)
        return found

    def _least(self, question: Question, vectors: Any, words: Any) -> Any:
        """What a row must have by vector that no word found, to be among the answers to come."""
        queries = self._asked_for(question.texts, question.fields)
        return retriever_fusion.RetrieverFusion(self, question, vectors).least(queries, words)

    def _by_one(self, question, vectors, has_words, rows, clock):
        """The answer of one retriever, or of none."""
        depth, threads = max(question.depth, question.wanted), question.threads
        if vectors is None and not has_words:
            return retriever_fusion.nothing("none", len(question.texts), 0)
        if has_words:
            found = (
                "bm25",
                self._matched(
                    question.texts,
                    depth,
                    rows,
                    threads,
                    queries=question.queries,
                    fields=question.fields,
                ),
            )
        else:
            near: Any = vectors
            found = "vector", self._reached(question, near, depth, rows)
        clock.note(found[0])
        return retriever_fusion.one_leg(*found)

    def _retrievers(self, question):
        """(the questions' vectors or None, whether BM25 is asked, why a retriever of this mode is left out or "")."""
        vectors, degraded = question.vectors, ""
        if not len(self):  # nothing to find, and nothing amiss
            return None, False, ""
        if question.mode == "bm25":
            vectors = None
        elif not self.has_vectors:
            vectors, degraded = None, "the file has no vectors"
        elif vectors is None:
            vectors, degraded = self._question_vectors.of(question.texts)
        has_words = question.mode != "vector" or vectors is None
        if has_words and not self.has_bm25:
            has_words, degraded = False, degraded or "the file has no BM25 index"
        return vectors, has_words, degraded

    def _by_name(self, question, clock):
        chosen = self.mask(question.where, question.tags_any, question.tags_all)
        named = [
            self._named(text, question.wanted, chosen)[question.offset :] for text in question.texts
        ]
        ranked = retriever_fusion.nothing(
            "keyword", len(named), max(map(len, named), default=0), ["keyword"]
        )
        for i, rows in enumerate(named):
            ranked.rows[i, : len(rows)] = rows
            ranked.scores[i, : len(rows)] = ranked.parts["keyword"][i, : len(rows)] = 1.0
        return ranked, ""

    def _named(self, name, k, chosen):
        """Rows whose metadata lists the name among its "keywords", or whose id, document or source it is."""
        mask = self._listing(name)
        if (there := self.find(name)) is not None:
            mask[there.file_rows.start : there.file_rows.stop] = True
        if (row := self.row(name)) is not None:
            mask[row] = True
        return np.flatnonzero(mask if chosen is None else mask & chosen)[:k]

    def _listing(self, name) -> Any:
        """bool[rows]: those whose metadata list a name among their "keywords"."""
        return self.passing(filters.compile({"keywords": {"$contains": name}})).mask

    def _hits(self, ranked, degraded) -> list[Hits]:
        """The hits of some answers. Those of a file that is elsewhere are read now, in few requests; others on first look."""
        passages, parts = self.passages(), ranked.parts.items()
        skips_nan = "vector" in ranked.parts and self.has_bare_rows
        found = []
        for i, (rows, scores) in enumerate(zip(ranked.rows, ranked.scores, strict=True)):
            each = {name: part[i] for name, part in parts}
            hits = passages.hits(rows, scores, ranked.score_type, each, skips_nan)
            found.append(Hits(hits, degraded=degraded))
        if self.is_elsewhere:
            self._read_now(ranked, found)
        return found

    def _read_now(self, ranked, found):
        """All that hits of a file that is elsewhere have to say, in few requests for each answer."""
        for rows, hits in zip(ranked.rows, found, strict=True):
            prefetch.passages(self.segments, rows[rows >= 0].tolist())
            for hit in hits:
                hit.read()

    # -------------------------------------------------------------------------------------------------- the sample --

    @property
    def sample(self) -> NDArray[np.int64]:
        """Rows that stand for the collection: those with the smallest hashes of their keys, whatever the file's history."""
        return sample_rows.sample(self.segments, with_vectors=False).rows

    @property
    def sample_vectors(self) -> _core.Sample:
        """The vectors of the sample, kept together in memory."""
        sample = self._made.get("sample")
        if sample is None:
            rows = sample_rows.sample(self.segments).vectors
            vectors = (
                np.array(rows, np.float32) if rows else np.empty((0, self.dim or 0), np.float32)
            )
            sample = self._made["sample"] = _core.Sample(
                vectors, self.config.get("metric", "cosine")
            )
        return sample

    def sample_statistics(self, vector: Vector) -> tuple[float, float]:
        """(mean, deviation) of a question's exact scores over the sample."""
        return self.sample_vectors.moments(vector)

    @property
    def fusion_method(self) -> tuple[str, Any]:
        """(method, its parameter) of fusion where a question does not choose: the file's."""
        found = self._made.get("fusion method")
        if found is None:
            found = retriever_fusion.method_of(None, retriever_fusion.recorded(self))
            self._made["fusion method"] = found
        return found

    @property
    def fusion_core(self) -> _core.Fusion:
        """What fuses the answers of both retrievers; made on first use."""
        core = self._made.get("fusion")
        if core is None:
            near, words = self._searched("vector"), self._searched("rag.terms")
            lexicon = words.lexicons or words[0].lexicon
            parts = near.parts if len(near) == len(words) else words.parts_with(near)
            core = self._made["fusion"] = _core.Fusion(parts, lexicon, near[0].matrix)
        return core
