"""Measure a file as it grows: build, open, questions, batch, filter, edit and compaction.

    python bench/growth.py --passages P.jsonl.xz --questions short.txt long.txt --sizes 10000 100000

Texts of about 280 characters are grown as in bench/effort.py. Each is a document with two metadata
fields, embedded by the built-in model. The file is built from a generator, with clusters. Each step
of each size has a process of its own: CPU milliseconds on one thread (edits and compactions use
their default). Thirty questions are asked twice: bytes are verified when they are first read.

Memory is the largest sum of a process's anonymous pages (RssAnon, five samples a second). Mapped
pages of files are not included, because the system reclaims them when it needs room. --memory
limits anonymous memory (RLIMIT_DATA). Only the current file stays on the disk; its compaction needs
three times its size.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
from effort import grown, passages_of

WORDS = (12, 36, 6, 18)
STEPS = (
    "build s", "file MB", "build MB", "open", "first question", "question", "question again", "exact by vector",
    "effort 0.03", "batch of 64, each", "filter 1 %", "questions MB", "edit of 10", "edit MB", "compact s", "compact MB",
)  # fmt: skip


def documents(passages, count):
    rng = np.random.default_rng(1)
    for i, text in enumerate(grown(passages, 0, count, rng, WORDS)):
        yield {
            "doc_id": f"d{i:09}", "chunk_index": 0, "content": text,
            "metadata": {"part": i % 100, "page": f"page {i // 10}"},
        }  # fmt: skip


def build(args, count):
    import ragfile

    passages, began = passages_of(args.passages), time.process_time()
    with ragfile.create(args.file, embedder="default", clusters=True) as writer:
        writer.add(documents(passages, count))
    spent = time.process_time() - began
    return {"build s": spent, "file MB": os.path.getsize(args.file) / 1e6}


def timed(act, times=1):
    """Return the CPU milliseconds of the median call."""
    spent = []
    for i in range(times):
        began = time.process_time()
        act(i)
        spent.append((time.process_time() - began) * 1e3)
    return float(np.median(spent))


def ask(args, count):
    import ragfile
    from ragfile.embedding.protocol import StaticEmbedder

    texts = [line.rstrip("\n") for path in args.questions for line in open(path)]  # noqa: SIM115
    texts = [texts[i] for i in np.random.default_rng(3).permutation(len(texts))]
    model = StaticEmbedder(threads=1)
    vectors = model.embed(texts[:64], "query")
    found, held = {}, []
    found["open"] = timed(lambda _: held.append(ragfile.open(args.file)))
    rf = held[0]
    assert len(rf) == count
    one = {"cache": False}
    found["first question"] = timed(lambda _: rf.search(texts[100], 10, **one)[0].text)
    for name in ("question", "question again"):
        found[name] = timed(lambda i: rf.search(texts[i], 10, **one)[0].text, 30)
    found["exact by vector"] = timed(lambda i: rf.nearest(vectors[i], 10, threads=1), 30)
    found["effort 0.03"] = timed(lambda i: rf.nearest(vectors[i], 10, threads=1, effort=0.03), 30)
    found["batch of 64, each"] = timed(lambda _: rf.search_batch(texts[:64], 10, threads=1), 3) / 64
    found["filter 1 %"] = timed(lambda i: rf.search(texts[i], 10, where={"part": i}, **one), 10)
    rf.close()
    return found


def edit(args, count):
    import ragfile

    changed = [
        {"id": f"d{i:09}", "text": f"A document that was changed, number {i}."} for i in range(10)
    ]

    def act(_):
        with ragfile.edit(args.file) as writer:
            writer.upsert(changed)

    return {"edit of 10": timed(act)}


def compact(args, count):
    import ragfile

    found = {"compact s": timed(lambda _: ragfile.compact(args.file)) / 1e3}
    with ragfile.open(args.file) as rf:
        assert len(rf) == count
    return found


ACTS = {"build": build, "questions": ask, "edit": edit, "compact": compact}


def own_memory(pid):
    """Return the MB of anonymous pages of a process, 0 if it has ended."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return next((int(line.split()[1]) / 1024 for line in file if "RssAnon" in line), 0)
    except OSError:
        return 0


def step(args, what, count):
    """Run one step of this program in its own process and sample its memory."""
    command = [sys.executable, __file__, "--passages", args.passages, "--file", args.file]
    command += ["--questions", *args.questions, "--step", what, "--sizes", str(count)]
    command += ["--memory", str(args.memory)] if args.memory else []
    most = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            most = max(most, own_memory(process.pid))
            time.sleep(0.2)
        if process.returncode:
            raise SystemExit(f"{what} of {count:,} failed")
        found = json.load(process.stdout) | {f"{what} MB": most}
    print(f"{count:,} {what}: {json.dumps(found)}", file=sys.stderr, flush=True)
    return found


def curve(args):
    found = {}
    for count in args.sizes:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            args.file = f"{folder}/grown.ragfile"
            found[count] = {}
            for what in ACTS:
                found[count] |= step(args, what, count)
    return found


def table(found):
    print(f"\n| | {' | '.join(f'{count:,}' for count in found)} |\n|---|{'---|' * len(found)}")
    for name in STEPS:
        print(f"| {name} | {' | '.join(f'{row[name]:,.2f}' for row in found.values())} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", required=True)
    parser.add_argument("--questions", required=True, nargs="+")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000, 10_000_000]
    )
    parser.add_argument("--folder", help="a folder for temporary files")
    parser.add_argument("--memory", type=float, help="limit of a process's own memory, in GB")
    parser.add_argument("--json", help="write the numbers here")
    parser.add_argument("--file", help=argparse.SUPPRESS)
    parser.add_argument("--step", choices=list(ACTS), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step:
        if args.memory:
            resource.setrlimit(resource.RLIMIT_DATA, (int(args.memory * 1e9),) * 2)
        print(json.dumps(ACTS[args.step](args, args.sizes[0])))
        return
    found = curve(args)
    table(found)
    if args.json:
        with open(args.json, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
