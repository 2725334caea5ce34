"""Hits on a terminal: a place that opens, the page or line, the question's words marked."""

import os

import click
import pytest

import ragfile
from ragfile.doors.cli.shown_hits import Home, marked, openable, where
from ragfile.records import Hit, Span
from ragfile.search.excerpts import Excerpt


def hit(source, **metadata):
    return Hit("a#0", "a", 0, "text", 1.0, metadata=metadata, source=source, start=3, end=7)


def test_a_hit_says_its_page_slide_row_or_line(tmp_path):
    kb = str(tmp_path / "kb")
    assert where(hit("/x/a.pdf", page=3), Home(kb)) == "/x/a.pdf, page 3"
    assert where(hit("/x/a.pptx", slide=2), Home(kb)) == "/x/a.pptx, slide 2"
    assert where(hit("/x/a.csv", row=9), Home(kb)) == "/x/a.csv, row 9"
    assert where(hit("/x/a.py", symbol="f", line=12), Home(kb)) == "/x/a.py:12"
    assert where(hit("/x/a.md"), Home(kb)) == "/x/a.md:3-7"
    assert where(hit("", page="3"), Home(kb)) == "a:3-7"


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
    found = Excerpt("a\n key \x1b[31m here", 0, 17, [Span(3, 6)])
    shown = marked(found)
    assert click.unstyle(shown) == "a key \ufffd[31m here"
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
