"""What is deleted is gone at every door: no accessor hands it out, and no number names it."""

import numpy as np
import pytest

import ragfile

GONE = "secret"
ACCESSORS = {
    "hit": lambda rf, row: rf.hit(row),
    "chunk": lambda rf, row: rf.chunk(row),
    "vector": lambda rf, row: rf.vector(row),
    "score by text": lambda rf, row: rf.score([row], text="pods"),
    "score by vector": lambda rf, row: rf.score([0, row], vector=[1.0, 0.0]),
}


def vector_of(number):
    return [1.0, number / 8]


@pytest.fixture
def rf(tmp_path):
    """Rows 0–3, of which 1 is deleted and 2 was replaced, and two rows of a second commit."""
    path = tmp_path / "kb"
    with ragfile.create(path, dim=2, portable=True) as w:
        for i, text in enumerate(["pods", f"{GONE} pods", "pods before", "nodes"]):
            chunk = ragfile.Chunk(f"d{i}", 0, text, metadata={"n": i})
            w.add([chunk], np.array([vector_of(i)], np.float32))
    with ragfile.edit(path) as w:
        w.delete(["d1", "d2"])
        chunks = [ragfile.Chunk("d4", i, f"pods after {i}", metadata={"n": 4}) for i in range(2)]
        w.add(chunks, np.array([vector_of(4), vector_of(5)], np.float32))
    with ragfile.open(path, embedder="none") as opened:
        yield opened


def test_live_rows_are_those_that_are_left(rf):
    assert rf.live_rows().tolist() == [0, 3, 4, 5]
    assert rf.live_rows().dtype == np.int64
    assert len(rf.live_rows()) == len(rf) == rf.rows.count - 2


@pytest.mark.parametrize("ask", ACCESSORS.values(), ids=ACCESSORS)
@pytest.mark.parametrize("row", [1, np.int64(2)])
def test_a_deleted_row_is_refused_by_its_number(rf, ask, row):
    with pytest.raises(IndexError, match=f"row {row} is deleted: live_rows"):
        ask(rf, row)


@pytest.mark.parametrize("ask", ACCESSORS.values(), ids=ACCESSORS)
@pytest.mark.parametrize("row", [6, -2, 1 << 40])
def test_a_number_outside_the_file_is_refused(rf, ask, row):
    with pytest.raises(IndexError, match=f"row {row} "):
        ask(rf, row)


def test_a_mask_is_false_for_what_is_deleted(rf):
    expected = [True, False, False, True, True, True]
    assert rf.rows.mask({"n": {"$gte": 0}}).tolist() == expected
    assert rf.rows.mask(np.ones(6, bool)).tolist() == expected
    assert rf.rows.mask([0, 1, 4]).tolist() == [True, False, False, False, True, False]
    assert rf.rows.mask({"n": {"$ne": 4}}).tolist() == [True, False, False, True, False, False]


def test_vectors_are_those_of_the_live_rows_in_their_order(rf):
    rows = rf.live_rows()
    assert rf.vectors().tolist() == [rf.vector(row).tolist() for row in rows]
    assert rf.vectors(0).tolist() == [vector_of(0), vector_of(3)]
    assert rf.vectors(1).tolist() == [vector_of(4), vector_of(5)]


def test_pairs_and_lookups_do_not_know_what_is_deleted(rf):
    texts = [text for _, text in rf.file.pairs("keyword")]
    assert texts == ["pods", "nodes", "pods after 0", "pods after 1"]
    assert [vector.tolist() for vector, _ in rf.file.pairs("vector")] == rf.vectors().tolist()
    assert rf.file.lookup("c0000000001") == ["pods after 1"]  # of the second commit
    assert rf.file.lookup("c0000000002") == []


def test_a_file_whose_documents_are_all_deleted_finds_nothing_and_misses_nothing(rf):
    with ragfile.edit(rf.path) as w:
        w.delete(["d0", "d3", "d4"])
    rf.refresh()
    for mode in ("hybrid", "vector", "bm25", "keyword"):
        hits = rf.search("pods", vector=[1.0, 0.0], mode=mode)
        assert (hits, hits.degraded) == ([], "")
    assert rf.vectors() is None
    assert rf.live_rows().tolist() == []


