"""Measure searches on judged questions.

    report = judge("beir/scifact")
    report = judge("docs/", dev="chosen.json", held="judged.json")
    report["sets"][0]["modes"]["hybrid"]["ndcg@10"]

A collection is built as `ragfile build` does, so documents are in passages. The
documents, pages, sections or files that the questions' targets name are ranked, each at its best passage.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ragfile.embedding.protocol import Embedder
from ragfile.evaluation.comparison import interval, significance
from ragfile.evaluation.measures import IR, MEASURES, mean, read_collection
from ragfile.evaluation.questions import (
    JudgedQuestion,
    QuestionSet,
    Role,
    Unit,
    read_questions,
    refuse_overlap,
)
from ragfile.evaluation.rankings import is_among, ranking, resolved
from ragfile.evaluation.runs import is_run, read_run, write_run
from ragfile.ground import system
from ragfile.ground.atomic_replace import replacing
from ragfile.ground.whole_numbers import whole as whole_number
from ragfile.ingest.chunk_paths import title_of
from ragfile.ingest.chunker import Policy
from ragfile.opener import open as open_file
from ragfile.records import Chunk
from ragfile.types import Mode, Reranker, StrPath
from ragfile.write.builder import build, build_from

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.records import Document, Hit

DEPTH = 100  # passages of a search, as many as recall looks at
FEW = 5  # passages that a prompt has
SHARES = (50, 90, 99)  # percentiles of a question's time
MODES: tuple[Mode, ...] = ("bm25", "vector", "hybrid")
WHOLE = "whole"  # one passage for each document

AMONG = "found@5"  # the share of questions with a target among the first five passages


class RankedQuestion(NamedTuple):
    """The ranking of one question, and whether a target is among the first passages."""

    places: list[tuple[str, float]]
    is_found: bool


Answers: TypeAlias = Mapping[str, Mapping[str, RankedQuestion]]  # by mode and question
Scores: TypeAlias = dict[
    str, dict[str, list[float]]
]  # by mode and measure, in the order of questions


def judge(
    collection: StrPath, *, questions: StrPath | None = None, dev: StrPath | None = None,
    held: StrPath | None = None, queries: StrPath | None = None, unit: Unit | None = None,
    chunking: Policy | str | None = None, embedder: str | Embedder | None = "default",
    reranker: str | Reranker | None = None, depth: int = DEPTH, keep: StrPath | None = None,
    runs: StrPath | None = None, against: StrPath | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Measure every mode of search on judged questions.

        report = ragfile.judge("docs/", held="links.json")

    Args:
        collection: A folder in BEIR layout, "ir:ID" of ir_datasets, a folder of files, a RAGFile, or a run
            in TREC's format, of which only the measures are computed.
        questions: Judged questions: a file of links, annotations or qrels, a folder of annotations, or a
            split of the collection. Defaults to the split `test`.
        dev: Questions that rules were chosen on.
        held: Questions that no rule was chosen on.
        queries: The texts of the queries of qrels.
        unit: The ranked things: "document", "page", "section", "file" or "passage". Defaults to those that the
            targets name.
        chunking: The chunk policy of the build, or "whole" for one passage a document.
        embedder: The embedder of the build.
        reranker: A model of `rerank=`; adds the mode `hybrid+rerank`.
        depth: Passages of each search. A search for more passages fuses more candidates, so measure with
            the number that you use: rankings at 10 differ a little from those at 100.
        keep: The path of the built file; a temporary file if None.
        runs: A folder for the rankings of every mode (TREC's format) and the scores of every question
            (JSON).
        against: Such a folder of an earlier run, to compare with question by question.

    Returns:
        The counts of the collection, and for each set of questions: its name, role, number and digest;
        means, intervals and differences from the first mode, by mode and measure; the same means for
        each group of questions. Intervals are of 95 %, by a paired bootstrap over questions.

    Raises:
        ValueError: A question is both in `dev` and in `held`, or no target is in the collection.
    """
    roles: list[tuple[Role, StrPath | None]] = [("", questions), ("dev", dev), ("held", held)]
    given: list[tuple[Role, StrPath]] = [(role, one) for role, one in roles if one is not None]
    sets = [
        read_questions(source, collection, role=role, queries=queries)
        for role, source in given or [("", "test")]
    ]
    for one in sets:
        one.unit = unit or one.unit
    refuse_overlap(sets)
    depth = whole_number(depth, "depth", 1)
    collected = _Collected(os.fspath(collection), chunking, embedder, reranker, depth, keep)
    answered = [collected.ask(one) for one in sets]
    name = _name(collection)
    report: dict[str, Any] = {"collection": name, **collected.facts, "sets": []}
    for one, (kept, answers) in zip(sets, answered, strict=True):
        scores = {mode: _scores(kept, ranked) for mode, ranked in answers.items()}
        stem = f"{name}.{one.role or one.name}".replace(":", "-")
        if runs is not None:
            _write_runs(runs, stem, kept, answers, scores)
        found = _described(one, kept) | _compared(kept, scores)
        if against is not None:
            found["against"] = _against(against, stem, kept, scores)
        report["sets"].append(found)
    report["modes"] = report["sets"][-1]["modes"]
    return report


