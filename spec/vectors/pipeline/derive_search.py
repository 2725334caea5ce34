"""Search by the text of the specification, one chunk at a time, without indexes or arrays.

    python derive_search.py      write search.json and evidence.json beside it

Texts are plain words between blanks, for an analysis without stemming and stop words.
"""

import json
import math
import struct
from dataclasses import dataclass, field

import xxhash

K1, B = 1.2, 0.75
SAMPLE = 1024
EVIDENCE = 0.05


@dataclass
class Row:
    doc_id: str
    index: int
    text: str
    vector: list  # of numbers that binary32 holds
    metadata: dict = field(default_factory=dict)
    tags: tuple = ()

    @property
    def key(self):
        return self.doc_id.encode(), self.index

    @property
    def id(self):
        return f"{self.doc_id}#{self.index}"


def f32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def dot(a, b):
    """Sixteen lanes in binary64, added as a tree."""
    lanes = [0.0] * 16
    for i, (x, y) in enumerate(zip(map(float, a), map(float, b), strict=True)):
        lanes[i % 16] += x * y
    for half in (8, 4, 2, 1):
        lanes = [lanes[i] + lanes[i + half] for i in range(half)]
    return lanes[0]


def cosine(query, row):
    norms = math.sqrt(dot(query, query)) * math.sqrt(dot(row, row))
    return f32(dot(query, row) / norms) if norms > 0 else 0.0


def bm25(rows, query):
    """The score of every row for a query of plain words, 0 for a row without any of them."""
    texts = [row.text.split() for row in rows]
    average = sum(map(len, texts)) / max(len(texts), 1)
    asked = query.split()
    totals = [0.0] * len(rows)
    for word in dict.fromkeys(asked):
        df = sum(word in text for text in texts)
        idf = math.log(1 + (len(rows) - df + 0.5) / (df + 0.5))
        for i, text in enumerate(texts):
            if tf := text.count(word):
                totals[i] += (
                    asked.count(word)
                    * idf
                    * (tf / (tf + K1 * (1 - B) + (K1 * B / average) * len(text)))
                )
    return [f32(total) for total in totals]


def best(scored, k):
    """(row, score) pairs, best first, ties by key."""
    return sorted(scored, key=lambda pair: (-pair[1], pair[0].key))[:k]


def sample(rows):
    """The keys with the smallest hashes."""
    hashed = [
        (xxhash.xxh3_64_intdigest(r.doc_id.encode() + r.index.to_bytes(4, "little")), r.key, r)
        for r in rows
    ]
    return [row for *_, row in sorted(hashed, key=lambda h: h[:2])[:SAMPLE]]


def unit_range(scores):
    low, high = min(scores, default=0), max(scores, default=0)
    return [(s - low) / (high - low) if high > low else 1.0 for s in scores]


def raised(ranked, share):
    """A ranking with the best chunk of each document raised by the document's further ones."""
    top = ranked[0][1] if ranked else 0.0
    counted = [s >= 0.65 * top > 0 for _, s in ranked[:50]]
    documents = {}
    for (row, s), counts in zip(ranked, counted, strict=False):
        if counts:
            documents.setdefault(row.doc_id, []).append((row.key, s))
    gains = {}
    for (key, first), *further in documents.values():
        total = math.fsum([1.0, *(math.exp(4.0 * (s - first)) for _, s in further)])
        gains[key] = share * top * math.log(total)
    return [(row, s + gains.get(row.key, 0.0)) for row, s in ranked]


