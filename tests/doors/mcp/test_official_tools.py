"""The protocol's own tools for testing servers: the conformance suite, and the inspector's command
line.

MCP_TOOLS names a folder where `npm i node@22 @modelcontextprotocol/conformance
@modelcontextprotocol/inspector` was run (and their install scripts, which newer versions of npm
leave out).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from servers.mcp_server import McpServer

from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.protocol import Server
from ragfile.doors.mcp.tools import Tools

FOLDER = os.environ.get("MCP_TOOLS")
pytestmark = pytest.mark.skipif(
    not FOLDER, reason="MCP_TOOLS does not name a folder with the tools"
)

# Those that a server without the suite's own tools, resources and prompts can pass. The others call
# fixtures by name (images, sampling, elicitation, progress, …) or resume a stream of events.
SCENARIOS = {
    "server-initialize": 1,
    "ping": 1,
    "tools-list": 1,
    "resources-list": 1,
    "prompts-list": 1,
    "dns-rebinding-protection": 2,
    "server-sse-multiple-streams": 0,  # passes with a warning: there are no sessions
}
# Those that call a tool by the suite's name for it.
FIXTURES = {"tools-call-simple-text": 1, "tools-call-error": 1}


class FixtureTools(Tools):
    """With the two plain tools that the suite calls by name."""

    @property
    def names(self):
        return [*super().names, "test_simple_text", "test_error_handling"]

    def call(self, name, arguments):
        said = {
            "test_simple_text": (False, "This is a simple text response for testing."),
            "test_error_handling": (True, "This tool intentionally returns an error for testing"),
        }
        if name not in said:
            return super().call(name, arguments)
        is_error, text = said[name]
        return {"content": [{"type": "text", "text": text}], "isError": is_error}


def run(name, *arguments):
    node = Path(FOLDER) / "node_modules"
    environment = os.environ | {"PATH": f"{node / 'node' / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run(
        [node / ".bin" / name, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=100,
    )


@pytest.mark.parametrize(("scenario", "passed"), [*SCENARIOS.items(), *FIXTURES.items()])
def test_the_conformance_suite_passes(path, scenario, passed):
    kind = FixtureTools if scenario in FIXTURES else Tools
    with McpServer(Server(kind(Files([str(path)])))) as running:
        done = run("conformance", "server", "--url", running.url, "--scenario", scenario)
    assert f"Passed: {passed}/{passed}, 0 failed" in done.stdout, done.stdout


def test_the_inspector_lists_and_calls_the_tools(path):
    server = ["-e", f"PYTHONPATH={':'.join(sys.path)}"]
    server += [sys.executable, "-m", "ragfile", "mcp", str(path)]
    listed = run("mcp-inspector", "--cli", *server, "--method", "tools/list")
    assert [tool["name"] for tool in json.loads(listed.stdout)["tools"]] == [
        "search",
        "read",
        "list",
    ]
    call = [
        "--method",
        "tools/call",
        "--tool-name",
        "search",
        "--tool-arg",
        "query=restart a pod",
        "k=1",
    ]
    found = json.loads(run("mcp-inspector", "--cli", *server, *call).stdout)
    assert [hit["doc_id"] for hit in found["structuredContent"]["hits"]] == ["pods.md"]
