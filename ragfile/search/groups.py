"""The k best documents with their n best passages each, exactly: not what one pool happens to hold.

A document is as good as its best passage. The retrievers are asked deeper and deeper until enough
documents are found whose best passage beats whatever was not seen: a row that no retriever listed
scores at most what the last ones of their lists score together. Then every passage of the chosen
documents is scored. RRF and blend are defined by their pool alone, so their groups are the pool's.

Distinct groups come document after document, in the order of the best passage of each that repeats nothing shown
before; every document brings its n best passages that repeat nothing before them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.search import query_syntax, repeats, retriever_fusion

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.file.stored_rows import Standing
    from ragfile.search.question import Question
    from ragfile.search.retrieval import Retrieval
    from ragfile.search.retriever_fusion import Ranked

DEEPER = 4


def check(question: Question) -> None:
    """Refuse a question that cannot be answered in groups."""
    reranks = question.boost or question.diversity
    if question.group and (len(question.texts) > 1 or reranks or question.mode == "keyword"):
        raise ValueError(
            "group goes with one wording, without boost or diversity, and not with keyword mode"
        )


class Scored(NamedTuple):
    """Rows with their scores, and what no other row can reach."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    parts: dict[str, NDArray[np.float32]]
    beyond: float  # -inf when all rows that can be found are there


def grouped(retrieval: Retrieval, question: Question) -> tuple[Ranked, str]:
    """(the answer, what was left out and why)."""
    notes = question.notes
    if question.query_syntax:
        question = query_syntax.applied(retrieval.rows, question)
    if question.queries is not None:
        raise ValueError("group does not go with words that have a star or a tilde")
    vectors, has_words, degraded = retrieval.retrievers(question)
    notes.note("embed")
    asking = _GroupSearch(retrieval, question, vectors, has_words)
    notes.note("filter")
    ranked = (
        asking.answer()
        if vectors is not None or has_words
        else retriever_fusion.nothing("none", 1, 0)
    )
    notes.note("group")
    return ranked, degraded


