"""Every loader on files that are made to cost more than their size: the growth of time and memory.

    python tests/checks/adversarial.py [--size 100000] [--only "html: cells"]

Each case is loaded and cut into chunks at four sizes that double, each in a process of its own. What is printed is
CPU seconds and the growth of resident memory. The largest must cost no more than FACTOR times what eight times the
smallest costs, and no more memory than ROOM plus MULTIPLE bytes for each of its own.
"""

import argparse
import os
import resource
import sys
import tempfile
import time

from oracles.adversarial import CASES

from ragfile.ingest.chunker import split
from ragfile.ingest.document_loader import Loading

DOUBLINGS = 3
FACTOR, SECONDS = 3, 0.5  # growth beyond linear, and what does not count
ROOM, MULTIPLE = 64 << 20, 1000
LIMIT = 120  # CPU seconds for one file


def consume(path):
    """Loads a file and cuts it; what cannot be read is a failure, which is an answer too."""
    for document in Loading(path):
        split(document)


def cost(path):
    """(CPU seconds, bytes of resident memory) that one file takes, in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
        began, before = time.process_time(), peak()
        consume(path)
        os.write(writing, f"{time.process_time() - began} {peak() - before}".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read().split()
    os.waitpid(child, 0)
    return (float(said[0]), int(said[1])) if said else (float(LIMIT), 0)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def measure(suffix, make, size):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"case{suffix}")
        with open(path, "wb") as file:
            file.write(make(size))
        return cost(path)


def check(name, size):
    """Prints a case's costs; whether they grow no faster than they should."""
    suffix, make = CASES[name]
    found = [measure(suffix, make, size << n) for n in range(DOUBLINGS + 1)]
    (first, _), (last, memory) = found[0], found[-1]
    is_fast = last <= FACTOR * first * 2**DOUBLINGS + SECONDS
    is_small = memory <= ROOM + MULTIPLE * (size << DOUBLINGS)
    costs = "  ".join(f"{seconds:6.2f} s {grown >> 20:4} MB" for seconds, grown in found)
    print(f"{name:<34} {costs}  {'' if is_fast and is_small else 'TOO MUCH'}", flush=True)
    return is_fast and is_small


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=100_000, help="bytes of the smallest file")
    parser.add_argument("--only", help="the cases whose name contains this")
    options = parser.parse_args()
    names = [name for name in CASES if (options.only or "") in name]
    bad = [name for name in names if not check(name, options.size)]
    print(f"{len(names)} cases; {len(bad)} grow too fast")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
