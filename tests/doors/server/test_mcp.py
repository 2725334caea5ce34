"""The server's /mcp: the official SDK's client, keys, hosts, and folders that grow."""

import asyncio
import os

import pytest

MODES = ["auto", "legacy", "2026-07-28"]


STRUCTURED = {"ragfile/structured": True}


def call(server, name, **arguments):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments, "_meta": {"ragfile/structured": True}}}  # fmt: skip
    return server.post("/mcp", body).json["result"]


@pytest.mark.parametrize("mode", MODES)
def test_the_sdks_client_is_served(server, mode):
    pytest.importorskip("mcp.client.client", reason="the MCP SDK is not installed")
    import mcp

    async def visit():
        async with mcp.Client(server.url + "/mcp", mode=mode) as client:
            tools = await client.list_tools()
            found = await client.call_tool(
                "search", {"query": "how often are keys rotated?"}, meta=STRUCTURED
            )
            return tools, found

    tools, found = asyncio.run(visit())
    assert [tool.name for tool in tools.tools] == ["search", "read", "list"]
    assert found.structured_content["hits"][0]["doc_id"] == "keys.md"


def test_what_goes_wrong_has_a_status(server):
    json = "application/json"
    assert server.ask("GET", "/mcp").status == 405
    assert server.post("/mcp", b"{", Content_Type=json).status == 400
    assert server.post("/mcp", b"[]", Content_Type=json).status == 400
    assert server.post("/mcp", b"{}", Content_Type="text/plain").status == 415
    assert server.post("/mcp", {"x": 1}, Origin="https://evil.example").status == 403
    assert server.post("/mcp", {"x": 1}, Host="evil.example").status == 403


def test_tools_write_in_their_turn_and_see_a_folder_grow(serving, path, tmp_path):
    server = serving(tmp_path, can_write=True)
    done = call(server, "put", id="birds", text="Herons stand in the water.")
    assert not done["isError"], done
    assert (
        call(server, "search", query="herons", k=1)["structuredContent"]["hits"][0]["doc_id"]
        == "birds"
    )
    (tmp_path / "new").write_bytes(path.read_bytes())
    os.replace(tmp_path / "new", tmp_path / "second.ragfile")
    assert call(server, "search", query="herons")["isError"]  # there is a choice now
    assert not call(server, "search", query="herons", file="second")["isError"]
