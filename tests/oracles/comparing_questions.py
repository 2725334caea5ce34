"""An open file beside the slow answers about it: each function asks both, and says where they differ."""

import re
import unicodedata

import numpy as np
import Stemmer
from checks import random_lives
from oracles.answers import ranked

from ragfile.ingest.analysis import STOP_WORDS

WORDS = [*random_lives.WORDS, "nowhere"]
FILTERS = [
    {"year": {"$gte": 2001}},
    {"year": {"$lt": 2001}, "lang": {"$ne": "de"}},
    {"lang": {"$in": ["de", None, 7.0]}},
    {"lang": True},
    {"$or": [{"part": 1}, {"kind": {"$contains": "cab"}}]},
    {"$not": {"part": {"$exists": True}}},
    {"deep.x": 1},
    {"deep.y.z": {"$any": ["a", 5]}},
    {"kind": {"$any": ["zz"]}},
    {"keywords": {"$all": ["k1", "k2"]}},
    {"doc_id": {"$gt": "d2"}},
    {"source": "/s/1"},
    {"id": {"$in": ["d1#0", "d2#100"]}},
    {"unheard": {"$exists": True}},
]


class Terms:
    """What an analysis makes of texts of plain words."""

    def __init__(self, analysis):
        self.stop = STOP_WORDS[analysis.stop_words]
        none = analysis.stemmer == "none"
        self.stem = (lambda word: word) if none else Stemmer.Stemmer(analysis.stemmer).stemWord
        self.is_stripped = analysis.accents == "strip"

    def __call__(self, text):
        folded = unicodedata.normalize("NFD", text.lower())
        if self.is_stripped:
            folded = "".join(c for c in folded if not unicodedata.combining(c))
        words = re.findall(r"\w+", unicodedata.normalize("NFC", folded))
        return [self.stem(word) for word in words if word not in self.stop]


def questions(rf, slow, rng, seen, embedder):
    """Some questions of every kind."""
    where, options = random_filter(rng, slow.file)
    rows = slow.passing(where, **options)
    allowed = np.zeros(rf.rows.count, bool)
    allowed[[row.number for row in rows]] = True
    mask = rf.rows.mask(where, **options)
    np.testing.assert_array_equal(
        rf.rows.alive(np.ones(rf.rows.count, bool)) if mask is None else mask, allowed
    )
    text = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(5)))
    if rf.rows.has_bm25:
        matches(rf, slow, rng, text, where if not options else mask, rows)
    if rf.rows.has_vectors:
        vector = (
            embedder.vector(text + " ?") if rng.random() < 0.9 else slow.near and _stored(slow, rng)
        )
        nearest(rf, slow, rng, vector, where if not options else mask, rows)
        if rf.rows.has_bm25:
            searches(rf, slow, rng, (text, vector), (where, options), rows)
    seen["questions"] += 1


def _stored(slow, rng):
    return rng.choice([row.vector for row in slow.file.live if row.vector is not None])


def random_filter(rng, file):
    """(where, tags) of a question."""
    kind, where = rng.random(), None
    if kind < 0.5:
        chosen = rng.sample(FILTERS, rng.randrange(1, 3))
        where = chosen[0] if len(chosen) == 1 else {rng.choice(["$and", "$or"]): chosen}
    elif kind < 0.6 and file.live:
        some = rng.sample(file.live, min(4, len(file.live)))
        where = [rng.choice([row.id, row.doc_id]) for row in some] + ["no#1"]
    elif kind < 0.7 and file.live:
        where = np.array(rng.sample([row.number for row in file.live], 1))
    tags = {}
    if rng.random() < 0.3:
        tags["tags_any"] = rng.sample(["x", "y", "own", "p"], 2)
    if rng.random() < 0.15:
        tags["tags_all"] = rng.sample(["x", "own", "p"], rng.randrange(1, 3))
    return where, tags


def same_rows(found, expected, k, floor=None):
    """Rows and score bits of one answer, filled up."""
    rows, scores = found
    kept = [(r, s) for r, s in expected if floor is None or s >= np.float32(floor)][:k]
    numbers = [r.number for r, _ in kept]
    assert rows.tolist() == numbers + [-1] * (len(rows) - len(kept)), f"{rows} for {kept}"
    wanted = np.array([s for _, s in kept] + [-np.inf] * (len(rows) - len(kept)), np.float32)
    assert scores.tobytes() == wanted.tobytes(), f"other scores: {scores} for {wanted}"


