"""What commands tell about a file: the same facts for people and as JSON."""

import json
import subprocess
import sys

import numpy as np
import pytest

import ragfile


def told(run, *arguments):
    """The JSON that a command prints, which must succeed."""
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_inspect_lists_every_section_with_its_place(kb, run):
    with ragfile.open(kb) as rf:
        entries, size = rf.file.entries, rf.info["size"]
    assert told(run, "inspect", kb) == {"size": size, "sections": entries}
    code, out, _ = run("inspect", kb)
    heading, *lines = out.splitlines()
    assert code == 0
    assert heading.split() == ["section", "segment", "offset", "bytes", "items", "share"]
    for line, entry in zip(lines, entries, strict=True):
        name, _, at, count, *_ = line.split()
        assert (name, at, count) == (entry["name"], f"{entry['at']:,}", f"{entry['size']:,}")


def test_inspect_prints_a_vector_and_bytes(kb, run):
    with ragfile.open(kb) as rf:
        vector = rf.vector(1)
    assert np.float32(told(run, "inspect", kb, "--vector", 1)).tolist() == vector.tolist()
    assert np.float32(run("inspect", kb, "--vector", 1)[1].split()).tolist() == vector.tolist()
    assert told(run, "inspect", kb, "--hex", 3) == {"at": 3, "hex": kb.read_bytes()[3:259].hex()}
    code, out, err = run("inspect", kb, "--picture", "--json")
    assert (code, out) == (2, "")
    assert "--json, which lists the sections" in err


