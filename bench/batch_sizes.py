"""Measure exact vector searches in batches of any size, through the public call.

    python bench/batch_sizes.py --passages P.jsonl.xz --questions short.txt long.txt [--k 10 100] [--keep kb.ragfile]

`nearest` answers the same questions one by one and in batches, in turns with faiss (IndexFlatIP, with
the best core type of OpenBLAS). CPU milliseconds per question of one thread, the best of all rounds, how
many times faster a batch is than one by one, and than faiss. `RAGFILE_TARGET=avx2` measures a machine
without VNNI.
"""

import argparse
import os
import tempfile
import time

import numpy as np
import openblas
from vector_peers import FaissTuned
from vectors import ours_target
from vectors_own import embedded

import ragfile

SIZES = [1, 2, 4, 8, 16, 24, 31, 32, 64, 1024]


def written(args, path):
    rows, asked = embedded(args)
    rows = rows[: args.rows]
    chunks = ({"doc_id": f"d{i:07d}", "chunk_index": 0, "content": ""} for i in range(len(rows)))
    with ragfile.create(path, dim=rows.shape[1]) as w:
        w.add(chunks, rows)
    np.save(f"{path}.npy", asked)


class Ours:
    """The public call, on a file."""

    def __init__(self, path):
        self.file = ragfile.open(path, embedder="none")

    def search(self, queries, k):
        self.file.nearest(queries, k, threads=1)


def faiss_of(path):
    try:
        return FaissTuned(np.ascontiguousarray(ragfile.open(path, embedder="none").vectors()), None)
    except ImportError:
        return None


def timed(engine, asked, size, k):
    """Return the CPU milliseconds of each question of a sample, asked `size` at a time."""
    count = max(size, min(len(asked), 64 // size * size))
    start = time.process_time_ns()
    for first in range(0, count, size):
        engine.search(asked[first : first + size], k)
    return (time.process_time_ns() - start) / 1e6 / count


def cells(engines, asked, args):
    """Return {(engine, k, size): best milliseconds}."""
    best = {}
    for _ in range(args.rounds):
        for k, size in ((k, size) for k in args.k for size in args.sizes):
            for name, engine in engines.items():
                took = timed(engine, asked, size, k)
                best[name, k, size] = min(best.get((name, k, size), took), took)
    return best


def cell(found, k, size, first):
    ours = found["ours", k, size]
    parts = [f"{ours:.3f}", f"{found['ours', k, first] / ours:.2f}×"]
    if ("faiss", k, size) in found:
        parts.append(f"{found['faiss', k, size] / ours:.2f}×")
    return " / ".join(parts)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", required=True)
    parser.add_argument("--questions", required=True, nargs="+")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--k", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--keep", help="write the file here, or use the one that is there")
    args = parser.parse_args()
    openblas.use_best()
    with tempfile.TemporaryDirectory() as folder:
        path = args.keep or os.path.join(folder, "kb.ragfile")
        if not os.path.exists(path):
            written(args, path)
        asked = np.load(f"{path}.npy")
        engines = {"ours": Ours(path), "faiss": faiss_of(path)}
        found = cells({name: e for name, e in engines.items() if e}, asked, args)
    print(f"{ours_target()}: CPU ms per question / over one by one / over faiss\n")
    print(f"| k | {' | '.join(map(str, args.sizes))} |\n|---|{'---|' * len(args.sizes)}")
    for k in args.k:
        print(f"| {k} | {' | '.join(cell(found, k, s, args.sizes[0]) for s in args.sizes)} |")


if __name__ == "__main__":
    main()
