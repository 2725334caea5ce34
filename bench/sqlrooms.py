"""How long do the questions of SQLRooms' surface take at 10,000 chunks, beside the times that its own documentation gives?

    python bench/sqlrooms.py FOLDER_OF_MARKDOWN [--questions 50]

Every call opens the file anew, as that interface does, and embeds its question. Documented for DuckDB: vector search 50–100 ms,
full-text search 10–30, hybrid 60–120, fusing under 1, a source document 5–10.
"""

import argparse
import os
import statistics
import tempfile
import time

import ragfile
from ragfile import fusion
from ragfile.adapters import sqlrooms

QUESTIONS = (
    "rotate the keys",
    "restart a pod",
    "network policy",
    "persistent volume claims",
    "role based access",
    "rolling update",
)


def median_ms(call, times):
    taken = []
    for i in range(times):
        began = time.perf_counter()
        call(i)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--questions", type=int, default=50)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db = os.path.join(folder, "kb.ragfile")
        began = time.perf_counter()
        sqlrooms.prepare_embeddings(arguments.folder, db, embed_model_name="default").close()
        found = sqlrooms.get_embedding_metadata(db)
        print(f"prepared {found['counts']} in {time.perf_counter() - began:.2f} s, {os.path.getsize(db) / 1e6:.1f} MB")
        rf = ragfile.open(db)

        def question(i):
            return f"{QUESTIONS[i % len(QUESTIONS)]} {i}"

        hits = sqlrooms.hybrid_query(QUESTIONS[0], db)
        legs = [[(i, 1.0) for i in range(20)], [(i, 1.0) for i in range(10, 30)]]
        ranks = [([row for row, _ in leg], [score for _, score in leg]) for leg in legs]
        rows = (
            ("vector, documented 50-100", lambda i: sqlrooms.vector_query(question(i), db)),
            ("full text, documented 10-30", lambda i: rf.search(question(i), 5, mode="bm25", cache=False)),
            ("hybrid, documented 60-120", lambda i: sqlrooms.hybrid_query(question(i), db)),
            ("fusing, documented < 1", lambda i: fusion.rrf(ranks)),
            ("source document, documented 5-10", lambda i: sqlrooms.get_source_documents([hits[0]["node_id"]], db)),
        )
        for name, call in rows:
            call(0)
            print(f"{name:<36}{median_ms(call, arguments.questions):>9.3f} ms")


if __name__ == "__main__":
    main()
