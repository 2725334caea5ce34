"""A folder of pages, judged by its own links: the text of a link asks, the page that it leads to is
the answer.

    report = judge_anchors("docs/", "anchors.json")     {"modes": {"bm25": {"mrr@10": …, "first": …}, …}, …}

anchors.json is a list of {"q": question, "t": id of the answer's document, "src": ids to leave out,
"title": bool}. `src` names the pages that hold the link: they would answer with the link itself.
`title` says that the question is the title of the answer; such questions are counted apart, because
they are the easier half.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragfile.evaluation.measures import best_of_documents, ndcg
from ragfile.opener import open as open_file
from ragfile.write.builder import build

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.types import Mode

MODES = ("bm25", "vector", "hybrid")
RANKS = 10  # an answer counts among the first ten pages
DEPTH = 60  # chunks that are asked for: several belong to one page, and some pages are left out


@dataclass(frozen=True, slots=True)
class Anchor:
    """One judged question."""

    question: str
    answer: str
    left_out: frozenset[str]
    is_title: bool

    def rank(self, documents: Sequence[str]) -> int | None:
        """The place of the answer among the pages that count, from 1; None beyond the tenth."""
        pages = [d for d in best_of_documents(documents) if d not in self.left_out][:RANKS]
        return pages.index(self.answer) + 1 if self.answer in pages else None


def read_anchors(path: str | os.PathLike[str]) -> list[Anchor]:
    """The questions of a file."""
    with open(path, encoding="utf-8") as file:
        try:
            records = json.load(file)
        except ValueError as error:
            raise ValueError(f"{path}: not JSON: {error}") from error
    if not isinstance(records, list) or not records:
        raise ValueError(f"{path}: must be a list of questions")
    return [_anchor(path, number, record) for number, record in enumerate(records, 1)]


def _anchor(path: Any, number: int, record: Any) -> Anchor:
    try:
        question, answer, left_out = record["q"], record["t"], record.get("src", [])
        if all(isinstance(name, str) for name in [question, answer, *left_out]):
            return Anchor(question, answer, frozenset(left_out), bool(record.get("title")))
    except (TypeError, KeyError, AttributeError):
        pass
    raise ValueError(f'{path}: question {number} must have "q", "t" and, if any, a list "src"')


def judge_anchors(
    folder: str | os.PathLike[str],
    anchors: str | os.PathLike[str],
    *,
    embedder: Any = "default",
    keep: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Builds the folder as `ragfile build` does and asks every question in every mode."""
    questions = read_anchors(anchors)
    with tempfile.TemporaryDirectory(prefix="ragfile-") as temporary:
        out = keep or os.path.join(temporary, "kb.ragfile")
        began = time.perf_counter()
        built = build([folder], out, embedder=embedder, resume=False)
        seconds = time.perf_counter() - began
        with open_file(out, embedder=None if embedder in ("default", "none") else embedder) as rf:
            _check(rf, questions, folder)
            modes = {mode: _measured(rf, questions, mode) for mode in _modes(rf)}
    return {
        "collection": os.path.basename(os.path.normpath(folder)),
        "documents": built.documents,
        "chunks": built.chunks,
        "queries": len(questions),
        "build_seconds": seconds,
        "modes": modes,
    }


def _modes(rf: KnowledgeBase) -> Sequence[Mode]:
    return MODES if rf.rows.has_vectors else MODES[:1]


def _check(rf: KnowledgeBase, questions: Sequence[Anchor], folder: Any) -> None:
    """Answers that are not in the folder would count as never found."""
    there = {document.id for document in rf.documents()}
    missing = sorted({each.answer for each in questions} - there)
    if missing:
        raise ValueError(f"{folder}: {len(missing)} answers are not in it, such as {missing[0]}")


def _measured(rf: KnowledgeBase, questions: Sequence[Anchor], mode: Mode) -> dict[str, float]:
    answers = rf.search_batch([each.question for each in questions], DEPTH, mode=mode, pool=DEPTH)
    ranks = [
        (each.is_title, each.rank([hit.doc_id for hit in hits]))
        for each, hits in zip(questions, answers, strict=True)
    ]
    plain = _scores([rank for is_title, rank in ranks if not is_title])
    titles = _scores([rank for is_title, rank in ranks if is_title])
    return {**plain, **{f"titles {name}": value for name, value in titles.items()}}


def _scores(ranks: Sequence[int | None]) -> dict[str, float]:
    places = [[""] * (rank - 1) + ["answer"] if rank else [] for rank in ranks]
    return {
        "ndcg@10": _mean([ndcg(place, {"answer": 1}) for place in places]),
        "mrr@10": _mean([1 / rank if rank else 0.0 for rank in ranks]),
        "first": _mean([float(rank == 1) for rank in ranks]),
    }


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0
