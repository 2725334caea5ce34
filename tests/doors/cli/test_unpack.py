"""`ragfile unpack`, after a build with and without originals."""

import json

import pytest


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.md").write_bytes(b"# A  \r\n")
    (tmp_path / "in" / "b.html").write_bytes(b"<p>b<a href=a.md>a</a>")
    return tmp_path / "in"


def test_a_folder_comes_back_with_its_originals(run, folder, tmp_path):
    file, out = tmp_path / "kb.ragfile", tmp_path / "out"
    run("build", folder, "-o", file, "--embedder", "none", "--keep-originals")
    assert run("unpack", file, out) == (0, f"{out}: 2 files, 29 B\n", "")
    assert (out / "b.html").read_bytes() == (folder / "b.html").read_bytes()
    assert (out / "a.md").read_bytes() == (folder / "a.md").read_bytes()


def test_files_without_originals_are_named(run, folder, tmp_path):
    file, out = tmp_path / "kb.ragfile", tmp_path / "out"
    run("build", folder, "-o", file, "--embedder", "none")
    code, stdout, err = run("unpack", file, out, "--json")
    assert (code, json.loads(stdout)["files"]) == (3, 1)
    assert err.startswith(
        "ragfile: b.html: the text of a file text/html does not give its bytes back"
    )


def test_a_dataset_keeps_originals(run, folder, tmp_path):
    made, out = f"{tmp_path}/set/", tmp_path / "out"
    assert run("build", folder, "-o", made, "--embedder", "none", "--keep-originals")[0] == 0
    (folder / "c.html").write_text("<p>new  text</p>")
    assert run("sync", made, folder)[0] == 0
    assert run("unpack", made, out)[0] == 0
    assert {p.name: p.read_bytes() for p in out.iterdir()} == {
        p.name: p.read_bytes() for p in folder.iterdir()
    }
