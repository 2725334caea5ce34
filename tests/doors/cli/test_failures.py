"""Failures: one line, its exit code, the command line's own spelling, and JSON where JSON is asked for."""

import json
import os
import shlex
import subprocess
import sys

import pytest

import ragfile
from ragfile.doors.cli.failures import spelled


def test_an_interrupted_command_ends_with_130(run, kb, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("ragfile.opener.open", interrupted)
    assert run("info", kb) == (130, "", "\nragfile: interrupted\n")


@pytest.mark.parametrize(
    ("arguments", "kind", "code"),
    [
        (["info", "nope"], "FileNotFoundError", 1),
        (["search", "nope", "x", "-k", "0"], "UsageError", 2),
        (["nope"], "UsageError", 2),
        (["info", "{bad}"], "FormatError", 5),
        (["show", "{kb}", "nope"], "KeyError", 1),
        (["build", "nope", "-o", "x.ragfile"], "FileNotFoundError", 1),
    ],
)
def test_an_error_is_an_object_with_json(run, kb, tmp_path, arguments, kind, code, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad").write_bytes(bytes(100))
    named = [a.format(kb=kb, bad=tmp_path / "bad") for a in arguments]
    status, out, err = run(*named, "--json")
    said = json.loads(err)["error"]
    assert (status, out, said["kind"], said["exit_code"]) == (code, "", kind, code)
    assert said["message"]


def test_an_id_that_is_not_there_is_named_and_the_rest_is_deleted(run, kb):
    code, out, err = run("delete", kb, "nosuch", "keys.md")
    assert code == 1
    assert "has no document called nosuch" in err
    assert "1 document deleted" in out
    code, out, _ = run("delete", kb, "nosuch", "--json")
    assert (code, json.loads(out)["unknown"]) == (1, ["nosuch"])
    assert run("delete", kb, "pods.md")[0] == 0


def test_no_passages_are_not_a_number_of_passages(run, kb):
    code, _, err = run("search", kb, "keys", "-k", "0")
    assert code == 2
    assert "-k" in err


def test_hints_name_options_of_the_command_line(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my page.md").write_text("# Hello")
    assert "`ragfile build 'my page.md' -o kb.ragfile`" in run("info", "my page.md")[2]
    (tmp_path / "latin.txt").write_bytes("größer: ".encode() + b"\xff")
    err = run("build", "latin.txt", "-o", "x.ragfile")[2]
    assert "--encoding" in err
    assert "--errors replace" in err
    assert spelled("allow it with redirects=True") == "allow it with --redirects"
    run("build", "my page.md", "-o", "kb.ragfile")
    run("build", "my page.md", "-o", "plain.ragfile", "--embedder", "none")
    assert "name the format with --to; one of" in run("convert", "kb.ragfile", "kb.xyz")[2]
    err = run("search", "plain.ragfile", "x", "--diversity", "1")[2]
    assert "which --diversity compares" in err


def test_damage_says_how_to_go_on(run, kb):
    raw = bytearray(kb.read_bytes())
    with ragfile.open(kb) as rf:
        at = next(entry["at"] for entry in rf.file.entries if entry["name"] == "vector")
    raw[at] ^= 1
    kb.write_bytes(raw)
    code, _, err = run("search", kb, "keys", "--mode", "vector")
    assert code == 5
    assert f"{kb}: block checksum" in err
    assert f"`ragfile verify {kb} --full`" in err


def test_text_in_another_encoding_is_read_by_its_name(run, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.txt").write_bytes("Grüße aus Köln".encode("cp1252"))
    (tmp_path / "docs/b.txt").write_text("Grüße aus Bonn")
    out = tmp_path / "kb.ragfile"
    assert run("build", tmp_path / "docs", "-o", out, "--encoding", "cp1252")[0] == 0
    with ragfile.open(out) as rf:
        assert [d.text for d in rf.documents()] == ["Grüße aus Köln", "Grüße aus Bonn"]
    (tmp_path / "docs/c.txt").write_bytes("Straße".encode("cp1252"))
    assert run("sync", out, tmp_path / "docs", "--encoding", "cp1252")[0] == 0
    with ragfile.open(out) as rf:
        assert rf.document("c.txt").text == "Straße"
    code, _, err = run("build", tmp_path / "docs", "-o", out, "--encoding", "klingon")
    assert code == 1
    assert "unknown encoding 'klingon'" in err


def test_a_file_that_was_cut_off_is_to_be_fetched_again(run, kb):
    whole = kb.read_bytes()
    with ragfile.open(kb) as rf:
        least = sum(rf.file.footer)
    for size in (100, 5000, least - 64, least - 1):
        kb.write_bytes(whole[:size])
        wanted = least if size > 4160 else 4160
        told = f"ragfile: {kb}: the file was cut off: {size:,} of at least {wanted:,} bytes are there; fetch it again\n"
        for command in (["search", kb, "keys"], ["verify", kb], ["log", kb], ["info", kb]):
            assert run(*command) == (5, "", told)


def test_sizes_of_large_files_are_megabytes(tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path) as w:
        w.add_section("own", bytes(47_000_000))
    os.truncate(path, 20_500_000)
    with pytest.raises(
        ragfile.CorruptError, match="cut off: 20 of at least 47 MB are there; fetch"
    ):
        ragfile.open(path)


def test_advice_for_damage_ends(kb):
    """Each command that is advised is run, until a message advises none."""

    def told(*words):
        command = [sys.executable, "-m", "ragfile", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stderr

    raw = bytearray(kb.read_bytes())
    raw[4000] ^= 1  # the front page
    kb.write_bytes(raw)
    assert f"`ragfile verify {kb} --full`" in told("search", kb, "keys")
    assert f"`ragfile log {kb}`" in told("verify", kb, "--full")
    last = told("log", kb)
    assert f"restore a copy of {kb}" in last
    assert "`" not in last


def test_a_missing_file_is_made_by_the_command_of_its_message(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FOLDER").mkdir()
    (tmp_path / "FOLDER" / "a.md").write_text("# Pods\n\nPods.\n")
    code, _, err = run("search", "my kb.ragfile", "pods")
    assert (code, err.count("\n")) == (1, 1)
    command = err.split("`")[1]
    assert command == "ragfile build FOLDER -o 'my kb.ragfile'"
    assert run(*shlex.split(command)[1:])[0] == 0
    assert run("search", "my kb.ragfile", "pods")[0] == 0
    with pytest.raises(FileNotFoundError, match="makes one") as caught:
        ragfile.open("nope")
    assert caught.value.filename == "nope"
    with pytest.raises(TypeError, match="not bytes"):
        ragfile.open(b"nope")
