"""Commands that are typed a little wrong, and the messages that help."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

import ragfile
from ragfile import dataset
from ragfile.doors.cli.failures import _remedy
from ragfile.doors.cli.serve import serve_command


def run(*words):
    """The command in a process of its own, as people run it."""
    command = [sys.executable, "-m", "ragfile", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return SimpleNamespace(exit_code=done.returncode, output=done.stdout + done.stderr)


def run_without(module, *words):
    """The same on a machine that lacks a module."""
    code = f"import sys; sys.modules[{module!r}] = None; from ragfile.doors.cli.main import main; main()"
    command = [sys.executable, "-c", code, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return SimpleNamespace(exit_code=done.returncode, output=done.stdout + done.stderr)


@pytest.fixture
def kb(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("keys", "pods"):
        (docs / f"{name}.md").write_text(f"# {name}\n\nHow to rotate {name}.\n")
    (docs / "code.py").write_text("def rotate():\n    '''Rotates.'''\n    return 1\n")
    ragfile.build("docs", "kb.ragfile", embedder="none")
    return tmp_path / "kb.ragfile"


def test_show_takes_what_search_shows(kb):
    with ragfile.open(kb) as rf:
        hits = rf.search("rotate", mode="bm25", k=9)
    shown = [line.split(maxsplit=2)[2] for line in run("search", "kb.ragfile", "rotate", "--mode", "bm25").output.splitlines()
             if line[:1].isdigit()]  # fmt: skip
    assert len(shown) == len(hits) == 3
    for line, hit in zip(shown, hits, strict=True):
        place = line.split("  ")[0]
        assert hit.text.strip() in run("show", "kb.ragfile", place).output, place
    assert "How to rotate keys" in run("show", "kb.ragfile", "docs/keys.md").output
    assert "no document or chunk" in run("show", "kb.ragfile", "docs/none.md:1-9").output


def test_an_export_to_an_unknown_suffix_is_refused(kb):
    for name in ("out.csv", "out"):
        found = run("export", "kb.ragfile", name)
        assert found.exit_code == 2
        assert "--to jsonl" in found.output
    assert run("export", "kb.ragfile", "out", "--to", "jsonl").exit_code == 0


def test_a_number_that_is_none_is_called_so(kb):
    assert "'x' is not a valid integer." in run("search", "kb.ragfile", "q", "-k", "x").output


def test_a_folder_that_is_not_judged_is_said_to_be_none(kb):
    found = run("eval", "docs")
    assert found.exit_code == 1
    assert "not a judged collection" in found.output
    assert "lacks corpus.jsonl and queries.jsonl and qrels/test.tsv;" in found.output
    assert "--questions judges other folders" in found.output


def test_a_collection_without_judgements_is_told_that_they_are_missing(kb):
    for name in ("corpus.jsonl", "queries.jsonl"):
        kb.with_name("docs").joinpath(name).write_text('{"_id": "1", "text": "one"}\n')
    said = run("eval", "docs", "--questions", "dev").output
    assert "it lacks qrels/dev.tsv; a folder in BEIR layout" in said


@pytest.mark.parametrize("missing", ["pyarrow", "pyarrow.parquet"])
def test_an_export_to_parquet_names_its_extra(kb, missing):
    said = run_without(missing, "export", "kb.ragfile", "out.parquet")
    assert said.exit_code == 1
    assert "needs pyarrow" in said.output
    assert "pip install 'ragfile[arrow]'" in said.output
    assert not kb.with_name("out.parquet").exists()


def test_a_folder_without_files_is_served_with_a_word_about_it(kb, monkeypatch, capsys):
    served = []
    monkeypatch.setattr("ragfile.doors.server.lifecycle.serve", served.append)
    monkeypatch.setattr("ragfile.doors.server.log_lines.log_to_stderr", lambda level: None)
    serve_command.main(["docs", "kb.ragfile"], standalone_mode=False)
    said = "ragfile: docs has no .ragfile: `ragfile build` makes one\n"
    assert capsys.readouterr().err == said
    assert served[0].files == ("docs", "kb.ragfile")


def test_a_hint_names_the_file(kb):
    assert _remedy(f"{kb}: damaged").startswith(f"ragfile: `ragfile verify {kb} --full`")
    assert "FILE" in _remedy("something else")


def test_a_verdict_does_not_send_people_to_where_they_are(kb, monkeypatch):
    monkeypatch.setattr("sys.argv", ["ragfile", "verify", str(kb)])
    assert "verify" not in _remedy(f"{kb}: damaged")


def test_a_dataset_leaves_no_empty_folder(kb):
    dataset.build("docs", "many", shards=2, embedder="none")
    assert (
        sorted(
            p.name for p in (kb.parent / "many").iterdir() if p.is_dir() and not any(p.iterdir())
        )
        == []
    )


@pytest.mark.parametrize("shape", ["$and", "value", "list"])
def test_a_filter_that_nests_without_end_is_refused(kb, shape):
    where = {"k": 1}
    for _ in range(5000):
        where = (
            {"$and": [where]} if shape == "$and" else {"k": where if shape == "value" else [where]}
        )
    with ragfile.open(kb) as rf, pytest.raises(ValueError, match="levels deep"):
        rf.search("rotate", mode="bm25", where=where)
    assert (
        run(
            "search",
            "kb.ragfile",
            "q",
            "--where",
            json.dumps({"k": 1}).replace("1", "[" * 9000 + "]" * 9000),
        ).exit_code
        == 2
    )


def test_a_file_is_not_converted_to_itself(kb):
    before = kb.read_bytes()
    found = run("convert", "kb.ragfile", "kb.ragfile")
    assert found.exit_code == 1
    assert "compact" in found.output
    assert kb.read_bytes() == before
