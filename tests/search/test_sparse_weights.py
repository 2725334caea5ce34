"""Weights of terms that chunks bring: building, editing, searching, fusing; in files, layers and datasets."""

import asyncio
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import sparse as oracle

import ragfile
from ragfile import Chunk
from ragfile.search import retriever_fusion

WORDS = ["fox", "red", "sea", "blue", "hill", "moss", "rain", "oak"]
TERMS = [f"t{i}" for i in range(12)]
KINDS = [None, {"kind": "a"}]
FUSIONS = [
    None, "rrf", "blend", ("calibrated", {"sparse": 0.25, "w": 2.0}), ("rrf", {"rrf_k": 5, "sparse": 2}),
    ("blend", {"alpha": 0.2, "sparse": 0.5}),
]  # fmt: skip


def weights_of(rng, count=4):
    return {term: rng.choice([0.25, 0.5, 1.0, 1.75, 3.0]) for term in rng.sample(TERMS, count)}


def chunks_of(count, seed=1, bare=5):
    """Chunks of documents with three chunks each; one in `bare` has no weights."""
    rng = random.Random(seed)
    return [
        Chunk(
            f"d{i // 3:03}", i % 3, " ".join(rng.choices(WORDS, k=rng.randint(3, 9))),
            metadata={"kind": rng.choice("ab")}, sparse=weights_of(rng) if i % bare else None,
        )
        for i in range(count)
    ]  # fmt: skip


def vectors_of(count, seed=2):
    return np.random.default_rng(seed).normal(size=(count, 6)).astype(np.float32)


@pytest.fixture(scope="module")
def chunks():
    return chunks_of(90)


@pytest.fixture(scope="module")
def path(tmp_path_factory, chunks):
    path = tmp_path_factory.mktemp("sparse") / "kb.ragfile"
    with ragfile.create(path, dim=6) as writer:
        writer.add(chunks, vectors_of(len(chunks)))
    return path


@pytest.fixture(scope="module")
def rf(path):
    with ragfile.open(path) as found:
        yield found


def told(hits):
    return [(hit.id, hit.score) for hit in hits]


def expected(chunks, question, k, where=None):
    """The best chunks by the oracle."""
    passing = [where is None or c.metadata["kind"] == where["kind"] for c in chunks]
    rows = [chunk.sparse or {} for chunk in chunks]
    found = oracle.best(rows, question, k, passing.__getitem__)
    return [(f"{chunks[row].doc_id}#{chunks[row].chunk_index}", score) for row, score in found]


@pytest.mark.parametrize("where", KINDS)
@pytest.mark.parametrize("k", [1, 7, 200])
def test_a_question_with_weights_is_answered_exactly(rf, chunks, where, k):
    for seed in range(10):
        question = weights_of(random.Random(seed), 3)
        hits = rf.search("", k, mode="sparse", sparse=question, where=where)
        assert told(hits) == expected(chunks, question, k, where)
        assert all(hit.scores == {"sparse": hit.score} for hit in hits)


def test_batches_coroutines_and_a_page_have_the_same_answers(rf):
    questions = [weights_of(random.Random(seed)) for seed in range(4)]
    alone = [rf.search("", 6, mode="sparse", sparse=one) for one in questions]
    together = rf.search_batch([""] * 4, 6, mode="sparse", sparse=questions)
    assert list(map(told, together)) == list(map(told, alone))
    later = asyncio.run(rf.asearch("", 6, mode="sparse", sparse=questions[0]))
    assert told(later) == told(alone[0])
    page = rf.search("", 3, offset=3, mode="sparse", sparse=questions[0])
    assert told(page) == told(alone[0])[3:]


def test_questions_of_a_batch_have_filters_and_weights_of_their_own(rf):
    filters = [{"kind": "a"}, {"kind": "b"}, None, {"kind": "a"}]
    questions = [weights_of(random.Random(seed)) for seed in range(4)]
    together = rf.search_batch(["red"] * 4, 6, sparse=questions, where=filters)
    for hits, question, where in zip(together, questions, filters, strict=True):
        assert told(hits) == told(rf.search("red", 6, sparse=question, where=where))


# ------------------------------------------------------------------------------------------ fusion


def scaled(scores):
    low, high = min(scores.values(), default=0), max(scores.values(), default=0)
    return {one: (score - low) / (high - low) if high > low else 1 for one, score in scores.items()}


