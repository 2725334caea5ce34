"""Measure a file that grows by commits of one record.

    python bench/small_commits_alone.py [--commits 10000]

Reports the bytes that the commits wrote as a multiple of the bytes that the records have in a
compacted file; the size of the file, its segments, the CPU and wall time of a commit (median, 99th
percentile, worst); and a hybrid question, by the median and the worst of interleaved rounds,
beside the compacted file. Answers of both files are compared.
"""

import argparse
import os
import random
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

import ragfile
from ragfile import _core
from ragfile.embedding.protocol import Model

DIM, WORDS = 256, 25


class Ready:
    """An embedder without cost, so that only the file is measured."""

    is_static = True

    def __init__(self):
        self.model = Model("ready", DIM)

    def embed(self, texts, role="document"):
        return np.array([self.vector(text) for text in texts], np.float32)

    @staticmethod
    def vector(text):
        rows = np.random.default_rng(abs(hash(text)) % (1 << 32)).standard_normal(DIM)
        return rows / np.linalg.norm(rows)


def record(number, rng):
    text = " ".join(f"word{min(int(rng.paretovariate(0.8)), 20_000)}" for _ in range(WORDS))
    return {"id": f"memory{number:08d}", "text": text, "metadata": {"n": number}}


def written():
    """Bytes that this process has written to files."""
    with open("/proc/self/io") as counts:
        return int(next(line for line in counts if line.startswith("wchar")).split()[1])


def grow(path, commits, updates):
    """Commit record after record; return CPU and wall seconds of each, and the bytes written."""
    rng, took = random.Random(1), []
    vectors = np.random.default_rng(1).standard_normal((commits, DIM)).astype(np.float32)
    before = written()
    for i in range(commits):
        number = rng.randrange(i) if i and rng.random() < updates else i
        said = record(number, rng)
        cpu, wall = time.process_time(), time.perf_counter()
        with ragfile.edit(path) as w:
            w.upsert([{**chunk_of(said)}], [vectors[i]])
        took.append((time.process_time() - cpu, time.perf_counter() - wall))
    return np.array(took) * 1e3, written() - before


def chunk_of(said):
    return {
        "doc_id": said["id"], "chunk_index": 0, "content": said["text"], "metadata": said["metadata"],
    }  # fmt: skip


def ask(files, count=60, rounds=5):
    """Milliseconds of a hybrid question in each file; the answers must be equal."""
    rng = random.Random(3)
    vectors = np.random.default_rng(3).standard_normal((count, DIM)).astype(np.float32)
    asked = [(record(0, rng)["text"][:40], vector) for vector in vectors]
    took = np.zeros((rounds, len(files), count))
    for round_ in range(rounds):
        for i, (text, vector) in enumerate(asked):
            answers = []
            for j, rf in enumerate(files):
                began = time.perf_counter()
                hits = rf.search(text, 10, vector=vector, cache=False)
                took[round_, j, i] = time.perf_counter() - began
                answers.append([(hit.id, hit.score) for hit in hits])
            assert answers[0] == answers[1]
    return took.min(axis=0) * 1e3


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--commits", type=int, default=10_000)
    options.add_argument("--updates", type=float, default=0.0, help="share of commits that replace")
    options.add_argument("--folder")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path, compacted = Path(folder) / "grown.ragfile", Path(folder) / "compacted.ragfile"
        with ragfile.create(path, dim=DIM):
            pass
        took, bytes_ = grow(path, given.commits, given.updates)
        shutil.copy(path, compacted)
        ragfile.compact(compacted)
        size, put = path.stat().st_size, compacted.stat().st_size
        segments = len(_core.Reader(_core.Map(path)).segments)
        print(f"{given.commits:,} commits of one record: {bytes_ / put:.2f} x written, "
              f"file {size / 1e6:.2f} MB, {size / put:.2f} x compacted, {segments} segments")  # fmt: skip
        for name, column in zip(("CPU", "wall"), took.T, strict=True):
            middle, high = np.percentile(column, (50, 99))
            last = np.median(column[-100:])
            print(
                f"  {name}: median {middle:.3f} ms, last 100 {last:.3f}, p99 {high:.2f}, worst {column.max():.1f}"
            )
        with ragfile.open(path) as grown, ragfile.open(compacted) as one:
            times = ask([grown, one])
        rate = times[0] / times[1]
        print(f"  hybrid question: {np.median(times[0]):.3f} ms, compacted {np.median(times[1]):.3f}: "
              f"median {np.median(rate):.2f} x, worst {rate.max():.2f} x")  # fmt: skip
        opened = [opening(one) for one in (path, compacted)]
        print(
            f"  open: {opened[0]:.3f} ms, compacted {opened[1]:.3f}: {opened[0] / opened[1]:.2f} x"
        )
        os.sync()


def opening(path):
    best = []
    for _ in range(30):
        began = time.perf_counter()
        with ragfile.open(path):
            best.append(time.perf_counter() - began)
    return min(best) * 1e3


if __name__ == "__main__":
    main()
