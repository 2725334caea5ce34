"""Judge the search of a folder by its own links: link texts are questions, their targets answers.

    report = judge_anchors("docs/", "anchors.json")     {"modes": {"bm25": {"mrr@10": …, "first": …}, …}, …}

anchors.json is a list of {"q": question, "t": id of the answer's document, "src": ids to leave out,
"title": bool}. `src` names the pages that hold the link, which would match by the link itself.
`title` is true if the question is the title of the answer; these easier questions are counted
separately.
"""

from __future__ import annotations

import json
import math
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ragfile.evaluation.measures import best_of_documents, ndcg
from ragfile.ground import system
from ragfile.opener import open as open_file
from ragfile.write.builder import build

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.embedding.protocol import Embedder
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.types import Mode, StrPath

MODES: tuple[Mode, ...] = ("bm25", "vector", "hybrid")
RANKS = 10  # an answer counts among the first ten pages
DEPTH = 60  # chunks per search: several belong to one page, and some pages are left out


@dataclass(frozen=True, slots=True)
class Anchor:
    """One judged question."""

    question: str
    answer: str
    left_out: frozenset[str]
    is_title: bool

    def rank(self, documents: Sequence[str]) -> int | None:
        """Return the answer's rank among the pages that count, from 1; None beyond the tenth."""
        pages = [d for d in best_of_documents(documents) if d not in self.left_out][:RANKS]
        return pages.index(self.answer) + 1 if self.answer in pages else None


def read_anchors(path: str | os.PathLike[str]) -> list[Anchor]:
    """Read the questions of a file."""
    with open(path, encoding="utf-8") as file:
        try:
            records: object = json.load(file)
        except ValueError as error:
            raise ValueError(f"{path}: not JSON: {error}") from error
    if not isinstance(records, list) or not records:
        raise ValueError(f"{path}: must be a list of questions")
    listed = cast("list[object]", records)
    return [_anchor(path, number, record) for number, record in enumerate(listed, 1)]


def _anchor(path: StrPath, number: int, record: Any) -> Anchor:  # Any: parsed JSON
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
    embedder: str | Embedder | None = "default",
    keep: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Build a file of a folder and search it for every question in every mode.

    Args:
        folder: The folder of pages, built as `ragfile build` does.
        anchors: The JSON file of questions.
        embedder: The embedder of the build.
        keep: The path of the built file; a temporary file if None.

    Returns:
        The counts, the seconds of the build, and the measures by mode.
    """
    questions = read_anchors(anchors)
    with system.temporary_folder() as temporary:
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


def _check(rf: KnowledgeBase, questions: Sequence[Anchor], folder: StrPath) -> None:
    """Raise ValueError for answers that are not in the folder, which could never be found."""
    known = {document.id for document in rf.documents()}
    missing = sorted({each.answer for each in questions} - known)
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
