"""Keys with a filter: no operation shows a row that the filter hides, whatever a client guesses.

Two servers get the same requests with a filtered key. One serves a file with hidden documents, the other
a file that never had them. All answers must be equal, so nothing about hidden documents can be learnt.
The requests are made from the tables of operations and tools: one that they do not know fails the test.
"""

import json
import re
import subprocess
import sys

import pytest
from doors.server.conftest import until
from servers.chat_servers import Server as ChatServer

import ragfile
from ragfile.doors.mcp import connector, tools
from ragfile.doors.server.app import make_app
from ragfile.doors.server.collections import Collections
from ragfile.doors.server.endpoints import operations
from ragfile.doors.server.keys import KeyFile
from ragfile.doors.server.restricted_service import RestrictedCollections
from ragfile.doors.server.settings import Settings

TestClient = pytest.importorskip("starlette.testclient", reason="no extra server").TestClient

MARK = (
    "zzq"  # in everything of a hidden document: id, source, text, tags, names and values of fields
)
SHOWN = [
    {"id": f"open/{name}.md", "text": text, "source": f"open/{name}.md", "tags": ["plain"],
     "metadata": {"team": "a", "title": name.title(), "year": 2020 + n}}
    for n, (name, text) in enumerate({
        "keys": "# Keys\n\nRotate the common keys every 90 days. See [[shadow]] and [pods](pods.md).",
        "pods": "# Pods\n\nRestart a common pod by deleting it, as the [keys](keys.md) page says.",
        "night": "# Night\n\nBackups are common at night, and each backup is kept.",
    }.items())
]  # fmt: skip
HIDDEN = [
    {"id": f"{MARK}/{name}.md", "text": text, "source": f"{MARK}/{name}.md", "tags": [f"{MARK}tag"],
     "metadata": {"team": "b", "title": f"Zzq {name}", f"{MARK}key": f"{MARK}value{n}", "year": 1900}}
    for n, (name, text) in enumerate({
        "shadow": f"# Shadow {MARK}title\n\nThe common keys of {MARK}word are kept. See [[keys]].",
        "plan": f"# Plan\n\nRotate {MARK}word, as [keys](../open/keys.md) says: common common common.",
        "pods": f"# Pods\n\nA pod of {MARK}word.",
    }.items())
] + [{"id": f"{MARK}/empty.md", "text": "", "metadata": {"team": "b"}, "tags": [f"{MARK}tag"]}]  # fmt: skip
WORDS = ["common keys", f"{MARK}word", f"{MARK}title", "Shadow", "plan of backup", f"{MARK[:2]}"]
SYNTAX = [f"{MARK}*", f"{MARK}wrod~", f'"of {MARK}word"', f"+common -{MARK}word", "keys~"]
GONE = "no/page.md"
IDS = ["open/keys.md", "open/pods.md#0", GONE, *(one["id"] for one in HIDDEN)]
IDS += [f"{one['id']}#0" for one in HIDDEN] + [f"{MARK}/", "shadow", f"{MARK}/shadow"]
WHERES = [
    {f"{MARK}key": {"$exists": True}}, {f"{MARK}key": f"{MARK}value1"}, {"team": "b"}, {"year": 1900},
    {"team": {"$ne": "a"}}, {"$not": {"team": "a"}}, {"$or": [{"team": "b"}, {"team": "a"}]},
]  # fmt: skip
MESSAGES = [[{"role": "user", "content": word}] for word in WORDS]
IN_STORE = [
    {"type": "eq", "key": f"{MARK}key", "value": f"{MARK}value1"},
    {"type": "ne", "key": "team", "value": "a"},
]


