"""The same questions to the same files, through the npm package in node and through the core: the same
rows, order, score bits, texts and metadata."""

import os
import random

import numpy as np
import pytest
from doors.browser.node import Reader

import ragfile
from ragfile.embedding.protocol import open_embedder

QUESTIONS = int(os.environ.get("RAGFILE_QUESTIONS", "60"))
WORDS = (  # noqa: SIM905
    "node drain cluster key rotate secret pod volume claim schedule taint the of a network policy "
    "snake_case v1.2.3 c++ größe straße 東京 日本語 données été running runs runner unknownword"
).split()
TITLES = ["Taint", "Node Drain", "Größe", "V1.2.3", "Snake_case Key", "Été"]


def documents(seed, count):
    """Documents with the words above, in sections, with metadata of every kind."""
    rng = random.Random(seed)
    for i in range(count):
        text = " ".join(rng.choices(WORDS + TITLES, k=rng.randint(20, 400)))
        metadata = {
            "year": rng.randint(2018, 2026),
            "lang": rng.choice(["en", "de", None, True, 1, 1.5]),
            "nested": {
                "list": rng.choices(["x", "y", "z"], k=rng.randint(0, 3)),
                "n": rng.random(),
            },
            "sources": [
                {"title": rng.choice("ABC"), "by": [{"name": rng.choice(["ann", "bob"])}]}
                for _ in range(rng.randrange(3))
            ],
            "keywords": rng.sample(["alpha", "beta", "gamma"], rng.randint(0, 2)),
            "title": rng.choice(TITLES) + rng.choice(["", f" {i % 40}", " (東京)"]),
        }
        tags = rng.sample(["red", "green", "blue"], rng.randint(0, 2))
        yield {"id": f"d{seed}-{i:04}\U0001f600é"[: rng.randint(7, 12)] + str(i), "text": text,
               "metadata": {k: v for k, v in metadata.items() if rng.random() < 0.8}, "tags": tags,
               "source": f"folder/{i % 7}.md"}  # fmt: skip


