"""Compare one RAGFile for each user with one SQLite database (FTS5) for each: random access by threads.

    python bench/many_files.py [--files 10000] [--asked 1000] [--threads 8] [--requests 8000]

Each file holds 50 memories. First `--asked` files are asked once, and the memory that this adds is
printed: anonymous pages of the process, without the pages of files. Then threads ask random files of
all, of which 1,000 stay open. A request opens a user's file by its name if it is not open, looks for
newer commits, and returns the texts of the five best memories. RAGFiles are asked by words alone, as
SQLite is, and by words and vectors.
"""

import argparse
import json
import random
import shutil
import sqlite3
import tempfile
import threading
import time
from collections import OrderedDict
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import ragfile

MEMORIES, DIFFERENT, WORDS, OPEN = 50, 40, 3000, 1000


def memories(seed):
    rng = random.Random(seed)
    return [" ".join(f"word{rng.randrange(WORDS)}" for _ in range(18)) for _ in range(MEMORIES)]


def make(folder, count):
    """Write files of DIFFERENT users, and copies of them."""
    for n in range(min(count, DIFFERENT)):
        texts = memories(n)
        documents = [{"id": f"m{i}", "text": text} for i, text in enumerate(texts)]
        ragfile.build(documents, folder / f"u{n}.ragfile")
        with sqlite3.connect(folder / f"u{n}.db") as db:
            db.execute("CREATE VIRTUAL TABLE memories USING fts5(text)")
            db.executemany("INSERT INTO memories VALUES (?)", [(text,) for text in texts])
        db.close()
    for n in range(DIFFERENT, count):
        for suffix in (".ragfile", ".db"):
            shutil.copyfile(folder / f"u{n % DIFFERENT}{suffix}", folder / f"u{n}{suffix}")


class Databases:
    """One SQLite database for each user; a thread keeps its last ones open, as sqlite3 requires."""

    def __init__(self, folder, most):
        self.folder, self.most, self.kept = folder, most, threading.local()

    def ask(self, name, question):
        if not hasattr(self.kept, "open"):
            self.kept.open = OrderedDict()
        kept = self.kept.open
        if name not in kept:
            kept[name] = sqlite3.connect(self.folder / f"{name}.db")
            if len(kept) > self.most:
                kept.popitem(last=False)[1].close()
        kept.move_to_end(name)
        query = "SELECT text FROM memories WHERE memories MATCH ? ORDER BY rank LIMIT 5"
        return kept[name].execute(query, (question.replace(" ", " OR "),)).fetchall()


class Files:
    """One RAGFile for each user, in a ragfile.Folder."""

    def __init__(self, folder, most, mode):
        self.folder, self.mode = ragfile.Folder(folder, max_open=most), mode

    def ask(self, name, question):
        hits = self.folder.open(name).search(question, 5, mode=self.mode)
        return [hit.text for hit in hits]


def anonymous():
    """Return the bytes of memory of this process that are not pages of files."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("Anonymous:"))


def question(rng):
    return " ".join(f"word{rng.randrange(WORDS)}" for _ in range(4))


def memory_of(store, asked):
    """Return the bytes that files take after one question each."""
    rng = random.Random(3)
    store.ask("u0", question(rng))
    before = anonymous()
    for n in range(1, asked + 1):
        store.ask(f"u{n}", question(rng))
    return anonymous() - before


def random_access(store, options):
    """Return the seconds of each request, as threads send them one after the other."""
    times = [[] for _ in range(options.threads)]

    def work(number):
        rng = random.Random(number)
        for _ in range(options.requests // options.threads):
            name, text = f"u{rng.randrange(options.files)}", question(rng)
            began = time.perf_counter()
            store.ask(name, text)
            times[number].append(time.perf_counter() - began)

    threads = [threading.Thread(target=work, args=[n]) for n in range(options.threads)]
    began, cpu = time.perf_counter(), time.process_time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took, used = time.perf_counter() - began, time.process_time() - cpu
    ordered = sorted(each for some in times for each in some)
    return {
        "p50_ms": ordered[len(ordered) // 2] * 1e3, "p99_ms": ordered[len(ordered) * 99 // 100] * 1e3,
        "per_second": len(ordered) / took, "cpu_us": used / len(ordered) * 1e6,
    }  # fmt: skip


STORES = {
    "ragfile, words": lambda folder, most: Files(folder, most, "bm25"),
    "ragfile, words and vectors": lambda folder, most: Files(folder, most, "hybrid"),
    "SQLite FTS5, words": Databases,
}


def measured(name, folder, options):
    """Measure one store; connections of SQLite belong to a thread, which keeps its share open."""
    make_store, asked = STORES[name], min(options.asked, options.files - 1)
    added = memory_of(make_store(folder, asked + 1), asked)
    share = options.threads if "SQLite" in name else 1
    return {"memory_mb": added / 1e6, **random_access(make_store(folder, OPEN // share), options)}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name, value in (("files", 10_000), ("asked", 1000), ("threads", 8), ("requests", 8000)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        make(folder, options.files)
        for name in STORES:
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                told = process.submit(measured, name, folder, options).result()
            shown = {key: round(value, 3) for key, value in told.items()}
            print(json.dumps({"store": name, **shown}), flush=True)


if __name__ == "__main__":
    main()
