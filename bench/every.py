"""Run every benchmark that needs only passages and questions.

    python bench/every.py --passages P --questions Q … --out build/bench

Each runs in a process of its own. Its output is kept as NAME.txt and its numbers as NAME.json, and
plots.py draws its pictures into OUT/plots. Benchmarks list peers that are not installed and leave
them out. If one fails, the others still run, and its name is printed at the end.
"""

import argparse
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

import ragfile

HERE = Path(__file__).parent
QUIET = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def steps(args, kb):
    """Return (name, arguments) of each benchmark; those with JSON write it to NAME.json."""
    data = ["--passages", args.passages, "--questions", *args.questions]
    yield "vectors_own", ["vectors_own.py", *data, "--json"]
    yield "filters", ["filters.py", *data, "--json"]
    yield "batches", ["batches_and_loops.py", kb, *args.questions, "--json"]
    yield "service", ["service.py", kb, *args.questions, "--json"]
    yield "question_steps", ["question_steps.py", kb, args.questions[-1], "--json"]
    yield "bm25_build", ["bm25.py", "build", "--passages", args.passages]
    yield "bm25", ["bm25.py", "query", "--short", args.questions[0], "--long", args.questions[-1]]
    yield "pipeline", ["pipeline.py", args.passages, args.questions[0], args.questions[-1]]
    yield "building", ["building.py", args.passages, "--chunks", "100000", "--json"]
    for name in ("open", "pairs_lookup", "living", "cold_columns", "ragmd"):
        yield name, [f"{name}.py"]


def run(name, words, out):
    """Return whether it succeeded."""
    if words[-1] == "--json":
        words = [*words, str(out / f"{name}.json")]
    print(f"== {name}: python bench/{' '.join(words)}", flush=True)
    command = [sys.executable, str(HERE / words[0]), *words[1:]]
    with open(out / f"{name}.txt", "w") as kept:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=os.environ | QUIET
        )
        for said in process.stdout or ():
            print(said, end="", flush=True)
            kept.write(said)
    return process.wait() == 0


def built(args, out):
    """Return a file of the passages with the built-in model's vectors."""
    path = out / "passages.ragfile"
    if not path.exists():
        opener = lzma.open if args.passages.endswith(".xz") else open
        with opener(args.passages, "rt", encoding="utf-8") as file:
            texts = [json.loads(line)["text"] for line in file]
        with ragfile.create(path, embedder="default") as writer:
            for i, text in enumerate(texts):
                writer.add([{"doc_id": f"{i:07}", "chunk_index": 0, "content": text}])
    return str(path)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", required=True)
    parser.add_argument("--questions", required=True, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("build/bench"))
    parser.add_argument("--only", nargs="+", help="run only these benchmarks")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    chosen = [
        (name, words)
        for name, words in steps(args, built(args, args.out))
        if not args.only or name in args.only
    ]
    failed = [name for name, words in chosen if not run(name, words, args.out)]
    run("plots", ["plots.py", str(args.out), str(args.out / "plots")], args.out)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
