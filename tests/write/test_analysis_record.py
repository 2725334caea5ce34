"""What a file without rows, or without vectors, still knows of how it was made."""

from unittest import mock

import pytest
from write.test_editor import Letters

import ragfile
from ragfile.errors import FormatError
from ragfile.ingest.analysis import Analysis
from ragfile.write import draft


@pytest.mark.parametrize("is_emptied", [False, True])
def test_a_file_without_rows_keeps_how_words_are_made(tmp_path, is_emptied):
    path, german = tmp_path / "kb", Analysis(stemmer="german", stop_words=("die",), k1=2.0, b=0.5)
    with ragfile.create(path, analysis=german) as w:
        w.add_documents([{"id": "old", "text": "Katzen"}] if is_emptied else [])
    if is_emptied:
        with ragfile.edit(path) as w:
            w.delete(["old"])
        ragfile.compact(path)
    with ragfile.edit(path) as w:
        w.add_documents([{"id": "a", "text": "die Häuser"}])
    with ragfile.open(path) as rf:
        assert rf.rows.analysis == german
        assert "analysis" not in rf.file.config
        assert [hit.doc_id for hit in rf.search("Haus", mode="bm25")] == ["a"]
    ragfile.compact(path)
    with ragfile.open(path) as rf:
        assert rf.rows.analysis == german


@pytest.mark.parametrize("said", [7, {}, {"words": "analyzer=other\n", "k1": 1, "b": 0.5}])
def test_words_that_nobody_can_make_are_refused(tmp_path, said):
    with ragfile.create(tmp_path / "kb", config={"analysis": said}) as w:
        w.draft.record["analysis"] = said
        with mock.patch.object(draft, "analysis_record", return_value={"analysis": said}):
            w.close()
    with pytest.raises(FormatError, match=r"analys|analyzer"):
        ragfile.edit(tmp_path / "kb")


def test_chunks_without_vectors_do_not_make_a_file_forget_its_model(tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path, embedder=Letters()) as w:
        w.add([{"doc_id": "a", "chunk_index": 0, "content": "fed"}], [None])
    with ragfile.edit(path, embedder=Letters()) as w:
        w.upsert([{"id": "b", "text": "fed cab"}])
    with ragfile.open(path, embedder=Letters()) as rf:
        assert rf.vector_mask().tolist() == [False, True]
        assert [hit.doc_id for hit in rf.search("fed", mode="vector")] == ["b"]
