"""How fast is hybrid search over 100,000 passages, end to end, beside the stores that people use for it?

    python bench/pipeline.py passages.jsonl queries.txt [--limit 100000] [--only ragfile,duckdb] [--json]

passages.jsonl has {"path", "chunk", "title", "text"} a line (may be .xz), queries.txt a question a line. Vectors are those of the
embedded model, made once and given to all; each store then answers the ten best by its own hybrid search (reciprocal ranks of
20 + 20 candidates where it has none). Every store runs in a process of its own, one thread, warm, best of `--rounds` for each
question. A store that is not installed is left out, with the reason. Take the machine for yourself, or the numbers are noise.
"""

import argparse
import contextlib
import importlib
import importlib.metadata
import importlib.util
import json
import lzma
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time

K, CANDIDATES = 10, 20
HALF = {"title": {"$gte": "M"}}  # a filter that about half of the passages pass


def read_passages(path, limit):
    with lzma.open(path, "rt") if str(path).endswith(".xz") else open(path, encoding="utf-8") as file:
        for _, line in zip(range(limit), file, strict=False):
            yield json.loads(line)


def reciprocal_ranks(*legs, k=60):
    scores = {}
    for leg in legs:
        for rank, row in enumerate(leg, 1):
            scores[row] = scores.get(row, 0.0) + 1 / (k + rank)
    return sorted(scores, key=lambda row: (-scores[row], row))[:K]


class Ragfile:
    """ragfile, calibrated fusion, exact."""

    package = "ragfile"

    def build(self, passages, vectors, folder):
        import ragfile
        from ragfile.writing import Writer

        self.path = os.path.join(folder, "kb.ragfile")
        with Writer(self.path, embedder="default") as w:
            for first in range(0, len(passages), 1000):
                part = passages[first : first + 1000]
                chunks = [
                    {
                        "doc_id": p["path"],
                        "chunk_index": p["chunk"],
                        "content": p["text"],
                        "metadata": {"title": p["title"]},
                    }
                    for p in part
                ]
                w.add(chunks, vectors[first : first + 1000])
        self.file = ragfile.open(self.path)

    def open_again(self):
        import ragfile

        self.file = ragfile.open(self.path)

    def ask(self, text, vector):
        return [hit.id for hit in self.file.search(text, K, vector=vector, cache=False)]

    def ask_text(self, text):
        self.file._asked = type(self.file._asked)(1)  # the question's vector is made anew
        return self.file.search(text, K, cache=False)

    def ask_filtered(self, text, vector):
        return self.file.search(text, K, vector=vector, cache=False, where=HALF)

    def first_filter(self):
        self.open_again()
        return self.file.mask(HALF)

    def batch(self, texts, vectors, threads):
        return self.file.search_batch(texts, K, vectors=vectors, threads=threads)

    def sections(self):
        return {e["name"]: e["size"] for e in self.file.entries}


class DuckDB:
    """DuckDB: array_cosine_similarity and its full-text extension."""

    package = "duckdb"

    def build(self, passages, vectors, folder):
        import duckdb
        import pyarrow

        self.path = os.path.join(folder, "kb.duckdb")
        self.base = duckdb.connect(self.path, config={"threads": 1, "autoinstall_known_extensions": "false"})
        flat = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.reshape(-1)), vectors.shape[1])
        ids, texts = list(range(len(passages))), [p["text"] for p in passages]
        table = pyarrow.table({"id": ids, "text": texts, "embedding": flat})
        self.base.register("arriving", table)
        self.base.execute("CREATE TABLE documents AS SELECT * FROM arriving")
        self.dim, self.words = vectors.shape[1], True
        try:
            self.base.execute("LOAD fts; PRAGMA create_fts_index('documents', 'id', 'text')")
        except duckdb.Error as error:
            self.words = False
            print(f"duckdb: vectors only: {str(error).splitlines()[0]}", file=sys.stderr)

    def ask(self, text, vector):
        order = f"array_cosine_similarity(embedding, ?::FLOAT[{self.dim}])"
        near = self.base.execute(
            f"SELECT id FROM documents ORDER BY {order} DESC LIMIT {CANDIDATES}", [vector.tolist()]
        ).fetchall()
        legs = [[row for (row,) in near]]
        if self.words:
            found = self.base.execute(
                "SELECT id FROM (SELECT id, fts_main_documents.match_bm25(id, ?) AS s FROM documents) WHERE s IS NOT NULL "
                f"ORDER BY s DESC LIMIT {CANDIDATES}",
                [text],
            ).fetchall()
            legs.append([row for (row,) in found])
        return reciprocal_ranks(*legs)


