"""Measure the cost of shards: queries, pools of processes, builds, and a million questions on Ray.

    python bench/dataset.py --passages P.jsonl --questions Q.txt [--shards 12] [--rows 100000] [--asked]
    python bench/dataset.py --passages P.jsonl --builds        one builder and two
    python bench/dataset.py --passages P.jsonl --ray 1000000   questions through Ray Data

Builds a dataset of the passages with the built-in model, and one file of the same. Prints CPU or
wall seconds, the best of several rounds in turns: the sum over the shards when each answers alone,
the dataset in this process, a pool of one and two processes, and a build by one and two. Answers
are compared with those of the one file.
"""

import argparse
import itertools
import json
import platform
import random
import re
import resource
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

import ragfile
from ragfile import dataset
from ragfile.shards.executors.processes import Processes
from ragfile.shards.ray_data import BatchSearcher

ROUNDS, K = 5, 12


def sources(passages, rows, folder):
    """Write a file of JSON lines per thousand passages, so that they can be divided."""
    with open(passages, encoding="utf-8") as lines:
        wanted = itertools.islice(lines, rows)
        for number, part in enumerate(iter(lambda: list(itertools.islice(wanted, 1000)), [])):
            with open(folder / f"p{number:05}.jsonl", "w", encoding="utf-8") as out:
                for at, line in enumerate(part):
                    said = {"id": f"{number:05}-{at:04}", "text": json.loads(line)["text"]}
                    out.write(json.dumps(said) + "\n")


def best(calls, rounds=ROUNDS, clock=time.perf_counter):
    """Return {name: best time} of calls in turns."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            began = clock()
            call()
            found[name] = min(found[name], clock() - began)
    return found


def asked(rf, questions, mode):
    return lambda: rf.search_batch(questions, K, mode=mode, threads=1)


def one_by_one(rf, questions, mode):
    return lambda: [rf.search(q, K, mode=mode, cache=False) for q in questions]


def told(hits):
    return [(hit.id, hit.score) for hit in hits]


def compare(one, rf, questions, path):
    """Check the dataset's answers against the file's, then measure both."""
    files = [ragfile.open(shard) for shard in sorted((path / "shards").iterdir())]
    for mode in ("bm25", "vector", "hybrid"):
        mine, theirs = (x.search_batch(questions, K, mode=mode) for x in (rf, one))
        assert [told(hits) for hits in mine] == [told(hits) for hits in theirs]
        for shape, ask in (("batch", asked), ("one by one", one_by_one)):
            each = [ask(file, questions, mode) for file in files]
            ms = best(
                {
                    "one file": ask(one, questions, mode),
                    "the shards' own": lambda each=each: [call() for call in each],
                    "dataset": ask(rf, questions, mode),
                },
                clock=time.process_time,
            )
            per = {name: seconds / len(questions) * 1e3 for name, seconds in ms.items()}
            whole, own, mine_ = per.values()
            said = f"{whole:.3f} | {own:.3f} | {mine_:.3f} | {mine_ / whole:.2f}"
            print(f"| {mode}, {shape} | {said} |", flush=True)


def pools(path, questions):
    """Measure the wall time of one and two processes on the same questions."""
    print("\n| pool, hybrid batch | ms a question |\n|---|---|")
    spent = {}
    engines = {count: Processes(count) for count in (1, 2)}
    opened = {count: ragfile.open(path, executor=engine) for count, engine in engines.items()}
    calls = {count: asked(rf, questions, "hybrid") for count, rf in opened.items()}
    for call in calls.values():
        call()
    spent = best(calls)
    for count, seconds in spent.items():
        print(f"| {count} | {seconds / len(questions) * 1e3:.3f} |")
    print(f"| gain | {spent[1] / spent[2]:.2f} |", flush=True)
    for rf in opened.values():
        rf.close()


def builds(folder, work, shards, rounds=3):
    """Measure wall and CPU seconds in turns; on a busy machine only CPU time is reliable."""
    walls, spent = {1: float("inf"), 2: float("inf")}, {1: float("inf"), 2: float("inf")}
    for turn, count in itertools.product(range(rounds), (1, 2)):
        before, own, began = _spent_by_children(), time.process_time(), time.perf_counter()
        out = work / f"built-{turn}-{count}"
        dataset.build(folder, out, shards=shards, executor="process", workers=count)
        walls[count] = min(walls[count], time.perf_counter() - began)
        alone = time.process_time() - own  # CPU of this process; the workers are idle
        spent[count] = min(spent[count], alone + (_spent_by_children() - before) / count)
        shutil.rmtree(out)
    print("\n| build by | seconds | CPU seconds one after the other |\n|---|---|---|")
    for count in (1, 2):
        print(f"| {count} | {walls[count]:.2f} | {spent[count]:.2f} |")
    print(f"| gain | {walls[1] / walls[2]:.2f} | {spent[1] / spent[2]:.2f} |", flush=True)


def _spent_by_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def invented(passages, count, seed=1):
    """Generate questions of two to six words of the passages."""
    rng, words = random.Random(seed), set()
    with open(passages, encoding="utf-8") as lines:
        for line in itertools.islice(lines, 2000):
            words.update(re.findall(r"[A-Za-z]{3,}", json.loads(line)["text"]))
    listed = sorted(words)
    for _ in range(count):
        yield " ".join(rng.choices(listed, k=rng.randint(2, 6)))


class Timed(BatchSearcher):
    """An actor that reports its time in searches and the CPU time of its process."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._began, self._told = time.process_time(), 0.0

    def _ids(self, asked):
        before = time.process_time()
        found = super()._ids(asked)
        now = time.process_time()
        lived, self._told = now - self._began - self._told, now - self._began
        share = np.full(len(asked), 1 / len(asked))
        return {**found, "searched": share * (now - before), "lived": share * lived}


