"""Completion and the manual page: what shells and man make of them."""

import os
import shutil
import subprocess
import sys

import pytest

from ragfile.doors.cli.main import Doors, ragfile


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_takes_its_script(run, shell, tmp_path):
    code, out, _ = run("completion", shell)
    assert code == 0
    assert "_RAGFILE_COMPLETE" in out
    if shutil.which(shell):
        (tmp_path / "script").write_text(out)
        subprocess.run([shell, "-n", tmp_path / "script"], check=True)


@pytest.mark.parametrize(
    ("words", "number", "expected"),
    [("ragfile se", 1, "plain,search"), ("ragfile search --mo", 2, "plain,--mode")],
)
def test_commands_and_options_are_completed(words, number, expected):
    told = {"_RAGFILE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(number)}
    call = [sys.executable, "-m", "ragfile"]
    found = subprocess.run(call, env=os.environ | told, capture_output=True, text=True, check=True)
    assert expected in found.stdout.splitlines()


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish", "man"])
def test_each_is_installed_where_it_is_looked_for(run, kind, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    code, out, _ = run("completion", kind, "--install")
    path = out.strip()
    assert code == 0
    assert path.startswith(str(tmp_path))
    with open(path, encoding="utf-8") as file:
        assert file.read() + "\n" == run("completion", kind)[1]


def test_the_manual_page_has_every_command_and_no_mistake(run, tmp_path):
    page = run("completion", "man")[1]
    names = Doors.list_commands(ragfile, None)
    assert all(f".SS {name}\n" in page for name in names)
    if shutil.which("groff"):
        (tmp_path / "ragfile.1").write_text(page)
        call = ["groff", "-man", "-Tutf8", "-ww", tmp_path / "ragfile.1"]
        made = subprocess.run(call, capture_output=True, text=True, check=True)
        assert made.stderr == ""
