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
from stubs import write_stubs

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


STRICT = {
    "typeCheckingMode": "strict",
    "pythonVersion": "3.11",
    "stubPath": "stubs",
    # Not every extra is installed, and some packages have no stubs.
    "reportMissingImports": False,
    "reportMissingModuleSource": False,
    "reportMissingTypeStubs": False,
    "reportUnnecessaryIsInstance": False,  # callers without a type checker get clear errors, too
    "reportPrivateUsage": False,  # test_shape.py refuses them; class decorators confuse pyright
}


@checker("pyright")
def test_the_package_passes_pyright_strict(tmp_path):
    write_stubs(tmp_path / "stubs")
    package = os.path.relpath(ROOT / "ragfile", tmp_path.resolve())
    settings = STRICT | {"include": [package], "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    output = run(tmp_path, "pyright", "--pythonpath", sys.executable, "-p", ".")
    assert re.search(r"\b0 errors", output), output
    assert "No source files" not in output, output


@checker("pyright")
@pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is None, reason="pyarrow and its like are not installed"
)
def test_the_package_passes_with_the_types_of_other_packages():
    output = run(ROOT, "pyright", "--pythonpath", sys.executable)
    assert re.search(r"\b0 errors", output), output


@checker("mypy")
def test_the_package_passes_mypy_strict(tmp_path):
    output = run(ROOT, "mypy", "--cache-dir", str(tmp_path))
    assert "no issues" in output, output


@checker("ty")
def test_the_package_passes_ty():
    output = run(ROOT, "ty", "check", "ragfile", "--output-format", "concise")
    assert "All checks passed" in output, output


@checker("pyrefly")
def test_the_package_passes_pyrefly():
    output = run(ROOT, "pyrefly", "check", "--output-format", "min-text")
    assert output.strip() == ""


def test_what_pyright_is_told_to_ignore_has_a_rule_and_a_reason():
    sources = sorted((ROOT / "ragfile").rglob("*.py"))
    lines = [line for path in sources for line in path.read_text().splitlines()]
    ignored = [line for line in lines if "type: ignore" in line or "pyright: ignore" in line]
    assert [
        x for x in ignored if not re.search(r"# (?:pyright|type): ignore\[[\w,-]+\]  # \w", x)
    ] == []


def test_the_users_program_runs(tmp_path, web_files):
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
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module != "ragfile"  # a module of it
        for alias in node.names
    }
    assert shown == {name: f"ragfile.{home}" for name, home in ragfile._HOMES.items()}


def test_every_name_says_what_it_is():
    for name in ragfile.__all__:
        assert getattr(ragfile, name).__doc__, name
