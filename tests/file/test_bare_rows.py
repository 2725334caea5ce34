"""Documents with and without vectors in one file: what has no vector is found by words and filters, and never by vectors."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from checks.random_lives import Hashed
from fuzz.sections import sealed
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import fusing
from servers.range_server import RangeServer

import ragfile
from ragfile import _core, conformance
from ragfile.errors import CorruptError, ModelError, VersionError
from ragfile.file import sample_rows
from ragfile.records import Chunk

DIM = 6
READER = os.path.join(os.path.dirname(__file__), "../../spec/reader.py")
WORDS = "pod node drain taint volume claim".split()  # noqa: SIM905


def rows_of(first, count, share, seed=0):
    """(chunks, vectors): some with None."""
    rng = np.random.default_rng([seed, first])
    chunks = [
        {"doc_id": f"d{i // 2:04d}", "chunk_index": i % 2, "metadata": {"n": i % 5},
         "content": " ".join(rng.choice(WORDS, 4))}
        for i in range(first, first + count)
    ]  # fmt: skip
    vectors = rng.standard_normal((count, DIM)).astype(np.float32)
    return chunks, [v if rng.random() < share else None for v in vectors]


def made(path, chunks, vectors, **options):
    with ragfile.create(path, **options) as w:
        w.add(chunks, vectors)
    return ragfile.open(path)


def check(path, given_vectors):
    """The file against one that holds the rows with vectors alone, and against slow oracles."""
    assert ragfile.verify(path)[0] == []
    rf = ragfile.open(path)
    ids = [rf.hit(row).id for row in rf.live_rows().tolist()]
    known = {name: v for name, v in given_vectors.items() if name in ids}
    mask = rf.vector_mask()
    assert [bool(mask[row]) for row in rf.live_rows().tolist()] == [
        known[name] is not None for name in ids
    ]
    assert rf.rows.has_vectors == any(v is not None for v in known.values())
    if not rf.rows.has_vectors:
        return
    sample = [row for row in by_hash(rf) if mask[row]][: sample_rows.TAKEN]
    assert rf.rows.sample.tolist() == sample
    query = np.linspace(-1, 1, DIM).astype(np.float32)
    best = {name: float(rf.score([rf.row(name)], vector=query)[0]) for name in ids}
    assert all(np.isnan(best[name]) == (known[name] is None) for name in ids)
    rows, scores = rf.nearest(query, len(rf))
    found = [
        (rf.hit(r).id, s)
        for r, s in zip(rows[0].tolist(), scores[0].tolist(), strict=True)
        if r >= 0
    ]
    wanted = sorted((-s, rf.rows.place(rf.row(n)).segment.records.key(rf.rows.place(rf.row(n)).local), n)
                    for n, s in best.items() if not np.isnan(s))  # fmt: skip
    assert found == [(name, -score) for score, _, name in wanted]
    for method, parameter in (("calibrated", 4.0), ("rrf", 60.0), ("blend", 0.5)):
        check_fused(rf, query, method, parameter, known)


def by_hash(rf):
    keys = []
    for row in rf.live_rows().tolist():
        segment, local = rf.rows.place(row)
        doc_id, index = segment.records.key(local)
        keys.append((_core.hash64(doc_id + index.to_bytes(4, "little")), row))
    return [row for _, row in sorted(keys)]


def check_fused(rf, query, method, parameter, known):
    name = {"calibrated": "w", "rrf": "rrf_k", "blend": "alpha"}[method]
    hits = rf.search(
        "drain the node", vector=query, k=9, pool=5, fusion=(method, {name: parameter})
    )
    wanted = fusing.fused(rf, "drain the node", query, 9, 5, method, parameter)
    found = [(rf.row(h.id), h.score, h.scores["bm25"], h.scores.get("vector")) for h in hits]
    assert found == [(r, s, b, None if np.isnan(v) else v) for r, s, b, v in wanted]
    assert all(("vector" in h.scores) == (known[h.id] is not None) for h in hits)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.tuples(st.integers(1, 14), st.sampled_from([0, 0.5, 1]))),
            st.tuples(st.just("delete"), st.sets(st.integers(0, 40), max_size=12)),
            st.tuples(st.just("update"), st.integers(0, 40)),
            st.tuples(st.just("compact"), st.none()),
        ),
        max_size=6,
    ),
    st.sampled_from([16, 32]), st.sampled_from(["cosine", "ip", "l2"]), st.sampled_from([0, 0.5, 1]),
)  # fmt: skip
def test_any_history_answers_as_the_rows_with_vectors_alone(
    tmp_path_factory, history, precision, metric, share
):
    path, count = tmp_path_factory.mktemp("bare") / "kb", 20
    chunks, vectors = rows_of(0, count, share)
    given_vectors = {
        f"{c['doc_id']}#{c['chunk_index']}": v for c, v in zip(chunks, vectors, strict=True)
    }
    made(path, chunks, vectors, precision=precision, metric=metric)
    check(path, given_vectors)
    for kind, what in history:
        if kind == "compact":
            ragfile.compact(path)
        else:
            with ragfile.edit(path) as w:
                if kind == "add":
                    chunks, vectors = rows_of(count, *what)
                    count += what[0] + what[0] % 2
                    names = [f"{c['doc_id']}#{c['chunk_index']}" for c in chunks]
                    given_vectors |= dict(zip(names, vectors, strict=True))
                    w.add(chunks, vectors)
                elif kind == "delete":
                    w.delete([f"d{i:04d}" for i in what])
                elif w.take(f"d{what:04d}"):
                    w.update(f"d{what:04d}", metadata={"seen": True})
        check(path, given_vectors)


def test_many_rows_answer_the_same_with_and_without_their_neighbours(tmp_path):
    """Through the shadow's planes, the tiles and the products, which small files do not reach."""
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((12_000, 128)).astype(np.float32)
    chunks = [
        {"doc_id": f"{i:06d}", "chunk_index": 0, "content": WORDS[i % 6]} for i in range(12_000)
    ]
    has = rng.random(12_000) < 0.8
    mixed = made(
        tmp_path / "mixed", chunks, [v if h else None for v, h in zip(vectors, has, strict=True)]
    )
    alone = made(
        tmp_path / "alone", [c for c, h in zip(chunks, has, strict=True) if h], vectors[has]
    )
    assert "rag.sample" in mixed.file.strategies
    assert ragfile.verify(tmp_path / "mixed")[0] == []
    numbers = np.flatnonzero(has)
    for count in (1, 3, 40):
        queries = rng.standard_normal((count, 128)).astype(np.float32)
        rows, scores = alone.nearest(queries, 50)
        found, of = mixed.nearest(queries, 50)
        assert found.tolist() == numbers[rows].tolist()
        assert of.tobytes() == scores.tobytes()
    assert mixed.rows.sample_statistics(queries[0]) == alone.rows.sample_statistics(queries[0])


