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