def test_pairs_are_told_as_json_too(tmp_path, run):
    ragfile.write_pairs(tmp_path / "p.ragfile", [("alpha", "first"), ("beta", "second")])
    code, out, _ = run("inspect", tmp_path / "p.ragfile", "--pairs", "keyword", "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert (code, lines) == (0, [["alpha", "first"], ["beta", "second"]])


def test_documents_of_another_policy_are_listed_and_made_again(kb, run):
    with ragfile.open(kb) as rf:
        assert len(rf) == 2
    assert told(run, "stale", kb) == {}
    assert run("stale", kb)[1] == "0 stale documents\n"
    found = told(run, "stale", kb, "--chunking", "words:3")
    assert sorted(found) == ["keys.md", "pods.md"]
    lines = run("stale", kb, "--chunking", "words:3")[1].splitlines()
    assert lines == [*(f"{name}: {why}" for name, why in found.items()), "2 stale documents"]

    code, out, _ = run("reindex", kb, "--chunking", "words:3")
    with ragfile.open(kb) as rf:
        cut = len(rf)
    assert cut > 2
    assert (code, out) == (0, f"{kb}: 2 documents rechunked, {cut} chunks embedded\n")
    assert told(run, "reindex", kb, "--chunking", "words:3")["recut"] == 0


def test_compact_says_how_large_a_file_was_and_is(kb, run):
    run("delete", kb, "keys.md")
    before = kb.stat().st_size
    said = told(run, "compact", kb)
    assert said == {"before": before, "after": kb.stat().st_size}
    assert said["after"] < before


def test_a_sync_tells_of_what_moved_and_of_what_is_there_twice(kb, tmp_path, run):
    folder = tmp_path / "docs"
    (folder / "pods.md").rename(folder / "containers.md")
    (folder / "copy.md").write_bytes((folder / "keys.md").read_bytes())
    code, out, _ = run("sync", kb, folder, "--dedupe")
    assert code == 0
    assert "> pods.md → containers.md" in out.splitlines()
    assert "= copy.md, as keys.md" in out.splitlines()


def test_a_file_that_grew_much_is_told_when_compacting_pays(kb, tmp_path, run):
    (tmp_path / "docs" / "long.md").write_text("a word " * 200_000)
    run("sync", kb, tmp_path / "docs")
    code, _, err = run("delete", kb, "long.md")
    assert code == 0
    assert f"`ragfile compact {kb}` rewrites it" in err


def test_a_dataset_is_converted_and_dealt_again_and_says_so(kb, tmp_path, run):
    parts = tmp_path / "parts"
    code, out, _ = run("convert", kb, f"{parts}/", "--shards", 2)
    assert (code, out) == (0, f"{parts}/: 2 documents, 2 chunks\n")
    back = told(run, "convert", parts, tmp_path / "one.ragfile")
    assert (back["documents"], back["chunks"]) == (2, 2)
    assert told(run, "compact", parts, "--shards", 1) == {"generation": 2}
    assert told(run, "stale", parts) == {}
    assert told(run, "stale", parts, "--chunking", "words:3").keys() == {"keys.md", "pods.md"}
    assert told(run, "reindex", parts, "--chunking", "words:3")["recut"] == 2
    with ragfile.open(tmp_path / "one.ragfile") as rf:
        assert sorted(rf.document_ids()) == ["keys.md", "pods.md"]


def test_what_parity_cannot_bring_back_is_listed(tmp_path, run):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number:02}.md").write_text(f"# Page {number}\n\n" + "words of it " * 500)
    path = tmp_path / "kb.ragfile"
    run("build", folder, "-o", path, "--embedder", "none", "--parity", 1)
    data = bytearray(path.read_bytes())
    middle = len(data) - 20_000
    data[8192:middle] = bytes(255 - byte for byte in data[8192:middle])
    path.write_bytes(data)

    code, out, _ = run("repair", path)
    assert code == 5
    assert any(line.startswith("lost  ") for line in out.splitlines())
    assert out.endswith("the damage exceeds its parity; nothing was written\n")
    assert path.read_bytes() == data
    code, _, err = run("verify", path)
    assert code == 5
    assert "the damage exceeds the file's parity" in err
    code, out, _ = run("repair", path, "--json")
    said = json.loads(out)
    assert (code, said["is_repairable"], said["is_written"]) == (5, False, False)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["build", "-o", "x.ragfile"], "name a folder, glob or file"),
        (["build", "docs", "-o", "x/", "--shards", "2", "--for", "web"], "requires a single file"),
        (["build", "docs", "-o", "x/", "--shards", "2", "--clusters", "yes"], "a single file"),
        (
            ["build", "docs", "-o", "x/", "--shards", "2", "--jobs", "2"],
            "use --workers for a dataset",
        ),
        (["build", "docs", "-o", "x.ragfile", "--clusters", "many"], "not yes, no, or a number"),
        (["build", "docs", "-o", "x.ragfile", "--clusters", "70000"], "not yes, no, or a number"),
        (["eval", "docs", "docs", "--keep", "x"], "--keep requires a single collection"),
        (["eval", "docs", "--by", "word"], "'word' is not one of 'document', 'page', 'section'"),
        (["eval", "docs", "--fail-under", "ndcg"], r"takes [MODE:]MEASURE=N, not 'ndcg'"),
        (
            ["serve", "kb.ragfile", "--source", "kb=nosuch"],
            "COLLECTION=FOLDER with an existing folder",
        ),
        (["sign", "kb.ragfile"], "give FILE and --key to sign, or --new-key to create a key"),
        (["verify", "kb.ragfile", "--bundle", "b"], "--bundle requires --key"),
        (["convert", "a", "b", "--to-ragmd", "c"], "flags, not both"),
        (["convert", "--from-ragmd", "c"], "give IN and OUT, or"),
        (["convert", "--from-faiss", "c"], "--from-faiss and --from-json must be used together"),
    ],
)
def test_options_that_do_not_go_together_are_named(kb, tmp_path, monkeypatch, run, arguments, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.jsonl").touch()
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert not (tmp_path / "x.ragfile").exists()


def test_a_reader_that_has_enough_ends_a_command_quietly(kb):
    code = f"""
import subprocess, sys
with open({str(kb)!r}, "rb"):
    pass
command = [sys.executable, "-m", "ragfile", "inspect", {str(kb)!r}]
reading = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
reading.stdout.close()
print(reading.wait(), reading.stderr.read().decode())
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "1 \n"
