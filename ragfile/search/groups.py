"""The k best documents with their n best passages each, exactly, not just those in one pool.

A document ranks by its best passage and the evidence of its other ones (csrc/fusion/further_passages.c). The retrievers
propose more and more candidates until enough documents beat every unlisted row: such a row scores at most as much as
the last ones of both lists together. Evidence raises no document without candidates. Then every passage of the chosen documents is scored. RRF and blend are defined by their pool, so their groups are
those of the pool.

With drop_repeats, documents are ordered by their best passage that repeats nothing shown before, and each brings its n
best passages that repeat nothing before them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ragfile import _core
from ragfile.search import query_syntax, repeats, retriever_fusion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from ragfile.file.stored_rows import Standing
    from ragfile.search import reranker
    from ragfile.search.question import Question
    from ragfile.search.retrieval import Retrieval
    from ragfile.search.retriever_fusion import Ranked
    from ragfile.search.rows_protocol import Found
    from ragfile.types import Float32s, Floats, Int64s

DEEPER = 4


def check(question: Question) -> None:
    """Refuse a question that cannot be answered in groups."""
    reranks = question.boost or question.diversity
    if question.group and (len(question.texts) > 1 or reranks or question.mode == "keyword"):
        raise ValueError("group cannot be combined with rewrites, boost, diversity or keyword mode")


class Scored(NamedTuple):
    """Rows with their scores, and the highest score that any other row can reach."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    parts: dict[str, NDArray[np.float32]]
    beyond: float  # -inf if there are no other rows


class RankedPassage(NamedTuple):
    """A row of the answer, with its score and its scores by retriever."""

    row: int
    score: float
    parts: dict[str, np.float32]


class BestPassage(NamedTuple):
    """The score and place of a document's best passage."""

    score: float
    standing: Standing


class PassageListing(NamedTuple):
    """The passages to some depth in order, a function that returns those of a document, and whether there are no more."""

    passages: list[RankedPassage]
    inside: Callable[[bytes], list[RankedPassage]]
    is_all: bool


class Proposals(NamedTuple):
    """The rows that one retriever lists, best first."""

    rows: Int64s
    scores: Float32s


Scores: TypeAlias = "tuple[NDArray[np.float64], dict[str, NDArray[np.float32]]]"
"""Scores of rows, and their scores by retriever."""


def grouped(retrieval: Retrieval, question: Question) -> tuple[Ranked, str]:
    """Return the answer in groups, and why a retriever was skipped."""
    notes = question.notes
    if question.query_syntax:
        question = query_syntax.applied(retrieval.rows, question)
    if question.queries is not None:
        raise ValueError("group cannot be combined with begin* or speling~ in the question")
    vectors, has_words, degraded = retrieval.retrievers(question)
    notes.note("embed")
    search = _GroupSearch(retrieval, question, vectors, has_words)
    notes.note("filter")
    ranked = (
        search.answer()
        if vectors is not None or has_words
        else retriever_fusion.nothing("none", 1, 0)
    )
    notes.note("group")
    return ranked, degraded


