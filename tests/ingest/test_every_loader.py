"""Each loader has a sample here, a line in the documentation's table and a word in the changelog."""

import json
import re
from email.message import EmailMessage

import pytest
from oracles import source_files as made
from places import ROOT

from ragfile.ingest import loaders
from ragfile.ingest.document_loader import load

OFFICE_TEXT = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text>'
    "<text:p>A passage</text:p></office:text></office:body></office:document-content>"
)
CODE = b"passage = 1\n"


def mail():
    message = EmailMessage()
    message.set_content("A passage\n")
    return message.as_bytes()


def notebook():
    cell = {"cell_type": "markdown", "source": "A passage", "metadata": {}}
    return json.dumps({"cells": [cell], "nbformat": 4, "metadata": {}}).encode()


CODED = ["python", "c", "java", "go", "rust", "js", "shell", "csharp", "elixir", "haskell", "kotlin", "lua", "php", "powershell", "ruby", "scala", "sql", "swift", "zig", "css", "json", "toml", "xml", "yaml"]  # fmt: skip
ROWS = '<row><c t="inlineStr"><is><t>A passage</t></is></c></row>'
TABLE = "<table:table><table:table-row><table:table-cell><text:p>A passage</text:p></table:table-cell></table:table-row></table:table>"
SAMPLES = {
    **dict.fromkeys(("txt", "md", "rst", "adoc", "org", "tex"), b"A passage\n"),
    **dict.fromkeys(CODED, CODE),
    "subtitles": b"1\n00:00:01,000 --> 00:00:02,000\nA passage\n",
    "xlsx": made.xlsx({"One": ROWS}),
    "ods": made.ods(TABLE),
    "man": b".TH A 1\n.SH NAME\nA passage\n",
    "ipynb": notebook(),
    "html": b"<html><p>A passage</p></html>",
    "csv": b"name,text\na,passage\n",
    "jsonl": b'{"text": "A passage"}\n',
    "eml": mail(),
    "pdf": made.pdf("A passage"),
    "docx": made.docx(made.paragraph("A passage")),
    "pptx": made.pptx(),
    "odt": made.odt(OFFICE_TEXT),
    "epub": made.epub({"a.xhtml": "<p>A passage</p>"}, ["i0"]),
}
WORDS = {"pptx": "First"}  # a word of the sample, where it is another


def rows():
    """Return (names, suffixes) of each row of the table of sources, wherever the page is."""
    pages = [page.read_text() for page in (ROOT / "docs").rglob("*.md")]
    (text,) = (page for page in pages if "| kind | suffixes |" in page)
    table = text.partition("| kind | suffixes |")[2].partition("\n\n")[0].splitlines()[2:]
    cells = [line.split("|")[1:3] for line in table]
    return [(kind.strip().split(", "), re.findall(r"\.[\w+]+", found)) for kind, found in cells]


def test_each_loader_has_a_sample():
    sampled = {suffix for kind in SAMPLES for suffix in loaders.loader(kind).suffixes}
    assert loaders.suffixes() - sampled == {".parquet"}  # tests/write/test_foreign_input.py has it


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_sample_is_read_under_each_suffix_of_its_kind(kind, tmp_path):
    if kind == "pdf":
        pytest.importorskip("pypdfium2", reason="the extra 'ingest' is not installed")
    for suffix in loaders.loader(kind).suffixes:
        path = tmp_path / f"sample{suffix}"
        path.write_bytes(SAMPLES[kind])
        assert loaders.sniff(SAMPLES[kind], suffix) == kind
        (document,) = load([path])
        assert WORDS.get(kind, "passage") in document.text


def test_the_page_lists_the_suffixes_that_are_read():
    listed = [suffix for _, suffixes in rows() for suffix in suffixes]
    assert sorted(listed) == sorted(loaders.suffixes())


def test_the_changelog_names_what_the_page_lists():
    changelog = (ROOT / "CHANGELOG.md").read_text().lower()
    assert [name for names, _ in rows() for name in names if name.lower() not in changelog] == []