class SqliteVec:
    """sqlite-vec and FTS5. Where Python's own sqlite3 loads no extensions, pysqlite3 does."""

    package = "sqlite-vec"

    def build(self, passages, vectors, folder):
        import sqlite_vec

        sqlite3 = importlib.import_module(next(n for n in ("pysqlite3", "sqlite3") if importlib.util.find_spec(n)))

        self.base = sqlite3.connect(os.path.join(folder, "kb.sqlite"))
        self.base.enable_load_extension(True)
        sqlite_vec.load(self.base)
        self.base.execute(
            f"CREATE VIRTUAL TABLE near USING vec0(embedding float[{vectors.shape[1]}] distance_metric=cosine)"
        )
        self.base.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61')")
        with self.base:
            self.base.executemany(
                "INSERT INTO near(rowid, embedding) VALUES (?, ?)", ((i, v.tobytes()) for i, v in enumerate(vectors))
            )
            self.base.executemany(
                "INSERT INTO words(rowid, text) VALUES (?, ?)", ((i, p["text"]) for i, p in enumerate(passages))
            )

    def ask(self, text, vector):
        near = self.base.execute(
            "SELECT rowid FROM near WHERE embedding MATCH ? AND k = ?", [vector.tobytes(), CANDIDATES]
        )
        asked = " OR ".join(
            '"' + word.replace('"', "") + '"' for word in text.split() if any(c.isalnum() for c in word)
        )
        found = self.base.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT ?", [asked or '""', CANDIDATES]
        )
        return reciprocal_ranks([row for (row,) in near], [row for (row,) in found])


class LanceDB:
    """LanceDB: its own hybrid search with an IVF-PQ and a full-text index."""

    package = "lancedb"

    def build(self, passages, vectors, folder):
        import lancedb
        import pyarrow

        flat = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.reshape(-1)), vectors.shape[1])
        table = pyarrow.table({"id": list(range(len(passages))), "text": [p["text"] for p in passages], "vector": flat})
        self.table = lancedb.connect(folder).create_table("kb", table)
        self.table.create_fts_index("text")
        self.table.create_index(metric="cosine")

    def ask(self, text, vector):
        found = self.table.search(query_type="hybrid").vector(vector).text(text).limit(K).to_list()
        return [row["id"] for row in found]


class Chroma:
    """Chroma: vectors only (HNSW); it has no BM25 of its own on one machine."""

    package = "chromadb"

    def build(self, passages, vectors, folder):
        import chromadb

        client = chromadb.PersistentClient(folder, settings=chromadb.Settings(anonymized_telemetry=False))
        self.kept = client.create_collection("passages", metadata={"hnsw:space": "cosine"})
        for first in range(0, len(passages), 5000):
            part = passages[first : first + 5000]
            self.kept.add(
                ids=[str(first + i) for i in range(len(part))], embeddings=vectors[first : first + 5000],
                documents=[p["text"] for p in part],
            )  # fmt: skip

    def ask(self, text, vector):
        return self.kept.query(query_embeddings=[vector], n_results=K)["ids"][0]


STORES = {"ragfile": Ragfile, "lancedb": LanceDB, "duckdb": DuckDB, "sqlite-vec": SqliteVec, "chroma": Chroma}


# --------------------------------------------------------------------------------------------------------------- one store