class _GroupSearch:
    """One question with passages grouped by document."""

    def __init__(
        self, retrieval: Retrieval, question: Question, vectors: Floats | None, has_words: bool
    ) -> None:
        self.retrieval, self.base = retrieval, retrieval.rows
        self.question, self.notes = question, question.notes
        self.chosen = retrieval.chosen(question)
        self.mask = self.base.flags(self.chosen, self.notes)
        self.text = question.texts[0]
        self.vector: Any = None  # Any: an array where it is used
        if vectors is not None:
            self.vector = vectors[0]
        self.has_words, self.fields = has_words, question.fields
        self.how = retriever_fusion.method_for(self.base, question.fusion)
        self.is_hybrid = has_words and vectors is not None
        self.evidence = self.how.evidence if self.is_hybrid else 0.0
        self.standings: dict[int, Standing] = {}
        self.documents: dict[bytes, Standing] = {}  # a row of each
        self.names: list[str] = []  # of the scores by retriever
        self.scale: _core.Calibration | None = None  # known once the words have a best score
        self.name = self.how.name if self.is_hybrid else "bm25" if has_words else "vector"

    def answer(self) -> Ranked:
        is_pool = self.is_hybrid and self.name != "calibrated"
        if self.question.drop_repeats:
            return self._unrepeated(self._pool_to if is_pool else self._sure_to)
        if is_pool:
            return self._of_pool()
        found, best = self._deep_enough()
        chosen = best[self.question.offset : self.question.wanted]
        passages = self._passages(chosen)
        return self._ranked(self._reaching(passages), found.parts)

    # ------------------------------------------------------------------------------------------------- documents --

    def _deep_enough(self) -> tuple[Scored, list[BestPassage]]:
        """Return rows and their documents, deep enough that no other document can be among the best."""
        depth = max(self.question.pool, DEEPER * self.question.wanted, 1)
        while True:
            found = self._seen(min(depth, self.base.live))
            best = self._documents(found)
            sure = sum(one.score > found.beyond for one in best)
            counted = _core.evidence_count(-np.sort(-found.scores)) if self.evidence else 0
            if (found.scores > found.beyond).sum() < counted:
                sure = 0  # the rows that count as evidence are not final
            if sure >= self.question.wanted or found.beyond == -np.inf or depth >= self.base.live:
                return found, best
            depth *= DEEPER

    def _documents(self, found: Scored) -> list[BestPassage]:
        """Return the documents of some rows by their best passages, best first."""
        self._notice(found.rows)
        best: dict[bytes, tuple[float, int]] = {}  # (-score, row), smallest first
        for row, score in zip(found.rows.tolist(), found.scores.tolist(), strict=True):
            document, rank = self._document(row), (-score, row)
            if document not in best or rank < best[document]:
                best[document] = rank
        ranked = [BestPassage(-score, self.standings[row]) for score, row in best.values()]
        if self.evidence:
            ranked = self._weighed(found, ranked)
        return sorted(ranked, key=lambda one: (-one.score, one.standing.key))

    def _weighed(self, found: Scored, best: list[BestPassage]) -> list[BestPassage]:
        """Return documents with scores that count the evidence of their further passages."""
        if not best:
            return best
        order = sorted(
            range(len(found.rows)),
            key=lambda i: (-found.scores[i], self.standings[int(found.rows[i])].key),
        )
        order = order[: _core.evidence_count(found.scores[order])]
        if not order:
            return best
        first = [self.standings[int(found.rows[i])].first for i in order]
        weights = _core.evidence_weights(found.scores[order], np.array(first, np.int64))
        known = {row: weight for row, weight in zip(first, weights.tolist(), strict=True) if weight}
        top = float(found.scores[order[0]])
        return [
            BestPassage(
                _core.evidence_of_document(
                    one.score, top, self.evidence, known.get(one.standing.first, 0.0),
                    one.standing.end - one.standing.first,
                ),
                one.standing,
            )
            for one in best
        ]  # fmt: skip

    def _notice(self, rows: Int64s) -> None:
        """Remember the standings of rows, and a row of each of their documents."""
        new = [row for row in rows.tolist() if row not in self.standings]
        self.standings |= self.base.looked_at("standings", new, self.notes)
        for row in new:
            self.documents.setdefault(self._document(row), self.standings[row])

    def _document(self, row: int) -> bytes:
        return self.standings[row].key[0]

    # ---------------------------------------------------------------------------------------------------- scores --

    def _seen(self, depth: int) -> Scored:
        """Return the rows that the retrievers list to some depth, with the best score of any other row."""
        words = self._words(depth) if self.has_words else None
        dense = self._dense(depth) if self.vector is not None else None
        if words is None or dense is None:
            rows, near = words or dense or Proposals(np.empty(0, np.int64), np.empty(0, np.float32))
            beyond = float(near[-1]) if len(rows) == depth else -np.inf
            return Scored(rows, near.astype(np.float64), {self.name: near}, beyond)
        rows = np.array(list(dict.fromkeys([*words.rows.tolist(), *dense.rows.tolist()])), np.int64)
        scale = self.scale = self.scale or self._calibration(words)
        scores, parts = self._fused(rows, scale)
        is_all = len(dense.rows) < depth and len(rows) >= self._passing()
        beyond = -np.inf if is_all else self._bound(words, dense, depth, scale)
        return Scored(rows, scores, parts, beyond)

    def _words(self, depth: int) -> Proposals:
        found = self.base.match(
            [self.text], depth, self.chosen, 1, fields=self.fields, notes=self.notes
        )
        return _proposals(found)

    def _dense(self, depth: int) -> Proposals:
        found = retriever_fusion.reached(
            self.base, self.question, self.vector[None], depth, self.chosen
        )
        return _proposals(found)

    def _passing(self) -> int:
        return self.base.live if self.mask is None else int(self.mask.sum())

    def _calibration(self, words: Proposals) -> _core.Calibration:
        self.mean, deviation = self.base.sample_statistics(self.vector)
        self.best = float(words.scores[0]) if len(words.scores) else 0.0
        return _core.Calibration(self.mean, deviation, self.how.weight(self.question, 0))

    def _bound(
        self, words: Proposals, dense: Proposals, depth: int, scale: _core.Calibration
    ) -> float:
        """Return the fused score of a row at the end of both lists.

        Below a list that is not full there are only rows without words, which score 0, or without a
        vector, which count as the mean.
        """
        bm25 = words.scores[-1] if len(words.rows) == depth else np.float32(0)
        near = np.float32(self.mean)
        if len(dense.rows) == depth:
            near = max(near, dense.scores[-1])
        return float(scale.scores(np.array([bm25]), np.array([near]), self.best)[0])

    def _fused(self, rows: Int64s, scale: _core.Calibration) -> Scores:
        """Return the scores of rows by both retrievers."""
        bm25 = self.base.scores_of(rows, text=self.text, fields=self.fields, notes=self.notes)
        near = self.base.scores_of(rows, vector=self.vector, notes=self.notes)
        return scale.scores(bm25, near, self.best), {"bm25": bm25, "vector": near}

    # -------------------------------------------------------------------------------------------------- passages --

    def _passages(self, documents: Iterable[BestPassage]) -> list[RankedPassage]:
        """Return the best passages of each document, in the order of the documents."""
        return [
            passage
            for _, standing in documents
            for passage in self._inside(standing.key[0])[: self.question.group]
        ]

    def _inside(self, document: bytes) -> list[RankedPassage]:
        """Return all passages of a document, best first."""
        standing = self.documents[document]
        rows = np.arange(standing.first, standing.end)
        if self.mask is not None:
            rows = rows[self.mask[rows]]
        scores, parts = self._scores(rows)
        is_found = np.isfinite(scores) & ((scores > 0) if self.name == "bm25" else True)
        order = [i for i in np.lexsort((rows, -scores)).tolist() if is_found[i]]
        return [_passage(rows, scores, parts, i) for i in order]

    def _scores(self, rows: Int64s) -> Scores:
        if self.name == "calibrated" and self.scale is not None:
            return self._fused(rows, self.scale)
        if self.has_words:
            scores = self.base.scores_of(rows, text=self.text, fields=self.fields, notes=self.notes)
        else:
            scores = self.base.scores_of(rows, vector=self.vector, notes=self.notes)
        return scores.astype(np.float64), {self.name: scores}

    def _ranked(self, passages: Sequence[RankedPassage], names: Iterable[str]) -> Ranked:
        out = retriever_fusion.nothing(self.name, 1, len(passages), names)
        for i, (row, score, parts) in enumerate(passages):
            out.rows[0, i], out.scores[0, i] = row, score
            for name, value in parts.items():
                out.parts[name][0, i] = value
        return out

    def _of_pool(self) -> Ranked:
        """Return the groups of the pool's passages."""
        ranked = self._pool(self.question.pool)
        rows = ranked.rows[0][ranked.rows[0] >= 0]
        self._notice(rows)
        by_document: dict[bytes, list[int]] = {}
        for at, row in enumerate(rows.tolist()):
            by_document.setdefault(self._document(row), []).append(at)
        chosen = list(by_document.values())[self.question.offset : self.question.wanted]
        places = [at for places in chosen for at in places[: self.question.group]]
        return ranked.taken([np.array(places, np.intp)], len(places))

    def _pool(self, depth: int) -> Ranked:
        plain = replace(
            self.question, group=0, is_whole=True, pool=depth, notes=self.notes.untimed()
        )
        ranked, _ = self.retrieval.by_content(plain.limited(self.base.live))
        return ranked

    # --------------------------------------------------------------------------------------- without repeats --

    def _unrepeated(self, listed: Callable[[int], PassageListing]) -> Ranked:
        """Return the groups without repeats, filled up; `listed` returns the passages to some depth."""
        question, depth = self.question, max(self.question.pool, DEEPER * self.question.wanted, 1)
        while True:
            passages, inside, is_all = listed(min(depth, self.base.live))
            groups = self._walk(passages, inside)
            if len(groups) >= question.wanted or is_all or depth >= self.base.live:
                break
            depth *= DEEPER
        shown = [one for group in groups[question.offset : question.wanted] for one in group]
        return self._ranked(shown, self.names)

    def _walk(
        self, passages: list[RankedPassage], inside: Callable[[bytes], list[RankedPassage]]
    ) -> list[list[RankedPassage]]:
        """Return the passages of each document, in the order of their first one that repeats nothing."""
        shown, opened = repeats.unlike(self.base), set[bytes]()
        groups: list[list[RankedPassage]] = []
        for passage, content in self._read(passages):
            if len(groups) == self.question.wanted:
                break
            document = self._document(passage.row)
            if document not in opened and not shown.has(content):
                opened.add(document)
                groups.append(self._new(shown, inside(document)))
        return groups

    def _new(
        self, shown: reranker.Unlike | reranker.UnlikeTexts, passages: list[RankedPassage]
    ) -> list[RankedPassage]:
        """Return the best passages of a document that repeat nothing shown."""
        kept: list[RankedPassage] = []
        for passage, content in self._read(self._reaching(passages)):
            if len(kept) < self.question.group and shown.keeps(content):
                kept.append(passage)
        return kept

    def _read(self, passages: Sequence[RankedPassage]) -> Iterator[tuple[RankedPassage, Any]]:
        """Yield each passage with its vector or text, for comparison."""
        contents = repeats.contents(self.base, [one.row for one in passages], self.notes)
        return zip(passages, contents, strict=False)

    def _reaching(self, passages: list[RankedPassage]) -> list[RankedPassage]:
        min_score = self.question.min_score
        return (
            passages if min_score is None else [one for one in passages if one.score >= min_score]
        )

    def _sure_to(self, depth: int) -> PassageListing:
        """List the passages to some depth that no unlisted row can precede."""
        found = self._seen(depth)
        self.names = list(found.parts)
        is_all = found.beyond == -np.inf or depth >= self.base.live
        self._notice(found.rows)
        places = np.flatnonzero((found.scores > found.beyond) | is_all).tolist()
        sure = [_passage(found.rows, found.scores, found.parts, i) for i in places]
        sure.sort(key=lambda one: (-one.score, self.standings[one.row].key))
        reaching = self._reaching(sure)
        return PassageListing(reaching, self._inside, is_all or len(reaching) < len(sure))

    def _pool_to(self, depth: int) -> PassageListing:
        """List the passages of a pool of some depth."""
        ranked = self._pool(depth)
        self.names, count = list(ranked.parts), int((ranked.rows[0] >= 0).sum())
        self._notice(ranked.rows[0][:count])
        parts = {name: part[0] for name, part in ranked.parts.items()}
        held = [_passage(ranked.rows[0], ranked.scores[0], parts, i) for i in range(count)]
        reaching = self._reaching(held)
        by_document: dict[bytes, list[RankedPassage]] = {}
        for one in reaching:
            by_document.setdefault(self._document(one.row), []).append(one)
        return PassageListing(reaching, by_document.__getitem__, len(reaching) < max(count, depth))


def _proposals(found: Found) -> Proposals:
    """Return the answer to one question without padding."""
    rows, scores = found[0][0], found[1][0]
    return Proposals(rows[rows >= 0], scores[rows >= 0])


def _passage(
    rows: Int64s, scores: NDArray[np.float64], parts: dict[str, NDArray[np.float32]], i: int
) -> RankedPassage:
    each = {name: part[i] for name, part in parts.items()}
    return RankedPassage(int(rows[i]), float(scores[i]), each)
