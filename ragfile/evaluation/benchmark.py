"""Build a judged collection and measure the search quality of every mode.

    report = judge("beir/scifact")      {"collection": …, "modes": {"bm25": {"ndcg@10": …, "recall@100": …, "mrr": …}, …}}

Each document is one passage whose path is its title, as in `ragfile build` of JSON lines. Queries
with a relevant document count.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

from ragfile.evaluation.comparison import MEASURES, by_question
from ragfile.evaluation.measures import evaluate, read_collection
from ragfile.evaluation.runs import best_passages, write_run
from ragfile.ground import system
from ragfile.ground.atomic_replace import replacing
from ragfile.ingest.chunk_paths import title_of
from ragfile.opener import open as open_file
from ragfile.records import Candidate, Chunk
from ragfile.search.reranker import rerank
from ragfile.write.builder import build_from

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragfile.embedding.protocol import Embedder
    from ragfile.evaluation.measures import JudgedCollection
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.records import Document, Hit
    from ragfile.types import Mode, Reranker, StrPath

DEPTH = 100  # the depth of recall
RERANKED = 50  # hits that are re-ranked
SHARES = (50, 90, 99)  # percentiles of a question's time
MODES: tuple[Mode, ...] = ("bm25", "vector", "hybrid")


def judge(
    path: StrPath,
    *,
    embedder: str | Embedder | None = "default",
    reranker: str | Reranker | None = None,
    split: str = "test",
    keep: StrPath | None = None,
    runs: StrPath | None = None,
) -> dict[str, Any]:
    """Build a collection and evaluate BM25, vectors and both, each with and without re-ranking.

    Args:
        path: A folder in BEIR layout, or "ir:ID" of ir_datasets.
        embedder: The embedder of the build.
        reranker: None for the built-in one, a cross-encoder's name, or an object with
            score(query, texts).
        split: The name of the judgements in qrels/.
        keep: The path of the built file; a temporary file if None.
        runs: A folder for the rankings of every mode (TREC's format) and the scores of every query
            (JSON).

    Returns:
        The counts, the measures by mode, the seconds of the build, and percentiles of the
        milliseconds of single hybrid questions.
    """
    collection = read_collection(path, split)
    with system.temporary_folder() as folder:
        out = keep or os.path.join(folder, "kb.ragfile")
        began = time.perf_counter()
        built = build_from(
            map(_whole, collection.documents()), out, embedder=embedder, resume=False
        )
        seconds = time.perf_counter() - began
        with open_file(out, embedder=None if embedder in ("default", "none") else embedder) as rf:
            modes = _measured(rf, collection, reranker, runs)
            latency = _latency(rf, list(collection.queries.values()))
    return {
        "collection": os.path.basename(os.path.normpath(path)), "documents": built.documents, "queries": len(collection.queries),
        "build_seconds": seconds, "milliseconds": latency, "modes": modes,
    }  # fmt: skip


def _whole(document: Document) -> tuple[Document, list[Chunk]]:
    """Return a document with one chunk of all its text, with the title as its path."""
    title = title_of(document)
    path = {"headers": title} if title else {}
    return document, [Chunk(document.id, 0, document.text, (), path, 0, len(document.text))]


def _latency(rf: KnowledgeBase, questions: Sequence[str]) -> dict[str, float]:
    """Return percentiles of a question's time in milliseconds; all have been searched before."""
    times: list[float] = []
    for question in questions:
        began = time.perf_counter()
        len(rf.search(question, cache=False))
        times.append((time.perf_counter() - began) * 1000)
    times.sort()
    return {f"p{share:g}": times[int(len(times) * share / 100)] for share in SHARES if times}


def _write_run(
    runs: StrPath,
    collection: JudgedCollection,
    mode: str,
    ranked: Mapping[str, Sequence[tuple[str, float]]],
) -> None:
    """Write the rankings of a mode, and the measures of each query."""
    os.makedirs(runs, exist_ok=True)
    name = os.path.basename(os.path.normpath(collection.path)).replace(":", "-")
    path = os.path.join(runs, f"{name}.{mode.replace('+', '-')}")
    write_run(f"{path}.run", ranked, f"ragfile-{mode}")
    best = {query: best_passages(hits) for query, hits in ranked.items()}
    scores = {
        measure: by_question(function, best, collection.qrels)
        for measure, function in MEASURES.items()
    }
    with replacing(f"{path}.json") as file:
        file.write(json.dumps(scores, indent=1).encode())


def _measured(
    rf: KnowledgeBase,
    collection: JudgedCollection,
    reranker: str | Reranker | None,
    runs: StrPath | None,
) -> dict[str, dict[str, float]]:
    """Return the measures of each mode, with and without re-ranking."""
    found: dict[str, dict[str, float]] = {}
    names, texts = list(collection.queries), list(collection.queries.values())
    for mode in MODES if rf.rows.has_vectors else MODES[:1]:
        answers = dict(zip(names, rf.search_batch(texts, DEPTH, mode=mode), strict=True))
        found[mode] = _scores(
            {q: [hit.doc_id for hit in hits] for q, hits in answers.items()}, collection
        )
        better = {
            q: _reranked(collection.queries[q], hits, reranker) for q, hits in answers.items()
        }
        found[f"{mode}+rerank"] = _scores(better, collection)
        if runs is not None:
            scored = {q: [(hit.doc_id, hit.score) for hit in hits] for q, hits in answers.items()}
            _write_run(runs, collection, mode, scored)
    return found


def _reranked(query: str, hits: Sequence[Hit], reranker: str | Reranker | None) -> list[str]:
    """Return document ids: the first hits in their new order, then the others."""
    first = [Candidate(hit.doc_id, hit.chunk_index, hit.text, hit.score) for hit in hits[:RERANKED]]
    return [c.doc_id for c in rerank(query, first, reranker)] + [
        hit.doc_id for hit in hits[RERANKED:]
    ]


def _scores(run: Mapping[str, Sequence[str]], collection: JudgedCollection) -> dict[str, float]:
    return evaluate(run, collection.qrels)
