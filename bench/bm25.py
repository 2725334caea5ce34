"""Compare the speed and size of BM25 with other engines on the same passages and questions.

    python bench/bm25.py build   --passages passages.jsonl.xz --work DIR [--only ragfile,tantivy]
    python bench/bm25.py query   --work DIR --short short.txt --long long.txt
    python bench/bm25.py first   --work DIR --short short.txt
    python bench/bm25.py quality --judged beir/cranfield
    python bench/bm25.py synthesize --rows 1000000 > passages.jsonl
    python bench/bm25.py synthesize --rows 512 --words 3 > short.txt

`build` indexes raw text, each engine in its own process on one core, and reports seconds and bytes.
`query` opens all engines in one process and takes turns, so that noise affects all alike: CPU
microseconds per query, the best of several rounds, and wall time on two threads. `first` starts a
process per engine: opening and first answer beyond its imports, and anonymous memory afterwards.
The output is JSON. Engines that are not installed are listed and left out.
"""

import argparse
import json
import lzma
import math
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np


def words(text):
    return re.findall(r"\w+", text.lower())


class Ragfile:
    """The sections as mapped files."""

    def build(self, texts, folder):
        from ragfile import _core
        from ragfile.ingest.analysis import Analysis

        builder = _core.LexicalBuilder(Analysis())
        builder.add(texts)
        with open(folder / "postings", "wb") as postings, open(folder / "terms", "wb") as terms:
            builder.finish(postings.write, terms.write)

    def open(self, folder):
        import mmap

        from ragfile import _core

        def section(name):
            with open(folder / name, "rb") as file:
                return _core.Section.over(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))

        self.lexicon = _core.Lexicon(section("terms"), section("postings"))

    def batch(self, queries, k, threads=1):
        return self.lexicon.match(queries, k, threads=threads)

    def one(self, query, k):
        return self.lexicon.match([query], k, threads=1)


class Tantivy:
    """Without positions and stop words, like the others."""

    def register(self, index):
        from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

        steps = (
            TextAnalyzerBuilder(Tokenizer.simple())
            .filter(Filter.lowercase())
            .filter(Filter.stopword("english"))
        )
        index.register_tokenizer("english", steps.filter(Filter.stemmer("english")).build())
        return index

    def build(self, texts, folder):
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_text_field("text", stored=False, tokenizer_name="english", index_option="freq")
        index = self.register(tantivy.Index(schema.build(), path=str(folder)))
        writer = index.writer(heap_size=512 << 20, num_threads=1)
        for text in texts:
            writer.add_document(tantivy.Document(text=text))
        writer.commit()
        writer.wait_merging_threads()

    def open(self, folder):
        import tantivy

        self.index = self.register(tantivy.Index.open(str(folder)))
        self.searcher = self.index.searcher()

    def one(self, query, k):
        spaced = "".join(
            c if c.isalnum() else " " for c in query.lower()
        )  # one token a word, or it asks for phrases
        parsed = self.index.parse_query(spaced if spaced.strip() else "zzzz", ["text"])
        return self.searcher.search(parsed, k)

    def batch(self, queries, k, threads=1):
        return [self.one(query, k) for query in queries]


class Bm25s:
    backend = "numpy"

    def build(self, texts, folder):
        import bm25s
        import Stemmer

        tokens = bm25s.tokenize(
            texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False
        )
        index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        index.index(tokens, show_progress=False)
        index.save(folder)

    def open(self, folder):
        import bm25s
        import Stemmer

        self.module, self.stemmer = bm25s, Stemmer.Stemmer("english")
        self.index = bm25s.BM25.load(folder, mmap=True)
        self.index.backend = self.backend
        if self.backend == "numba":
            self.index.activate_numba_scorer()

    def tokens(self, queries):
        return self.module.tokenize(
            queries, stopwords="en", stemmer=self.stemmer, show_progress=False
        )

    def batch(self, queries, k, threads=1):
        tokens = self.tokens(queries)
        return self.index.retrieve(
            tokens, k=k, show_progress=False, n_threads=threads if self.backend == "numba" else 0
        )

    def one(self, query, k):
        return self.batch([query], k)


