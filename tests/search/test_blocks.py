"""Blocks of a passage: exact, whole, and with what a reader needs to understand them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragfile
from ragfile.search.blocks import LONGEST, blocks, shortened, shown
from ragfile.search.question_terms import plain_terms

GUIDE = """\
# Ports

The services listen here.

| service | port |
|---|---|
| ssh | 22 |
| dns | 53 |

To restart one, run:

```sh
systemctl restart *one*
```

Some notes
over two lines:

- Apples are **red**.
- Bananas are yellow,
  and `<b>` is a tag.

---
<!-- nothing -->
[a]: https://example.org
* Last.
"""


def texts(text, **metadata):
    return [(block.kind, block.text(text)) for block in blocks(text, metadata)]


def test_a_guide_is_cut_into_whole_blocks():
    head = "| service | port |\n|---|---|\n"
    assert texts(GUIDE) == [
        ("text", "The services listen here."),
        ("row", head + "| ssh | 22 |"),
        ("row", head + "| dns | 53 |"),
        ("code", "To restart one, run:\n\n```sh\nsystemctl restart *one*\n```"),
        (
            "text",
            "Some notes\nover two lines:\n\n- Apples are **red**.\n"
            "- Bananas are yellow,\n  and `<b>` is a tag.",
        ),
        ("item", "* Last."),
    ]


def test_headings_and_the_sentence_above_are_the_context_of_a_block():
    found = blocks("# Fruit\n\nBuy ripe ones.\n\n- Apples.\n", {})
    assert [block.context for block in found] == [["Fruit"], ["Fruit", "Buy ripe ones."]]


def test_rows_of_tables_and_source_code_are_one_block_as_they_are():
    row, code = "name: **x**\nnote: - a\n\n# b", "def f():\n\n    return '``` *a*'"
    assert texts(row, row=3) == [("row", row)]
    assert texts(code, symbol="f") == [("code", code)]
    (block,) = blocks(code, {"symbol": "f"})
    assert shown(block, code, {"symbol": "f"}) == f"````\n{code}\n````"
    (block,) = blocks(row, {"row": 3})
    assert shown(block, row, {"row": 3}) == row


def test_text_is_shown_without_markup_and_its_lines_joined():
    (block,) = blocks("Rotate **all\nkeys** now:\n\n- one\n  two\n- `<b>`", {})
    assert shown(block, "Rotate **all\nkeys** now:\n\n- one\n  two\n- `<b>`", {}) == (
        "Rotate all keys now:\n- one two\n- `<b>`"
    )


def test_text_of_formats_without_markup_is_shown_as_it_is():
    text = "Pass **kwargs** and\n_names_ <b>on</b> &amp; on."
    (block,) = blocks(text, {})
    assert shown(block, text, {"mime": "application/pdf"}) == text.replace("\n", " ")


def test_a_long_text_is_shown_in_part_around_the_best_sentence():
    text = (
        " ".join(f"Sentence {i} is about nothing." for i in range(60)) + " Keys rotate daily. End."
    )
    (block,) = blocks(text, {})
    part = shortened(block, text, plain_terms("when do keys rotate?")).text(text)
    assert len(part) <= LONGEST
    assert "Keys rotate daily." in part
    assert part in text
    assert part.startswith("Sentence")


@given(st.text(st.sampled_from("ab. :\n`~*_[](){}<>%!|#->&;1"), max_size=120))
def test_blocks_are_in_order_inside_the_text_and_disjoint_except_for_headers(text):
    last = 0
    for block in blocks(text, {}):
        assert block.text(text)
        assert all(0 <= start <= end <= len(text) for start, end in block.spans)
        assert block.spans[-1].start >= last
        last = block.spans[-1].end
        shown(block, text, {})


# ------------------------------------------------------------------------------- as `ask` shows them ---

PLANETS = """\
name,moons,day
Mercury,0,1408 hours
Venus,0,5832 hours
Earth,1,24 hours
Mars,2,25 hours
"Jupiter, the giant",95,10 hours
"""
PORTS = """\
# Network

## Ports

| service | port | protocol |
|---|---|---|
| ssh | 22 | TCP |
| dns | 53 | UDP |
| web | 443 | TCP |

## Markup

