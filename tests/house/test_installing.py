"""What a person reads where the package cannot be compiled or is not compiled yet."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from places import ROOT


@pytest.fixture
def source_folder(tmp_path):
    """The package's Python files alone, as a checkout has them before its first build."""
    shutil.copytree(
        ROOT / "ragfile", tmp_path / "ragfile", ignore=shutil.ignore_patterns("*.so", "data")
    )
    return tmp_path


def last_line(folder, *words):
    """The last line of a Python that fails in a folder; it finds packages, no editable checkout."""
    packages = Path(numpy.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-S", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    "words",
    [
        ("-c", "from ragfile import _core"),
        ("-c", "import ragfile; ragfile.build"),
        ("-m", "ragfile.conformance"),
    ],
)
def test_a_source_folder_without_a_compiled_core_says_what_to_do(source_folder, words):
    said = last_line(source_folder, *words)
    assert said.startswith(f"ImportError: {source_folder / 'ragfile'} holds ragfile's source")
    assert "pip install -e ." in said


def test_a_source_folder_without_a_compiled_core_still_knows_its_version(source_folder):
    command = [sys.executable, "-S", "-c", "import ragfile; print(ragfile.__version__)"]
    done = subprocess.run(command, cwd=source_folder, capture_output=True, text=True, check=True)
    assert done.stdout.strip()


def setup(**environment):
    """What the last line of a build says that cannot begin."""
    pytest.importorskip(
        "setuptools", "77", reason="setuptools 77, which builds the package, is not installed"
    )
    command = [sys.executable, "setup.py", "-q", "build_ext", "--build-temp", os.devnull]
    environment = {**os.environ, **environment}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    return done.stderr.strip().splitlines()[-1]


def test_a_machine_without_a_compiler_gets_one_sentence():
    said = setup(CC="no-such-compiler")
    assert "there is no compiler 'no-such-compiler' here: install one" in said
    assert "Errno" not in said
