"""Measure a file behind a URL: requests, bytes, milliseconds.

    python bench/remote.py --passages P.jsonl --questions Q.txt [--latency 0.03] [--file kb.ragfile]

Builds a file of the passages with the built-in model (or takes --file) and serves it on loopback
with added latency. Measures a cold opening; then for each mode, in a new opening, the first
question and the median of the next ones; then the same with a cache folder that an earlier opening
filled. Answers are compared with those of the local file.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

import ragfile

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from servers.range_server import RangeServer

WARM = 20


def made(passages, path):
    with open(passages, encoding="utf-8") as lines:
        documents = [
            {"id": f"p{i:07d}", "text": json.loads(line)["text"]} for i, line in enumerate(lines)
        ]
    with ragfile.create(path, embedder="default") as w:
        w.add_documents(documents)


class Meter:
    """Counts the requests to the server while something runs."""

    def __init__(self, server, size):
        self.server, self.size = server, size

    def run(self, call):
        self.server.forget()
        began = time.perf_counter()
        found = call()
        return found, self.server.count, self.server.sent, (time.perf_counter() - began) * 1e3

    def show(self, what, requests, sent, ms):
        print(
            f"| {what} | {requests:g} | {sent / 1e6:.2f} | {sent / self.size:.2%} | {ms:,.0f} |",
            flush=True,
        )


def ask(meter, local, url, mode, questions, cache):
    meter.run(lambda: None)
    rf, requests, sent, ms = meter.run(lambda: ragfile.open(url, cache=cache))
    if mode == "open":
        rf.close()
        return meter.show("open", requests, sent, ms)
    _ = rf.embedder
    call = rf.match if mode == "match" else lambda q: rf.search(q, mode=mode)
    same = local.match if mode == "match" else lambda q: local.search(q, mode=mode)
    runs = []
    for question in questions[: 1 + WARM]:
        found, *costs = meter.run(lambda q=question: call(q))
        expected = same(question)
        assert found == expected if mode != "match" else found[1].tobytes() == expected[1].tobytes()
        runs.append(costs)
    label = "cached, " if cache else ""
    meter.show(f"{label}{mode}, first", *runs[0])
    meter.show(
        f"{label}{mode}, next {WARM} (median)",
        *(statistics.median(run[i] for run in runs[1:]) for i in range(3)),
    )
    return rf.close()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages")
    parser.add_argument("--questions", required=True)
    parser.add_argument("--latency", type=float, default=0.03)
    parser.add_argument("--file")
    options = parser.parse_args()
    questions = Path(options.questions).read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or os.path.join(folder, "kb.ragfile")
        if not os.path.exists(path):
            made(options.passages, path)
        data = Path(path).read_bytes()
        with RangeServer({"kb": data}) as server, ragfile.open(path) as local:
            server.latency, meter = options.latency, Meter(server, len(data))
            print(f"{platform.machine()}, Python {platform.python_version()}, {len(local):,} chunks × {local.rows.dim}, {len(data) / 1e6:.0f} MB, "
                  f"{options.latency * 1e3:g} ms a request")  # fmt: skip
            print("| | requests | MB | of the file | ms |\n|---|---|---|---|---|")
            ragfile.open(server.url("kb")).close()  # imports
            for mode in ("open", "match", "bm25", "vector", "hybrid"):
                ask(meter, local, server.url("kb"), mode, questions, None)
            kept = os.path.join(folder, "kept")
            with ragfile.open(server.url("kb"), cache=kept) as rf:
                for question in questions[: 1 + WARM]:
                    rf.search(question)
            for mode in ("bm25", "hybrid"):
                ask(meter, local, server.url("kb"), mode, questions, kept)


if __name__ == "__main__":
    main()