The tag `<b>` makes text bold, `<i>` makes it *italic*, and **kwargs is Python.

## Restart

To restart the name server, run:

```sh
systemctl restart named --now
```
"""
PLACES = """\
def lighthouse_height():
    return 41  # metres


def harbour_depth():
    return 9  # metres
"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("facts")
    files = {"planets.csv": PLANETS, "network.md": PORTS, "places.py": PLACES}
    (folder / "src").mkdir()
    for name, text in files.items():
        (folder / "src" / name).write_text(text)
    ragfile.build(folder / "src", folder / "kb")
    with ragfile.open(folder / "kb") as rf:
        yield rf


@pytest.mark.parametrize(("question", "first"), [
    ("how many moons has Mars?", "name: Mars\nmoons: 2\nday: 25 hours"),
    ("how long is a day on Venus?", "name: Venus\nmoons: 0\nday: 5832 hours"),
    ("moons of Jupiter the giant", "name: Jupiter, the giant\nmoons: 95\nday: 10 hours"),
    ("which port does dns use?", "| service | port | protocol |\n|---|---|---|\n| dns | 53 | UDP |"),
    ("which tag makes text bold?",
     "The tag `<b>` makes text bold, `<i>` makes it italic, and **kwargs is Python."),
    ("how do I restart the name server?",
     "To restart the name server, run:\n\n```sh\nsystemctl restart named --now\n```"),
    ("harbour depth", f"```\n{PLACES.strip()}\n```"),
])  # fmt: skip
def test_the_first_block_of_an_answer_is_the_whole_place_that_has_the_fact(asked, question, first):
    answer = asked.ask(question)
    block = answer.text[: answer.citations[0].at].strip()
    assert block == first
    cited = [c for c in answer.citations if c.at == answer.citations[0].at]
    for citation in cited:
        document = asked.document(citation.doc_id)
        assert document.text[citation.start : citation.end] == citation.text
    words = iter(re.findall(r"\w+", " ".join(c.text for c in cited)))
    assert all(word in words for word in re.findall(r"\w+", block))


def test_without_an_index_of_words_the_best_block_is_chosen_by_the_questions_stems(tmp_path):
    with ragfile.create(tmp_path / "kb", analysis=None, embedder="default") as w:
        w.add_documents([{"id": "a", "text": PORTS}])
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.ask("which port does dns use?").text.startswith("| service | port | protocol |")


def test_a_questions_terms_weigh_by_their_rarity_without_words_that_claim_nothing(asked):
    terms = asked.search("how many hours has a day on Venus?").asked.terms
    assert terms.weights.keys() == {"hour", "day", "venus"}
    assert terms.weights["venus"] > terms.weights["hour"]
    assert terms.held("Venus: 5832 hours") == {"venus", "hour"}
    german = asked.search("Wie viele Monde hat der Mars?").asked.terms
    assert set(german.words.values()) == {"Monde", "Mars"}


@pytest.mark.parametrize("lead", ["You need:", "A sentence is listed if", "Each has"])
def test_a_paragraph_that_does_not_end_leads_into_its_list(lead):
    text = f"{lead}\n\n- one\n- two\n"
    assert [block.text(text) for block in blocks(text, {})] == [text.strip()]
    ended = "You need two.\n\n- one\n- two\n"
    assert len(blocks(ended, {})) == 3


METHOD = "def drain(self, node):\n        if node:\n            return 1\n\n        return 2"
CLOSED = "drain(node) {\n    return 1;\n  }"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (METHOD, "def drain(self, node):\n    if node:\n        return 1\n\n    return 2"),
        (CLOSED, "drain(node) {\n  return 1;\n}"),
        ("def drain(node):\n    return 1", "def drain(node):\n    return 1"),
        ("int drain(void) {\n    return 1;\n}", "int drain(void) {\n    return 1;\n}"),
        ("x = 1", "x = 1"),
        ("x = 1\n y = 2", "x = 1\n y = 2"),
    ],
)
def test_lines_of_code_are_aligned_with_the_first(code, expected):
    metadata = {"mime": "text/x-python", "symbol": "drain"}
    (block,) = blocks(code, metadata)
    assert shown(block, code, metadata) == f"```\n{expected}\n```"