def percentiles(times):
    times = sorted(times)
    return {"p50_ms": round(times[len(times) // 2] * 1e3, 4), "p99_ms": round(times[int(len(times) * 0.99)] * 1e3, 4)}


def timed(questions, ask, rounds):
    """Percentiles of the best of some rounds for each question."""
    best = [float("inf")] * len(questions)
    for _ in range(rounds):
        for i, question in enumerate(questions):
            began = time.perf_counter()
            ask(*question)
            best[i] = min(best[i], time.perf_counter() - began)
    return percentiles(best)


def seconds(call, rounds):
    """The best of some rounds."""
    spent = []
    for _ in range(rounds):
        began = time.perf_counter()
        call()
        spent.append(time.perf_counter() - began)
    return min(spent)


def more_of_ragfile(store, asked, rounds):
    import numpy as np

    texts, vectors = [text for text, _ in asked], np.array([vector for _, vector in asked])
    store.open_again()
    store.ask(*asked[0])
    found = {
        "asked_once": timed(asked, store.ask, 1),
        "first_filter_ms": round(seconds(store.first_filter, rounds) * 1e3, 1),
        "filtered": timed(asked, store.ask_filtered, rounds),
    }
    for threads in (1, 2):
        found[f"batch_qps_{threads}"] = round(
            len(texts) / seconds(lambda n=threads: store.batch(texts, vectors, n), rounds)
        )
    return found


def size_of(folder):
    return sum(os.path.getsize(os.path.join(root, name)) for root, _, names in os.walk(folder) for name in names)


def measure(name, arguments):
    import numpy as np

    from ragfile.embedding import open_embedder

    store = STORES[name]()
    importlib.metadata.version(store.package)
    passages = list(read_passages(arguments.passages, arguments.limit))
    with open(arguments.queries, encoding="utf-8") as file:
        texts = [line.strip() for line in file if line.strip()][: arguments.questions]
    embedder = open_embedder("default")
    vectors = (
        np.load(arguments.vectors, mmap_mode="r")
        if arguments.vectors
        else embedder.embed([p["text"] for p in passages])
    )
    vectors = np.ascontiguousarray(vectors[: len(passages)])
    asked = list(zip(texts, embedder.embed(texts, role="query"), strict=True))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        began, cpu = time.perf_counter(), time.process_time()
        store.build(passages, vectors, folder)
        found = {
            "store": name, "version": importlib.metadata.version(store.package), "passages": len(passages),
            "build_s": round(time.perf_counter() - began, 2), "build_cpu_s": round(time.process_time() - cpu, 2),
            "disk_mb": round(size_of(folder) / 1e6, 1),
        }  # fmt: skip
        found["build_rss_mb"] = round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, 1)
        found.update(timed(asked, store.ask, arguments.rounds))
        if isinstance(store, Ragfile):
            found["from_text"] = timed([(text,) for text in texts], store.ask_text, arguments.rounds)
            found.update(more_of_ragfile(store, asked, arguments.rounds))
            found["sections_mb"] = {n: round(s / 1e6, 2) for n, s in store.sections().items()}
            began = time.perf_counter()
            store.open_again()
            store.ask(*asked[0])
            found["open_and_first_ms"] = round((time.perf_counter() - began) * 1e3, 2)
    return found


# ------------------------------------------------------------------------------------------------------------------- all


def each(arguments):
    """Every store in a process of its own; a reason for each that could not run."""
    passed = [arguments.passages, arguments.queries, "--limit", str(arguments.limit), "--rounds", str(arguments.rounds),
              "--questions", str(arguments.questions), *(["--vectors", arguments.vectors] if arguments.vectors else [])]  # fmt: skip
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LANCE_CPU_THREADS": "1"}
    for name in arguments.only.split(",") if arguments.only else STORES:
        command = [sys.executable, __file__, *passed, "--child", name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=arguments.timeout)
        except subprocess.TimeoutExpired:
            yield {"store": name, "left_out": f"not done after {arguments.timeout} s"}
            continue
        sys.stderr.write("".join(line + "\n" for line in done.stderr.splitlines() if line.startswith(name)))
        last = done.stderr.strip().splitlines()[-1:] or ["no output"]
        with contextlib.suppress(ValueError):
            yield json.loads(done.stdout)
            continue
        yield {"store": name, "left_out": last[0]}


def show(report):
    if "left_out" in report:
        print(f"{report['store']:<12} left out: {report['left_out']}")
        return
    print(
        f"{report['store']:<12} p50 {report['p50_ms']:>9.3f} ms  p99 {report['p99_ms']:>9.3f} ms  build {report['build_s']:>7.2f} s "
        f"(cpu {report['build_cpu_s']:.2f})  {report['disk_mb']:>7.1f} MB on disk  {report['build_rss_mb']:>7.1f} MB more RSS"
    )
    for name in (
        "from_text",
        "asked_once",
        "filtered",
        "first_filter_ms",
        "batch_qps_1",
        "batch_qps_2",
        "open_and_first_ms",
        "sections_mb",
    ):
        if name in report:
            print(f"{'':<12} {name.replace('_', ' ')}: {report[name]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("passages")
    parser.add_argument("queries")
    parser.add_argument("--limit", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--only", help="Names, separated by commas.")
    parser.add_argument("--vectors", help="A .npy of the passages' vectors, to save embedding them for each store.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(measure(arguments.child, arguments)))
        return
    if not arguments.json:
        print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    reports = []
    for report in each(arguments):
        reports.append(report)
        if not arguments.json:
            show(report)
    if arguments.json:
        print(json.dumps(reports, indent=2))


if __name__ == "__main__":
    main()