def matches(rf, slow, rng, text, where, rows):
    k, options = rng.choice([1, 3, 10, 1000]), {}
    if rng.random() < 0.3:
        options = {"k1": rng.choice([0.0, 0.9, 3.0]), "b": rng.choice([0.0, 0.4, 1.0])}
    names = [name for name, _ in slow.file.parameters[2]]
    if len(names) > 1 and rng.random() < 0.5:
        options["fields"] = {name: rng.choice([0, 1, 2, 7]) for name in names}
        if not any(options["fields"].values()):
            options["fields"]["text"] = 1
    expected = ranked(slow.bm25(text, **options), rows)
    found = rf.match([text, "fed"], k, where=where, threads=rng.choice([None, 1, 2]), **options)
    same_rows((found[0][0], found[1][0]), expected, min(k, len(rf)))
    same_rows(
        (found[0][1], found[1][1]), ranked(slow.bm25("fed", **options), rows), min(k, len(rf))
    )
    if expected:
        floor = float(rng.choice(expected)[1])
        all_, scores = rf.match(text, None, where=where, min_score=floor, **options)
        same_rows((all_[0], scores[0]), expected, len(expected), floor)
    some = [row.number for row in rng.sample(slow.file.live, min(5, len(slow.file.live)))]
    wanted = slow.bm25(text, **options)
    scores = np.array([wanted.get(row, 0) for row in some], np.float32)
    np.testing.assert_array_equal(rf.score(some, text=text, **options), scores)


def nearest(rf, slow, rng, vector, where, rows):
    k, expected = rng.choice([1, 4, 20, 1000]), ranked(slow.near(vector), rows)
    found = rf.nearest(np.array([vector, vector]), k, where=where, threads=rng.choice([None, 1, 2]))
    for i in (0, 1):
        same_rows((found[0][i], found[1][i]), expected, min(k, len(rf)))
    if expected:
        floor = float(rng.choice(expected)[1])
        all_, scores = rf.nearest(vector, None, where=where, min_score=floor)
        same_rows((all_[0], scores[0]), expected, len(expected), floor)
        some_effort(rf, rng, vector, where, k, expected)
    near = slow.near(vector)
    some = [row.number for row in rng.sample(slow.file.live, min(5, len(slow.file.live)))]
    scores = np.array([near.get(row, np.nan) for row in some], np.float32)
    np.testing.assert_array_equal(rf.score(some, vector=vector), scores)
    moments = rf.rows.sample_statistics(vector), slow.moments(vector)
    assert moments[0] == moments[1], f"other moments: {moments}"


def some_effort(rf, rng, vector, where, k, expected):
    """With less effort: rows that pass, with their scores, in order; all of them where it says so."""
    recall = np.empty(1)
    rows, scores = rf.nearest(vector, k, where=where, effort=rng.choice([0.1, 0.6]), recall=recall)
    known = {row.number: score for row, score in expected}
    there = [(r, s) for r, s in zip(rows[0].tolist(), scores[0], strict=True) if r >= 0]
    assert all(known[row] == score for row, score in there)
    assert [s for _, s in there] == sorted((s for _, s in there), reverse=True)
    if recall[0] == 1.0:
        same_rows((rows[0], scores[0]), expected, len(rows[0]))


def searches(rf, slow, rng, question, condition, rows):
    """Hits of every mode and fusion, alone and in a batch."""
    (text, vector), (where, tags) = question, condition
    k, pool, offset = rng.choice([1, 5, 12]), rng.choice([1, 7, 50]), rng.choice([0, 0, 3])
    fusion = rng.choice([("rrf", 60), ("rrf", 3), ("blend", 0.3), ("calibrated", 4.0), None])
    options = {"pool": pool, "where": where, "offset": offset, **tags}
    n = len(rf)
    depth, page = max(min(k, n), min(pool, n)), slice(offset, offset + k)
    expected = {
        "bm25": slow.legs(text, vector, n, rows)[1][page],
        "vector": slow.legs(text, vector, n, rows)[0][page],
        "hybrid": slow.fused(
            text,
            vector,
            depth,
            rows,
            *(fusion or ("calibrated", 4)),
            share=rf.rows.fusion_method.evidence,
        )[page],
    }
    name = {"rrf": "rrf_k", "blend": "alpha", "calibrated": "w"}
    options["fusion"] = fusion and (fusion[0], {name[fusion[0]]: fusion[1]})
    words, near = slow.bm25(text), slow.near(vector)
    for mode, wanted in expected.items():
        hits = rf.search(text, k, mode=mode, vector=vector, cache=rng.random() < 0.5, **options)
        assert scored(hits) == [(r.id, float(s)) for r, s in wanted], mode
        if mode == "hybrid":
            for hit, (row, _) in zip(hits, wanted, strict=True):
                parts = {"bm25": words.get(row.number, 0.0), "vector": near.get(row.number)}
                assert hit.scores == {k: v for k, v in parts.items() if v is not None}
        together = rf.search_batch([text, text], k, mode=mode, vectors=[vector, vector], **options)
        assert [scored(each) for each in together] == [scored(hits)] * 2
    grouped(rf, slow, rng, question, condition, rows)
    boosted(rf, slow, rng, question, condition, rows)
    alike(rf, slow, rng, question, rows, options)
    named(rf, slow, rng)