def searches():
    """Bodies of the native search: every option that can name or weigh a row."""
    base = [
        {"query": word, "mode": mode} for word in WORDS for mode in ("hybrid", "bm25", "vector")
    ]
    base += [{"query": word, "query_syntax": True} for word in SYNTAX]
    base += [{"query": "common", "where": where} for where in WHERES]
    base += [{"query": "", "similar_to": name} for name in IDS]
    base += [{"query": word, "mode": "keyword"} for word in (*WORDS, *IDS)]
    base += [{"queries": WORDS}, {"query": "common", "tags_any": [f"{MARK}tag"]}]
    base += [
        {"query": "common keys", **one} for one in (
            {"excerpts": True, "support": True}, {"group": 2}, {"hops": 2}, {"k": 50, "offset": 1},
            {"diversity": 0.5}, {"drop_repeats": True}, {"fusion": "rrf"}, {"fields": {"headers": 3}},
            {"rewrites": [f"{MARK}word"]}, {"tags_all": ["plain"]}, {"min_score": 0.1},
            {"generation": 1}, {"generation": 2}, {"generation": 3},
        )
    ]  # fmt: skip
    return base


def named(path):
    return [path.replace("{id}", name.replace("#", "%23")) for name in IDS]


C = "/v1/collections/kb"
STORE = "/v1/vector_stores/kb"
PAGES = [f"?prefix={MARK}", f"?after={MARK}", "?limit=1", "?generation=1", ""]
# The requests of each operation, by its method and path: (path, body).
GUESSES = {
    "GET /v1/health": [("/v1/health", None)],
    "GET /v1/collections": [("/v1/collections", None)],
    "GET /v1/collections/{c}": [(C, None), ("/v1/collections/other", None)],
    "POST /v1/collections/{c}/search": [(C + "/search", body) for body in searches()],
    "POST /v1/collections/{c}/ask": [
        (C + "/ask", {"question": word, "model": model, **more})
        for word in WORDS for model in (None, "none")
        for more in ({"excerpts": True}, {"stream": True}, {"where": WHERES[0]})
    ],
    "GET /v1/collections/{c}/documents": [(C + "/documents" + page, None) for page in PAGES],
    "GET /v1/collections/{c}/documents/{id:text}": [
        (path + more, None) for path in named(C + "/documents/{id}") for more in ("", "?span=0-3")
    ],
    "GET /v1/collections/{c}/links/{id:text}": [(path, None) for path in named(C + "/links/{id}")],
    "GET /v1/collections/{c}/chunks/{row:text}": [
        (path, None) for path in named(C + "/chunks/{id}")
    ],
    "GET /v1/collections/{c}/facets": [(C + "/facets", None)],
    "POST /v1/chat/completions": [
        ("/v1/chat/completions", {"model": "kb", "messages": one, "stream": stream})
        for one in MESSAGES for stream in (False, True)
    ],
    "POST /v1/responses": [
        ("/v1/responses", {"model": "kb", "input": word, **more})
        for word in WORDS
        for more in ({}, {"tools": [{"type": "file_search", "vector_store_ids": ["kb"], "filters": IN_STORE[0]}],
                          "include": ["file_search_call.results"]})
    ],
    "POST /v1/rerank": [("/v1/rerank", {"model": "kb", "query": WORDS[1], "documents": WORDS})],
    "POST /v2/rerank": [("/v2/rerank", {"model": "kb", "query": WORDS[1], "documents": WORDS})],
    "GET /v1/models": [("/v1/models", None)],
    "GET /v1/models/{model}": [("/v1/models/kb", None), ("/v1/models/other", None)],
    "POST /v1/embeddings": [("/v1/embeddings", {"model": "kb", "input": [WORDS[1]]})],
    "GET /v1/vector_stores": [("/v1/vector_stores", None)],
    "GET /v1/vector_stores/{c}": [(STORE, None)],
    "POST /v1/vector_stores/{c}/search": [
        (STORE + "/search", {"query": word, **more})
        for word in WORDS for more in ({}, *({"filters": one} for one in IN_STORE))
    ],
    "GET /v1/vector_stores/{c}/files": [
        (STORE + "/files" + more, None)
        for more in ("", f"?after={HIDDEN[0]['id']}", f"?before={HIDDEN[0]['id']}", "?limit=1",
                     "?filter=in_progress", "?filter=failed", "?order=asc")
    ],
    "GET /v1/vector_stores/{c}/files/{id:text}/content": [
        (path, None) for path in named(STORE + "/files/{id}/content")
    ],
    "GET /v1/vector_stores/{c}/files/{id:text}": [
        (path, None) for path in named(STORE + "/files/{id}")
    ],
    "GET /openapi.json": [("/openapi.json", None)],
}  # fmt: skip
TOOL_GUESSES = {
    "search": [{"query": word} for word in WORDS] + [{"query": "common", "where": one} for one in WHERES]
    + [{"query": "common", "generation": n} for n in (1, 2)],
    "read": [{"id": name} for name in IDS] + [{"id": name, "line": 1} for name in IDS],
    "list": [{}, {"prefix": MARK}, {"after": MARK}, {"prefix": "open"}],
    "links": [{"id": name} for name in IDS],
    "ask": [{"question": word} for word in WORDS],
    "put": [{"id": one["id"], "text": "mine"} for one in HIDDEN],
    "delete": [{"id": one["id"]} for one in HIDDEN],
    "stats": [{}],
}  # fmt: skip
CONNECTOR_GUESSES = {
    "search": [{"query": word} for word in WORDS],
    "fetch": [{"id": name} for name in IDS],
}
# What differs between two requests, or two files, for reasons that are not documents.
PASSING = ("timings", "request_id", "created", "created_at", "row", "file_id", "expires_at")
OWN_IDS = re.compile(rb"(?:chatcmpl|resp|msg|fs|rs|call|search)[-_][0-9a-zA-Z-]+")
TIMES = re.compile(
    rb'"(?:timings)": ?\{[^{}]*\}|"(?:created|created_at|completed_at|request_id)": ?"?[\w.-]+"?'
)


