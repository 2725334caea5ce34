"""Compare exact top-k over embeddings with other libraries.

    python bench/vectors.py --rows embeddings.npy --queries queries.npy --json out.json

Contestants run in one process on the same data, in turns; each cell is the best of several rounds,
because noise disturbs means most. One thread is measured in CPU time of the process, so that hidden
threads do not help; two threads by the wall clock. Without --rows the data is synthetic (normal,
i.i.d.: the worst case for bounds), and the table marks it. Rows of 768 dimensions are real ones
with each row's neighbour appended. A contestant that is not installed is left out with a reason.
`found` is the share of rows equal to ours. The program starts itself again with the core type of
OpenBLAS that makes faiss fastest (bench/openblas.py).
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import threading
import time
from importlib import metadata

os.environ.setdefault("LANCE_LOG", "error")
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402 - after the settings that it reads when imported
import openblas  # noqa: E402
from vector_peers import PEERS, Ragfile, RagfileWithoutShadow  # noqa: E402

OPEN_AND_ASK = """
import mmap, sys, time
import numpy
from ragfile import _core
rows, shadow, query, count, dim = sys.argv[1:]
query = numpy.load(query)
start = time.perf_counter()
maps = []
for path in (rows, shadow):
    with open(path, "rb") as file:
        maps.append(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
matrix = _core.Matrix(maps[0], int(count), int(dim), at=128, shadow=maps[1])
opened = time.perf_counter()
matrix.nearest(query, 10)
first = time.perf_counter()
matrix.nearest(query, 10)
print((opened - start) * 1e3, (first - opened) * 1e3, (time.perf_counter() - first) * 1e3)
"""


def load(args, count):
    if not args.rows:
        rng = np.random.default_rng(1)
        rows = rng.standard_normal((count, args.dim), dtype=np.float32)
        queries = rng.standard_normal((1024, args.dim), dtype=np.float32)
        return (
            rows / np.linalg.norm(rows, axis=1, keepdims=True),
            queries,
            "synthetic: normal, i.i.d.",
        )
    rows, queries = np.load(args.rows), np.load(args.queries)
    if args.dim == 2 * rows.shape[1]:
        rows, queries = (
            np.concatenate([x, np.roll(x, 1, 0)], axis=1) * np.float32(0.5**0.5)
            for x in (rows, queries)
        )
        return rows[:count], queries, f"{args.rows}, each row beside its neighbour"
    if count > len(rows):
        noise = np.random.default_rng(2).standard_normal((count, rows.shape[1]), dtype=np.float32)
        grown = rows[np.arange(count) % len(rows)] + 0.02 * noise
        grown[: len(rows)] = rows
        rows = (grown / np.linalg.norm(grown, axis=1, keepdims=True)).astype(np.float32)
        return rows, queries, f"{args.rows}, grown by noisy copies"
    return np.ascontiguousarray(rows[:count]), queries, args.rows


def best_times(contestants, queries, k, rounds, batch, clock=time.process_time):
    """Return milliseconds per query: the best interleaved round of each contestant."""
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(rounds):
        for name, peer in contestants.items():
            if batch > 1 and not peer.batches:
                continue
            if 3000 < best[name] * len(queries) < float("inf"):
                continue
            start = clock()
            if batch == 1:
                for query in queries:
                    peer.search(query[None], k)
            else:
                peer.search(queries, k)
            best[name] = min(best[name], (clock() - start) * 1e3 / len(queries))
    return {name: value for name, value in best.items() if value < float("inf")}


def found(contestants, queries, k):
    ours = contestants["ragfile"].search(queries, k)
    share = {}
    for name, peer in contestants.items():
        rows = np.concatenate([peer.search(query[None], k) for query in queries])
        share[name] = float(
            np.mean([len(set(a) & set(b)) / k for a, b in zip(ours, rows, strict=True)])
        )
    return share


def start_contestants(names, rows, folder):
    contestants = {
        "ragfile": Ragfile(rows, folder),
        "ragfile f32 scan": RagfileWithoutShadow(rows, folder),
    }
    for name, peer in PEERS.items():
        if names and name not in names:
            continue
        try:
            start = time.perf_counter()
            contestants[name] = peer(rows, folder)
            contestants[name].build = time.perf_counter() - start
        except ImportError as error:
            print(f"  ({name} left out: {error})")
        except Exception as error:  # noqa: BLE001 - a peer's own failure must not end the run
            print(f"  ({name} left out: {type(error).__name__}: {error})")
    return contestants


def print_table(title, times, shares=None):
    print(f"\n{title}", flush=True)
    ours = times["ragfile"]
    for name, value in sorted(times.items(), key=lambda item: item[1]):
        share = f"  found {shares[name]:.4f}" if shares and name in shares else ""
        print(f"  {name:28} {value:9.4f} ms {1000 / value:10.0f} q/s {value / ours:8.2f}x{share}")


def bandwidth(rows):
    """Return the GB/s of a plain read of the matrix on one core."""
    words = rows.reshape(-1).view(np.uint64)
    best = float("inf")
    for _ in range(15):
        start = time.process_time()
        np.bitwise_or.reduce(words)
        best = min(best, time.process_time() - start)
    return words.nbytes / best / 1e9


def best_call(call, calls, rounds=15):
    """Return microseconds per call."""
    best = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        for _ in range(calls):
            call()
        best = min(best, (time.thread_time() - start) / calls)
    return best * 1e6


def ask_few(rows, queries, folder):
    """Measure a call with hardly anything to search."""
    few = Ragfile(np.ascontiguousarray(rows[:100]), folder)
    query = np.ascontiguousarray(queries[:1])
    return {
        f"k={k}, us a call": best_call(lambda k=k: few.search(query, k), 2000) for k in (1, 10, 100)
    }


def ask_together(ours, queries):
    """Return queries per wall second: one by one, in one batch, from eight threads."""

    def from_threads(count):
        parts = [queries[i::count] for i in range(count)]
        workers = [
            threading.Thread(target=lambda p=p: [ours.search(q[None], 10) for q in p])
            for p in parts
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    ways = {
        "one by one": lambda: [ours.search(query[None], 10) for query in queries],
        "one batch": lambda: ours.search(queries, 10),
        "one batch, two threads": lambda: ours.with_threads(2).search(queries, 10),
        "eight callers": lambda: from_threads(8),
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(3):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            best[name] = min(best[name], time.perf_counter() - start)
    single = np.concatenate([ours.search(query[None], 10) for query in queries])
    rates = {f"{name}, q/s": len(queries) / seconds for name, seconds in best.items()}
    return rates | {"batch answers equal": bool((single == ours.search(queries, 10)).all())}


def open_and_ask(folder, rows, queries):
    np.save(f"{folder}/query.npy", queries[0])
    best = None
    for _ in range(5):
        paths = [f"{folder}/rows.npy", f"{folder}/shadow", f"{folder}/query.npy"]
        command = [sys.executable, "-c", OPEN_AND_ASK, *paths, str(len(rows)), str(rows.shape[1])]
        times = [
            float(t)
            for t in subprocess.run(
                command, capture_output=True, text=True, check=True
            ).stdout.split()
        ]
        best = times if best is None or sum(times[:2]) < sum(best[:2]) else best
    return dict(zip(("open ms", "first ms", "second ms"), best, strict=True))


def run(args, count):
    rows, queries, origin = load(args, count)
    print(f"\n== {count} x {rows.shape[1]}, {origin}")
    report = {"rows": count, "dim": rows.shape[1], "data": origin, "cells": {}}
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/rows.npy", rows)
        contestants = start_contestants(args.peers, rows, folder)
        sample = queries[:: max(1, len(queries) // 16)][:16]
        shares = found(contestants, sample[:8], 10)
        for k in (10, 100):
            times = best_times(contestants, sample, k, args.rounds, 1)
            print_table(f"one query, k = {k}, one thread", times, shares if k == 10 else None)
            report["cells"][f"single k={k}"] = times
        for batch in args.batches:
            times = best_times(contestants, queries[:batch], 10, max(2, args.rounds // 3), batch)
            print_table(f"batch of {batch}, k = 10, one thread", times)
            report["cells"][f"batch {batch}"] = times
        ours = contestants["ragfile"]
        two = {"ragfile": ours, "two threads": ours.with_threads(2)}
        for batch in (1, args.batches[-1]):
            asked = sample if batch == 1 else queries[:batch]
            times = best_times(two, asked, 10, args.rounds, batch, time.perf_counter)
            print_table(f"two threads, batch of {batch}", times)
            report["cells"][f"two threads, batch {batch}"] = times
        scan = report["cells"]["single k=10"]["ragfile f32 scan"]
        report["scan GB/s"], report["read GB/s"] = rows.nbytes / scan / 1e6, bandwidth(rows)
        report["open"] = open_and_ask(folder, rows, queries)
        report["100 rows"] = ask_few(rows, queries, folder)
        report["1000 queries"] = ask_together(ours, queries[:1000])
        report["shadow bytes a row"] = ours.shadow_size / count
        report["build s"] = {
            name: getattr(peer, "build", None) for name, peer in contestants.items()
        }
        report["peak RSS MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for key in (
        "scan GB/s",
        "read GB/s",
        "open",
        "100 rows",
        "1000 queries",
        "shadow bytes a row",
        "build s",
        "peak RSS MB",
    ):
        print(f"  {key}: {report[key]}")
    return report


def versions():
    names = (
        "numpy",
        "faiss-cpu",
        "usearch",
        "hnswlib",
        "torch",
        "sqlite-vec",
        "lancedb",
        "duckdb",
        "mmap-ninja",
    )
    found_versions = {}
    for name in names:
        try:
            found_versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found_versions[name] = None
    return found_versions


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", help="embeddings as .npy, float32")
    parser.add_argument("--queries", help="query embeddings as .npy, float32")
    parser.add_argument(
        "--dim", type=int, default=384, help="of synthetic data, or twice that of --rows"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000])
    parser.add_argument("--batches", type=int, nargs="+", default=[64, 256, 1024])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--peers", nargs="*", help="only these (default: all that are installed)")
    parser.add_argument("--json", help="write the numbers here")
    args = parser.parse_args()
    openblas.use_best()
    report = {
        "machine": platform.platform(),
        "cpu": ours_target(),
        "OPENBLAS_CORETYPE": os.environ.get("OPENBLAS_CORETYPE"),
        "versions": versions(),
        "argv": sys.argv[1:],
    }
    print(json.dumps(report))
    report["runs"] = [run(args, count) for count in args.sizes]
    if args.json:
        with open(args.json, "w") as file:
            json.dump(report, file, indent=1)


def ours_target():
    from ragfile import _core

    return _core.target()


if __name__ == "__main__":
    main()
