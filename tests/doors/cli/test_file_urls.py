"""A file:// URL names a file wherever a path does: in every command, and in Python."""

import json
import subprocess
import sys

import pytest

import ragfile


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "doc s").mkdir()
    (tmp_path / "doc s" / "keys.md").write_text("# Keys\n\nRotate the keys every ninety days.\n")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "owls.md").write_text("# Owls\n\nOwls fly at night.\n")
    ragfile.build(tmp_path / "doc s", tmp_path / "kb.ragfile")
    return tmp_path


def run(folder, *arguments):
    """Run a command in which @NAME stands for the URL of a file of the folder."""
    named = [(folder / word[1:]).as_uri() if word.startswith("@") else word for word in arguments]
    return subprocess.run(
        [sys.executable, "-m", "ragfile", *named], capture_output=True, text=True, cwd=folder,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


COMMANDS = {
    "add @kb.ragfile more": "1 added",
    "add kb.ragfile @more": "1 added",
    "ask @kb.ragfile keys": "Rotate the keys",
    "build @more -o @new.ragfile": "1 document",
    "compact @kb.ragfile": "kb.ragfile",
    "compare @kb.ragfile @kb.ragfile --questions q.txt": "",
    "convert @kb.ragfile @kb.ragmd": "1 document",
    "convert kb.ragfile @kb.jsonl": "1 document",
    "delete @kb.ragfile keys.md": "1 document deleted",
    "export @kb.ragfile @out.jsonl": "1 chunk",
    "info @kb.ragfile": "documents  1",
    "inspect @kb.ragfile": "rag.text",
    "log @kb.ragfile": "1 chunk",
    "mcp @kb.ragfile --bundle @kb.mcpb": "kb.mcpb: written",
    "pull @kb.ragfile copy.ragfile": "generation 1",
    "reindex @kb.ragfile": "0 documents rechunked",
    "repair @kb.ragfile": "nothing to repair",
    "search @kb.ragfile keys": "Rotate the keys",
    "show @kb.ragfile keys.md": "Rotate the keys",
    "stale @kb.ragfile": "",
    "verify @kb.ragfile": "good",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_takes_the_url_of_a_file(folder, command):
    (folder / "q.txt").write_text("keys\n")
    done = run(folder, *command.split())
    assert done.returncode == 0, done.stderr
    assert COMMANDS[command] in done.stdout


def test_a_sync_follows_a_folder_by_its_url(folder):
    uri = (folder / "doc s").as_uri()
    done = run(folder, "sync", "@kb.ragfile", uri)
    assert "nothing to do; 1 unchanged" in done.stdout
    (folder / "doc s" / "new.md").write_text("New.\n")
    assert "1 added" in run(folder, "sync", "@kb.ragfile", uri).stdout


def test_python_takes_the_url_of_a_file(folder):
    kb = (folder / "kb.ragfile").as_uri()
    assert ragfile.add(kb, (folder / "more").as_uri()).added == ["owls.md"]
    with ragfile.edit(kb) as w:
        w.delete("owls.md")
    ragfile.convert(kb, (folder / "kb.jsonl").as_uri())
    first = json.loads((folder / "kb.jsonl").read_text().splitlines()[0])
    assert first["doc_id"] == "keys.md"
    assert len(ragfile.log(kb)) == 3
    ragfile.compact(kb)
    with ragfile.open(kb) as rf:
        assert rf.document_ids() == ["keys.md"]


def test_a_question_that_looks_like_the_url_of_a_file_stays_as_it_is(folder):
    done = run(folder, "search", "kb.ragfile", "file:///keys", "--json")
    assert done.returncode == 0, done.stderr
