"""Formats that become Markdown: headers, code, lists and tables of each, so that chunks have paths."""

import json
from email.message import EmailMessage

import pytest
from oracles import source_files as made

from ragfile.ingest.chunker import split
from ragfile.ingest.document_loader import load
from ragfile.ingest.loaders import Limits, LoadError, UnsupportedType

RST = """.. _label:

=====
Title
=====

.. note:: Mind it.

See :ref:`the text <label>`, ``a ` b``, :class:`~a.B` and `Site <http://x.y>`_.

Sub
---

Example::

    # no header
    x = 1

.. code-block:: python
   :linenos:

   def f(): pass

.. a comment

   still one

.. function:: json.dumps(obj)
   :module: json

   Serialize it.

+----+----+
| a  | b  |
+----+----+

.. toctree::

   hidden
"""
ADOC = """= Title
:toc:

// a comment
== Sub
See <<other,the other>> and https://x.y[Site]. NOTE: Mind it.

[source,sh]
----
# no header
make
----

|===
|a |b
|===

////
hidden
////
"""
ORG = """#+TITLE: Title
#+FILETAGS: :one:two:
* TODO [#A] Sub :tag:
  :PROPERTIES:
  :ID: hidden
  :END:
See [[http://x.y][Site]].
# hidden
#+BEGIN_SRC python
# no header
#+END_SRC
| a | b |
|---+---|
"""
TEX = r"""\documentclass{article}
\title{A \emph{Title}} % hidden
\begin{document}
\section{Sub}\label{sub}
Some \textbf{bold} words~\cite{x}, 5\% of $a_{1}$ and Gr\"o\ss e. % hidden
\begin{verbatim}
# no header % kept
\end{verbatim}
\begin{itemize}
\item one
\end{itemize}
\end{document}
hidden
"""
MAN = r""".\" hidden
.TH LS 1 "May 2024"
.SH NAME
ls \- list directory contents
.SH "EXIT STATUS"
.TP
.BR \-a ", " \-\-all
do not ignore \fIentries\fR
.nf
# no header
.fi
"""
MDOC = """.Dd May 1, 2024
.Dt LS 1
.Os
.Sh NAME
.Nm ls
.Nd list directory contents
.Sh SYNOPSIS
.Nm
.Op Fl a
.Ar file
.Pp
See
.Xr chmod 1 .
"""


