"""The server answers from datasets as from files: a folder with manifests is one collection."""

import pytest

import ragfile
from ragfile import dataset
from ragfile.doors.server.collections import Collections


@pytest.fixture
def kb(tmp_path):
    (tmp_path / "docs").mkdir()
    for name, text in {"keys.md": "Rotate the keys.", "pods.md": "Restart a pod."}.items():
        (tmp_path / "docs" / name).write_text(text)
    dataset.build(tmp_path / "docs", tmp_path / "all/kb", shards=2)
    ragfile.build(tmp_path / "docs", tmp_path / "all/one.ragfile")
    return tmp_path / "all/kb"


def test_a_dataset_is_a_collection_named_or_in_a_folder(kb):
    for places, names in (([str(kb)], ["kb"]), ([str(kb.parent)], ["kb", "one"])):
        found = Collections(places)
        assert found.names == names
        rf = found.at_commit("kb")
        assert rf.search("restart a pod", 1)[0].doc_id == "pods.md"
        assert [hit.score for hit in rf.search("restart a pod")] == [
            hit.score for hit in ragfile.open(kb.parent / "one.ragfile").search("restart a pod")
        ]


def test_facets_of_a_dataset_are_those_of_one_file(kb):
    from ragfile.doors.server.facets import facets_of

    with ragfile.open(kb) as rf, ragfile.open(kb.parent / "one.ragfile") as one:
        assert facets_of(rf) == facets_of(one)


def test_a_commit_is_seen_at_once_and_an_older_one_stays(kb):
    found = Collections([str(kb)])
    before = found.at_commit("kb")
    dataset.delete(kb, "pods.md")
    assert found.at_commit("kb").document("pods.md") is None
    assert before.document("pods.md") is not None
    assert found.at_commit("kb", 1).document("pods.md") is not None


def test_every_collection_operation_answers_from_a_dataset(kb):
    from ragfile.shards.open_dataset import Dataset

    with ragfile.open(kb) as rf, ragfile.open(kb.parent / "one.ragfile") as one:
        assert isinstance(rf, Dataset)
        said = {"documents", "chunks", "dim", "generation", "identity", "model", "size", "stale"}
        assert said <= rf.info.keys() & one.info.keys()
