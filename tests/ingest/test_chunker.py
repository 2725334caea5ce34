"""Chunks: exact spans, exact overlaps, headers respected, the same everywhere."""

import hashlib
import itertools
import json
import os
import subprocess
import sys

import hypothesis.strategies as st
import pytest
from hypothesis import assume, example, given

from ragfile.canonical import chunk
from ragfile.ingest.chunker import Policy, split
from ragfile.ingest.markdown_sections import headers
from ragfile.records import Document, Segment
from ragfile.text import normalize

KINDS = ("characters", "words", "sentences", "markdown", "joined")
PROSE = st.text(st.sampled_from(list("abc  \n\n.#`~-|=日本é👩\u200d🏽>1")), max_size=400)


def cut(text, kind, size=None, overlap=None):
    return split(Document("d", text), Policy(kind, size, overlap))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:chunks of")
@given(st.one_of(PROSE, st.text(max_size=200)), st.integers(1, 60), st.data())
def test_every_chunk_is_its_span_in_order_and_within_size(kind, raw, size, data):
    text = normalize(raw).text
    overlap = data.draw(st.integers(0, size - 1))
    chunks = cut(text, kind, size, overlap)
    assert [c.chunk_index for c in chunks] == list(range(len(chunks)))
    for c in chunks:
        assert text[c.start : c.end] == c.content
        assert c.content.strip(" \t\n") or kind == "characters"
        assert kind in ("words", "joined") or len(c.content) <= size
    starts_ends = [(c.start, c.end) for c in chunks]
    for (a, b), (c, d) in itertools.pairwise(starts_ends):
        assert a < c
        assert b < d


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:chunks of")
@given(PROSE, st.integers(1, 60), st.data())
def test_no_text_is_lost(kind, raw, size, data):
    text = normalize(raw).text
    assume(kind != "markdown" or not headers(text))
    covered = {
        i
        for c in cut(text, kind, size, data.draw(st.integers(0, size - 1)))
        for i in range(c.start, c.end)
    }
    assert all(text[i] in " \t\n" for i in range(len(text)) if i not in covered)


@pytest.mark.filterwarnings("ignore:chunks of")
@given(PROSE.filter(lambda t: t.strip(" \t\n")), st.integers(1, 60), st.data())
@example("x" * 120, 60, None)
def test_character_windows_share_exactly_the_overlap_and_rebuild_the_text(text, size, data):
    overlap = data.draw(st.integers(0, size - 1)) if data else 20
    chunks = cut(text, "characters", size, overlap)
    assert chunks[0].content + "".join(c.content[overlap:] for c in chunks[1:]) == text
    for before, after in itertools.pairwise(chunks):
        assert before.end - after.start == overlap
        assert not before.content.endswith(after.content) or after.end > before.end


def test_word_windows_share_exactly_the_overlap():
    text = " ".join(f"w{i}" for i in range(1000))
    chunks = cut(text, "words", 200, 40)
    assert [c.content.split()[0] for c in chunks] == ["w0", "w160", "w320", "w480", "w640", "w800"]
    assert {len(c.content.split()) for c in chunks} == {200}


def test_unspaced_scripts_and_endless_words_are_counted_in_pieces():
    assert [len(c.content) for c in cut("日" * 450, "words", 200, 0)] == [200, 200, 50]
    assert [len(c.content) for c in cut("x" * 640, "words", 5, 0)] == [320, 320]


def test_sentence_chunks_hold_whole_sentences():
    text = " ".join(f"Sentence number {i} is here." for i in range(100))
    chunks = cut(text, "sentences", 200, 60)
    assert all(c.content.startswith("Sentence") and c.content.endswith("here.") for c in chunks)
    assert all(after.start < before.end for before, after in itertools.pairwise(chunks))


MARKDOWN = """\
---
title: "The Guide"
---
Before any header.

# Install
Intro.

## Linux {#linux}

```sh
# not a header
## neither
```

Run it.

Windows
-------
Run it too. \\# no

<!--
# hidden
-->
### Deep ##
text

# Use
"""


def test_markdown_chunks_carry_their_header_path():
    paths = [
        (c.metadata.get("headers"), c.content.split("\n")[0])
        for c in split(Document("d", MARKDOWN), Policy(version=2))
    ]
    assert paths == [
        ("The Guide", "---"),
        ("The Guide > Install", "# Install"),
        ("The Guide > Install > Linux", "## Linux {#linux}"),
        ("The Guide > Install > Windows", "Windows"),
        ("The Guide > Install > Windows > Deep", "### Deep ##"),
        ("The Guide > Use", "# Use"),
    ]