def make_file(path, documents):
    """Write the visible documents in two commits, with the hidden ones among them."""
    ragfile.build(documents[:2] + documents[3:], path)
    with ragfile.edit(path) as writer:
        writer.upsert(documents[2:3])
    return path


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    file = KeyFile(str(tmp_path_factory.mktemp("keys") / "keys.json"))
    return file, file.add("team-a", "read", where={"team": "a"}), file.add("all", "write")


@pytest.fixture(scope="module")
def doors(tmp_path_factory, key):
    """Clients of two servers, and the chat model that both ask."""
    with ChatServer(["Rotate them [1]."]) as chat:
        clients = []
        for name, documents in (("with", SHOWN + HIDDEN), ("without", SHOWN)):
            path = make_file(tmp_path_factory.mktemp(name) / "kb.ragfile", documents)
            settings = Settings((str(path),), keys=key[0].path, can_write=True, model=chat.model())
            clients.append(TestClient(make_app(settings), "http://localhost"))
        send_broken_file(clients[0], key[2])
        yield *clients, chat


def send_broken_file(client, secret):
    """Leave an upload in the state of an error, with a name that no filter knows."""
    sent = {"file": (f"{MARK}.pdf", b"%PDF-1.4 broken")}
    done = client.post(C + "/files", files=sent, headers=bearer(secret)).json()["files"][0]
    place = f"{C}/files/{done['id']}"
    until(lambda: client.get(place, headers=bearer(secret)).json()["state"] == "error")


def bearer(secret):
    return {"Authorization": f"Bearer {secret}", "X-Request-Id": "r"}


def answered(client, secret, method, path, body=None):
    """The status and the body of a response, without what passes."""
    done = client.request(method, path, json=body, headers=bearer(secret))
    return done.status_code, TIMES.sub(b"", OWN_IDS.sub(b"", done.content))


def guessed(settings, key):
    for operation in operations(settings):
        name = f"{operation.method} {operation.path}"
        assert (name in GUESSES) == operation.is_filtered, f"{name}: guess at what it hides"
        yield operation, GUESSES.get(name, [])


