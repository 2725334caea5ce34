"""Compare stores that take one record per durable commit, as the memory of an agent does.

    python bench/small_commits.py [--commits 500] [--only ragfile sqlite …] [--curve FILE]
    python bench/small_commits.py --only ragfile --commits 10000 --updates 0.5

Each record is a text of 25 words, a vector of 256 floats and two fields of metadata. Each put is
one commit, through a handle that stays open if the store has one; LanceDB alone never syncs the disk.
For each store it reports:

- the bytes that its process wrote, divided by the bytes of a compacted ragfile with the same records;
- the size of its files, also divided by that;
- the CPU time of a put, of all threads of the process, and its wall time;
- the CPU time of a hybrid question after the last commit (a vector question, if the store has no text
  search), and the same divided by that of a store that was filled at once.

For ragfile it adds the segments, `log`, and a comparison with the same file compacted: `open`, and
hybrid questions in interleaved rounds, by the median and the worst. Both files must answer alike.
With `--updates`, that share of ragfile's commits replaces an earlier record. `--curve` writes the bytes
written after 10, 30, 100 … commits, which `plots.py` draws. Each store runs in a process of its own.
"""

import argparse
import importlib
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DIM, QUESTIONS, ROUNDS = 256, 40, 5
POINTS = [step * 10**power for power in range(1, 7) for step in (1, 3)]  # of the curve


