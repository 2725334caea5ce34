"""Links resolved, backlinks, ways and walks: against slow readings of the same links, over any history."""

import collections
import itertools
import random
import xml.etree.ElementTree as ET
from fractions import Fraction

import pytest

import ragfile
from ragfile import Document, dataset
from ragfile.graph.document_graph import UNIT

NOTES = {
    "Home.md": "---\naliases: [Start]\n---\n# Home\n\n[[Alpha]] [[sub/Beta|the beta]] [[missing]] [text](sub/Beta.md#part)",
    "Alpha.md": "# Alpha\n\n![[Home#^block]] [up](/Home.md) [site](/docs/sub/beta/) [out](../other.md)",
    "sub/Beta.md": "[[start]] [home](../Home.md) [folder](../guide/)",
    "sub/deep/Alpha.md": "[own](Alpha.md) [[Beta]]",
    "guide/index.md": "# Guide\n\nAlpha is explained here.",
    "lonely.md": "# Lonely\n\n[web](https://example.org) [self](#part)",
}


@pytest.fixture
def notes(tmp_path):
    path = tmp_path / "notes.ragfile"
    documents = [
        Document(name, text, metadata={"aliases": ["Start"]} if "Start" in text else {})
        for name, text in NOTES.items()
    ]
    ragfile.build(documents, path, embedder=None)
    with ragfile.open(path) as rf:
        yield rf


def ends(links):
    return [(link.target, link.document) for link in links]


def test_links_lead_to_documents_by_id_path_name_and_alias(notes):
    assert ends(notes.links("Home.md")) == [
        ("[[Alpha", "Alpha.md"), ("[[sub/Beta", "sub/Beta.md"), ("[[missing", None),
        ("sub/Beta.md", "sub/Beta.md"),
    ]  # fmt: skip
    assert ends(notes.links("Alpha.md")) == [
        ("[[Home", "Home.md"), ("/Home.md", "Home.md"), ("/docs/sub/beta", None), ("../other.md", None),
    ]  # fmt: skip
    assert ends(notes.links("sub/Beta.md")) == [
        ("[[start", "Home.md"), ("Home.md", "Home.md"), ("guide", "guide/index.md"),
    ]  # fmt: skip
    assert ends(notes.links("sub/deep/Alpha.md")) == [
        ("sub/deep/Alpha.md", "sub/deep/Alpha.md"), ("[[Beta", "sub/Beta.md"),
    ]  # fmt: skip


def test_a_link_has_its_text_fragment_and_place(notes):
    link = notes.links("Home.md")[3]
    assert (link.kind, link.fragment, link.text, link.source) == ("link", "part", "text", "Home.md")
    assert notes.document("Home.md").text[link.start : link.end] == "[text](sub/Beta.md#part)"
    embed = notes.links("Alpha.md")[0]
    assert (embed.kind, embed.fragment) == ("embed", "^block")


def test_backlinks_are_the_links_of_all_documents_that_lead_there(notes):
    links = [link for name in sorted(NOTES) for link in notes.links(name)]
    for name in NOTES:
        assert notes.backlinks(name) == [link for link in links if link.document == name]
    assert list(notes.graph.edges()) == links


def test_broken_links_and_orphans(notes):
    assert [(one.source, one.target) for one in notes.broken_links()] == [
        ("Alpha.md", "/docs/sub/beta"), ("Home.md", "[[missing"),
    ]  # fmt: skip
    assert notes.graph.orphans() == ["lonely.md"]


def test_a_document_that_is_added_mends_the_links_to_it(tmp_path):
    path = tmp_path / "kb.ragfile"
    ragfile.build([Document("a.md", "[b](b.md)")], path, embedder=None)
    with ragfile.open(path) as rf:
        assert [one.document for one in rf.links("a.md")] == [None]
        with ragfile.edit(path) as editor:
            editor.upsert([Document("b.md", "text")])
        rf.refresh()
        assert [one.document for one in rf.links("a.md")] == ["b.md"]
        assert [one.source for one in rf.backlinks("b.md")] == ["a.md"]
        with ragfile.edit(path) as editor:
            editor.delete(["a.md"])
        rf.refresh()
        assert rf.backlinks("b.md") == []


