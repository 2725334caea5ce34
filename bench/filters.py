"""Measure filters by their share of rows, beside numpy gathering those rows.

    python bench/filters.py --passages P.jsonl.xz --questions short.txt long.txt --rows 400000

The built-in model's vectors in a mapped file; beyond the passages, rows are copies with noise. Each
side gets the filter in the form it prefers: bits for ragfile, row numbers for numpy, which
multiplies those rows and takes the ten best. One process, in turns, CPU milliseconds per question,
the best of several rounds. The last table has a filter per question, in one call and one by one.
"""

import argparse
import json
import tempfile

import numpy as np
from vectors import bandwidth, best_times, ours_target
from vectors_own import Mapped, embedded

from ragfile import _core

SHARES = (0.5, 0.1, 0.05, 0.01, 0.001, 0.0001)


def grown(rows, count):
    """Return this many rows: the passages, then copies with noise."""
    rng, parts = np.random.default_rng(0), [rows[:count]]
    while (left := count - sum(map(len, parts))) > 0:
        copy = rows[:left] + rng.standard_normal(rows[:left].shape).astype(np.float32) * 0.02
        parts.append(copy / np.maximum(np.linalg.norm(copy, axis=1, keepdims=True), 1e-9))
    return np.ascontiguousarray(np.concatenate(parts), np.float32)


class Filtered:
    """ragfile with the bits of a filter."""

    def __init__(self, matrix, mask):
        self.matrix, self.words = matrix, _core.row_set(mask, len(mask))

    def search(self, queries, k):
        return self.matrix.nearest(queries, k, where=self.words, threads=1)[0]


class Gathering:
    """numpy with the row numbers of a filter."""

    def __init__(self, rows, mask):
        self.rows, self.numbers = rows, np.flatnonzero(mask)

    def search(self, queries, k):
        for query in queries:
            scores = self.rows[self.numbers] @ query
            best = np.argpartition(-scores, min(k, len(scores) - 1))[:k]
            best = best[np.argsort(-scores[best])]
        return self.numbers[best]


def by_share(matrix, rows, asked, rounds):
    cells, rng = {}, np.random.default_rng(1)
    for share in SHARES:
        mask = rng.random(len(rows)) < share
        peers = {"ragfile": Filtered(matrix, mask), "numpy": Gathering(rows, mask)}
        for k in (10, 100):
            times = best_times(peers, asked[:32], k, rounds, 1)
            cells[f"{share:.2%}, k = {k}"] = {"rows": int(mask.sum()), **times}
    return cells


class Together:
    """Questions with one filter each, in one call or one by one."""

    batches = True

    def __init__(self, matrix, masks, at_once):
        self.matrix, self.at_once = matrix, at_once
        self.sets = [_core.row_set(mask, len(mask)) for mask in masks]

    def search(self, queries, k):
        numbers = np.arange(len(queries)) % len(self.sets)
        if self.at_once:
            filters = _core.Filters(numbers, [[words] for words in self.sets])
            return self.matrix.nearest(queries, k, where=filters, threads=1)[0]
        for query, number in zip(queries, numbers, strict=True):
            self.matrix.nearest(query, k, where=self.sets[number], threads=1)
        return None


def for_each(matrix, count, asked, rounds):
    cells, rng = {}, np.random.default_rng(2)
    for share in (0.5, 0.1, 0.01, 0.001):
        masks = [rng.random(count) < share for _ in range(64)]
        peers = {
            "at once": Together(matrix, masks, True),
            "one by one": Together(matrix, masks, False),
        }
        cells[f"64 filters of {share:.1%}"] = best_times(peers, asked[:256], 10, rounds, 256)
    return cells


def print_table(title, cells):
    names = list(next(iter(cells.values())))
    print(f"\n| {title} | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for asked, times in cells.items():
        shown = (f"{v:,}" if isinstance(v, int) else f"{v:.4f}" for v in times.values())
        print(f"| {asked} | {' | '.join(shown)} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", required=True)
    parser.add_argument("--questions", required=True, nargs="+")
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", help="write the numbers here")
    args = parser.parse_args()
    rows, asked = embedded(args)
    rows = grown(rows, args.rows)
    report = {"cpu": ours_target(), "read GB/s": bandwidth(rows), "rows": len(rows)}
    print(f"{report['cpu']}, a plain read on one core: {report['read GB/s']:.1f} GB/s")
    with tempfile.TemporaryDirectory() as folder:
        matrix = Mapped(rows, folder).matrix
        report["share"] = by_share(matrix, rows, asked, args.rounds)
        report["each"] = for_each(matrix, len(rows), asked, args.rounds)
    print_table(f"{len(rows):,} rows pass a filter: share, CPU ms", report["share"])
    print_table("256 questions, CPU ms a question", report["each"])
    if args.json:
        with open(args.json, "w") as file:
            json.dump(report, file, indent=1)


if __name__ == "__main__":
    main()
