"""The official Python SDK's own client, in each of its modes, over stdio and HTTP."""

import asyncio
import sys

import pytest
from servers.mcp_server import McpServer

pytest.importorskip("mcp.client.client", reason="the MCP SDK is not installed")
import mcp

MODES = ["auto", "legacy", "2026-07-28"]


STRUCTURED = {"ragfile/structured": True}


async def visit(target, mode):
    """What a client sees: tools, a search, a read, and an error that a model can learn from."""
    async with mcp.Client(target, mode=mode) as client:
        tools = await client.list_tools()
        found = await client.call_tool(
            "search", {"query": "how often are keys rotated?", "k": 2}, meta=STRUCTURED
        )
        read = await client.call_tool("read", {"id": "pods.md"}, meta=STRUCTURED)
        wrong = await client.call_tool("search", {"nope": 1})
        return tools, found, read, wrong


def check(seen):
    tools, found, read, wrong = seen
    assert [tool.name for tool in tools.tools] == ["search", "read", "list"]
    assert found.structured_content["hits"][0]["doc_id"] == "keys.md"
    assert "every 90 days" in found.content[0].text
    assert read.structured_content["text"] == "# Pods\n\nRestart a pod by deleting it.\n"
    assert wrong.is_error
    assert "search: query is required" in wrong.content[0].text


@pytest.mark.parametrize("mode", MODES)
def test_the_sdks_client_is_served_over_stdio(path, mode):
    command = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragfile", "mcp", str(path)],
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    check(asyncio.run(visit(command, mode)))


@pytest.mark.parametrize("mode", MODES)
def test_the_sdks_client_is_served_over_http(server, mode):
    with McpServer(server) as running:
        check(asyncio.run(visit(running.url, mode)))
