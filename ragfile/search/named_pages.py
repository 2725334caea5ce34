"""Pages that the best passages of a ranking name rise: spec 6.3.2 has the rule, csrc/fusion/named.c its numbers.

    ranking ─ seeds (passages of the three best documents) ─ titles and links in their texts ─ masses ─ raised rows ─ new order

The rule reads the first rows of the ranking alone, which no search skips. It scores rows that are not among them
exactly. So an answer does not depend on the number of results, on shards, or on the history of a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ragfile import _core
from ragfile.file.row_sets import RowSets
from ragfile.search import retriever_fusion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from ragfile.search.question import Question
    from ragfile.search.retriever_fusion import Method, Ranked
    from ragfile.search.rows_protocol import SearchedRows, Selection
    from ragfile.types import Floats, Int64s

ONE_STEP, TWO_STEPS = 1, 2  # values of hops=
STRONG = 1.0  # the share with TWO_STEPS


Seed: TypeAlias = "tuple[int, int, float]"
"""The row of a passage whose names count, the first row of its document, and its share of the best score."""

Names: TypeAlias = "list[tuple[str, list[int]]]"
"""Titles as they stand in a text, each with the first rows of the documents that have it."""

TitleMatch: TypeAlias = "tuple[int, int, int, int]"
"""A title in a text: its first byte, its end, the first byte of its last word, and the first row of a document."""


class _Named(NamedTuple):
    """What one question's seeds name, and the question; the pages to which the seeds link, with their weight."""

    names: Sequence[Names]
    links: Sequence[Names]
    linked: float


class Lift(NamedTuple):
    """The rule's addition to the score of a row.

    Attributes:
        mass: From 0 to 1, the share of the largest addition.
        by: The row of the passage that names the page most, -1 for the question, None for a passage that only
            names others.
        name: The title or the link, as it stands there.
    """

    mass: float
    by: int | None
    name: str

    @property
    def shown(self) -> str:
        """The title, or the text of the link."""
        if not self.name.startswith(("[", "!", "<")):
            return self.name
        from ragfile.ingest.document_links import label_of  # which a search does not need

        return label_of(self.name)[1] or self.name.strip("![]")  # a wikilink can do without a text


Lifts: TypeAlias = "dict[int, Lift]"
"""The rows of one answer that rise."""


def share(base: SearchedRows, question: Question, *, has_words: bool, has_vectors: bool) -> float:
    """Return the share by which named pages rise in the answer to a question, 0 if the rule does not apply."""
    if not (has_words and question.hops and base.has_names):
        return 0.0
    if question.without is not None or question.ranks_code or question.queries is not None:
        return 0.0
    if question.weighs:
        return 0.0
    how = _method(base, question, has_vectors)
    if has_vectors and how.name != "calibrated":
        return 0.0
    return STRONG if how.named and question.hops == TWO_STEPS else how.named


def steps_of(base: SearchedRows, text: str) -> int:
    """Return the hops that suit a question to be answered: two steps if it names a page of the file, else one."""
    from ragfile.search.question import Notes  # which imports this module for its types

    if not (base.has_names and base.fusion_method.named):
        return ONE_STEP
    notes = Notes()
    names = base.names_each([text], notes)[0]
    frequencies = base.rarest([name for name, _ in names], notes) if names else []
    weights = (
        _core.named_weight(base.live, df, len(documents))
        for df, (_, documents) in zip(frequencies, names, strict=True)
    )
    return TWO_STEPS if any(weights) else ONE_STEP


def _method(base: SearchedRows, question: Question, has_vectors: bool) -> Method:
    return retriever_fusion.method_for(base, question.fusion) if has_vectors else base.fusion_method