def test_small_neighbours_under_one_header_are_one_chunk_with_the_path_of_that_header():
    assert [
        (c.metadata["headers"], c.content.split("\n")[0]) for c in cut(MARKDOWN, "markdown")
    ] == [
        ("The Guide", "---"),  # Before any header, and the texts of the headers below the first
        ("The Guide > Install", "## Linux {#linux}"),
        ("The Guide > Install > Windows > Deep", "### Deep ##"),
        ("The Guide > Use", "# Use"),
    ]


LINE = "A line of some words.\n"


def test_a_section_that_says_enough_stays_alone():
    text = f"# A\n{LINE}## Long\n{LINE * 10}## B\n{LINE}## C\n{LINE}"
    found = cut(text, "markdown", 1000)
    assert [c.metadata["headers"] for c in found] == ["A", "A > Long", "A"]
    assert [c.content.count("#") for c in found] == [1, 2, 4]


def test_small_sections_are_joined_up_to_the_size():
    found = cut("".join(f"## {n}\n{LINE}" for n in range(40)), "markdown", 300)
    assert len(found) == 4
    assert all(len(c.content) <= 300 for c in found)


def test_small_sections_under_two_headers_stay_apart():
    found = cut(f"# A\n## B\n{LINE}# C\n## D\n{LINE}", "markdown")
    assert [c.metadata["headers"] for c in found] == ["A > B", "C > D"]


@pytest.mark.parametrize(
    "block",
    ["```sh\n" + "run | see\n\n" * 30 + "```", "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 30],
    ids=["fence", "table"],
)
def test_a_block_that_fits_is_in_one_chunk_whole(block):
    for before in range(0, 1000, 37):
        found = cut("word " * (before // 5) + "\n" + block + "\n" + "word " * 300, "markdown", 500)
        assert any(block.strip() in c.content for c in found)
        assert all(len(c.content) <= 500 for c in found)


def test_a_block_that_does_not_fit_is_cut_between_lines():
    found = cut("```\n" + LINE * 100 + "```\n", "markdown", 500)
    assert len(found) > 4
    assert all(c.content.splitlines()[1] == LINE.strip() for c in found)


def test_version_2_cuts_as_it_did():
    text = f"# A\n{LINE}## B\n{LINE}"
    assert len(split(Document("d", text), Policy(version=2))) == 2
    assert len(split(Document("d", text), Policy(version=3))) == 1


@given(PROSE)
def test_no_markdown_chunk_of_version_2_crosses_a_header(text):
    starts = [start for start, *_ in headers(text)]
    for c in split(Document("d", text), Policy("markdown", 50, 10, 2)):
        assert not any(c.start < start < c.end for start in starts)


def test_a_long_section_gives_windows_that_all_carry_its_path():
    chunks = cut("# Guide\n\n## Long\n\n" + "Some words of prose. " * 250, "markdown", 1000, 200)
    assert len(chunks) > 5
    assert {c.metadata["headers"] for c in chunks} == {"Guide > Long"}
    assert all(c.content.endswith("prose.") for c in chunks)


def test_a_header_without_a_body_is_left_to_its_subsections():
    assert [c.content for c in cut("# A\n\n## B\ntext", "markdown")] == ["## B\ntext"]
    long = "text " * 50
    assert [c.content for c in cut(f"# A\n# B\n{long}", "markdown")] == [
        "# A",
        f"# B\n{long}".strip(),
    ]


def test_an_unclosed_fence_hides_all_that_follows():
    assert headers("# A\n```\n# B\n~~~\n# C") == [(0, 3, 1, "A")]


def test_a_fence_closes_only_with_its_own_kind_and_length():
    assert [
        title
        for *_, title in headers("````\n```\n# no\n````\n# yes\n~~~~\n````\n# no\n~~~~~\n# too")
    ] == [
        "yes",
        "too",
    ]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "joined"])
def test_no_chunk_crosses_a_segment(kind):
    text = "first page\n\nsecond page"
    document = Document(
        "d", text, segments=(Segment(0, 10, {"page": 1}), Segment(12, 23, {"page": 2}))
    )
    chunks = split(document, kind)
    assert [(c.content, c.metadata) for c in chunks] == [
        ("first page", {"page": 1}),
        ("second page", {"page": 2}),
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["", "   ", "\n\n\n"])
def test_blank_text_gives_no_chunk(kind, text):
    assert cut(text, kind) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("character", ["x", " ", "日", "`", "#", "-", "é", ".", "👩\u200d"])
def test_a_line_of_a_megabyte_is_cut_in_linear_time(kind, character):
    text = "# T\n" + "a" + character * 1_000_000 + "b\n"
    chunks = cut(text, kind)
    assert all(text[c.start : c.end] == c.content for c in chunks)
    assert len(chunks) >= (1 if (kind, character) == ("words", " ") else 2)


def test_a_window_does_not_part_an_emoji_from_its_joiners():
    chunks = cut("👩\u200d👩\u200d👧" * 100, "markdown", 52, 0)
    assert not any(c.content.startswith("\u200d") or c.content.endswith("\u200d") for c in chunks)


def test_sizes_left_out_are_the_policys_own():
    sizes = {kind: (Policy(kind).size, Policy(kind).overlap) for kind in KINDS}
    assert sizes == {
        "characters": (1000, 200),
        "words": (200, 40),
        "sentences": (1000, 200),
        "markdown": (1000, 200),
        "joined": (200, 40),
    }
    assert (Policy("characters", 800).overlap, Policy("characters", 300).overlap) == (
        160,
        60,
    )  # a fifth at most


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("characters", 0), "at least 1"),
        (("characters", 100, 100), "less than the size"),
        (("characters", 100, -1), "at least 0"),
        (("paragraphs",), "unknown chunk policy"),
    ],
)
def test_an_impossible_policy_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Policy(*arguments)


