"""Measure the speed and memory of a build without embedding.

    python bench/building.py passages.jsonl [--chunks 100000] [--cap MB | --half] [--json]

The build cuts, indexes and writes; vectors are random. Documents are the pages of the passages,
repeated under new names until there are enough chunks, and read from the disk one by one. --cap
limits the memory of the process: by a control group if this user may create one (anonymous memory
and cached pages), otherwise by RLIMIT_DATA (anonymous memory). --half builds once to learn the size
and again within half of it; both files must have the same bytes.
"""

import argparse
import contextlib
import hashlib
import itertools
import json
import lzma
import os
import resource
import subprocess
import sys
import tempfile
import time

DIM, BATCH = 256, 512


def documents(path):
    """Yield the passages of each page as one document, without end."""
    from ragfile.records import Document

    for again in itertools.count():
        with (
            lzma.open(path, "rt") if path.endswith(".xz") else open(path, encoding="utf-8") as file
        ):
            for page, lines in itertools.groupby(
                map(json.loads, file), key=lambda passage: passage["path"]
            ):
                lines = list(lines)
                text = "\n\n".join(line["text"] for line in lines)
                yield Document(
                    f"{again}/{page}/{lines[0]['chunk']}",
                    text,
                    metadata={"title": lines[0]["title"]},
                )


CONTROL_GROUPS = (
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
    ("/sys/fs/cgroup", "memory.max"),
)


def capped(limit):
    """Limit this process; return the kind of limit. The parent removes the group."""
    for root, knob in CONTROL_GROUPS:
        with contextlib.suppress(OSError):
            group = group_of(root, os.getpid())
            os.mkdir(group)
            for name, value in ((knob, limit), ("cgroup.procs", os.getpid())):
                with open(os.path.join(group, name), "w") as file:
                    file.write(str(value))
            return "a control group"
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    return "the limit of its data"


def group_of(root, pid):
    return os.path.join(root, f"ragfile-bench-{pid}")


def build(arguments):
    """Build once in this process, within its limit."""
    how = capped(arguments.cap << 20) if arguments.cap else "no limit"
    import numpy as np

    from ragfile.ingest.chunker import Policy, split
    from ragfile.write.writer import Writer

    rng, chunks, count, waiting = np.random.default_rng(1), 0, 0, 0.0
    policy, block = Policy.of("characters"), rng.standard_normal((1 << 14, DIM), dtype=np.float32)
    block /= np.linalg.norm(block, axis=1, keepdims=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, cpu = time.perf_counter(), time.process_time()
    with Writer(arguments.out, dim=DIM, chunking=policy, created=0) as writer:
        source = documents(arguments.passages)
        while chunks < arguments.chunks:
            asked = time.process_time()
            document = next(source)
            waiting += time.process_time() - asked
            cut = split(document, policy)
            at = [(chunks + i) % len(block) for i in range(len(cut))]
            writer.add_document(document, cut, block[at])
            chunks += len(cut)
            count += 1
        fed = time.perf_counter()
    clock, cpu = time.perf_counter() - began, time.process_time() - cpu - waiting
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "documents": count, "chunks": chunks, "file_mb": round(os.path.getsize(arguments.out) / 1e6, 1), "cap_mb": arguments.cap, "capped_by": how,
        "cpu_s": round(cpu, 2), "chunks_a_cpu_second": round(chunks / cpu), "clock_s": round(clock, 2),
        "closing_s": round(clock - (fed - began), 2), "reading_s": round(waiting, 2),
        "peak_rss_mb": round(usage.ru_maxrss / 1024, 1), "before_rss_mb": round(before / 1024, 1),
    }  # fmt: skip


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def built(arguments, out, cap):
    """Return the cost of a build in a new process, and the file's digest."""
    command = [
        sys.executable,
        __file__,
        arguments.passages,
        "--chunks",
        str(arguments.chunks),
        "--out",
        out,
    ]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen([*command, "--cap", str(cap)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)  # fmt: skip
    done, said = process.communicate()
    for root, _ in CONTROL_GROUPS:
        with contextlib.suppress(OSError):
            os.rmdir(group_of(root, process.pid))
    if process.returncode:
        return {
            "cap_mb": cap,
            "failed": (said.strip().splitlines() or [f"status {process.returncode}"])[-1],
        }
    return {**json.loads(done), "sha256": digest(out)}


def show(found):
    for name, value in found.items():
        print(f"  {name.replace('_', ' '):<24}{value}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("passages")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--cap", type=int, default=0, help="Megabytes.")
    parser.add_argument(
        "--half", action="store_true", help="Build again within half the size of the file."
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--out", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.passages = os.path.abspath(arguments.passages)
    if arguments.out:
        return print(json.dumps(build(arguments)))
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        out = os.path.join(folder, "kb.ragfile")
        reports = [built(arguments, out, arguments.cap)]
        if arguments.half and "failed" not in reports[0]:
            reports.append(built(arguments, out, int(reports[0]["file_mb"] * 1e6 / 2) >> 20))
    if arguments.json:
        print(json.dumps(reports, indent=2))
    else:
        for report in reports:
            print(f"under {report['cap_mb']} MB" if report["cap_mb"] else "without a limit")
            show(report)
    if (
        any("failed" in report for report in reports)
        or len({report["sha256"] for report in reports}) > 1
    ):
        raise SystemExit("failed, or not the same bytes")


if __name__ == "__main__":
    main()