def test_the_filling_of_an_answer_names_no_row(rf):
    filled, scores = rf.match(["nodes"], 4)
    assert filled.tolist() == [[3, -1, -1, -1]]
    assert rf.nearest([[1.0, 0.0]], 4, where=filled[0])[0].tolist() == [[3, -1, -1, -1]]
    assert rf.score(filled[0], text="nodes").tolist() == scores[0].tolist()
    assert [hit.id for hit in rf.search("pods", mode="bm25", where=[-1, 0])] == ["d0#0"]
    assert rf.search("pods", where=[-1]) == []


@pytest.mark.parametrize("where", [[6], [0, -2], np.array([1 << 40])])
def test_a_filter_of_rows_outside_the_file_is_refused(rf, where):
    with pytest.raises(IndexError, match="outside the file's 6 rows"):
        rf.nearest([[1.0, 0.0]], 2, where=where)


def test_tags_hold_beside_a_filter_of_rows(tmp_path):
    with ragfile.create(tmp_path / "kb") as w:
        w.add([ragfile.Chunk("a", 0, "pods", ("x",)), ragfile.Chunk("b", 0, "pods")])
    with ragfile.open(tmp_path / "kb") as rf:
        assert [h.doc_id for h in rf.search("pods", where=[0, 1], tags_any=["x"])] == ["a"]


def test_room_is_made_for_the_rows_there_are(rf):
    for found in (rf.nearest(np.ones((3, 2)), 10**12), rf.match(["pods"] * 3, 10**12)):
        assert [array.shape for array in found] == [(3, 4), (3, 4)]
    with pytest.raises(ValueError, match="must not be negative"):
        rf.match(["pods"], -1)


@pytest.mark.parametrize(
    "ask",
    [
        lambda rf, v: rf.search("pods", vector=v),
        lambda rf, v: rf.search_batch(["pods"], vectors=[v]),
        lambda rf, v: rf.nearest([v]),
        lambda rf, v: rf.score([0], vector=v),
    ],
)
def test_vectors_of_complex_numbers_and_of_none_are_refused(rf, ask):
    with pytest.raises(ValueError, match="numbers, not complex128"):
        ask(rf, np.array([1 + 2j, 0]))
    with pytest.raises(ragfile.ModelError, match="0 dimensions"):
        ask(rf, np.empty(0, np.float32))


def test_vectors_of_complex_numbers_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="not complex"), ragfile.create(tmp_path / "kb") as w:
        w.add([ragfile.Chunk("a", 0, "pods")], np.array([[1 + 2j, 0]]))


def test_metadata_belong_to_whoever_asked(tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path) as w:
        w.add_document(
            ragfile.Document("a", "pods nodes", metadata={"l": [1, {"deep": 2}]}),
            [ragfile.Chunk("a", 0, "pods"), ragfile.Chunk("a", 1, "nodes")],
        )
    said = {"l": [1, {"deep": 2}]}
    with ragfile.open(path) as rf:
        doors = (
            lambda: rf.search("pods")[0].metadata,
            lambda: rf.hit(1).metadata,
            lambda: rf.chunk(0).metadata,
            lambda: rf.document("a").metadata,
        )
        for change in doors:
            changed = change()
            changed["l"][1]["deep"] = "changed"
            changed["l"].append(3)
            changed["more"] = 1
            assert [door() for door in doors] == [said] * 4


def test_documents_are_counted_with_and_without_rows_in_every_segment(tmp_path):
    path, rng = tmp_path / "kb.ragfile", np.random.default_rng(7)
    texts = ["", "one line", "two\n\nparagraphs of it"]
    named = [{"id": f"d{n:03}", "text": texts[n % 3]} for n in range(200)]
    ragfile.build(named, path, embedder="none")
    for n in range(4):
        with ragfile.edit(path) as editor:
            gone = [f"d{i:03}" for i in rng.permutation(200)[:40]]
            editor.delete(gone)
            editor.upsert([{"id": f"e{n}{i}", "text": texts[i % 3]} for i in range(20)])
        with ragfile.open(path) as rf:
            assert rf.info["documents"] == len(rf.document_ids())


def test_a_count_of_documents_refuses_a_row_set_that_is_too_short(tmp_path):
    ragfile.build([{"id": "a", "text": "x"}], tmp_path / "kb.ragfile", embedder="none")
    with (
        ragfile.open(tmp_path / "kb.ragfile") as rf,
        pytest.raises(ValueError, match="fewer bits"),
    ):
        rf.rows.segments[0].records.live_documents(np.empty(0, np.uint64))
