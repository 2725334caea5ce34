"""search and fetch in the format of ChatGPT's connectors, and results that carry a passage once."""

import asyncio
import json

import pytest

import ragfile
from ragfile.doors.mcp.connector import ConnectorTools
from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.protocol import Server
from ragfile.doors.mcp.tools import Tools

QUESTION = "how often are keys rotated?"


def called(tools, name, **arguments):
    params = {"name": name, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return Server(tools).handle(message)["result"]


def parsed(result):
    [block] = result["content"]
    return json.loads(block["text"])


@pytest.fixture
def connector(path):
    return ConnectorTools(Files([str(path)]), "https://kb.example")


@pytest.mark.parametrize(
    ("name", "arguments"), [("search", {"query": QUESTION}), ("read", {"id": "keys.md"})]
)
def test_a_result_carries_a_passage_once(path, name, arguments):
    result = called(Tools(Files([str(path)])), name, **arguments)
    assert json.dumps(result).count("Rotate the keys every 90 days") == 1


def test_a_program_gets_json_if_it_asks_for_it(path):
    server = Server(Tools(Files([str(path)])))
    params = {"name": "search", "arguments": {"query": QUESTION}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    params["_meta"] = {"ragfile/structured": True}
    assert server.handle(message)["result"]["structuredContent"]["hits"]
    for other in ({}, {"ragfile/structured": "yes"}, None, []):
        params["_meta"] = other
        assert "structuredContent" not in server.handle(message)["result"]


def test_search_names_what_fetch_returns(connector, path):
    results = parsed(called(connector, "search", query=QUESTION))["results"]
    with ragfile.open(path) as rf:
        hits = rf.search(QUESTION, 10)
        assert [one["id"] for one in results] == [hit.id for hit in hits]
        whole = rf.document(hits[0].doc_id).text
    assert all(one.keys() == {"id", "title", "url"} for one in results)
    fetched = parsed(called(connector, "fetch", id=results[0]["id"]))
    assert fetched.keys() == {"id", "title", "text", "url", "metadata"}
    assert hits[0].text in fetched["text"]
    assert fetched["text"] in whole
    assert fetched["url"].startswith("https://kb.example/?c=kb&doc=keys.md&span=")


def test_several_files_take_turns(built, tmp_path):
    paths = []
    for name in ("a", "b"):
        paths.append(tmp_path / f"{name}.ragfile")
        paths[-1].write_bytes(built.read_bytes())
    tools = ConnectorTools(Files(map(str, paths)))
    results = parsed(called(tools, "search", query=QUESTION))["results"]
    assert [one["id"].partition("/")[0] for one in results[:4]] == ["a", "b", "a", "b"]
    assert "90 days" in parsed(called(tools, "fetch", id=results[1]["id"]))["text"]


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("fetch", {"id": "nosuch"}, "no passage 'nosuch'"),
        ("fetch", {}, "id is required"),
        ("search", {"query": 1}, "query must be a string"),
    ],
)
def test_a_mistake_is_a_result(connector, name, arguments, says):
    result = called(connector, name, **arguments)
    assert result["isError"]
    assert says in result["content"][0]["text"]


def test_the_sdks_client_reads_a_connector(path):
    mcp = pytest.importorskip("mcp", reason="the MCP SDK is not installed")
    from servers.mcp_server import McpServer

    async def visit(url):
        async with mcp.Client(url) as client:
            tools = await client.list_tools()
            found = await client.call_tool("search", {"query": QUESTION})
            first = json.loads(found.content[0].text)["results"][0]["id"]
            fetched = await client.call_tool("fetch", {"id": first})
            return tools, json.loads(fetched.content[0].text)

    with McpServer(Server(ConnectorTools(Files([str(path)])))) as server:
        tools, fetched = asyncio.run(visit(server.url))
    assert [tool.name for tool in tools.tools] == ["search", "fetch"]
    assert "90 days" in fetched["text"]
