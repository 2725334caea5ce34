"""The server and MCP tell when the folder that a collection was built from has changed since."""

import json
import os
import time

import pytest

import ragfile
from ragfile.doors.mcp import source_folders
from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.protocol import Server
from ragfile.doors.mcp.source_folders import SourceFolders
from ragfile.doors.mcp.tools import Tools

SAME = {"changed": 0, "added": 0, "missing": 0}


@pytest.fixture
def docs(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Keys\n\nRotate the keys.\n")
    ragfile.build(docs, tmp_path / "kb.ragfile")
    return docs


def _edit(docs):
    (docs / "a.md").write_text("# Other\n")
    later = time.time() + 10
    os.utime(docs / "a.md", (later, later))
    (docs / "b.md").write_text("# New\n")


def test_a_collection_with_a_folder_has_its_state(docs, serving, monkeypatch):
    monkeypatch.setattr(source_folders, "PAUSE", 0.0)
    kb = docs.parent / "kb.ragfile"
    server = serving(kb, sources=(("kb", str(docs)),))
    assert server.get("/v1/collections/kb").json["sources"] == SAME
    _edit(docs)
    found = server.get("/v1/collections/kb").json["sources"]
    assert found == {"changed": 1, "added": 1, "missing": 0}
    ragfile.sync(kb, docs)
    assert server.get("/v1/collections/kb").json["sources"] == SAME


def test_a_collection_without_a_folder_has_none(docs, serving):
    server = serving(docs.parent / "kb.ragfile")
    assert server.get("/v1/collections/kb").json["sources"] is None


def test_folders_are_looked_at_now_and_then_and_after_each_commit(docs):
    kb = docs.parent / "kb.ragfile"
    folders = SourceFolders({"kb": str(docs)})
    with ragfile.open(kb) as rf:
        assert folders.state("kb", rf) == SAME
        _edit(docs)
        assert folders.state("kb", rf) == SAME
        with ragfile.edit(kb) as w:
            w.add([{"doc_id": "note", "chunk_index": 0, "content": "by hand"}])
        rf.refresh()
        later = time.time() + 20
        os.utime(docs / "a.md", (later, later))
        assert folders.state("kb", rf) == {"changed": 1, "added": 1, "missing": 0}
        assert folders.state("other", rf) is None


def _called(tools, name):
    message = {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": {}},
    }  # fmt: skip
    return Server(tools).handle(message)["result"]


@pytest.mark.parametrize("name", ["list", "stats"])
def test_tools_tell_that_the_folder_has_changed(docs, name):
    files = Files([str(docs.parent / "kb.ragfile")])
    told = Tools(files, can_write=True, folders=SourceFolders({"kb": str(docs)}))
    assert "Note" not in json.dumps(_called(told, name))
    _edit(docs)
    told = Tools(files, can_write=True, folders=SourceFolders({"kb": str(docs)}))
    assert "1 changed, 1 added" in json.dumps(_called(told, name)["content"])
    untold = _called(Tools(files, can_write=True), name)
    assert "Note" not in json.dumps(untold)
