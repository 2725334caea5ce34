"""A client's list of servers: shown before it changes, changed in that one entry, and taken back."""

import json
import os
import shutil
import subprocess
import sys
import tomllib

import pytest

from ragfile.doors.mcp.clients import CLIENTS, added, removed
from ragfile.doors.mcp.json_comments import plain

FILES = {
    "claude": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "codex": ".codex/config.toml",
    "vscode": ".config/Code/User/mcp.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "gemini": ".gemini/settings.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "zed": ".config/zed/settings.json",
}
OTHERS = {
    "claude": '{"theme": "dark", "mcpServers": {"other": {"command": "x", "args": []}}}\n',
    "cursor": '{"mcpServers": {"other": {"command": "x"}}}',
    "codex": '# mine\nmodel = "m"\n\n[mcp_servers.other]\ncommand = "x"  # kept\n\n[profiles.a]\nb = 1\n',
    "vscode": '{"servers": {"other": {"command": "x"}}, "inputs": [{"id": "é"}]}',
    "claude-desktop": '{"mcpServers": {"other": {"command": "x"}}}',
    "gemini": '{"mcpServers": {"other": {"command": "x"}}, "ui": {"theme": "Dark"}}',
    "windsurf": '{"mcpServers": {"other": {"command": "x"}}}',
    "zed": '{"context_servers": {"other": {"command": "x"}}, "vim_mode": true}',
}
COMMAND = ["/usr/bin/python", "-m", "ragfile", "mcp", '/home/a "b"/kb\\1.ragfile']
EACH = pytest.mark.parametrize("client", CLIENTS)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "home"


def servers(path):
    text = path.read_text()
    if path.suffix == ".toml":
        return tomllib.loads(text)["mcp_servers"]
    found = json.loads(text)
    return found.get("mcpServers") or found.get("context_servers") or found["servers"]


@EACH
def test_an_entry_goes_in_and_leaves_no_trace(home, client):
    added(client, "ragfile", COMMAND).write()
    entry = servers(home / FILES[client])["ragfile"]
    assert [entry["command"], *entry["args"]] == COMMAND
    removed(client, "ragfile").write()
    assert not (home / FILES[client]).exists()


@EACH
def test_what_others_wrote_stays(home, client):
    path = home / FILES[client]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(OTHERS[client])
    path.chmod(0o600)
    for _ in range(2):
        added(client, "ragfile", COMMAND).write()
        assert set(servers(path)) == {"other", "ragfile"}
    assert path.stat().st_mode & 0o777 == 0o600
    removed(client, "ragfile").write()
    read = tomllib.loads if client == "codex" else json.loads
    assert read(path.read_text()) == read(OTHERS[client])
    if client == "codex":
        assert path.read_text() == OTHERS[client]


@EACH
def test_a_change_is_shown_before_anything_is_written(home, client):
    change = added(client, "ragfile", COMMAND)
    assert "+" in change.diff
    assert "ragfile" in change.diff
    assert not (home / FILES[client]).exists()


@EACH
@pytest.mark.parametrize(
    "content",
    [
        "{",
        "// a comment\n{",
        "[]",
        '{"mcpServers": [], "servers": [], "context_servers": []}',
        "mcp_servers = 1",
    ],
)
def test_a_file_that_is_not_understood_is_not_changed(home, client, content):
    if client == "codex" and content == "[]":
        content = "a = "
    path = home / FILES[client]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    with pytest.raises(ValueError, match=r"is not changed: .*add the server by hand"):
        added(client, "ragfile", COMMAND)
    assert path.read_text() == content


@EACH
def test_taking_out_what_is_not_there_is_an_error(client):
    with pytest.raises(ValueError, match="has no server 'ragfile'"):
        removed(client, "ragfile")


COMMENTED = [
    '// Zed settings\n{\n  // mine\n  "vim_mode": true, // kept, {\n}\n',
    '{"context_servers": {/* none */}, "a": "// no comment, ]",}',
    '{\n  "context_servers": {\n    // first\n    "other": {"command": "x"}, // ,\n  },\n}\n',
    '{"a": [1, 2,], "context_servers": {"other": {"command": "x"} /* , */}}',
]


