"""Search as the specification words it, one chunk at a time: no index, no arrays, no cleverness. Slow and plain."""

import math
from dataclasses import dataclass, field

import numpy as np
import xxhash

K1, B = 1.2, 0.75
SAMPLE = 1024
WORDS = [f"w{c}{d}" for c in "abcdefghij" for d in "abcdefgh"]


@dataclass
class Row:
    doc_id: str
    index: int
    text: str
    vector: np.ndarray
    metadata: dict = field(default_factory=dict)
    tags: tuple = ()

    @property
    def key(self):
        return self.doc_id.encode(), self.index

    @property
    def id(self):
        return f"{self.doc_id}#{self.index}"


def f32(value):
    return float(np.float32(value))


def dot(a, b):
    """Sixteen lanes in binary64, added as a tree."""
    lanes = [0.0] * 16
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        lanes[i % 16] += x * y
    for half in (8, 4, 2, 1):
        lanes = [lanes[i] + lanes[i + half] for i in range(half)]
    return lanes[0]


def cosine(query, row):
    norms = math.sqrt(dot(query, query)) * math.sqrt(dot(row, row))
    return f32(dot(query, row) / norms) if norms > 0 else 0.0


def bm25(rows, query):
    """The score of every row for a query of plain words, 0 for one that holds none of them."""
    texts = [row.text.split() for row in rows]
    average = sum(map(len, texts)) / max(len(texts), 1)
    asked = query.split()
    totals = [0.0] * len(rows)
    for word in dict.fromkeys(asked):
        df = sum(word in text for text in texts)
        idf = math.log(1 + (len(rows) - df + 0.5) / (df + 0.5))
        for i, text in enumerate(texts):
            if tf := text.count(word):
                totals[i] += asked.count(word) * idf * (tf / (tf + K1 * (1 - B) + (K1 * B / average) * len(text)))
    return [f32(total) for total in totals]


def best(scored, k):
    """(row, score) pairs, best first, ties by key."""
    return sorted(scored, key=lambda pair: (-pair[1], pair[0].key))[:k]


def sample(rows):
    """Those with the smallest hashes of their keys."""
    hashed = [(xxhash.xxh3_64_intdigest(r.doc_id.encode() + r.index.to_bytes(4, "little")), r.key, r) for r in rows]
    return [row for *_, row in sorted(hashed, key=lambda h: h[:2])[:SAMPLE]]


def unit_range(scores):
    low, high = min(scores, default=0), max(scores, default=0)
    return [(s - low) / (high - low) if high > low else 1.0 for s in scores]


class Oracle:
    """Answers for one question over live rows."""

    def __init__(self, rows, query, vector, passes=lambda row: True, pool=50):
        self.rows, self.pool = rows, pool
        self.words = {row.key: s for row, s in zip(rows, bm25(rows, query), strict=True)}
        self.near = {row.key: cosine(vector, row.vector) for row in rows}
        self.passing = [row for row in rows if passes(row)]
        self.vector = vector

    def bm25(self, k):
        return best([(row, self.words[row.key]) for row in self.passing if self.words[row.key] > 0], k)

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

    def calibrated(self, k, w):
        union = {row.key: row for leg in self.legs(k) for row, _ in leg}
        values = [self.near[row.key] for row in sample(self.rows)]
        mean = math.fsum(values) / len(values) if values else 0.0
        deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values)) if values else 0.0
        top = max((self.words[key] for key in union), default=0.0)

        def score(key):
            lexical = self.words[key] / top if top > 0 else 0.0
            return lexical + ((self.near[key] - mean) / deviation if deviation > 0 else 0.0) / w

        return best([(row, score(key)) for key, row in union.items()], k)


def corpus(rng, count, dim=24, prefix="d"):
    """Rows with ties: every sixth repeats an earlier row's vector, every ninth an earlier text."""
    rows = []
    share = 1 / np.arange(1, len(WORDS) + 1)
    for i in range(count):
        text = " ".join(rng.choice(WORDS, size=int(rng.integers(1, 30)), p=share / share.sum()))
        vector = rng.standard_normal(dim).astype(np.float32)
        if i % 6 == 5:
            vector = rows[int(rng.integers(len(rows)))].vector
        if i % 9 == 8:
            text = rows[int(rng.integers(len(rows)))].text
        metadata = {"year": int(rng.integers(2000, 2010)), "lang": str(rng.choice(["en", "de", "fr"]))}
        if rng.random() < 0.3:
            metadata["deep"] = {"x": bool(rng.integers(2))}
        tags = tuple(sorted(set(rng.choice(["red", "green", "blue"], size=int(rng.integers(0, 3))).tolist())))
        rows.append(Row(f"{prefix}{i // 3:03d}{'ü' if i // 3 % 5 == 0 else ''}", i % 3, text, vector, metadata, tags))
    return rows


def chunks(rows):
    """What a writer's add takes, in an order of no meaning."""
    return [
        {"doc_id": r.doc_id, "chunk_index": r.index, "content": r.text, "metadata": r.metadata, "tags": r.tags} for r in rows
    ]  # fmt: skip


def random_filter(rng):
    """(condition, tags_any, tags_all, the same as a function of a row)"""
    year, lang = int(rng.integers(1999, 2011)), str(rng.choice(["en", "de", "fr", "xx"]))
    conditions = [
        ({"year": {"$gte": year}}, lambda m: m["year"] >= year),
        ({"lang": lang}, lambda m: m["lang"] == lang),
        ({"lang": {"$nin": [lang]}}, lambda m: m["lang"] != lang),
        ({"deep.x": True}, lambda m: m.get("deep", {}).get("x") is True),
        ({"deep": {"$exists": False}}, lambda m: "deep" not in m),
        ({"$or": [{"year": year}, {"lang": lang}]}, lambda m: m["year"] == year or m["lang"] == lang),
        ({"$not": {"year": {"$lt": year}, "lang": lang}}, lambda m: not (m["year"] < year and m["lang"] == lang)),
        ({"year": {"$in": [year, year + 1]}}, lambda m: m["year"] in (year, year + 1)),
    ]
    chosen = [conditions[i] for i in rng.choice(len(conditions), size=int(rng.integers(0, 3)), replace=False)]
    tags_any = list(rng.choice(["red", "green", "blue"], size=int(rng.integers(0, 3))))
    tags_all = list(rng.choice(["red", "green"], size=1)) if rng.random() < 0.2 else []
    where = {"$and": [c for c, _ in chosen]} if chosen else None

    def passes(row):
        return (
            all(test(row.metadata) for _, test in chosen)
            and (not tags_any or bool(set(tags_any) & set(row.tags)))
            and set(tags_all) <= set(row.tags)
        )

    return where, tags_any, tags_all, passes