class Bm25sNumba(Bm25s):
    backend = "numba"


class SqliteFts5:
    def build(self, texts, folder):
        import sqlite3

        base = sqlite3.connect(folder / "fts.db")
        base.execute(
            "create virtual table passages using fts5(text, content='', tokenize='porter unicode61')"
        )
        base.executemany("insert into passages(rowid, text) values (?, ?)", enumerate(texts))
        base.execute("insert into passages(passages) values ('optimize')")
        base.commit()

    def open(self, folder):
        import sqlite3

        self.base = sqlite3.connect(folder / "fts.db")

    def one(self, query, k):
        from ragfile.ingest.analysis import Analysis

        stopped = Analysis().stopped  # FTS5 has no list of its own
        asked = " OR ".join(f'"{word}"' for word in words(query) if word not in stopped)
        return self.base.execute(
            "select rowid from passages where passages match ? order by rank limit ?", (asked, k)
        ).fetchall()

    def batch(self, queries, k, threads=1):
        return [self.one(query, k) for query in queries]


class DuckDb:
    def build(self, texts, folder):
        import duckdb
        import pandas

        base = duckdb.connect(str(folder / "fts.duckdb"), config={"threads": 1})
        base.execute("install fts; load fts")
        frame = pandas.DataFrame({"id": range(len(texts)), "text": texts})  # noqa: F841, read by name
        base.execute("create table passages as select * from frame")
        base.execute("pragma create_fts_index('passages', 'id', 'text', stemmer='english')")

    def open(self, folder):
        import duckdb

        self.base = duckdb.connect(str(folder / "fts.duckdb"), config={"threads": 1})
        self.base.execute("load fts")

    def one(self, query, k):
        sql = "select id, fts_main_passages.match_bm25(id, ?) as s from passages where s is not null order by s desc limit ?"
        return self.base.execute(sql, (query, k)).fetchall()

    def batch(self, queries, k, threads=1):
        return [self.one(query, k) for query in queries]


class RankBm25:
    def build(self, texts, folder):
        import pickle

        from rank_bm25 import BM25Okapi

        (folder / "index").write_bytes(
            pickle.dumps(BM25Okapi([words(text) for text in texts], k1=1.2, b=0.75))
        )

    def open(self, folder):
        import pickle

        self.index = pickle.loads((folder / "index").read_bytes())

    def one(self, query, k):
        scores = self.index.get_scores(words(query))
        return np.argpartition(-scores, k)[:k]

    def batch(self, queries, k, threads=1):
        return [self.one(query, k) for query in queries]


class Pisa:
    def build(self, texts, folder):
        from pyterrier_pisa import PisaIndex

        PisaIndex(str(folder / "pisa"), stemmer="porter2", threads=1).index(
            {"docno": str(row), "text": text} for row, text in enumerate(texts)
        )

    def open(self, folder):
        from pyterrier_pisa import PisaIndex

        self.index, self.models = PisaIndex(str(folder / "pisa"), stemmer="porter2", threads=1), {}

    def batch(self, queries, k, threads=1):
        import pandas

        model = self.models.setdefault(
            (k, threads),
            self.index.bm25(
                k1=1.2, b=0.75, num_results=k, threads=threads, query_algorithm="maxscore"
            ),
        )
        frame = pandas.DataFrame(
            {
                "qid": [str(i) for i in range(len(queries))],
                "query": [" ".join(words(query)) for query in queries],
            }
        )
        return model(frame)

    def one(self, query, k):
        return self.batch([query], k)