def ranks(scores, constant):
    return {one: 1 / (constant + rank) for rank, one in enumerate(scores, 1)}


def calibrated(rf, text, vector, question, lists, method):
    """The calibrated scores of all candidates, from the exact scores of each."""
    found, (words, _, weighed) = {}, lists
    mean, deviation = rf._now().rows.sample_statistics(vector)
    best, top = (max(scores.values(), default=0) for scores in (words, weighed))
    for one in {name for scores in lists for name in scores}:
        row = rf.row(one)
        near = float(rf.score([row], vector=vector)[0])
        lexical = float(rf.score([row], text=text)[0]) / best if best else 0.0
        held = oracle.score(rf.chunk(row).sparse or {}, question) or 0
        found[one] = lexical + (near - mean) / deviation / method.parameter
        found[one] += method.sparse * held / top
    return found


def fused(rf, text, vector, question, fusion, where, depth):
    """Spec 14.5 from the answers of each retriever, without evidence."""
    method = retriever_fusion.method_of(fusion, rf._now().rows.config["fusion"])
    lists = [
        {hit.id: hit.score for hit in rf.search(text, depth, mode=mode, where=where, hops=0, **asked)}
        for mode, asked in (("bm25", {}), ("vector", {"vector": vector}), ("sparse", {"sparse": question}))
    ]  # fmt: skip
    if method.name == "calibrated":
        scores = calibrated(rf, text, vector, question, lists, method)
    else:
        shares = [1, 1, method.sparse]
        if method.name == "blend":
            shares = [1 - method.parameter, method.parameter, method.sparse]
        each = [
            scaled(one) if method.name == "blend" else ranks(one, method.parameter) for one in lists
        ]
        scores = {
            name: sum(share * one.get(name, 0) for share, one in zip(shares, each, strict=True))
            for name in {name for one in lists for name in one}
        }
    return sorted(scores.items(), key=lambda pair: (-pair[1], rf.row(pair[0])))


@pytest.mark.parametrize("fusion", FUSIONS, ids=str)
@pytest.mark.parametrize("where", KINDS)
def test_three_retrievers_are_fused_as_specified(rf, fusion, where):
    for seed in range(4):
        rng = random.Random(seed)
        text, vector = " ".join(rng.choices(WORDS, k=2)), vectors_of(1, seed)[0]
        question = weights_of(rng)
        off = fusion
        if fusion is None or fusion[0] == "calibrated":
            off = ("calibrated", {"evidence": 0, **(fusion[1] if fusion else {})})
        hits = rf.search(text, 9, vector=vector, sparse=question, fusion=off, where=where, pool=12)
        wanted = fused(rf, text, vector, question, off, where, 12)[:9]
        assert [hit.score for hit in hits] == pytest.approx([score for _, score in wanted])
        assert [hit.id for hit in hits] == [one for one, _ in wanted]
        assert all({"bm25", "vector", "sparse"} == hit.scores.keys() for hit in hits)


@pytest.mark.parametrize("fusion", FUSIONS, ids=str)
@pytest.mark.parametrize("mode", ["words", "vectors"])
def test_one_retriever_beside_the_weights_ranks_with_them(tmp_path, chunks, mode, fusion):
    path = tmp_path / "kb.ragfile"
    options = {"analysis": None} if mode == "vectors" else {}
    with ragfile.create(path, **options) as writer:
        writer.add(chunks, vectors_of(len(chunks)) if mode == "vectors" else None)
    with ragfile.open(path) as rf:
        asked = {"vector": vectors_of(1)[0]} if mode == "vectors" else {}
        hits = rf.search("red fox", 90, sparse={"t1": 2.0}, fusion=fusion, **asked)
        name = "vector" if asked else "bm25"
        assert all(hit.scores.keys() <= {name, "sparse"} for hit in hits)
        for one in hits:
            assert one.scores["sparse"] == (
                oracle.score(rf.chunk(rf.row(one.id)).sparse or {}, {"t1": 2.0}) or 0
            )
        assert [hit.score for hit in hits] == sorted((h.score for h in hits), reverse=True)
        alone = rf.search("red fox", 90, fusion=fusion, **asked)
        assert {hit.id for hit in alone} <= {hit.id for hit in hits}