def records(count, updates=0.0):
    """Generate the records: (id, text, vector, metadata); some have the id of an earlier one."""
    rng, rows, again = random.Random(1), np.random.default_rng(1), random.Random(2)
    words = [f"{rng.choice('bdgklmnprst')}{rng.choice('aeiou')}{rng.choice('lmnrs')}{i}" for i in range(20_000)]  # fmt: skip
    for i in range(count):
        text = " ".join(words[min(int(rng.paretovariate(0.6)), len(words)) - 1] for _ in range(25))
        vector = rows.standard_normal(DIM, dtype=np.float32)
        number = again.randrange(i) if i and again.random() < updates else i
        yield f"m{number:07d}", text, vector / np.linalg.norm(vector), {"who": f"p{i % 40}", "day": i // 50}  # fmt: skip


class Ragfile:
    """One file and one open writer; each put is an `edit()` of it."""

    def __init__(self, folder):
        import ragfile

        self.ragfile, self.path = ragfile, Path(folder, "memory.ragfile")
        ragfile.create(self.path, dim=DIM).close()
        self.writer = ragfile.writer(self.path)

    def put(self, items):
        with self.writer.edit() as w:
            for doc_id, text, vector, metadata in items:
                w.delete(doc_id)
                chunk = self.ragfile.Chunk(doc_id, 0, text, (), {}, 0, len(text))
                document = self.ragfile.Document(doc_id, text, metadata=metadata)
                w.add_document(document, [chunk], [vector])

    def ready(self):
        self.rf = self.ragfile.open(self.path)

    def ask(self, text, vector):
        return self.rf.search(text, 10, vector=vector, cache=False)

    def more(self):
        """Return the numbers of ragfile alone."""
        compacted = self.path.with_name("compacted.ragfile")
        shutil.copy(self.path, compacted)
        self.ragfile.compact(compacted)
        began = time.process_time()
        commits = self.ragfile.log(self.path)
        spent = time.process_time() - began
        with self.ragfile.open(compacted) as one:
            rates = times_of([self.rf, one])
        opening = [opening_ms(self.ragfile, path) for path in (self.path, compacted)]
        put = compacted.stat().st_size
        compacted.unlink()
        return {
            "segments": len(self.rf.file.reader.segments), "open_ms": opening[0], "put": put,
            "open_rate": opening[0] / opening[1], "log_s": spent, "log_commits": len(commits),
            "question_rate": [float(np.median(rates)), float(rates.max())],
        }  # fmt: skip


def times_of(files):
    """How many times as long as in the second file each question takes in the first one."""
    asked = [(" ".join(text.split()[:4]), vector) for _, text, vector, _ in records(QUESTIONS)]
    took = np.zeros((ROUNDS, len(files), QUESTIONS))
    for each in took:
        for i, (text, vector) in enumerate(asked):
            answers = []
            for j, rf in enumerate(files):
                began = time.perf_counter()
                hits = rf.search(text, 10, vector=vector, cache=False)
                each[j, i] = time.perf_counter() - began
                answers.append([(hit.id, hit.score) for hit in hits])
            assert answers[0] == answers[1]
    best = took.min(axis=0)
    return best[0] / best[1]


def opening_ms(ragfile, path):
    """The CPU time of opening a file, the best of thirty."""
    best = []
    for _ in range(30):
        began = time.process_time()
        ragfile.open(path).close()
        best.append(time.process_time() - began)
    return min(best) * 1e3


class Sqlite:
    """sqlite-vec and FTS5, WAL, synchronous=FULL."""

    def __init__(self, folder):
        import sqlite_vec

        sqlite3 = importlib.import_module(  # pysqlite3 where Python's own loads no extensions
            next(n for n in ("pysqlite3", "sqlite3") if importlib.util.find_spec(n))
        )
        self.db = sqlite3.connect(str(Path(folder, "memory.db")))
        self.db.enable_load_extension(True)
        sqlite_vec.load(self.db)
        self.db.executescript(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
            "CREATE TABLE m(n INTEGER PRIMARY KEY, id TEXT UNIQUE, text TEXT, meta TEXT);"
            "CREATE VIRTUAL TABLE words USING fts5(text, content='');"
            f"CREATE VIRTUAL TABLE vectors USING vec0(v float[{DIM}]);"
        )

    def put(self, items):
        with self.db:
            for doc_id, text, vector, metadata in items:
                row = (doc_id, text, json.dumps(metadata))
                n = self.db.execute("INSERT INTO m(id,text,meta) VALUES(?,?,?)", row).lastrowid
                self.db.execute("INSERT INTO words(rowid,text) VALUES(?,?)", (n, text))
                self.db.execute("INSERT INTO vectors(rowid,v) VALUES(?,?)", (n, vector.tobytes()))

    def ready(self):
        pass

    def ask(self, text, vector):
        match = " OR ".join(text.split())
        by_words = self.db.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 100", (match,)
        ).fetchall()
        by_vector = self.db.execute(
            "SELECT rowid FROM vectors WHERE v MATCH ? AND k = 100 ORDER BY distance",
            (vector.tobytes(),),
        ).fetchall()
        scores = {}
        for found in (by_words, by_vector):
            for rank, (n,) in enumerate(found):
                scores[n] = scores.get(n, 0) + 1 / (60 + rank)
        best = sorted(scores, key=scores.get, reverse=True)[:10]
        marks = ",".join("?" * len(best))
        return self.db.execute(f"SELECT id, text FROM m WHERE n IN ({marks})", best).fetchall()


class Lancedb:
    """A LanceDB table; vector questions. `optimize()` is not called, as for the others."""

    def __init__(self, folder):
        import lancedb
        import pyarrow as pa

        schema = pa.schema(
            [
                ("id", pa.string()), ("text", pa.string()), ("who", pa.string()),
                ("day", pa.int64()), ("v", pa.list_(pa.float32(), DIM)),
            ]
        )  # fmt: skip
        self.table = lancedb.connect(folder).create_table("memory", schema=schema)

    def put(self, items):
        self.table.add([{"id": i, "text": text, "v": v, **meta} for i, text, v, meta in items])

    def ready(self):
        pass

    def ask(self, text, vector):
        return self.table.search(vector).limit(10).to_list()