def ranked(
    base: SearchedRows, question: Question, found: Ranked, vectors: Floats | None, chosen: Selection
) -> Ranked:
    """Return all candidates of each text with the pages that its best ones name."""
    linked = _method(base, question, vectors is not None).linked
    lifts_of_texts = question.notes.lifts = lifts_each(base, question, found, linked)
    if not any(lifts_of_texts):
        return found
    orders = [
        _Reordered(base, question, found, i, vectors).with_lifts(lifts, chosen)
        for i, lifts in enumerate(lifts_of_texts)
    ]
    return retriever_fusion.in_turn([order.alone() for order in orders])


def lifts_each(base: SearchedRows, question: Question, found: Ranked, linked: float) -> list[Lifts]:
    """Return the rows of each answer that rise because its best passages name their documents.

    A link counts as a name of the weight `linked`.
    """
    if (at_once := base.named_pages()) is not None:
        asked = question.texts if question.hops == TWO_STEPS else [None] * len(question.texts)
        return [
            {
                row: Lift(mass, by, name)
                for row, mass, by, name in at_once.lifts(rows, scores, text, linked)
            }
            for rows, scores, text in zip(found.rows, found.scores, asked, strict=True)
        ]
    leads = [_lead(rows) for rows in found.rows]
    documents = _documents_each(base, question, leads)
    seeds = [_core.named_seeds(lead, found.scores[i], documents[i]) for i, lead in enumerate(leads)]
    names = _names_each(base, question, seeds)
    no_links: list[list[Names]] = [[] for _ in seeds]
    links = _links_each(base, question, seeds) if linked else no_links
    texts = [text for question_names in names for each in question_names for text, _ in each]
    rarest = iter(base.rarest(texts, question.notes) if texts else ())
    return [
        _lifts(
            base,
            seeds[i],
            _Named(one, links[i], linked),
            rarest,
            leads[i].tolist(),
            documents[i].tolist(),
        )
        for i, one in enumerate(names)
    ]


def _lead(rows: Int64s) -> Int64s:
    """Return the rows that can be seeds."""
    lead = rows[: _core.NAMED_ROWS]
    return lead if len(lead) and lead[-1] >= 0 else lead[lead >= 0]


def _documents_each(
    base: SearchedRows, question: Question, leads: Sequence[Int64s]
) -> list[Int64s]:
    """Return the first row of the document of each row."""
    if len(leads) == 1:
        return [base.first_rows(leads[0], question.notes)]
    found = base.first_rows(np.concatenate([*leads, np.empty(0, np.int64)]), question.notes)
    return np.split(found, np.cumsum([len(lead) for lead in leads])[:-1])


def _names_each(
    base: SearchedRows, question: Question, seeds: Sequence[Sequence[Seed]]
) -> list[list[Names]]:
    """Return the names in the seeds of each question, and after them those in the question if it takes two steps."""
    rows = list(dict.fromkeys(row for one in seeds for row, *_ in one))
    known = base.looked_at("passages", rows, question.notes)
    texts = [[known[row] for row, *_ in one] for one in seeds]
    if question.hops == TWO_STEPS:
        for one, asked in zip(texts, question.texts, strict=True):
            one += [asked] * bool(one)
    names = iter(base.names_each([text for one in texts for text in one], question.notes))
    return [[next(names) for _ in one] for one in texts]


def _links_each(
    base: SearchedRows, question: Question, seeds: Sequence[Sequence[Seed]]
) -> list[list[Names]]:
    """Return the pages to which the seeds of each question link."""
    rows = list(dict.fromkeys(row for one in seeds for row, *_ in one))
    known = dict(zip(rows, base.linked_each(rows, question.notes), strict=True))
    return [[known[row] for row, *_ in one] for one in seeds]


def _lifts(
    base: SearchedRows, seeds: Sequence[Seed], named: _Named, rarest: Iterator[int],
    rows: Sequence[int], documents: Sequence[int],
) -> Lifts:  # fmt: skip
    """Return the rows that rise in one answer, whose first rows and their documents these are."""
    frequencies = [next(rarest) for each in named.names for _ in each]
    best = dict(zip(reversed(documents), reversed(rows), strict=True))
    spread = _core.named_spread(seeds, named.names, frequencies, base.live, *named[1:])
    return {
        best.get(document, document): Lift(mass, by, name) for document, mass, by, name in spread
    }


