"""One engine, many doors: library, REST, MCP and OpenAI's interface give the same, byte for byte."""

import json
from dataclasses import asdict

import pytest

import ragfile
from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.tools import Tools

GOLDEN = [
    ("How often must keys be rotated?", None),
    ("restart a pod", None),
    ("When are backups taken?", None),
    ("Größe 3 µm 😀", None),
    ("keys", {"year": {"$gte": 2024}}),
    ("line 7 of the page", {"$or": [{"year": 2023}, {"name": "keys.md"}]}),
    ("nothing of the kind", {"year": 1}),
    ("", None),
]
K = 5
FILTERS = {  # the same filters in OpenAI's words
    '{"year": {"$gte": 2024}}': {"type": "gte", "key": "year", "value": 2024},
    '{"$or": [{"year": 2023}, {"name": "keys.md"}]}': {
        "type": "or", "filters": [{"type": "eq", "key": "year", "value": 2023},
                                  {"type": "eq", "key": "name", "value": "keys.md"}],
    },
    '{"year": 1}': {"type": "eq", "key": "year", "value": 1},
}  # fmt: skip


def as_bytes(value):
    return json.dumps(value, sort_keys=True).encode()


def library(server, path, question, where):
    with ragfile.open(path) as rf:
        return [asdict(hit) for hit in rf.search(question, K, where=where)]


def rest(server, path, question, where):
    body = {"query": question, "k": K} | ({"where": where} if where else {})
    return server.search(body).json["hits"]


def batch(server, path, question, where):
    body = {"queries": ["other", question], "k": K} | ({"where": where} if where else {})
    return server.search(body).json["results"][1]["hits"]


def called(where):
    return {"query": "", "k": K, "tokens": 20_000} | ({"where": where} if where else {})


def mcp(server, path, question, where):
    tools = Tools(Files([str(path)]))
    found = tools.call("search", called(where) | {"query": question})
    return found["structuredContent"]["hits"]


def mcp_over_http(server, path, question, where):
    arguments = called(where) | {"query": question}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "search", "arguments": arguments, "_meta": {"ragfile/structured": True}}}  # fmt: skip
    return server.post("/mcp", call).json["result"]["structuredContent"]["hits"]


DOORS = [rest, batch, mcp, mcp_over_http]


@pytest.mark.parametrize("door", DOORS, ids=lambda d: d.__name__)
@pytest.mark.parametrize(("question", "where"), GOLDEN, ids=[q for q, _ in GOLDEN])
def test_a_door_gives_the_librarys_hits(server, built, door, question, where):
    expected = as_bytes(library(server, built, question, where))
    assert as_bytes(door(server, built, question, where)) == expected


@pytest.mark.parametrize(("question", "where"), GOLDEN, ids=[q for q, _ in GOLDEN])
def test_openais_search_gives_the_librarys_hits_in_its_words(server, built, question, where):
    body = {"query": question, "max_num_results": K}
    if where:
        body["filters"] = FILTERS[json.dumps(where)]
    found = server.post("/v1/vector_stores/kb/search", body).json["data"]
    hits = library(server, built, question, where)
    assert as_bytes(
        [[r["file_id"], r["score"], r["content"][0]["text"]] for r in found]
    ) == as_bytes([[hit["doc_id"], hit["score"], hit["text"]] for hit in hits])


@pytest.mark.parametrize("question", [q for q, where in GOLDEN if where is None and q])
def test_every_door_answers_a_question_with_the_same_text(server, built, question):
    with ragfile.open(built) as rf:
        expected = rf.ask(question)
    asked = {"model": "kb", "messages": [{"role": "user", "content": question}]}
    by_rest = server.post("/v1/collections/kb/ask", {"question": question}).json
    by_openai = server.post("/v1/chat/completions", asked).json["choices"][0]["message"]
    assert by_rest["text"] == by_openai["content"] == expected.text
    said = json.loads(json.dumps(expected.to_dict()))
    for name in ("citations", "sources", "unsupported", "unknown", "dropped", "finish", "rag"):
        assert as_bytes(by_rest[name]) == as_bytes(said[name])