def test_an_unknown_document_is_named(notes):
    for ask in (notes.links, notes.backlinks, notes.graph.neighbours, notes.graph.mentions):
        with pytest.raises(KeyError, match=r"no document 'nope\.md'"):
            ask("nope.md")


def test_passages_that_name_a_document_without_a_link(notes):
    assert [hit.doc_id for hit in notes.graph.mentions("Alpha.md")] == ["guide/index.md"]


# ---------------------------------------------------------------------------------- against oracles


def made(tmp_path, seed, count=24):
    """A file of random links after random edits, and the links by document."""
    rng, path = random.Random(seed), tmp_path / f"{seed}.ragfile"
    names = [f"d{i:02}.md" for i in range(count)]

    def text():
        return " ".join(f"[x]({rng.choice([*names, 'gone.md'])})" for _ in range(rng.randrange(4)))

    links = {name: text() for name in names}
    ragfile.build([Document(n, t) for n, t in links.items()], path, embedder=None)
    for _ in range(3):
        changed = rng.sample(names, 4)
        with ragfile.edit(path) as editor:
            for name in changed:
                links[name] = text()
                editor.upsert([Document(name, links[name])])
            if (gone := rng.choice(names)) not in changed and links.pop(gone, None) is not None:
                editor.delete([gone])
    heads = {n: [t[4:-1] for t in text.split() if t[4:-1] in links] for n, text in links.items()}
    return path, heads


def distances(heads, start, directed):
    """Distances of a breadth-first search, over a dict of lists."""
    joined = collections.defaultdict(set)
    for name, targets in heads.items():
        for target in targets:
            joined[name].add(target)
            if not directed:
                joined[target].add(name)
    found, front = {start: 0}, [start]
    while front:
        new = sorted({t for name in front for t in joined[name]} - found.keys())
        found |= dict.fromkeys(new, found[front[0]] + 1)
        front = new
    return found, joined


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("directed", [False, True])
def test_neighbours_and_ways_are_those_of_a_plain_search(tmp_path, seed, directed):
    path, heads = made(tmp_path, seed)
    with ragfile.open(path) as rf:
        for start in sorted(heads)[:6]:
            found, joined = distances(heads, start, directed)
            near = sorted((d, name) for name, d in found.items() if 0 < d <= 2)
            told = rf.graph.neighbours(start, depth=2, directed=directed)
            assert [(one.distance, one.document) for one in told.documents] == near
            assert not told.is_truncated
            cut = rf.graph.neighbours(start, depth=2, limit=1, directed=directed)
            assert (cut.documents, cut.is_truncated) == (told.documents[:1], len(near) > 1)
            for end in heads:
                way = rf.graph.path(start, end, directed=directed)
                if end not in found:
                    assert way is None
                    continue
                assert (way[0], way[-1], len(way)) == (start, end, found[end] + 1)
                assert all(b in joined[a] for a, b in itertools.pairwise(way))


