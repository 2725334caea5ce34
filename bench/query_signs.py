"""Measure the operators of query_syntax= beside the same question without them.

    python bench/query_signs.py --passages P.jsonl.xz [--keep kb.ragfile]

CPU milliseconds of one thread, the best of the rounds, through the public call. `added` is the time
beyond the question without operators.
"""

import argparse
import os
import tempfile
import time

from phrases import written

import ragfile

QUESTIONS = (
    ("rotate cluster", "rotate cluster"),
    ("rotate cluster", "+rotate cluster"),
    ("rotate cluster", "+rotate +cluster"),
    ("rotate cluster", "+rotate -cluster"),
    ("kubernetes cluster", "kubernetes clustr~"),
    ("kubernetes cluster", "kubernetse~ cluster"),
    ("kubernetes cluster", "kubernetse~2 cluster"),
    ("kubernetes cluster", "kube* cluster"),
    ("kubernetes cluster", "+kube* cluster"),
    ("start cluster", "sta* cluster"),
)


def best(kb, question, rounds):
    took = []
    for _ in range(rounds):
        start = time.process_time_ns()
        kb.search(question, 10, query_syntax=True, mode="bm25", cache=False, threads=1)
        took.append(time.process_time_ns() - start)
    return min(took) / 1e6


def plain(kb, question, rounds):
    took = []
    for _ in range(rounds):
        start = time.process_time_ns()
        kb.search(question, 10, mode="bm25", cache=False, threads=1)
        took.append(time.process_time_ns() - start)
    return min(took) / 1e6


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", required=True)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--keep", help="write the file here, or use the one that is there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.keep or os.path.join(folder, "kb.ragfile")
        if not os.path.exists(path):
            written(args.passages, path)
        with ragfile.open(path, embedder="none") as kb:
            print(f"{'question':28} {'with':>8} {'without':>8} {'ratio':>6} {'added':>8}")
            for without, question in QUESTIONS:
                base, signed = plain(kb, without, args.rounds), best(kb, question, args.rounds)
                print(
                    f"{question:28} {signed:8.3f} {base:8.3f} {signed / base:6.2f} {signed - base:8.3f}"
                )


if __name__ == "__main__":
    main()
