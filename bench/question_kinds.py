"""Measure each kind of question beside a plain search.

    python bench/question_kinds.py kb.ragfile questions.txt [more.txt …] [--questions 200] [--json OUT]

Each row has the CPU time on one thread, the median over the questions, and its ratio to a plain
hybrid search. A question counts with its best of several rounds in which all kinds take turns.
Vectors are embedded beforehand, answers are not cached, and texts are read only where the row's
name includes it. Fields and phrases use words of the questions themselves.
"""

import argparse
import asyncio
import json
import platform
import time
import warnings

import numpy as np

import ragfile

ROUNDS, K = 5, 12


def read(paths, count):
    """Return the same number of questions from each file, alternating."""
    found = []
    for path in paths:
        with open(path) as file:
            found.append([line.strip() for line in file if line.strip()][:count])
    return [text for texts in zip(*found, strict=False) for text in texts][:count]


def asked(rf, date):
    """Return {name: function of (text, vector, number)}."""

    def search(**options):
        return lambda text, vector, i: rf.search(text, K, vector=vector, cache=False, **options)

    def words(sign):
        """Ask with operators at the first words of a question."""
        return lambda text, vector, i: rf.search(
            sign(text.split()), K, vector=vector, cache=False, query_syntax=True
        )

    hits = {}

    def shown(show):
        """Apply `show` to the best hit, which is found beforehand."""

        def one(text, vector, i):
            if i not in hits:
                hits[i] = rf.search(text, 1, vector=vector)[0]
                _ = hits[i].text
            return show(text, hits[i])

        return one

    first = {"field": date, "weight": 0.3, "reference": 10, "half_life": 100}
    loop = asyncio.new_event_loop()
    fields = rf.rows.analysis.fields
    kinds = {
        "search, hybrid": search(), "search, bm25": search(mode="bm25"),
        "search, vector": search(mode="vector"),
        "range: nearest(k=None, min_score=0.5)": lambda t, v, i: rf.nearest(v, None, min_score=0.5, threads=1),
        "range: match(k=None, min_score=8)": lambda t, v, i: rf.match(t, None, min_score=8.0, threads=1),
        "similar_to=": lambda t, v, i: rf.search("", K, similar_to=i, cache=False),
        "offset=100": search(offset=100, pool=200), "pool=200, for the row above": search(pool=200),
        "min_score=": search(min_score=0.3), "diversity=0.3": search(diversity=0.3),
        "boost=": search(boost=first), "group=2": search(group=2), "drop_repeats=True": search(drop_repeats=True),
        "variants, two": lambda t, v, i: rf.search(
            t, K, rewrites=[t.upper(), t[::2]], vector=[v, v, v], cache=False
        ),
        'operators: "two words" …': words(lambda w: f'"{" ".join(w[:2])}" {" ".join(w[2:])}'),
        "operators: +word …": words(lambda w: " ".join(["+" + w[0], *w[1:]])),
        "operators: -word …": words(lambda w: " ".join([*w[:-1], "-" + w[-1]])),
        "operators: begin* …": words(lambda w: " ".join([w[0][:4] + "*", *w[1:]])),
        "operators: word~ …": words(lambda w: " ".join([w[0] + "~", *w[1:]])),
        "explain": shown(lambda t, hit: rf.explain(t, hit.id)),
        "highlights of a hit": shown(lambda t, hit: rf.highlights(t, hit)),
        "excerpt of a hit": shown(lambda t, hit: rf.excerpt(t, hit)),
        "asearch, texts read": lambda t, v, i: loop.run_until_complete(
            rf.asearch(t, K, vector=v, cache=False)
        ),
    }  # fmt: skip
    if len(fields) > 1:
        name = fields[1][0]
        kinds |= {
            "bm25, fields= another weight": search(mode="bm25", fields={name: 3}),
            "bm25, fields= weight 0": search(mode="bm25", fields={name: 0}),
            "hybrid, fields= another weight": search(fields={name: 3}),
        }
    return kinds


def timed(kinds, texts, vectors):
    """Return {name: best CPU µs of each question}; the kinds take turns."""
    best = {name: np.full(len(texts), np.inf) for name in kinds}
    for _ in range(ROUNDS):
        for i, (text, vector) in enumerate(zip(texts, vectors, strict=True)):
            for name, ask in kinds.items():
                began = time.process_time_ns()
                ask(text, vector, i)
                best[name][i] = min(best[name][i], (time.process_time_ns() - began) / 1e3)
    return best


def batches(rf, texts, vectors):
    """Return {name: CPU µs per question} of batches on one thread."""
    asked = {"vectors": vectors, "threads": 1}
    kinds = {
        "search_batch, hits": lambda: rf.search_batch(texts, K, **asked),
        "search_batch, columns=True": lambda: rf.search_batch(texts, K, columns=True, **asked),
    }
    best = dict.fromkeys(kinds, np.inf)
    for _ in range(ROUNDS):
        for name, ask in kinds.items():
            began = time.process_time_ns()
            ask()
            best[name] = min(best[name], (time.process_time_ns() - began) / 1e3 / len(texts))
    return best


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file")
    parser.add_argument("questions", nargs="+")
    parser.add_argument("--questions", dest="count", type=int, default=200)
    parser.add_argument("--date", default="n", help="a numeric metadata field, for boost=")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    texts = read(arguments.questions, arguments.count)
    with ragfile.open(arguments.file) as rf:
        vectors = rf.embedder.embed(texts, role="query")
        best = timed(asked(rf, arguments.date), texts, vectors)
        found = {name: float(np.median(each)) for name, each in best.items()}
        found |= batches(rf, texts, vectors)
        rows = len(rf)
    plain = found["search, hybrid"]
    print(
        f"{platform.processor() or platform.machine()}, {rows:,} passages, {len(texts)} questions"
    )
    for name, micros in found.items():
        print(f"| {name} | {micros:,.0f} | {micros / plain:.2f} |")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"questions": len(texts), "rows": rows, "micros": found}, file, indent=1)


if __name__ == "__main__":
    main()