@pytest.mark.parametrize("text", COMMENTED)
def test_comments_of_a_settings_file_stay(home, text):
    path = home / FILES["zed"]
    path.parent.mkdir(parents=True)
    path.write_text(text)
    comments = [
        line for line in ("// mine", "// kept, {", "/* none */", "// first") if line in text
    ]
    before = json.loads(plain(text))
    for command in (COMMAND, ["ragfile", "mcp"], ["ragfile", "mcp"]):
        added("zed", "ragfile", command).write()
        found = json.loads(plain(path.read_text()))
        entry = found["context_servers"].pop("ragfile")
        assert [entry["command"], *entry["args"]] == command
        assert {"context_servers": {}, **before} == found
        assert all(comment in path.read_text() for comment in comments)
    removed("zed", "ragfile").write()
    assert {"context_servers": {}, **before} == {
        "context_servers": {}, **json.loads(plain(path.read_text())),
    }  # fmt: skip
    assert all(comment in path.read_text() for comment in comments)


def test_a_client_without_files_of_a_folder_says_so():
    with pytest.raises(ValueError, match="omit --project"):
        added("windsurf", "ragfile", COMMAND, in_project=True)


def test_a_name_that_toml_quotes_is_quoted(home):
    added("codex", "my kb", COMMAND).write()
    added("codex", "my kb 2", COMMAND).write()
    removed("codex", "my kb").write()
    assert set(servers(home / FILES["codex"])) == {"my kb 2"}


# ------------------------------------------------------------------------------ the command ---


@pytest.fixture
def kb(built, tmp_path):
    return shutil.copy(built, tmp_path / "work" / "kb.ragfile")


def run(*arguments, answer=""):
    return subprocess.run(
        [sys.executable, "-m", "ragfile", "mcp", *map(str, arguments)],
        capture_output=True,
        text=True,
        input=answer,
    )


def test_the_command_shows_asks_and_writes_what_then_serves(home, kb):
    refused = run("kb.ragfile", "--install", "cursor", answer="n\n")
    assert (refused.returncode, (home / FILES["cursor"]).exists()) == (1, False)
    assert '+      "command":' in refused.stdout
    assert run("kb.ragfile", "--install", "cursor").returncode == 1  # nobody to ask
    done = run("kb.ragfile", "--install", "cursor", "--model", "ollama:m", "--write", answer="y\n")
    assert done.returncode == 0, done.stderr
    entry = servers(home / FILES["cursor"])["ragfile"]
    assert entry["args"][-4:] == [os.path.abspath("kb.ragfile"), "--model", "ollama:m", "--write"]
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    served = subprocess.run(
        [entry["command"], *entry["args"]], input=message, capture_output=True, text=True
    )
    names = [tool["name"] for tool in json.loads(served.stdout)["result"]["tools"]]
    assert names == ["search", "read", "list", "ask", "put", "delete", "stats"]
    assert run("--uninstall", "cursor", "--yes").returncode == 0
    assert not (home / FILES["cursor"]).exists()


def test_a_projects_list_names_neither_models_nor_rights(kb):
    for more in (["--model", "ollama:m"], ["--embedder", "openai:m"], ["--write"]):
        done = run("kb.ragfile", "--install", "claude", "--project", "--yes", *more)
        assert (done.returncode, "--project cannot be combined with" in done.stderr) == (2, True)
    assert run("kb.ragfile", "--install", "claude", "--project", "--yes").returncode == 0
    entry = json.load(open(".mcp.json"))["mcpServers"]["ragfile"]  # noqa: SIM115
    assert entry == {"type": "stdio", "command": "ragfile", "args": ["mcp", "kb.ragfile"]}


def test_the_server_takes_no_word_from_the_folder_that_it_starts_in(kb, tmp_path):
    for name in (".env", "ragfile.toml", "pyproject.toml", ".ragfile.json", ".mcp.json"):
        (tmp_path / "work" / name).write_text(
            'RAGFILE_MODEL=openai:m\n[tool.ragfile]\nmodel = "openai:m"\n'
        )
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    done = subprocess.run(
        [sys.executable, "-m", "ragfile", "mcp", "kb.ragfile"], input=message, capture_output=True, text=True,
        env=os.environ | {"RAGFILE_MODEL": "openai:m"},
    )  # fmt: skip
    tools = json.loads(done.stdout)["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["search", "read", "list"]


def test_a_file_that_is_not_there_is_not_installed():
    done = run("none.ragfile", "--install", "cursor", "--yes")
    assert (done.returncode, "no such file: none.ragfile" in done.stderr) == (2, True)