def test_a_compaction_gives_the_bytes_of_a_fresh_build(tmp_path):
    chunks, vectors = rows_of(0, 40, 0.5)
    made(tmp_path / "once", chunks, vectors)
    made(tmp_path / "parts", chunks[:20], vectors[:20])
    with ragfile.edit(tmp_path / "parts") as w:
        w.add(chunks[20:], vectors[20:])
    ragfile.compact(tmp_path / "parts", renumber=True)
    assert (tmp_path / "once").read_bytes() == (tmp_path / "parts").read_bytes()


def test_vectors_can_come_to_a_file_that_has_none(tmp_path):
    chunks, vectors = rows_of(0, 10, 1)
    path = tmp_path / "kb"
    with ragfile.create(path) as w:
        w.add(chunks[:6])
    with ragfile.edit(path) as w:
        w.add(chunks[6:], vectors[6:])
    rf = ragfile.open(path)
    assert rf.vector_mask().tolist() == [False] * 6 + [True] * 4
    assert {e["segment"]: e["flags"] for e in rf.file.entries if e["name"] == "rag.bare"} == {1: 1}
    assert ragfile.verify(path)[0] == []


def test_vectors_can_go_and_come_again(tmp_path):
    chunks, vectors = rows_of(0, 8, 1)
    path = tmp_path / "kb"
    made(path, chunks[:2], [None, None]).close()
    for i in range(2, 8, 2):
        with ragfile.edit(path) as w:
            w.add(chunks[i : i + 2], vectors[i : i + 2])
        assert ragfile.verify(path)[0] == []
        with ragfile.edit(path) as w:
            w.delete([chunks[i]["doc_id"]])
            w.add([{"doc_id": f"late{i}", "chunk_index": 0, "content": "pod"}], [None])
        assert ragfile.verify(path)[0] == []
    assert not ragfile.open(path).rows.has_vectors


def test_forgotten_vectors_are_still_an_error(tmp_path):
    chunks, vectors = rows_of(0, 4, 1)
    w = ragfile.create(tmp_path / "kb")
    w.add(chunks[:2], vectors[:2])
    with pytest.raises(ModelError, match="None stands for a chunk without"):
        w.add(chunks[2:])
    w.discard()
    made(tmp_path / "kb", chunks[:2], vectors[:2])
    with (
        pytest.raises(ModelError, match="new chunks need some"),
        ragfile.edit(tmp_path / "kb") as w,
    ):
        w.add(chunks[2:])
    with pytest.raises(ValueError, match="not finite"), ragfile.edit(tmp_path / "kb") as w:
        w.add(chunks[2:], np.full((2, DIM), np.nan))