class Lucene:
    """A process started with the jar in LUCENE_JAR; it reports its own CPU time."""

    def start(self, task, folder):
        jar = os.environ.get("LUCENE_JAR")
        if not jar:
            raise ImportError("LUCENE_JAR names no jar of Lucene")
        command = [
            "java",
            "-Xmx4g",
            "-cp",
            jar,
            str(Path(__file__).with_name("Lucene.java")),
            task,
            str(folder),
        ]
        pipe = subprocess.PIPE
        self.java = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )

    def build(self, texts, folder):
        self.start("build", folder)
        for text in texts:
            self.java.stdin.write(" ".join(text.split("\n")) + "\n")
        self.java.stdin.close()
        if self.java.wait():
            raise RuntimeError(f"java ended with {self.java.returncode}")

    def ask(self, line):
        self.java.stdin.write(line + "\n")
        self.java.stdin.flush()
        return self.java.stdout.readline().split()

    def prepare(self, folder):
        """Do the work that other engines' imports do."""
        self.start("ask", folder)
        self.version = self.java.stdout.readline().strip()
        if not self.version:
            raise RuntimeError("java did not start")

    def open(self, folder):
        if not hasattr(self, "java"):
            self.prepare(folder)
        self.ask("open")

    def seconds(self, queries, k):
        cpu, wall, _ = map(int, self.ask("\n".join([f"{k} {len(queries)}", *queries])))
        return cpu / 1e9, wall / 1e9

    def batch(self, queries, k, threads=1):
        self.seconds(queries, k)

    def one(self, query, k):
        self.seconds([query], k)


ENGINES = {
    "ragfile": Ragfile,
    "tantivy": Tantivy,
    "bm25s": Bm25s,
    "bm25s-numba": Bm25sNumba,
    "pisa": Pisa,
    "lucene": Lucene,
    "sqlite-fts5": SqliteFts5,
    "duckdb": DuckDb,
    "rank-bm25": RankBm25,
}
OWN_THREADS = {
    "pisa",
    "duckdb",
}  # these use another thread even when limited to one
THREADED = ("ragfile", "bm25s-numba", "pisa")  # these take a number of threads
SLOW = {"sqlite-fts5": 16, "duckdb": 8, "rank-bm25": 4, "bm25s": 64}  # queries a round


def folder_of(work, name):
    return Path(work) / name.replace("-numba", "")


def read_lines(path):
    return Path(path).read_text(encoding="utf-8").strip("\n").split("\n")


def read_texts(path):
    opener = lzma.open if str(path).endswith(".xz") else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def build_one(name, passages, work):
    texts = read_texts(passages)
    folder = folder_of(work, name)
    folder.mkdir(parents=True)
    engine = ENGINES[name]()
    before, wall = os.times(), time.perf_counter()
    engine.build(texts, folder)
    seconds = sum(os.times()[:4]) - sum(before[:4])  # with child processes
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    text = sum(len(text.encode()) for text in texts)
    return {
        "cpu_s": round(seconds, 2),
        "wall_s": round(time.perf_counter() - wall, 2),
        "rows_per_s": round(len(texts) / seconds),
        "bytes": size,
        "bytes_per_text_byte": round(size / text, 3),
    }


def anonymous_mb():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) / 1024


def first_one(name, work, short):
    query = read_lines(short)[3]
    engine = ENGINES[name]()
    if name == "lucene":
        engine.prepare(folder_of(work, name))
    for module in {
        "ragfile": ["ragfile._core", "ragfile.ingest.analysis", "numpy", "mmap"],
        "tantivy": ["tantivy"],
        "pisa": ["pyterrier_pisa", "pandas"],
        "duckdb": ["duckdb"],
        "sqlite-fts5": ["sqlite3"],
        "rank-bm25": ["rank_bm25"],
    }.get(name, ["bm25s", "Stemmer"] if "bm25s" in name else []):
        __import__(module)
    anonymous, start = anonymous_mb(), time.perf_counter()
    engine.open(folder_of(work, name))
    opened = time.perf_counter()
    engine.one(query, 10)
    done = time.perf_counter()
    queries = read_lines(short)
    engine.batch(queries[: SLOW.get(name, 512)], 10)
    return {
        "open_ms": round((opened - start) * 1e3, 3),
        "first_ms": round((done - opened) * 1e3, 3),
        "anonymous_mb_more": round(anonymous_mb() - anonymous, 1),
    }