def _name(collection: StrPath) -> str:
    return os.path.basename(os.path.normpath(collection))


def whole(document: Document) -> tuple[Document, list[Chunk]]:
    """Return a document with one chunk of all its text, with the title as its path."""
    title = title_of(document)
    path = {"headers": title} if title else {}
    return document, [Chunk(document.id, 0, document.text, (), path, 0, len(document.text))]


class _Collected:
    """A collection, built once, and asked the questions of each set."""

    def __init__(
        self, path: str, chunking: Policy | str | None, embedder: str | Embedder | None,
        reranker: str | Reranker | None, depth: int, keep: StrPath | None,
    ) -> None:  # fmt: skip
        self.path, self.chunking, self.embedder = path, chunking, embedder
        self.reranker, self.depth, self.keep = reranker, depth, keep
        self.facts: dict[str, Any] = {"documents": 0, "chunks": 0, "build_seconds": 0.0}
        self.milliseconds: list[float] = []

    def ask(self, asked: QuestionSet) -> tuple[list[JudgedQuestion], Answers]:
        """Return the questions whose targets are in the collection, and the rankings of each mode."""
        if is_run(self.path):
            return asked.questions, {"run": _of_run(self.path, asked.questions)}
        self.facts |= dict.fromkeys(("documents", "chunks", "build_seconds"), 0)
        kept: list[JudgedQuestion] = []
        answers: dict[str, dict[str, RankedQuestion]] = {}
        missing: list[str] = []
        for part in dict.fromkeys(question.part for question in asked.questions):
            folder = os.path.join(self.path, part) if part else self.path
            some = [question for question in asked.questions if question.part == part]
            if part and not os.path.isdir(folder):
                missing += [folder]
                continue
            with self._opened(folder) as rf:
                here = _present(rf, some, asked)
                missing += [next(iter(q.judged)) for q in some[: len(some) - len(here)]]
                kept += here
                for mode, ranked in self._answers(rf, here, asked.unit).items():
                    answers.setdefault(mode, {}).update(ranked)
        if not kept:
            raise ValueError(f"{self.path}: no target is in it, such as {missing[0]}")
        return kept, answers

    @contextmanager
    def _opened(self, folder: str) -> Generator[KnowledgeBase]:
        """Open a RAGFile; build one from anything else."""
        chosen = None if self.embedder in ("default", "none") else self.embedder
        if os.path.isfile(folder):
            with open_file(folder, embedder=chosen) as rf:
                self._count(rf, 0.0)
                yield rf
            return
        with system.temporary_folder() as temporary:
            out = self.keep or os.path.join(temporary, "kb.ragfile")
            began = time.perf_counter()
            self._build(folder, out)
            spent = time.perf_counter() - began
            with open_file(out, embedder=chosen) as rf:
                self._count(rf, spent)
                yield rf

    def _count(self, rf: KnowledgeBase, seconds: float) -> None:
        self.facts["documents"] += len(rf.document_ids())
        self.facts["chunks"] += len(rf)
        self.facts["build_seconds"] += seconds

    def _build(self, folder: str, out: StrPath) -> None:
        is_whole = self.chunking == WHOLE
        policy = None if is_whole else self.chunking
        if not folder.startswith(IR) and not os.path.exists(os.path.join(folder, "corpus.jsonl")):
            if is_whole:
                raise ValueError(
                    "whole documents are those of a judged collection, not of a folder"
                )
            build([folder], out, embedder=self.embedder, resume=False, chunking=policy)
            return
        documents = read_collection(folder, None).documents()
        if is_whole:
            build_from(map(whole, documents), out, embedder=self.embedder, resume=False)
        else:
            build(documents, out, embedder=self.embedder, resume=False, chunking=policy)

    def _answers(
        self, rf: KnowledgeBase, questions: Sequence[JudgedQuestion], unit: Unit
    ) -> dict[str, dict[str, RankedQuestion]]:
        texts = [question.text for question in questions]
        found: dict[str, dict[str, RankedQuestion]] = {}
        modes = MODES if rf.rows.has_vectors else MODES[:1]
        for mode in modes:
            answers: Iterable[Sequence[Hit]] = rf.search_batch(texts, self.depth, mode=mode)
            found[mode] = _ranked(questions, answers, unit)
        if self.reranker is not None:
            best, model = modes[-1], self.reranker
            again = (rf.search(text, self.depth, mode=best, rerank=model) for text in texts)
            found[f"{best}+rerank"] = _ranked(questions, again, unit)
        self._time(rf, texts)
        return found

    def _time(self, rf: KnowledgeBase, texts: Iterable[str]) -> None:
        """Note the percentiles of a question's time in milliseconds; all have been searched before."""
        for text in texts:
            began = time.perf_counter()
            len(rf.search(text, cache=False))
            self.milliseconds.append((time.perf_counter() - began) * 1000)
        times = sorted(self.milliseconds)
        at = {f"p{share:g}": int(len(times) * share / 100) for share in SHARES if times}
        self.facts["milliseconds"] = {name: times[place] for name, place in at.items()}


