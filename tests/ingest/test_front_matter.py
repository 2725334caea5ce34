"""Front matter is metadata: it filters, it tags, it is in no chunk, and what is not front matter stays text."""

import json

import pytest
import yaml
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import ragfile
from ragfile.ingest.chunker import split
from ragfile.ingest.document_loader import load
from ragfile.ingest.loaders import front_matter

PAGE = """---
title: "Rotating keys"
tags: [security, Keys, 2024]
year: 2024
draft: false
lang: no
date: 2024-05-01
ratio: .5
nothing:
authors:
  - ann
  - {name: bob, role: editor}
path: /etc/passwd
created_at: 2001-02-03
---

# First steps

Rotate them.

## Next

Rotate them again.
"""


def loaded(folder, text, name="page.md"):
    (folder / name).write_bytes(text.encode())
    return load(folder / name)[0]


def test_what_front_matter_says_is_metadata_and_its_tags_are_tags(tmp_path):
    document = loaded(tmp_path, PAGE)
    said = {
        "title": "Rotating keys", "tags": ["security", "Keys", 2024], "year": 2024, "draft": False, "lang": "no", "date": "2024-05-01",
        "ratio": 0.5, "nothing": None, "authors": ["ann", {"name": "bob", "role": "editor"}], "created_at": "2001-02-03",
    }  # fmt: skip
    assert {name: document.metadata[name] for name in said} == said
    assert document.metadata["path"] == "page.md"
    assert document.tags == ("security", "Keys", "2024")


@pytest.mark.parametrize("policy", ["markdown", "characters:60/10", "words:8/2", "sentences:60/0"])
def test_no_chunk_has_front_matter_and_every_span_is_exact(tmp_path, policy):
    document = loaded(tmp_path, PAGE)
    assert document.text == PAGE.rstrip("\n") + "\n"
    chunks = split(document, policy)
    assert "security" not in "".join(chunk.content for chunk in chunks)
    assert "Rotate them again." in chunks[-1].content
    assert all(document.text[chunk.start : chunk.end] == chunk.content for chunk in chunks)
    if policy == "markdown":
        headers = ["Rotating keys > First steps"]  # and what is next, which is as short
        assert [chunk.metadata["headers"] for chunk in chunks] == headers


def test_a_file_filters_by_it_and_keeps_it_through_edits(tmp_path):
    (tmp_path / "docs").mkdir()
    for year in (2019, 2024):
        (tmp_path / "docs" / f"{year}.md").write_text(PAGE.replace("2024", str(year)))
    path = tmp_path / "kb"
    ragfile.build([tmp_path / "docs"], path, tags=["all"])
    for _ in range(2):
        with ragfile.open(path) as rf:
            for mode in ("bm25", "vector", "hybrid"):
                hits = rf.search(
                    "rotate",
                    mode=mode,
                    where={"year": {"$gte": 2020}, "authors": {"$contains": "ann"}},
                )
                assert {hit.doc_id for hit in hits} == {"2024.md"}
            assert {hit.doc_id for hit in rf.search("rotate", tags_all=["2019", "all"])} == {
                "2019.md"
            }
            assert rf.search("security editor", mode="bm25") == []
            assert all(document.text.startswith("---\ntitle") for document in rf.documents())
        ragfile.reindex(path, chunking="characters:50/0")
        ragfile.compact(path)
    with ragfile.open(path) as rf:
        assert rf.file.config["chunking"]["kind"] == "characters"


@pytest.mark.parametrize(
    "block",
    [
        "just a line", "- a\n- list", "a: *b", "a: &b 1\nc: *b", "a: !!python/object:os.system x", "a: !!int '3'", "!!map {a: 1}", "a: [1",
        "a: {b: 1", "? [a]\n: 1", "a: b: c", "\ta: 1", "a: " + "[" * 40 + "]" * 40, "a: 'x", "%TAG ! x\na: 1", "a: \x01",
        "x: " + "y" * 70_000, 'a: "\\UFFFFFFFF"', 'a: "\\U00110000"', 'a: "\\ud83d"', '"\\ude00": 1', "%YAML 1." + "9" * 5000 + "\n--- {}",
    ],
    ids=lambda block: repr(block)[:30],
)  # fmt: skip
def test_what_is_no_front_matter_stays_text(tmp_path, block):
    document = loaded(tmp_path, f"---\n{block}\n---\n\nBody.\n")
    assert document.body == 0 or "\x01" in block  # controls go before anything is parsed
    assert set(document.metadata) <= {
        "path",
        "name",
        "folder_id",
        "mime",
        "created_at",
        "file_id",
        "checksum",
        "a",
    }
    if not document.body:
        assert "".join(
            chunk.content for chunk in split(document, "characters:100000/0")
        ).startswith("---\n")


