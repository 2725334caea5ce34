"""Measure the first filter and first hybrid question of a process, with and without stored columns.

    python bench/cold_columns.py [--rows 1000000] [--dim 32] [--file kb.ragfile]

Builds a file in which all rows have different metadata (or takes --file from an earlier run) and
asks in new processes: CPU milliseconds, best of five. "without" behaves like files that lack
rag.columns and rag.sample.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import ragfile

ROUNDS, BATCH = 5, 10_000
FILTERS = [
    {"year": {"$gte": 2020}},
    {"n": {"$lt": 10_000}},
    {"name": "file-77"},
    {"lang": {"$in": ["en", "de"]}, "score": {"$gt": 3.5}},
    {"name": {"$contains": "99"}},
    {"doc_id": "d00000007"},
]
ASK = """
import json, sys, time
import numpy as np, ragfile
from ragfile.file import sample_rows, stored_columns
path, what, is_stored = json.loads(sys.argv[1])
if not is_stored:
    sample_rows.stored_sample = lambda segment: None
    stored_columns.SegmentColumns.is_known = stored_columns.SegmentColumns.is_stored = lambda *_: False
rf = ragfile.open(path)
vector = np.linspace(-1, 1, rf.rows.dim).astype(np.float32)
began = time.process_time()
rf.rows.mask(what) if what else rf.search("word7 pods", vector=vector)
print((time.process_time() - began) * 1e3)
"""


def made(path, rows, dim):
    rng = np.random.default_rng(1)
    with ragfile.create(path, dim=dim) as w:
        for first in range(0, rows, BATCH):
            numbers = range(first, min(first + BATCH, rows))
            vectors = rng.standard_normal((len(numbers), dim)).astype(np.float32)
            w.add([_chunk(i) for i in numbers], vectors)


def _chunk(i):
    said = {"n": i, "lang": ["en", "de", "fr"][i % 3], "year": 1990 + i % 40, "name": f"file-{i}", "score": i / 7}  # fmt: skip
    return {"doc_id": f"d{i:08d}", "chunk_index": 0, "content": f"word{i % 1000} pods", "metadata": said}  # fmt: skip


def best(path, what, is_stored, rounds=ROUNDS):
    command = [sys.executable, "-c", ASK, json.dumps([path, what, is_stored])]
    found = (
        subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(rounds)
    )
    return min(float(each.stdout) for each in found)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dim", type=int, default=32)
    parser.add_argument("--file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or os.path.join(folder, "kb.ragfile")
        if not os.path.exists(path):
            made(path, options.rows, options.dim)
        sizes = {e["name"]: e["size"] for e in ragfile.open(path).file.entries}
        stored = sizes.get("rag.columns", 0), sizes.get("rag.sample", 0), os.path.getsize(path)
        print(f"rag.columns {stored[0]:,} and rag.sample {stored[1]:,} of {stored[2]:,} bytes")
        print("| first question of a process | CPU ms | without |\n|---|---|---|")
        for what in [*FILTERS, None]:
            name = f"`{json.dumps(what)}`" if what else "hybrid search"
            print(
                f"| {name} | {best(path, what, True):.1f} | {best(path, what, False, 2):,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
