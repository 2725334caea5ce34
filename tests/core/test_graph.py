"""Sections of links: what is written is read, by the core as by the slow reader; and links in Markdown."""

import contextlib
import sys

import hypothesis.strategies as st
import numpy as np
import pytest
from effort import examples
from hypothesis import example, given, settings
from places import ROOT

from ragfile import _core
from ragfile.errors import FormatError
from ragfile.ingest import document_links
from ragfile.records import Document

sys.path.insert(0, str(ROOT / "spec"))
import reader

DOCUMENTS = 5


def written(edges, names=(), features=(), documents=DOCUMENTS):
    """The bytes of a section of edges (document, kind, target, place, fragment, text)."""
    texts = {t for _, kind, target, _, *labels in edges for t in (kind, target, *labels)}
    strings = sorted(one.encode() for one in {*texts, *(name for name, _ in names)} - {None})
    number = {raw.decode(): i for i, raw in enumerate(strings)} | {None: _core.NO_STRING}
    kinds = sorted({number[kind] for _, kind, *_ in edges})
    rows = [
        (document, kinds.index(number[kind]), number[target], *(place or (_core.NO_PLACE, 0)),
         *(number[label] for label in labels))
        for document, kind, target, place, *labels in edges
    ]  # fmt: skip
    out = bytearray()
    columns = np.array(rows, np.uint32).reshape(-1, 7)
    named = np.array(sorted((number[n], d) for n, d in names), np.uint32).reshape(-1, 2)
    _core.write_links(
        documents, strings, np.array(kinds, np.uint32), named, columns, list(features), out.extend
    )
    return bytes(out)


def read(raw, documents=DOCUMENTS):
    """What the core reads, as the slow reader says it."""
    stored = _core.StoredLinks(_core.Section.over(raw), documents)
    strings, kinds = stored.strings(), stored.kinds()
    edges = []
    for document, kind, target, start, size, *labels in stored.edges().tolist():
        place = [None, None] if start == _core.NO_PLACE else [start, size]
        shown = [None if one == _core.NO_STRING else strings[one] for one in labels]
        edges.append([document, kinds[kind], strings[target], *place, *shown])
    return {"kinds": kinds, "names": [list(one) for one in stored.names()], "edges": edges}


def read_slowly(raw, items, documents=DOCUMENTS):
    found = reader.links(raw, 0, items, documents)
    return {name: found[name] for name in ("kinds", "names", "edges")}


WORD = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9)
PLACE = st.none() | st.tuples(st.integers(0, 1 << 31), st.integers(0, 1 << 30))
EDGE = st.tuples(
    st.integers(0, DOCUMENTS - 1), st.sampled_from(["link", "cites", "é"]), WORD, PLACE,
    st.none() | WORD, st.none() | WORD,
)  # fmt: skip
EDGES = st.lists(EDGE, max_size=30).map(
    lambda found: sorted(found, key=lambda e: (e[0], e[3] is None, e[3] or (0, 0)))
)
NAMES = st.lists(st.tuples(WORD, st.integers(0, DOCUMENTS - 1)), max_size=5, unique=True)


@given(EDGES, NAMES)
def test_both_readers_find_what_was_written(edges, names):
    raw = written(edges, names)
    found = read(raw)
    assert found["edges"] == [
        [document, kind, target, *(place or (None, None)), *labels]
        for document, kind, target, place, *labels in edges
    ]
    assert sorted(map(tuple, found["names"])) == sorted(names)
    assert found == read_slowly(raw, len(edges))


SOME = [
    (0, "link", "b.md", (3, 9), None, None), (0, "cites", "c", (40, 2), "part", "a text"),
    (2, "link", "b.md", None, None, "again"), (4, "link", "gone", None, None, None),
]  # fmt: skip


@settings(max_examples=examples(300))
@given(st.data())
def test_damaged_bytes_are_refused_by_both_readers_or_read_alike(data):
    raw = bytearray(written(SOME, [("alias", 2)], [(0, np.ones((5, 2), np.float16))]))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    raw = bytes(raw[: data.draw(st.just(len(raw)) | st.integers(0, len(raw)))])
    try:
        expected = read_slowly(raw, reader.number(raw, 24) if len(raw) >= 32 else 0)
    except reader.Refused:
        with pytest.raises(FormatError):
            read(raw)
    else:
        assert read(raw) == expected


@given(st.binary(max_size=200))
@example(b"RAGLINK1" + b"\xff" * 44 + bytes(12))
def test_any_bytes_are_refused_or_read(body):
    for raw in (body, b"RAGLINK1" + body):
        with contextlib.suppress(FormatError):
            assert set(read(raw)) == {"kinds", "names", "edges"}


def test_a_frame_that_claims_to_hold_far_more_than_it_has_is_refused():
    raw = bytearray(written([SOME[-1]] * 200))
    assert raw[8:16] != raw[16:24]  # it is a frame
    raw[8:16] = (1 << 31).to_bytes(8, "little")
    with pytest.raises(FormatError, match="impossible size"):
        read(bytes(raw))


@pytest.mark.parametrize(
    "edges", [[(5, "link", "b", None, None, None)], [(1, "link", "b", None, None, None), (0, "link", "b", None, None, None)]]
)  # fmt: skip
def test_edges_out_of_range_or_order_cannot_be_written(edges):
    with pytest.raises(ValueError, match="an edge out of order"):
        written(edges)


