"""Keys for one file: everything else of the server is closed to them."""

import gc
import json
import subprocess
import sys
import weakref

import pytest
from doors.server.conftest import until

import ragfile
from ragfile.doors.server.keys import KeyFile
from ragfile.memory import Memory


@pytest.fixture
def users(tmp_path):
    folder = tmp_path / "users"
    folder.mkdir()
    for name in ("alice", "bob"):
        ragfile.build([{"id": "tea", "text": f"{name} drinks tea."}], folder / f"{name}.ragfile")
    return folder


@pytest.fixture
def keys(tmp_path):
    return KeyFile(str(tmp_path / "keys.json"))


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


def call(server, secret, name, route="/mcp", **arguments):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}}  # fmt: skip
    return server.post(route, body, **bearer(secret)).json["result"]


def test_a_key_for_one_file_opens_that_file_alone(serving, users, keys):
    alice, every = keys.add("alice", "write", "alice"), keys.add("every", "read")
    server = serving(users, keys=keys.path, can_write=True)
    found = server.search({"query": "tea"}, "alice", **bearer(alice))
    assert [hit["text"] for hit in found.json["hits"]] == ["alice drinks tea."]
    stored = server.ask(
        "PUT", "/v1/collections/alice/documents/new", {"text": "More tea."}, bearer(alice)
    )
    assert stored.status == 200, stored.body
    assert server.search({"query": "tea"}, "bob", **bearer(every)).status == 200
    for method, path in [
        ("POST", "/v1/collections/bob/search"), ("GET", "/v1/collections/bob"),
        ("GET", "/v1/collections"), ("GET", "/v1/collections/"), ("GET", "/v1/models"),
        ("POST", "/v1/chat/completions"), ("GET", "/v1/vector_stores/bob"), ("GET", "/v1/files"),
        ("GET", "/metrics"), ("GET", "/openapi.json"), ("POST", "/mcp/connector"),
        ("GET", "/v1/collections/alice/../bob"), ("GET", "/v1/collections/alice%2f..%2fbob"),
        ("GET", "/v1/collections/Alice"), ("GET", "/v1/collections/alice2/documents"),
    ]:  # fmt: skip
        done = server.ask(method, path, {} if method == "POST" else None, bearer(alice))
        assert done.status in (403, 404), (path, done.status)
        assert b"bob drinks" not in done.body


def test_tools_of_such_a_key_have_one_file(serving, users, keys):
    secret = keys.add("alice", "write", "alice")
    server = serving(users, keys=keys.path, can_write=True)
    found = call(server, secret, "search", query="tea")
    assert "alice drinks tea." in json.dumps(found)
    assert not call(server, secret, "put", id="x", text="Alice has a cat.")["isError"]
    assert "cat" in json.dumps(call(server, secret, "search", query="cat"))
    refused = call(server, secret, "search", query="tea", file="bob")
    assert refused["isError"]
    assert "bob drinks" not in json.dumps(refused)
    listed = server.post(
        "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, **bearer(secret)
    )
    assert b"bob" not in listed.body


def test_a_memory_of_such_a_key_is_that_of_its_file(serving, users, keys):
    secret = keys.add("alice", "write", "alice")
    server = serving(users, keys=keys.path, can_write=True)
    done = call(server, secret, "remember", "/mcp/memory", text="Alice lives in Rome.")
    assert not done["isError"], done
    with ragfile.open(users / "alice.ragfile") as alice, ragfile.open(users / "bob.ragfile") as bob:
        assert len(alice) == 2
        assert len(bob) == 1
    assert call(server, secret, "recall", "/mcp/memory", question="Rome?", file="bob")["isError"]


def test_the_command_line_makes_keys_for_one_file(keys):
    run = [sys.executable, "-m", "ragfile", "keys", "--keys", keys.path]
    add = [*run, "add", "alice", "--scope", "write", "--file", "alice"]
    assert subprocess.run(add, check=True, capture_output=True).stdout.startswith(b"rag_")
    listed = subprocess.run([*run, "list"], check=True, capture_output=True, text=True).stdout
    assert listed.startswith("alice  write")
    assert listed.endswith("  alice\n")
    add = [*run, "add", "other", "--scope", "admin", "--file", "alice"]
    refused = subprocess.run(add, check=False, capture_output=True, text=True)
    assert "use --scope read or --scope write" in refused.stderr


def test_a_folder_of_many_files_is_served_with_few_of_them_open(serving, users, monkeypatch):
    from ragfile.doors.mcp import files

    monkeypatch.setattr(files, "MOST", 5)
    data = (users / "bob.ragfile").read_bytes()
    for n in range(60):
        (users / f"u{n}.ragfile").write_bytes(data)
    server = serving(users)
    for n in range(60):
        assert server.search({"query": "tea"}, f"u{n}").status == 200
    listed = server.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).json
    schema = listed["result"]["tools"][0]["inputSchema"]
    assert schema["properties"]["file"] == {"type": "string"}
    found = call_open(server, "search", query="tea", file="u7")
    assert not found["isError"]


def call_open(server, name, **arguments):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}}  # fmt: skip
    return server.post("/mcp", body).json["result"]


