"""Compare hybrid search over 100,000 passages, end to end, with other stores.

    python bench/pipeline.py passages.jsonl questions.txt [more.txt …] [--keep FOLDER] [--json OUT]

passages.jsonl has {"path", "chunk", "title", "text"} per line (may be .xz), a file of questions one
per line. All stores get the same vectors, embedded once by the built-in model. Each returns the 12
best with their texts, by its own hybrid search.

Each store builds alone, then waits in a process of its own. All questions go to the stores in turn,
round after round, and the best round counts for each question. One thread: wall time, and CPU time
of the process, which reveals hidden threads. Recall compares the vector search with exact scores.
Memory is the process's memory beyond Python, numpy and the questions, after it has answered. --keep
saves the built stores for the next run. A store that is not installed or fails is left out, with
the reason.
"""

import argparse
import contextlib
import importlib.metadata
import json
import lzma
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from pipeline_sql import K
from pipeline_stores import STORES


def read_passages(path, limit):
    with (
        lzma.open(path, "rt") if str(path).endswith(".xz") else open(path, encoding="utf-8") as file
    ):
        for _, line in zip(range(limit), file, strict=False):
            yield json.loads(line)


def read_questions(paths, count):
    """Return [(file name, question)], the same number from each file."""
    asked = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            lines = [line.strip() for line in file if line.strip()][:count]
        asked += [(os.path.splitext(os.path.basename(path))[0], line) for line in lines]
    return asked


def size_of(folder):
    return sum(
        os.path.getsize(os.path.join(root, name))
        for root, _, names in os.walk(folder)
        for name in names
    )


def memory():
    """Return the megabytes of this process: {"anonymous": …, "mapped": …}."""
    with open("/proc/self/status") as file:
        lines = dict(line.split(":", 1) for line in file)
    return {
        n: int(lines[f].split()[0]) / 1024
        for n, f in (("anonymous", "RssAnon"), ("mapped", "RssFile"))
    }


# ------------------------------------------------------------------------------------------------------------ preparation


def prepare(arguments, folder):
    """Embed passages and questions into files for the stores' processes."""
    import numpy as np

    from ragfile.embedding.protocol import open_embedder

    embedder = open_embedder("default")
    path = os.path.join(folder, "vectors.npy")
    if not os.path.exists(path):
        began, texts = (
            time.process_time(),
            [p["text"] for p in read_passages(arguments.passages, arguments.limit)],
        )
        np.save(path, embedder.embed(texts))
        print(
            f"{len(texts)} passages embedded, {time.process_time() - began:.1f} s with reading",
            file=sys.stderr,
        )
    asked = read_questions(arguments.questions, arguments.count)
    np.save(
        os.path.join(folder, "asked.npy"), embedder.embed([text for _, text in asked], role="query")
    )
    with open(os.path.join(folder, "asked.json"), "w") as file:
        json.dump(asked, file)


# ---------------------------------------------------------------------------------------------------- a store's processes


def build(name, arguments):
    """Build one store; return its cost."""
    import numpy as np

    store, place = STORES[name](), os.path.join(arguments.keep, name)
    version = importlib.metadata.version(store.package)
    vectors = np.load(os.path.join(arguments.keep, "vectors.npy"))
    count = min(len(vectors), getattr(store, "most", len(vectors)))
    passages, vectors = (
        list(read_passages(arguments.passages, count)),
        np.ascontiguousarray(vectors[:count]),
    )
    os.mkdir(place)
    before, began, cpu = memory(), time.perf_counter(), time.process_time()
    store.build(passages, vectors, place)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - sum(before.values())
    return {
        "store": name, "version": version, "passages": count, "build_s": round(time.perf_counter() - began, 2),
        "build_cpu_s": round(time.process_time() - cpu, 2), "build_rss_mb": round(peak, 1),
        "disk_mb": round(size_of(place) / 1e6, 1),
    }  # fmt: skip


