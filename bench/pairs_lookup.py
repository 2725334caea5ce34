"""Measure a keyword lookup among 1 GB of pairs, beside slicing and splitting in Python.

    python bench/pairs_lookup.py [--mb 1000] [--folder /tmp]

Prints CPU times on one core with a warm file: the full walk in C (no index), the sorted companion,
and plain Python: blocks of 256 paddings are sliced off the map and split at NULs and at the first
"-", as the format's first script did.
"""

import argparse
import mmap
import os
import random
import tempfile
import time

from ragfile import _core
from ragfile.file.pairs import PairFile
from ragfile.file.pairs_writer import write_pairs

WORDS = [
    "the",
    "of",
    "a",
    "retrieval",
    "format",
    "file",
    "vector",
    "keyword",
    "page",
    "index",
    "search",
    "byte",
    "offset",
    "section",
    "gap",
    "term",
]


def passages(size, rng):
    """Generate (key, text) pairs of about `size` bytes in all, texts of 200 to 1000 characters."""
    for i in range(1 << 40):
        text = " ".join(rng.choices(WORDS, k=rng.randrange(35, 170)))
        yield f"c{i:010}", text
        size -= len(text) + 28
        if size < 0:
            return


def split_blocks(mapped, start, end, keyword, padding=8):
    """Decode every keyword and compare texts, as the format's first script did.

    It assumes a padding of 8.
    """
    found = []
    for at in range(start, end, 256 * padding):
        for record in mapped[at : at + 256 * padding].split(b"\0"):
            if b"-" in record:
                key, content = record.split(b"-", 1)
                if key.decode() == keyword:
                    found.append(content.decode())
    return found


def best(ask, rounds):
    times = []
    for _ in range(rounds):
        began = time.process_time()  # CPU time of one thread excludes the machine's other work
        ask()
        times.append(time.process_time() - began)
    return min(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    options = parser.parse_args()
    path = os.path.join(options.folder, f"ragfile-bench-lookup-{options.mb}.rag")
    if not os.path.exists(path):
        write_pairs(path, passages(options.mb * 10**6, random.Random(1)), sorted_keys=True)
    opened = PairFile(path)
    keyword, keys = opened._open.keyword, opened._open.keys
    size, count = keyword.size, len(keys)
    wanted = f"c{count * 2 // 3:010}"
    start, end = opened.sections["keyword"]
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        expected = opened.lookup(wanted)
        assert expected == keyword.lookup(wanted)
        walk = split = 1e9
        for _ in range(3):  # interleaved
            walk = min(walk, best(lambda: keyword.lookup(wanted), 5))
            split = min(split, best(lambda: split_blocks(mapped, start, end, wanted), 1))
        rng = random.Random(2)
        names = [f"c{rng.randrange(count):010}" for _ in range(2000)]
        began = time.process_time()
        for name in names:
            keyword.lookup(name, keys)
        indexed = (time.process_time() - began) / len(names)
    print(
        f"{size / 1e9:.2f} GB of keyword pairs, {count} pairs, target {_core.target()}, CPU time of one core, warm"
    )
    print(f"full walk in C          {walk * 1e3:10.1f} ms   {size / walk / 1e9:7.2f} GB/s")
    print(
        f"block splitting         {split * 1e3:10.1f} ms   {size / split / 1e9:7.2f} GB/s   {split / walk:.0f} times slower"
    )
    print(f"sorted companion        {indexed * 1e6:10.1f} us")


if __name__ == "__main__":
    main()
