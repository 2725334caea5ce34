"""Who may ask, from where, and what a body may not do."""

import contextlib
import http.client
import json
import os
import re
import socket
import stat
import subprocess
import sys
import time

import pytest
from doors.server.conftest import until

import ragfile
from ragfile.doors.server.keys import KeyFile

KB = "/v1/collections/kb"
SEARCH = KB + "/search"


# ------------------------------------------------------------------------------ Host and Origin ---


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
@pytest.mark.parametrize("path", ["/", "/v1/health", KB, "/mcp"])
def test_another_host_is_refused(server, host, path):
    answer = server.get(path, Host=host)
    assert (answer.status, answer.error["type"]) == (403, "forbidden")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:7433", "[::1]:7433"])
def test_a_name_of_this_machine_is_answered(server, host):
    assert server.get("/v1/health", Host=host).status == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:1", "file://", "http://"]
)
def test_a_page_from_elsewhere_is_refused(server, origin):
    answer = server.search({"query": "keys"}, Origin=origin)
    assert (answer.status, answer.error["type"]) == (403, "forbidden")
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_a_page_of_its_own_is_answered(server):
    assert server.search({"query": "keys"}, Origin=server.url).status == 200


def test_hosts_and_origins_can_be_allowed(serving, path):
    server = serving(path, hosts=("kb.example",), origins=("https://app.example",))
    answer = server.search({"query": "keys"}, Host="kb.example", Origin="https://app.example")
    assert answer.status == 200
    assert answer.headers["Access-Control-Allow-Origin"] == "https://app.example"
    before = server.ask("OPTIONS", SEARCH, Origin="https://app.example")
    assert before.status == 204
    assert "authorization" in before.headers["Access-Control-Allow-Headers"]
    assert server.ask("OPTIONS", SEARCH, Origin="https://other.example").status == 403


# ----------------------------------------------------------------------------------------- keys ---


@pytest.fixture
def keys(tmp_path):
    return KeyFile(str(tmp_path / "keys.json"))


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


def test_an_address_that_others_reach_needs_a_key(serving, path, monkeypatch):
    with pytest.raises(ValueError, match="there is no key"):
        serving(path, host="0.0.0.0")
    monkeypatch.setenv("RAGFILE_API_KEY", "rag_of_the_environment")
    server = serving(path, host="0.0.0.0")
    assert server.ask("GET", KB).status == 401
    assert server.ask("GET", KB, headers=bearer("rag_of_the_environment")).status == 200


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer rag_", "Basic {}", "{}", "Bearer {}x", "Bearer x{}",
     "Bearer \u00fc\u00ff", "Bearer " + "a" * 30_000],
)  # fmt: skip
def test_what_is_not_the_key_is_refused(serving, path, keys, header):
    key = keys.add("one", "read")
    server = serving(path, keys=keys.path)
    assert server.get(KB, Authorization=f"bearer {key}").status == 200
    answer = server.get(KB, Authorization=header.format(key))
    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert key not in answer.body.decode()
    assert server.get(f"{KB}?key={key}").status == 401
    assert server.get("/v1/health").status == 200


@pytest.mark.parametrize(
    "settings", [{"embedder": "openai:text-embedding-3-small"}, {"model": "openai:gpt-4.1-mini"}]
)
def test_a_provider_without_its_key_is_refused_at_the_start(serving, path, monkeypatch, settings):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ragfile.ProviderError, match="set OPENAI_API_KEY"):
        serving(path, **settings)
    monkeypatch.setenv("RAGFILE_OFFLINE", "1")  # which opens no socket, and answers by words
    server = serving(path, embedder=settings.get("embedder"))
    answer = server.search({"query": "keys", "mode": "bm25"})
    assert (answer.status, len(answer.json["hits"]) > 0) == (200, True)
    assert server.search({"query": "keys"}).status == 200


def test_with_keys_only_the_page_and_health_are_open(serving, path, keys):
    """The pages promise it, and the list of operations is not among them."""
    key = keys.add("one", "read")
    server = serving(path, keys=keys.path)
    described = server.get("/openapi.json", **bearer(key))
    for path in described.json["paths"]:
        answer = server.get(path.replace("{c}", "kb"))
        if path == "/v1/health":
            assert answer.status == 200
        else:
            assert answer.status in (401, 405), path
    assert server.get("/openapi.json").status == 401
    assert server.get("/").status == 200


def test_a_key_is_random_and_only_its_hash_is_kept(keys):
    first, second = keys.add("a", "read"), keys.add("b", "admin")
    assert first != second
    assert re.fullmatch(r"rag_[A-Za-z0-9_-]{43}", first)
    with open(keys.path) as file:
        text = file.read()
    assert first[4:] not in text
    assert stat.S_IMODE(os.stat(keys.path).st_mode) == 0o600
    with pytest.raises(ValueError, match="the key 'a' exists"):
        keys.add("a", "read")
    with pytest.raises(ValueError, match="the name of a key"):
        keys.add("../a", "read")


