"""The protocol's own tools for testing servers: the conformance suite, and the inspector's command
line.

MCP_TOOLS names a folder where `npm i node@22 @modelcontextprotocol/conformance
@modelcontextprotocol/inspector` was run (and their install scripts, which newer versions of npm
leave out).
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT
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


@pytest.mark.parametrize(("scenario", "passed"), SCENARIOS.items())
def test_the_conformance_suite_passes(path, scenario, passed):
    with McpServer(Server(Tools(Files([str(path)])))) as running:
        done = run("conformance", "server", "--url", running.url, "--scenario", scenario)
    assert f"Passed: {passed}/{passed}, 0 failed" in done.stdout, done.stdout


def test_the_page_claims_the_scenarios_that_pass_and_no_others():
    page = (ROOT / "docs" / "reference" / "mcp.md").read_text()
    listed = run("conformance", "list").stdout
    known = set(re.findall(r"^ +- (\S+)", listed, re.MULTILINE))
    claimed = set(re.findall(r"`([a-z0-9-]+)`", page.partition("## Protocol")[2])) & known
    assert claimed == set(SCENARIOS)


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
    assert found["content"][0]["text"].startswith("[1] pods.md#")
