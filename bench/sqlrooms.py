"""Time SQLRooms' questions at about 10,000 chunks, beside DuckDB with its tables and SQL.

    python bench/sqlrooms.py FOLDER_OF_MARKDOWN [--files 1090] [--questions 50] [--chunk-size 512]

Both have the same chunks, vectors (of the built-in model) and source documents. "anew" connects and
loads for every call, like SQLRooms; "open" keeps the connection or file. Both have one thread and
take turns. The table has CPU time, the median of each question's best of three rounds, and the
times in SQLRooms' own documentation.
"""

import argparse
import contextlib
import json
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from pipeline_sql import SQL_WORDS, arrow_vectors, load_fts, sql_near

import ragfile
from ragfile.adapters import sqlrooms
from ragfile.embedding.protocol import open_embedder
from ragfile.search import fusion

SUBJECTS = ("rotate the keys", "restart a pod", "network policy", "persistent volume claims", "role based access", "rolling update")  # fmt: skip
K, CANDIDATES, ROUNDS = 5, 10, 3
DOCUMENTED = {
    "vector": (50, 100),
    "full text": (10, 30),
    "hybrid": (60, 120),
    "fusing": (0, 1),
    "source document": (5, 10),
}


class DuckDB:
    """The tables `documents` and `source_documents`, the full-text index, and their queries."""

    def __init__(self, path, rf):
        import duckdb
        import pyarrow

        self.path, self.embedder, self.kept, self.connector = (
            path,
            open_embedder("default"),
            None,
            duckdb.connect,
        )
        hits = [rf.hit(row) for row in range(len(rf))]
        sources = {d.id: d for d in rf.sources([hit.id for hit in hits])}
        chunks = {
            "node_id": [h.id for h in hits], "text": [h.text for h in hits], "metadata_": [json.dumps(h.metadata) for h in hits],
            "embedding": arrow_vectors(rf.vectors().copy()), "doc_id": [h.doc_id for h in hits],
        }  # fmt: skip
        documents = {
            "doc_id": list(sources), "file_path": [d.metadata["path"] for d in sources.values()],
            "file_name": [d.metadata["name"] for d in sources.values()], "text": [d.text for d in sources.values()],
            "metadata_": [json.dumps(d.metadata) for d in sources.values()],
        }  # fmt: skip
        with self.connector(path) as base:
            base.register("chunks", pyarrow.table(chunks))
            base.register("sources", pyarrow.table(documents))
            base.execute("CREATE TABLE documents AS SELECT * FROM chunks")
            base.execute("CREATE TABLE source_documents AS SELECT * FROM sources")
            self.reason = load_fts(base)
            if not self.reason:
                base.execute(
                    "PRAGMA create_fts_index('documents', 'node_id', 'text', stemmer='porter', stopwords='english')"
                )

    @contextlib.contextmanager
    def base(self):
        """Return the open connection, or one for this call."""
        if self.kept is not None:
            yield self.kept
            return
        with self.connector(self.path, read_only=True, config={"threads": 1}) as base:
            load_fts(base)
            yield base

    def vector(self, text, count=K):
        asked = self.embedder.embed([text], role="query")[0].tolist()
        with self.base() as base:
            return base.execute(sql_near(len(asked)), [asked, count]).fetchall()

    def full_text(self, text, count=K):
        with self.base() as base:
            return base.execute(SQL_WORDS, [text, count]).fetchall()

    def hybrid(self, text):
        with self.base() as base:
            asked = self.embedder.embed([text], role="query")[0].tolist()
            near = base.execute(sql_near(len(asked)), [asked, CANDIDATES]).fetchall()
            found = base.execute(SQL_WORDS, [text, CANDIDATES]).fetchall()
        rows = {row[0]: row for row in near + found}
        best = fused_in_python([row[0] for row in near], [row[0] for row in found])[:K]
        return [(rows[name][1], json.loads(rows[name][2]), score) for name, score in best]

    def source(self, chunk):
        with self.base() as base:
            (document,) = base.execute(
                "SELECT DISTINCT doc_id FROM documents WHERE node_id IN (?)", [chunk]
            ).fetchone()
            return base.execute(
                "SELECT * FROM source_documents WHERE doc_id IN (?)", [document]
            ).fetchall()


def fused_in_python(*rankings, k=60):
    """Fuse reciprocal ranks in a dict, without arrays."""
    scores = {}
    for ranking in rankings:
        for rank, name in enumerate(ranking, 1):
            scores[name] = scores.get(name, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda item: item[1], reverse=True)