def _of_run(path: str, questions: Iterable[JudgedQuestion]) -> dict[str, RankedQuestion]:
    run = read_run(path)
    found: dict[str, RankedQuestion] = {}
    for question in questions:
        places = [p for p in run.get(question.id, []) if p[0] not in question.left_out]
        first = (question.judged.get(name, 0) > 0 for name, _ in places[:FEW])
        found[question.id] = RankedQuestion(places, any(first))
    return found


def _present(
    rf: KnowledgeBase, questions: Sequence[JudgedQuestion], asked: QuestionSet
) -> list[JudgedQuestion]:
    """Return the questions whose targets are in the file. Qrels keep theirs, as with other tools."""
    if asked.unit in ("file", "passage"):
        sources = sorted({document.source or document.id for document in rf.documents()})
        found = (resolved(question, sources) for question in questions)
        return [question for question in found if question is not None]
    if not any(question.groups for question in questions):
        return list(questions)
    known = set(rf.document_ids())
    return [
        question
        for question in questions
        if any(name in known or name.rpartition("#")[0] in known for name in question.judged)
    ]


def _ranked(
    questions: Sequence[JudgedQuestion], answers: Iterable[Sequence[Hit]], unit: Unit
) -> dict[str, RankedQuestion]:
    return {
        question.id: RankedQuestion(
            ranking(hits, question, unit), is_among(hits, question, unit, FEW)
        )
        for question, hits in zip(questions, answers, strict=True)
    }


def _scores(
    questions: Iterable[JudgedQuestion], ranked: Mapping[str, RankedQuestion]
) -> dict[str, list[float]]:
    """Return the measures of each question."""
    listed = [(question.judged, ranked[question.id]) for question in questions]
    names = [([name for name, _ in one.places], judged) for judged, one in listed]
    scores = {m: [score(*each) for each in names] for m, score in MEASURES.items()}
    return scores | {AMONG: [float(one.is_found) for _, one in listed]}


def _described(asked: QuestionSet, kept: Sequence[JudgedQuestion]) -> dict[str, Any]:
    return {
        "name": asked.name, "role": asked.role, "unit": asked.unit, "queries": len(kept),
        "left_out": len(asked.questions) - len(kept), "digest": replace(asked, questions=list(kept)).digest,
    }  # fmt: skip


def _compared(questions: Sequence[JudgedQuestion], scores: Scores) -> dict[str, Any]:
    """Return means, intervals, and differences from the first mode; the means of each group, too."""
    first, *others = scores
    groups: dict[str, list[int]] = {}
    for at, question in enumerate(questions):
        for group in question.groups:
            groups.setdefault(group, []).append(at)
    return {
        "modes": _each(scores, mean),
        "intervals": _each(scores, interval),
        "differences": {
            mode: {m: significance(scores[first][m], values) for m, values in scores[mode].items()}
            for mode in others
        },
        "groups": {
            group: {"queries": len(places), "modes": _each(_at(scores, places), mean)}
            for group, places in sorted(groups.items())
            if len(groups) > 1
        },
    }


def _at(scores: Scores, places: Sequence[int]) -> Scores:
    """Return the scores of some questions."""
    return {
        mode: {m: [values[at] for at in places] for m, values in found.items()}
        for mode, found in scores.items()
    }


def _each(scores: Scores, of: Callable[[Sequence[float]], object]) -> dict[str, dict[str, object]]:
    return {mode: {m: of(v) for m, v in found.items()} for mode, found in scores.items()}


def _write_runs(
    folder: StrPath,
    stem: str,
    questions: Sequence[JudgedQuestion],
    answers: Answers,
    scores: Scores,
) -> None:
    """Write the rankings of every mode, and the measures of each question."""
    os.makedirs(folder, exist_ok=True)
    for mode, ranked in answers.items():
        path = os.path.join(folder, f"{stem}.{mode.replace('+', '-')}")
        write_run(f"{path}.run", {q: one.places for q, one in ranked.items()}, f"ragfile-{mode}")
        named = {
            m: dict(zip((q.id for q in questions), values, strict=True))
            for m, values in scores[mode].items()
        }
        with replacing(f"{path}.json") as file:
            file.write(json.dumps(named, indent=1).encode())


def _against(
    folder: StrPath, stem: str, questions: Sequence[JudgedQuestion], scores: Scores
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the differences from an earlier run, over the questions of both."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for mode, measured in scores.items():
        path = os.path.join(folder, f"{stem}.{mode.replace('+', '-')}.json")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            before = json.load(file)
        found[mode] = {}
        for m, values in measured.items():
            named = {q.id: value for q, value in zip(questions, values, strict=True)}
            both = [q for q in named if q in before.get(m, {})]
            found[mode][m] = significance([before[m][q] for q in both], [named[q] for q in both])
    if not found:
        raise FileNotFoundError(2, "no scores of these questions in it", os.fspath(folder))
    return found