def test_without_weights_nothing_changes(rf, chunks, tmp_path):
    plain = tmp_path / "plain.ragfile"
    with ragfile.create(plain, dim=6) as writer:
        writer.add([ragfile.Chunk(**{**c.to_dict()}) for c in chunks], vectors_of(len(chunks)))
    with ragfile.open(plain) as without:
        vector = vectors_of(1)[0]
        assert told(without.search("red fox", vector=vector)) == told(
            rf.search("red fox", vector=vector)
        )
        hits = without.search("red fox", vector=vector, sparse={"t1": 1.0})
        assert hits.degraded == "the chunks have no sparse weights"
        assert told(hits) == told(rf.search("red fox", vector=vector))
        assert without.search("", mode="sparse", sparse={"t1": 1.0}) == []


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"mode": "sparse"}, "give sparse="),
        ({"sparse": {"a": -1}}, "not between 0 and 65,520"),
        ({"sparse": [{"a": 1}, {"a": 2}]}, "1 questions have sparse weights each, not 2"),
        ({"sparse": {"a": 1}, "fusion": ("rrf", {"sparse": -1})}, "sparse must not be negative"),
    ],
)
def test_bad_questions_are_refused(rf, asked, what):
    with pytest.raises(ValueError, match=what):
        rf.search("fox", **asked)


# ------------------------------------------------------------------------- edits, layers, datasets


def test_bad_weights_of_a_chunk_are_named(tmp_path):
    with (
        pytest.raises(ValueError, match=r"sparse weights of chunk 3 of 'a': the weight of 'x'"),
        ragfile.create(tmp_path / "kb.ragfile") as writer,
    ):
        writer.add([Chunk("a", 3, "text", sparse={"x": float("inf")})])


def test_an_upsert_changes_weights_alone(tmp_path):
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path) as writer:
        writer.add([Chunk("a", i, f"text {i}", sparse={"x": 1.0 + i}) for i in range(3)])
    with ragfile.edit(path) as editor:
        editor.upsert([Chunk("a", 1, "text 1", sparse={"y": 2.0}), Chunk("a", 2, "text 2")])
        assert editor.report["updated"] == 1
    with ragfile.edit(path) as editor:
        editor.update("a", metadata={"year": 2020})
    with ragfile.edit(path) as editor:
        editor.delete_chunks("a#0")
    with ragfile.open(path) as rf:
        held = {c.chunk_index: c.sparse for c in map(rf.chunk, rf.live_rows().tolist())}
        assert held == {1: {"y": 2.0}, 2: {"x": 3.0}}
        assert ragfile.verify(path)[0] == []


@given(st.integers(0, 10_000))
@settings(max_examples=12, deadline=None)
def test_a_file_with_a_history_answers_like_a_fresh_build(tmp_path_factory, seed):
    rng, folder = random.Random(seed), tmp_path_factory.mktemp("history")
    path, fresh = folder / "kb.ragfile", folder / "fresh.ragfile"
    current = {(c.doc_id, c.chunk_index): c for c in chunks_of(30, seed)}
    with ragfile.create(path) as writer:
        writer.add(current.values())
    for step in range(rng.randint(1, 12)):
        with ragfile.edit(path) as editor:
            new = chunks_of(rng.randint(1, 9), seed + step + 1)
            editor.upsert(new)
            gone = f"d{rng.randint(5, 12):03}"
            editor.delete(gone)
        current |= {(c.doc_id, c.chunk_index): c for c in new}
        current = {key: c for key, c in current.items() if key[0] != gone}
    with ragfile.create(fresh) as writer:
        writer.add(current.values())
    # a chunk without weights of its own keeps those of an unchanged text, so compare what is stored
    with ragfile.open(path) as edited:
        stored = [edited.chunk(row) for row in edited.live_rows().tolist()]
        stored.sort(key=lambda c: (c.doc_id, c.chunk_index))
        question = weights_of(rng)
        wanted = expected(stored, question, 8)
        assert told(edited.search("", 8, mode="sparse", sparse=question)) == wanted
    assert ragfile.verify(path)[0] == []
    ragfile.compact(path)
    with ragfile.open(path) as compacted:
        assert told(compacted.search("", 8, mode="sparse", sparse=question)) == wanted