def in_process(arguments):
    """Run one engine's part in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, *arguments], capture_output=True, text=True, check=False
    )
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"failed": (done.stderr.strip().splitlines() or ["no output"])[-1][:200]}


def cpu_seconds(name, engine, asked, k):
    """Return the better of two passes; the second has warm caches."""
    if name == "lucene":
        return min(engine.seconds(asked, k)[0] for _ in range(2))
    clock, took = time.process_time if name in OWN_THREADS else time.thread_time, []
    for _ in range(1 if name in SLOW else 2):
        start = clock()
        engine.batch(asked, k)
        took.append(clock() - start)
    return min(took)


def best_first(arguments):
    """Return the best of seven processes, or a single run for engines that compile first."""
    best = in_process(arguments)
    for _ in range(6 if best.get("first_ms", math.inf) < 1000 else 0):
        best = min(
            best,
            in_process(arguments),
            key=lambda r: r.get("open_ms", math.inf) + r.get("first_ms", 0),
        )
    return best


def query_all(names, work, question_files, rounds, ks=(10, 100)):
    engines, failed, table = {}, {}, {}
    for name in names:
        try:
            engines[name] = ENGINES[name]()
            engines[name].open(folder_of(work, name))
            engines[name].one("warm up the engine", 10)
        except Exception as reason:  # noqa: BLE001, a contestant that does not start is reported
            failed[name] = f"{type(reason).__name__}: {reason}"[:200]
            engines.pop(name)
    for label, path in question_files.items():
        questions = read_lines(path)
        for k in ks:
            best = dict.fromkeys(engines, math.inf)
            for _ in range(rounds):
                for name, engine in engines.items():
                    asked = questions[: SLOW.get(name, len(questions))]
                    best[name] = min(best[name], cpu_seconds(name, engine, asked, k) / len(asked))
            table[f"{label} k={k}"] = {
                name: {"cpu_us": round(one * 1e6, 1)} for name, one in best.items()
            }
            for name in [name for name in THREADED if name in engines]:
                walls = [math.inf, math.inf]
                for threads in (1, 2) * rounds:
                    start = time.perf_counter()
                    engines[name].batch(questions * 2, k, threads=threads)
                    walls[threads - 1] = min(walls[threads - 1], time.perf_counter() - start)
                table[f"{label} k={k}"][name] |= {
                    "one_thread_qps": round(2 * len(questions) / walls[0]),
                    "two_threads_qps": round(2 * len(questions) / walls[1]),
                }
        single = table[f"{label} single k=10"] = {}
        for name, engine in engines.items():
            if name in ("ragfile", "tantivy", "bm25s-numba", "lucene"):
                times = []
                for question in questions[: 512 if name != "bm25s-numba" else 128]:
                    repeated = []
                    for _ in range(3):
                        start = time.perf_counter()
                        wall = (
                            engine.seconds([question], 10)[1]
                            if name == "lucene"
                            else engine.one(question, 10)
                        )
                        repeated.append(wall if name == "lucene" else time.perf_counter() - start)
                    times.append(min(repeated) * 1e6)
                single[name] = {
                    "p50_us": round(statistics.median(times), 1),
                    "p99_us": round(np.percentile(times, 99), 1),
                }
    return table | {"failed": failed}


def ndcg(ranked, judged, k=10):
    gain = sum(
        judged.get(document, 0) / math.log2(place + 2) for place, document in enumerate(ranked[:k])
    )
    ideal = sum(
        value / math.log2(place + 2)
        for place, value in enumerate(sorted(judged.values(), reverse=True)[:k])
    )
    return gain / ideal if ideal else 0.0


def quality(folder):
    """Return the nDCG@10 of ragfile's BM25 on a BEIR collection, title and text joined."""
    from ragfile import _core
    from ragfile.ingest.analysis import Analysis

    corpus = [json.loads(line) for line in read_lines(folder / "corpus.jsonl")]
    judged = {}
    for line in read_lines(folder / "qrels/test.tsv")[1:]:
        query, document, value = line.split("\t")
        judged.setdefault(query, {})[document] = int(value)
    questions = {q["_id"]: q["text"] for q in map(json.loads, read_lines(folder / "queries.jsonl"))}
    asked = [query for query in judged if query in questions]
    builder = _core.LexicalBuilder(Analysis())
    builder.add([f"{document['title']} {document['text']}" for document in corpus])
    postings, terms = bytearray(), bytearray()
    builder.finish(postings.extend, terms.extend)
    lexicon = _core.Lexicon(_core.Section.over(terms), _core.Section.over(postings))
    rows, _ = lexicon.match([questions[query] for query in asked], 10)
    ranked = [[corpus[row]["_id"] for row in found if row >= 0] for found in rows]
    return round(
        statistics.mean(
            ndcg(found, judged[query]) for query, found in zip(asked, ranked, strict=True)
        ),
        4,
    )