class _Reordered:
    """The candidates of one text, in order after `with_lifts`."""

    __slots__ = ("base", "found", "i", "parts", "question", "rows", "scores", "vector")

    def __init__(
        self, base: SearchedRows, question: Question, found: Ranked, i: int, vectors: Floats | None
    ) -> None:
        self.base, self.question, self.found, self.i = base, question, found, i
        self.vector = None if vectors is None else vectors[i]
        rows = found.rows[i]
        count = len(rows) if len(rows) and rows[-1] >= 0 else int((rows >= 0).sum())
        self.rows, self.scores = rows[:count], found.scores[i, :count]
        self.parts = {name: part[i, :count] for name, part in found.parts.items()}

    def with_lifts(self, lifts: Lifts, chosen: Selection) -> _Reordered:
        """Raise rows, and return the candidates themselves."""
        if not lifts:
            return self
        known = set(self.rows.tolist())
        new = [row for row in lifts if row not in known]
        if new:
            self._add(self._passing(new, chosen))
        masses = {row: lift.mass for row, lift in lifts.items()}
        order, self.scores = _core.named_order(
            self.rows, self.scores, masses, self.question.named
        ) or self._ordered(masses)
        self.rows = self.rows[order]
        self.parts = {name: part[order] for name, part in self.parts.items()}
        return self

    def _passing(self, rows: Sequence[int], chosen: Selection) -> Int64s:
        """Return those of some rows that the question may find."""
        own = chosen.sets[int(chosen.numbers[self.i])] if isinstance(chosen, RowSets) else chosen
        mask = self.base.flags(own, self.question.notes)
        return np.array([row for row in rows if mask is None or mask[row]], np.int64)

    def _add(self, rows: Int64s) -> None:
        """Add rows that the ranking lacks, with their exact scores."""
        base, question, scales = self.base, self.question, self.found.scales
        notes = question.notes
        bm25 = base.scores_of(
            rows, text=question.texts[self.i], fields=question.fields, notes=notes
        )
        more, scores = {"bm25": bm25}, bm25.astype(np.float64)
        if self.vector is not None and scales is not None:
            more["vector"] = base.scores_of(rows, vector=self.vector, notes=notes)
            best, mean, deviation = scales[self.i].tolist()
            how = retriever_fusion.method_for(base, question.fusion)
            scale = _core.Calibration(mean, deviation, how.weight(question, self.i))
            scores = scale.scores(bm25, more["vector"], best)
        self.rows = np.concatenate([self.rows, rows])
        self.scores = np.concatenate([self.scores, scores])
        self.parts = {name: np.concatenate([part, more[name]]) for name, part in self.parts.items()}

    def _ordered(self, masses: Mapping[int, float]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the order of the rows, best first, and their scores; keys decide between equal ones."""
        top, share = float(self.scores[0]), self.question.named
        scores = np.array([
            score if row not in masses else _core.named_raised(score, top, share, masses[row])
            for row, score in zip(self.rows.tolist(), self.scores.tolist(), strict=True)
        ])  # fmt: skip
        ties = self.base.ties_each([self.rows], self.question.notes)[0]
        rest = 1 + np.lexsort((ties[1:], -scores[1:]))
        if (largest := scores.max()) > scores[0]:  # the first row stays first
            scores[0] = np.nextafter(largest, np.inf)
        order = np.concatenate([[0], rest])
        return order, scores[order]

    def alone(self) -> Ranked:
        """Return the candidates as the answer to a single text."""
        parts = {name: part[None] for name, part in self.parts.items()}
        return retriever_fusion.Ranked(
            self.found.score_type, self.rows[None], self.scores[None], parts
        )
