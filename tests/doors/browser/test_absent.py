"""A source tree in which the files for browsers have not been built."""

import re
import shlex
import shutil
import subprocess
import sys

import pytest
from doors.browser.node import node
from places import ROOT
from web_files import has_compiler

import ragfile
from ragfile.doors.site import static_site


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A source tree as git has it: the package reads its data folders."""
    tree = tmp_path / "tree"
    generated = shutil.ignore_patterns("*.wasm.gz", "stemmers", "__pycache__")
    for folder in ("csrc", "tools", "ragfile/data", "ragfile/doors/browser"):
        shutil.copytree(ROOT / folder, tree / folder, ignore=generated)
    monkeypatch.setattr(static_site, "DATA", tree / "ragfile/data")
    monkeypatch.setattr(static_site, "BROWSER", tree / "ragfile/doors/browser")
    return tree


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path, embedder="none") as w:
        w.add_documents([{"id": "a.md", "text": "Keys are rotated."}])
    return path


def test_a_site_names_the_command_that_builds_what_is_missing(tree, path, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"not built: run `python \S+/tools/build_web.py`"):
        ragfile.site(path, tmp_path / "public")
    assert not (tmp_path / "public").exists()


def test_an_installation_without_these_files_names_a_release(tree, path, tmp_path):
    shutil.rmtree(tree / "tools")
    with pytest.raises(FileNotFoundError, match="not built: install a release of ragfile"):
        ragfile.site(path, tmp_path / "public")


def test_the_npm_package_names_the_command(tree, path):
    script = f"""import {{ open }} from "{(tree / "ragfile/doors/browser/index.js").as_uri()}";
        await open("{path.as_uri()}").then((file) => file.search("keys", {{ mode: "bm25" }}))
            .catch((error) => console.log(error.message));"""
    command = [node(), "--input-type=module", "-e", script]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "ragfile.wasm.gz is missing: in a source tree, `python tools/build_web.py`" in said


@pytest.mark.stress
def test_that_command_builds_what_a_site_needs(tree, path, tmp_path):
    if not has_compiler():
        pytest.skip("the pinned compiler is not installed: make web")
    if (ROOT / "build/pinned").is_dir():
        shutil.copytree(ROOT / "build/pinned", tree / "build/pinned", symlinks=True)
    with pytest.raises(FileNotFoundError) as refused:
        ragfile.site(path, tmp_path / "public")
    python, tool = shlex.split(re.search("`(.+?)`", str(refused.value))[1])
    assert python == "python"
    subprocess.run([sys.executable, tool], check=True)
    assert "ragfile/ragfile.wasm.gz" in ragfile.site(path, tmp_path / "public")
