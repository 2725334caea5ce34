"""What does an edit cost, and what do segments cost a search?

    python bench/living.py [--chunks 100000]

Appends 100 documents to a file of so many chunks: bytes written beyond the new data, whether the earlier bytes stayed, seconds
without embedding. Then the same documents in one segment and in ten: a question by each leg and both, best of interleaved rounds.
"""

import argparse
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import ragfile

TOPICS = 4000


def words(rng, vocabulary, count):
    """Words as frequent as in a language, roughly, and a few of one topic."""
    topic = rng.randrange(TOPICS)
    return " ".join(
        vocabulary[min(int(rng.paretovariate(0.6)), len(vocabulary)) - 1] if rng.random() < 0.8 else f"topic{topic}x{rng.randrange(9)}"
        for _ in range(count)
    )  # fmt: skip


def documents(first, count, seed):
    rng = random.Random(seed)
    vocabulary = [
        f"{rng.choice('bcdfgklmnprst')}{rng.choice('aeiou')}{rng.choice('bdgklmnrst')}{i}" for i in range(50000)
    ]
    for i in range(first, first + count):
        yield {"id": f"doc{i:08d}", "text": words(rng, vocabulary, 80), "metadata": {"n": i}}


class Ready:
    """Vectors that cost nothing, so that what is left is the file's own time."""

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


def asked(rf, mode, questions):
    began = time.perf_counter()
    for question in questions:
        rf.search(question, 10, mode=mode)
    return (time.perf_counter() - began) / len(questions)


def compare(one, many):
    """Every round has questions of its own: an open file remembers its last answers."""
    rng = random.Random(3)
    words = [d["text"].split() for d in documents(0, 400, 1)]
    draw = lambda: [" ".join(rng.sample(rng.choice(words), 4)) for _ in range(40)]  # noqa: E731
    files = [ragfile.open(path) for path in (one, many)]
    for question in draw():
        assert [(h.id, h.score) for h in files[0].search(question)] == [
            (h.id, h.score) for h in files[1].search(question)
        ]
    for mode in ("vector", "bm25", "hybrid"):
        rounds = [draw() for _ in range(9)]
        took = np.array([[asked(rf, mode, questions) for rf in files] for questions in rounds]) * 1e3
        best, ratio = took.min(axis=0), np.median(took[:, 1] / took[:, 0])
        print(
            f"{mode:>7}: {best[0]:.3f} ms in one segment, {best[1]:.3f} ms in ten; {ratio:.2f} times in the median of {len(rounds)} rounds"
        )


def main():
    global embedder
    options = argparse.ArgumentParser()
    options.add_argument("--chunks", type=int, default=100_000)
    chunks = options.parse_args().chunks
    embedder = ragfile.embedding.open_embedder("default")
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
        compare(one, many)
        append(one, chunks)


if __name__ == "__main__":
    import ragfile.embedding

    main()
