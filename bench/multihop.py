"""Do questions that need several pages find all of them?

    python bench/multihop.py SET.json… [--one-file] [--beir FOLDER…] [--folder DOCS --links LINKS.json]

A SET has {"passages": [{"id", "title", "text"}], "questions": [{"q", "gold": ids of the passages that are needed}]};
each passage is a page with its title as heading. `--one-file` puts all sets into one file. The guards are questions
that one page answers: judged collections in BEIR layout, with their titles as metadata, and links between the pages of
a folder, as bench/further_passages.py reads them. Each line compares hops=1 and hops=2 with hops=0, question by question; the
interval is that of 95 % of 2,000 resamples of the questions.
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

import ragfile
from ragfile.evaluation.measures import read_collection

PLACES = 10


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("sets", type=Path, nargs="*")
    asked.add_argument("--one-file", action="store_true")
    asked.add_argument("--beir", type=Path, nargs="*", default=[])
    asked.add_argument("--folder", type=Path)
    asked.add_argument("--links", type=Path)
    given = asked.parse_args()
    sets = [(path.stem, json.loads(path.read_text())) for path in given.sets]
    with tempfile.TemporaryDirectory() as kept:
        for i, together in enumerate(
            [sets] if given.one_file and sets else [[one] for one in sets]
        ):
            _several(Path(kept) / f"{i}.ragfile", together)
        for folder in given.beir:
            _judged(Path(kept) / f"{folder.name}.ragfile", folder)
        if given.folder:
            ragfile.build(given.folder, Path(kept) / "folder.ragfile")
            _links(Path(kept) / "folder.ragfile", given.folder.name, given.links)


def _several(path, sets):
    """Report the share of the needed passages among the first two, five and twelve."""
    documents = [
        ragfile.Document(f"{name}/{one['id']}", f"# {one['title']}\n\n{one['text']}", metadata={"title": one["title"]})
        for name, data in sets
        for one in data["passages"]
    ]  # fmt: skip
    ragfile.build(documents, path)
    with ragfile.open(path) as rf:
        for name, data in sets:
            print(f"{name}: {len(data['questions'])} questions, {len(rf):,} rows")
            gold = [{f"{name}/{id_}" for id_ in one["gold"]} for one in data["questions"]]
            found = [
                [_pages(rf.search(one["q"], k=40, hops=hops)) for one in data["questions"]]
                for hops in (0, 1, 2)
            ]
            for k in (2, 5, 12):
                _report(f"recall@{k}", *[_recall(pages, gold, k) for pages in found])
            whole = [(_recall(pages, gold, 12) == 1).astype(float) for pages in found]
            _report("all in twelve", *whole)


def _pages(hits):
    return list(dict.fromkeys(hit.doc_id for hit in hits))


def _recall(found, gold, k):
    return np.array([len(g & set(ids[:k])) / len(g) for ids, g in zip(found, gold, strict=True)])


def _judged(path, folder):
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").open()]
    documents = []
    for row in rows:
        title = (row.get("title") or "").strip()
        text = f"# {title}\n\n{row['text']}" if title else row["text"]
        documents.append(ragfile.Document(row["_id"], text, metadata={"title": title}))
    ragfile.build(documents, path)
    collection = read_collection(folder)
    questions, judged = collection.queries, collection.qrels
    names = list(judged)
    with ragfile.open(path) as rf:
        all_ = [
            np.array([_ndcg(_pages(rf.search(questions[n], k=40, hops=hops)), judged[n]) for n in names])
            for hops in (0, 1, 2)
        ]  # fmt: skip
    print(f"{folder.name}: {len(names)} questions")
    _report(f"nDCG@{PLACES}", *all_)


def _ndcg(ids, gains):
    weights = 1 / np.log2(np.arange(2, PLACES + 2))
    found = sum(
        max(gains.get(name, 0), 0) * w for name, w in zip(ids[:PLACES], weights, strict=False)
    )
    best = sorted((max(gain, 0) for gain in gains.values()), reverse=True)[:PLACES]
    ideal = sum(gain * w for gain, w in zip(best, weights, strict=False))
    return found / ideal if ideal else 0.0


def _links(path, root, links):
    """Report the reciprocal rank of the page that a link leads to; pages that hold the link are filtered out."""
    asked = json.loads(links.read_text())
    with ragfile.open(path) as rf:
        known = rf.document_ids()
        for is_title in (False, True):
            some = [one for one in asked if one["title"] is is_title]
            all_ = [[_rank(rf, root, one, hops, known) for one in some] for hops in (0, 1, 2)]
            print(f"{'titles' if is_title else 'links'} of {root}: {len(some)} questions")
            _report(f"MRR@{PLACES}", *map(np.array, all_))


def _rank(rf, root, one, hops, known):
    without = {"doc_id": {"$nin": [name for name in known if f"{root}/{name}" in one["src"]]}}
    pages = _pages(rf.search(one["q"], k=40, hops=hops, where=without))[:PLACES]
    pages = [f"{root}/{page}" for page in pages]
    return 1 / (1 + pages.index(one["t"])) if one["t"] in pages else 0.0


def _report(name, plain, *others):
    rng, parts = np.random.default_rng(0), []
    for other in others:
        difference = other - plain
        means = difference[rng.integers(0, len(difference), (2000, len(difference)))].mean(axis=1)
        low, high = np.percentile(means, [2.5, 97.5])
        parts.append(f"{other.mean():.4f} ({difference.mean():+.4f} [{low:+.3f} {high:+.3f}])")
    print(f"  {name:14} {plain.mean():.4f} → {'  → '.join(parts)}", flush=True)


if __name__ == "__main__":
    main()
