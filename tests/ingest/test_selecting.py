"""Which files of a folder are read: what .gitignore files, callers and the names of folders say."""

import shutil
import subprocess

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragfile.doors.cli.main import ragfile
from ragfile.ingest.ignore_patterns import Rules
from ragfile.ingest.source_files import Selection, find
from ragfile.opener import open as open_file
from ragfile.write.builder import build
from ragfile.write.source_sync import sync

FILES = ("a.md", "b.md", "sub/a.md", "sub/deep/c.md", "build/out.md", "sub/build/in.md", "x [1].md")


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "root"
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"# {name}\n")
    return root


def found(root, skipped=None, **selection):
    return [source.id for source in find(root, skipped, selection=Selection(**selection))]


PATTERNS = ["a.md", "/a.md", "*.md", "sub/", "build", "/build/", "sub/*", "sub/**", "**/a.md", "sub/**/c.md", "!a.md",
            "!sub/a.md", "*", "!*/", "?.md", "[ab].md", "[!a].md", "x \\[1\\].md", "x [[]1].md", "#a.md", "\\#a", "a.md ",
            "a**d", "**", "/**/deep", "deep/", "sub/deep/c.md", "*a*", "s*b/a.md", "[z-a]", "sub//a.md"]  # fmt: skip


@pytest.fixture(scope="session")
def repository(tmp_path_factory):
    if not shutil.which("git"):
        pytest.skip("git, which judges here, is not installed")
    root = tmp_path_factory.mktemp("judged")
    subprocess.run(["git", "init", "-q", root], check=True)
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n")
    return root


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.sampled_from(PATTERNS), max_size=5), st.lists(st.sampled_from(PATTERNS), max_size=3)
)
def test_git_leaves_out_the_same_files(repository, patterns, inner):
    (repository / ".gitignore").write_text("\n".join(patterns))
    (repository / "sub" / ".gitignore").write_text("\n".join(inner))
    command = [
        "git",
        "-c",
        "core.quotePath=false",
        "-C",
        repository,
        "ls-files",
        "-co",
        "--exclude-standard",
        "-z",
    ]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    judged = sorted(name for name in listed if name.endswith(".md"))
    assert sorted(found(repository)) == judged


def test_rules_of_the_folders_above_hold_in_a_repository(folder):
    (folder / ".git").mkdir()
    (folder / ".gitignore").write_text("/sub/deep/\na.md\n")
    assert found(folder / "sub") == ["build/in.md"]
    (folder / "sub" / ".gitignore").write_text("!a.md\n")
    assert found(folder / "sub") == ["a.md", "build/in.md"]


def test_a_pattern_made_to_cost_much_costs_little():
    rules = Rules(["*a" * 400 + "b", "**/" * 200 + "x", "[" * 900])
    assert rules.verdict(("a" * 5000,) * 50, False) is None


def test_what_programs_installed_is_left_out_and_said(folder):
    for name in (
        "node_modules/x/a.md",
        "env/pyvenv.cfg",
        "env/lib/a.md",
        "cache/CACHEDIR.TAG",
        "cache/a.md",
        "js/x.min.js",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    skipped = []
    assert sorted(found(folder, skipped)) == sorted(FILES)
    reasons = {each.path.removeprefix(f"{folder}/"): each.reason for each in skipped}
    assert reasons == {
        "node_modules": "installed or made by a program",
        "env": "a virtual environment",
        "cache": "a cache",
        "js/x.min.js": "minified",
    }
    assert len(found(folder, ignore=False)) == len(FILES) + 4


def test_globs_choose_and_leave_out(folder):
    assert found(folder, include=("sub/",)) == ["sub/a.md", "sub/build/in.md", "sub/deep/c.md"]
    assert found(folder, include=("a.md",), exclude=("/a.md",)) == ["sub/a.md"]
    assert found(folder, exclude=("sub", "b*")) == ["a.md", "x [1].md"]


def test_a_file_that_a_glob_names_is_read_whatever_its_suffix(folder):
    (folder / "settings.toml").write_text("[x]\n")
    (folder / "picture.png").write_text("x")
    assert found(folder, include=("*.toml",)) == ["settings.toml"]
    assert "picture.png" not in found(folder, include=("/**",))


def test_a_file_that_is_named_outright_is_always_read(folder):
    (folder / ".gitignore").write_text("*\n")
    assert found(folder / "a.md", exclude=("*",)) == ["a.md"]


def test_a_sync_chooses_as_the_build_did(folder, tmp_path):
    path = tmp_path / "kb.ragfile"
    build([folder], path, include=["*.md"], exclude=["sub"], ignore=False, embedder="none")
    with open_file(path) as rf:
        said = {"include": ["*.md"], "exclude": ["sub"], "ignore": False}
        assert rf.file.config["selection"] == said
    assert sync(path, [folder]).is_empty
    (folder / "new.md").write_text("new")
    (folder / "new.txt").write_text("new")
    assert sync(path, [folder]).added == ["new.md"]
    assert sync(path, [folder], exclude=["new.md", "sub"], dry_run=True).removed == ["new.md"]


def test_the_command_says_what_it_passed_over_and_how_it_read(folder, tmp_path):
    pytest.importorskip("charset_normalizer", reason="the extra 'ingest' is not installed")
    (folder / ".gitignore").write_text("/b.md\n")
    for name in ("p.png", "q.png", "r"):
        (folder / name).write_text("x")
    (folder / "old.txt").write_bytes(
        "Die Grüße für das Straßenfest kamen zu spät.".encode("cp1252")
    )
    run = CliRunner().invoke(
        ragfile,
        [
            "build",
            str(folder),
            "-o",
            str(tmp_path / "kb"),
            "--embedder",
            "none",
            "--exclude",
            "x *",
        ],
    )
    assert run.exit_code == 0, run.output
    assert "skipped 3 (no loader for this suffix): 2 .png, 1 no suffix" in run.stderr
    assert "skipped 1 (named in a .gitignore)" in run.stderr
    assert "skipped 1 (excluded)" in run.stderr
    assert "read 1 file as cp1252, such as" in run.stderr
