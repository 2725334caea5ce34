"""The three Makefiles, and every `make …` that a page, a test or a workflow names."""

import re
import subprocess

import pytest
from places import ROOT

FOLDERS = (".", "tests", "bench")
NAMED = re.compile(r"`make ((?:-C \w+ )?)([a-z][a-z0-9-]*)|make (-C \w+ )([a-z0-9-]+)")
FILES = [
    *ROOT.glob("*.md"), *ROOT.glob(".github/**/*"), *ROOT.glob(".ci/*"),
    *(path for folder in ("docs", "spec", "bench", "tests", "ragfile", "tools", "csrc")
      for path in (ROOT / folder).rglob("*") if path.suffix in (".md", ".py", ".c", ".h", ".sh")),
]  # fmt: skip


def rules(folder):
    """{target: its line of help, empty if it has none}"""
    text = (ROOT / folder / "Makefile").read_text()
    found = re.findall(r"^([a-z][a-z0-9 -]*):(?!=)(?:[^#\n]*## (.+))?", text, re.MULTILINE)
    return {name: line for names, line in found for name in names.split()}


@pytest.mark.parametrize("folder", FOLDERS)
def test_help_lists_what_a_makefile_does(folder):
    command = ["make", "-s", "-C", ROOT / folder, "help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    shown = {line for line in rules(folder).values() if line}
    assert {re.split(r" {2,}", line, maxsplit=1)[-1] for line in done.stdout.splitlines()} >= shown


def test_the_first_help_has_eight_targets():
    assert len([line for line in rules(".").values() if line]) == 8


def test_a_target_that_has_the_name_of_a_folder_runs():
    command = ["make", "-s", "-n", "-C", ROOT / "tests", "crash", "PY=python"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "python tests/crash/" in done.stdout


def test_every_target_that_is_named_exists():
    known = {f"-C {folder} " if folder != "." else "": rules(folder) for folder in FOLDERS}
    for path in FILES:
        if not path.is_file():
            continue
        for match in NAMED.finditer(path.read_text(encoding="utf-8", errors="ignore")):
            folder, name = (match[1], match[2]) if match[2] else (match[3], match[4])
            assert name in known[folder], f"{path.relative_to(ROOT)}: make {folder}{name}"
