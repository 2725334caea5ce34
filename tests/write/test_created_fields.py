"""Files of create() index the path of headers by words, as files of build() do."""

import pytest

import ragfile
from ragfile import Analysis
from ragfile.write.analysis_record import PAGES, analysis_record, noted_analysis

TURN = {"id": "t1", "text": "It lives for an hour.", "metadata": {"headers": "Melanie"}}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path, embedder="default") as writer:
        writer.add_documents([TURN])
    return path


def test_words_of_headers_are_found_in_a_created_file(path):
    with ragfile.open(path) as rf:
        assert [hit.doc_id for hit in rf.search("Melanie", mode="bm25")] == ["t1"]


def test_words_of_headers_are_found_after_an_edit_of_a_created_file(path):
    with ragfile.edit(path) as writer:
        writer.upsert([{"id": "t2", "text": "Why?", "metadata": {"headers": "Caroline"}}])
    with ragfile.open(path) as rf:
        assert [hit.doc_id for hit in rf.search("Caroline", mode="bm25")] == ["t2"]


def test_created_and_built_files_of_the_same_documents_index_the_same_words(path, tmp_path):
    ragfile.build([TURN], tmp_path / "built.ragfile")
    with ragfile.open(path) as created, ragfile.open(tmp_path / "built.ragfile") as built:
        assert created.rows.analysis == built.rows.analysis == PAGES


def test_a_file_without_rows_keeps_the_fields_for_its_first_document(tmp_path):
    path = tmp_path / "empty.ragfile"
    with ragfile.create(path, embedder="default"):
        pass
    with ragfile.edit(path) as writer:
        writer.upsert([TURN])
    with ragfile.open(path) as rf:
        assert [hit.doc_id for hit in rf.search("Melanie", mode="bm25")] == ["t1"]


def test_an_empty_file_of_an_earlier_version_keeps_the_fields_that_it_promised():
    earlier = Analysis(accents="keep", positions=False, languages=False, clusters=False)
    assert analysis_record(earlier) == {}  # as earlier versions wrote it
    assert noted_analysis({}) == earlier
    assert not noted_analysis({}).positions
    assert noted_analysis(analysis_record(Analysis())).positions
