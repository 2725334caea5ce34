"""A judged collection, built and asked in every mode: how good the answers are, in numbers.

    report = judge("beir/scifact")      {"collection": …, "modes": {"bm25": {"ndcg@10": …, "recall@100": …, "mrr": …}, …}}

Each document is one passage whose title is its path, as `ragfile build` makes of JSON lines;
queries with a judged relevant document count.
"""

import os
import tempfile
import time

from ragfile.commit.building import build_from
from ragfile.evaluation.measures import evaluate, read_collection
from ragfile.ingest.paths import title_of
from ragfile.opening import open as open_file
from ragfile.query.reranking import rerank
from ragfile.records import Candidate, Chunk

DEPTH = 100  # as deep as recall looks
RERANKED = 50  # how many a re-ranking model reads
LEGS = ("bm25", "vector", "hybrid")


def judge(path, *, embedder="default", reranker=None, split="test", keep=None):
    """Builds the collection in BEIR layout at path and evaluates BM25, vectors and both, each with
    and without re-ranking.

    reranker is None for the built-in measure, a cross-encoder's name, or an object with
    score(query, texts). keep names the file that stays behind; otherwise it is temporary.
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
            modes = _measured(rf, collection, reranker)
    return {
        "collection": os.path.basename(os.path.normpath(path)), "documents": built.documents, "queries": len(collection.queries),
        "build_seconds": seconds, "modes": modes,
    }  # fmt: skip


def _whole(document):
    """A document as one chunk, whose path is the title."""
    title = title_of(document)
    path = {"headers": title} if title else {}
    return document, [Chunk(document.id, 0, document.text, (), path, 0, len(document.text))]


def _measured(rf, collection, reranker):
    found = {}
    names, texts = list(collection.queries), list(collection.queries.values())
    for mode in LEGS if rf.has_vectors else ("bm25",):
        answers = dict(zip(names, rf.search_batch(texts, DEPTH, mode=mode), strict=True))
        found[mode] = _scores(
            {q: [hit.doc_id for hit in hits] for q, hits in answers.items()}, collection
        )
        better = {
            q: _reranked(collection.queries[q], hits, reranker) for q, hits in answers.items()
        }
        found[f"{mode}+rerank"] = _scores(better, collection)
    return found


def _reranked(query, hits, reranker):
    """Document ids: the first hits in their new order, then the rest as it was."""
    first = [Candidate(hit.doc_id, hit.chunk_index, hit.text, hit.score) for hit in hits[:RERANKED]]
    return [c.doc_id for c in rerank(query, first, reranker)] + [
        hit.doc_id for hit in hits[RERANKED:]
    ]


def _scores(run, collection):
    return evaluate(run, collection.qrels)
