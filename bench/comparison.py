"""Try the claims of docs/concepts/comparison.md on files, readers and writers with each installed tool.

    pip install sqlite-vec lancedb chromadb zvec qdrant-edge-py duckdb tantivy
    python bench/comparison.py [--only ragfile duckdb …]

One process opens a store, writes a record and keeps the store open. A second one then opens it and reads,
and a third one opens it and writes. An answer is `yes`, or the error of the tool in its own words.
"""

import argparse
import importlib
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

DIM, SECONDS = 4, 60


def vector(n):
    return [1.0, float(n), 0.5, 0.25]


class Ragfile:
    """A writer that stays open between its commits; a second one waits while a commit is made."""

    def __init__(self, folder, role):
        import ragfile

        self.ragfile, self.path = ragfile, Path(folder, "kb.ragfile")
        if role == "first":
            ragfile.create(self.path, dim=DIM).close()

    def put(self, n):
        self.writer = self.ragfile.writer(self.path)
        with self.writer.edit() as w:
            w.add([{"doc_id": f"{n}", "chunk_index": 0, "content": f"record {n}"}], [vector(n)])

    def count(self):
        with self.ragfile.open(self.path) as rf:
            return len(rf.search("record", 10, mode="bm25"))


class Sqlite:
    """sqlite-vec and FTS5, in the mode of SQLite in which readers do not wait."""

    def __init__(self, folder, role):
        import sqlite_vec

        sqlite3 = importlib.import_module(
            next(n for n in ("pysqlite3", "sqlite3") if importlib.util.find_spec(n))
        )
        self.db = sqlite3.connect(str(Path(folder, "kb.db")))
        self.db.enable_load_extension(True)
        sqlite_vec.load(self.db)
        self.db.execute("PRAGMA journal_mode=WAL")
        if role == "first":
            self.db.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
            self.db.execute(f"CREATE VIRTUAL TABLE vectors USING vec0(v float[{DIM}])")

    def put(self, n):
        with self.db:
            self.db.execute("INSERT INTO words VALUES(?)", (f"record {n}",))
            self.db.execute("INSERT INTO vectors(v) VALUES(?)", (str(vector(n)),))

    def count(self):
        return len(self.db.execute("SELECT * FROM words WHERE words MATCH 'record'").fetchall())


class Lancedb:
    def __init__(self, folder, role):
        import lancedb

        db = lancedb.connect(folder)
        first = [{"text": "record 0", "vector": vector(0)}]
        self.table = db.create_table("kb", first) if role == "first" else db.open_table("kb")

    def put(self, n):
        self.table.add([{"text": f"record {n}", "vector": vector(n)}])

    def count(self):
        return len(self.table.search(vector(1)).limit(10).to_list())


class Chroma:
    def __init__(self, folder, role):
        import chromadb

        settings = chromadb.Settings(anonymized_telemetry=False)
        client = chromadb.PersistentClient(folder, settings=settings)
        self.collection = client.get_or_create_collection("records", embedding_function=None)

    def put(self, n):
        self.collection.add(ids=[f"{n}"], documents=[f"record {n}"], embeddings=[vector(n)])

    def count(self):
        return len(self.collection.query(query_embeddings=[vector(1)], n_results=10)["ids"][0])


class Qdrant:
    def __init__(self, folder, role):
        import qdrant_edge as edge

        self.edge = edge
        if role == "first":
            vectors = {"": edge.EdgeVectorParams(size=DIM, distance=edge.Distance.Cosine)}
            self.shard = edge.EdgeShard.create(folder, edge.EdgeConfig(vectors=vectors))
        else:
            self.shard = edge.EdgeShard.load(folder)

    def put(self, n):
        point = self.edge.Point(n, vector(n), {"text": f"record {n}"})
        self.shard.update(self.edge.UpdateOperation.upsert_points([point]))
        self.shard.flush()

    def count(self):
        query = self.edge.Query.Nearest(vector(1))
        return len(self.shard.query(self.edge.QueryRequest(limit=10, query=query)))


