"""The command line on datasets: the commands of files, with their output and exit codes."""

import json

import pytest
from shards import collections


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    """A folder with sources."""
    collections.write(tmp_path / "docs", 12)
    monkeypatch.chdir(tmp_path)


def test_a_dataset_is_built_asked_and_changed_as_a_file_is(run, tmp_path):
    code, out, _ = run("build", "docs", "--shards", "3", "-o", "kb/")
    assert (code, out[:17]) == (0, "kb/: 12 documents")
    assert run("build", "docs", "-o", "one.ragfile")[0] == 0
    asked = ("pod drain", "--json", "-k", "4")
    mine, theirs = (json.loads(run("search", p, *asked)[1])["hits"] for p in ("kb", "one.ragfile"))
    assert mine == theirs
    assert json.loads(run("info", "kb", "--json")[1])["shards"] == 3
    assert "good" in run("verify", "kb")[1]
    (tmp_path / "docs/new.md").write_text("# New\n\na new pod\n")
    code, out, _ = run("sync", "kb", "docs", "-m", "news")
    assert (code, out.splitlines()[0]) == (0, "+ new.md")
    assert "generation 2" in out
    code, out, _ = run("delete", "kb", "new.md")
    assert (code, out) == (
        0,
        "- new.md\n1 document deleted; `ragfile vacuum kb --keep 1 --days 0 --delete` erases their bytes\n",
    )
    assert run("delete", "kb", "new.md")[0] == 1
    code, out, _ = run("compact", "kb", "--shards", "2")
    assert (code, out) == (0, "kb: generation 4\n")
    told = json.loads(run("log", "kb", "--json")[1])
    assert [one["generation"] for one in told] == [4, 3, 2, 1]
    assert told[2]["message"] == "news"
    assert "generation 2" not in run("search", "kb", "new pod", "--generation", "2")[2]
    assert run("log", "kb")[0] == 0


def test_vacuum_lists_and_deletes_when_it_is_told_to(run):
    run("build", "docs", "--shards", "2", "-o", "kb/")
    run("delete", "kb", "a/d001.md")
    assert "0 objects" in run("vacuum", "kb", "--keep", "1")[1]
    code, out, _ = run("vacuum", "kb", "--keep", "1", "--days", "0")
    assert code == 0
    assert "3 objects" in out
    assert "--delete removes them" in out
    told = json.loads(run("vacuum", "kb", "--keep", "1", "--days", "0", "--delete", "--json")[1])
    assert len(told) == 3
    assert "0 objects" in run("vacuum", "kb", "--keep", "1", "--days", "0")[1]


def test_what_is_no_dataset_is_said_in_one_line(run):
    code, _, err = run("log", "docs")
    assert (code, err.count("\n")) == (1, 1)
    assert "is a folder" in err
    run("build", "docs", "--shards", "2", "-o", "kb/")
    code, _, err = run("build", "docs", "--shards", "2", "-o", "kb/")
    assert code == 1
    assert "dataset already" in err