class _GroupSearch:
    """One question whose passages are put together by document."""

    def __init__(
        self, retrieval: Retrieval, question: Question, vectors: Any, has_words: bool
    ) -> None:
        self.retrieval, self.base = retrieval, retrieval.rows
        self.question, self.notes = question, question.notes
        self.chosen = retrieval.chosen(question)
        self.mask = self.base.flags(self.chosen, self.notes)
        self.text = question.texts[0]
        self.vector: Any = None if vectors is None else vectors[0]
        self.has_words, self.fields = has_words, question.fields
        self.how = retriever_fusion.method_of(question.fusion, retriever_fusion.recorded(self.base))
        self.is_hybrid = has_words and vectors is not None
        self.standings: dict[int, Standing] = {}
        self.documents: dict[bytes, Standing] = {}  # a row of each
        self.names: list[str] = []  # of the scores by retriever
        self.scale: Any = None  # of calibrated fusion, once the words' best score is known
        self.name = self.how[0] if self.is_hybrid else "bm25" if has_words else "vector"

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

    def _deep_enough(self):
        """(rows seen, documents by their best passage) once no other document can come among them."""
        depth = max(self.question.pool, DEEPER * self.question.wanted, 1)
        while True:
            found = self._seen(min(depth, self.base.live))
            best = self._documents(found)
            sure = sum(score > found.beyond for score, *_ in best)
            if sure >= self.question.wanted or found.beyond == -np.inf or depth >= self.base.live:
                return found, best
            depth *= DEEPER

    def _documents(self, found):
        """[(score, where its best passage stands)] best first."""
        self._notice(found.rows)
        best: dict[bytes, Any] = {}
        for row, score in zip(found.rows.tolist(), found.scores.tolist(), strict=True):
            document = self._document(row)
            if (
                document not in best
                or score > best[document][0]
                or (score == best[document][0] and row < best[document][1])
            ):
                best[document] = score, row
        ranked = [(score, self.standings[row]) for score, row in best.values()]
        return sorted(ranked, key=lambda one: (-one[0], one[1].key))

    def _notice(self, rows):
        """Learns where rows stand, and so their documents."""
        new = [row for row in rows.tolist() if row not in self.standings]
        self.standings |= self.base.looked_at("standings", new, self.notes)
        for row in new:
            self.documents.setdefault(self._document(row), self.standings[row])

    def _document(self, row):
        return self.standings[row].key[0]

    # ---------------------------------------------------------------------------------------------------- scores --

    def _seen(self, depth) -> Scored:
        """The rows that retrievers list to some depth, with what an unlisted row can score at most."""
        words = (
            self._leg(
                self.base.match(
                    [self.text], depth, self.chosen, 1, fields=self.fields, notes=self.notes
                )
            )
            if self.has_words
            else None
        )
        dense = None
        if self.vector is not None:
            dense = self._leg(
                retriever_fusion.reached(
                    self.base, self.question, self.vector[None], depth, self.chosen
                )
            )
        if words is None or dense is None:
            alone: Any = words or dense
            rows, scores = alone
            beyond = float(scores[-1]) if len(rows) == depth else -np.inf
            return Scored(rows, scores.astype(np.float64), {self.name: scores}, beyond)
        rows = np.array(list(dict.fromkeys([*words[0].tolist(), *dense[0].tolist()])), np.int64)
        self._calibrate(words)
        scores, parts = self._fused(rows)
        is_all = len(dense[0]) < depth and len(rows) >= self._passing()
        return Scored(rows, scores, parts, -np.inf if is_all else self._bound(words, dense, depth))

    def _leg(self, found):
        rows, scores = found[0][0], found[1][0]
        return rows[rows >= 0], scores[rows >= 0]

    def _passing(self):
        return self.base.live if self.mask is None else int(self.mask.sum())

    def _calibrate(self, words):
        if self.scale is None:
            self.mean, deviation = self.base.sample_statistics(self.vector)
            self.best = float(words[1][0]) if len(words[1]) else 0.0
            self.scale = _core.Calibration(self.mean, deviation, self.how[1])

    def _bound(self, words, dense, depth):
        """The fused score of a row that is at the end of both lists; one that is not full has nothing below it but
        rows without words, or without a vector, which counts as the mean."""
        bm25 = words[1][-1] if len(words[0]) == depth else np.float32(0)
        near = np.float32(self.mean)
        if len(dense[0]) == depth:
            near = max(near, dense[1][-1])
        return float(self.scale.scores(np.array([bm25]), np.array([near]), self.best)[0])

    def _fused(self, rows):
        """(scores, parts) of rows by both retrievers."""
        bm25 = self.base.scores_of(rows, text=self.text, fields=self.fields, notes=self.notes)
        near = self.base.scores_of(rows, vector=self.vector, notes=self.notes)
        return self.scale.scores(bm25, near, self.best), {"bm25": bm25, "vector": near}

    # -------------------------------------------------------------------------------------------------- passages --

    def _passages(self, documents):
        """[(row, score, parts)]: the best of each document, in the order of the documents."""
        return [
            passage
            for _, there in documents
            for passage in self._inside(there.key[0])[: self.question.group]
        ]

    def _inside(self, document):
        """All passages of a document, best first."""
        there = self.documents[document]
        rows = np.arange(there.first, there.end)
        if self.mask is not None:
            rows = rows[self.mask[rows]]
        scores, parts = self._scores(rows)
        is_found = np.isfinite(scores) & ((scores > 0) if self.name == "bm25" else True)
        order = [i for i in np.lexsort((rows, -scores)).tolist() if is_found[i]]
        return [_passage(rows, scores, parts, i) for i in order]

    def _scores(self, rows):
        if self.name == "calibrated":
            return self._fused(rows)
        asked: dict[str, Any] = {"vector": self.vector}
        if self.has_words:
            asked = {"text": self.text, "fields": self.fields}
        scores = self.base.scores_of(rows, notes=self.notes, **asked)
        return scores.astype(np.float64), {self.name: scores}

    def _ranked(self, passages, names) -> Ranked:
        out = retriever_fusion.nothing(self.name, 1, len(passages), names)
        for i, (row, score, parts) in enumerate(passages):
            out.rows[0, i], out.scores[0, i] = row, score
            for name, value in parts.items():
                out.parts[name][0, i] = value
        return out

    def _of_pool(self) -> Ranked:
        """The groups of what the pool holds."""
        ranked = self._pool(self.question.pool)
        rows = ranked.rows[0][ranked.rows[0] >= 0]
        self._notice(rows)
        by_document: dict[bytes, list[int]] = {}
        for at, row in enumerate(rows.tolist()):
            by_document.setdefault(self._document(row), []).append(at)
        chosen = list(by_document.values())[self.question.offset : self.question.wanted]
        places = [at for places in chosen for at in places[: self.question.group]]
        return ranked.taken([np.array(places, np.intp)], len(places))

    def _pool(self, depth) -> Ranked:
        plain = replace(
            self.question, group=0, is_whole=True, pool=depth, notes=self.notes.untimed()
        )
        ranked, _ = self.retrieval.by_content(plain.limited(self.base.live))
        return ranked

    # --------------------------------------------------------------------------------------- distinct passages --

    def _unrepeated(self, listed) -> Ranked:
        """The groups without repeats, filled up. `listed` gives what a depth has: passages in order, those of
        a document, and whether there are no more."""
        question, depth = self.question, max(self.question.pool, DEEPER * self.question.wanted, 1)
        while True:
            passages, inside, is_all = listed(min(depth, self.base.live))
            groups = self._walk(passages, inside)
            if len(groups) >= question.wanted or is_all or depth >= self.base.live:
                break
            depth *= DEEPER
        shown = [one for group in groups[question.offset : question.wanted] for one in group]
        return self._ranked(shown, self.names)

    def _walk(self, passages, inside):
        """[passages of a document]: documents in the order of their first passage that repeats nothing."""
        shown, groups, opened = repeats.unlike(self.base), [], set()
        for passage, content in self._read(passages):
            if len(groups) == self.question.wanted:
                break
            document = self._document(passage[0])
            if document not in opened and not shown.has(content):
                opened.add(document)
                groups.append(self._new(shown, inside(document)))
        return groups

    def _new(self, shown, passages):
        """The best passages of a document that repeat nothing shown."""
        kept = []
        for passage, content in self._read(self._reaching(passages)):
            if len(kept) < self.question.group and shown.keeps(content):
                kept.append(passage)
        return kept

    def _read(self, passages):
        """Each passage with what repeats are told by."""
        contents = repeats.contents(self.base, [row for row, *_ in passages], self.notes)
        return zip(passages, contents, strict=False)

    def _reaching(self, passages):
        min_score = self.question.min_score
        return passages if min_score is None else [one for one in passages if one[1] >= min_score]

    def _sure_to(self, depth):
        """Passages that no other can come among, of all that the retrievers list to some depth."""
        found = self._seen(depth)
        self.names = list(found.parts)
        is_all = found.beyond == -np.inf or depth >= self.base.live
        self._notice(found.rows)
        sure = np.flatnonzero((found.scores > found.beyond) | is_all)
        sure = [_passage(found.rows, found.scores, found.parts, i) for i in sure.tolist()]
        sure.sort(key=lambda one: (-one[1], self.standings[one[0]].key))
        reaching = self._reaching(sure)
        return reaching, self._inside, is_all or len(reaching) < len(sure)

    def _pool_to(self, depth):
        """What a pool of this depth holds."""
        ranked = self._pool(depth)
        self.names, count = list(ranked.parts), int((ranked.rows[0] >= 0).sum())
        self._notice(ranked.rows[0][:count])
        parts = {name: part[0] for name, part in ranked.parts.items()}
        held = [_passage(ranked.rows[0], ranked.scores[0], parts, i) for i in range(count)]
        reaching, by_document = self._reaching(held), {}
        for one in reaching:
            by_document.setdefault(self._document(one[0]), []).append(one)
        return reaching, by_document.__getitem__, len(reaching) < max(count, depth)


def _passage(rows, scores, parts, i):
    return int(rows[i]), float(scores[i]), {name: part[i] for name, part in parts.items()}
