"""Measure an edit, the cost of segments to a search, and of a writer to a reader.

    python bench/living.py [--chunks 100000]

Appends 100 documents to a large file: bytes written beyond the new data, whether the earlier bytes
are unchanged, and seconds without embedding. Then compares the same documents in one segment and in
ten, the same with deletions, and one large segment with many small ones: a question by words, by
vector and by both, each question's best of interleaved rounds. Finally opens a file beside a
process that appends a gigabyte, and again after that process was killed.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path

import numpy as np

import ragfile
from ragfile import _core

TOPICS = 4000


def words(rng, vocabulary, count):
    """Generate words with roughly the frequencies of a language, and a few of one topic."""
    topic = rng.randrange(TOPICS)
    return " ".join(
        vocabulary[min(int(rng.paretovariate(0.6)), len(vocabulary)) - 1] if rng.random() < 0.8 else f"topic{topic}x{rng.randrange(9)}"
        for _ in range(count)
    )  # fmt: skip


def documents(first, count, seed):
    rng = random.Random(seed)
    vocabulary = [
        f"{rng.choice('bcdfgklmnprst')}{rng.choice('aeiou')}{rng.choice('bdgklmnrst')}{i}"
        for i in range(50000)
    ]
    for i in range(first, first + count):
        yield {"id": f"doc{i:08d}", "text": words(rng, vocabulary, 80), "metadata": {"n": i}}


class Ready:
    """An embedder without cost, so that only the time of the file is measured."""

    def __init__(self, model):
        self.model, self.rng = model, np.random.default_rng(1)

    def embed(self, texts, role="document"):
        rows = self.rng.standard_normal((len(texts), self.model.dims), dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def append(path, chunks):
    size = path.stat().st_size
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    new = list(documents(chunks, 100, 7))
    with ragfile.create(path.with_name("alone"), embedder=Ready(embedder.model)) as w:
        w.add_documents(new)
    alone = path.with_name("alone").stat().st_size
    took = []
    for round_ in range(5):
        began = time.perf_counter()
        with ragfile.edit(path, embedder=Ready(embedder.model)) as w:
            w.upsert({**d, "id": f"{d['id']}r{round_}"} for d in new)
        took.append(time.perf_counter() - began)
        if round_ == 0:
            grown = path.stat().st_size - size
    same = subprocess.run(["cmp", "-n", str(size), path, copy]).returncode == 0
    print(f"append 100 documents to {chunks:,} chunks ({size / 1e6:.0f} MB): {grown / 1e3:.0f} KB written, "
          f"a file of the same 100 alone has {alone / 1e3:.0f} KB; earlier bytes {'unchanged' if same else 'CHANGED'}; "
          f"{min(took) * 1e3:.0f} ms (median {sorted(took)[2] * 1e3:.0f})")  # fmt: skip
    copy.unlink()


def questions():
    rng = random.Random(3)
    texts = [d["text"].split() for d in documents(0, 400, 1)]
    return [" ".join(rng.sample(rng.choice(texts), 4)) for _ in range(40)]


def asked(rf, mode, question):
    began = time.perf_counter()
    rf.search(question, 10, mode=mode, cache=False)
    return time.perf_counter() - began


def compare(what, one, many, rounds=7):
    """Check that answers are equal; count each question's best round to exclude the load."""
    files, asking = [ragfile.open(path) for path in (one, many)], questions()
    for mode in ("vector", "bm25", "hybrid"):
        first, second = (
            [[(h.id, h.score) for h in rf.search(q, mode=mode)] for q in asking] for rf in files
        )
        assert first == second
        took = (
            np.array(
                [[[asked(rf, mode, q) for q in asking] for rf in files] for _ in range(rounds)]
            )
            * 1e3
        )
        best = took.min(axis=0).mean(axis=1)
        print(
            f"{what}, {mode:>6}: {best[0]:.3f} ms in one segment, {best[1]:.3f} ms in several: {best[1] / best[0]:.2f} times"
        )


def small(folder, count, base, everything):
    """One segment and many small ones after it, as a conversation grows."""
    one, many = folder / f"whole{count}", folder / f"small{count}"
    documents_ = everything[: base + 5 * (count - 1)]
    with ragfile.create(one, embedder="default") as w:
        w.add_documents(documents_)
    with ragfile.create(many, embedder="default") as w:
        w.add_documents(documents_[:base])
    for first in range(base, len(documents_), 5):
        with ragfile.edit(many) as w:
            w.upsert(documents_[first : first + 5])
    compare(f"{base:,} chunks and {count - 1} times 5", one, many)
    print(f"  what info says: {ragfile.open(many).file.compaction}")


APPENDING = """
import sys
from ragfile import _core
w = _core.FileWriter.edit(sys.argv[1])
w.begin("rag.large")
for _ in range(1024): w.write(bytes(1 << 20))
print(1, flush=True)
input()
"""


def beside_a_writer(path):
    def best():
        return min(timeit.repeat(lambda: _core.Reader(_core.Map(path)), number=1, repeat=5)) * 1e3

    alone = best()
    writer = subprocess.Popen(
        [sys.executable, "-c", APPENDING, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    writer.stdout.readline()
    beside = best()
    writer.kill()
    writer.wait()
    print(
        f"open: {alone:.3f} ms, {beside:.3f} beside a process that has appended 1 GiB, {best():.1f} once that was killed"
    )


def main():
    global embedder
    options = argparse.ArgumentParser()
    options.add_argument("--chunks", type=int, default=100_000)
    chunks = options.parse_args().chunks
    embedder = ragfile.embedding.protocol.open_embedder("default")
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as folder:
        one, many = Path(folder) / "one", Path(folder) / "many"
        with ragfile.create(one, embedder="default") as w:
            w.add_documents(documents(0, chunks, 1))
        everything = list(documents(0, chunks, 1))
        with ragfile.create(many, embedder="default") as w:
            w.add_documents(everything[::10])
        for part in range(1, 10):
            with ragfile.edit(many) as w:
                w.upsert(everything[part::10])
        compare("in ten", one, many)
        append(one, chunks)
        for path in (one, many):
            with ragfile.edit(path, embedder=Ready(embedder.model)) as w:
                w.delete(
                    [d["id"] for d in everything[::137]]
                    + [f"{d['id']}r{n}" for d in documents(chunks, 100, 7) for n in range(5)]
                )
        compare("in ten, some deleted", one, many)
        for count in (50, 200):
            small(Path(folder), count, chunks // 10, everything)
        beside_a_writer(one)


if __name__ == "__main__":
    import ragfile.embedding.protocol

    main()
