"""Measure phrases that are asked for the first time, through the public call.

    python bench/phrases.py --passages P.jsonl.xz [--keep kb.ragfile] ["of the" "the following example" …]

Each round opens the file anew, because an open file keeps the rows of its last phrases, and asks a
question without a phrase first. CPU milliseconds of one thread, the best of the rounds.
"""

import argparse
import os
import tempfile
import time

import numpy as np
from dict_filters import texts_of

import ragfile

PHRASES = ("of the", "in the", "the following example", "following example", "quick start")


def written(passages, path):
    texts = texts_of(passages)
    with ragfile.create(path, dim=2) as w:
        w.add(
            [
                {"doc_id": f"d{i:07d}", "chunk_index": 0, "content": text}
                for i, text in enumerate(texts)
            ],
            np.ones((len(texts), 2), np.float32),
        )


def asked(path, phrase):
    """Return the milliseconds of a phrase that is new to an open file, and how many rows have it."""
    with ragfile.open(path, embedder="none") as rf:
        options = {"mode": "bm25", "cache": False, "threads": 1}
        rf.search("a first question", 10, **options)
        start = time.process_time_ns()
        rf.search(f'example +"{phrase}"', 10, query_syntax=True, **options)
        took = (time.process_time_ns() - start) / 1e6
        return took, int(rf.rows.phrases.get(tuple(phrase.split())).sum())


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", help="write the file here, or use the one that is there")
    parser.add_argument("phrases", nargs="*", default=PHRASES)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.keep or os.path.join(folder, "kb.ragfile")
        if not os.path.exists(path):
            written(args.passages, path)
        for phrase in args.phrases:
            rounds = [asked(path, phrase) for _ in range(args.rounds)]
            print(f"{phrase:30} {min(rounds)[0]:10.2f} ms   {rounds[0][1]:,} passages")


if __name__ == "__main__":
    main()
