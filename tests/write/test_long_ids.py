"""Ids of documents have at most 1,024 bytes at every door; files with longer ones keep working."""

import json

import pytest

import ragfile
from ragfile import records
from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.tools import Tools
from ragfile.ingest.document_loader import Loading

FITTING, LONG = "ü" * 512, "ü" * 512 + "x"


@pytest.fixture
def path(tmp_path):
    ragfile.build([{"id": "a", "text": "Keys."}], tmp_path / "kb.ragfile", embedder="none")
    return tmp_path / "kb.ragfile"


def refused(error):
    text = str(getattr(error, "value", error))
    assert "1,025 bytes of UTF-8; the limit is 1,024" in text
    assert LONG not in text


def test_the_library_limits_ids(path, tmp_path):
    for document in ({"id": LONG, "text": "x"}, ragfile.Document(LONG, "x")):
        with pytest.raises(ValueError, match="the limit is") as error:
            ragfile.build([document], tmp_path / "other", embedder="none")
        refused(error)
        with ragfile.edit(path) as writer, pytest.raises(ValueError, match="limit is") as error:
            writer.upsert([document])
        refused(error)
    with ragfile.edit(path) as writer:
        with pytest.raises(ValueError, match="the limit is"):
            writer.upsert([{"doc_id": LONG, "chunk_index": 0, "content": "x"}])
        writer.upsert([{"id": FITTING, "text": "Fitting."}, {"id": "\ud800", "text": "Lone."}])
    assert FITTING in ragfile.open(path).document_ids()


def test_a_tool_limits_ids_and_does_not_repeat_them(path):
    tools = Tools(Files([str(path)]), can_write=True)
    result = tools.call("put", {"id": "i" * 1_000_000, "text": "x"})
    assert result["isError"]
    text = result["content"][0]["text"]
    assert text == "the id of a document has 1,000,000 bytes of UTF-8; the limit is 1,024"
    for name in ("read", "delete"):
        result = tools.call(name, {"id": "i" * 1_000_000})
        assert result["isError"]
        assert len(str(result)) < 1000


def test_a_record_with_a_long_id_is_a_failure_of_its_file(tmp_path):
    lines = [json.dumps({"id": doc_id, "text": "x"}) for doc_id in ("a", LONG, "b")]
    (tmp_path / "records.jsonl").write_text("\n".join(lines))
    loading = Loading(tmp_path)
    assert len(list(loading)) == 2
    (failure,) = loading.failures
    assert "bytes of UTF-8; the limit is 1,024" in failure.reason
    assert LONG not in failure.reason


def test_a_file_with_longer_ids_is_read_edited_compacted_and_emptied(tmp_path, monkeypatch):
    path = tmp_path / "kb.ragfile"
    with monkeypatch.context() as earlier:
        earlier.setattr(records, "LONGEST_ID", 1 << 20)
        ragfile.build(
            [{"id": LONG, "text": "Keys."}, {"id": "b", "text": "b"}], path, embedder="none"
        )
    with ragfile.edit(path) as writer:
        writer.upsert([{"id": "c", "text": "Pods."}])
    ragfile.compact(path)
    with ragfile.open(path) as rf:
        assert rf.document(LONG).text == "Keys."
        assert LONG in rf.document_ids()
    with ragfile.edit(path) as writer:
        writer.delete([LONG])
    assert ragfile.open(path).document_ids() == ["b", "c"]
