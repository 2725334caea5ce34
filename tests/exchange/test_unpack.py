"""A folder that is built and unpacked is the same folder; and no name of a stranger's file leaves it."""

import hashlib
import os
import random

import pytest

import ragfile
from ragfile import Document

FILES = {
    "index.md": b"# Index\n\n[a](sub/a.md)  \ntrailing \t\n\n\n\n\nend",
    "sub/a.md": b"---\ntype: note\r\n---\r\nWindows\r\n\r\n",
    "sub/deep/b.html": b"<html><title>T</title><p>text <a href='../a.md'>a</a>",
    "bom.md": b"\xef\xbb\xbf# With a mark",
    "latin.txt": "gr\u00fc\u00dfe aus K\u00f6ln, sch\u00f6ne Gr\u00fc\u00dfe".encode("cp1252"),
    "rows.jsonl": b'{"id": "x", "text": "one"}\n{"id": "y", "text": "two"}\n',
    "table.csv": b"a,b\r\n1,2\r\n",
    "tools/run.xyz": b"#!/bin/sh\necho kept, not searched\n",
    "image.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "empty.md": b"",
    "code.py": b"def f():\n\treturn 1   \n",
}


def tree(folder):
    """{path: bytes} of all files below a folder."""
    return {
        os.path.relpath(os.path.join(place, name), folder).replace(os.sep, "/"): open(
            os.path.join(place, name), "rb"
        ).read()
        for place, _, names in os.walk(folder)
        for name in names
    }


def written(folder, files=FILES):
    for name, raw in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    return folder


@pytest.fixture
def kept(tmp_path):
    out = tmp_path / "kb.ragfile"
    ragfile.build(written(tmp_path / "in"), out, embedder=None, keep_originals=True)
    return out


def test_a_folder_comes_back_byte_for_byte(kept, tmp_path):
    report = ragfile.unpack(kept, tmp_path / "out")
    assert tree(tmp_path / "out") == FILES
    assert (report.files, report.bytes) == (len(FILES), sum(map(len, FILES.values())))
    assert report.unrestored == []
    assert ragfile.verify(kept)[0] == []


def test_files_without_a_loader_are_kept_and_not_searched(kept):
    with ragfile.open(kept) as rf:
        assert rf.document("tools/run.xyz").text == ""
        assert [hit.doc_id for hit in rf.search("kept searched echo", mode="bm25")] == []


def test_without_originals_texts_come_back_and_others_are_named(tmp_path):
    out = tmp_path / "kb.ragfile"
    ragfile.build(written(tmp_path / "in"), out, embedder=None)
    report = ragfile.unpack(out, tmp_path / "out")
    missing = {"sub/deep/b.html", "rows.jsonl", "table.csv"}
    assert {path for path, _ in report.unrestored} <= missing
    left_out = {"tools/run.xyz", "image.png"}  # no loader read them
    restored = FILES.keys() - {path for path, _ in report.unrestored} - left_out
    assert tree(tmp_path / "out") == {name: FILES[name] for name in restored}
    with ragfile.open(out) as rf:
        assert not any(e["name"] == "rag.original" for e in rf.file.entries)


def test_originals_follow_edits_syncs_merges_and_compaction(kept, tmp_path):
    folder, rng = tmp_path / "in", random.Random(1)
    files = dict(FILES)
    for i in range(12):
        files["sub/deep/b.html"] = b"<p>page %d" % i
        files[f"more/{i}.bin"] = rng.randbytes(50)
        files.pop(f"more/{i - 5}.bin", None)
        for name in set(tree(folder)) - files.keys():
            (folder / name).unlink()
        written(folder, files)
        ragfile.sync(kept, folder)
    ragfile.unpack(kept, tmp_path / "one")
    assert tree(tmp_path / "one") == files
    ragfile.compact(kept)
    ragfile.unpack(kept, tmp_path / "two")
    assert tree(tmp_path / "two") == files
    assert ragfile.verify(kept)[0] == []


def test_several_processes_keep_the_same_bytes(kept, tmp_path):
    other = tmp_path / "jobs.ragfile"
    ragfile.build(tmp_path / "in", other, embedder=None, keep_originals=True, jobs=2)
    assert other.read_bytes() == kept.read_bytes()


def test_a_folder_with_content_is_left_alone(kept, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    with pytest.raises(FileExistsError, match="exists and has content"):
        ragfile.unpack(kept, tmp_path / "out")
    assert tree(tmp_path / "out") == {"mine": b"x"}


@pytest.mark.parametrize("path", [
    "../out.md", "/etc/passwd", "a/../../b.md", "a//b.md", "a/./b.md", "..", ".", "", "a\\b.md", "c:x.md",
    "a/con", "nul.md", "a\0b", "a/b ", "a:b", "x/" * 70 + "a.md", "e\u0301.md",
])  # fmt: skip
def test_a_path_that_leaves_the_folder_or_is_no_name_everywhere_is_refused(tmp_path, path):
    checksum = hashlib.sha256(b"text").hexdigest()
    out = tmp_path / "kb.ragfile"
    document = Document("id.md", "text", metadata={"path": path, "checksum": checksum})
    ragfile.build([document], out, embedder=None)
    if path == "":
        return
    with pytest.raises(ValueError, match="path"):
        ragfile.unpack(out, tmp_path / "deep" / "out")
    assert sorted(os.listdir(tmp_path)) in (["deep", "kb.ragfile"], ["kb.ragfile"])
    assert not (tmp_path / "deep").exists() or os.listdir(tmp_path / "deep") == []


@pytest.mark.parametrize("paths", [("a.md", "A.md"), ("a", "a/b.md"), ("x/a.md", "X/b.md")])
def test_names_that_are_one_on_some_systems_are_refused(tmp_path, paths):
    checksum = hashlib.sha256(b"text").hexdigest()
    documents = [
        Document(path, "text", metadata={"path": path, "checksum": checksum}) for path in paths
    ]
    ragfile.build(documents, tmp_path / "kb.ragfile", embedder=None)
    with pytest.raises(ValueError, match="are one name on some systems"):
        ragfile.unpack(tmp_path / "kb.ragfile", tmp_path / "out")
    assert os.listdir(tmp_path) == ["kb.ragfile"]


def test_a_link_that_waits_at_the_target_is_not_followed(kept, tmp_path):
    (tmp_path / "victim").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError):  # noqa: PT011 - of the system
        ragfile.unpack(kept, tmp_path / "out")
    assert os.listdir(tmp_path / "victim") == []


def test_a_false_text_is_not_written_as_its_file(tmp_path):
    document = Document("a.md", "other", metadata={"path": "a.md", "checksum": "0" * 64})
    ragfile.build([document], tmp_path / "kb.ragfile", embedder=None)
    report = ragfile.unpack(tmp_path / "kb.ragfile", tmp_path / "out")
    assert [path for path, _ in report.unrestored] == ["a.md"]
    assert tree(tmp_path / "out") == {}
