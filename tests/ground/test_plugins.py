"""A package of ten lines adds a loader, an embedder, a chat model and a re-ranker by its entry points.

The package is installed by pip into a folder, and each test runs a program with that folder on its path.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

import ragfile
from ragfile.ground import plugins

GUIDE = (ROOT / "docs/guides/plugins.md").read_text()


def block(name):
    """The block of the guide that begins with a comment of a file's name."""
    return re.search(rf"^```\w+\n# {re.escape(name)}\n(.*?)^```", GUIDE, re.M | re.S)[1]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder into which pip installed the guide's package, and one that cannot be imported."""
    pytest.importorskip(
        "setuptools", "77", reason="setuptools 77, which builds the package, is not installed"
    )
    folder = tmp_path_factory.mktemp("packages")
    broken = block("pyproject.toml").replace("notes", "broken").replace('note = "', 'bad = "')
    for name, project in (("notes", block("pyproject.toml")), ("broken", broken)):
        source = folder / "source" / name
        source.mkdir(parents=True)
        (source / "pyproject.toml").write_text(project)
        code = block("ragfile_notes.py") if name == "notes" else "import no_such_module\n"
        (source / f"ragfile_{name}.py").write_text(code)
        install(source, folder / name)
    return folder


RERANKED = """
import json, ragfile
with ragfile.open("kb.ragfile") as rf:
    print(json.dumps([hit.text for hit in rf.search("keys pods else", rerank="notes:", mode="bm25")]))
"""


def install(source, target):
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps"]
    command += ["--no-build-isolation", "--target", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True, text=True)


