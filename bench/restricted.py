"""What do keys with a filter cost, beside a search with the same filter?

    python bench/restricted.py PASSAGES QUESTIONS

A key with a filter computes scores over the rows that it may see; a search with `where` computes them over
all rows. Lines are for keys that see 1, 10, 50 and 90 per cent of the documents: µs of CPU a question, the
best of three rounds, and the milliseconds that a commit costs until the key's first question.
"""

import json
import lzma
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import ragfile
from ragfile.layers.restricted_view import Restricted

SHARES, ROUNDS, ASKED, MOST = (1, 10, 50, 90), 3, 100, 100_000


def main():
    passages, questions = Path(sys.argv[1]), Path(sys.argv[2]).read_text().splitlines()[:ASKED]
    opened = lzma.open if passages.suffix == ".xz" else open
    with tempfile.TemporaryDirectory() as work, opened(passages, "rt") as lines:
        path = Path(work) / "kb.ragfile"
        texts = (json.loads(line) for line in islice(lines, MOST))
        ragfile.build(
            [{"id": f"d{n}", "text": text_of(one), "metadata": {"part": n * 7919 % 100}}
             for n, one in enumerate(texts)], path,
        )  # fmt: skip
        with ragfile.open(path) as rf:
            print(f"{len(rf):,} passages; where, key: CPU µs a question; first: ms after a commit")
            for share in SHARES:
                print(line_of(rf, share, questions), flush=True)


def text_of(record):
    return record if isinstance(record, str) else record.get("text") or record["content"]


def line_of(rf, share, questions):
    """Return the line of keys that see a share of the documents."""
    where = {"part": {"$lt": share}}
    before = time.process_time()
    view = Restricted(rf, where)
    view.search(questions[0])
    first = time.process_time() - before
    found = [f"{share:3} %"]
    for mode in ("bm25", "vector", "hybrid"):
        best = [1e9, 1e9]
        for _ in range(ROUNDS):
            for n, (kb, options) in enumerate(((rf, {"where": where}), (view, {}))):
                best[n] = min(best[n], spent(kb, questions, mode=mode, **options))
        found.append(f"{mode} {best[0]:5.0f} {best[1]:5.0f}")
    return "   ".join([*found, f"first {first * 1e3:.1f}"])


def spent(kb, questions, **options):
    """Return the µs of CPU of a question."""
    before = time.process_time()
    for question in questions:
        kb.search(question, 10, cache=False, **options)
    return (time.process_time() - before) / len(questions) * 1e6


if __name__ == "__main__":
    main()