def test_what_has_no_vector_says_so(tmp_path):
    chunks, vectors = rows_of(0, 4, 1)
    rf = made(tmp_path / "kb", chunks, [vectors[0], None, vectors[2], None])
    with pytest.raises(ValueError, match="row 1 has no vector"):
        rf.vector(1)
    assert rf.search("pod node drain", mode="bm25", where=[1])[0].vector is None
    assert np.isnan(rf.vectors()[[1, 3]]).all()
    assert np.isfinite(rf.vectors()[[0, 2]]).all()
    assert [
        h.id for h in rf.search("pod node drain taint volume claim", k=9, where=~rf.vector_mask())
    ]
    hits = rf.search("drain", similar_to=1, vector=None, mode="bm25", k=9, drop_repeats=True)
    assert hits.degraded == ""
    spread = rf.search("pod node drain taint volume", vector=vectors[0], k=4, diversity=0.5)
    assert len(spread) == 4
    assert sum(1 for _ in rf.documents()) == 2


def test_an_explanation_has_no_score_that_is_not_there(tmp_path):
    chunks, vectors = rows_of(0, 4, 1)
    rf = made(tmp_path / "kb", chunks, [vectors[0], None, vectors[2], None])
    found = rf.explain("pod node drain", 1, vector=vectors[0])
    assert (list(found.scores), list(found.ranks)) == (["bm25"], ["bm25"])
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["scores"] == found.scores


def test_a_reader_that_does_not_know_the_section_refuses_the_file(tmp_path):
    chunks, vectors = rows_of(0, 4, 0.5)
    path = tmp_path / "kb"
    rf = made(path, chunks, vectors)
    entries = [
        ("rag.barf" if e["name"] == "rag.bare" else e["name"], e["segment"], e["flags"], e["items"],
         bytes(rf.file.section(e["name"], e["segment"])), e["at"])
        for e in rf.file.entries
    ]  # fmt: skip
    with pytest.raises(VersionError, match="must be understood"):
        _core.Reader(sealed(entries, rf.file.reader.segments))


@pytest.mark.parametrize("share", [0, 0.5])
def test_both_readers_find_the_same(tmp_path, share):
    chunks, vectors = rows_of(0, 9, share)
    path = tmp_path / "kb"
    made(path, chunks[:5], [None] * 5).close()
    with ragfile.edit(path) as w:
        w.add(chunks[5:], vectors[5:])
    data = path.read_bytes()
    there = json.loads(
        subprocess.run([sys.executable, READER, path], capture_output=True, check=True).stdout
    )
    assert conformance.difference(there, conformance.answer(conformance.read, data)) is None


def test_a_file_behind_a_url_answers_the_same(tmp_path):
    chunks, vectors = rows_of(0, 60, 0.5)
    here = made(tmp_path / "kb.ragfile", chunks, vectors)
    query = np.ones(DIM, np.float32)
    files = {"kb": (tmp_path / "kb.ragfile").read_bytes()}
    with RangeServer(files) as server, ragfile.open(server.url("kb"), cache=None) as there:
        assert there.vector_mask().tolist() == here.vector_mask().tolist()
        for one in (here, there):
            assert one.nearest(query, 60)[0].tolist() == here.nearest(query, 60)[0].tolist()
        asked = {"vector": query, "k": 20}
        assert [(h.id, h.score, h.scores) for h in there.search("drain node", **asked)] == [
            (h.id, h.score, h.scores) for h in here.search("drain node", **asked)
        ]


def test_an_emptied_file_forgets_its_dimension(tmp_path):
    chunks, vectors = rows_of(0, 6, 1)
    path = tmp_path / "kb"
    made(path, chunks, [*vectors[:4], None, None])
    with ragfile.edit(path) as w:
        w.delete(["d0000", "d0001"])
    rf = ragfile.open(path)
    assert (rf.rows.dim, rf.rows.has_vectors, len(rf)) == (None, False, 2)
    with ragfile.edit(path) as w:
        w.add([{"doc_id": "new", "chunk_index": 0, "content": "pod"}], [[1.0, 2.0, 3.0]])
    rf = ragfile.open(path)
    assert rf.rows.dim == 3
    assert rf.nearest([1.0, 2.0, 3.0], 9)[0].tolist() == [[6, -1, -1]]
    assert ragfile.verify(path)[0] == []
    ragfile.compact(path)
    assert ragfile.open(path).nearest([1.0, 2.0, 3.0], 9)[0].tolist() == [[2, -1, -1]]
    with pytest.raises(ValueError, match="dimension 2"), ragfile.edit(path) as w:
        w.add([{"doc_id": "other", "chunk_index": 0, "content": "pod"}], [[1.0, 2.0]])