@pytest.fixture
def run(packages, tmp_path):
    """Run the command with some of the packages installed; return (code, stdout, stderr)."""

    def command(*arguments, package="notes", **variables):
        path = os.pathsep.join([str(packages / package), str(ROOT), *filter(None, sys.path)])
        done = subprocess.run(
            [sys.executable, *(arguments if arguments[0] == "-c" else ["-m", "ragfile", *arguments])],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": path, **variables},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    return command


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.note").write_text("Keys rotate on Monday.\n--\nPods restart.\n")
    (tmp_path / "docs/b.md").write_text("# Markdown\n\nSomething else.\n")
    return Path("docs")


def test_a_plugin_is_listed_with_its_package(run):
    code, out, _ = run("info", "--plugins", "--json")
    assert code == 0
    found = {(each["group"], each["name"]): each["package"] for each in json.loads(out)}
    ours = {key for key, package in found.items() if package == "ragfile-notes"}
    assert ours == {
        ("loaders", "note"), ("embedders", "notes"), ("chat", "notes"), ("rerankers", "notes"),
    }  # fmt: skip
    assert (
        "   loaders  note  ragfile_notes:parse (ragfile-notes 1.0)" in run("info", "--plugins")[1]
    )


def test_info_without_a_file_is_wrong_usage(run):
    code, _, err = run("info")
    assert code != 0
    assert "--plugins" in err


def test_a_plugin_reads_its_suffix_from_a_folder(run, folder):
    assert run("build", str(folder), "-o", "kb.ragfile")[0] == 0
    code, out, _ = run("search", "kb.ragfile", "when do keys rotate", "-k", "1", "--json")
    assert code == 0
    (hit,) = json.loads(out)["hits"]
    assert hit["text"] == "Keys rotate on Monday."
    assert hit["metadata"]["mime"] == "application/x-note"


def test_a_plugin_reads_in_several_processes_as_in_one(run, folder, tmp_path):
    assert run("build", str(folder), "-o", "one.ragfile")[0] == 0
    assert run("build", str(folder), "-o", "many.ragfile", "--jobs", "2")[0] == 0
    assert (tmp_path / "one.ragfile").read_bytes() == (tmp_path / "many.ragfile").read_bytes()


def test_without_the_package_its_suffix_is_skipped(run, folder):
    _, _, err = run("build", str(folder), "-o", "kb.ragfile", package="source")
    assert "skipped 1 (no loader for this suffix): 1 .note" in err


def test_a_plugin_embeds_answers_and_reranks(run, folder):
    built = run("build", str(folder), "-o", "kb.ragfile", "--embedder", "notes:letters")
    assert built[0] == 0, built[2]
    code, out, err = run("info", "kb.ragfile", "--json")
    assert json.loads(out)["model"]["name"] == "notes:letters", err
    asked = "when do keys rotate"
    code, out, err = run(
        "search", "kb.ragfile", asked, "--embedder", "notes:letters", "--mode", "vector", "--json"
    )
    assert code == 0, err
    assert json.loads(out)["hits"][0]["text"] == "Keys rotate on Monday."
    code, out, err = run("-c", RERANKED)
    assert code == 0, err
    texts = json.loads(out)
    assert len(texts) > 1
    assert texts == sorted(texts, key=len)
    code, out, err = run("ask", "kb.ragfile", asked, "--model", "notes:any")
    assert code == 0, err
    assert "Notes say: Monday." in out


def test_a_plugin_that_needs_the_network_is_refused_offline(run, folder):
    build = "build", str(folder), "-o", "kb.ragfile", "--embedder", "notes:letters"
    code, _, err = run(*build, RAGFILE_OFFLINE="1")
    assert (code, "notes:letters" in err) == (1, True)


def test_a_package_that_cannot_be_imported_is_named(run, folder):
    code, _, err = run(
        "build", str(folder), "-o", "kb.ragfile", "--embedder", "broken:x", package="broken"
    )
    assert code == 1
    assert (
        "the plugin broken of the package ragfile-broken cannot be loaded: No module named" in err
    )


@pytest.fixture(scope="module")
def twice(packages):
    """A folder with two packages that add the same names."""
    for name in ("notes", "others"):
        project = block("pyproject.toml").replace(
            'name = "ragfile-notes"', f'name = "ragfile-{name}"'
        )
        source = packages / "source" / f"twice_{name}"
        source.mkdir()
        (source / "pyproject.toml").write_text(project)
        (source / "ragfile_notes.py").write_text(block("ragfile_notes.py"))
        install(source, packages / "twice")
    return "twice"


def test_two_packages_with_one_name_are_both_listed_and_neither_is_used(run, folder, twice):
    code, out, _ = run("info", "--plugins", "--json", package=twice)
    found = [each["package"] for each in json.loads(out) if each["name"] == "notes"]
    assert (code, sorted(found)) == (0, sorted(["ragfile-notes", "ragfile-others"] * 3))
    build = "build", str(folder / "b.md"), "-o", "kb.ragfile"
    code, _, err = run(*build, "--embedder", "notes:letters", package=twice)
    assert code == 1
    assert (
        "ragfile-notes and ragfile-others add a plugin called 'notes': uninstall all but one" in err
    )
    assert run(*build, "--embedder", "none", package=twice)[0] == 0


STARTED = """
from ragfile.doors.server.lifecycle import check
from ragfile.doors.server.settings import Settings
check(Settings((), embedder="notes:letters"))
try:
    check(Settings((), embedder="nots:letters"))
except ValueError as error:
    print(error)
"""


def test_a_server_starts_with_the_embedder_of_a_plugin_and_refuses_an_unknown_one(run):
    code, out, err = run("-c", STARTED)
    assert code == 0, err
    assert "no embedder is called 'nots:letters'" in out


CONVERTED = """
import ragfile
from ragfile.adapters.single_file import provider
from ragfile.adapters.sqlrooms import prepare_embeddings, vector_query
ragfile.build("docs", "kb.ragfile", embedder="notes:letters")
ragfile.convert("kb.ragfile", "kb.faiss")
ragfile.convert("kb.faiss", "back.ragfile")
with ragfile.open("back.ragfile") as rf:
    print(rf.search("when do keys rotate", mode="vector")[0].text)
print(provider("notes", "letters").model.name)
prepare_embeddings("docs", "rooms.ragfile", embed_model_name="notes:letters")
print(vector_query("Something", "rooms.ragfile", embed_model_name="notes:letters")[0]["score"] > 0)
"""


def test_a_converted_file_and_the_adapters_know_the_embedder_of_a_plugin(run, folder):
    code, out, err = run("-c", CONVERTED)
    assert code == 0, err
    assert out.splitlines() == ["Keys rotate on Monday.", "notes:letters", "True"]


def test_importing_the_package_loads_no_plugin(run):
    code, out, err = run(
        "-c", "import ragfile, sys; ragfile.open; print('ragfile_notes' in sys.modules)"
    )
    assert (code, out) == (0, "False\n"), err


def test_an_unknown_name_lists_the_plugins(run, folder):
    _, _, err = run("build", str(folder), "-o", "kb.ragfile", "--embedder", "nots:x")
    assert "notes:MODEL" in err


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("odd1", 'return "a text"', "let it yield the text"),
        ("odd2", "import sys; sys.exit(3); yield", "ended with exit"),
        ("odd3", "yield ragfile.Document('a', 'text', metadata={'x': {1}})", "not JSON"),
    ],
)
def test_a_loader_that_breaks_its_rules_fails_its_file_alone(
    tmp_path, monkeypatch, name, body, reason
):
    space = {"ragfile": ragfile}
    exec(f"def parse(raw, limits):\n    {body}\n", space)
    monkeypatch.setattr(plugins, "has", lambda group, asked: asked == name)
    monkeypatch.setattr(plugins, "load", lambda group, asked: space["parse"])
    (tmp_path / f"a.{name}").write_text("text")
    (tmp_path / "b.md").write_text("# Keys\n")
    sources = [tmp_path / f"a.{name}", tmp_path / "b.md"]
    report = ragfile.build(sources, tmp_path / "kb.ragfile", embedder="none")
    assert [reason in failure.reason for failure in report.failures] == [True]
    assert report.documents == 1
