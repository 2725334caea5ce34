"""The SQL databases of pipeline.py, and the fusion for stores that have none.

SQLRooms' queries over its tables are defined here once, for pipeline.py and sqlrooms.py. The fusion
takes CANDIDATES rows of each retriever: 2 K, like SQLRooms.
"""

import glob
import importlib
import importlib.util
import json
import os
import sys

K, CANDIDATES = 12, 24


def reciprocal_ranks(*legs, k=60):
    """Return the K rows with the largest sums of 1 / (k + rank)."""
    scores = {}
    for leg in legs:
        for rank, row in enumerate(leg, 1):
            scores[row] = scores.get(row, 0.0) + 1 / (k + rank)
    return sorted(scores, key=lambda row: (-scores[row], row))[:K]


def words_of(text):
    """Return the words of a question without the syntax of query languages."""
    return " ".join("".join(c if c.isalnum() else " " for c in text).split())


def arrow_vectors(vectors):
    import pyarrow

    return pyarrow.FixedSizeListArray.from_arrays(
        pyarrow.array(vectors.reshape(-1)), vectors.shape[1]
    )


def load_fts(base):
    """Load DuckDB's full-text extension from a folder or package; return why not."""
    import duckdb

    carried = importlib.util.find_spec("duckdb_extension_fts")
    places = ["fts"]
    if carried is not None:
        files = glob.glob(
            os.path.join(os.path.dirname(carried.origin), "extensions", "*", "fts.duckdb_extension")
        )
        places += [f"'{path}'" for path in files]
    for place in places:
        try:
            base.execute(f"LOAD {place}")
            return ""
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
    return f"vectors only: {reason}"


def sql_near(dims):
    return f"SELECT node_id, text, metadata_, array_cosine_similarity(embedding, ?::FLOAT[{dims}]) AS score FROM documents ORDER BY score DESC LIMIT ?"


SQL_WORDS = (
    "SELECT node_id, text, metadata_, fts_main_documents.match_bm25(node_id, ?) AS score FROM documents "
    "WHERE score IS NOT NULL ORDER BY score DESC LIMIT ?"
)


class DuckDB:
    """array_cosine_similarity and full-text search, with SQLRooms' tables, queries and fusion."""

    package = "duckdb"

    def build(self, passages, vectors, folder):
        import pyarrow

        base = self.connect(folder)
        documents = {
            "node_id": [str(row) for row in range(len(passages))], "text": [p["text"] for p in passages],
            "metadata_": [json.dumps({"title": p["title"]}) for p in passages], "embedding": arrow_vectors(vectors),
        }  # fmt: skip
        base.register("arriving", pyarrow.table(documents))
        base.execute("CREATE TABLE documents AS SELECT * FROM arriving")
        if reason := load_fts(base):
            print(f"duckdb: {reason}", file=sys.stderr)
        else:
            base.execute(
                "PRAGMA create_fts_index('documents', 'node_id', 'text', stemmer='porter', stopwords='english')"
            )
        base.close()

    def connect(self, folder):
        import duckdb

        config = {"threads": 1, "autoinstall_known_extensions": "false"}
        return duckdb.connect(os.path.join(folder, "kb.duckdb"), config=config)

    def open(self, folder):
        self.base = self.connect(folder)
        self.words = not load_fts(self.base)

    def ask(self, text, vector):
        found = self.base.execute(sql_near(len(vector)), [vector.tolist(), CANDIDATES]).fetchall()
        legs, texts = [[row[0] for row in found]], {row[0]: row[1] for row in found}
        if self.words:
            found = self.base.execute(SQL_WORDS, [text, CANDIDATES]).fetchall()
            legs.append([row[0] for row in found])
            texts.update((row[0], row[1]) for row in found)
        return [texts[row] for row in reciprocal_ranks(*legs)]

    def near(self, vector):
        return [
            int(row[0])
            for row in self.base.execute(sql_near(len(vector)), [vector.tolist(), K]).fetchall()
        ]


class SqliteVec:
    """sqlite-vec and FTS5. pysqlite3 replaces a sqlite3 module that loads no extensions."""

    package = "sqlite-vec"

    def connect(self, folder):
        import sqlite_vec

        sqlite3 = importlib.import_module(
            next(n for n in ("pysqlite3", "sqlite3") if importlib.util.find_spec(n))
        )
        base = sqlite3.connect(os.path.join(folder, "kb.sqlite"))
        base.enable_load_extension(True)
        sqlite_vec.load(base)
        return base

    def build(self, passages, vectors, folder):
        base = self.connect(folder)
        base.execute(
            f"CREATE VIRTUAL TABLE near USING vec0(embedding float[{vectors.shape[1]}] distance_metric=cosine)"
        )
        base.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61')")
        with base:
            rows = ((i, v.tobytes()) for i, v in enumerate(vectors))
            base.executemany("INSERT INTO near(rowid, embedding) VALUES (?, ?)", rows)
            rows = ((i, p["text"]) for i, p in enumerate(passages))
            base.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", rows)
        base.close()

    def open(self, folder):
        self.base = self.connect(folder)

    def nearest(self, vector, count):
        asked = "SELECT rowid FROM near WHERE embedding MATCH ? AND k = ?"
        return [row for (row,) in self.base.execute(asked, [vector.tobytes(), count])]

    def ask(self, text, vector):
        asked = " OR ".join(f'"{word}"' for word in words_of(text).split()) or '""'
        order = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
        found = [row for (row,) in self.base.execute(order, [asked, CANDIDATES])]
        rows = reciprocal_ranks(self.nearest(vector, CANDIDATES), found)
        return [
            self.base.execute("SELECT text FROM words WHERE rowid = ?", [row]).fetchone()[0]
            for row in rows
        ]

    def near(self, vector):
        return self.nearest(vector, K)
