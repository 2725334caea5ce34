"""Does the evidence of a page's further passages put the right page first?

    python bench/further_passages.py --folder DOCS --links LINKS.json --beir FOLDER…

DOCS is a folder of documents, LINKS a list of {"q": question, "t": the page that answers it, "src": pages that
are left out of its answer, "title": whether the question is the page's title}. A BEIR folder has corpus.jsonl,
queries.jsonl and qrels/test.tsv; its documents are chunked by default and ranked by their best passage. Each line
compares a file as it is built with the same file without evidence, question by question; the interval is that of
95 % of 2,000 resamples of the questions.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import ragfile
from ragfile.evaluation.measures import read_collection

OFF = ("calibrated", {"evidence": 0})
PLACES = 10


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--folder", type=Path)
    asked.add_argument("--links", type=Path)
    asked.add_argument("--beir", type=Path, nargs="*", default=[])
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as kept:
        path = Path(kept) / "kb.ragfile"
        if given.folder:
            ragfile.build(given.folder, path)
            _links(path, given.folder.name, json.loads(given.links.read_text()))
        gains = []
        for folder in given.beir:
            _write_beir(path, folder)
            gains.append(_judged(path, folder))
        if gains:
            print(f"mean of {len(gains)} collections: {np.mean(gains):+.4f}")


def _links(path, root, links):
    with ragfile.open(path) as rf:
        both = [_pages(rf, root, links, fusion) for fusion in (OFF, None)]
        for name, chosen in (("links", False), ("titles", True)):
            at = np.array([one["title"] is chosen for one in links])
            _report(f"MRR@{PLACES}, {name}", *(np.array([r for r, _ in one])[at] for one in both))
            _report(
                f"in five passages, {name}", *(np.array([f for _, f in one])[at] for one in both)
            )
        _time(rf, [one["q"] for one in links])


def _pages(rf, root, links, fusion):
    """Return (reciprocal rank of the page, whether five passages have it, two a page at most) of each question."""
    answers = rf.search_batch([one["q"] for one in links], k=50, fusion=fusion, threads=1)
    found = []
    for one, hits in zip(links, answers, strict=True):
        pages = [f"{root}/{hit.doc_id}" for hit in hits]
        pages = [page for page in pages if page not in one["src"]]
        few = [page for i, page in enumerate(pages) if pages[:i].count(page) < 2]
        found.append((_reciprocal(pages, one["t"]), float(one["t"] in few[:5])))
    return found


def _reciprocal(pages, right):
    ranked = list(dict.fromkeys(pages))[:PLACES]
    return 1 / (1 + ranked.index(right)) if right in ranked else 0.0


def _write_beir(path, folder):
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").open()]
    documents = [
        ragfile.Document(row["_id"], f"{row.get('title', '')}\n\n{row['text']}".strip())
        for row in rows
    ]
    ragfile.build(documents, path)


def _judged(path, folder):
    collection = read_collection(folder)
    questions, judged = collection.queries, collection.qrels
    names = list(judged)
    texts = [questions[name] for name in names]
    with ragfile.open(path) as rf:
        both = [
            [
                _ndcg([hit.doc_id for hit in hits], judged[name])
                for name, hits in zip(
                    names, rf.search_batch(texts, k=50, fusion=fusion), strict=True
                )
            ]
            for fusion in (OFF, None)
        ]
        print(f"{folder.name}: {len(rf):,} chunks of {len(rf.document_ids()):,} documents")
    return _report(f"nDCG@{PLACES}, {folder.name}", *map(np.array, both))


def _ndcg(ids, gains):
    ranked = list(dict.fromkeys(ids))[:PLACES]
    weights = 1 / np.log2(np.arange(2, PLACES + 2))
    found = sum(max(gains.get(name, 0), 0) * w for name, w in zip(ranked, weights, strict=False))
    best = sorted((max(gain, 0) for gain in gains.values()), reverse=True)[:PLACES]
    ideal = sum(gain * w for gain, w in zip(best, weights, strict=False))
    return found / ideal if ideal else 0.0


def _report(name, without, with_evidence):
    difference = with_evidence - without
    picks = np.random.default_rng(1).integers(0, len(difference), (2000, len(difference)))
    low, high = np.percentile(difference[picks].mean(axis=1), [2.5, 97.5])
    print(
        f"{name:34} {without.mean():.4f} -> {with_evidence.mean():.4f}  "
        f"{difference.mean():+.4f} [{low:+.4f} {high:+.4f}]",
        flush=True,
    )
    return difference.mean()


def _time(rf, texts):
    spent = {"off": [], "on": []}
    for _ in range(7):
        for name, times in spent.items():
            start = time.process_time()
            for text in texts:
                rf.search(text, fusion=OFF if name == "off" else ("calibrated", {}), cache=False)
            times.append((time.process_time() - start) / len(texts) * 1e6)
    off, on = (min(times) for times in spent.values())
    print(f"a question: {off:.0f} -> {on:.0f} us of CPU, {on / off:.2f}x")


if __name__ == "__main__":
    sys.exit(main())