def test_layers_and_shards_answer_like_one_file(tmp_path, chunks):
    one, parts = tmp_path / "one.ragfile", [tmp_path / f"{i}.ragfile" for i in range(2)]
    with ragfile.create(one, dim=6) as writer:
        writer.add(chunks, vectors_of(90))
    for i, part in enumerate(parts):
        with ragfile.create(part, dim=6) as writer:
            writer.add(chunks[45 * i : 45 * i + 45], vectors_of(90)[45 * i : 45 * i + 45])
    ragfile.dataset.convert(one, tmp_path / "shards", shards=4)
    with (
        ragfile.open(one) as kb,
        ragfile.open(list(map(str, parts))) as layers,
        ragfile.open(tmp_path / "shards") as shards,
        ragfile.open(tmp_path / "shards", allow_partial=True) as tasks,
    ):
        for seed in range(6):
            question, vector = weights_of(random.Random(seed)), vectors_of(1, seed)[0]
            for asked in (
                {"mode": "sparse"}, {"vector": vector}, {"vector": vector, "fusion": "rrf"},
                {"vector": vector, "where": {"kind": "a"}}, {"mode": "sparse", "where": {"kind": "b"}},
            ):  # fmt: skip
                wanted = told(kb.search("red sea", 7, sparse=question, **asked))
                assert told(layers.search("red sea", 7, sparse=question, **asked)) == wanted
                assert told(shards.search("red sea", 7, sparse=question, **asked)) == wanted
                assert told(tasks.search("red sea", 7, sparse=question, **asked)) == wanted


# ------------------------------------------------------------------------------------ other formats


def held(path):
    with ragfile.open(path) as rf:
        return {rf.hit(row).id: rf.chunk(row).sparse for row in rf.live_rows().tolist()}


@pytest.mark.parametrize("suffix", [".ragmd", ".jsonl", ".parquet"])
def test_weights_survive_a_conversion_and_back(tmp_path, path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    other, back = tmp_path / f"kb{suffix}", tmp_path / "back.ragfile"
    ragfile.convert(path, other)
    ragfile.convert(other, back)
    assert held(back) == held(path)


def test_tables_bring_weights(tmp_path, path):
    pyarrow = pytest.importorskip("pyarrow")
    with ragfile.open(path) as rf:
        table = rf.to_arrow()
    wanted = held(path)
    for i, table_given in enumerate(
        (table, table.to_pandas() if pytest.importorskip("pandas") else table)
    ):
        copy = tmp_path / f"{i}.ragfile"
        with ragfile.create(copy, dim=6) as writer:
            writer.add(table_given)
        assert held(copy) == wanted
    columns = {
        "id": ["a", "b", "c"], "text": ["one", "two", "three"],
        "sparse": pyarrow.array(
            [[("x", 1.0)], None, [("y", 0.5), ("z", 2.0)]], pyarrow.map_(pyarrow.string(), pyarrow.float32())
        ),
    }  # fmt: skip
    with ragfile.create(tmp_path / "map.ragfile") as writer:
        writer.add(pyarrow.table(columns))
    assert held(tmp_path / "map.ragfile") == {
        "a#0": {"x": 1.0},
        "b#0": None,
        "c#0": {"y": 0.5, "z": 2.0},
    }
    bad = tmp_path / "bad.ragfile"
    with (
        pytest.raises(ValueError, match="sparse weights of a row are an object"),
        ragfile.create(bad) as writer,
    ):
        writer.add(pyarrow.table({"id": ["a"], "text": ["one"], "sparse": ["3"]}))


def test_the_command_line_takes_weights(tmp_path, path):
    from click.testing import CliRunner

    from ragfile.doors.cli.main import ragfile as command

    weights = tmp_path / "weights.json"
    weights.write_text('{"t1": 2.0}')
    for spelled in (str(weights), '{"t1": 2.0}'):
        asked = [
            "search",
            str(path),
            "red",
            "--mode",
            "sparse",
            "--sparse",
            spelled,
            "--json",
            "-k",
            "3",
        ]
        found = CliRunner().invoke(command, asked)
        assert found.exit_code == 0, found.output
        with ragfile.open(path) as rf:
            best = rf.search("", 3, mode="sparse", sparse={"t1": 2.0})
        assert all(hit.id in found.output for hit in best)
    for spelled, what in (
        ("nowhere.json", "names no file"),
        ("{", "is not JSON"),
        (str(path), "is not JSON"),
    ):
        found = CliRunner().invoke(command, ["search", str(path), "red", "--sparse", spelled])
        assert (found.exit_code, what in found.output) == (2, True), found.output
