"""Ids, tags and metadata far beyond what anybody needs: kept whole through edits and compaction, or refused by name."""

import pytest
from crash import life

import ragfile

MEGA = 1 << 20
DOCUMENTS = {
    "a long id": {"id": "x" * 1024, "text": "fed"},
    "a null in the id": {"id": "a\0b#\0", "text": "fed"},
    "many tags": {"id": "a", "text": "fed", "tags": [f"t{i}" for i in range(100_000)]},
    "a long tag": {"id": "a", "text": "fed", "tags": ["t" * MEGA, "\0", ""]},
    "nulls everywhere": {
        "id": "\0",
        "text": "fed\0fed\0",
        "tags": ["\0"],
        "metadata": {"\0": "\0"},
        "source": "\0",
    },
    "large metadata": {
        "id": "a",
        "text": "fed",
        "metadata": {"m": "x" * (17 * MEGA), "": {"": [None, True, 1e308]}},
    },
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_large_and_odd_values_are_kept_whole(tmp_path, name):
    path, document = tmp_path / "kb", DOCUMENTS[name]
    with ragfile.create(path) as w:
        w.add_documents([document])
    for _ in range(2):
        with ragfile.open(path) as rf:
            kept = rf.document(document["id"])
            assert kept.text == "fed" + document["text"][3:]
            assert kept.tags == tuple(document.get("tags", ()))
            assert kept.metadata == document.get("metadata", {})
            assert document["id"] in {
                hit.doc_id for hit in rf.search("fed", tags_any=kept.tags[-1:])
            }
            assert rf.row(document["id"] + "#0") is not None
        with ragfile.edit(path) as w:
            w.upsert([{"id": "other", "text": "fed"}])
            w.upsert([document])
            assert w.report["unchanged"] >= 1
        ragfile.compact(path)
    assert ragfile.verify(path)[0] == []
    with ragfile.edit(path) as w:
        assert w.delete([document["id"]]) == [document["id"]]
    with ragfile.open(path) as rf:
        assert [d.id for d in rf.documents()] == ["other"]


def test_documents_whose_long_ids_differ_at_the_end_are_told_apart(tmp_path):
    ids = ["x" * 1022 + f"{i:02}" for i in range(12)]
    with ragfile.create(tmp_path / "kb") as w:
        w.add_documents([{"id": i, "text": "fed"} for i in ids])
    with ragfile.edit(tmp_path / "kb") as w:
        assert w.delete(ids[3:5]) == ids[3:5]
    with ragfile.open(tmp_path / "kb") as rf:
        assert [hit.doc_id for hit in rf.search("fed", 20)] == sorted({*ids} - {*ids[3:5]})


@pytest.mark.parametrize("field", ["metadata", "tags"])
def test_metadata_of_a_chunk_over_its_limit_is_refused(tmp_path, field):
    value = {"metadata": {"m": "x" * (16 * MEGA)}, "tags": ["x" * (16 * MEGA)]}[field]
    chunk = {"doc_id": "d", "chunk_index": 0, "content": "fed", field: value}
    with (
        pytest.raises(ValueError, match=r"chunk 0 of 'd'.*16 MiB"),
        ragfile.create(tmp_path / "kb") as w,
    ):
        w.add([chunk])
    life.make(tmp_path / "kb")
    with (
        pytest.raises(ValueError, match="16 MiB"),
        ragfile.edit(tmp_path / "kb", embedder=life.Letters()) as w,
    ):
        w.add([chunk])
    assert life.number_of(tmp_path / "kb") == 0
    largest = 16 * MEGA - 1 - len('{"metadata":{"m":""}}')
    with ragfile.create(tmp_path / "kb") as w:
        w.add([{**chunk, "tags": [], "metadata": {"m": "x" * largest}}])
    with ragfile.open(tmp_path / "kb") as rf:
        assert len(rf.chunk(0).metadata["m"]) == largest