def test_a_bomb_of_aliases_is_text_and_costs_nothing():
    layers = [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]" for i in range(1, 40)]
    assert front_matter("---\nl0: &l0 lol\n" + "\n".join(layers) + "\n---\n") == ({}, (), 0)
    assert front_matter("---\na: " + "[" * 60_000 + "\n---\n") == ({}, (), 0)
    assert front_matter("---\n" + "{a: " * 15_000 + "\n---\n") == ({}, (), 0)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("1", 1), ("-7", -7), ("+0012", 12), ("1.5e3", 1500.0), ("1e999", "1e999"), (".inf", ".inf"), (".nan", ".nan"), ("0x1F", "0x1F"),
        ("1_000", "1_000"), ("12:30:45", "12:30:45"), ("yes", "yes"), ("off", "off"), ("True", True), ("~", None), ("null", None),
        ("'1'", "1"), ('"a\\u00e9\\n"', "aé\n"), ('"\\ud83d\\ude00 \\ufeff"', "😀 \ufeff"), ("2024-01-01", "2024-01-01"), ("|\n  a\n  b", "a\nb\n"), (">-\n  a\n  b", "a b"),
        ("9" * 301, "9" * 301), ("!!str 5", "5"), ("{}", {}), ("[]", []), ("# none", None),
    ],
)  # fmt: skip
def test_values_are_those_of_the_core_schema(line, value):
    found, _, body = front_matter(f"---\nkey: {line}\n---\nx")
    assert (found, type(found["key"])) == ({"key": value}, type(value))
    assert body > 0


def test_keys_are_what_is_written_and_the_last_of_equal_ones_counts():
    assert front_matter("---\non: 1\n2024: 2\nno: 3\non: 4\n---")[0] == {
        "on": 4,
        "2024": 2,
        "no": 3,
    }


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        ("a, b,, a ", ("a", "b")), ("one", ("one",)), ("[a, 1, 1.5, true, null, [x], ' ']", ("a", "1", "1.5")), ("{a: b}", ()), ("7", ()),
        ("\n- x\n- y z", ("x", "y z")),
    ],
)  # fmt: skip
def test_tags_are_a_list_or_a_text_with_commas(value, tags):
    assert front_matter(f"---\ntags: {value}\n---\n")[1] == tags


def test_an_empty_block_and_one_that_ends_in_dots_are_front_matter():
    assert front_matter("---\n---\nx") == ({}, (), 7)
    assert front_matter("---\na: 1\n...\nx") == ({"a": 1}, (), 12)
    assert front_matter("---\na: 1\n") == ({}, (), 0)
    assert front_matter("\n---\na: 1\n---\n") == ({}, (), 0)


def test_only_markdown_has_it(tmp_path):
    document = loaded(tmp_path, PAGE, "page.txt")
    assert (document.body, document.tags) == (0, ())


ESCAPES = st.sampled_from(
    ["\\x", "\\u", "\\U", "\\ud800", "\\udc00", "\\UFFFFFFFF", "\\U0010FFFF"]
).map('"{}"'.format)
PIECES = st.text(alphabet="ab:-[]{}&*!|>'\"#%@\n \t,?1.~\\", max_size=60)


@given(st.lists(PIECES | ESCAPES | st.just("\n"), max_size=6).map("".join))
def test_whatever_stands_between_the_lines_is_read_or_left_alone(block):
    found, tags, body = front_matter(f"---\n{block}\n---\n")
    assert isinstance(found, dict)
    assert all(isinstance(tag, str) for tag in tags)
    assert 0 <= body <= len(block) + 9
    assert json.loads(json.dumps(found, ensure_ascii=False, allow_nan=False).encode()) == found


PIECES = [
    "a: b", "- ", "- x\n", "'", '"', "|", "|\n  t\n", ">-\n  t\n", "\\u0041", "\\x", "\\ud83d\\ude00", "# c",
    "{", "}", "[", "]", ",", ": ", "? ", "!", "!!str ", "&a ", "*a", "\t", "\n", "  ", "%YAML 1.1", "...", "é",
    "null", "1.5", "@", "key:", "k: 'v'\n", "<<: ", "😀", ":", "title: A page\ntags: [a, b]\n",
]  # fmt: skip


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML was built without its reader in C")
@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_what_is_read_does_not_depend_on_how_pyyaml_was_built(text):
    both = []
    for reader in (yaml.CSafeLoader, yaml.SafeLoader):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(yaml, "CSafeLoader", reader)
            both.append(front_matter(f"---\n{text}\n---\n"))
    assert repr(both[0]) == repr(both[1])