class Chroma:
    """A persistent Chroma collection; vector questions."""

    def __init__(self, folder):
        import chromadb

        settings = chromadb.Settings(anonymized_telemetry=False)
        client = chromadb.PersistentClient(folder, settings=settings)
        self.collection = client.create_collection("memory", embedding_function=None)

    def put(self, items):
        for first in range(0, len(items), 5000):
            ids, texts, vectors, metadata = zip(*items[first : first + 5000], strict=True)
            self.collection.add(
                ids=list(ids), documents=list(texts), embeddings=list(vectors), metadatas=list(metadata)
            )  # fmt: skip

    def ready(self):
        pass

    def ask(self, text, vector):
        return self.collection.query(query_embeddings=[vector], n_results=10)


class Zvec:
    """A zvec collection with `flush()` after each put; vector questions."""

    def __init__(self, folder):
        import zvec

        self.zvec = zvec
        fields = [
            zvec.FieldSchema("text", zvec.DataType.STRING),
            zvec.FieldSchema("who", zvec.DataType.STRING),
            zvec.FieldSchema("day", zvec.DataType.INT64),
        ]
        vector = zvec.VectorSchema("v", zvec.DataType.VECTOR_FP32, DIM)
        schema = zvec.CollectionSchema("memory", fields=fields, vectors=vector)
        self.collection = zvec.create_and_open(str(Path(folder, "zvec")), schema)

    def put(self, items):
        for first in range(0, len(items), 1000):
            self.collection.insert(
                [
                    self.zvec.Doc(id=i, vectors={"v": v.tolist()}, fields={"text": text, **meta})
                    for i, text, v, meta in items[first : first + 1000]
                ]
            )
        self.collection.flush()

    def ready(self):
        pass

    def ask(self, text, vector):
        query = self.zvec.VectorQuery("v", vector=vector.tolist())
        return self.collection.query(query, topk=10)


class Qdrant:
    """A Qdrant Edge shard with `flush()` after each put; vector questions."""

    def __init__(self, folder):
        import qdrant_edge as edge

        self.edge, self.count = edge, 0
        vectors = {"": edge.EdgeVectorParams(size=DIM, distance=edge.Distance.Cosine)}
        self.shard = edge.EdgeShard.create(str(Path(folder)), edge.EdgeConfig(vectors=vectors))

    def put(self, items):
        points = []
        for doc_id, text, vector, metadata in items:
            self.count += 1
            payload = {"id": doc_id, "text": text, **metadata}
            points.append(self.edge.Point(self.count, vector.tolist(), payload))
        self.shard.update(self.edge.UpdateOperation.upsert_points(points))
        self.shard.flush()

    def ready(self):
        pass

    def ask(self, text, vector):
        nearest = self.edge.Query.Nearest(vector.tolist())
        return self.shard.query(self.edge.QueryRequest(limit=10, query=nearest, with_payload=True))


STORES = {
    "ragfile": (Ragfile, "ragfile"), "sqlite": (Sqlite, "sqlite_vec"),
    "lancedb": (Lancedb, "lancedb"), "chroma": (Chroma, "chromadb"), "qdrant": (Qdrant, "qdrant_edge"),
    "zvec": (Zvec, "zvec"),
}  # fmt: skip


def written():
    """Bytes that this process has passed to the system to write."""
    return int(Path("/proc/self/io").read_text().split("wchar: ")[1].split()[0])


def size_of(folder):
    return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())