def contests(db, duck, rf):
    """Return {name: {contestant: call of a question}}."""
    chunk = sqlrooms.hybrid_query(SUBJECTS[0], db)[0]["node_id"]
    anew, kept = duck, DuckDB.__new__(DuckDB)
    kept.__dict__ = {
        **duck.__dict__,
        "kept": duck.connector(duck.path, read_only=True, config={"threads": 1}),
    }
    load_fts(kept.kept)
    ranks = [(list(range(at, at + CANDIDATES)), [1.0] * CANDIDATES) for at in (0, 5)]
    names = [[f"docs/page-{row}.md#0" for row in rows] for rows, _ in ranks]
    both = {"pool": CANDIDATES, "fusion": "rrf", "cache": False}
    return {
        "vector": {
            "anew": lambda q: sqlrooms.vector_query(q, db), "open": lambda q: rf.search(q, K, mode="vector", cache=False),
            "DuckDB anew": anew.vector, "DuckDB open": kept.vector,
        },
        "full text": {
            "anew": lambda q: search_anew(db, q), "open": lambda q: rf.search(q, K, mode="bm25", cache=False),
            "DuckDB anew": anew.full_text, "DuckDB open": kept.full_text,
        },
        "hybrid": {
            "anew": lambda q: sqlrooms.hybrid_query(q, db), "open": lambda q: rf.search(q, K, **both),
            "DuckDB anew": anew.hybrid, "DuckDB open": kept.hybrid,
        },
        "fusing": {"anew": lambda q: fusion.rrf(ranks), "DuckDB anew": lambda q: fused_in_python(*names)},
        "source document": {
            "anew": lambda q: sqlrooms.get_source_documents([chunk], db), "open": lambda q: rf.sources([chunk]),
            "DuckDB anew": lambda q: anew.source(chunk), "DuckDB open": lambda q: kept.source(chunk),
        },
    }  # fmt: skip


def search_anew(db, question):
    with ragfile.open(db) as rf:
        return rf.search(question, K, mode="bm25")


def measure(calls, questions):
    """Return {contestant: median of the questions' best CPU times in ms}."""
    best = {name: [float("inf")] * len(questions) for name in calls}
    for round_ in range(ROUNDS):
        for name, call in calls.items():
            for i, question in enumerate(questions):
                began = time.process_time()
                call(question + " " * round_)
                best[name][i] = min(best[name][i], time.process_time() - began)
    return {name: statistics.median(times) * 1e3 for name, times in best.items()}


def copy_some(folder, into, count):
    """Copy the first Markdown files of a folder, with their subfolders."""
    for path in sorted(Path(folder).rglob("*.md"))[:count]:
        target = Path(into) / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument(
        "--files",
        type=int,
        default=1090,
        help="Number of files, in order of their paths.",
    )
    parser.add_argument("--chunk-size", type=int, default=512, help="As in prepare_embeddings.")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    questions = [f"{SUBJECTS[i % len(SUBJECTS)]} {i}" for i in range(arguments.questions)]
    with tempfile.TemporaryDirectory() as folder:
        db = os.path.join(folder, "kb.ragfile")
        some = os.path.join(folder, "some")
        copy_some(arguments.folder, some, arguments.files)
        rf = sqlrooms.prepare_embeddings(some, db, arguments.chunk_size, "default")
        duck = DuckDB(os.path.join(folder, "kb.duckdb"), rf)
        if duck.reason:
            raise SystemExit(
                f"DuckDB's full-text extension: {duck.reason} (pip install duckdb-extension-fts, of DuckDB's version)"
            )
        sizes = f"{len(rf)} chunks, {os.path.getsize(db) / 1e6:.1f} MB; DuckDB {os.path.getsize(duck.path) / 1e6:.1f} MB"
        found = {name: measure(calls, questions) for name, calls in contests(db, duck, rf).items()}
    if arguments.json:
        print(json.dumps({"sizes": sizes, "ms": found, "documented_ms": DOCUMENTED}, indent=2))
        return
    print(sizes)
    print(f"{'CPU ms':<18}{'documented':>12}{'DuckDB anew':>13}{'open':>9}{'ragfile anew':>14}{'open':>9}{'documented/anew':>17}{'DuckDB/ragfile anew':>21}{'open':>8}")  # fmt: skip
    for name, ms in found.items():
        low, high = DOCUMENTED[name]
        duck_open, open_ = ms.get("DuckDB open", ms["DuckDB anew"]), ms.get("open", ms["anew"])
        print(
            f"{name:<18}{f'{low}-{high}' if low else f'< {high}':>12}{ms['DuckDB anew']:>13.3f}{duck_open:>9.3f}{ms['anew']:>14.3f}"
            f"{open_:>9.3f}{(low or high) / ms['anew']:>16.0f}x{ms['DuckDB anew'] / ms['anew']:>20.1f}x{duck_open / open_:>7.1f}x"
        )


if __name__ == "__main__":
    main()
