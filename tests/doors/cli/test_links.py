"""`ragfile links`: what it prints, and that a check of links fails if one is broken."""

import json

import pytest

import ragfile

PAGES = {
    "a.md": "# A\n\n[b](b.md#part)\n[[missing]]\n",
    "b.md": "# B\n\n[[A|home]]\n",
    "c.md": "# C\n\nSee A.\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, text in PAGES.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path / "in"


@pytest.fixture
def file(folder, tmp_path):
    ragfile.build(folder, tmp_path / "kb.ragfile", embedder=None)
    return tmp_path / "kb.ragfile"


def test_a_check_prints_broken_links_with_their_lines_and_fails(run, file):
    code, out, err = run("links", file, "--broken")
    assert (code, out) == (1, "a.md:4: [[missing]]\n")
    assert err == "ragfile: 1 of 3 links are broken\n"
    (found,) = json.loads(run("links", file, "--broken", "--json")[1])
    assert (found["source"], found["target"], found["document"]) == ("a.md", "[[missing", None)


def test_a_check_without_broken_links_succeeds(run, folder):
    (folder / "missing.md").write_text("# Here\n")
    assert run("links", folder, "--broken")[:2] == (0, "")


def test_a_folder_is_checked_without_a_file(run, folder):
    assert run("links", folder, "--broken")[:2] == (1, "a.md:4: [[missing]]\n")


def test_links_in_both_directions(run, file):
    assert run("links", file, "a.md")[1] == '-> b.md "b"\n-> [[missing]] (broken)\n<- b.md "home"\n'
    assert run("links", file, "A")[1] == run("links", file, "a.md")[1]
    found = json.loads(run("links", file, "a.md", "--json")[1])
    assert [one["document"] for one in found["links"]] == ["b.md", None]
    assert [one["source"] for one in found["backlinks"]] == ["b.md"]


def test_what_is_near_and_what_is_alone(run, file):
    assert run("links", file, "a.md", "--near", 1)[1] == "1  b.md\n"
    assert run("links", file, "b.md", "--path", "a")[1] == "b.md\na.md\n"
    assert run("links", file, "--orphans")[1] == "c.md\n"
    assert json.loads(run("links", file, "--json")[1]) == {
        "documents": 3, "links": 3, "broken": 1, "orphans": 1,
    }  # fmt: skip


def test_mistakes_are_named(run, file):
    assert "no document called" in run("links", file, "nope")[2]
    assert "name DOC" in run("links", file, "--mentions")[2]
    assert "no links join" in run("links", file, "a.md", "--path", "c.md")[2]
