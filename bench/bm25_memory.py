"""Measure whether the memory of building BM25 postings grows with the text.

    python bench/bm25_memory.py [--gigabytes 4] [--limit-mb 1024]

Passages are generated, so that no corpus is on the disk: 1,100 characters from 8 MB of
Zipf-distributed words, eight of two million rarer words, and one unique word, so that the
vocabulary grows all the way. The sections are written to a temporary folder, opened and searched at
the end. The whole process has a limited address space. It prints its anonymous memory: the peak at
every eighth of the text, and the peak while runs are merged.
"""

import argparse
import bisect
import itertools
import json
import random
import resource
import tempfile
import threading
import time
from pathlib import Path

from ragfile import _core
from ragfile.ingest.analysis import Analysis

POOL, PASSAGE, COMMON, RARE = 8_000_000, 1_100, 60_000, 2_000_000


def anonymous_mb():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) / 1024


class Peak:
    """The peak of anonymous memory, sampled every 20 ms; the builder holds no lock."""

    def __init__(self):
        self.mb, self.open = 0.0, True
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        while self.open:
            self.mb = max(self.mb, anonymous_mb())
            time.sleep(0.02)

    def close(self):
        self.open = False
        self.thread.join()

    def taken(self):
        """Return the peak since the last call."""
        mb, self.mb = max(self.mb, anonymous_mb()), 0.0
        return round(mb, 1)


def pool_of_words(chance):
    cumulative = list(itertools.accumulate(1 / (rank + 2) ** 1.07 for rank in range(COMMON)))
    words, size = [], 0
    while size < POOL:
        words.append(f"w{bisect.bisect(cumulative, chance.random() * cumulative[-1])}")
        size += len(words[-1]) + 1
    return " ".join(words)


def passages(size, chance):
    """Generate passages of about `size` bytes in all."""
    pool, made = pool_of_words(chance), 0
    for row in itertools.count():
        if made >= size:
            return
        at, rare = int(chance.random() * (POOL - PASSAGE)), chance.getrandbits(21 * 8)
        tail = " ".join([f"r{(rare >> 21 * i) % RARE}" for i in range(8)])
        text = f"{pool[at : at + PASSAGE]} {tail} u{row}"
        made += len(text)
        yield text


def build(size, folder, report):
    builder, peak, chance, start = (
        _core.LexicalBuilder(Analysis(), directory=folder),
        Peak(),
        random.Random(1),
        time.process_time(),
    )
    try:
        before, made, done = peak.taken(), 0, 0
        for text in passages(size, chance):
            builder.add((text,))
            made += len(text)
            if made * 8 >= size * (done + 1):
                done += 1
                report(text_mb=round(made / 1e6), rows=builder.rows, peak_mb=peak.taken())
        with open(folder / "postings", "wb") as postings, open(folder / "terms", "wb") as terms:
            builder.finish(postings.write, terms.write)
        report(
            text_mb=round(made / 1e6),
            rows=builder.rows,
            merging_peak_mb=peak.taken(),
            before_mb=before,
        )
    finally:
        peak.close()
    report(
        cpu_s=round(time.process_time() - start, 1),
        rows_per_s=round(builder.rows / (time.process_time() - start)),
    )


def ask(folder, report):
    import mmap

    def section(name):
        with open(folder / name, "rb") as file:
            return _core.Section.over(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))

    lexicon = _core.Lexicon(section("terms"), section("postings"))
    rows, _ = lexicon.match(["u7 w3", f"u{len(lexicon) - 1} w5"], 1)
    sizes = [(folder / name).stat().st_size for name in ("terms", "postings")]
    report(
        terms=lexicon.term_count,
        postings=lexicon.posting_count,
        section_mb=[round(size / 1e6) for size in sizes],
        found=rows[:, 0].tolist() == [7, len(lexicon) - 1],
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--limit-mb", type=int, default=1024)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (given.limit_mb << 20, resource.RLIM_INFINITY))

    def report(**numbers):
        print(json.dumps(numbers), flush=True)

    with tempfile.TemporaryDirectory() as folder:
        build(int(given.gigabytes * 1e9), Path(folder), report)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        ask(Path(folder), report)


if __name__ == "__main__":
    main()