class Zvec:
    def __init__(self, folder, role):
        import zvec

        self.zvec, path = zvec, str(Path(folder, "kb"))
        vectors = zvec.VectorSchema("v", zvec.DataType.VECTOR_FP32, DIM)
        schema = zvec.CollectionSchema(
            "kb", fields=[zvec.FieldSchema("text", zvec.DataType.STRING)], vectors=vectors
        )
        if role == "first":
            self.collection = zvec.create_and_open(path, schema)
        else:
            option = zvec.CollectionOption(read_only=role == "reader", enable_mmap=True)
            self.collection = zvec.open(path, option)

    def put(self, n):
        fields = {"text": f"record {n}"}
        self.collection.insert([self.zvec.Doc(id=f"{n}", vectors={"v": vector(n)}, fields=fields)])
        self.collection.flush()

    def count(self):
        return len(self.collection.query(self.zvec.VectorQuery("v", vector=vector(1)), topk=10))


class Duckdb:
    def __init__(self, folder, role):
        import duckdb

        self.db = duckdb.connect(str(Path(folder, "kb.duckdb")))
        if role == "first":
            self.db.execute(f"CREATE TABLE kb(text VARCHAR, v FLOAT[{DIM}])")

    def put(self, n):
        self.db.execute("INSERT INTO kb VALUES (?, ?)", [f"record {n}", vector(n)])

    def count(self):
        return len(self.db.execute("SELECT * FROM kb LIMIT 10").fetchall())


class Tantivy:
    def __init__(self, folder, role):
        import tantivy

        schema = tantivy.SchemaBuilder().add_text_field("text", stored=True).build()
        self.tantivy, self.index = tantivy, tantivy.Index(schema, path=folder)

    def put(self, n):
        self.writer = self.index.writer()
        self.writer.add_document(self.tantivy.Document(text=f"record {n}"))
        self.writer.commit()

    def count(self):
        self.index.reload()
        query = self.index.parse_query("record", ["text"])
        return len(self.index.searcher().search(query, 10).hits)


TOOLS = {
    "ragfile": (Ragfile, "ragfile"), "lancedb": (Lancedb, "lancedb"), "chroma": (Chroma, "chromadb"),
    "qdrant": (Qdrant, "qdrant_edge"), "zvec": (Zvec, "zvec"), "sqlite": (Sqlite, "sqlite_vec"),
    "duckdb": (Duckdb, "duckdb"), "tantivy": (Tantivy, "tantivy"),
}  # fmt: skip


def act(name, role, folder):
    """Be one of the three processes; the first one ends when its input does."""
    try:
        store = TOOLS[name][0](folder, role)
        if role == "reader":
            print(f"read {store.count()}", flush=True)
            return
        store.put(1 if role == "first" else 2)
    except Exception as error:  # noqa: BLE001 - any error of a tool is its answer
        words = " ".join(str(error).split())
        print(f"{type(error).__name__}: {words[:110]}", flush=True)
        return
    print("written", flush=True)
    if role == "first":
        sys.stdin.read()


def start(name, role, folder):
    command = [sys.executable, __file__, "--act", name, role, folder]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def answer(name, role, folder):
    process = start(name, role, folder)
    try:
        return process.communicate(timeout=SECONDS)[0].strip() or "ended without an answer"
    except subprocess.TimeoutExpired:
        process.kill()
        return f"no answer in {SECONDS} s"


def tried(name):
    """Return a row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        first = start(name, "first", folder)
        opened = first.stdout.readline().strip()
        if opened != "written":
            return [name, opened or "ended without an answer", "", ""]
        read, wrote = answer(name, "reader", folder), answer(name, "second", folder)
        first.communicate("")
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        rest = "one file" if len(files) == 1 else f"{len(files)} files"
        return [
            name,
            rest,
            "yes" if read.startswith("read ") else read,
            "yes" if wrote == "written" else wrote,
        ]


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--act", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.act:
        act(*args.act)
        return
    print(
        "| tool | at rest | reads beside an open writer | writes beside an open writer |\n|---|---|---|---|"
    )
    for name in args.only:
        if importlib.util.find_spec(TOOLS[name][1]):
            print(f"| {' | '.join(tried(name))} |", flush=True)
        else:
            print(f"| {name} | not installed | | |")


if __name__ == "__main__":
    main()
