"""Measure the steps around the engine: loading, each chunk policy, filters and fusion.

    python bench/pipeline_steps.py FOLDER        a folder of text, Markdown, HTML, …

Single-threaded CPU time, best of five, policies interleaved, filters over 100,000 rows. `chunks/s`
counts cutting alone, with the text already loaded.
"""

import random
import sys
import time

import numpy as np

from ragfile import _core
from ragfile.file.filters import Dicts, compile
from ragfile.ingest.chunker import split
from ragfile.ingest.document_loader import Loading
from ragfile.search.fusion import blend, calibrated, rrf

POLICIES = ("characters", "words", "sentences", "markdown")


def best(function, rounds=5):
    times = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def loading_and_chunking(folder):
    loading = Loading(folder)
    start = time.process_time()
    documents = list(loading)
    spent = time.process_time() - start
    size = sum(len(d.text) for d in documents) / 1e6
    print(
        f"loading     {len(documents):6} documents  {loading.bytes / 1e6 / spent:7.1f} MB/s  {len(loading.failures)} failed"
    )
    fastest = dict.fromkeys(POLICIES, float("inf"))
    for _ in range(5):
        for policy in POLICIES:
            fastest[policy] = min(
                fastest[policy], best(lambda p=policy: [split(d, p) for d in documents], 1)
            )
    for policy, spent in fastest.items():
        count = sum(len(split(d, policy)) for d in documents)
        print(
            f"{policy:11} {count:6} chunks     {size / spent:7.1f} MB/s  {count / spent:9,.0f} chunks/s"
        )


def filtering():
    rng = random.Random(1)
    rows = [
        {
            "year": rng.randint(1990, 2025),
            "lang": rng.choice(["en", "de", "fr"]),
            "path": f"a/{i // 10}.md",
        }
        for i in range(100_000)
    ]
    columns = Dicts(rows)
    for where in (
        {"lang": "en"},
        {"year": {"$gte": 2020}},
        {"path": {"$in": ["a/7.md", "a/8.md"]}},
    ):
        compile(where).mask(columns)  # builds the column
        print(
            f"filter      {best(lambda w=where: compile(w).mask(columns), 200) * 1e6:7.1f} µs   {where}"
        )


def fusing():
    rng = np.random.default_rng(1)
    legs = [(rng.choice(100_000, 50, replace=False), rng.random(50)) for _ in range(2)]
    rows = np.union1d(legs[0][0], legs[1][0])
    scores, sample = rng.random((2, len(rows))), rng.random(1024, np.float32)
    for name, function in {
        "rrf": lambda: rrf(legs),
        "blend": lambda: blend(legs, (0.5, 0.5)),
        "calibrated": lambda: calibrated(rows, *scores, mean=0.5, deviation=0.3, w=6),
        "sample": lambda: _core.moments(sample),
    }.items():
        print(f"fusion      {best(function, 2000) * 1e6:7.1f} µs   {name}")


if __name__ == "__main__":
    loading_and_chunking(sys.argv[1])
    filtering()
    fusing()
