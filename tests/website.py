"""The documentation's website, built once for the tests that look at it."""

import shutil
import subprocess
import sys

import pytest
from places import ROOT


@pytest.fixture(scope="session")
def website(tmp_path_factory, web_files):
    """Build it strictly, in a copy: a link that leads nowhere fails. Return its folder."""
    for package in ("material", "mkdocstrings"):
        pytest.importorskip(package, reason="the extra docs is not installed")
    copy = tmp_path_factory.mktemp("website")
    core = [ROOT / "csrc/README.md", ROOT / "csrc/example.c"]
    settings = [ROOT / "Makefile", ROOT / "mkdocs.yml", ROOT / "LICENSE"]
    for path in [*settings, *ROOT.glob("*.md"), *core, *ROOT.glob("bench/*.[mp][dy]")]:
        (copy / path.relative_to(ROOT)).parent.mkdir(exist_ok=True)
        shutil.copy(path, copy / path.relative_to(ROOT))
    for folder in ("docs", "spec", "tools/website"):
        shutil.copytree(ROOT / folder, copy / folder)
    make = ["make", "docs", "-o", "web", f"PY={sys.executable}"]
    done = subprocess.run(make, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return copy / "build/site"
