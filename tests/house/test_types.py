"""What type checkers and editors see is what a program gets."""

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from places import ROOT

import ragfile

PROGRAMS = ROOT / "tests/typing"


def checker(name):
    """Skips a test where a type checker is not installed."""
    return pytest.mark.skipif(
        importlib.util.find_spec(name) is None, reason=f"{name} is not installed (ragfile[types])"
    )


def run(folder, *command, **environment):
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1", **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def pyright(folder, program):
    shutil.copy(PROGRAMS / program, folder)
    settings = {"include": [program], "typeCheckingMode": "strict", "extraPaths": [str(ROOT)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    return run(folder, "pyright", "--pythonpath", sys.executable, "-p", ".")


def mypy(folder, program):
    shutil.copy(PROGRAMS / program, folder)
    strict = ("mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(folder / "cache"))
    return run(folder, *strict, program, MYPYPATH=str(ROOT))


CHECKERS = pytest.mark.parametrize(
    "check",
    [pytest.param(pyright, marks=checker("pyright")), pytest.param(mypy, marks=checker("mypy"))],
)


def reported(output):
    """The numbers of the lines that a checker complains of."""
    lines = (re.match(r"\s*(?:\S*/)?\w+\.py:(\d+):.*error", line) for line in output.splitlines())
    return {int(line[1]) for line in lines if line}


@CHECKERS
def test_a_users_program_passes(check, tmp_path):
    output = check(tmp_path, "user_code.py")
    assert not reported(output), output
    assert re.search(r"\b0 errors|no issues", output), output


@CHECKERS
def test_every_mistake_is_reported_and_nothing_else(check, tmp_path):
    lines = (PROGRAMS / "wrong.py").read_text().splitlines()
    marked = {number for number, line in enumerate(lines, 1) if "# wrong: " in line}
    assert len(marked) >= 20
    output = check(tmp_path, "wrong.py")
    assert reported(output) == marked, output


@checker("pyright")
def test_the_package_passes():
    output = run(ROOT, "pyright", "--pythonpath", sys.executable)
    assert re.search(r"\b0 errors", output), output


def test_what_pyright_is_told_to_ignore_has_a_rule_and_a_reason():
    sources = sorted((ROOT / "ragfile").rglob("*.py"))
    lines = [line for path in sources for line in path.read_text().splitlines()]
    ignored = [line for line in lines if "type: ignore" in line or "pyright: ignore" in line]
    assert [
        x for x in ignored if not re.search(r"# (?:pyright|type): ignore\[[\w,-]+\]  # \w", x)
    ] == []


def test_the_users_program_runs(tmp_path):
    program = [sys.executable, str(PROGRAMS / "user_code.py"), str(tmp_path)]
    home = os.path.dirname(os.path.dirname(ragfile.__file__))  # of the ragfile that is tested
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([home, *sys.path])}
    done = subprocess.run(program, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_users_program_names_everything():
    tree = ast.parse((PROGRAMS / "user_code.py").read_text())
    named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert set(ragfile.__all__) - named == set()


def test_what_checkers_see_is_what_is_imported_on_use():
    tree = ast.parse((ROOT / "ragfile/__init__.py").read_text())
    shown = {
        alias.asname: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module != "importlib"
        for alias in node.names
    }
    assert shown == {name: f"ragfile.{home}" for name, home in ragfile._HOMES.items()}


def test_every_name_says_what_it_is():
    for name in ragfile.__all__:
        assert getattr(ragfile, name).__doc__, name