def question_ms(store):
    """The median CPU time of a question, each the best of three."""
    store.ready()
    asked = [(" ".join(text.split()[:4]), vector) for _, text, vector, _ in records(QUESTIONS)]
    best = []
    for text, vector in asked:
        spent = []
        for _ in range(3):
            began = time.process_time()
            store.ask(text, vector)
            spent.append(time.process_time() - began)
        best.append(min(spent) * 1e3)
    return sorted(best)[len(best) // 2]


def measured(name, commits, folder, updates=0.0):
    """Fill one store by single commits and another at once."""
    made, items = STORES[name][0], list(records(commits, updates))
    small, whole = Path(folder, "small"), Path(folder, "whole")
    small.mkdir(), whole.mkdir()
    store, cpu, wall, before = made(str(small)), [], [], written()
    curve = []
    for number, item in enumerate(items, 1):
        began = time.process_time(), time.perf_counter()
        store.put([item])
        cpu.append((time.process_time() - began[0]) * 1e3)
        wall.append((time.perf_counter() - began[1]) * 1e3)
        if number in POINTS or number == commits:
            curve.append((number, written() - before))
    found = {"written": written() - before, "curve": curve, "question_ms": question_ms(store)}
    found |= {"size": size_of(small), **getattr(store, "more", dict)()}
    other = made(str(whole))
    other.put(list({item[0]: item for item in items}.values()))
    found |= {"whole_question_ms": question_ms(other), "whole_size": size_of(whole)}
    last = np.median(cpu[-100:])
    cpu.sort(), wall.sort()
    end = len(cpu) - 1
    return found | {
        "cpu": [cpu[end // 2], cpu[end * 99 // 100], cpu[-1]], "last_cpu": last,
        "wall": [wall[end // 2], wall[end * 99 // 100], wall[-1]],
    }  # fmt: skip


def line(name, found, put):
    """A row of the table."""
    p50, p99, worst = found["cpu"]
    return (
        f"| {name} | {found['written'] / put:,.1f} | {found['size'] / 1e6:,.1f} | {found['size'] / put:,.1f}"
        f" | {p50:.2f} / {p99:.2f} / {worst:.0f} | {found['wall'][0]:.1f} / {found['wall'][1]:.1f}"
        f" | {found['question_ms']:.2f} | {found['question_ms'] / max(found['whole_question_ms'], 1e-3):.1f} |"
    )


def compacted_size(commits):
    """The bytes that were put: the rows of a ragfile that is built at once."""
    with tempfile.TemporaryDirectory() as folder:
        store = Ragfile(folder)
        store.put(list(records(commits)))
        store.ragfile.compact(store.path)
        return size_of(folder)


def about_ragfile(found):
    """The numbers that only ragfile has."""
    median, worst = found["question_rate"]
    return (
        f"\nragfile: {found['segments']} segments; a put of the last hundred {found['last_cpu']:.2f} ms CPU; "
        f"beside the compacted file ({found['put'] / 1e6:.2f} MB): size {found['size'] / found['put']:.2f} x, "
        f"written {found['written'] / found['put']:.2f} x, question {median:.2f} x (worst {worst:.2f}), "
        f"open {found['open_rate']:.2f} x ({found['open_ms']:.2f} ms); "
        f"log of {found['log_commits']:,} commits {found['log_s']:.2f} s CPU"
    )


def run_alone(name, given):
    """Measure one store in a process of its own; return its numbers, or the error."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as folder:
        command = [sys.executable, __file__, "--commits", str(given.commits), "--only", name]
        command += ["--updates", str(given.updates), "--inside", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout.splitlines()[-1])


def main():
    """Run all stores, or one of them in this process."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", choices=STORES, default=list(STORES))
    parser.add_argument("--updates", type=float, default=0.0, help="of ragfile's commits")
    parser.add_argument("--curve", type=Path, help="a JSON file for plots.py")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        return print(
            json.dumps(measured(given.only[0], given.commits, given.inside, given.updates))
        )
    put, curves, extra = compacted_size(given.commits), {}, ""
    print(f"{given.commits:,} commits of one record, {put / 1e6:.2f} MB put\n")
    print("| store | written ÷ put | MB | ÷ put | CPU of a put, ms: p50 / p99 / worst | wall, ms: p50 / p99 | question, ms CPU | ÷ filled at once |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for name in given.only:
        if importlib.util.find_spec(STORES[name][1]) is None:
            print(f"| {name}: not installed |")
            continue
        found = run_alone(name, given)
        if isinstance(found, str):
            print(f"| {name}: {found} |", flush=True)
            continue
        print(line(name, found, put), flush=True)
        curves[name] = [(n, written / (n * put / given.commits)) for n, written in found["curve"]]
        extra = about_ragfile(found) if name == "ragfile" else extra
    print(extra)
    if given.curve:
        given.curve.write_text(json.dumps(curves))
    return None


if __name__ == "__main__":
    main()
