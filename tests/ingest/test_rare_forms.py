"""What formats allow and few files have: each comes out as the text that a reader of the original sees."""

import codecs
import json

import pytest

from ragfile.ingest.document_loader import Loading, load
from ragfile.ingest.loaders import LoadError

MAN = r""".TH TOOL 1
.SH NAME
tool \- does it
.SH OPTIONS
.IP \-v 4
Says more.
.IP \(bu 2
A point.
.BR tool ( 1 )
is
.I good
and
.UR http://x.y
linked
.UE
.nf
shown  as
.B it
is
.fi
After\(em\*Rit.
"""
MDOC = r""".Dd May 1
.Dt TOOL 1
.Sh NAME
.Nm tool
.Nd does it
.Sh OPTIONS
.Bl -tag
.It Fl v Ns Ar level
Says more.
.El
"""
RST = """Title
=====

Some words [1]_.

-----

.. [1] The note says *more*.

Other
=====

After.
"""
NOTEBOOK = {
    "nbformat": 3,
    "worksheets": [{
        "cells": [
            {"cell_type": "heading", "level": 2, "source": ["Old ", "heading"]},
            {"cell_type": "heading", "level": "x", "source": "Odd heading"},
            {"cell_type": "raw", "source": "kept as it is"},
            {"cell_type": "markdown", "source": "Some words."},
            {"cell_type": "unknown", "source": "left out"},
        ]
    }],
}  # fmt: skip
MAIL = (
    b"From: a@b.c\r\nSubject: =?nonsense?q?Odd=20words?=\r\nContent-Type: text/plain; "
    b"charset=nonsense\r\nContent-Transfer-Encoding: 8bit\r\n\r\nCaf\xe9 and more.\r\n"
)
PAGE = b"<html><head><meta charset=latin1></head><body><p>Caf\xe9 \x80 5</p></body></html>"


@pytest.mark.parametrize(
    ("name", "raw", "there", "missing"),
    [
        ("tool.1", MAN.encode(),
         ["## Name", "**-v**", "Says more.", "tool(1) is good and", "shown  as", "After—"], ["\\(", ".BR"]),
        ("mdoc.1", MDOC.encode(), ["## Name", "does it", "-v", "level", "Says more."], [".It", "Ns"]),
        ("page.rst", RST.encode(), ["# Title", "The note says", "# Other", "After."], ["-----", ".. ["]),
        ("old.ipynb", json.dumps(NOTEBOOK).encode(),
         ["## Old heading", "# Odd heading", "```\nkept as it is\n```", "Some words."], ["left out"]),
        ("letter.eml", MAIL, ["Café and more.", "words"], ["\ufffd"]),
        ("page.html", PAGE, ["Café € 5"], ["\ufffd"]),
    ],
)  # fmt: skip
def test_what_few_files_have_is_read_as_it_is_seen(tmp_path, name, raw, there, missing):
    (tmp_path / name).write_bytes(raw)
    (document,) = load([tmp_path / name])
    for words in there:
        assert words in document.text, (words, document.text)
    for words in missing:
        assert words not in document.text, (words, document.text)


@pytest.mark.parametrize(
    "mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE]
)
def test_json_lines_come_in_any_unicode(tmp_path, mark):
    names = {
        codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be",
        codecs.BOM_UTF32_LE: "utf-32-le", codecs.BOM_UTF32_BE: "utf-32-be",
    }  # fmt: skip
    lines = '{"id": "a", "text": "Größe"}\n{"id": "b", "text": "más"}\n'
    (tmp_path / "rows.jsonl").write_bytes(mark + lines.encode(names[mark]))
    assert [document.text for document in load([tmp_path / "rows.jsonl"])] == ["Größe", "más"]


def test_a_page_of_no_declared_encoding_is_read_by_the_rule_that_was_given(tmp_path):
    (tmp_path / "page.html").write_bytes(b"<p>Caf\x81\xff</p>")
    with pytest.raises(LoadError):
        list(load([tmp_path / "page.html"], encoding="utf-8"))
    (document,) = load([tmp_path / "page.html"], errors="replace")
    assert "Caf" in document.text


@pytest.mark.parametrize(
    "names", [("pk", "body"), ("key", "abstract"), ("uuid", "page_content")], ids=lambda n: n[1]
)
def test_json_lines_of_other_programs_have_their_text_under_any_name(tmp_path, names):
    name, text = names
    rows = [
        {name: f"r{n}", text: f"Owls fly at night, in year {n}.", "lang": "en", "year": n, "emb": [0.5, n / 2]}
        for n in (2024, 2025)
    ]  # fmt: skip
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = load([tmp_path / "rows.jsonl"])
    assert [document.text for document in found] == [row[text] for row in rows]
    assert [document.id for document in found] == ["rows.jsonl#r2024", "rows.jsonl#r2025"]
    assert [(d.metadata["lang"], d.metadata["year"]) for d in found] == [("en", 2024), ("en", 2025)]
    assert not {name, text, "emb"} & found[0].metadata.keys()


def test_json_lines_without_a_text_are_named(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    loading = Loading([tmp_path / "rows.jsonl"])
    assert not list(loading)
    assert "line 1: not an object with a text" in loading.failures[0].reason


def test_json_lines_with_a_text_keep_their_names_and_places_and_lose_their_vectors(tmp_path):
    row = {"text": "Owls.", "name": "Ann", "place": [52.5, 13.4], "embedding": [0.5, 1.5]}
    (tmp_path / "rows.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(row)}\n")
    found = load([tmp_path / "rows.jsonl"])
    assert [document.id for document in found] == ["rows.jsonl#1", "rows.jsonl#2"]
    assert (found[0].metadata["name"], found[0].metadata["place"]) == ("Ann", [52.5, 13.4])
    assert "embedding" not in found[0].metadata


def test_values_that_are_there_twice_are_no_ids_of_json_lines(tmp_path):
    lines = [json.dumps({"key": "k", "body": f"Owl {n} flies."}) for n in range(2)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    found = load([tmp_path / "rows.jsonl"])
    assert [(d.id, d.metadata["key"]) for d in found] == [
        ("rows.jsonl#1", "k"), ("rows.jsonl#2", "k"),
    ]  # fmt: skip
