"""`show`, `export` and `inspect --picture`: what a file holds, for people and for pipes."""

import json

import ragfile
from ragfile.doors.cli.picture import HEIGHT, WIDTH, drawn


def test_a_document_and_a_chunk_are_shown(run, kb):
    code, out, _ = run("show", kb, "keys.md")
    assert (code, out) == (0, "# Keys\n\nRotate the keys every ninety days.\n")
    code, out, err = run("show", kb, "keys.md#0")
    assert (code, out) == (0, "# Keys\n\nRotate the keys every ninety days.\n")
    assert "headers: Keys" in err
    said = json.loads(run("show", kb, "keys.md#0", "--json")[1])
    assert (said["doc_id"], said["start"], said["metadata"]["headers"]) == ("keys.md", 0, "Keys")


def test_what_is_not_there_is_named(run, kb):
    for name in ("nope", "keys.md#1", "keys.md#x"):
        code, out, err = run("show", kb, name)
        assert (code, out) == (1, "")
        assert f"no document or chunk called '{name}'" in err


def test_a_document_whose_id_ends_like_a_chunk_is_itself(run, kb):
    with ragfile.edit(kb) as w:
        w.add_documents([{"id": "keys.md#0", "text": "Another page."}])
    assert run("show", kb, "keys.md#0")[1] == "Another page.\n"


def test_an_export_goes_to_the_output_with_and_without_vectors(run, kb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run("export", kb, "-")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [row["doc_id"] for row in rows] == ["keys.md", "pods.md"]
    assert all(len(row["embedding"]) == 256 for row in rows)
    assert not (tmp_path / "-").exists()
    bare = [json.loads(line) for line in run("export", kb, "-", "--no-vectors")[1].splitlines()]
    more = {"embedding", "document", "ragfile"}  # what restores a file
    assert bare == [{k: v for k, v in row.items() if k not in more} for row in rows]
    assert run("export", kb, "x.duckdb", "--no-vectors")[0] == 2


def test_a_picture_shows_each_section_where_it_lies(run, kb):
    code, out, _ = run("inspect", kb, "--picture")
    lines = out.splitlines()
    grid = "".join(lines[: lines.index("")])
    with ragfile.open(kb) as rf:
        entries, size = rf.file.entries, rf.info["size"]
    legend = {line.split()[1]: line[0] for line in lines[lines.index("") + 1 :]}
    assert code == 0
    assert set(legend) == {entry["name"] for entry in entries}
    largest = max(entries, key=lambda entry: entry["size"])
    middle = (largest["at"] + largest["size"] // 2) * len(grid) // size
    assert len(grid) == min(WIDTH * HEIGHT, size)
    assert grid[middle] == legend[largest["name"]]


def test_a_picture_of_an_empty_file_has_no_sections():
    assert next(iter(drawn([], 100))) == "." * 64
