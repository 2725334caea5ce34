"""Hits on a terminal: a place that opens, the page or line, the question's words marked."""

import os

import click
import pytest

import ragfile
from ragfile.doors.cli.shown_hits import Home, marked, openable, where
from ragfile.records import Hit, Span
from ragfile.search.excerpt_lines import ExcerptLine
from ragfile.search.file_lines import LineRange


def hit(source, **metadata):
    return Hit("a#0", "a", 0, "text", 1.0, metadata=metadata, source=source, start=3, end=7)


def test_a_hit_says_its_page_slide_row_or_line(tmp_path):
    kb = str(tmp_path / "kb")
    assert where(hit("/x/a.pdf", page=3), Home(kb)) == "/x/a.pdf, page 3"
    assert where(hit("/x/a.pptx", slide=2), Home(kb)) == "/x/a.pptx, slide 2"
    assert where(hit("/x/a.csv", row=9), Home(kb)) == "/x/a.csv, row 9"
    assert where(hit("/x/a.md"), Home(kb), LineRange(12, 12)) == "/x/a.md:12"
    assert where(hit("/x/a.md"), Home(kb), LineRange(12, 14)) == "/x/a.md:12-14"
    assert where(hit("/x/a.md"), Home(kb)) == "/x/a.md"
    assert where(hit("", page="3"), Home(kb)) == "a"


def test_a_source_opens_from_another_folder(tmp_path, monkeypatch):
    (tmp_path / "site" / "docs").mkdir(parents=True)
    (tmp_path / "site" / "docs" / "a.md").write_text("# A\n\nWords.\n")
    monkeypatch.chdir(tmp_path)
    ragfile.build(["site/docs"], "site/kb.ragfile")
    with ragfile.open("site/kb.ragfile") as rf:
        source = rf.search("words", k=1)[0].source
    assert openable(source, "site/kb.ragfile") == os.path.join("site", "docs", "a.md")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = openable(source, "../site/kb.ragfile")
    assert os.path.samefile(found, tmp_path / "site" / "docs" / "a.md")
    assert openable("gone/b.md", "../site/kb.ragfile") == "gone/b.md"
    assert openable("../../etc/passwd", "../site/kb.ragfile") == "../../etc/passwd"


def test_the_questions_words_are_marked_and_nothing_controls_the_terminal():
    found = ExcerptLine("a\tkey \x1b[31m here", [Span(2, 5)])
    shown = marked(found)
    assert click.unstyle(shown) == "a   key \ufffd[31m here"
    assert click.style("key", bold=True, underline=True) in shown


@pytest.mark.parametrize("is_terminal", [True, False])
def test_marks_are_for_terminals(tmp_path, is_terminal):
    from click.testing import CliRunner

    from ragfile.doors.cli.main import ragfile as command

    (tmp_path / "a.md").write_text("# A\n\nKeys are rotated.\n")
    ragfile.build([tmp_path / "a.md"], tmp_path / "kb")
    run = CliRunner().invoke(
        command, ["search", str(tmp_path / "kb"), "rotating keys"], color=is_terminal
    )
    assert ("\x1b[1m\x1b[4mrotated" in run.stdout) == is_terminal
    assert "Keys are rotated." in click.unstyle(run.stdout)


def test_source_code_is_printed_with_lines_that_show_takes(tmp_path, run):
    (tmp_path / "src").mkdir()
    functions = (f"def f{i}():\n\n\n\n\n    return {i}\n" for i in range(200))
    (tmp_path / "src" / "a.py").write_text("".join(functions))
    path = tmp_path / "kb.ragfile"
    ragfile.build(tmp_path / "src", path, embedder="none")
    _, out, _ = run("search", path, "f150", "-k", "1")
    place = next(word for word in out.split() if "a.py:" in word)
    first, last = (int(line) for line in place.rpartition(":")[2].split("-"))
    code, shown, _ = run("show", path, place)
    lines = (tmp_path / "src" / "a.py").read_text().splitlines()[first - 1 : last]
    assert code == 0
    printed = [row.split("  ", 1)[1].strip() for row in map(str.strip, out.splitlines()[1:]) if row]
    assert printed == [one.strip() for one in lines if one]
    assert set(lines) <= set(shown.splitlines())
    assert "def f150():" in lines


def test_a_line_of_a_table_shows_its_row(tmp_path, run):
    (tmp_path / "team.csv").write_text("name,colour\nann,red\nbob,blue\ncid,green\n")
    path = tmp_path / "kb.ragfile"
    ragfile.build(tmp_path / "team.csv", path, embedder=None)
    shown = [run("show", path, f"team.csv{place}") for place in (":3", ", row 3", ":2", ":1", ":5")]
    assert [(code, out[:9]) for code, out, _ in shown] == [
        (0, "name: bob"), (0, "name: bob"), (0, "name: ann"), (1, ""), (1, ""),
    ]  # fmt: skip
    assert "no document or chunk called 'team.csv:1'" in shown[3][2]


def test_a_file_of_another_folder_with_the_same_name_is_not_the_source(tmp_path, monkeypatch):
    for folder in ("sub", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "README.md").write_text("# Bandicoots\n")
    monkeypatch.chdir(tmp_path / "other")
    found = openable("sub/README.md", str(tmp_path / "k.ragfile"))
    assert os.path.samefile(found, tmp_path / "sub/README.md")
    monkeypatch.chdir(tmp_path / "sub")
    assert openable("sub/README.md", str(tmp_path / "k.ragfile")) == "README.md"


def test_the_sources_of_a_file_url_lie_beside_its_file(tmp_path, monkeypatch):
    (tmp_path / "a.md").write_text("# A\n")
    monkeypatch.chdir(tmp_path)
    assert openable("a.md", (tmp_path / "k.ragfile").as_uri()) == "a.md"
