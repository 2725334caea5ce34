"""MCP clients by their own commands, and the bundle by its own validator.

AGENTS names a folder with Claude Code, Codex and Gemini CLI; MCP_TOOLS one with mcpb. `make -C tests
programs-mcp` installs them.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

AGENTS, TOOLS = os.environ.get("AGENTS"), os.environ.get("MCP_TOOLS")
LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
COMMANDS = {
    "claude": ["claude", "mcp", "list"],
    "codex": ["codex", "mcp", "list"],
    "gemini": ["gemini", "mcp", "list"],
}


@pytest.fixture
def home(tmp_path):
    """An environment with an empty home folder."""
    (tmp_path / "home").mkdir()
    kept = ("PATH", "LANG", "PYTHONPATH", "TERM")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    node = Path(TOOLS or ".") / "node_modules" / "node" / "bin"
    environment["PATH"] = f"{node}:{environment['PATH']}"
    return environment | {"HOME": str(tmp_path / "home")}


def ragfile(*arguments, **options):
    command = [sys.executable, "-m", "ragfile", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, **options)


@pytest.mark.skipif(not AGENTS, reason="AGENTS does not name a folder with the clients")
@pytest.mark.parametrize("client", COMMANDS)
def test_a_client_lists_the_server_that_was_installed(client, built, home):
    ragfile("mcp", built, "--install", client, "--yes", env=home)
    program, *rest = COMMANDS[client]
    command = [str(Path(AGENTS) / "node_modules" / ".bin" / program), *rest]
    done = subprocess.run(
        command, capture_output=True, text=True, env=home, timeout=120, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    shown = done.stdout + done.stderr
    assert "ragfile" in shown, shown
    assert str(built) in shown, shown
    if client == "claude":  # which starts the server, too
        assert "Connected" in shown, shown


@pytest.mark.skipif(not TOOLS, reason="MCP_TOOLS does not name a folder with mcpb")
def test_the_bundle_is_valid_for_its_own_tool(built, tmp_path, home):
    ragfile("mcp", built, "--bundle", tmp_path / "kb.mcpb")
    program = str(Path(TOOLS) / "node_modules" / ".bin" / "mcpb")
    for command in (
        ["unpack", tmp_path / "kb.mcpb", tmp_path / "unpacked"],
        ["validate", tmp_path / "unpacked" / "manifest.json"],
    ):
        done = subprocess.run(
            [program, *command], capture_output=True, text=True, env=home, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_command_of_a_bundle_serves_its_file(built, tmp_path):
    for name in ("kb.mcpb", "again.mcpb"):
        ragfile("mcp", built, "--bundle", tmp_path / name)
    assert (tmp_path / "kb.mcpb").read_bytes() == (tmp_path / "again.mcpb").read_bytes()
    with zipfile.ZipFile(tmp_path / "kb.mcpb") as archive:
        archive.extractall(tmp_path / "unpacked")
        manifest = json.loads(archive.read("manifest.json"))
    config = manifest["server"]["mcp_config"]
    given = [part.replace("${__dirname}", str(tmp_path / "unpacked")) for part in config["args"]]
    assert config["command"] == "python3"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, *given], input=LIST, capture_output=True, text=True, check=True,
        cwd="/", env=environment,
    )  # fmt: skip
    names = [tool["name"] for tool in json.loads(done.stdout)["result"]["tools"]]
    assert names == [tool["name"] for tool in manifest["tools"]] == ["search", "read", "list"]


@pytest.mark.parametrize("flag", [["--write"], ["--model", "ollama:m"], ["--embedder", "none"]])
def test_a_bundle_grants_nothing_but_reading(built, tmp_path, flag):
    with pytest.raises(subprocess.CalledProcessError) as refused:
        ragfile("mcp", built, "--bundle", tmp_path / "kb.mcpb", *flag)
    assert "--bundle cannot be combined with" in refused.value.stderr
    assert not (tmp_path / "kb.mcpb").exists()


def test_a_client_that_knows_python_alone_starts_the_server(built, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(shutil.which(sys.executable) or sys.executable)
    environment = {"PATH": str(tmp_path / "bin"), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        ["python", "-m", "ragfile", "mcp", str(built)], input=LIST, capture_output=True,
        text=True, env=environment, check=True,
    )  # fmt: skip
    assert len(json.loads(done.stdout)["result"]["tools"]) == 3
