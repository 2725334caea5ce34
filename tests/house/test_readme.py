"""What the README says works: its code blocks are run."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder such as the README imagines."""
    for name in ("docs", "notes", "docs/old"):
        (tmp_path / name).mkdir()
    (tmp_path / "docs/keys.md").write_text("# Keys\n\nTo rotate the keys, run the rotation job.\n")
    (tmp_path / "docs/old/page.md").write_text("# Old\n\nNothing here is true any more.\n")
    (tmp_path / "notes/a.md").write_text("# A note\n\nRestart a pod by deleting it.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_the_python_examples_run(desk, number):
    for package in re.findall(r"^import (duckdb)$", blocks("python")[number], re.MULTILINE):
        pytest.importorskip(
            package, reason=f"{package}, which this example is about, is not installed"
        )
    exec(compile(blocks("python")[number], "README.md", "exec"), {})


def test_the_commands_run(desk):
    command = {"ragfile": [sys.executable, "-m", "ragfile"]}
    for line in "".join(blocks("console")).splitlines():
        words = [
            w
            for part in shlex.split(line.removeprefix("$ "))
            for w in (sorted(map(str, Path().glob(part))) if "*" in part else [part])
        ]
        done = subprocess.run(
            command[words[0]] + words[1:], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (line, done.stderr)
        assert done.stdout


def test_the_first_command_builds_and_answers_from_the_documents_it_names(tmp_path):
    steps = blocks("bash")[0].strip().split(" && ")
    assert steps[0].startswith("python3 -m venv")
    assert steps[1].startswith(".venv/bin/pip install")
    for step in steps[2:]:
        words = shlex.split(step)
        assert words[0] == ".venv/bin/ragfile"
        words = [str(tmp_path / w) if w == "kb.ragfile" else w for w in words[1:]]
        done = subprocess.run(
            [sys.executable, "-P", "-m", "ragfile", *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    assert "container.md" in done.stdout
    assert "footer" in done.stdout


def test_the_second_command_is_what_continuous_integration_runs():
    install, run = blocks("bash")[1].strip().split(" && ")
    script = (ROOT / ".ci/run").read_text()
    assert (
        install.replace(".venv/bin/", '"$venv/bin/').replace("pip install", 'pip" install')
        in script
    )
    assert run.replace(".venv/bin/pytest", '"$venv/bin/pytest"') in script


def test_the_numbers_of_the_first_table_are_those_of_the_benchmarks():
    rows = [
        line
        for line in README.splitlines()
        if line.startswith("| the 10 ") or line.startswith("| 12 passages")
    ]
    measured = (ROOT / "bench/README.md").read_text()
    said = [
        number
        for row in rows
        for number in re.findall(r"(?<![\w.])[\d,]*\.?\d+\b", row.split("|", 2)[2])
    ]
    assert len(rows) == 3
    assert len(said) > 20
    for number in said:
        assert re.search(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)", measured), number


def test_every_file_that_the_readme_links_to_is_there():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert "://" in target or (ROOT / target).exists(), target


def test_the_tree_is_the_one_that_people_expect():
    for name in (
        "pyproject.toml",
        "setup.py",
        "ragfile",
        "csrc",
        "tests",
        "bench",
        "spec",
        "README.md",
        "LICENSE",
    ):
        assert (ROOT / name).exists(), name
    assert shutil.which("cc") or shutil.which("gcc")
