"""Measure searches over source code: nDCG@10 by repository and category, beside semble.

    python bench/code_search.py REPOSITORIES ANNOTATIONS [--only NAME ...] [--without NAME ...]
    python bench/code_search.py REPOSITORIES ANNOTATIONS --save before.json
    python bench/code_search.py REPOSITORIES ANNOTATIONS --against before.json

REPOSITORIES has a folder NAME with the sources of each repository. ANNOTATIONS has
`annotations/NAME.json`, a list of questions with the files that answer them (`query`, `relevant`,
`secondary`, `category`), and `repositories.json` with the folder that is searched
(`benchmark_root`). Questions with a file that is not there are left out and counted.

The measure is that of semble's benchmark: of the first ten passages, the first one of each wanted
file counts at its rank, and the ideal answer has these files first. Intervals are of 95 %, by
drawing questions again.

If semble is installed (pip install semble), it answers the same questions in the same run, with
ragfile's embedded model in the place of its own.
"""

import argparse
import json
import math
import os
import random
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import ragfile
from ragfile.embedding.protocol import StaticEmbedder

FIRST = 10
DRAWS = 2000


def ndcg(paths, wanted):
    """Return nDCG@10 of the paths of passages, best first."""
    ranks = [paths.index(target) + 1 for target in wanted if target in paths]
    gained = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= FIRST)
    return gained / sum(1 / math.log2(rank + 1) for rank in range(1, min(FIRST, len(wanted)) + 1))


def read_questions(path, root, prefix):
    """Return the questions whose files are below a folder, and the number of the others.

    `wanted` of a question has paths below the folder, which the annotations begin with `prefix`.
    """
    asked = json.loads(path.read_text("utf-8"))
    for question in asked:
        targets = question["relevant"] + question["secondary"]
        paths = [one if isinstance(one, str) else one["path"] for one in targets]
        question["wanted"] = list(dict.fromkeys(p.removeprefix(f"{prefix}/") for p in paths))
    kept = [one for one in asked if all((root / path).is_file() for path in one["wanted"])]
    return kept, len(asked) - len(kept)


# ------------------------------------------------------------------------------------- contestants


class Ragfile:
    """Hybrid search or BM25 over a file that `build` makes from a folder."""

    def __init__(self, mode):
        self.mode = mode

    def index(self, root, work):
        report = ragfile.build(root, work / f"{self.mode}.ragfile")
        self.kb = ragfile.open(report.path, embedding_cache=False)

    def search(self, query):
        hits = self.kb.search(query, k=FIRST, mode=self.mode, cache=False)
        return [hit.doc_id for hit in hits]


class EmbeddedModel:
    """ragfile's embedded model with the interface that semble expects of a model."""

    def __init__(self):
        self.embedder = StaticEmbedder(threads=1)
        self.dim = self.embedder.model.dims

    def encode(self, texts, **_):
        return self.embedder.embed(texts)


class Semble:
    def __init__(self):
        import semble.index.index as module

        model = EmbeddedModel()
        module.load_model = lambda path=None: (model, "embedded")
        module.get_validated_cache = lambda *_: None
        module.load_previous_for_incremental = lambda *_: None
        self.module = module

    def index(self, root, work):
        self.found = self.module.SembleIndex.from_path(root)

    def search(self, query):
        return [result.chunk.file_path for result in self.found.search(query, top_k=FIRST)]


def contestants():
    found = {"hybrid": Ragfile("hybrid"), "bm25": Ragfile("bm25")}
    try:
        found["semble"] = Semble()
    except ImportError:
        print("semble is not installed")
    return found


# ----------------------------------------------------------------------------------------- measure


def measure(name, engine, root, questions, work):
    """Return {question: nDCG@10}, and the CPU time of the index and of a question."""
    started = time.process_time()
    engine.index(root, work)
    indexed = time.process_time()
    engine.search("warm up")
    begun = time.process_time()
    found = {
        each["query"]: ndcg(engine.search(each["query"]), each["wanted"]) for each in questions
    }
    return found, indexed - started, (time.process_time() - begun) / max(len(questions), 1)


def interval(values, seed=7):
    """Return the mean and its interval of 95 %."""
    draw = random.Random(seed)
    means = sorted(sum(draw.choices(values, k=len(values))) / len(values) for _ in range(DRAWS))
    return sum(values) / len(values), means[DRAWS // 40], means[-DRAWS // 40]


def shown(values):
    return "{:.3f} [{:.3f} {:.3f}]".format(*interval(values)) if values else "-"


def print_table(title, groups, names):
    print(f"\n{title:14}" + f"{'n':>4}  " + "  ".join(f"{name:19}" for name in names))
    for group, scores in groups.items():
        count = len(next(iter(scores.values())))
        print(f"{group:14}{count:>4}  " + "  ".join(f"{shown(scores[name]):19}" for name in names))


def grouped(results, label):
    """Group the results of all questions by a label."""
    groups = defaultdict(lambda: defaultdict(list))
    for each in results:
        for name, value in each["ndcg"].items():
            groups[each[label] if label else "all"][name].append(value)
    return groups


def compare(results, path):
    """Print the mean change of each engine since a saved run, over the questions of both."""
    before = {(r["repository"], r["query"]): r["ndcg"] for r in json.loads(path.read_text("utf-8"))}
    for name in results[0]["ndcg"]:
        apart = [
            r["ndcg"][name] - old[name]
            for r in results
            if name in (old := before.get((r["repository"], r["query"]), {}))
        ]
        print(f"{name}: change {'{:+.3f} [{:+.3f} {:+.3f}]'.format(*interval(apart))}")


def run(args):
    engines, results, costs = contestants(), [], defaultdict(list)
    roots = json.loads((args.annotations / "repositories.json").read_text("utf-8"))
    for entry in roots:
        name, prefix = entry["name"], entry.get("benchmark_root", "")
        root = args.repositories / name / prefix
        if (args.only and name not in args.only) or name in args.without or not root.is_dir():
            continue
        judged = args.annotations / "annotations" / f"{name}.json"
        questions, missing = read_questions(judged, root, prefix)
        found = {}
        for engine_name, engine in engines.items():
            with tempfile.TemporaryDirectory() as work:
                found[engine_name], *cost = measure(
                    engine_name, engine, root, questions, Path(work)
                )
            costs[engine_name].append(cost)
        print(f"{name}: {len(questions)} questions, {missing} left out", flush=True)
        results += [
            {"repository": name, "query": q["query"], "category": q["category"],
             "ndcg": {engine: scores[q["query"]] for engine, scores in found.items()}}
            for q in questions
        ]  # fmt: skip
    names = list(engines)
    for title, label in (("repository", "repository"), ("category", "category"), ("", None)):
        print_table(title, grouped(results, label), names)
    for name, spent in costs.items():
        builds, asks = (sum(column) for column in zip(*spent, strict=True))
        print(
            f"{name}: index {builds:.2f} CPU s in all, question {asks / len(spent) * 1e3:.2f} CPU ms"
        )
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repositories", type=Path)
    parser.add_argument("annotations", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    results = run(args)
    if args.save:
        args.save.write_text(json.dumps(results), "utf-8")
    if args.against:
        compare(results, args.against)


if __name__ == "__main__":
    main()
