"""Measure how long questions wait in an asyncio service under load.

    python bench/service.py kb.ragfile questions.txt [more.txt …] [--seconds 10] [--json OUT]

Questions arrive at random (a Poisson process) at a quarter, a half and three quarters of the rate
that one loop reaches without pause, and are awaited with asearch(…, cache=False). A wait begins at
the arrival, so that a service cannot hide that it falls behind. Texts are read and vectors embedded
on the way. Times are by the wall clock and include the machine's other work.
"""

import argparse
import asyncio
import json
import platform
import time

import numpy as np
from batches import read

import ragfile

QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}


async def rate_of(rf, texts, seconds):
    """Return questions per second, four at a time."""
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        some = [texts[(count + i) % len(texts)] for i in range(4)]
        await asyncio.gather(*(rf.asearch(text, cache=False) for text in some))
        count += 4
    return count / (time.perf_counter() - began)


async def waits(rf, texts, rate, seconds):
    """Return the milliseconds from arrival to answer of all questions within the given seconds."""
    moments = np.cumsum(np.random.default_rng(1).exponential(1 / rate, int(rate * seconds)))
    began, took = time.perf_counter(), []

    async def ask(text, moment):
        await rf.asearch(text, cache=False)
        took.append((time.perf_counter() - began - moment) * 1e3)

    tasks = []
    for i, moment in enumerate(moments.tolist()):
        await asyncio.sleep(max(0.0, began + moment - time.perf_counter()))
        tasks.append(asyncio.ensure_future(ask(texts[i % len(texts)], moment)))
    await asyncio.gather(*tasks)
    return np.array(took)


async def measured(rf, texts, seconds):
    most = await rate_of(rf, texts, seconds)
    found = {"questions a second": most, "load": {}}
    print(f"{most:.0f} questions a second without a pause")
    for share in (0.25, 0.5, 0.75):
        took = await waits(rf, texts, share * most, seconds)
        said = {name: float(np.quantile(took, q)) for name, q in QUANTILES.items()}
        found["load"][f"{share:.0%}"] = {"questions": len(took), **said}
        shown = ", ".join(f"{name} {value:.2f}" for name, value in said.items())
        print(f"at {share:.0%} of that, {len(took)} questions, ms: {shown}")
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file")
    parser.add_argument("questions", nargs="+")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--json", help="write the numbers here")
    args = parser.parse_args()
    texts = [line for path in args.questions for line in read(path)]
    with ragfile.open(args.file) as rf:
        rf.search(texts[0], cache=False)
        found = asyncio.run(measured(rf, texts, args.seconds))
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"machine": platform.processor(), **found}, file, indent=1)


if __name__ == "__main__":
    main()