def scored(hits):
    return [(hit.id, hit.score) for hit in hits]


def boosted(rf, slow, rng, question, condition, rows):
    """Scores raised by a number in the metadata, and none below a least one."""
    (text, vector), (where, tags) = question, condition
    n, k = len(rf), rng.choice([1, 8])
    depth = max(min(k, n), min(20, n))
    boost = {"field": "year", "weight": rng.choice([0.5, -0.25]), "reference": 2001, "half_life": 2}
    raised = []
    for row, score in slow.fused(text, vector, depth, rows, "rrf", 60):
        year = row.metadata.get("year")
        gain = 0.0 if year is None else boost["weight"] * 0.5 ** (abs(year - 2001) / 2)
        raised.append((row.id, score + gain))
    raised.sort(key=lambda pair: -pair[1])
    min_score = rng.choice([None, *(score for _, score in raised)])
    kept = [pair for pair in raised if min_score is None or pair[1] >= min_score][:k]
    hits = rf.search(
        text,
        k,
        vector=vector,
        where=where,
        fusion="rrf",
        pool=20,
        boost=boost,
        min_score=min_score,
        **tags,
    )
    assert scored(hits) == kept, "boosts"


def alike(rf, slow, rng, question, rows, options):
    """Passages like one that is there, without it."""
    chosen = [row for row in slow.file.live if row.vector is not None]
    row, pool = rng.choice(chosen), max(min(5, len(rf)), min(options["pool"], len(rf)))
    left = [other for other in rows if other is not row]
    wanted = slow.fused(row.text, row.vector, pool, left, "rrf", 60)[:5]
    asked = {name: options[name] for name in ("where", "tags_any", "tags_all") if name in options}
    hits = rf.search("", 5, similar_to=row.id, fusion="rrf", pool=options["pool"], **asked)
    assert scored(hits) == [(r.id, float(s)) for r, s in wanted], "likeness"


def named(rf, slow, rng):
    """By an id, or an entry of "keywords"."""
    name = rng.choice(["k1", "k2", *(row.id for row in slow.file.live[:3]), *slow.file.documents])
    wanted = [
        row.id for row in slow.file.live
        if name in (row.id, row.doc_id) or name in row.metadata.get("keywords", ())
    ]  # fmt: skip
    assert [hit.id for hit in rf.search(name, 1000, mode="keyword")] == wanted, "names"
    signed(rf, slow, rng)


def signed(rf, slow, rng):
    """Words that must be there, and words that must not."""
    have, lack, text = rng.choice(WORDS), rng.choice(WORDS), rng.choice(WORDS)
    lists = slow.file.weighed()[1]
    holders = [
        set.union(set(), *(lists.get(term, {}) for term in slow.terms(word)))
        for word in (have, lack)
    ]
    rows = [
        row for row in slow.file.live
        if (not slow.terms(have) or row.number in holders[0]) and row.number not in holders[1]
    ]  # fmt: skip
    wanted = ranked(slow.bm25(f"{text} {have}"), rows)[:9]
    hits = rf.search(f"{text} +{have} -{lack}", 9, mode="bm25", query_syntax=True)
    assert scored(hits) == [(row.id, float(score)) for row, score in wanted], "signs"


def grouped(rf, slow, rng, question, condition, rows):
    """The best documents with their best passages, by one retriever."""
    (text, vector), (where, tags) = question, condition
    mode, k, n = rng.choice(["bm25", "vector"]), rng.choice([1, 3]), rng.choice([1, 2])
    leg = slow.legs(text, vector, len(rf), rows)[mode == "bm25"]
    best = list(dict.fromkeys(row.doc_id for row, _ in leg))[:k]
    wanted = [pair for d in best for pair in [p for p in leg if p[0].doc_id == d][:n]]
    hits = rf.search(text, k, mode=mode, vector=vector, group=n, where=where, **tags)
    assert scored(hits) == [(r.id, float(s)) for r, s in wanted], "groups"
