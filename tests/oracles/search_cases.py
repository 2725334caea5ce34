"""Random rows, questions and filters, with files and an embedder of them, to compare ragfile with the slow search of
the specification (derive_search.py, which is loaded here)."""

import importlib.util

import numpy as np
from places import ROOT

import ragfile
from ragfile.embedding.protocol import Model
from ragfile.ingest.analysis import Analysis

HOME = ROOT / "spec" / "vectors" / "pipeline" / "derive_search.py"


def load():
    spec = importlib.util.spec_from_file_location("derive_search", HOME)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SLOW = load()
Row, Oracle = SLOW.Row, SLOW.Oracle
WORDS = [f"w{c}{d}" for c in "abcdefghij" for d in "abcdefgh"]


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
        metadata = {
            "year": int(rng.integers(2000, 2010)),
            "lang": str(rng.choice(["en", "de", "fr"])),
        }
        if rng.random() < 0.3:
            metadata["deep"] = {"x": bool(rng.integers(2))}
        tags = tuple(
            sorted(set(rng.choice(["red", "green", "blue"], size=int(rng.integers(0, 3))).tolist()))
        )
        rows.append(
            Row(
                f"{prefix}{i // 3:03d}{'ü' if i // 3 % 5 == 0 else ''}",
                i % 3,
                text,
                vector,
                metadata,
                tags,
            )
        )
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
        (
            {"$or": [{"year": year}, {"lang": lang}]},
            lambda m: m["year"] == year or m["lang"] == lang,
        ),
        (
            {"$not": {"year": {"$lt": year}, "lang": lang}},
            lambda m: not (m["year"] < year and m["lang"] == lang),
        ),
        ({"year": {"$in": [year, year + 1]}}, lambda m: m["year"] in (year, year + 1)),
    ]
    chosen = [
        conditions[i]
        for i in rng.choice(len(conditions), size=int(rng.integers(0, 3)), replace=False)
    ]
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


def question(rng):
    words = rng.choice(WORDS[:40], size=int(rng.integers(1, 6))).tolist()
    return " ".join(words), rng.standard_normal(DIM).astype(np.float32)


# ------------------------------------------------------------------------------------------------------- files of them

PLAIN = Analysis(stemmer="none", stop_words="none")
DIM = 24


class Hashed:
    """An embedder that knows a vector for every text, and counts what it is asked for."""

    is_static = True

    def __init__(self, error=None):
        self.model, self.calls, self.error = Model("hashed", DIM), [], error

    def embed(self, texts, role="document"):
        if self.error is not None:
            raise self.error
        self.calls.append(list(texts))
        return np.array([vector_of(text) for text in texts], dtype=np.float32).reshape(-1, DIM)


def vector_of(text):
    return np.random.default_rng(list(text.encode())).standard_normal(DIM).astype(np.float32)


def write(path, rows, **options):
    order = np.random.default_rng(7).permutation(len(rows))
    with ragfile.create(path, dim=DIM, analysis=PLAIN, embedder=Hashed(), **options) as w:
        mixed = [rows[i] for i in order]
        w.add(chunks(mixed), np.array([r.vector for r in mixed]))


def pieced(path, rows, parts):
    """The rows in so many segments, after documents that came and went."""
    ids = sorted({r.doc_id for r in rows})
    gone = corpus(np.random.default_rng(2), 30, DIM, prefix="gone")
    split = [[r for r in rows if ids.index(r.doc_id) % parts == n] for n in range(parts)]
    write(path, split[0] + gone)
    for part in split[1:]:
        with ragfile.edit(path) as w:
            w.add(chunks(part), np.array([r.vector for r in part]))
    with ragfile.edit(path) as w:
        w.delete({r.doc_id for r in gone})
