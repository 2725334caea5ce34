"""Measure batches, and the delay that searches cause in an event loop.

    python bench/batches_and_loops.py kb.ragfile questions.txt [more.txt …] [--k 12] [--json OUT]

The rows are single searches, search_batch with hits, with hits and their texts, and with columns,
each on one thread and on two. Times are CPU time per question, the best of several rounds; if two
threads share the work, also wall time. Vectors are embedded beforehand.

The last lines show how late an event loop runs: a clock ticks every 0.2 ms while the loop awaits
asearch, 8 questions at a time, or the events of aask, 2 streams at a time. The latest tick of each
such window counts. The machine has delays of its own: compare with the quietest windows, and with a
loop that awaits nothing.
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
    """Return (CPU µs, wall µs) per question, each the best of several rounds."""
    cpu = clock = float("inf")
    for _ in range(ROUNDS):
        began, watch = time.process_time(), time.perf_counter()
        ask()
        cpu = min(cpu, time.process_time() - began)
        clock = min(clock, time.perf_counter() - watch)
    return cpu / count * 1e6, clock / count * 1e6


def ways(rf, texts, vectors, k):
    """Yield (name, threads, call to time)."""
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


async def delays(window):
    """Return the latest tick of each window in ms, while window(n) is awaited and true."""
    most, late, is_over = [], [], False

    async def tick():
        while not is_over:
            began = time.perf_counter()
            await asyncio.sleep(0.0002)
            late.append((time.perf_counter() - began - 0.0002) * 1e3)

    clock, number = asyncio.ensure_future(tick()), 0
    while await window(number):
        most.append(max(late, default=0.0))
        late.clear()
        number += 1
    is_over = True
    await clock
    return most


def situations(rf, texts, k):
    """Yield (load beside the clock, window)."""

    async def nothing(number):
        await asyncio.sleep(0.02)
        return number < len(texts) // 8

    async def searches(number):
        some = texts[8 * number : 8 * number + 8]
        await asyncio.gather(*(rf.asearch(text, k, cache=False) for text in some))
        return some

    async def stream(text):
        return [event async for event in await rf.aask(text, stream=True, cache=False)]

    async def streams(number):
        some = texts[2 * number : 2 * number + 2]
        await asyncio.gather(*map(stream, some))
        return some

    yield "nothing", nothing
    yield "asearch", searches
    yield "aask(stream=True)", streams


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
        found["loop_late_ms"] = {}
        for name, window in situations(rf, texts, arguments.k):
            late = np.array(asyncio.run(delays(window)))
            late = {q: float(np.quantile(late, float(q))) for q in ("0.0", "0.1", "0.5", "1.0")}
            found["loop_late_ms"][name] = late
            said = "  ".join(f"{q}: {ms:.2f}" for q, ms in late.items())
            print(f"a loop beside {name:18} ms late  {said}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