class Oracle:
    """Answers to one query over live rows."""

    def __init__(self, rows, query, vector, passes=lambda row: True, pool=50):
        self.rows, self.pool = rows, pool
        self.words = {row.key: s for row, s in zip(rows, bm25(rows, query), strict=True)}
        self.near = {row.key: cosine(vector, row.vector) for row in rows}
        self.passing = [row for row in rows if passes(row)]
        self.vector = vector

    def bm25(self, k):
        return best(
            [(row, self.words[row.key]) for row in self.passing if self.words[row.key] > 0], k
        )

    def dense(self, k):
        return best([(row, self.near[row.key]) for row in self.passing], k)

    def legs(self, k):
        depth = max(k, self.pool)
        return self.dense(depth), self.bm25(depth)

    def rrf(self, k, constant=60):
        total, rows = {}, {}
        for leg in self.legs(k):
            for rank, (row, _) in enumerate(leg, 1):
                rows[row.key] = row
                total[row.key] = total.get(row.key, 0.0) + 1.0 / (constant + rank)
        return best([(row, total[key]) for key, row in rows.items()], k)

    def blend(self, k, alpha=0.5):
        total, rows = {}, {}
        for leg, weight in zip(self.legs(k), (alpha, 1 - alpha), strict=True):
            for (row, _), s in zip(leg, unit_range([s for _, s in leg]), strict=True):
                rows[row.key] = row
                total[row.key] = total.get(row.key, 0.0) + weight * s
        return best([(row, total[key]) for key, row in rows.items()], k)

    def calibrated(self, k, w, evidence=0.0):
        union = {row.key: row for leg in self.legs(k) for row, _ in leg}
        values = [self.near[row.key] for row in sample(self.rows)]
        mean = math.fsum(values) / len(values) if values else 0.0
        deviation = (
            math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values)) if values else 0.0
        )
        top = max((self.words[key] for key in union), default=0.0)

        def score(key):
            lexical = self.words[key] / top if top > 0 else 0.0
            return lexical + ((self.near[key] - mean) / deviation if deviation > 0 else 0.0) / w

        ranked = best([(row, score(key)) for key, row in union.items()], len(union))
        return best(raised(ranked, evidence), k)


# ------------------------------------------------------------------------------------------------------- the golden set --

WORDS = [
    "ash",
    "birch",
    "cedar",
    "elm",
    "fir",
    "hazel",
    "larch",
    "maple",
    "oak",
    "pine",
    "rowan",
    "willow",
]


def numbers(seed):
    """An endless sequence of small integers, equal on all machines."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 33


def corpus():
    rows, n = [], numbers(7)
    for i in range(40):
        text = " ".join(WORDS[min(next(n) % 12, next(n) % 12)] for _ in range(2 + next(n) % 14))
        vector = [(next(n) % 17 - 8) / 4 for _ in range(8)]
        if i % 7 == 6:  # ties: an earlier text and vector once more
            text, vector = rows[i // 2].text, rows[i // 2].vector
        tags = tuple(t for t in ("dry", "wet") if next(n) % 3 == 0)
        rows.append(
            Row(
                f"{'é' if i % 5 == 0 else 'd'}{i // 3}",
                i % 3,
                text,
                vector,
                {"year": 2000 + next(n) % 4},
                tags,
            )
        )
    return rows


def cases(rows, evidence=0.0):
    asked = (
        ("oak pine", 3),
        ("ash", 5),
        ("willow rowan maple ash", 11),
        ("nothing known", 13),
        ("fir fir larch", 17),
    )
    filters = (None, {"year": {"$gte": 2002}})
    for query, seed in asked:
        n = numbers(seed)
        vector = [(next(n) % 17 - 8) / 4 for _ in range(8)]
        for where in filters:
            slow = Oracle(
                rows,
                query,
                vector,
                lambda row, where=where: where is None or row.metadata["year"] >= 2002,
                pool=15,
            )
            if evidence:
                yield _case(query, vector, where, slow, slow.calibrated(6, 6.0, evidence))
                continue
            answers = {
                "bm25": slow.bm25(6), "vector": slow.dense(6), "rrf": slow.rrf(6), "blend": slow.blend(6, 0.3), "calibrated": slow.calibrated(6, 6.0),
            }  # fmt: skip
            for method, found in answers.items():
                yield _case(query, vector, where, slow, found, method)


def _case(query, vector, where, slow, found, method="calibrated"):
    hits = [
        {"id": row.id, "score": score, "bm25": slow.words[row.key], "vector": slow.near[row.key]}
        for row, score in found
    ]
    return {
        "query": query,
        "vector": vector,
        "where": where,
        "method": method,
        "k": 6,
        "pool": 15,
        "hits": hits,
    }


def golden(evidence=0.0):
    rows, calibrated = corpus(), {"w": 6.0}
    chunks = [
        {"doc_id": r.doc_id, "chunk_index": r.index, "content": r.text, "metadata": r.metadata, "tags": list(r.tags), "vector": r.vector}
        for r in rows
    ]  # fmt: skip
    return {
        "corpus": chunks,
        "params": {"calibrated": {**calibrated, "evidence": evidence}}
        if evidence
        else {"blend": {"alpha": 0.3}, "calibrated": calibrated},
        "cases": list(cases(rows, evidence)),
    }


if __name__ == "__main__":
    from derive import write

    for name, share in (("search.json", 0.0), ("evidence.json", EVIDENCE)):
        write(name, json.dumps(golden(share), ensure_ascii=False, indent=1) + "\n")
