"""The server's /mcp: the official SDK's client, keys, hosts, and folders that grow."""

import asyncio
import os

import pytest

from ragfile.doors.server.keys import KeyFile
from ragfile.memory import Memory

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


def memory_call(server, name, key="", **arguments):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments, "_meta": STRUCTURED}}  # fmt: skip
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return server.ask("POST", "/mcp/memory", body, headers).json


def test_each_agent_has_a_key_that_its_memories_name(serving, tmp_path):
    Memory(tmp_path / "team.ragfile").close()
    keys = KeyFile(str(tmp_path / "keys.json"))
    ada, bob, eve = keys.add("ada", "write"), keys.add("bob", "write"), keys.add("eve", "read")
    server = serving(tmp_path / "team.ragfile", keys=keys.path, can_write=True)
    memory_call(server, "remember", ada, text="The vault is on floor 3.")
    memory_call(server, "remember", bob, text="The cellar is locked.")
    found = memory_call(server, "recall", eve, question="Where is the vault?", k=2)
    sources = {one["text"]: one["source"] for one in found["result"]["structuredContent"]["found"]}
    assert sources == {"The vault is on floor 3.": "ada", "The cellar is locked.": "bob"}
    refused = memory_call(server, "remember", eve, text="Eve was here.")
    assert "unknown tool 'remember'" in refused["error"]["message"]


def test_memories_need_a_key_like_everything_else(serving, tmp_path):
    Memory(tmp_path / "team.ragfile").close()
    keys = KeyFile(str(tmp_path / "keys.json"))
    keys.add("ada", "write")
    server = serving(tmp_path / "team.ragfile", keys=keys.path)
    assert server.ask("POST", "/mcp/memory", {}).status == 401
