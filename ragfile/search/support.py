"""Whether the passages of an answer support one: the share of the question's terms that one passage has.

Terms are weighed by their rarity in the file. A passage's header path counts as text. Keywords name what they seek, so
one passage should have nearly all of them; a sentence paraphrases. Long questions need a smaller share, because no
passage has half of thirty words. Few keywords have to stand together, in one place of a passage with its header path. A
passage without the words can still be near in meaning.

docs/guides/read-a-score.md explains the words "strong", "fair" and "weak"; bench/eval.md measures them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from ragfile.records import Support

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragfile.records import Hit
    from ragfile.search.named_pages import Lift
    from ragfile.search.question_terms import QuestionTerms
    from ragfile.search.retrieval import Retrieval
    from ragfile.search.rows_protocol import OpenRows
    from ragfile.search.shown_passages import PassageViewer

KEYWORDS, SENTENCE = 0.7, 0.45  # the share that one passage needs
SHORT = 4  # terms; a question with more needs less
FALL = 0.5  # how fast the needed share falls with the number of terms
STRONG = 0.9
NEAR = 9.0  # deviations above the mean of the sample
LOOKED_AT = 5  # passages
TOGETHER = 0.85  # of the needed share, that is to stand in one place
PLACE = 10  # characters of such a place, besides those of the question


@dataclass(slots=True)
class AskedQuestion:
    """A question of an open file. `is_embedded` is true if its vector is its own, not the caller's."""

    retrieval: Retrieval
    question: str
    is_embedded: bool
    lifts: Mapping[int, Lift] = field(default_factory=dict[int, "Lift"])  # by row
    _terms: QuestionTerms | None = None
    _named: dict[str, tuple[str, str]] | None = None  # by hit: who names it, and how
    _held: dict[str, set[str]] = field(default_factory=dict[str, set[str]])  # by hit

    def __reduce__(self) -> tuple[object, ...]:
        return type(None), ()  # a pickled answer has no open file

    @property
    def terms(self) -> QuestionTerms:
        """The terms of the question."""
        if self._terms is None:
            from ragfile.search.question_terms import question_terms  # no search needs it

            self._terms = question_terms(self.retrieval.rows, self.question)
        return self._terms

    def viewer(self) -> PassageViewer:
        """Return the viewer that makes excerpts of passages for this question."""
        from ragfile.search.shown_passages import PassageViewer

        rows = cast("OpenRows", self.retrieval.rows)
        return PassageViewer(self.terms, rows.document)

    def html(self, hits: Sequence[Hit]) -> str:
        """Return hits as HTML, with a remark on their support unless it is strong."""
        from html import escape

        from ragfile.search.html_hits import html_of

        remark = self.support(hits).remark() if hits else ""
        return (f"<p>{escape(remark)}</p>" if remark else "") + html_of(hits, self.viewer())

    def held(self, hit: Hit) -> set[str]:
        """Return the question's terms that a passage has."""
        if (found := self._held.get(hit.id)) is None:
            found = self._held[hit.id] = self.terms.held(_with_path(hit))
        return found

    def named_by(self, hit: Hit) -> tuple[str, str] | None:
        """Return (id of the passage that names the hit's page, "" for the question, and the name), if one does."""
        if self._named is None:
            named = {
                row: (one.by, one.shown) for row, one in self.lifts.items() if one.by is not None
            }
            known = {*named, *(by for by, _ in named.values() if by >= 0)}
            ids = self.retrieval.rows.looked_at("ids", sorted(known)) if named else {}
            self._named = {ids[row]: (ids.get(by, ""), name) for row, (by, name) in named.items()}
        return self._named.get(hit.id)

    def missing(self, hit: Hit) -> list[str]:
        """Return the question's words that a passage does not have, in order."""
        terms = self.terms
        return _words(terms, set(terms.weights) - self.held(hit))

    def support(self, hits: Sequence[Hit]) -> Support:
        """Return how much of the question the first hits have."""
        from ragfile.search.function_words import is_question

        terms, count = self.terms, len(set(self.terms.words.values()))
        held = [self.held(hit) for hit in hits[:LOOKED_AT]]
        whole = terms.weight(terms.weights) or 1.0
        share = max(map(terms.weight, held), default=0.0) / whole
        required = needed(self.question, count)
        is_short = 1 < count <= SHORT and not is_question(self.question)
        return Support(
            share=share, needed=required,
            missing=(*_words(terms, set(terms.weights).difference(*held)),), terms=count,
            is_near=self.is_embedded and self.nearness(hits) >= NEAR, strong=STRONG,
            is_apart=is_short and share >= required
            and not self._stand_together(hits, TOGETHER * required * whole),
        )  # fmt: skip

    def _stand_together(self, hits: Sequence[Hit], weight: float) -> bool:
        """Return whether one of the first passages has terms of a weight in one place."""
        from ragfile.search.close_terms import heaviest_place  # no search needs it

        terms, room = self.terms, len(self.question) + PLACE
        return any(
            terms.weight(self.held(hit)) >= weight
            and heaviest_place(terms, hit.text, hit.metadata, room) >= weight
            for hit in hits[:LOOKED_AT]
        )

    def nearness(self, hits: Sequence[Hit]) -> float:
        """Return how many deviations the nearest hit is above the sample's mean; -inf without vectors."""
        return self.retrieval.nearness(self.question, hits)


def _words(terms: QuestionTerms, some: set[str]) -> list[str]:
    """Return the words of some terms in the question's order, each once."""
    return list(dict.fromkeys(word for term, word in terms.words.items() if term in some))


def needed(question: str, terms: int) -> float:
    """Return the share of a question's terms that one passage needs."""
    from ragfile.search.function_words import is_question

    share = SENTENCE if is_question(question) else KEYWORDS
    return float(share * min(1.0, SHORT / max(1, terms)) ** FALL)


def _with_path(hit: Hit) -> str:
    path = hit.metadata.get("headers")
    return f"{path}\n{hit.text}" if isinstance(path, str) else hit.text