def zipf(vocabulary=300_000, exponent=1.07):
    """Return the cumulative distribution of words in passages and questions."""
    weights = 1 / np.arange(2, vocabulary + 2) ** exponent
    return np.cumsum(weights / weights.sum())


def synthesize_questions(count, words_each, skip=50, seed=2):
    """Generate questions without the most common words, which would be stop words."""
    random, cumulative = np.random.default_rng(seed), zipf()
    low = cumulative[skip - 1]
    for row in np.searchsorted(cumulative, low + (1 - low) * random.random((count, words_each))):
        print(" ".join(f"w{word}" for word in row))


def synthesize(rows, words_a_row=100, seed=1):
    """Generate passages of Zipf-distributed words, one JSON line each."""
    random, cumulative = np.random.default_rng(seed), zipf()
    for _ in range(0, rows, 1000):
        drawn = np.searchsorted(cumulative, random.random((1000, words_a_row)))
        for row in drawn:
            print(json.dumps({"text": " ".join(f"w{word}" for word in row)}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "task",
        choices=["build", "query", "first", "quality", "synthesize", "build-one", "first-one"],
    )
    parser.add_argument("--passages")
    parser.add_argument("--work", default="bench-bm25")
    parser.add_argument("--short")
    parser.add_argument("--long")
    parser.add_argument("--judged", nargs="*", default=[])
    parser.add_argument("--only", default=",".join(ENGINES))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--json", help="also write the numbers here: some engines print to stdout")
    parser.add_argument(
        "--words", type=int, help="synthesize questions of this many words instead of passages"
    )
    given = parser.parse_args()
    names = given.only.split(",")
    if given.task == "build-one":
        result = build_one(names[0], given.passages, given.work)
    elif given.task == "first-one":
        result = first_one(names[0], given.work, given.short)
    elif given.task == "build":
        built = [name for name in names if name != "bm25s-numba"]
        result = {
            name: in_process(
                ["build-one", "--only", name, "--passages", given.passages, "--work", given.work]
            )
            for name in built
        }
    elif given.task == "first":
        result = {
            name: best_first(
                ["first-one", "--only", name, "--work", given.work, "--short", given.short]
            )
            for name in names
        }
    elif given.task == "query":
        files = {
            label: path for label, path in (("short", given.short), ("long", given.long)) if path
        }
        result = query_all(names, given.work, files, given.rounds)
    elif given.task == "quality":
        result = {Path(folder).name: quality(Path(folder)) for folder in given.judged}
    elif given.words:
        return synthesize_questions(given.rows, given.words)
    else:
        return synthesize(given.rows)
    text = json.dumps(result, indent=None if given.task.endswith("-one") else 1)
    if given.json:
        Path(given.json).write_text(text)
    print(text)


os.environ.setdefault("NUMBA_NUM_THREADS", "2")
if __name__ == "__main__":
    main()