def million(passages, path, count, workers):
    """Ask through Ray Data on actors that keep the shards open; answers are ids and scores."""
    import ray

    ray.init(num_cpus=workers + 1, object_store_memory=400 << 20, include_dashboard=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = ray.data.from_items([{"question": text} for text in invented(passages, count)])
    began, searched, lived, answers = time.perf_counter(), 0.0, 0.0, 0
    asked = rows.map_batches(
        Timed, fn_constructor_args=(str(path), K, False, {}, {}), batch_size=1024,
        batch_format="numpy", concurrency=workers, num_cpus=1, memory=512 << 20,
    )  # fmt: skip
    for batch in asked.iter_batches(batch_size=4096, batch_format="numpy"):
        searched, lived = searched + batch["searched"].sum(), lived + batch["lived"].sum()
        answers += sum(map(len, batch["ids"]))
    wall = time.perf_counter() - began
    print(f"\n{count:,} questions on Ray by {workers} actors: {wall:.0f} s, {answers:,} passages")
    print(
        f"{searched:.0f} s of the actors' {lived:.0f} s of CPU are search: {searched / lived:.0%}"
    )
    print(f"{searched / count * 1e3:.3f} ms of CPU a question")
    ray.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--passages", required=True)
    parser.add_argument("--questions")
    parser.add_argument("--builds", action="store_true")
    parser.add_argument("--asked", action="store_true", help="nothing but questions")
    parser.add_argument("--ray", type=int, metavar="QUESTIONS")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--shards", type=int, default=12)
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        (work / "sources").mkdir()
        sources(options.passages, options.rows, work / "sources")
        if options.builds:
            return builds(work / "sources", work, options.shards)
        if options.ray:
            dataset.build(work / "sources", work / "kb", shards=options.shards)
            return million(options.passages, work / "kb", options.ray, options.workers)
        with open(options.questions, encoding="utf-8") as lines:
            questions = [line.strip() for line in lines if line.strip()][:200]
        dataset.build(work / "sources", work / "kb", shards=options.shards)
        ragfile.build(work / "sources", work / "one.ragfile")
        print(
            f"{platform.machine()}, {options.rows:,} passages, {options.shards} shards, CPU ms a question\n"
        )
        print("| | one file | the shards' own | dataset | over one file |\n|---|---|---|---|---|")
        with ragfile.open(work / "one.ragfile") as one, ragfile.open(work / "kb") as rf:
            compare(one, rf, questions, work / "kb")
        if options.asked:
            return None
        pools(work / "kb", questions)
        builds(work / "sources", work, options.shards)


if __name__ == "__main__":
    main()