class Served:
    """A store in its own process: answers commands and keeps the best times."""

    def __init__(self, name, arguments):
        import numpy as np

        with open(os.path.join(arguments.keep, "asked.json")) as file:
            self.sets, self.texts = zip(*json.load(file), strict=True)
        self.vectors = np.load(os.path.join(arguments.keep, "asked.npy"))
        self.folder, self.store, self.before = arguments.keep, STORES[name](), memory()
        self.place = os.path.join(arguments.keep, getattr(STORES[name], "built_as", name))
        self.clock, self.cpu, self.rounds = self._none(), self._none(), 0
        self.variants, self.first = {}, None

    def _none(self):
        return [float("inf")] * len(self.texts)

    def open(self):
        began = time.perf_counter()
        self.store.open(self.place)
        opened = time.perf_counter()
        self.store.ask(self.texts[0], self.vectors[0])
        return {
            "open_ms": round((opened - began) * 1e3, 2),
            "first_ms": round((time.perf_counter() - opened) * 1e3, 2),
        }

    def round(self):
        """Ask every question once; return the seconds."""
        started = time.perf_counter()
        for i, (text, vector) in enumerate(zip(self.texts, self.vectors, strict=True)):
            cpu, began = time.process_time(), time.perf_counter()
            self.store.ask(text, vector)
            self.clock[i] = min(self.clock[i], time.perf_counter() - began)
            self.cpu[i] = min(self.cpu[i], time.process_time() - cpu)
        self.rounds += 1
        self.first = self.first or percentiles(self.clock)
        for name, ask in self.store.variants().items() if hasattr(self.store, "variants") else ():
            best = self.variants.setdefault(name, self._none())
            for i, (text, vector) in enumerate(zip(self.texts, self.vectors, strict=True)):
                began = time.perf_counter()
                ask(
                    text + " " * self.rounds, vector
                )  # the same words as a question that is in no cache
                best[i] = min(best[i], time.perf_counter() - began)
        return {"seconds": time.perf_counter() - started}

    def report(self):
        now = memory()
        found = {
            "rounds": self.rounds,
            "rss_mb": {n: round(now[n] - self.before[n], 1) for n in now},
        }
        found["clock_ms"], found["cpu_ms"] = self._by_set(self.clock), self._by_set(self.cpu)
        found["asked_once_ms"] = self.first
        found["variants_ms"] = {name: self._by_set(times) for name, times in self.variants.items()}
        found["qps"] = {"one by one": round(len(self.cpu) / sum(self.cpu), 1)}
        if hasattr(self.store, "batch"):
            found["qps"] |= {f"batch, threads: {n}": round(self._batch(n), 1) for n in (1, 2)}
        if hasattr(self.store, "sections"):
            found["sections_mb"] = {n: round(s / 1e6, 2) for n, s in self.store.sections().items()}
        found["recall"] = round(self._recall(), 4)
        return found

    def _by_set(self, times):
        names = dict.fromkeys(("all", *self.sets))
        return {
            n: percentiles([t for s, t in zip(self.sets, times, strict=True) if n in (s, "all")])
            for n in names
        }

    def _batch(self, threads):
        """Return questions per second, the best of five batches of at least 1,024.

        CPU time on one thread, wall time on more.
        """
        import numpy as np

        now = time.process_time if threads == 1 else time.perf_counter
        times, best = max(1, 1024 // len(self.texts)), float("inf")
        texts, vectors = list(self.texts) * times, np.tile(self.vectors, (times, 1))
        for _ in range(5):
            began = now()
            self.store.batch(texts, vectors, threads)
            best = min(best, now() - began)
        return len(texts) / best

    def _recall(self):
        """Return the share of the vector search's rows whose exact scores are among the K best."""
        import numpy as np

        rows = np.load(os.path.join(self.folder, "vectors.npy"), mmap_mode="r")
        rows = np.ascontiguousarray(rows[: getattr(self.store, "most", len(rows))])
        good = 0
        for vector in self.vectors:
            scores = rows @ vector
            least = np.partition(scores, -K)[-K] - 1e-6
            good += sum(scores[row] >= least for row in dict.fromkeys(self.store.near(vector)))
        return good / (K * len(self.vectors))


def percentiles(times):
    times = sorted(times)
    return {
        "p50": round(times[len(times) // 2] * 1e3, 4),
        "p99": round(times[int(len(times) * 0.99)] * 1e3, 4),
    }


def child(arguments):
    """Run a store's process: build and end, or answer commands, a line of JSON each."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keep a store's own output out of the answers

    def answer(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    role, name = arguments.child
    if role == "build":
        return answer(build(name, arguments))
    served = Served(name, arguments)
    for command in sys.stdin:
        answer(getattr(served, command.strip())())


# --------------------------------------------------------------------------------------------------------------- all stores


def spawn(arguments, role, name):
    command = [sys.executable, __file__, arguments.passages, *arguments.questions, "--limit", str(arguments.limit),
               "--keep", arguments.keep, "--child", role, name]  # fmt: skip
    one = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LANCE_CPU_THREADS", "RAYON_NUM_THREADS"), "1"
    )
    environment = {**os.environ, **one, "MEMVID_TELEMETRY": "0"}
    log = open(os.path.join(arguments.keep, f"{name}.log"), "a+")  # noqa: SIM115 - lives as long as the process
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env=environment,
    )
    process.log = log
    return process


def why(process):
    process.log.seek(0)
    return (process.log.read().strip().splitlines() or ["no output"])[-1]


def built(arguments, name):
    """Return the cost of building, now or in an earlier run."""
    if other := getattr(STORES[name], "built_as", None):
        return {**built(arguments, other), "store": name}
    kept = os.path.join(arguments.keep, f"{name}.json")
    if os.path.exists(kept):
        with open(kept) as file:
            return json.load(file)
    shutil.rmtree(os.path.join(arguments.keep, name), ignore_errors=True)
    process = spawn(arguments, "build", name)
    try:
        done, _ = process.communicate(timeout=arguments.timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return {"store": name, "left_out": f"not built after {arguments.timeout:.0f} s"}
    if not done:
        return {"store": name, "left_out": why(process)}
    with open(kept, "w") as file:
        file.write(done)
    return json.loads(done)


class Contestant:
    """A store's process, seen from the parent."""

    def __init__(self, arguments, report):
        self.report, self.spent = report, 0.0
        self.process = spawn(arguments, "serve", report["store"])

    def tell(self, command):
        """Return the answer to a command, or None and keep the reason of a failure."""
        if "left_out" in self.report:
            return None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            if line := self.process.stdout.readline():
                return json.loads(line)
        self.report["left_out"] = why(self.process)
        return None

    def round(self, seconds):
        if self.spent < seconds:
            self.spent += (self.tell("round") or {"seconds": 0})["seconds"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compete(arguments, reports):
    contestants = [Contestant(arguments, report) for report in reports if "left_out" not in report]
    for contestant in contestants:
        contestant.report.update(contestant.tell("open") or {})
    for _ in range(arguments.rounds):
        for contestant in contestants:
            contestant.round(arguments.seconds)
    for contestant in contestants:
        contestant.report.update(contestant.tell("report") or {})
        contestant.close()


def show(reports):
    ours = next(
        (
            r["clock_ms"]["all"]["p50"]
            for r in reports
            if r["store"] == "ragfile" and "clock_ms" in r
        ),
        None,
    )
    print(f"{'':<16}{'p50 ms':>9}{'p99 ms':>9}{'cpu p50':>9}{'times':>8}{'recall':>8}{'qps':>10}{'open+first ms':>16}{'build s':>9}{'cpu s':>8}{'disk MB':>9}{'anon MB':>9}")  # fmt: skip
    for r in reports:
        if "left_out" in r:
            print(f"{r['store']:<16}left out: {r['left_out']}")
            continue
        all_ = r["clock_ms"]["all"]
        print(
            f"{r['store']:<16}{all_['p50']:>9.3f}{all_['p99']:>9.3f}{r['cpu_ms']['all']['p50']:>9.3f}"
            f"{all_['p50'] / ours if ours else 0:>7.1f}x{r['recall']:>8.3f}{max(r['qps'].values()):>10.0f}"
            f"{r['open_ms']:>8.1f}{r['first_ms']:>8.1f}{r['build_s']:>9.1f}{r['build_cpu_s']:>8.1f}{r['disk_mb']:>9.1f}"
            f"{r['rss_mb']['anonymous']:>9.1f}"
            + (f"   {r['passages']} passages" if r["store"] == "memvid" else "")
        )
    for r in reports:
        for name in (
            "clock_ms",
            "cpu_ms",
            "asked_once_ms",
            "variants_ms",
            "qps",
            "sections_mb",
            "build_rss_mb",
        ):
            if r["store"] == "ragfile" and name in r:
                print(f"ragfile, {name}: {r[name]}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("passages")
    parser.add_argument("questions", nargs="+")
    parser.add_argument("--limit", type=int, default=100_000)
    parser.add_argument("--count", type=int, default=32, help="Questions per file.")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument(
        "--seconds", type=float, default=30, help="Stop the rounds of a store after this time."
    )
    parser.add_argument(
        "--timeout", type=float, default=1200, help="Seconds a store may take to build."
    )
    parser.add_argument("--only", help="Names, separated by commas.")
    parser.add_argument("--keep", help="A folder for the built stores; the next run uses them.")
    parser.add_argument("--json", help="Write all numbers here.")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments)
    with contextlib.ExitStack() as stack:
        arguments.keep = arguments.keep or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="bench-")
        )
        os.makedirs(arguments.keep, exist_ok=True)
        prepare(arguments, arguments.keep)
        reports = [
            built(arguments, name)
            for name in (arguments.only.split(",") if arguments.only else STORES)
        ]
        compete(arguments, reports)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"  # fmt: skip
    print(machine)
    show(reports)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"machine": machine, "stores": reports}, file, indent=2)


if __name__ == "__main__":
    main()
