"""The core type of OpenBLAS with which faiss is fastest on this machine.

OpenBLAS chooses its kernels when it is loaded, and its choice can take three times as long as another.
So each type is measured in a process of its own, and the benchmark starts again with the best one.
"""

import os
import subprocess
import sys

TYPES = ["Haswell", "SkylakeX", "Cooperlake", "Sapphirerapids", "Zen", "Sandybridge", "Nehalem"]
TYPE, CHOSEN = "OPENBLAS_CORETYPE", "RAGFILE_BENCH_CORE"
MEASURE = """
import time, faiss, numpy as np
faiss.omp_set_num_threads(1)
faiss.cvar.distance_compute_blas_threshold = 20  # else such batches make no use of OpenBLAS
rng = np.random.default_rng(1)
rows, asked = (rng.standard_normal((n, 256)).astype("f4") for n in (20_000, 256))
index = faiss.IndexFlatIP(256)
index.add(rows)
best = np.inf
for _ in range(5):
    start = time.process_time_ns()
    index.search(asked, 10)
    best = min(best, time.process_time_ns() - start)
print(best / 1e6 / len(asked))
"""


def times():
    """Return {core type: milliseconds of a query}, without those that this machine cannot run."""
    found = {}
    for name in TYPES:
        run = subprocess.run(
            [sys.executable, "-c", MEASURE],
            env={**os.environ, TYPE: name}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if run.returncode == 0:
            found[name] = float(run.stdout)
    return found


def use_best():
    """Start this program again with the best core type, unless it runs with it; print the choice.

    So no number of faiss is printed for another one.
    """
    chosen = os.environ.get(CHOSEN)
    if chosen and chosen == os.environ.get(TYPE):
        print(f"faiss with OpenBLAS' kernels for {chosen}, the fastest here")
        return
    found = times()
    if not found:
        print("faiss is left out: pip install faiss-cpu")
        return
    best = min(found, key=lambda name: found[name])
    print(", ".join(f"{name} {took:.4f} ms" for name, took in found.items()), flush=True)
    environment = {**os.environ, TYPE: best, CHOSEN: best}
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)
