"""MCP over HTTP: one message a POST, JSON back, and nothing for pages and names from elsewhere."""

import json

import pytest

from ragfile.doors.mcp.http import exchange

PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
GOOD = {"Host": "127.0.0.1:7433", "Content-Type": "application/json"}


def post(server, body=PING, **headers):
    sent = GOOD | {name.replace("_", "-"): value for name, value in headers.items()}
    return exchange(server, "POST", {k: v for k, v in sent.items() if v is not None}, body)


def test_a_message_is_answered_with_json(server):
    done = post(server)
    assert (done.status, done.headers) == (200, {"content-type": "application/json"})
    assert json.loads(done.body) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_notification_is_accepted_without_a_body(server):
    done = post(server, b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    assert (done.status, done.body) == (202, b"")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403), ({"Host": None}, 403), ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403), ({"Origin": "http://127.0.0.1.evil.example"}, 403), ({"Origin": ""}, 403),
        ({"Host": "localhost.evil.example:80"}, 403), ({"Origin": "file://localhost"}, 403),
        ({"Origin": "http://localhost:7433"}, 200), ({"Origin": "http://127.0.0.1"}, 200),
        ({"Host": "LOCALHOST:1"}, 200), ({"Host": "[::1]:7433"}, 200),
        ({"Content_Type": "text/plain"}, 415), ({"Content_Type": None}, 415),
        ({"Content_Type": "Application/JSON; charset=utf-8"}, 200),
        ({"MCP_Protocol_Version": "1999-01-01"}, 400), ({"MCP_Protocol_Version": "2025-06-18"}, 200),
    ],
)  # fmt: skip
def test_who_may_ask_and_how(server, headers, status):
    assert post(server, **headers).status == status


def test_hosts_and_pages_that_the_operator_names_may_ask(server):
    named = {
        "Host": "kb.example:443",
        "Content-Type": "application/json",
        "Origin": "https://app.example",
    }
    assert exchange(server, "POST", named, PING).status == 403
    allowed = {"hosts": ["kb.example"], "origins": ["https://app.example"]}
    assert exchange(server, "POST", named, PING, **allowed).status == 200


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_is_nothing_but_post(server, method):
    done = exchange(server, method, GOOD, b"")
    assert (done.status, done.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_not_json_is_said(server, body):
    done = post(server, body)
    assert (done.status, json.loads(done.body)["error"]["code"]) == (400, -32700)


def test_unknown_methods_are_404_and_versions_400(server):
    unknown = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x"}).encode()
    assert post(server, unknown).status == 404
