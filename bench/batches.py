"""How many questions a second does one file answer, and does an event loop go on meanwhile?

    python bench/batches.py kb.ragfile questions.txt [more.txt …] [--k 12] [--json OUT]

Rows: search one by one, search_batch with hits, with hits whose texts are read, and with columns, each on one thread and on
two. Times are CPU time a question (best of several rounds) and, where two threads share the work, the clock. The vectors of the
questions are made before. The last line is how long a loop that awaits asearch was kept from its own work: 64 questions at a
time, a clock that ticks every 0.2 ms, quantiles of its delay.
"""

import argparse
import asyncio
import json
import platform
import time

import numpy as np

import ragfile

ROUNDS = 5


def read(path):
    with open(path) as file:
        return [line.strip() for line in file if line.strip()]


def best(ask, count):
    """(CPU µs, clock µs) a question, each the best of several rounds."""
    cpu = clock = float("inf")
    for _ in range(ROUNDS):
        began, watch = time.process_time(), time.perf_counter()
        ask()
        cpu = min(cpu, time.process_time() - began)
        clock = min(clock, time.perf_counter() - watch)
    return cpu / count * 1e6, clock / count * 1e6


def ways(rf, texts, vectors, k):
    """(name, threads, what to time)"""
    yield (
        "one by one",
        1,
        lambda: [
            rf.search(text, k, vector=vector, cache=False)
            for text, vector in zip(texts, vectors, strict=True)
        ],
    )
    for threads in (1, 2):
        asked = {"vectors": vectors, "threads": threads}
        yield "batch, hits", threads, lambda asked=asked: rf.search_batch(texts, k, **asked)
        yield (
            "batch, texts read",
            threads,
            lambda asked=asked: [
                hit.text for hits in rf.search_batch(texts, k, **asked) for hit in hits
            ],
        )
        yield (
            "batch, columns",
            threads,
            lambda asked=asked: rf.search_batch(texts, k, columns=True, **asked),
        )


async def delays(rf, texts, k):
    """Milliseconds by which ticks of a loop came late while it awaited answers."""
    late, is_over = [], False

    async def tick():
        while not is_over:
            began = time.perf_counter()
            await asyncio.sleep(0.0002)
            late.append((time.perf_counter() - began - 0.0002) * 1e3)

    clock = asyncio.ensure_future(tick())
    for first in range(0, len(texts), 64):
        some = texts[first : first + 64]
        await asyncio.gather(*(rf.asearch(text, k, cache=False) for text in some))
    is_over = True
    await clock
    return late


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file")
    parser.add_argument("questions", nargs="+")
    parser.add_argument("--k", type=int, default=12)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    texts = [line for path in arguments.questions for line in read(path)]
    found = {"machine": platform.processor(), "questions": len(texts), "k": arguments.k, "ways": []}
    with ragfile.open(arguments.file) as rf:
        vectors = rf.embedder.embed(texts, role="query")
        rf.search(texts[0], vector=vectors[0])
        for name, threads, ask in ways(rf, texts, vectors, arguments.k):
            cpu, clock = best(ask, len(texts))
            found["ways"].append(
                {"way": name, "threads": threads, "cpu_us": cpu, "clock_us": clock}
            )
            print(f"{name:20} {threads} threads  {cpu:8.1f} µs CPU  {clock:8.1f} µs a question")
        late = np.array(asyncio.run(delays(rf, texts, arguments.k)))
        found["loop_late_ms"] = {
            q: float(np.quantile(late, float(q))) for q in ("0.5", "0.99", "1.0")
        }
        print("a loop meanwhile, ms late:", found["loop_late_ms"])
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
