"""Layers behind the doors: the command line, the HTTP server and MCP take them by --over."""

import json
import subprocess
import sys

import pytest

import ragfile
from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.tools import Tools
from ragfile.memory import Memory

ENVELOPE = [
    {"id": "team.md", "text": "The team rotates keys monthly."},
    {"id": "old.md", "text": "Old keys."},
]


@pytest.fixture
def team(tmp_path):
    path = tmp_path / "team.ragfile"
    ragfile.build(ENVELOPE, path)
    return str(path)


@pytest.fixture
def mine(team, tmp_path):
    path = str(tmp_path / "mine.ragfile")
    with ragfile.edit([team, path]) as writer:
        writer.upsert([{"id": "mine.md", "text": "My keys are in the drawer."}])
    return path


def ragfile_command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "ragfile", *arguments], capture_output=True, text=True, check=False
    )


def found(team, mine):
    done = ragfile_command("search", mine, "keys", "--over", team, "-k", "9", "--json")
    return sorted(hit["doc_id"] for hit in json.loads(done.stdout)["hits"])


def test_the_command_line_searches_and_deletes_through_layers(team, mine):
    assert found(team, mine) == ["mine.md", "old.md", "team.md"]
    done = ragfile_command("delete", mine, "old.md", "--over", team)
    assert done.returncode == 0, done.stderr
    assert found(team, mine) == ["mine.md", "team.md"]
    assert "drawer" in ragfile_command("show", mine, "mine.md", "--over", team).stdout
    assert "monthly" in ragfile_command("show", mine, "team.md", "--over", team).stdout
    info = ragfile_command("info", mine, "--over", team).stdout
    assert f"layers  {team}, {mine}" in info
    asked = ragfile_command("ask", mine, "how often does the team rotate keys?", "--over", team)
    assert "monthly" in asked.stdout


def call(tools, name, **arguments):
    done = tools.call(name, arguments)
    assert not done["isError"], done
    return done["structuredContent"]


def test_mcp_tools_search_all_layers_and_write_to_the_file(team, mine):
    tools = Tools(Files([mine], over=[team]), can_write=True)
    hits = call(tools, "search", query="keys")["hits"]
    assert sorted(hit["doc_id"] for hit in hits) == ["mine.md", "old.md", "team.md"]
    call(tools, "delete", id="team.md")
    call(tools, "put", id="new.md", text="New keys.")
    hits = call(tools, "search", query="keys")["hits"]
    assert sorted(hit["doc_id"] for hit in hits) == ["mine.md", "new.md", "old.md"]
    with ragfile.open(team) as rf:
        assert rf.document_ids() == ["old.md", "team.md"]


def test_messages_of_tools_name_no_layers_path(team, mine):
    tools = Tools(Files([mine], over=[team]))
    done = tools.call("search", {"query": "keys", "generation": 1})
    assert done["isError"]
    assert "generation= is for one file" in done["content"][0]["text"]


def test_the_server_answers_over_layers_and_writes_to_its_file(team, mine):
    for package in ("uvicorn", "starlette", "httptools"):
        pytest.importorskip(package, reason="the extra server is not installed")
    from doors.server.conftest import Serving

    with Serving(mine, over=(team,), can_write=True) as server:
        url = "/v1/collections/mine/search"
        told = server.post(url, {"query": "keys", "k": 9}).json
        assert sorted(hit["doc_id"] for hit in told["hits"]) == ["mine.md", "old.md", "team.md"]
        done = server.ask("DELETE", "/v1/collections/mine/documents/old.md")
        assert done.status == 200, done.body
        told = server.post(url, {"query": "keys", "k": 9}).json
        assert sorted(hit["doc_id"] for hit in told["hits"]) == ["mine.md", "team.md"]
        assert server.ask("GET", "/v1/collections/mine/documents/team.md").json["id"] == "team.md"


def test_a_clients_configuration_passes_layers_on(team, mine, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    done = ragfile_command("mcp", mine, "--over", team, "--install", "cursor", "--yes")
    assert done.returncode == 0, done.stderr
    assert f'"--over",\n+        "{team}"' in done.stdout


def test_a_memory_over_a_layer_is_installed_and_made(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    team, mine = str(tmp_path / "team.ragfile"), str(tmp_path / "new.ragfile")
    with Memory(team) as memory:
        memory.remember("The standup is at 9:30.")
    options = ("--memory", "--over", team)
    done = ragfile_command("mcp", mine, *options, "--install", "cursor", "--yes")
    assert done.returncode == 0, done.stderr
    assert f'"{team}"' in done.stdout
    with Memory(mine, over=[team], create=False) as memory:
        assert [one.text for one in memory.recall("When is the standup?")] == [
            "The standup is at 9:30."
        ]


def test_a_layer_that_is_open_already_is_not_taken_for_trusted(tmp_path):
    ragfile.build([ragfile.Document("a", "One.")], tmp_path / "base.ragfile", embedder=None)
    ragfile.build([ragfile.Document("b", "Two.")], tmp_path / "top.ragfile", embedder=None)
    key = tmp_path / "me.key"
    refused = pytest.raises(ValueError, match="trusted= is not checked for a layer that is open")
    with ragfile.open(tmp_path / "base.ragfile") as base, refused:
        ragfile.open([base, tmp_path / "top.ragfile"], trusted=[key])