def test_a_tiny_size_is_allowed_with_a_warning():
    with pytest.warns(UserWarning, match="hardly hold a sentence"):
        assert len(cut("x" * 95, "characters", 10, 0)) == 10


def test_a_policy_can_be_written_in_words():
    assert Policy.of("words:200/40") == Policy("words", 200, 40)
    assert Policy.of("markdown") == Policy.of(None) == Policy("markdown", 1000, 200)
    assert Policy.of({"kind": "characters", "size": 800}) == Policy("characters", 800, 160)
    with pytest.raises(ValueError, match="reads like"):
        Policy.of("words:many")


def test_a_policy_digest_changes_with_anything_that_moves_a_boundary():
    digests = {
        Policy(*p).digest()
        for p in [("words",), ("words", 100), ("words", 200, 41), ("sentences",)]
    }
    assert len(digests) == 4
    assert Policy("words").digest() == Policy("words", 200, 40).digest()


def test_the_block_takes_a_text_segments_or_a_document_and_leaves_them_alone():
    segments = [{"text": "one\r\n", "metadata": {"page": 1}}, "two"]
    assert [(c.content, c.metadata) for c in chunk(segments, "characters")] == [
        ("one\n", {"page": 1}),
        ("two", {}),
    ]
    assert segments == [{"text": "one\r\n", "metadata": {"page": 1}}, "two"]
    document = Document("d", "# H\ntext", metadata={"lang": "en"}, tags=("t",))
    (only,) = chunk(document)
    assert (only.doc_id, only.metadata, only.tags) == ("d", {"lang": "en", "headers": "H"}, ("t",))
    assert document.metadata == {"lang": "en"}


PROGRAM = """
import contextlib, hashlib, json, locale, sys
from ragfile.ingest.chunker import Policy, split
from ragfile.records import Document
with contextlib.suppress(locale.Error):
    locale.setlocale(locale.LC_ALL, "")
from ragfile.text import normalize
text = normalize(sys.stdin.buffer.read().decode()).text
for kind in ("characters", "words", "sentences", "markdown", "joined"):
    chunks = [c.to_dict() for c in split(Document("d", text), Policy(kind, 120, 30))]
    print(kind, hashlib.sha256(json.dumps(chunks, sort_keys=True).encode()).hexdigest())
"""


def test_chunks_are_the_same_under_any_locale_and_hash_seed(turkish):
    text = (MARKDOWN + "İstanbul ışık I i ÅE\u0301 日本語。\r\n\xa0 tail\n") * 20
    outputs = set()
    for variables in (
        {**turkish, "PYTHONHASHSEED": "0"},
        {"LC_ALL": "C", "PYTHONHASHSEED": "1"},
    ):
        environment = {**os.environ, **variables}
        command = [sys.executable, "-c", PROGRAM]
        outputs.add(
            subprocess.run(
                command, input=text.encode(), env=environment, capture_output=True, check=True
            ).stdout
        )
    assert len(outputs) == 1


def test_a_hundred_runs_cut_alike():
    digests = {
        hashlib.sha256(
            json.dumps([c.to_dict() for c in cut(MARKDOWN * 3, "markdown", 60, 20)]).encode()
        ).hexdigest()
        for _ in range(100)
    }
    assert len(digests) == 1
