"""Measure a start: the import, the first pair of a 10 GB file, the installed size.

    python bench/open.py [--gb 10] [--json out.json]

Every time is the best of seven new processes. The file is sparse: a strict reader must open it,
list its strategies and return the first pair without reading the rest.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

IMPORT = """
import sys, time
start = time.perf_counter(); import numpy; middle = time.perf_counter(); import ragfile; ragfile.open
print((time.perf_counter() - middle) * 1e3, (middle - start) * 1e3)
"""

FIRST_PAIR = """
import resource, sys, time
from ragfile.file.pairs import PairFile
def resident(): return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 2**20
before, faults, start = resident(), resource.getrusage(resource.RUSAGE_SELF).ru_minflt, time.perf_counter()
opened = PairFile(sys.argv[1], dialect="strict"); names = opened.strategies; pair = next(iter(opened.pairs("keyword")))
took = time.perf_counter() - start
assert names == ["keyword"] and pair == ("AI", "first")
print(took * 1e3, resident() - before, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults)
"""


def best_of_processes(code, *arguments, rounds=7):
    command = [sys.executable, "-c", code, *arguments]
    runs = (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for _ in range(rounds)
    )
    return min([float(word) for word in run.split()] for run in runs)


def write_sparse(path, size):
    """Write a 0.1.0 file of one keyword section with a pair at 4 KiB and a hole after it."""
    from ragfile import _core

    front = _core.write_directory((0, 1, 0), False, [("keyword", None, size - 1)])
    preamble = (4096).to_bytes(8, "little") + (size - 1).to_bytes(8, "little") + bytes([4])
    with open(path, "wb") as file:
        file.truncate(size)
        for at, piece in (
            (0, front + preamble),
            (4096, b"AI-first\0\0\0\0RAG-second"),
            (size - 1, b"x"),
        ):
            file.seek(at)
            file.write(piece)


def installed():
    """Return the bytes of the installed package and of its model, without caches and sources."""
    import ragfile

    folder = Path(ragfile.__file__).parent
    sizes = {file: file.stat().st_size for file in folder.rglob("*") if file.is_file()}
    kept = {
        file: size
        for file, size in sizes.items()
        if file.suffix not in (".pyc", ".c", ".pyx", ".pxi", ".pxd")
    }
    model = sum(
        size for file, size in kept.items() if file.suffix not in (".py", ".so", ".pyi", ".typed")
    )
    return sum(kept.values()) - model, model


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gb", type=int, default=10)
    parser.add_argument("--json", help="write the numbers here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_sparse(f"{folder}/sparse.rag", options.gb << 30)
        first = best_of_processes(FIRST_PAIR, f"{folder}/sparse.rag")
    imported = best_of_processes(IMPORT)
    code, data = installed()
    report = {
        f"open, list and first pair of {options.gb} GB, ms": first[0],
        "resident memory more, MB": first[1],
        "pages touched": first[2],
        "import beyond numpy, ms": imported[0],
        "import of numpy, ms": imported[1],
        "installed without model, MB": code / 1e6,
        "model and other data, MB": data / 1e6,
    }
    for name, value in report.items():
        print(f"{name:44} {value:10.2f}")
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
