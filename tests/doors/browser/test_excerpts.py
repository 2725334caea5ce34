"""Excerpts in node are those of Python, on documentation of this repository and on texts made of marks."""

import random
import subprocess
import sys

import pytest
from doors.browser.node import Reader
from places import ROOT

import ragfile
from ragfile.search.question_terms import question_terms
from ragfile.search.shown_passages import PassageViewer

QUESTIONS = [
    "如何安装软件包", "キーをどうすればよいですか",
    "how do I rotate a key?", "Wie lange dauert die Sicherung?", "filter `where` by metadata", "the of and", "",
    "how often is build_cache 90 days", "code == fence",
]  # fmt: skip
SIGNS = [
    *"`*_~[](){}<>%!|#->&;1.:!?\n\n\n \t\\", "**", "```", "~~~", "```sh\n", "\n```\n", "| a | b |\n", "|---|---|\n", "- ",
    "1. ", "{{< x text=\"y\" >}}", "{% z %}", "<b>", "</b>", "<!-- c -->", "](x.md)", "[", "&amp;", "&#42;", "&zz;", "key", "Rotate",
    "rotating keys. ", "e.g. ", "ß", "é", "\U0001f511", "東京。", "İ", "word ", "is ", "Sentence two is here. ", ":::", "> ", "---",
    "\x85", "\u2028", "\u3000", "```\n\n", "  - ", "list:\n", "\n    key ", "\n        Rotate ", "\n    }\n", "\n  end\n",
]  # fmt: skip
KINDS = [
    {}, {"row": 3}, {"symbol": "f"}, {"mime": "text/plain"}, {"mime": "application/json"}, {"page": 2}
]  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("excerpts") / "kb.ragfile"
    ragfile.build([ROOT / "docs/guides", ROOT / "docs/reference"], path)
    return path


def expected(rf, question, passages):
    viewer = PassageViewer(question_terms(rf.rows, question), lambda name: None)
    shown = [viewer.shown(one["text"], one["metadata"], "", -1).to_dict() for one in passages]
    for one in shown:
        for line in one["lines"]:
            line["marks"] = [list(mark) for mark in line["marks"]]
    return shown


@pytest.mark.parametrize("question", QUESTIONS)
def test_excerpts_of_passages_are_pythons(path, question):
    with ragfile.open(path) as rf, Reader(path) as there:
        there("open")
        rows = [rf.hit(int(row)) for row in rf.rows.live_rows()]
        passages = [{"text": hit.text, "metadata": hit.metadata} for hit in rows]
        found = there("excerpts", question, passages)
        for one, passage, wanted in zip(
            found, passages, expected(rf, question, passages), strict=True
        ):
            del one["missing"]
            assert one == wanted, passage["text"]


def test_excerpts_of_any_text_are_pythons(path):
    rng = random.Random(7)
    passages = [
        {"text": "".join(rng.choices(SIGNS, k=rng.randint(0, 90))), "metadata": rng.choice(KINDS)}
        for _ in range(1500)
    ]
    question = "rotating the key word 東京 sentence"
    with ragfile.open(path) as rf, Reader(path) as there:
        there("open")
        found = there("excerpts", question, passages)
        assert sum(any(line["marks"] for line in one["lines"]) for one in found) > 700
        for one, passage, wanted in zip(
            found, passages, expected(rf, question, passages), strict=True
        ):
            del one["missing"]
            assert one == wanted, passage


def test_missing_words_are_pythons(path):
    question = "how do I rotate zebras in the metadata of a build_cache, and how long?"
    with ragfile.open(path) as rf, Reader(path) as there:
        there("open")
        hits = rf.search(question, 20)
        passages = [{"text": hit.text, "metadata": hit.metadata} for hit in hits]
        found = [one["missing"] for one in there("excerpts", question, passages)]
        assert found == [hit.missing for hit in hits]
        assert all("zebras" in missing for missing in found)


def test_the_words_that_claim_nothing_are_those_of_the_package():
    tool = [sys.executable, "write_function_words.py", "--check"]
    subprocess.run(tool, cwd=ROOT / "tools", check=True)


CODE = [
    ("def f():\n        key()\n        return 1", ["def f():", "    key()", "    return 1"]),
    ("    key = 1\n    if key:\n        go()", ["key = 1", "if key:", "    go()"]),
    ("f(key) {\n    go();\n  }\n", ["f(key) {", "  go();", "}"]),
    ("key = 1", ["key = 1"]),
    ("key = 1\n go()", ["key = 1", " go()"]),
    ("if key {\n  a\n    b\n  end", ["if key {", "a", "  b", "end"]),
]


def test_lines_of_code_lose_the_indentation_that_they_share(path):
    passages = [{"text": text, "metadata": {"symbol": "f"}} for text, _ in CODE]
    with ragfile.open(path) as rf, Reader(path) as there:
        there("open")
        for found in (expected(rf, "key", passages), there("excerpts", "key", passages)):
            texts = [[line["text"] for line in one["lines"]] for one in found]
            assert texts == [lines for _, lines in CODE]