def listed(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix == ".ragfile")


def upload(server, secret, text, method="POST"):
    body = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="notes.md"\r\n\r\n'
        + text + b"\r\n--x--\r\n"
    )  # fmt: skip
    headers = {"Content-Type": "multipart/form-data; boundary=x", **bearer(secret)}
    return server.ask(method, "/v1/collections/carol/files", body, headers)


def store(server, secret):
    path = "/v1/collections/carol/documents/tea"
    return server.ask("PUT", path, {"text": "Carol drinks tea."}, bearer(secret)).status


WRITES = {
    "document": lambda server, secret: store(server, secret) == 200,
    "upload": lambda server, secret: upload(server, secret, b"Carol drinks tea.").status == 202,
    "tool": lambda server, secret: (
        not call(server, secret, "put", id="tea", text="Carol drinks tea.")["isError"]
    ),
    "memory": lambda server, secret: (
        not call(server, secret, "remember", "/mcp/memory", text="Carol drinks tea.")["isError"]
    ),
}


@pytest.mark.parametrize("kind", WRITES)
def test_the_first_write_of_a_key_makes_its_file(serving, users, keys, root, kind):
    secret = keys.add("carol", "write", "carol")
    server = serving(users, keys=keys.path, can_write=True, uploads=str(root))
    assert server.search({"query": "tea"}, "carol", **bearer(secret)).status == 404
    assert call(server, secret, "recall", "/mcp/memory", question="tea")["isError"]
    assert listed(users) == ["alice.ragfile", "bob.ragfile"]
    assert WRITES[kind](server, secret)
    until(
        lambda: b"Carol drinks" in server.search({"query": "tea"}, "carol", **bearer(secret)).body
    )
    assert WRITES[kind](server, secret)
    assert listed(users) == ["alice.ragfile", "bob.ragfile", "carol.ragfile"]


def test_no_other_key_makes_a_file(serving, users, keys):
    every, reader = keys.add("every", "write"), keys.add("carol", "read", "carol")
    server = serving(users, keys=keys.path, can_write=True)
    assert store(server, every) == 404
    assert store(server, reader) == 403
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "remember", "arguments": {"text": "x"}}}  # fmt: skip
    assert "error" in server.post("/mcp/memory", body, **bearer(reader)).json
    assert call(server, every, "remember", "/mcp/memory", text="x", file="carol")["isError"]
    assert listed(users) == ["alice.ragfile", "bob.ragfile"]


@pytest.mark.parametrize("name", ["CON", "nul.txt", "Alice", "a:b"])
def test_a_key_makes_no_file_of_a_name_that_is_not_safe_everywhere(serving, users, keys, name):
    secret = keys.add("one", "write", name)
    server = serving(users, keys=keys.path, can_write=True)
    done = call(server, secret, "remember", "/mcp/memory", text="x")
    assert done["isError"]
    path = f"/v1/collections/{name}/documents/tea"
    assert server.ask("PUT", path, {"text": "x"}, bearer(secret)).status == 422
    assert listed(users) == ["alice.ragfile", "bob.ragfile"]


def test_recall_of_a_deleted_file_does_not_make_it_again(serving, users, keys):
    secret = keys.add("alice", "write", "alice")
    server = serving(users, keys=keys.path, can_write=True)
    assert not call(server, secret, "remember", "/mcp/memory", text="Tea is hot.")["isError"]
    (users / "alice.ragfile").unlink()
    assert call(server, secret, "recall", "/mcp/memory", question="tea")["isError"]
    assert call(server, secret, "search", query="tea")["isError"]
    assert listed(users) == ["bob.ragfile"]
    assert not call(server, secret, "remember", "/mcp/memory", text="Tea is cold.")["isError"]
    found = json.dumps(call(server, secret, "recall", "/mcp/memory", question="tea"))
    assert ("cold" in found, "hot" in found) == (True, False)


def test_memories_of_a_server_have_its_layers_below(serving, users, keys, tmp_path):
    team = str(tmp_path / "team.ragfile")
    with Memory(team) as memory:
        memory.remember("The standup is at 9:30.", about="standup")
    secret = keys.add("carol", "write", "carol")
    server = serving(users, keys=keys.path, can_write=True, over=(team,))
    for path in users.iterdir():
        path.unlink()
    assert not call(server, secret, "remember", "/mcp/memory", text="Carol likes tea.")["isError"]
    found = json.dumps(call(server, secret, "recall", "/mcp/memory", question="standup?", k=9))
    assert "9:30" in found
    assert "likes tea" in found


def test_few_memories_of_many_stay_open(tmp_path, monkeypatch):
    from ragfile.doors.mcp import memory_tools
    from ragfile.doors.mcp.files import Files

    monkeypatch.setattr(memory_tools, "MOST", 2)
    paths = [str(tmp_path / f"u{n}.ragfile") for n in range(4)]
    for path in paths:
        Memory(path).close()
    opened = memory_tools.OpenMemories(Files(paths))
    first = weakref.ref(opened.memory("u0"))
    for n in (1, 2, 3):
        opened.memory(f"u{n}").remember("Tea.")
    gc.collect()
    assert first() is None
