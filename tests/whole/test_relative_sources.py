"""Nothing of the builder's machine travels: sources are relative, and a folder's spelling leaves no trace."""

import hashlib
import json
import os
import subprocess
import sys

import pytest

import ragfile

TEXTS = {
    "keys.md": "# Keys\n\nRotate the keys every ninety days.\n",
    "deep/pods.md": "# Pods\n\nRestart.\n",
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "secretuser" / "project"
    for folder in ("docs", "manuals"):
        for name, text in TEXTS.items():
            path = home / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + folder)
    monkeypatch.chdir(home)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    return home


def run(*arguments, **more):
    return subprocess.run(
        [sys.executable, "-m", "ragfile", *map(str, arguments)], capture_output=True, text=True, **more
    )  # fmt: skip


def sources(path):
    with ragfile.open(path) as rf:
        return {document.id: document.source for document in rf.documents()}


def test_one_folder_spelled_three_ways_gives_one_file(home, tmp_path):
    spellings = ["docs", "./docs/", str(home / "docs"), os.path.join("manuals", "..", "docs")]
    made = set()
    for spelling in spellings:
        ragfile.build(spelling, tmp_path / "kb.ragfile")
        data = (tmp_path / "kb.ragfile").read_bytes()
        made.add(hashlib.sha256(data).hexdigest())
        (tmp_path / "kb.ragfile").unlink()
        ragfile.dataset.build(spelling, tmp_path / "ds", shards=2)
        for part in (tmp_path / "ds").rglob("*"):
            data += part.read_bytes() if part.is_file() else b""
            part.unlink() if part.is_file() else None
        for folder in sorted((tmp_path / "ds").rglob("*"), reverse=True):
            folder.rmdir()
        assert b"secretuser" not in data
    assert len(made) == 1
    ragfile.build(home / "docs", tmp_path / "kb.ragfile")
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        everything = json.dumps(
            [[hit.source, hit.metadata, hit.text] for hit in rf.search("keys", 9)]
        )
        answer = rf.ask("How often are keys rotated?")
        everything += json.dumps([vars(source) if hasattr(source, "__dict__") else str(source) for source in answer.sources], default=str)  # fmt: skip
        assert "secretuser" not in everything
        assert rf.document("deep/pods.md").source == "deep/pods.md"


def test_several_folders_are_told_apart_by_their_names(home, tmp_path):
    ragfile.build(["docs", home / "manuals"], tmp_path / "kb.ragfile")
    assert sorted(sources(tmp_path / "kb.ragfile").values()) == [
        "docs/deep/pods.md", "docs/keys.md", "manuals/deep/pods.md", "manuals/keys.md",
    ]  # fmt: skip
    assert b"secretuser" not in (tmp_path / "kb.ragfile").read_bytes()


def test_folders_of_one_name_are_an_error(home, tmp_path):
    (home / "other" / "docs").mkdir(parents=True)
    (home / "other" / "docs" / "x.md").write_text("x")
    with pytest.raises(ValueError, match="docs and other/docs have one name"):
        ragfile.build(["docs", "other/docs"], tmp_path / "kb.ragfile")
    ragfile.build(["docs", "./docs"], tmp_path / "kb.ragfile")  # one folder, named twice
    assert len(sources(tmp_path / "kb.ragfile")) == 2


def test_files_and_globs_are_named_from_their_folder(home, tmp_path):
    ragfile.build(home / "docs" / "keys.md", tmp_path / "one.ragfile")
    assert set(sources(tmp_path / "one.ragfile").values()) == {"keys.md"}
    ragfile.build(f"{home}/docs/**/*.md", tmp_path / "glob.ragfile")
    assert set(sources(tmp_path / "glob.ragfile").values()) == {"keys.md", "deep/pods.md"}
    ragfile.build(["docs/keys.md", "manuals/keys.md"], tmp_path / "two.ragfile")
    assert set(sources(tmp_path / "two.ragfile").values()) == {"docs/keys.md", "manuals/keys.md"}


def test_a_file_with_absolute_sources_syncs_on_without_doubling(home, tmp_path):
    path = tmp_path / "kb.ragfile"
    ragfile.build("docs", path)
    with ragfile.edit(path) as w:  # as files were before
        for name in TEXTS:
            w.update(name, source=str(home / "docs" / name))
    report = ragfile.sync(path, home / "docs")
    assert (report.unchanged, report.is_empty) == (2, True)
    (home / "docs" / "keys.md").write_text("# Keys\n\nRotate them weekly.\n")
    assert ragfile.sync(path, "docs").changed == ["keys.md"]
    assert sources(path) == {"keys.md": "keys.md", "deep/pods.md": str(home / "docs/deep/pods.md")}


def test_sources_are_printed_below_the_root_or_the_base_url(home, tmp_path):
    (home / "docs" / "two words.md").write_text("# Herons\n\nHerons stand in water.\n")
    path = tmp_path / "kb.ragfile"
    ragfile.build("docs", path)
    before = path.read_bytes()
    question = (path, "where do herons stand?")
    printed = run("search", *question, "--root", "docs")
    assert "docs/two words.md:" in printed.stdout
    assert "docs/two words.md" in run("ask", *question, "--root", home / "docs").stdout
    by_environment = run("search", *question, env=os.environ | {"RAGFILE_ROOT": "docs"})
    assert by_environment.stdout == printed.stdout
    link = "https://example.org/docs/two%20words.md"
    assert link in run("search", *question, "--base-url", "https://example.org/docs/").stdout
    assert link in run("ask", *question, "--base-url", "https://example.org/docs").stdout
    for name in ("docs/two words.md", link, "two words.md"):
        assert run("show", path, name).stdout.strip() == "# Herons\n\nHerons stand in water."
    assert path.read_bytes() == before


def test_a_models_folder_does_not_travel(home, tmp_path):
    from ragfile.embedding.protocol import Model
    from ragfile.write.writer import model_record

    class Fake:
        model = Model("onnx:docs", 3)

    assert model_record(Fake(), f"onnx:{home / 'docs'}")["spec"] == "onnx:docs"
    assert (
        model_record(Fake(), "openai:text-embedding-3-small?x=1")["spec"]
        == "openai:text-embedding-3-small"
    )
