"""Through every door, a result carries the label of the retrievers that found it, and of no other."""

import json
import subprocess
import sys

import pytest

import ragfile
from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.protocol import Server
from ragfile.doors.mcp.tools import Tools

DOCUMENTS = [ragfile.Document("a", "Owls fly at night."), ragfile.Document("b", "Chalk is soft.")]
QUESTION = "owls fly"
FILES = {
    "words": ({"embedder": "none"}, "bm25"),
    "vectors": ({"embedder": "default", "analysis": None}, "vector"),
    "both": ({"embedder": "default"}, None),
}


@pytest.fixture
def kb(tmp_path, request):
    options, label = FILES[request.param]
    path = tmp_path / f"{request.param}.ragfile"
    with ragfile.create(path, **options) as w:
        w.add_documents(DOCUMENTS)
    return path, label


def of_library(path, mode, serving):
    with ragfile.open(path) as rf:
        hits = rf.search(QUESTION, 2, mode=mode)
        return [(hit.score_type, set(hit.scores)) for hit in hits], hits.degraded


def of_dataset(path, mode, serving):
    ragfile.dataset.convert(path, f"{path.with_suffix('')}-ds/", shards=2)
    with ragfile.open(f"{path.with_suffix('')}-ds") as rf:
        hits = rf.search(QUESTION, 2, mode=mode)
        return [(hit.score_type, set(hit.scores)) for hit in hits], hits.degraded


def of_command(path, mode, serving):
    done = subprocess.run(
        [sys.executable, "-m", "ragfile", "search", path, QUESTION, "--mode", mode, "--json"],
        capture_output=True, text=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    return [(hit["score_type"], set(hit["scores"])) for hit in found["hits"]], found["degraded"]


def of_mcp(path, mode, serving):
    params = {
        "name": "search",
        "arguments": {"query": QUESTION, "k": 2},
        "_meta": {"ragfile/structured": True},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    found = Server(Tools(Files([str(path)]))).handle(message)["result"]["structuredContent"]
    return [(hit["score_type"], set(hit["scores"])) for hit in found["hits"]], found["degraded"]


def of_server(path, mode, serving):
    body = {"query": QUESTION, "k": 2, "mode": mode}
    found = serving(path).search(body, collection=path.stem).json
    return [(hit["score_type"], set(hit["scores"])) for hit in found["hits"]], found["degraded"]


DOORS = [of_library, of_dataset, of_command, of_mcp, of_server]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "bm25"])
@pytest.mark.parametrize("kb", FILES, indirect=True)
@pytest.mark.parametrize("door", DOORS)
def test_the_label_names_the_retrievers_that_answered(kb, door, mode, serving):
    path, only = kb
    if door is of_mcp and mode != "hybrid":
        return  # its tool has no modes
    labels, degraded = door(path, mode, serving)
    wanted = {"hybrid": {"bm25", "vector"}, "vector": {"vector"}, "bm25": {"bm25"}}[mode]
    able = {only} if only else {"bm25", "vector"}
    assert bool(degraded) == bool(wanted - able), degraded
    if mode == "bm25" and only == "vector":
        assert labels == []
        return
    answered = wanted & able or able
    assert labels
    for label, parts in labels:
        assert parts <= answered
        assert label == (next(iter(answered)) if len(answered) == 1 else "calibrated")


def test_stats_and_delete_need_write_access(tmp_path):
    with ragfile.create(tmp_path / "kb.ragfile", embedder="none") as w:
        w.add_documents(DOCUMENTS)
    files = Files([str(tmp_path / "kb.ragfile")])
    assert {"put", "delete", "stats"}.isdisjoint(Tools(files).names)

    def call(name, **arguments):
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments, "_meta": {"ragfile/structured": True}},
        }
        return Server(Tools(files, can_write=True)).handle(message)["result"]["structuredContent"]

    assert call("stats")["documents"] == 2
    call("delete", id="a")
    assert (call("stats")["documents"], call("stats")["chunks"]) == (1, 1)
