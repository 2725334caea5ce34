"""Titles: the same as plain patterns find in short texts, and a bounded header path."""

import re

from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from ragfile.ingest import markdown_titles
from ragfile.ingest.chunker import split
from ragfile.records import Document

# What the functions do, as patterns. They are easy to check by eye and too slow for long lines.
FRONT = re.compile(
    r"""\A---[ \t]*\r?\n(?:(?!---).*\n)*?title:[ \t]*(["']?)([^\r\n]{1,500}?)\1[ \t]*\r?\n"""
)
HEADER = re.compile(r"^#[ \t]+([^\r\n]{1,500}?)[ \t]*#*[ \t]*\r?$", re.MULTILINE)
TITLE = re.compile(r"""^title:[ \t]*(["']?)([^\n]{1,500}?)\1[ \t]*$""", re.MULTILINE)
ANCHOR = re.compile(r"[ \t]*\{#[^{}\n]*\}[ \t]*$")
CLOSING = re.compile(r"(?:^|[ \t]+)#+$")

pieces = st.sampled_from(
    ["title:", "---", "# ", "#", " ", "\t", '"', "'", "a", "b" * 250, "{", "}", "{#", "\r", "\n"]
)
texts = st.lists(pieces, max_size=14).map("".join)
lines = texts.map(lambda text: text.replace("\n", " "))


@settings(max_examples=examples(600), deadline=None)
@given(texts)
def test_a_markdown_title_is_what_the_patterns_find(text):
    for start in (text, "---\n" + text, "---\ntitle:" + text, "# " + text):
        front, header = FRONT.match(start), HEADER.search(start)
        expected = front[2] if front else header[1] if header else ""
        assert markdown_titles.markdown_title(start) == expected.strip()


@settings(max_examples=examples(400), deadline=None)
@given(texts)
def test_a_title_in_front_matter_is_what_the_pattern_finds(text):
    text = "---\ntitle:" + text
    found = TITLE.search(text)
    assert markdown_titles.front_title(text, 0, len(text)) == (
        found[2].strip(" \t") if found else ""
    )


@settings(max_examples=examples(400), deadline=None)
@given(lines)
def test_anchors_and_closing_marks_go_as_the_patterns_say(line):
    assert markdown_titles.without_anchor(line) == ANCHOR.sub("", line)
    assert markdown_titles.without_closing(line) == CLOSING.sub("", line.rstrip(" \t"))


def test_a_header_path_keeps_the_nearest_titles_within_its_limit():
    long = ["a" * 600, "b" * 600, "c" * 300]
    path = markdown_titles.path_of(long)
    assert path == f"{'b' * 500} > {'c' * 300}"
    assert markdown_titles.path_of(["One", "", "Two"]) == "One > Two"
    assert len(markdown_titles.path_of(["x" * 494, "y" * 500])) == 997


def test_the_windows_of_a_section_share_one_path():
    document = Document("d", "# Title\n\n" + "word " * 400)
    chunks = split(document, "markdown:100/0")
    assert len({id(chunk.metadata["headers"]) for chunk in chunks}) == 1
