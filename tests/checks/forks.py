"""Forks beside threads that ask: python tests/checks/forks.py COUNT. Each child must answer as its parent did.

A fork copies every lock as it is, also one that a thread holds which the child does not have. The parent's threads ask
without end, by every retriever and with filters, so that a fork falls into each step sooner or later.
"""

import itertools
import os
import signal
import sys
import tempfile
import threading
import time
import warnings

import ragfile

THREADS = 4
PATIENCE = 30  # seconds; a child needs some milliseconds
TOPICS = ("pods", "nodes", "volumes", "secrets", "ingress")


def make(path):
    with ragfile.create(path, embedder="default") as w:
        w.add_documents(documents(0, 60))
    with ragfile.edit(path) as w:
        w.delete(["d3", "d7"])
        w.add_documents(documents(60, 80))


def documents(first, last):
    return [
        {"id": f"d{i}", "text": f"{TOPICS[i % 5]} and {TOPICS[i % 3]} number {i} " * 20,
         "metadata": {"n": i, "tags": [TOPICS[i % 5]]}}
        for i in range(first, last)
    ]  # fmt: skip


def answers(rf, word):
    """Every retriever, filters, records and streams. The word is new, so that the analyzer has work to do."""
    text = f"{TOPICS[1]} {word}"
    hits = rf.search(text, cache=False, where={"tags": {"$contains": TOPICS[1]}})
    hits += rf.search(TOPICS[0], mode="keyword", cache=False)
    hits += rf.search(text, mode="bm25", cache=False, where={"n": {"$gt": 5}})
    rf.search(text)
    return [hit.id for hit in hits] + [rf.document("d1").text]


def child(path, opened, word, expected):
    """Asks the parent's reader and one of its own; the exit code says whether all was as expected."""
    signal.alarm(PATIENCE)  # whose default action ends the process
    fresh = ragfile.open(path)
    return 0 if answers(opened, word) == answers(fresh, word) == expected else 1


def run(count):
    """The exit codes of children that did not answer as their parent."""
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kb")
        make(path)
        opened, stop = ragfile.open(path), threading.Event()
        expected = answers(opened, "four")
        numbers = itertools.count()

        def ask():
            while not stop.is_set():
                answers(opened, f"w{next(numbers)}")
                answers(ragfile.open(path), f"w{next(numbers)}")

        threads = [threading.Thread(target=ask, daemon=True) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for _ in range(count):
            failed += forked(path, opened, expected)
        stop.set()
        for thread in threads:
            thread.join()
    return failed


def forked(path, opened, expected):
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # forks beside threads are what this is about
        pid = os.fork()
    if pid == 0:
        code = 2
        try:
            code = child(path, opened, "four", expected)
        finally:
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    time.sleep(0.001)
    return [os.waitstatus_to_exitcode(status)] if status else []


if __name__ == "__main__":
    wrong = run(int(sys.argv[1]))
    print(
        f"{sys.argv[1]} forks beside {THREADS} threads that ask: {len(wrong)} failed {wrong or ''}"
    )
    sys.exit(bool(wrong))
