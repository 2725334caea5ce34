"""Measure the cost of the rule of named pages in a hybrid question.

    python bench/named_pages.py kb.ragfile questions.txt [--rounds 25]

CPU microseconds on one thread without cached answers, with the rule and with `hops=0`: for each question the best
round, and of all questions the one in the middle.
"""

import argparse
import time
from pathlib import Path
from statistics import median

import ragfile


def spent(rf, question, hops):
    start = time.process_time_ns()
    rf.search(question, k=12, hops=hops, cache=False, threads=1)
    return (time.process_time_ns() - start) / 1e3


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--rounds", type=int, default=25)
    args = parser.parse_args()
    questions = args.questions.read_text(encoding="utf-8").splitlines()[:64]
    best = {(q, hops): float("inf") for q in questions for hops in (0, 1)}
    with ragfile.open(args.file) as rf:
        for _ in range(args.rounds):
            for question, hops in best:
                best[question, hops] = min(best[question, hops], spent(rf, question, hops))
    without, named = (median(best[q, hops] for q in questions) for hops in (0, 1))
    added = median(best[q, 1] - best[q, 0] for q in questions)
    print(f"without {without:.0f} µs, with the rule {named:.0f} µs, added {added:.0f} µs")


if __name__ == "__main__":
    main()