@pytest.mark.parametrize("seed", range(3))
def test_ranks_are_those_of_whole_numbers_added_up_one_by_one(tmp_path, seed):
    path, heads = made(tmp_path, seed)
    seeds = sorted(heads)[:3]
    share = int(0.85 * 65536)
    start = {name: UNIT // 3 if name in seeds else 0 for name in heads}
    mass = dict(start)
    for _ in range(7):
        following = {name: one * (65536 - share) >> 16 for name, one in start.items()}
        for name, targets in heads.items():
            for target in targets:
                following[target] += (mass[name] * share >> 16) // len(targets)
        mass = following
    total = sum(mass.values())
    expected = sorted(
        ((Fraction(one, total), name) for name, one in mass.items() if one),
        key=lambda p: (-p[0], p[1]),
    )
    with ragfile.open(path) as rf:
        told = rf.graph.rank(seeds, steps=7, limit=99)
        assert [name for name, _ in told] == [name for _, name in expected]
        assert [value for _, value in told] == [float(value) for value, _ in expected]
        ragfile.compact(path)
        rf.refresh()
        assert rf.graph.rank(seeds, steps=7, limit=99) == told


def test_layers_and_datasets_answer_as_one_file(tmp_path):
    pages = {"a.md": "[b](b.md) [c](c.md)", "b.md": "[[a]]", "c.md": "[no](nope.md)"}
    whole, low, high = (tmp_path / f"{n}.ragfile" for n in ("whole", "low", "high"))
    ragfile.build([Document(n, t) for n, t in pages.items()], whole, embedder=None)
    old = {**pages, "b.md": "[c](c.md)"}
    ragfile.build([Document(n, old[n]) for n in ("b.md", "c.md")], low, embedder=None)
    ragfile.build([Document(n, pages[n]) for n in ("a.md", "b.md")], high, embedder=None)
    folder = tmp_path / "in"
    folder.mkdir()
    for name, text in pages.items():
        (folder / name).write_text(text)
    ragfile.dataset.build(folder, tmp_path / "set", embedder=None, shards=2)
    with ragfile.open(whole) as rf:
        edges = [(e.source, e.document) for e in rf.graph.edges()]
        ranks = rf.graph.rank()
    for other in ([low, high], tmp_path / "set"):
        with ragfile.open(other) as rf:
            assert [(e.source, e.document) for e in rf.graph.edges()] == edges
            assert rf.graph.rank() == ranks
            assert [e.source for e in rf.backlinks("a.md")] == ["b.md"]


# -------------------------------------------------------------------------------- edges of one's own


def test_a_build_brings_edges_sets_and_features(tmp_path):
    path = tmp_path / "kb.ragfile"
    documents = [Document(name, "text") for name in "abc"]
    ragfile.build(
        documents, path, embedder=None,
        edges=[("a", "b"), ("a", "c", "cites"), {"source": "b", "target": "gone", "weight": 2, "features": [0.5]}],
        hyperedges=[{"key": "team", "members": ["a", "c"], "weight": 3.0}, {"key": "x", "members": ["b"], "kind": "k"}],
        node_features={"c": [1, 2]},
    )  # fmt: skip
    for _ in range(2):
        with ragfile.open(path) as rf:
            found = [(e.source, e.target, e.kind, e.weight, e.features) for e in rf.graph.edges()]
            assert found == [
                ("a", "b", "link", 1.0, ()), ("a", "c", "cites", 1.0, ()), ("b", "gone", "link", 2.0, (0.5,)),
            ]  # fmt: skip
            assert rf.graph.hyperedges() == [
                ("x", "k", ["b"], 1.0, ()),
                ("team", "set", ["a", "c"], 3.0, ()),
            ]
            assert [rf.graph.features(name) for name in "abc"] == [(), (), (1.0, 2.0)]
            assert [n.document for n in rf.graph.neighbours("a", kinds=["cites"]).documents] == [
                "c"
            ]
        with ragfile.edit(path) as editor:
            editor.upsert([Document("d", "more")])
        ragfile.compact(path)
    assert ragfile.verify(path)[0] == []


def test_edges_of_no_document_of_the_build_are_refused(tmp_path):
    with pytest.raises(ValueError, match="links of 'z', and the build has no such document"):
        ragfile.build(
            [Document("a", "x")], tmp_path / "kb.ragfile", embedder=None, edges=[("z", "a")]
        )
    assert not (tmp_path / "kb.ragfile").exists()
    with pytest.raises(TypeError, match="an edge does not know head"):
        ragfile.build(
            [Document("a", "x")], tmp_path / "kb.ragfile", edges=[{"source": "a", "head": "b"}]
        )


# ------------------------------------------------------------------------------------------- tables


def test_graphml_has_all_documents_and_links_that_lead_somewhere(notes, tmp_path):
    notes.graph.to_graphml(tmp_path / "g.xml")
    root = ET.parse(tmp_path / "g.xml").getroot()
    name = "{http://graphml.graphdrawing.org/xmlns}"
    assert sorted(n.get("id") for n in root.iter(f"{name}node")) == sorted(NOTES)
    told = [(e.get("source"), e.get("target")) for e in root.iter(f"{name}edge")]
    assert told == [(e.source, e.document) for e in notes.graph.edges() if e.document]


def test_arrow_has_a_row_for_each_link(notes, tmp_path):
    pytest.importorskip("pyarrow")
    table = notes.graph.to_arrow()
    assert table.column("document").to_pylist() == [e.document for e in notes.graph.edges()]
    notes.graph.to_parquet(tmp_path / "links.parquet")
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(tmp_path / "links.parquet").equals(table)
    assert table.column("source").to_pylist() == [e.source for e in notes.graph.edges()]


def test_networkx_reads_the_graphml(tmp_path):
    networkx = pytest.importorskip("networkx")
    odd = 'a "b" <c> & d\n\ufffe\u0007é'
    documents = [Document("x", "x"), Document("y & <z>", "y"), Document("lonely", "z")]
    given = [
        {"source": "x", "target": "y & <z>", "kind": odd, "weight": 0.1},
        ("x", "y & <z>"),
        ("y & <z>", "gone"),
    ]
    ragfile.build(documents, tmp_path / "kb.ragfile", embedder=None, edges=given)
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        rf.graph.to_graphml(tmp_path / "g.xml")
        own = rf.graph.to_networkx()
    read = networkx.read_graphml(tmp_path / "g.xml")
    assert read.is_directed()
    assert read.is_multigraph()
    assert sorted(read.nodes) == sorted(own.nodes) == ["lonely", "x", "y & <z>"]
    assert sorted((*ends, float(w)) for *ends, w in read.edges(data="weight")) == sorted(
        own.edges(data="weight")
    )
    assert {kind for *_, kind in read.edges(data="kind")} == {
        "link", 'a "b" <c> & d\n\ufffd\ufffdé',
    }  # fmt: skip


def test_edges_of_networkx_and_arrow_are_read(tmp_path):
    networkx, pa = pytest.importorskip("networkx"), pytest.importorskip("pyarrow")
    graph = networkx.DiGraph()
    graph.add_edge("a", "b", kind="cites", weight=2.0)
    graph.add_edge("b", "a")
    table = pa.table(
        {
            "source": ["a", "b"],
            "target": ["b", "a"],
            "kind": ["cites", "link"],
            "weight": [2.0, 1.0],
        }
    )
    for edges in (graph.edges(data=True), table):
        path = tmp_path / "kb.ragfile"
        ragfile.build([Document("a", "x"), Document("b", "y")], path, embedder=None, edges=edges)
        with ragfile.open(path) as rf:
            assert [(e.source, e.target, e.kind, e.weight) for e in rf.graph.edges()] == [
                ("a", "b", "cites", 2.0), ("b", "a", "link", 1.0),
            ]  # fmt: skip


def test_networkx_has_the_same_edges(notes):
    pytest.importorskip("networkx")
    graph = notes.graph.to_networkx()
    assert sorted(graph.nodes) == sorted(NOTES)
    assert sorted(graph.edges()) == sorted(
        (e.source, e.document) for e in notes.graph.edges() if e.document
    )


@pytest.mark.parametrize("kind", ["file", "dataset"])
def test_a_sync_keeps_what_the_build_was_given(tmp_path, kind):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("---\nnext: b.md\n---\n[to b](b.md)\n")
    (folder / "b.md").write_text("text")
    (folder / "c.html").write_text('<a href="a.md">a</a> <p>text</p>')
    path = tmp_path / "kb.ragfile"
    given = {
        "edges": [("a.md", "c.html"), ("a.md", "b.md", "cites"), {"source": "c.html", "target": "b.md", "weight": 2}],
        "hyperedges": [{"key": "team", "members": ["a.md", "b.md"]}],
        "node_features": {"a.md": [1.0, 2.0]},
    }  # fmt: skip
    ragfile.build(folder, path, embedder=None, **given)
    if kind == "dataset":
        dataset.convert(path, tmp_path / "set", shards=2)
        path = tmp_path / "set"
    (folder / "a.md").write_text("---\nprevious: b.md\n---\n[to c](c.html) more\n")
    (folder / "c.html").write_text("<p>no link</p>")
    (dataset if kind == "dataset" else ragfile).sync(path, folder)
    with ragfile.open(path) as rf:
        found = [(link.kind, link.target, link.start >= 0) for link in rf.links("a.md")]
        assert sorted(found) == [
            ("cites", "b.md", False), ("link", "c.html", False), ("link", "c.html", True), ("previous", "b.md", False),
        ]  # fmt: skip
        assert [(one.target, one.weight) for one in rf.links("c.html")] == [("b.md", 2.0)]
        assert rf.graph.features("a.md") == (1.0, 2.0)
        assert [(one.key, sorted(one.members)) for one in rf.graph.hyperedges()] == [
            ("team", ["a.md", "b.md"])
        ]
