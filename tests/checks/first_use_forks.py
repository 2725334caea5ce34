"""Forks while another thread is in its first call: the child makes the same call, in time.

    python tests/checks/first_use_forks.py ROUNDS

Each round is a new process that has imported ragfile and nothing of its modules. The moments of the forks
are spread over the first call, so that they meet each of its imports sooner or later.
"""

import asyncio
import faulthandler
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings

PATIENCE = 5  # seconds; a child needs half of one


def search(ragfile, folder):
    with ragfile.open(f"{folder}/kb.ragfile") as rf:
        hits = rf.search("pods and nodes", 3, where={"n": {"$gt": 2}}, query_syntax=True)
        return (
            [hit.id for hit in hits],
            rf.explain("pods", "d1#0").row,
            len(rf.excerpt("pods", 1).text),
        )


def ask(ragfile, folder):
    with ragfile.open(f"{folder}/kb.ragfile") as rf:
        return rf.ask("What are pods and nodes?").text


def batch(ragfile, folder):
    with ragfile.open(f"{folder}/kb.ragfile") as rf:
        rows, _ = rf.nearest(rf.vector(0), 3)
        return rows.tolist(), [
            len(hits) for hits in rf.search_batch(["pods", "nodes"], drop_repeats=True)
        ]


def wait_for_search(ragfile, folder):
    with ragfile.open(f"{folder}/kb.ragfile") as rf:
        return [hit.id for hit in asyncio.run(rf.asearch("pods"))]


def build(ragfile, folder):
    path = f"{folder}/{os.getpid()}.ragfile"
    ragfile.build(f"{folder}/docs", path, embedder="default")
    with ragfile.edit(path) as w:
        w.delete(["a.md"])
    ragfile.compact(path)
    return ragfile.verify(path)[0]


def canonical(ragfile, folder):
    chunks = ragfile.chunk({"id": "a", "text": "pods and nodes. " * 40})
    return [chunk.text for chunk in chunks], ragfile.text.words("Pods and nodes")


CALLS = [search, ask, batch, wait_for_search, build, canonical]


def make(folder):
    import ragfile

    with ragfile.create(f"{folder}/kb.ragfile", embedder="default") as w:
        w.add_documents({"id": f"d{i}", "text": f"Pods and nodes are number {i}. " * 9, "metadata": {"n": i}} for i in range(9))  # fmt: skip
    os.mkdir(f"{folder}/docs")
    for name in ("a.md", "b.md"):
        with open(f"{folder}/docs/{name}", "w") as file:
            file.write(f"# Pods\n\nPods and nodes of {name}.\n")


def one(folder, name, delay):
    """Fork `delay` seconds after another thread began its first call; exit with 0 if both answers agree."""
    import ragfile

    warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside a thread is the subject
    call, answers = globals()[name], []
    thread = threading.Thread(target=lambda: answers.append(call(ragfile, folder)))
    thread.start()
    time.sleep(delay)
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        signal.alarm(PATIENCE)
        faulthandler.dump_traceback_later(PATIENCE - 1)  # where a child waits
        os.write(writing, repr(call(ragfile, folder)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        told = answer.read()
    os.waitpid(pid, 0)
    thread.join()
    sys.exit(told != repr(answers[0]))


def run(rounds, seed=0):
    """Return the rounds that failed, as (call, delay, output)."""
    rng, failed = random.Random(seed), []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, __file__, "make", folder], check=True)
        for i in range(rounds):
            name, delay = CALLS[i % len(CALLS)].__name__, round(rng.uniform(0, 0.3), 3)
            command = [sys.executable, __file__, "one", folder, name, str(delay)]
            ended = subprocess.run(command, capture_output=True, text=True, timeout=3 * PATIENCE)
            if ended.returncode or ended.stderr:
                failed.append((name, delay, ended.stderr[-2000:]))
    return failed


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "one":
        one(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    else:
        wrong = run(int(sys.argv[1]))
        print(f"{sys.argv[1]} forks during a first call: {len(wrong)} failed {wrong or ''}")
        sys.exit(bool(wrong))
