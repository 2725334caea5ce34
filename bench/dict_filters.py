"""Measure filters as a program gives them: a dict of metadata, through the public calls.

    python bench/dict_filters.py --passages P.jsonl.xz --questions short.txt --rows 300000 [--keep kb.ragfile]

The passages are repeated up to --rows, with the built-in model's vectors (copies with noise). Each row
has a random number in each of five fields, so that an equality passes a scattered share of the rows. A
first call has a condition that was not used before; a second one repeats it. CPU milliseconds of one
thread, the best of all rounds, all kinds in turns.
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from filters import grown
from vectors import ours_target
from vectors_own import embedded

import ragfile

FIELDS = {"f10000": 10_000, "f1000": 1_000, "f100": 100, "f10": 10, "f2": 2}
SHARES = {"f10000": ".01 %", "f1000": ".1 %", "f100": "1 %", "f10": "10 %", "f2": "50 %"}
ASKED = 16


def texts_of(path):
    import lzma

    opener = lzma.open if path.endswith(".xz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in file]


def written(args, path):
    """Write the file and the vectors of the questions."""
    rows, asked = embedded(args)
    vectors, texts = grown(rows, args.rows), texts_of(args.passages)
    rng = np.random.default_rng(5)
    numbers = {name: rng.integers(0, count, args.rows).tolist() for name, count in FIELDS.items()}
    chunks = (
        {"doc_id": f"d{i:07d}", "chunk_index": 0, "content": texts[i % len(texts)],
         "metadata": {name: column[i] for name, column in numbers.items()}}
        for i in range(args.rows)
    )  # fmt: skip
    with ragfile.create(path, dim=vectors.shape[1]) as w:
        w.add(chunks, vectors)
    np.save(f"{path}.npy", asked[:ASKED])


def timed(ask, count):
    start = time.process_time_ns()
    for i in range(count):
        ask(i)
    return (time.process_time_ns() - start) / 1e6 / count


class Calls:
    """The public calls of one open file."""

    def __init__(self, path, questions, vectors):
        self.path, self.questions, self.vectors = path, questions, vectors
        self.rf = ragfile.open(path, embedder="none")

    def nearest(self, i, where):
        self.rf.nearest(self.vectors[i % ASKED], 10, where=where, threads=1)

    def match(self, i, where):
        self.rf.match(self.questions[i % ASKED], 10, where=where, threads=1)

    def hybrid(self, i, where):
        self.rf.search(
            self.questions[i % ASKED], 10, vector=self.vectors[i % ASKED], where=where,
            cache=False, threads=1,
        )  # fmt: skip


def cells(calls, rounds):
    """Return {(call, share): best milliseconds}, for a filter that was used before."""
    best = {}
    for _ in range(rounds):
        for kind in ("nearest", "match", "hybrid"):
            ask = getattr(calls, kind)
            for name in (None, *FIELDS):
                where = None if name is None else {name: 1}
                ask(0, where)
                took = timed(lambda i, ask=ask, where=where: ask(i, where), ASKED)
                key = kind, "all" if name is None else SHARES[name]
                best[key] = min(best.get(key, took), took)
    return best


def first_calls(calls):
    """Return the best milliseconds of a nearest whose condition is new, by share."""
    best = {}
    for name, count in FIELDS.items():
        calls.nearest(0, {name: 0})
        values = range(2, min(count, 50)) if count > 2 else ()
        took = [timed(lambda i, v=v, name=name: calls.nearest(i, {name: v}), 1) for v in values]
        if took:
            best[SHARES[name]] = min(took)
    return best


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", required=True)
    parser.add_argument("--questions", required=True, nargs="+")
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--keep", help="write the file here, or use the one that is there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.keep or os.path.join(folder, "kb.ragfile")
        if not os.path.exists(path):
            written(args, path)
        questions = Path(args.questions[0]).read_text().splitlines()[:ASKED]
        calls = Calls(path, questions, np.load(f"{path}.npy"))
        found, first = cells(calls, args.rounds), first_calls(calls)
    print(f"{ours_target()}, {args.rows:,} rows, CPU ms")
    shares = ["all", *SHARES.values()]
    print(f"\n| | {' | '.join(shares)} |\n|---|{'---|' * len(shares)}")
    for kind in ("nearest", "match", "hybrid"):
        print(f"| {kind} | {' | '.join(f'{found[kind, s]:.4f}' for s in shares)} |")
    print(f"| nearest, first call | | {' | '.join(f'{v:.4f}' for v in first.values())} | |")


if __name__ == "__main__":
    main()