def test_a_file_of_keys_that_a_link_names_belongs_to_its_owner_alone(tmp_path):
    (tmp_path / "keys.json").symlink_to(tmp_path / "target")
    KeyFile(str(tmp_path / "keys.json")).add("me", "read")
    assert (tmp_path / "keys.json").is_symlink()
    assert stat.S_IMODE(os.stat(tmp_path / "target").st_mode) == 0o600


def test_a_key_that_is_revoked_or_added_holds_at_once(serving, path, keys):
    key, other = keys.add("one", "read"), keys.add("other", "read")
    server = serving(path, keys=keys.path)
    keys.revoke("one")
    assert server.ask("GET", KB, headers=bearer(key)).status == 401
    third = keys.add("third", "read")
    for good in (other, third):
        assert server.ask("GET", KB, headers=bearer(good)).status == 200


def test_revoking_the_last_key_opens_nothing(serving, path, keys):
    keys.add("one", "read")
    server = serving(path, keys=keys.path)
    keys.revoke("one")
    assert server.get(KB).status == 401
    os.unlink(keys.path)
    assert server.get(KB).status == 401


def test_the_command_makes_lists_and_revokes(tmp_path):
    def run(*words):
        command = [sys.executable, "-m", "ragfile", "keys", "--keys", str(tmp_path / "k"), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    made = run("add", "laptop", "--scope", "write")
    assert made.stdout.startswith("rag_")
    assert "laptop  write" in run("list").stdout
    assert made.stdout.strip() not in run("list", "--json").stdout
    assert run("revoke", "laptop").returncode == 0
    assert run("revoke", "laptop").returncode == 1
    assert json.loads(run("list", "--json").stdout) == []


# --------------------------------------------------------------------------------------- bodies ---


BODIES = [
    (b"", 400), (b"{", 400), (b"\xff", 400), (b'{"query": NaN}', 400), (b"[" * 100_000, 400),
    (b"1e999", 400), (b"[]", 422), (b"null", 422), (b"{}", 422), (b'{"query": 1}', 422),
    (b'{"query": "x", "k": "5"}', 422), (b'{"query": "x", "k": 1.5}', 422),
    (b'{"query": "x", "k": true}', 422), (b'{"query": "x", "k": -1}', 422),
    (b'{"query": "x", "k": 1001}', 422), (b'{"query": "x", "unknown": 1}', 422),
    (b'{"query": "x", "queries": []}', 422), (b'{"query": "x", "mode": "other"}', 422),
    (b'{"query": "x", "where": {"$nope": 1}}', 422), (b'{"query": "x", "vector": [1]}', 422),
    (b'{"query": "x", "vector": ["a"]}', 422), (b'{"query": "x", "fusion": [1, 2]}', 422),
    (b'{"query": "x", "fusion": ["rrf", {"zz": 1}]}', 422), (b'{"query": "x", "where": 3}', 422),
    (b'{"query": "x", "generation": 99}', 422), (b'{"queries": ["x"], "vector": [1]}', 422),
    (b'{"query": "x", "k": 100000000000000000000000000000}', 422),
    (b'{"query": "x", "where": [99999]}', 422), (b'{"query": "x", "where": [[1]]}', 422),
    (b'{"query": "\\ud800"}', 200), (b'{"query": "\\u0000"}', 200), (b'{"query": ""}', 200),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status"), BODIES, ids=[repr(b[:40]) for b, _ in BODIES])
def test_a_body_is_checked(server, body, status):
    answer = server.post(SEARCH, body, Content_Type="application/json")
    assert answer.status == status
    if status != 200:
        assert answer.error["message"]
        assert answer.error["request_id"] == answer.headers["X-Request-Id"]


def test_a_body_that_is_not_said_to_be_json_is_refused(server):
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = server.post(SEARCH, b'{"query": "x"}', Content_Type=kind)
        assert (answer.status, answer.error["type"]) == (415, "unsupported_type")


def test_a_body_has_a_limit_said_or_not(serving, path):
    server = serving(path, max_body=1000)
    assert server.post(SEARCH, b" " * 1001, Content_Type="application/json").status == 413
    with socket.create_connection(server.socket.getsockname()) as connection:
        connection.sendall(
            b"POST " + SEARCH.encode() + b" HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            + 2
            * (b"258\r\n" + b" " * 600 + b"\r\n")
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("is_declared", [True, False])
def test_a_client_that_sends_more_than_the_limit_reads_why(server, is_declared):
    connection = http.client.HTTPConnection(*server.socket.getsockname()[:2], timeout=20)
    body = b" " * (24 << 20)
    pieces = (body[at : at + (1 << 20)] for at in range(0, len(body), 1 << 20))
    connection.request(
        "POST", SEARCH, body if is_declared else pieces, {"Content-Type": "application/json"},
        encode_chunked=not is_declared,
    )  # fmt: skip
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Connection"]) == (413, "close")
    assert b"exceeds the limit of" in answer.read()
    assert server.get("/v1/health").status == 200


def test_a_body_that_does_not_come_is_not_waited_for(serving, path):
    server = serving(path, body_seconds=0.2)
    with socket.create_connection(server.socket.getsockname()) as connection:
        connection.sendall(
            b"POST " + SEARCH.encode() + b" HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 408")
    assert server.get("/v1/health").status == 200


@pytest.mark.parametrize("path", [
    "/v1/collections/..%2f..%2fetc", "/v1/collections/%00", "/../../etc/passwd", "/v1/collections/",
    KB + "/documents/..%2f..%2fetc%2fpasswd", KB + "/chunks/99999", KB + "/chunks/x%23%23",
    "/%2e%2e/%2e%2e/etc/passwd", "/v1//health", "//etc/passwd", "/ragfile/doors/server/page", "/static/..",
    "/v1/collections/kb.ragfile", KB + "/documents/", "/v1/collections/" + "x" * 5000,
])  # fmt: skip
def test_an_address_leads_nowhere_else(server, path):
    answer = server.get(path)
    assert answer.status == 404
    assert "/tmp" not in answer.body.decode()


@pytest.mark.parametrize("query", [
    "span=1", "span=5-1", "span=0-99999999", "span=a-b", "span=-1-2", "x=1", "span=0-1&span=0-1",
    "context=-1", "context=x", "generation=-1", "generation=1e3", "span=%ff",
])  # fmt: skip
def test_a_parameter_is_checked(server, query):
    assert server.get(f"{KB}/documents/pods.md?{query}").status in (400, 422)


def test_another_method_is_refused_with_those_that_are_not(server):
    answer = server.ask("DELETE", SEARCH)
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    assert server.ask("POST", "/", b"").status == 405


def test_errors_say_nothing_of_the_machine(serving, path, tmp_path):
    server = serving(path)
    assert server.search({"query": "keys"}).status == 200
    path.write_bytes(b"RAGFILE1" + path.read_bytes()[8:2000])
    for answer in (server.search({"query": "keys"}), server.get(KB), server.get("/v1/collections")):
        assert str(tmp_path) not in answer.body.decode()
        assert "Traceback" not in answer.body.decode()
    assert server.search({"query": "keys"}).status == 503
    assert server.search({"query": "keys"}).headers["Retry-After"] == "1"
    assert server.get("/v1/collections").json["collections"][0]["error"]
    path.unlink()
    assert server.search({"query": "keys"}).status == 503


# ----------------------------------------------------------------------------- broken connections ---


@pytest.mark.parametrize("sent", [
    b"", b"GET", b"GET / HTTP/1.1\r\n", b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/9.9\r\n\r\n",
    b"POST /v1/collections/kb/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
    b"POST /v1/collections/kb/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{",
    b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 50_000,
])  # fmt: skip
def test_a_client_that_vanishes_or_talks_nonsense_harms_nobody(server, sent):
    with socket.create_connection(server.socket.getsockname()) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(5)
            while connection.recv(65536):
                pass
        except OSError:  # the server has closed it
            pass
    assert server.search({"query": "keys", "k": 1}).status == 200


def test_too_much_at_once_is_asked_to_come_again(serving, path):
    server = serving(path, at_once=3)
    held = []
    head = (
        b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        % SEARCH.encode()
    )
    for _ in range(3):
        held.append(socket.create_connection(server.socket.getsockname()))
        held[-1].sendall(head + b"Content-Length: 20\r\n\r\n")
    until(lambda: server.search({"query": "keys"}).status == 503)
    assert server.search({"query": "keys"}).headers["Retry-After"] == "1"
    assert server.get("/v1/health").status == 200
    for connection in held:
        connection.close()
    until(lambda: server.search({"query": "keys"}).status == 200)


def test_a_head_that_does_not_come_ends_the_connection(serving, path, monkeypatch):
    from ragfile.doors.server import connections

    monkeypatch.setattr(connections, "HEAD", 0.3)
    server = serving(path)
    held = [socket.create_connection(server.socket.getsockname()) for _ in range(20)]
    for number, connection in enumerate(held):
        connection.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x"[: number * 3])
        connection.settimeout(10)
    for connection in held:
        with contextlib.suppress(ConnectionError):
            assert connection.recv(1) == b""
        connection.close()
    connection = http.client.HTTPConnection(server.address)
    for _ in range(3):  # one that asks in time stays open
        connection.request("GET", "/v1/health")
        assert connection.getresponse().read()
        time.sleep(0.4)
    connection.close()


def test_a_client_that_takes_nothing_is_let_go(serving, path, monkeypatch):
    from ragfile.doors.server import connections

    monkeypatch.setattr(connections, "TAKE", 0.3)
    with ragfile.edit(path) as w:
        w.upsert([{"id": "long", "text": "Long. " * 3_000_000}])
    server = serving(path)
    with socket.create_connection(server.socket.getsockname()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(f"GET {KB}/documents/long HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        until = time.monotonic() + 20
        while time.monotonic() < until and len(server.server.server_state.connections) < 1:
            time.sleep(0.05)
        while time.monotonic() < until and server.server.server_state.connections:
            time.sleep(0.05)
        assert not server.server.server_state.connections
