"""Which files of a folder are read: what .gitignore files, callers and the names of folders say."""

import itertools
import os
import shutil
import subprocess

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragfile.doors.cli.main import ragfile
from ragfile.ingest.document_loader import load
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
    assert len(found(folder, ignore=False)) == len(FILES) + 5


def test_globs_choose_and_leave_out(folder):
    assert found(folder, include=("sub/",)) == ["sub/a.md", "sub/build/in.md", "sub/deep/c.md"]
    assert found(folder, include=("a.md",), exclude=("/a.md",)) == ["sub/a.md"]
    assert found(folder, exclude=("sub", "b*")) == ["a.md", "x [1].md"]


def test_a_file_that_a_glob_names_is_read_whatever_its_suffix(folder):
    (folder / "settings.tuml").write_text("[x]\n")
    (folder / "picture.png").write_text("x")
    assert found(folder, include=("*.tuml",)) == ["settings.tuml"]
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
    (folder / ".gitignore").write_text("/b.md\n")
    for name in ("p.png", "q.png"):
        (folder / name).write_text("x")
    (folder / "r").write_bytes(b"\0")
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


def write_all(root, files):
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def test_what_has_no_suffix_is_read_if_it_is_text(tmp_path):
    text = {"LICENSE": "Free.\n", "Makefile": "all:\n\tcc a.c\n", "Dockerfile": "FROM scratch\n"}
    wide = {
        "umlaut": "Grüße aus Köln\n".encode("utf-16"),
        "west": "Die Größe ist gut.\n".encode("cp1252"),
    }
    binary = {
        "program": b"\x7fELF\1\2",
        "picture": b"\x89PNG",
        "bytes": bytes(range(1, 32)),
        "index": b"RAGFILE1" + b"text",
        "book": b"PK\x03\x04",
        "nothing": b"",
        "bell": b"text\x07",
        "russian": "Привет, как дела".encode("cp1251"),
    }
    write_all(tmp_path, text | wide | binary | {"a.md": "A"})
    skipped = []
    assert found(tmp_path, skipped) == sorted([*text, *wide, "a.md"])
    assert {each.path.rpartition("/")[2] for each in skipped} == set(binary)


def test_a_long_text_that_ends_inside_a_character_is_text(tmp_path):
    write_all(tmp_path, {"NOTES": "x" + "ü" * 100_000})
    assert found(tmp_path) == ["NOTES"]


def test_a_program_without_a_suffix_is_cut_by_its_definitions(tmp_path):
    code = "#!/usr/bin/env python3\ndef rotate():\n    pass\n"
    write_all(tmp_path, {"rotate": code, "clean": "#!/bin/sh -e\nsweep() {\n  rm x\n}\n"})
    documents = {document.id: document for document in load(tmp_path)}
    assert documents["rotate"].metadata["mime"] == "text/x-python"
    assert [segment.metadata["symbol"] for segment in documents["clean"].segments] == ["sweep"]


def test_a_folder_in_which_nothing_is_known_gives_what_is_text(tmp_path):
    write_all(
        tmp_path,
        {
            "a.note": "Keys rotate.",
            "sub/b.notiz": "Schlüssel",
            "c.bin": b"\0\1",
            "v.ragfile": b"RAGFILE1",
        },
    )
    skipped = []
    assert found(tmp_path, skipped) == ["a.note", "sub/b.notiz"]
    assert [each.path.rpartition("/")[2] for each in skipped] == ["c.bin", "v.ragfile"]
    (tmp_path / "known.md").write_text("Known")
    assert found(tmp_path) == ["known.md"]


def test_lock_files_of_package_managers_are_left_out(tmp_path):
    write_all(tmp_path, {"package-lock.json": "{}", "package.json": "{}", "pnpm-lock.yaml": "a: 1"})
    skipped = []
    assert found(tmp_path, skipped) == ["package.json"]
    assert {each.reason for each in skipped} == {"made by a package manager"}
    assert len(found(tmp_path, ignore=False)) == 3


def test_a_link_does_not_take_the_place_of_the_real_path(tmp_path):
    write_all(tmp_path, {"z/one.md": "One", "z/deep/two.md": "Two", "sl/a/x.md": "X", "y.md": "Y"})
    (tmp_path / "sl/a/link").symlink_to("../../z", target_is_directory=True)
    (tmp_path / "b.md").symlink_to("z/one.md")
    skipped = []
    assert found(tmp_path, skipped) == ["sl/a/x.md", "y.md", "z/deep/two.md", "z/one.md"]
    assert {each.path.removeprefix(f"{tmp_path}/"): each.reason for each in skipped} == {
        "sl/a/link": "a link to a folder seen before",
        "b.md": "a file that was read before, under this or another name",
    }


def test_a_link_to_what_is_not_found_otherwise_is_followed(tmp_path):
    write_all(
        tmp_path, {".hidden/real/one.md": "One", ".hidden/real/in/two.md": "Two", "a.md": "A"}
    )
    (tmp_path / "docs").symlink_to(".hidden/real", target_is_directory=True)
    (tmp_path / ".hidden/real/in/back").symlink_to("..", target_is_directory=True)
    assert found(tmp_path) == ["a.md", "docs/in/two.md", "docs/one.md"]


@pytest.mark.parametrize("name", ["a.md", "a.py", "a.json", "a.txt"])
def test_a_text_that_mentions_the_mark_of_a_pdf_is_no_pdf(name, tmp_path):
    write_all(tmp_path, {name: 'The mark is "%PDF-1.7".\n'})
    assert [document.text for document in load(tmp_path)] == ['The mark is "%PDF-1.7".\n']


def test_ids_do_not_depend_on_the_order_of_the_folders(tmp_path):
    for name in ("red/a.md", "red/own.md", "blue/a.md", "blue/sub/a.md", "green/blue/a.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    folders = [tmp_path / "red", tmp_path / "blue", tmp_path / "green" / "blue" / "a.md"]
    seen = []
    for order in itertools.permutations(folders):
        found = {os.path.relpath(one.path, tmp_path): (one.id, one.source) for one in find(order)}
        seen.append(found)
    assert all(found == seen[0] for found in seen)
    assert {path: doc_id for path, (doc_id, _) in seen[0].items()} == {
        "red/a.md": "red/a.md",
        "red/own.md": "own.md",
        "blue/a.md": f"{tmp_path.name}/blue/a.md",
        "blue/sub/a.md": "sub/a.md",
        "green/blue/a.md": "green/blue/a.md",
    }


def test_equal_names_that_cannot_be_told_apart_are_numbered(tmp_path):
    for raw in (b"\xff.md", b"\xfe.md"):
        with open(os.path.join(os.fsencode(tmp_path), raw), "w") as file:
            file.write("text")
    assert [one.id for one in find(tmp_path)] == ["\ufffd.md", "\ufffd.md (2)"]