def test_no_operation_shows_what_a_filter_hides(doors, key):
    full, alone, chat = doors
    asked = 0
    for operation, requests in guessed(Settings(("x",), can_write=True), key):
        for path, body in requests:
            one = answered(full, key[1], operation.method, path, body)
            other = answered(alone, key[1], operation.method, path, body)
            assert one == other, (operation.method, path, body)
            asked += 1
    assert asked > 250
    assert all(one["id"] not in json.dumps(sent) for sent in chat.requests for one in HIDDEN)


def test_the_same_guesses_find_it_without_a_filter(doors, key):
    """So the guesses are such that they would show it."""
    full, _, _ = doors
    blind = {"GET /v1/health", "POST /v1/rerank", "POST /v2/rerank", "GET /v1/models",
             "GET /v1/models/{model}", "POST /v1/embeddings", "GET /openapi.json"}  # fmt: skip
    counts = {"GET /v1/collections", "GET /v1/collections/{c}", "GET /v1/vector_stores",
              "GET /v1/vector_stores/{c}"}  # fmt: skip
    for operation, requests in guessed(Settings(("x",), can_write=True), key):
        name = f"{operation.method} {operation.path}"
        if not requests or name in blind | counts:
            continue
        shown = [answered(full, key[2], operation.method, *one) for one in requests]
        bodies = [body for status, body in shown if status == 200]
        assert any(
            sign in body for body in bodies for sign in (b"zzq/", b"zzqtag", b"Shadow zzq")
        ), name


def test_operations_without_a_filter_are_refused(doors, key):
    full, _, _ = doors
    closed = [one for one in operations(Settings(("x",), can_write=True)) if not one.is_filtered]
    assert len(closed) > 15
    for operation in closed:
        for target in (HIDDEN[0]["id"], GONE):
            path = re.sub(r"\{c\}", "kb", operation.path)
            path = re.sub(r"\{\w+:text\}", target, path)
            path = re.sub(r"\{\w+\}", target.replace("/", "-"), path)
            status, body = answered(full, key[1], operation.method, path, {"text": "mine"})
            assert status == 403, (operation.method, path)
            assert MARK.encode() not in body


def test_no_tool_shows_what_a_filter_hides(doors, key):
    full, alone, _ = doors
    assert TOOL_GUESSES.keys() == tools.ARGUMENTS.keys(), "guess at what a new tool hides"
    assert CONNECTOR_GUESSES.keys() == connector.SCHEMAS.keys()
    for route, guesses in (("/mcp", TOOL_GUESSES), ("/mcp/connector", CONNECTOR_GUESSES)):
        for name, given in guesses.items():
            for arguments in given:
                call = {"name": name, "arguments": arguments, "_meta": {"ragfile/structured": True}}
                body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
                one, other = (answered(door, key[1], "POST", route, body) for door in (full, alone))
                assert one == other, (route, name, arguments)
        listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        one, other = (answered(door, key[1], "POST", route, listed) for door in (full, alone))
        assert one == other
        assert not set(tools.ARGUMENTS) & {"put", "delete"} & set(re.findall(r"\w+", str(one[1])))
    assert answered(full, key[1], "POST", "/mcp/memory", listed)[0] == 403


def test_questions_over_a_websocket_obey_the_filter(doors, key):
    full, alone, _ = doors
    heard = []
    for door in (full, alone):
        with door.websocket_connect(
            C + "/ask", headers={**bearer(key[1]), "Host": "localhost"}
        ) as socket:
            events = []
            for word in WORDS:
                socket.send_json({"question": word, "model": "none"})
                while True:
                    events.append(socket.receive_json())
                    if events[-1]["event"] in ("done", "error"):
                        break
        heard.append(TIMES.sub(b"", json.dumps(events).encode()))
    assert heard[0] == heard[1]
    assert b"zzq/" not in heard[0]