def only(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (document,) = load(path)
    return document


def paths(document):
    return list(
        dict.fromkeys(c.metadata.get("headers", "") for c in split(document, {"version": 2}))
    )


@pytest.mark.parametrize(
    ("name", "source", "title", "sections", "there"),
    [
        ("a.rst", RST, "Title", ["Title", "Title > Sub"],
         ["Note: Mind it.", "See the text, `a ` b`, a.B and Site.", "```python\ndef f(): pass\n```", "```\n# no header\nx = 1\n```",
          "json.dumps(obj)", "   Serialize it.", "| a  | b  |"]),
        ("a.adoc", ADOC, "Title", ["Title > Sub"],
         ["See the other and Site. NOTE: Mind it.", "```sh\n# no header\nmake\n```", "|a |b"]),
        ("a.org", ORG, "Title", ["Title > Sub"], ["See Site.", "```python\n# no header\n```", "| a | b |"]),
        ("a.tex", TEX, "A Title", ["A Title > Sub"],
         ["Some bold words , 5% of $a_{1}$ and Größe.", "```\n# no header % kept\n```", "- one"]),
        ("ls.1", MAN, "ls(1)", ["ls(1) > Name", "ls(1) > Exit status"],
         ["ls - list directory contents", "**-a, --all**\ndo not ignore entries", "```\n# no header\n```"]),
        ("ls.8", MDOC, "ls(1)", ["ls(1) > Name", "ls(1) > Synopsis"],
         ["ls — list directory contents", "ls [-a] file", "See chmod(1)"]),
    ],
    ids=["rst", "adoc", "org", "tex", "man", "mdoc"],
)  # fmt: skip
def test_markup_becomes_markdown_with_paths(name, source, title, sections, there, tmp_path):
    document = only(tmp_path, name, source)
    assert document.metadata["title"] == title
    assert paths(document) == sections
    for text in there:
        assert text in document.text
    assert "hidden" not in document.text
    if name == "a.org":
        assert document.tags == ("one", "two")


def test_a_file_with_the_suffix_of_a_manual_page_can_be_plain_text(tmp_path):
    assert only(tmp_path, "server.log.1", "GET / 200\n.\n").text == "GET / 200\n.\n"


def notebook(*cells, **more):
    return json.dumps(
        {"cells": list(cells), "metadata": {"kernelspec": {"language": "python"}}, **more}
    )


def test_a_notebook_gives_text_code_and_what_was_printed(tmp_path):
    source = notebook(
        {"cell_type": "markdown", "source": ["# Plot\n", "Words."]},
        {"cell_type": "code", "source": "# no header\nprint('```')", "outputs": [
            {"output_type": "stream", "text": ["x" * 3000]},
            {"output_type": "display_data", "data": {"image/png": "hidden", "text/plain": "later"}}]},
        {"cell_type": "markdown", "source": "## Next\nMore."},
    )  # fmt: skip
    document = only(tmp_path, "a.ipynb", source)
    assert document.metadata["title"] == "Plot"
    assert paths(document) == ["Plot", "Plot > Next"]
    assert "````python\n# no header\nprint('```')\n````" in document.text
    assert "hidden" not in document.text
    assert document.text.count("x") < 2100


@pytest.mark.parametrize(
    "source",
    ["[]", "{", "7", '{"cells": 1}', '{"cells": [1, {"source": {}}, {"cell_type": "code", "outputs": [[]]}]}', "[" * 100_000],
)  # fmt: skip
def test_a_broken_notebook_is_a_failure_or_empty(source, tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text(source)
    try:
        assert [document.text for document in load(path)] == [""]
    except LoadError as error:
        assert str(path) in str(error)  # noqa: PT017


def test_a_mail_gives_its_subject_its_text_and_the_names_of_what_is_attached(tmp_path):
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "Grüße aus Köln", "ann@x.org", "ben@x.org"
    message["Date"] = "Wed, 01 May 2024 10:00:00 +0000"
    message.set_content("Plain words – here.\n")
    message.add_alternative("<p>hidden</p>", subtype="html")
    message.add_attachment(b"hidden", maintype="application", subtype="pdf", filename="report.pdf")
    document = only(tmp_path, "a.eml", message.as_bytes())
    assert document.metadata["title"] == "Grüße aus Köln"
    assert document.metadata["from"] == "ann@x.org"
    assert document.text.startswith("# Grüße aus Köln\n\nFrom: ann@x.org\nTo: ben@x.org\n")
    assert "Plain words – here." in document.text
    assert "Attached: report.pdf" in document.text
    assert "hidden" not in document.text


def test_a_mail_of_html_alone_is_read_as_a_page(tmp_path):
    message = EmailMessage()
    message["Subject"] = "S"
    message.set_content("<h2>Part</h2><p>Words</p>", subtype="html")
    assert "Part\n\nWords" in only(tmp_path, "a.eml", message.as_bytes()).text


def test_an_epub_gives_its_pages_in_the_order_of_the_book(tmp_path):
    pages = {"b%20c.xhtml": "", "a.xhtml": "<html><h1>Second</h1><p>Two.</p></html>"}
    content = made.epub(
        pages, ["i0", "i1", "i0", "i9"], **{"OEBPS/b c.xhtml": "<html><h1>First</h1>One.</html>"}
    )
    document = only(tmp_path, "a.epub", content)
    assert paths(document) == ["The Book > First", "The Book > Second"]
    assert document.metadata["mime"] == "application/epub+zip"


def test_an_epub_without_its_list_is_refused_and_a_page_that_is_missing_left_out(tmp_path):
    with pytest.raises(LoadError, match="no list of its pages"):
        only(tmp_path, "a.epub", made.packed({"META-INF/container.xml": "<container/>"}))
    assert (
        only(tmp_path, "b.epub", made.epub({"a.xhtml": "<p>There.</p>"}, ["i0", "i1"])).text
        == "There."
    )


NAMES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in (("office", "office"), ("text", "text"), ("table", "table"))
)
ODT = f"""<office:document-content {NAMES}><office:body><office:text>
<text:h text:outline-level="1">Top</text:h><text:p>One<text:s text:c="2"/>two<office:annotation><text:p>hidden</text:p>
</office:annotation>, three</text:p>
<text:list><text:list-item><text:p>a</text:p><text:list><text:list-item><text:p>b</text:p></text:list-item></text:list>
</text:list-item></text:list><text:h text:outline-level="2">Part</text:h>
<table:table><table:table-row><table:table-cell><text:p>k</text:p></table:table-cell>
<table:table-cell><text:p>v</text:p></table:table-cell></table:table-row></table:table>
</office:text></office:body></office:document-content>"""


def test_an_odt_gives_headings_lists_and_tables(tmp_path):
    document = only(tmp_path, "a.odt", made.odt(ODT))
    assert document.text == "# Top\n\nOne  two, three\n\n- a\n\n- b\n\n## Part\n\nk | v"


def test_other_zip_containers_are_refused_by_name(tmp_path):
    with pytest.raises(UnsupportedType, match="zip archive"):
        load_raw(
            tmp_path, made.packed({"content.xml": "<x/>", "mimetype": "a spreadsheet"}), "a.odt"
        )


def load_raw(tmp_path, content, name):
    from ragfile.ingest.loaders import sniff

    return sniff(content, "." + name.rpartition(".")[2])


@pytest.mark.parametrize("name", ["a.epub", "a.odt"])
def test_what_unpacks_to_too_much_is_refused_unread(name, tmp_path):
    big = "<p>" + "x" * 100_000 + "</p>"
    content = (
        made.epub({"a.xhtml": big})
        if name == "a.epub"
        else made.odt(ODT.replace("One", "x" * 100_000))
    )
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(LoadError, match="unpacks to"):
        load(path, limits=Limits(max_expanded=50_000))
    with pytest.raises(LoadError, match="more than 1000 characters"):
        load(path, limits=Limits(max_text=1000))


def test_entities_of_a_document_type_are_refused_in_odt(tmp_path):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>'
    with pytest.raises(LoadError, match="document type declaration"):
        only(tmp_path, "a.odt", made.odt(bomb))


def test_a_docx_says_its_page_headers_and_notes_once(tmp_path):
    docx = pytest.importorskip("docx", reason="python-docx is not installed")
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "Acme handbook"
    document.sections[0].footer.paragraphs[0].text = "Confidential"
    document.add_paragraph("Body.")
    document.save(tmp_path / "a.docx")
    (found,) = load(tmp_path / "a.docx")
    assert found.text == "Acme handbook\n\nBody.\n\nConfidential"


def test_a_pptx_gives_charts_as_tables_and_notes(tmp_path):
    pptx = pytest.importorskip("pptx", reason="python-pptx is not installed")
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Sales"
    data = CategoryChartData()
    data.categories = ["East", "West"]
    data.add_series("2023", (1.5, 2))
    data.add_series("2024", (3, 4))
    box = (Inches(1), Inches(1), Inches(4), Inches(3))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *box, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "By region"
    slide.notes_slide.notes_text_frame.text = "Say it."
    deck.save(tmp_path / "a.pptx")
    (found,) = load(tmp_path / "a.pptx")
    assert found.text == (
        "# Sales\n\nBy region\n\n | 2023 | 2024\nEast | 1.5 | 3\nWest | 2 | 4\n\nSay it."
    )


VTT = """WEBVTT - A talk

STYLE
::cue { color: hidden }

NOTE hidden
more

first
00:01.000 --> 00:04.000 align:start
<v Ada Lovelace>Keys <b>rotate</b> &amp; expire.</v>

00:04.000 --> 00:06.000
Keys rotate & expire.
Each one {\\an8}for a day.
"""


def test_subtitles_give_what_is_said_with_its_time(tmp_path):
    document = only(tmp_path, "a.vtt", VTT)
    assert (
        document.text
        == "Ada Lovelace: Keys rotate & expire.\nKeys rotate & expire.\nEach one for a day."
    )
    assert [segment.metadata for segment in document.segments] == [{"time": "00:00:01"}]


def test_subtitles_are_cut_into_parts_of_about_a_minute(tmp_path):
    cues = "\r\n\r\n".join(
        f"{n}\r\n01:{n:02}:00,000 --> 01:{n:02}:02,000\r\nLine {n} {'word ' * 20}"
        for n in range(60)
    )
    document = only(tmp_path, "a.srt", cues)
    assert [f"Line {n} " in document.text for n in range(60)] == [True] * 60
    times = [segment.metadata["time"] for segment in document.segments]
    assert times[0] == "01:00:00"
    assert times == sorted(times)
    assert all(500 < segment.end - segment.start < 2000 for segment in document.segments[:-1])


def test_a_line_that_rolls_up_is_given_once(tmp_path):
    cues = "00:01.000 --> 00:02.000\none\n\n00:02.000 --> 00:03.000\none\ntwo\n"
    assert only(tmp_path, "a.vtt", cues).text == "one\ntwo"


def test_a_text_that_is_no_subtitle_is_refused(tmp_path):
    with pytest.raises(LoadError, match="no cue has a time"):
        only(tmp_path, "a.srt", "Plain words.\n")


DATES = (
    '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="0 &quot;days&quot;"/>'
    '</numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="20"/></cellXfs>'
)
ROWS = (
    '<row r="2"><c r="A2" t="s"><v>0</v></c><c r="C2" t="s"><v>1</v></c></row>'
    '<row r="4"><c r="A4" t="inlineStr"><is><t>Blue</t></is></c><c r="B4" s="1"><v>45292</v></c><c r="C4" s="3"><v>7</v></c></row>'
    '<row r="5"><c r="A5" t="b"><v>1</v></c><c r="B5" s="2"><v>45292.5</v></c><c r="C5" t="str"><v>a  b</v></c></row>'
    '<row r="6"><c r="A6" s="4"><v>0.25</v></c><c r="B6" t="e"><v>#DIV/0!</v></c><c r="C6" t="s"><v>99</v></c></row>'
)
WORDS = ("<r><t>Co</t></r><r><t>lour</t></r><rPh><t>hidden</t></rPh>", "<t>Size</t>")


def test_a_workbook_gives_its_rows_under_the_names_of_their_columns(tmp_path):
    content = made.xlsx({"One": ROWS, "Two": "<row><c><v>42</v></c></row>"}, WORDS, DATES)
    document = only(tmp_path, "a.xlsx", content)
    assert document.metadata["title"] == "A Workbook"
    rows = [
        (segment.metadata, document.text[segment.start : segment.end])
        for segment in document.segments
    ]
    assert rows == [
        (
            {"sheet": "One", "row": 4, "Colour": "Blue", "Size": 7},
            "Colour: Blue\n2024-01-01\nSize: 7",
        ),
        (
            {"sheet": "One", "row": 5, "Colour": "true", "Size": "a  b"},
            "Colour: true\n2024-01-01 12:00:00\nSize: a  b",
        ),
        ({"sheet": "One", "row": 6, "Colour": "06:00:00"}, "Colour: 06:00:00\n#DIV/0!"),
        ({"sheet": "Two", "row": 1}, "42"),
    ]


def test_the_dates_of_a_workbook_can_begin_in_1904(tmp_path):
    rows = '<row><c s="1"><v>1</v></c></row>'
    content = made.xlsx({"a": rows}, (), DATES, '<workbookPr date1904="1"/>')
    assert only(tmp_path, "a.xlsx", content).text == "1904-01-02"


def test_a_workbook_without_its_list_of_sheets_is_refused(tmp_path):
    content = made.packed({"xl/workbook.xml": "<a/>"})
    assert only(tmp_path, "a.xlsx", content).text == ""
    with pytest.raises(LoadError):
        only(tmp_path, "b.xlsx", made.packed({"xl/workbook.xml": "<a>"}))


def test_an_open_spreadsheet_gives_its_rows(tmp_path):
    def row(*cells, repeated=1):
        inner = "".join(cells)
        return f'<table:table-row table:number-rows-repeated="{repeated}">{inner}</table:table-row>'

    def cell(text, count=1, kind="string"):
        content = f"<text:p>{text}</text:p>" if text else ""
        return (
            f'<table:table-cell office:value-type="{kind}" table:number-columns-repeated="{count}">'
            f"{content}</table:table-cell>"
        )

    tables = (
        '<table:table table:name="One"><table:table-header-rows>'
        + row(cell("Name"), cell("", 2), cell("Age"))
        + "</table:table-header-rows>"
        + row(cell("", 16_384), repeated=3)
        + row(cell("Ada"), cell("x", 2), cell("36", kind="float"), cell("", 16_380))
        + "</table:table>"
    )
    document = only(tmp_path, "a.ods", made.ods(tables))
    assert document.text == "Name: Ada\nx\nx\nAge: 36"
    assert [segment.metadata for segment in document.segments] == [
        {"sheet": "One", "row": 5, "Name": "Ada", "Age": 36}
    ]