def make(path, count=120, **options):
    with ragfile.create(path, chunking=ragfile.Policy(size=300, overlap=50), **options) as w:
        w.add_documents(documents(1, count))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files with several segments and deletions, with vectors of half precision, without vectors."""
    folder = tmp_path_factory.mktemp("files")
    several = make(folder / "several.ragfile", embedder="default")
    for seed in (2, 3, 4):
        with ragfile.edit(several) as w:
            w.add_documents(documents(seed, 25))
    with ragfile.open(several) as rf:
        ids = rf.document_ids()
    with ragfile.edit(several) as w:
        w.delete(ids[::5])
    with ragfile.edit(several) as w:  # a text that is in two segments: ties between them
        w.upsert([{"id": f"{x}twin", "text": "drain the node " * 30} for x in "abcdefgh"])
    with ragfile.edit(several) as w:
        w.upsert([{"id": f"{x}twin", "text": "drain the node " * 30} for x in "ACEGZ"])
    half = make(folder / "half.ragfile", embedder="default", precision=16)
    words = make(folder / "words.ragfile")
    code = source_code(folder / "code.ragfile")
    return {"several": several, "half": half, "words": words, "mixed": mixed(folder), "code": code,
            "linked": linked(folder)}  # fmt: skip


def linked(folder):
    """A file of notes in two segments whose passages link to others by paths, names and aliases."""
    path, rng = folder / "linked.ragfile", random.Random(6)
    notes = [
        one | {
            "id": f"{rng.choice(['', 'a/', 'A/b/'])}{name}.md",
            "text": " ".join(link(rng) if rng.random() < 0.05 else word for word in one["text"].split(" ")),
            "metadata": one["metadata"] | {"aliases": [f"Alias {rng.randrange(9)}"]},
        }
        for name, one in zip([*(["Größe", "été", "v1.2", ".drain"]), *map(str, range(56))], documents(6, 60), strict=True)
    ]  # fmt: skip
    with ragfile.create(
        path, embedder="default", chunking=ragfile.Policy(size=300, overlap=50)
    ) as w:
        w.add_documents(notes[:40])
    with ragfile.edit(path) as w:
        w.add_documents(notes[40:])
        w.delete([one["id"] for one in notes[:40:9]])
    return path


def link(rng):
    number = rng.randrange(60)
    return rng.choice([f"[[{number}]]", f"[[A/b/{number}|that]]", f"[[alias {number % 9}]]", "[[größe]]", "[[.drain]]",
                       f"[x](/other/{number})", f"[y](../{number}.html)", f"[z](a/{number})", "[v](v1.2.md)"])  # fmt: skip


def source_code(path):
    """A file in which most documents are source code, in two segments."""
    paths = [f"{folder}/{name}" for folder in ("src", "tests", "Core/examples", "größe") for name in
             ("drain.py", "clusterKey.ts", "test_node.go", "secret.md", "__init__.py")]  # fmt: skip
    named = [one | {"id": path} for one, path in zip(documents(5, 20), paths, strict=True)]
    with ragfile.create(
        path, embedder="default", chunking=ragfile.Policy(size=300, overlap=50)
    ) as w:
        w.add_documents(named[:12])
    with ragfile.edit(path) as w:
        w.add_documents(named[12:])
    return path


def mixed(folder):
    """A file in which every third chunk has no vector, and in one segment none has one."""
    path, rng = folder / "mixed.ragfile", np.random.default_rng(8)
    embedder = open_embedder("default")
    for seed, has in ((1, True), (2, False), (3, True)):
        chunks = [
            {"doc_id": one["id"], "chunk_index": i, "content": text}
            for one in documents(seed, 60)
            for i, text in enumerate([one["text"][:200], one["text"][200:400]])
        ]
        vectors = [v if has and rng.random() < 0.7 else None
                   for v in embedder.embed([chunk["content"] for chunk in chunks], "document")]  # fmt: skip
        writer = ragfile.edit(path) if path.exists() else ragfile.create(path, embedder="default")
        with writer as w:
            w.add(chunks, vectors)
    with ragfile.edit(path) as w:
        w.delete(ragfile.open(path).document_ids()[::7])
    return path


FILTERS = [
    {}, {"where": {"year": {"$gte": 2022}}}, {"where": {"lang": {"$in": ["en", True]}}},
    {"where": {"$or": [{"nested.n": {"$lt": 0.5}}, {"keywords": {"$contains": "beta"}}]}},
    {"where": {"nested.list": {"$all": ["x", "y"]}}}, {"where": {"lang": {"$not": {"$eq": 1}}}},
    {"where": {"source": "folder/3.md"}}, {"where": {"lang": None}}, {"tags_any": ["red"]},
    {"tags_all": ["red", "blue"]}, {"where": {"year": {"$exists": False}}, "tags_any": ["green"]},
    {"where": {"lang": {"$nin": ["de", 1.5]}}}, {"where": {"nobody": 3}}, {"where": {"doc_id": {"$gt": "d2"}}},
    {"where": {"nested": {"$contains": "x"}}}, {"where": {"keywords": {"$any": ["alpha", "gamma"]}}},
    {"where": {"id": {"$contains": "#1"}}}, {"where": {"sources.title": {"$contains": "A"}}},
    {"where": {"sources.by.name": {"$not": {"$any": ["ann", 1]}}}}, {"where": {"sources.title": ["A", "B"]}},
]  # fmt: skip


def camel(options):
    names = {
        "tags_any": "tagsAny",
        "tags_all": "tagsAll",
        "min_score": "minScore",
        "drop_repeats": "dropRepeats",
        "similar_to": "similarTo",
        "query_syntax": "querySyntax",
        "half_life": "halfLife",
    }
    if isinstance(options, list):
        return [camel(one) for one in options]
    if not isinstance(options, dict):
        return options
    return {
        names.get(name, name): camel(value) if name == "boost" else value
        for name, value in options.items()
    }


def question(rng):
    asked = rng.choices(WORDS, k=rng.randint(1, 6))
    return " ".join([*rng.choice([[], [], ["où", "est"], ["wie", "ist", "der"]]), *asked])


def expected(hits):
    return [
        {
            "id": h.id, "doc_id": h.doc_id, "chunk_index": h.chunk_index, "text": h.text,
            "score": h.score, "score_type": h.score_type, "scores": h.scores, "tags": list(h.tags),
            "metadata": h.metadata, "source": h.source, "start": h.start, "end": h.end,
            "standing": h.standing,
        }
        for h in hits
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@pytest.mark.parametrize("name", ["several", "half", "words", "mixed", "code", "linked"])
def test_searches_give_the_same_passages_and_score_bits(files, name):
    rng = random.Random(name)
    with ragfile.open(files[name]) as rf, Reader(files[name]) as there:
        assert there("open")["length"] == len(rf)
        for i in range(QUESTIONS):
            text, options = question(rng), rng.choice(FILTERS)
            mode = rng.choice(["hybrid", "hybrid", "bm25", "vector", "keyword"])
            rest = {
                "k": rng.choice([0, 1, 5, 12, 70]),
                "mode": mode,
                "hops": rng.choice([0, 1, 1, 2]),
            }
            if mode == "hybrid":
                rest["fusion"] = rng.choice([None, None, "rrf", "blend", "calibrated"])
            if mode == "keyword":
                text = rng.choice(
                    ["alpha", "beta", rf.hit(int(rf.live_rows()[i % len(rf)])).doc_id]
                )
            found = rf.search(text, **rest, **options, cache=False)
            answer = there("search", text, rest | camel(options))
            assert answer["hits"] == expected(found), (text, rest, options)
            assert bool(answer["degraded"]) == bool(found.degraded)


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@pytest.mark.parametrize("name", ["several", "half", "mixed"])
def test_raw_searches_give_the_same_rows_and_bits(files, name):
    rng = random.Random(name)
    with ragfile.open(files[name]) as rf, Reader(files[name]) as there:
        there("open")
        for _ in range(QUESTIONS):
            text, k, options = question(rng), rng.choice([1, 7, 40]), rng.choice(FILTERS)
            where = rf.rows.mask(
                options.get("where"), options.get("tags_any", ()), options.get("tags_all", ())
            )
            vector = np.float32([rng.gauss(0, 1) for _ in range(rf.rows.dim)])
            for call, asked in (("match", text), ("nearest", vector)):
                rows, scores = getattr(rf, call)([asked], k, where=where)
                kept = rows[0] >= 0
                asked = asked if call == "match" else asked.tolist()
                answer = there(call, asked, {"k": k} | camel(options))
                assert answer["rows"] == rows[0][kept].tolist()
                assert answer["bits"] == scores[0][kept].view(np.uint32).tolist()


OPTIONS = [
    {"offset": 3}, {"offset": 40, "pool": 20}, {"min_score": 0.6}, {"min_score": 1e9}, {"drop_repeats": True},
    {"drop_repeats": True, "offset": 4}, {"diversity": 0.4}, {"drop_repeats": True, "diversity": 0.3, "min_score": 0.2},
    {"similar_to": 7}, {"rewrites": ["drain the pod", "rotate keys"]},
    {"rewrites": ["taint"], "drop_repeats": True, "offset": 2}, {"k": 9, "similar_to": "d", "fusion": "rrf"},
    {"fusion": "blend", "drop_repeats": True, "min_score": 0.1}, {"drop_repeats": True, "fusion": "rrf"},
]  # fmt: skip


@pytest.mark.parametrize("name", ["several", "half", "words"])
def test_options_of_the_ranking_give_the_same_passages_and_score_bits(files, name):
    rng = random.Random(name)
    with ragfile.open(files[name]) as rf, Reader(files[name]) as there:
        there("open")
        for i in range(max(len(OPTIONS), QUESTIONS)):
            text, options = question(rng), dict(OPTIONS[i % len(OPTIONS)])
            options |= {"mode": rng.choice(["hybrid", "hybrid", "bm25", "vector"])}
            options["k"] = rng.choice([1, 5, 12])
            if "similar_to" in options:
                row = int(rng.choice(rf.live_rows()))
                options["similar_to"] = rf.hit(row).id if options["similar_to"] == "d" else row
                text = rng.choice(["", text])
            if not rf.rows.has_vectors:
                options.pop("diversity", None)
            found = rf.search(text, **options, cache=False)
            assert there("search", text, camel(options))["hits"] == expected(found), (text, options)


DAYS = ["2025-12-24", "2026-02-01T10:30:00+02:00", "20251101", "2026-13-01", "soon", 5, "2026-W03-2", "2025-11-30 07:15:30.25",
        "2026W05", "20260110T1215-0330", "2026-01-31T10:30:05,1234567Z", "1700-06-05T10:30:05.123457"]  # fmt: skip
BOOSTS = [
    {"field": "year", "weight": 0.5, "reference": 2024, "half_life": 2},
    {"field": "nested.n", "weight": -0.2, "reference": 0.5, "half_life": 0.1},
    {"field": "nested.n", "weight": 3.7, "reference": 1 / 3, "half_life": 0.037},
    [
        {"field": "day", "weight": 1, "reference": "2026-01-01", "half_life": 30},
        {"field": "year", "weight": 0.1, "reference": 2020, "half_life": 1},
    ],
]


def test_boosts_raise_scores_as_they_do_in_python(files):
    rng = random.Random(3)
    with ragfile.edit(files["half"]) as w:
        w.upsert(
            [
                {"id": f"day{i}", "text": f"drain the node {i}", "metadata": {"day": d}}
                for i, d in enumerate(DAYS)
            ]
        )
    with ragfile.open(files["half"]) as rf, Reader(files["half"]) as there:
        there("open")
        for i in range(max(24, QUESTIONS)):
            options = {"boost": BOOSTS[i % len(BOOSTS)], "k": rng.choice([3, 20])}
            options |= rng.choice([{}, {"drop_repeats": True}, {"diversity": 0.3}, {"offset": 2}])
            text = rng.choice(["drain the node", question(rng)])
            found = rf.search(text, **options, cache=False)
            assert there("search", text, camel(options))["hits"] == expected(found), (text, options)
        answer = there.answer("search", "drain", {"boost": {"field": "year"}})
        assert "a boost has field" in answer["message"]


def test_highlights_are_those_of_python(files):
    rng = random.Random(5)
    with ragfile.open(files["several"]) as rf, Reader(files["several"]) as there:
        there("open")
        for hit in rf.search("drain running v1.2.3 größe", k=12):
            text = question(rng)
            spans = [list(span) for span in rf.highlights(text, hit)]
            assert there("highlights", text, hit.text) == spans
        row = int(rf.live_rows()[3])
        assert there("highlights", "node", row) == [list(s) for s in rf.highlights("node", row)]


def test_an_option_that_is_not_read_here_is_refused_by_name(files):
    with Reader(files["words"]) as there:
        there("open")
        for options, said in (
            ({"query_syntax": True}, "no option 'query_syntax' here"),
            ({"group": 2}, "no option 'group' here"),
            ({"rerank": "default"}, "no option 'rerank' here"),
            ({"fields": {"text": 2}}, "no option 'fields' here"),
            ({"ofset": 3}, "no option 'ofset'"),
            ({"diversity": 2}, "between 0 and 1"),
            ({"diversity": 0.5}, "no vectors"),
            ({"similarTo": "nobody#1"}, "no chunk"),
            ({"similarTo": 3.5}, "row 3.5 of"),
            ({"minScore": "3"}, "minScore is a score"),
            ({"offset": -1}, "whole numbers"),
            ({"hops": 3}, "hops is 0, 1 or 2"),
            ({"rewrites": "one"}, "list of texts"),
        ):
            answer = there.answer("search", "drain", options)
            assert (answer["error"], said in answer["message"]) == ("ArgumentError", True), answer


def test_documents_and_the_glance_are_the_same(files):
    with ragfile.open(files["several"]) as rf, Reader(files["several"]) as there:
        there("open")
        for doc_id in rf.document_ids()[::3]:
            ours = rf.document(doc_id)
            theirs = there("document", doc_id)
            assert (theirs["text"], theirs["metadata"], theirs["tags"], theirs["source"]) == (
                ours.text, ours.metadata, list(ours.tags), ours.source,
            )  # fmt: skip
            assert there("document", doc_id, {"start": 5, "end": 30})["text"] == ours.text[5:30]
        assert there("document", "no such document") is None
        theirs, ours = there("info"), rf.info
        assert int(theirs["created"]) == ours["created"]
        same = theirs.keys() - {"path", "created"}
        assert {k: theirs[k] for k in same} == {k: ours[k] for k in same}


def test_older_generations_answer_as_they_did(files):
    with ragfile.open(files["several"]) as rf:
        last = rf.generation
    for generation in range(1, last + 1):
        with (
            ragfile.open(files["several"], generation=generation) as rf,
            Reader(files["several"], generation=generation) as there,
        ):
            assert there("open") == {"length": len(rf), "generation": generation}
            found = rf.search("drain the node", k=9)
            assert there("search", "drain the node", {"k": 9})["hits"] == expected(found)
    with Reader(files["several"], generation=last + 1) as there:
        assert there.answer("open")["error"] == "ArgumentError"


def test_a_blob_answers_as_a_file_does(files):
    with ragfile.open(files["several"]) as rf, Reader(files["several"], asBlob=True) as there:
        assert there("open")["length"] == len(rf)
        assert there("search", "rotate keys", {"k": 9})["hits"] == expected(
            rf.search("rotate keys", 9)
        )


def test_little_memory_changes_no_answer(files):
    with ragfile.open(files["several"]) as rf, Reader(files["several"], memory=1 << 16) as there:
        there("open")
        for text in ("drain the node", "rotate keys", "日本語 pod"):
            found = rf.search(text, k=9)
            assert there("search", text, {"k": 9})["hits"] == expected(found)
            assert there("memory")["kept"] <= 1 << 16


def test_links_and_backlinks_are_those_of_the_core(files):
    for name in ("linked", "words"):
        with ragfile.open(files[name]) as rf, Reader(files[name]) as there:
            there("open")
            for own in rf.document_ids():
                to = {link.document for link in rf.links(own)} - {own, None}
                sources = {link.source for link in rf.backlinks(own)} - {own}
                assert there("links", own) == {"links": sorted(to), "backlinks": sorted(sources)}
            assert there("links", "nobody") is None


STANDING = [
    {"stale_after": "2026-09-23"}, {"stale_after": "2999-09-23T00:00:00Z"}, {"stale_after": "2020-02-30"},
    {"stale_after": "0000-01-01"}, {"stale_after": "soon", "status": "draft"}, {"verified": {"by": "human:ann"}},
    {"verified": [{"by": "process:n"}, {"by": "human:a"}]}, {"verified": [{"by": "process:n"}], "status": "deprecated"},
    {"verified": True}, {"verified": None}, {"verified": [None, {"by": ""}, {"by": 7}]}, {"status": "draft"},
    {"generated": None, "status": "stable"}, {"type": 7, "stale_after": "2026-01-01"}, {"type": "", "verified": True},
    {"stale_after": ["2020-01-01"]}, {"stale_after": "2020-1-1"},
]  # fmt: skip


def test_hits_tell_how_current_and_trusted_their_documents_are(tmp_path):
    documents = [
        {"id": f"d{i}", "text": "drain the node", "metadata": {"type": "Metric"} | fields}
        for i, fields in enumerate(STANDING)
    ]
    with ragfile.create(tmp_path / "kb.ragfile") as w:
        w.add_documents(documents)
    with ragfile.open(tmp_path / "kb.ragfile") as rf, Reader(tmp_path / "kb.ragfile") as there:
        there("open")
        found = rf.search("drain", 50)
        assert len({hit.standing for hit in found}) > 5
        assert there("search", "drain", {"k": 50})["hits"] == expected(found)