def test_a_matrix_has_a_row_for_each_edge_of_its_kind():
    rows = np.array([[1, 0.5], [2, np.nan], [3, 4]], np.float32)
    raw = written(SOME, features=[(3, rows)])
    ((scope, bits, found),) = _core.StoredLinks(_core.Section.over(raw), DOCUMENTS).features()
    assert (scope, bits) == (3, 32)
    np.testing.assert_array_equal(found, rows)
    with pytest.raises(ValueError, match="another number of rows"):
        written(SOME, features=[(3, rows[:2])])


@given(st.lists(st.integers(0, 9), max_size=60), st.integers(0, 8))
def test_backward_lists_have_the_edges_to_each_node_in_order(heads, count):
    starts, order = _core.reversed_lists(np.array(heads, np.uint32), count)
    for node in range(count):
        found = order[int(starts[node]) : int(starts[node + 1])].tolist()
        assert found == [i for i, head in enumerate(heads) if head == node]


# ------------------------------------------------------------------------------------ links in text

INLINE, WIKI, EMBED, REFERENCE = range(4)


def links(text):
    return [(kind, target, shown) for kind, _, _, target, shown in _core.markdown_links(text)]


@pytest.mark.parametrize(("text", "expected"), [
    ("[a](b.md)", [(INLINE, "b.md", "a")]),
    ("[a *b*](<b c.md> 'title')", [(INLINE, "b c.md", "a *b*")]),
    ("[a](b(1).md \"t (x)\")", [(INLINE, "b(1).md", "a")]),
    ("[[Note]] [[Note#Part|shown]]", [(WIKI, "Note", ""), (WIKI, "Note#Part", "shown")]),
    ("![[Note#^block]]", [(EMBED, "Note#^block", "")]),
    ("| [[a\\|b]] |", [(WIKI, "a", "b")]),
    ("![image](i.png) [![i](j.png)](k.md)", [(INLINE, "k.md", "![i](j.png)")]),
    ("<a class='x' href=\"b.html\">the b</a>", [(INLINE, "b.html", "the b")]),
    ("[a][Ref] [ref][] [REF] [other]\n\n[ref]: b.md 'T'\n",
     [(REFERENCE, "b.md", "a"), (REFERENCE, "b.md", "ref"), (REFERENCE, "b.md", "REF")]),
    ("[a]({{< ref \"b\" >}}) [c](<{{< ref \"d\" >}}>)",
     [(INLINE, '{{< ref "b" >}}', "a"), (INLINE, '{{< ref "d" >}}', "c")]),
    ('<a href="{{< ref "b#c" >}}">d</a>', [(INLINE, '{{< ref "b#c" >}}', "d")]),
    ("`[a](b)` ``[[a]] ` `` \\[a](b) <!-- [a](b) -->", []),
    ("```\n[a](b)\n```\n~~~~ x\n[[a]]\n~~~\n~~~~\n[c](d)", [(INLINE, "d", "c")]),
    ("[a]( b.md )", [(INLINE, "b.md", "a")]),
    ("[a\n\nb](c)", []), ("[[a\nb]]", []), ("[a](b c)", []), ("[]()", [(INLINE, "", "")]),
    ("[a [b](c) d](e)", [(INLINE, "c", "b")]),
    ("x [^1] y\n\n[^1]: note [a](b)", [(INLINE, "b", "a")]),
])  # fmt: skip
def test_links_of_markdown(text, expected):
    assert links(text) == expected


MARKDOWN = st.text(st.sampled_from("[]()<>!`\\|#:ab \n~é{}\"'^-=/."), max_size=60)
PARTS = st.lists(
    st.sampled_from(["[a](b)", "[[n|t]]", "![[e]]", "[", "]", "(", ")", "`", "```", "\n", "\n\n", "\\",
                     "<a href=x>", "</a>", "[r]", "[r]: t.md\n", "<!--", "-->", " ", "é", "!", "{{< ref \"p\" >}}"]),
    max_size=14,
).map("".join)  # fmt: skip


@settings(max_examples=examples(400))
@given(MARKDOWN | PARTS)
@example("[[[n|t]]\\[a](b)")
def test_links_are_in_order_and_each_is_a_span_of_its_text(text):
    end = 0
    for kind, start, stop, target, shown in _core.markdown_links(text):
        assert end <= start < stop <= len(text)
        assert shown in text[start:stop]
        assert kind == REFERENCE or target in text[start:stop]
        end = stop


@settings(max_examples=examples(400))
@given(MARKDOWN | PARTS)
@example("[a](b#c) ![[e#^f|g]]")
def test_a_place_tells_the_fragment_and_the_text_that_are_not_stored(text):
    for link in document_links.links_of(Document("d.md", text)):
        if link.start >= 0 and not (link.fragment or link.text):
            kind, _, _, raw, shown = next(
                one for one in _core.markdown_links(text) if one[1] == link.start
            )
            _, fragment = document_links.target_of(raw, "d.md", kind in (1, 2))
            found = document_links.label_of(text[link.start : link.end])
            assert found == (fragment, " ".join(shown.split()))


@pytest.mark.parametrize("piece", [
    "[", "]", "[[", "](", "[a](", "`", "`a", "<a ", "<a href=x>", "<!--", "[a]: b\n", "[a][", "\\", "```\n", "[a](b \"",
    "[a](((((", "[[a|", "<", "~~~\n", "[a](\n", "{{<", "[a]({{", "<a {{", "<a {{}}",
])  # fmt: skip
def test_a_pattern_that_repeats_costs_as_much_as_its_length(piece):
    """Steps are bounded for each byte, so this ends; a walk that is not linear would take hours."""
    text = piece * (400_000 // len(piece))
    for link in _core.markdown_links(text):
        assert link[1] < link[2]