def test_one_edit_can_empty_a_file_and_bring_other_vectors(tmp_path):
    chunks, vectors = rows_of(0, 6, 1)
    made(tmp_path / "kb", chunks, vectors)
    with ragfile.edit(tmp_path / "kb") as w:
        w.delete(["d0000", "d0001", "d0002"])
        w.add([{"doc_id": "new", "chunk_index": 0, "content": "pod"}], [[1.0, 2.0]])
    assert ragfile.open(tmp_path / "kb").rows.dim == 2
    assert ragfile.verify(tmp_path / "kb")[0] == []


def test_a_dimension_that_was_asked_for_holds_until_there_are_vectors(tmp_path):
    ragfile.create(tmp_path / "kb", dim=5).close()
    with pytest.raises(ValueError, match="dimension 2"), ragfile.edit(tmp_path / "kb") as w:
        w.add([{"doc_id": "new", "chunk_index": 0, "content": "pod"}], [[1.0, 2.0]])


def test_chunks_of_one_text_keep_their_own_vectors(tmp_path):
    same = [{"doc_id": "a", "chunk_index": i, "content": "the same"} for i in range(3)]
    made(tmp_path / "kb", same, [[1.0, 0.0], None, [0.0, 1.0]])
    with ragfile.edit(tmp_path / "kb") as w:
        w.update("a", metadata={"k": 1})
    rf = ragfile.open(tmp_path / "kb")
    found = rf.rows.vectors_of(rf.live_rows())
    assert found[[0, 2]].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert np.isnan(found[1]).all()


def _replaced(w):
    w.replace("a", {"id": "a", "text": "one two"}, [Chunk("a", 0, "one"), Chunk("a", 1, "two")])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda w: w.upsert([{"doc_id": "a", "chunk_index": 1, "content": "two"}]), [False, True]),
        (lambda w: w.update("a", metadata={"k": 1}), [False]),
        (_replaced, [False, True]),
    ],
    ids=["upsert", "update", "replace"],
)
@pytest.mark.parametrize("others", [[], [{"id": "b", "text": "another document"}]])
def test_an_embedder_leaves_a_chunk_without_a_vector_as_it_is(tmp_path, change, expected, others):
    """Also where no chunk of the file has one: the caller left it out, for the file has a model."""
    embedder = Hashed(3)
    with ragfile.create(tmp_path / "kb", embedder=embedder) as w:
        w.add([{"doc_id": "a", "chunk_index": 0, "content": "one"}], [None])
        w.add_documents(others)
    with ragfile.edit(tmp_path / "kb", embedder=embedder) as w:
        change(w)
        assert w.embedded == sum(expected)
    with ragfile.open(tmp_path / "kb") as rf:
        mask = rf.vector_mask()
        rows = [rf.row(f"a#{index}") for index in range(len(expected))]
        assert [bool(mask[row]) for row in rows] == expected


def test_a_bitmap_that_is_too_short_is_damage(tmp_path):
    chunks, vectors = rows_of(0, 9, 0.5)
    rf = made(tmp_path / "kb", chunks, vectors)
    entries = [
        (e["name"], e["segment"], e["flags"], e["items"],
         b"" if e["name"] == "rag.bare" else bytes(rf.file.section(e["name"], e["segment"])), e["at"])
        for e in rf.file.entries
    ]  # fmt: skip
    (tmp_path / "bad").write_bytes(sealed(entries, rf.file.reader.segments))
    with pytest.raises(CorruptError, match="too small"):
        _ = ragfile.open(tmp_path / "bad").rows.has_vectors
    assert ragfile.verify(tmp_path / "bad")[0]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "bm25"])
def test_row_numbers_restrict_both_retrievers_where_only_one_searches_a_segment(tmp_path, mode):
    """A segment without vectors is for words alone; the rows of the one after it are not taken for its rows."""
    words = [{"doc_id": f"a{i}", "chunk_index": 0, "content": "pod"} for i in range(3)]
    both = [{"doc_id": f"b{i:03d}", "chunk_index": 0, "content": "pod node"} for i in range(150)]
    vectors = np.random.default_rng(1).standard_normal((150, DIM)).astype(np.float32)
    with ragfile.create(tmp_path / "kb", dim=DIM) as w:
        w.add(words, [None] * 3)
    with ragfile.edit(tmp_path / "kb") as w:
        w.add(both, list(vectors))
    with ragfile.open(tmp_path / "kb") as rf:
        assert [segment.vector_count for segment in rf.rows.segments] == [0, 150]
        chosen = [1, 3 + 17, 3 + 140]
        expected = [rf.hit(row).id for row in (chosen if mode != "vector" else chosen[1:])]
        hits = rf.search("pod", 9, mode=mode, vector=vectors[140], where=np.array(chosen))
        assert sorted(hit.id for hit in hits) == expected
        many = rf.search_batch(
            ["pod", "node"], 9, mode=mode, vectors=vectors[:2], where=[chosen, chosen]
        )
        assert sorted(hit.id for hit in many[0]) == expected
