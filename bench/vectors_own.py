"""Measure exact top-k over the built-in model's vectors in a mapped file.

    python bench/vectors_own.py --passages P.jsonl.xz --questions short.txt long.txt --json out.json

The built-in model embeds the passages (one JSON object with a `text` per line, plain or .xz) and
the questions (one per line). Rows and shadows are written to files and mapped, like those of a
knowledge base. The rest is as in bench/vectors.py: one process, in turns, CPU milliseconds per
question, the best of several rounds.
"""

import argparse
import json
import lzma
import tempfile

import numpy as np
import openblas
from vector_peers import FaissFlat, FaissTuned, Ragfile, RagfileWithoutShadow
from vectors import bandwidth, best_times, ours_target

from ragfile import _core
from ragfile.embedding.protocol import StaticEmbedder


def embedded(args):
    opener = lzma.open if args.passages.endswith(".xz") else open
    with opener(args.passages, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    questions = [line.rstrip("\n") for path in args.questions for line in open(path)]  # noqa: SIM115
    model = StaticEmbedder(threads=1)
    asked = model.embed(questions, "query")
    asked = asked[np.random.default_rng(3).permutation(len(asked))]
    return model.embed(texts), asked[np.linalg.norm(asked, axis=1) > 0.5]


class Mapped(Ragfile):
    """Rows and shadow in mapped files; rotate=False keeps the plain shadow."""

    def __init__(self, rows, folder, rotate=True):
        rows.tofile(f"{folder}/rows")
        mapped = np.memmap(f"{folder}/rows", np.float32, "r", shape=rows.shape)
        shadow = _core.Shadow(_core.Matrix(mapped, *rows.shape), rotate=rotate)
        with open(f"{folder}/{shadow.name}", "wb") as file:
            shadow.write(file.write)
        self.matrix = _core.Matrix(
            mapped, *rows.shape, shadow=np.memmap(f"{folder}/{shadow.name}", np.uint8, "r")
        )
        self.shadow_size, self.threads = shadow.size, 1


def contestants_for(rows, folder):
    made = {
        "ragfile": Mapped(rows, folder),
        "ragfile, plain shadow": Mapped(rows, folder, rotate=False),
        "ragfile, no shadow": RagfileWithoutShadow(rows, folder),
    }
    for name, peer in (("faiss", FaissFlat), ("faiss, tuned", FaissTuned)):
        try:
            made[name] = peer(rows, folder)
        except ImportError as error:
            print(f"  ({name} left out: {error})")
    return made


def run(rows, asked, rounds):
    """Return the cells of one size: {query: {contestant: time}}."""
    cells = {}
    with tempfile.TemporaryDirectory() as folder:
        peers = contestants_for(rows, folder)
        for batch in (1, 64, 1024):
            for k in (10, 100):
                sample = asked[:32] if batch == 1 else asked[:batch]
                cells[f"{'one' if batch == 1 else f'batch {batch}'}, k = {k}"] = best_times(
                    peers, sample, k, rounds, batch
                )
    return cells


def print_table(count, cells):
    names = list(next(iter(cells.values())))
    print(f"\n| {count:,} rows, CPU ms | {' | '.join(names)} | over faiss, over faiss tuned |")
    print("|---|" + "---|" * (len(names) + 1))
    for asked, times in cells.items():
        ratios = [
            f"{times[n] / times['ragfile']:.2f}×" for n in ("faiss", "faiss, tuned") if n in times
        ]
        row = " | ".join(f"{times[name]:.4f}" if name in times else "–" for name in names)
        print(f"| {asked} | {row} | {', '.join(ratios)} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", required=True)
    parser.add_argument("--questions", required=True, nargs="+")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", help="write the numbers here")
    args = parser.parse_args()
    openblas.use_best()
    rows, asked = embedded(args)
    report = {"cpu": ours_target(), "read GB/s": bandwidth(rows), "sizes": {}}
    print(f"{report['cpu']}, a plain read on one core: {report['read GB/s']:.1f} GB/s")
    for count in args.sizes:
        report["sizes"][count] = run(np.ascontiguousarray(rows[:count]), asked, args.rounds)
        print_table(min(count, len(rows)), report["sizes"][count])
    if args.json:
        with open(args.json, "w") as file:
            json.dump(report, file, indent=1)


if __name__ == "__main__":
    main()
