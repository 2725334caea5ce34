"""Excerpts for people: no markup, lines kept, cut between sentences, the question's words marked; lines of the file."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragfile
from ragfile.search.excerpt_lines import SIZE, excerpt_lines
from ragfile.search.file_lines import FileLines
from ragfile.search.question_terms import plain_terms

MARKUP = re.compile(r"\*\*|\]\(|^#|```|\|---|</?b>|\{\{|^[-*] ", re.MULTILINE)


def lines(passage, question, **metadata):
    return [line.text for line in excerpt_lines(passage, metadata, plain_terms(question)).lines]


def test_text_is_shown_without_markup_and_its_words_are_marked():
    passage = "# Keys\n\nRotate **the `keys`**\nwith [a job](x.md).\n\n- one\n- two keys\n"
    found = excerpt_lines(passage, {}, plain_terms("rotating keys"))
    assert [line.text for line in found.lines] == [
        "Rotate the keys with a job.", "• one", "• two keys"
    ]  # fmt: skip
    marked = [line.text[a:b] for line in found.lines for a, b in line.marks]
    assert marked == ["Rotate", "keys", "keys"]
    assert passage[found.start : found.end].startswith("Rotate **the")


def test_a_row_names_its_columns_and_code_keeps_its_lines():
    table = "| service | port |\n|---|---|\n| ssh | 22 |\n| `dns` | 53 |\n"
    assert lines(table + "\nEnd.", "port of dns") == ["service: dns · port: 53", "End."]
    code = "def f():\n    if x:\n        return **y\n"
    assert lines(code, "f", symbol="f") == code.rstrip().split("\n")
    fenced = "Run:\n\n```sh\nls  -l\n  cd ..\n```\n"
    assert lines(fenced, "run") == ["Run:", "ls  -l", "  cd .."]
    assert lines("a: **b**\nc: d", "b", row=2) == ["a: **b**", "c: d"]


def test_long_text_is_cut_between_sentences():
    passage = (
        " ".join(f"Sentence {i} is about pods." for i in range(40))
        + " Keys rotate. "
        + "End. " * 80
    )
    (text,) = lines(passage, "keys rotate")
    assert text.startswith("Keys rotate. End.")
    assert text.endswith("End.")
    assert len(text) <= SIZE


@given(st.text(st.sampled_from("ab. :\n`~*_[](){}<>%!|#->&;1"), max_size=120))
def test_any_text_has_an_excerpt_inside_it(passage):
    found = excerpt_lines(passage, {}, plain_terms("a b"))
    assert 0 <= found.start <= found.end <= len(passage)
    for line in found.lines:
        assert all(0 <= a < b <= len(line.text) for a, b in line.marks)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("gap", [1, 2, 9])
def test_lines_of_a_passage_are_those_of_its_file(tmp_path, ending, gap):
    text = ("---\ntitle: T\n---\n# Keys\n" + "\n" * gap + "First\u00a0line.  \n" + "\n" * gap
            + "The target is here,\nand here.\n")  # fmt: skip
    raw = text.replace("\n", ending).encode()
    (tmp_path / "a.md").write_bytes(raw)
    ragfile.build(tmp_path / "a.md", tmp_path / "kb")
    with ragfile.open(tmp_path / "kb") as rf:
        document = rf.document("a.md")
    start = document.text.index("The target")
    found = FileLines.of(document).range(start, len(document.text))
    numbered = raw.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert numbered[found.first - 1] == "The target is here,"
    assert numbered[found.last - 1] == "and here."


def test_a_document_that_is_not_the_text_of_its_file_has_no_lines(tmp_path):
    (tmp_path / "a.html").write_text("<h1>A</h1>\n<p>Words.</p>\n")
    ragfile.build(tmp_path / "a.html", tmp_path / "kb")
    with ragfile.edit(tmp_path / "kb") as w:
        w.upsert([{"id": "own", "text": "Words of my own."}])
    with ragfile.open(tmp_path / "kb") as rf:
        assert FileLines.of(rf.document("a.html")) is None
        assert FileLines.of(rf.document("own")) is None