def test_rows_are_hidden_by_number_too(doors, key):
    full, _, _ = doors
    numbers = [f"{C}/chunks/{row}" for row in range(12)]
    found = [answered(full, key[1], "GET", path) for path in numbers]
    assert sorted(status for status, _ in found) == [200] * 3 + [404] * 9
    assert not any(b"zzq" in body for _, body in found)
    masks = [{"query": "common", "where": [row]} for row in range(6)]
    found = [answered(full, key[1], "POST", C + "/search", body) for body in masks]
    assert not any(b"zzq" in body for _, body in found)


def test_a_document_with_one_hidden_passage_is_hidden_whole(tmp_path, key):
    path = tmp_path / "kb.ragfile"
    chunks = [
        {"doc_id": "mixed", "chunk_index": n, "content": text, "metadata": {"team": team}}
        for n, (text, team) in enumerate([("first part", "a"), ("second part", "b")])
    ]
    with ragfile.create(path) as writer:
        writer.add(chunks)
    client = TestClient(make_app(Settings((str(path),), keys=key[0].path)), "http://localhost")
    found = answered(client, key[1], "POST", C + "/search", {"query": "part"})
    assert found[0] == 200
    assert found[1].startswith(b'{"hits":[]')


def test_a_document_that_is_hidden_later_is_hidden_at_once(tmp_path, key):
    path = make_file(tmp_path / "kb.ragfile", SHOWN)
    client = TestClient(make_app(Settings((str(path),), keys=key[0].path)), "http://localhost")
    place = C + "/documents/open/keys.md"
    assert answered(client, key[1], "GET", place)[0] == 200
    assert b"open/keys.md" in answered(client, key[1], "GET", C + "/documents")[1]
    with ragfile.edit(path) as writer:
        writer.upsert([{**SHOWN[0], "metadata": {"team": "b"}}])
    assert answered(client, key[1], "GET", place)[0] == 404
    assert b"open/keys.md" not in answered(client, key[1], "GET", C + "/documents")[1]
    for generation in (1, 2):  # in which it was visible
        assert answered(client, key[1], "GET", f"{place}?generation={generation}")[0] == 403


def test_every_member_of_collections_is_decided_for_a_filter():
    members = {name for kind in Collections.__mro__[:-1] for name in vars(kind)}
    public = {name for name in members if not name.startswith("_")}
    assert public <= vars(RestrictedCollections).keys()


def test_the_command_line_makes_keys_with_a_filter(tmp_path):
    run = [sys.executable, "-m", "ragfile", "keys", "--keys", str(tmp_path / "keys.json")]

    def done(*arguments):
        return subprocess.run([*run, *arguments], check=False, capture_output=True, text=True)

    assert done("add", "a", "--where", '{"team": "a"}').stdout.startswith("rag_")
    assert done("list").stdout.endswith('  where {"team": "a"}\n')
    assert "use --scope read" in done("add", "b", "--scope", "write", "--where", '{"x": 1}').stderr
    assert "hides nothing" in done("add", "b", "--where", "{}").stderr
    assert "$lt" in done("add", "b", "--where", '{"x": {"$lt": null}}').stderr
    assert len(KeyFile(str(tmp_path / "keys.json")).read()) == 1


def test_a_filter_in_the_file_of_keys_never_writes(tmp_path):
    file = KeyFile(str(tmp_path / "keys.json"))
    file.add("a", "read", where={"team": "a"})
    stored = json.loads((tmp_path / "keys.json").read_text())
    stored[0]["scope"] = "admin"
    (tmp_path / "keys.json").write_text(json.dumps(stored))
    from ragfile.doors.server.keys import ApiKeys

    keys = ApiKeys(file.path, None)
    assert keys
    assert [known.scope for known in keys._known] == ["read"]
    for broken in ({}, {"x": {"$nope": 1}}, [], "team"):
        stored[0]["where"] = broken
        (tmp_path / "keys.json").write_text(json.dumps(stored))
        with pytest.raises(ValueError, match="not a file of keys"):
            KeyFile(file.path).read()
