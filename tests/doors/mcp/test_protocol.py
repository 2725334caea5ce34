"""Both eras of the protocol: what is asked right is answered, what is asked wrong has its code."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragfile.doors.mcp.protocol import LEGACY, MODERN, Server, http_status

META = "io.modelcontextprotocol/"


def modern(version=MODERN, **more):
    return {META + "protocolVersion": version, META + "clientCapabilities": {}, **more}


def ask(server, method, params=None, headers=None, number=1):
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return server.handle(message | ({} if params is None else {"params": params}), headers)


@pytest.mark.parametrize("version", LEGACY)
def test_a_handshake_takes_the_clients_version(server, version):
    found = ask(server, "initialize", {"protocolVersion": version, "capabilities": {}})["result"]
    assert found["protocolVersion"] == version
    assert found["serverInfo"]["name"] == "ragfile"
    assert found["capabilities"] == {"tools": {}}


def test_a_handshake_of_an_unknown_version_is_offered_the_newest_that_has_one(server):
    found = ask(server, "initialize", {"protocolVersion": "1999-01-01"})["result"]
    assert found["protocolVersion"] == "2025-11-25"


def test_discovery_says_version_capabilities_and_how_long_to_keep_them(server):
    found = ask(server, "server/discover", {"_meta": modern()})["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["resultType"] == "complete"
    assert found["_meta"][META + "serverInfo"]["name"] == "ragfile"
    assert (found["ttlMs"] > 0, found["cacheScope"]) == (True, "private")


def test_tools_come_in_a_fixed_order(client):
    found = [client("tools/list")["result"] for _ in range(2)]
    assert found[0] == found[1]
    assert [tool["name"] for tool in found[0]["tools"]] == ["search", "read", "list"]
    assert ("ttlMs" in found[0]) == client.is_modern


def test_results_of_2026_say_their_type_and_those_before_do_not(client):
    found = client("tools/call", {"name": "list", "arguments": {}})["result"]
    assert (found.get("resultType") == "complete") == client.is_modern
    assert ("_meta" in found) == client.is_modern


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("tools/list", {"_meta": modern("2031-01-01")}, -32022),
        ("tools/list", {"_meta": {META + "protocolVersion": MODERN}}, -32602),
        ("tools/list", {"_meta": modern(7)}, -32602),
        ("server/discover", {}, -32602),
        ("server/discover", {"_meta": []}, -32602),
        ("initialize", {"_meta": modern()}, -32601),
        ("ping", {"_meta": modern()}, -32601),
        ("logging/setLevel", {"level": "info"}, -32601),
        ("nothing", {}, -32601),
        ("tools/call", {"name": "nothing"}, -32602),
        ("tools/call", {}, -32602),
        ("tools/call", {"name": "list", "arguments": []}, -32602),
        ("tools/call", {"name": ["list"]}, -32602),
        ("tools/list", [], -32602),
    ],
)
def test_what_is_asked_wrong_has_its_code(server, method, params, code):
    response = ask(server, method, params)
    assert response["error"]["code"] == code
    assert http_status(response) == (404 if code == -32601 else 400)


def test_an_unknown_version_is_told_the_known_one(server):
    error = ask(server, "tools/list", {"_meta": modern("2031-01-01")})["error"]
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2031-01-01"}


@pytest.mark.parametrize(
    "message",
    [
        None, 7, "x", [], [{"jsonrpc": "2.0", "id": 1, "method": "ping"}], {},
        {"jsonrpc": "2.0", "id": None, "method": "ping"}, {"jsonrpc": "2.0", "id": True, "method": "ping"},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 1, "method": 7},
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused(server, message):
    assert server.handle(message)["error"]["code"] == -32600


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
    ],
)
def test_what_wants_no_answer_gets_none(server, message):
    assert server.handle(message) is None
    assert http_status(None) == 202


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
METHODS = st.sampled_from(
    ["initialize", "server/discover", "tools/list", "tools/call", "ping", "x"]
)


@given(METHODS, JSON, JSON, JSON)
def test_whatever_comes_is_answered_by_a_result_or_an_error(method, params, meta, arguments):
    class Nothing:
        names, instructions = ["search"], ""

        def listed(self):
            return []

        def call(self, name, arguments):
            return {}

    server = Server(Nothing())
    told = {"_meta": meta, "name": "search", "arguments": arguments}
    for given_params in (params, told):
        response = ask(server, method, given_params)
        assert ("result" in response) != ("error" in response)


# ------------------------------------------------------------------------------------ headers ---


def headers(method, name=None, version=MODERN):
    found = {"MCP-Protocol-Version": version, "Mcp-Method": method}
    return found | ({} if name is None else {"Mcp-Name": name})


def call(server, sent):
    params = {"name": "list", "arguments": {}, "_meta": modern()}
    return ask(server, "tools/call", params, sent)


def test_headers_that_agree_with_the_body_pass(server):
    assert "result" in call(server, headers("tools/call", "list"))
    assert "result" in call(server, headers("tools/call", "=?base64?bGlzdA==?="))
    assert "result" in ask(server, "tools/list", {"_meta": modern()}, headers("tools/list"))


@pytest.mark.parametrize(
    "sent",
    [
        {}, headers("tools/list", "list"), headers("tools/call", "search"), headers("tools/call"),
        headers("tools/call", "list", "2025-11-25"), headers("tools/call", "=?base64?!?="),
        headers("tools/call", "LIST"),
    ],
)  # fmt: skip
def test_headers_that_do_not_are_refused(server, sent):
    response = call(server, sent)
    assert response["error"]["code"] == -32020
    assert http_status(response) == 400


def test_a_header_that_promises_what_the_body_lacks_is_refused(server):
    response = ask(server, "tools/list", {}, headers("tools/list"))
    assert response["error"]["code"] == -32602


LAZY = """
import sys
from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.protocol import Server
from ragfile.doors.mcp.tools import Tools
server = Server(Tools(Files([sys.argv[1]])))
for method in ("initialize", "ping"):  # a list of tools depends on the file
    assert "result" in server.handle({"jsonrpc": "2.0", "id": 1, "method": method})
print(sorted({"numpy", "ragfile._core", "ragfile.opener", "httpx2", "asyncio"} & set(sys.modules)))
"""


def test_a_handshake_loads_nothing_that_can_wait(path):
    done = subprocess.run([sys.executable, "-c", LAZY, path], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
