"""Measures of rankings against judgements, and collections in BEIR layout.

    collection = read_collection("scifact/")          corpus.jsonl, queries.jsonl, qrels/<split>.tsv
    run = {query_id: [doc_id, …] best first}
    scores = evaluate(run, collection.qrels)          {"ndcg@10": …, "recall@100": …, "mrr": …, "mrr@10": …, "first": …}

The measures are trec_eval's: gains are the judgements themselves, discounted by log2(rank + 1); a
document is relevant from judgement 1 on; a judged query without a relevant document is left out; a
query without results scores 0.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from ragfile.ground.extras import optional
from ragfile.records import Document

if TYPE_CHECKING:
    from ragfile.types import StrPath

IR = "ir:"  # before an id of ir_datasets

Judgements: TypeAlias = Mapping[str, int]
"""Judgements by document id."""

Qrels: TypeAlias = Mapping[str, Judgements]
"""Judgements by query id."""


def _no_texts() -> dict[str, str]:
    return {}


def _no_judgements() -> dict[str, dict[str, int]]:
    return {}


@dataclass(slots=True)
class JudgedCollection:
    """A corpus with the texts of its judged queries by id, and their judgements.

    `documents()` reads the corpus again at each call, so it can be larger than memory.
    """

    path: str
    queries: dict[str, str] = field(default_factory=_no_texts)
    qrels: dict[str, dict[str, int]] = field(default_factory=_no_judgements)

    def documents(self) -> Iterator[Document]:
        """Yield each text with its title in the metadata, as the loader of JSON lines does."""
        for record in _records(os.path.join(self.path, "corpus.jsonl")):
            title, text = record.get("title") or "", record.get("text") or ""
            yield Document(str(record["_id"]), text, metadata={"title": title} if title else {})


@dataclass(slots=True)
class IrCollection(JudgedCollection):
    """A collection of the package ir_datasets, which may download it first."""

    dataset: Any = None  # Any: of an optional package

    def documents(self) -> Iterator[Document]:
        """Yield each text with its title in the metadata."""
        for record in self.dataset.docs_iter():
            title = getattr(record, "title", "") or ""
            text = getattr(record, "text", None)
            if text is None:
                text = record.default_text()
            yield Document(str(record.doc_id), text, metadata={"title": title} if title else {})


def _read_ir(name: str) -> IrCollection:
    dataset = optional("ir_datasets", "a collection of ir_datasets").load(name)
    qrels: dict[str, dict[str, int]] = {}
    for record in dataset.qrels_iter():
        qrels.setdefault(record.query_id, {})[record.doc_id] = int(record.relevance)
    texts: dict[str, str] = {
        r.query_id: getattr(r, "text", None) or r.default_text() for r in dataset.queries_iter()
    }
    queries = {q: text for q, text in texts.items() if q in qrels}
    return IrCollection(f"{IR}{name}", queries, qrels, dataset)


def read_collection(path: StrPath, split: str | None = "test") -> JudgedCollection:
    """Read a folder in BEIR layout, or "ir:ID" of ir_datasets; without a split, only its documents."""
    path = os.fspath(path)
    if path.startswith(IR):
        return _read_ir(path.removeprefix(IR))
    if split is None:
        return JudgedCollection(path)
    _check_layout(path, split)
    qrels = read_qrels(os.path.join(path, "qrels", f"{split}.tsv"))
    queries = {str(r["_id"]): r["text"] for r in _records(os.path.join(path, "queries.jsonl"))}
    missing = qrels.keys() - queries.keys()
    if missing:
        raise ValueError(f"{path}: judgements for unknown queries, such as {min(missing)}")
    return JudgedCollection(path, {q: text for q, text in queries.items() if q in qrels}, qrels)


def _check_layout(path: str, split: str) -> None:
    """Raise FileNotFoundError that names all missing files, in case the folder has another layout."""
    names = ("corpus.jsonl", "queries.jsonl", os.path.join("qrels", f"{split}.tsv"))
    missing = [name for name in names if not os.path.exists(os.path.join(path, name))]
    if missing:
        raise FileNotFoundError(
            f"{path}: not a judged collection: it lacks {' and '.join(missing)}; a folder in BEIR "
            "layout has corpus.jsonl, queries.jsonl and qrels/, and questions= judges other folders"
        )


def _records(path: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON lines file."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise ValueError(f"{path}, line {number}: {error}") from error


def read_qrels(path: StrPath) -> dict[str, dict[str, int]]:
    """Read judgements by query and document, in BEIR's format or TREC's."""
    qrels: dict[str, dict[str, int]] = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields = line.rstrip("\r\n").split("\t")
            if len(fields) == 1 and len(line.split()) == 4:  # TREC: query, 0, document, judgement
                query, _, document, judgement = line.split()
                fields = [query, document, judgement]
            if number == 1 and not fields[-1].lstrip("-").isdecimal():
                continue  # the header
            if len(fields) != 3 or not fields[2].lstrip("-").isdecimal():
                raise ValueError(
                    f"{path}, line {number}: query, document and judgement, separated by tabs, or "
                    "query, 0, document and judgement, separated by blanks"
                )
            qrels.setdefault(fields[0], {})[fields[1]] = int(fields[2])
    return qrels


def ndcg(ranked: Sequence[str], judged: Judgements, k: int = 10) -> float:
    """Return the discounted gain of the first k, divided by the best possible one."""
    gains = [max(judged.get(doc, 0), 0) for doc in ranked[:k]]
    ideal = sorted((j for j in judged.values() if j > 0), reverse=True)[:k]
    best = _discounted(ideal)
    return _discounted(gains) / best if best else 0.0


def _discounted(gains: Iterable[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def recall(ranked: Sequence[str], judged: Judgements, k: int = 100) -> float:
    """Return the share of the relevant documents that are among the first k."""
    relevant = {doc for doc, judgement in judged.items() if judgement > 0}
    return len(relevant.intersection(ranked[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranked: Sequence[str], judged: Judgements) -> float:
    """Return 1 / the rank of the first relevant document, 0 if there is none."""
    return next((1 / rank for rank, doc in enumerate(ranked, 1) if judged.get(doc, 0) > 0), 0.0)


Measure: TypeAlias = Callable[[Sequence[str], Judgements], float]
"""A measure of one ranking."""

MEASURES: dict[str, Measure] = {
    "ndcg@10": ndcg,
    "recall@100": recall,
    "mrr": reciprocal_rank,
    "mrr@10": lambda ranked, judged: reciprocal_rank(ranked[:10], judged),
    "first": lambda ranked, judged: reciprocal_rank(ranked[:1], judged),
}


def evaluate(run: Mapping[str, Iterable[str]], qrels: Qrels) -> dict[str, float]:
    """Return the means of all measures over the judged queries that have a relevant document."""
    judged = {q: j for q, j in qrels.items() if any(v > 0 for v in j.values())}
    ranked = {q: best_of_documents(run.get(q, ())) for q in judged}
    return {
        name: mean([measure(ranked[q], judged[q]) for q in judged])
        for name, measure in MEASURES.items()
    }


def mean(values: Sequence[float]) -> float:
    """Return the mean, 0 of nothing."""
    return math.fsum(values) / len(values) if values else 0.0


def best_of_documents(ranked: Iterable[str]) -> list[str]:
    """Return a ranking of documents from one of chunks, each at its best chunk's rank."""
    return list(dict.fromkeys(ranked))
