"""A judged collection, built and asked in every mode: how good the answers are, in numbers.

    report = judge("beir/scifact")      {"collection": …, "modes": {"bm25": {"ndcg@10": …, "recall@100": …, "mrr": …}, …}}

Each document is one passage whose title is its path, as `ragfile build` makes of JSON lines;
queries with a judged relevant document count.
"""

import json
import os
import tempfile
import time

from ragfile.evaluation.comparison import MEASURES, by_question
from ragfile.evaluation.measures import evaluate, read_collection
from ragfile.evaluation.runs import best_passages, write_run
from ragfile.ground.atomic_replace import replacing
from ragfile.ingest.chunk_paths import title_of
from ragfile.opener import open as open_file
from ragfile.records import Candidate, Chunk
from ragfile.search.reranker import rerank
from ragfile.write.builder import build_from

DEPTH = 100  # as deep as recall looks
RERANKED = 50  # how many a re-ranking model reads
SHARES = (50, 90, 99)  # percentiles of the time a question takes
LEGS = ("bm25", "vector", "hybrid")


def judge(path, *, embedder="default", reranker=None, split="test", keep=None, runs=None):
    """Builds the collection in BEIR layout at path and evaluates BM25, vectors and both, each with
    and without re-ranking.

    reranker is None for the built-in measure, a cross-encoder's name, or an object with
    score(query, texts). keep names the file that stays behind; otherwise it is temporary. runs is a
    folder for the rankings of every mode (TREC's form) and the scores of every query (JSON).
    "milliseconds" are percentiles of hybrid questions that are asked one by one.
    """
    collection = read_collection(path, split)
    with tempfile.TemporaryDirectory(prefix="ragfile-") as folder:
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


def _whole(document):
    """A document as one chunk, whose path is the title."""
    title = title_of(document)
    path = {"headers": title} if title else {}
    return document, [Chunk(document.id, 0, document.text, (), path, 0, len(document.text))]


def _latency(rf, questions):
    """Percentiles of the time that a question takes, in milliseconds; each is asked once before."""
    times = []
    for question in questions:
        began = time.perf_counter()
        len(rf.search(question, cache=False))
        times.append((time.perf_counter() - began) * 1000)
    times.sort()
    return {f"p{share:g}": times[int(len(times) * share / 100)] for share in SHARES if times}


def _kept(runs, collection, mode, ranked):
    """Writes what a mode answered, and how good each answer is."""
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


def _measured(rf, collection, reranker, runs):
    found = {}
    names, texts = list(collection.queries), list(collection.queries.values())
    for mode in LEGS if rf.rows.has_vectors else ("bm25",):
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
            _kept(runs, collection, mode, scored)
    return found


def _reranked(query, hits, reranker):
    """Document ids: the first hits in their new order, then the rest as it was."""
    first = [Candidate(hit.doc_id, hit.chunk_index, hit.text, hit.score) for hit in hits[:RERANKED]]
    return [c.doc_id for c in rerank(query, first, reranker)] + [
        hit.doc_id for hit in hits[RERANKED:]
    ]


def _scores(run, collection):
    return evaluate(run, collection.qrels)
