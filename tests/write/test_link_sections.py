"""Links of documents are stored with them, through edits, merges and compaction, and only if there are any."""

import numpy as np
import pytest

import ragfile
from ragfile import Document
from ragfile.ingest.document_links import label_of
from ragfile.records import Link

PAGES = {
    "a.md": "# A\n\n[b](b.md#part) [[C|see]] ![[D]]\n",
    "b.md": "---\naliases: [Bee]\nrelated: '[[C]]'\nup: ./a.md\n---\n[up](../x/a.md)\n",
    "sub/c.md": '<a href="../a.md">a</a>\n',
    "plain.txt": "[no](link.md)\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in PAGES.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "in"


def stored(path):
    """{id: [(kind, target, fragment, text)]} of all live documents, as the sections have them."""
    found = {}
    with ragfile.open(path) as rf:
        for segment in rf.rows.segments:
            for old in segment.live_documents():
                text = old.read().text
                told = []
                for link in old.links:
                    labels = link.fragment, link.text
                    if link.start >= 0 and not any(labels):
                        labels = label_of(text[link.start : link.end])
                    told.append((link.kind, link.target, *labels))
                found[old.id] = told
    return found


EXPECTED = {
    "a.md": [
        ("link", "b.md", "part", "b"), ("wikilink", "[[C", "", "see"), ("embed", "[[D", "", ""),
    ],
    "b.md": [
        ("link", "../x/a.md", "", "up"), ("related", "[[C", "", ""), ("up", "a.md", "", ""),
    ],
    "plain.txt": [],
    "sub/c.md": [("link", "a.md", "", "a")],
}  # fmt: skip


def sections(path, name="graph"):
    with ragfile.open(path) as rf:
        return [(e["segment"], e["items"]) for e in rf.file.entries if e["name"] == name]


def test_a_build_keeps_the_links_of_its_pages(folder, tmp_path):
    out = tmp_path / "kb.ragfile"
    ragfile.build(folder, out, embedder=None)
    assert stored(out) == EXPECTED
    assert sections(out) == [(1, 7)]
    assert ragfile.verify(out)[0] == []


def test_a_build_without_links_writes_no_section(tmp_path):
    out = tmp_path / "kb.ragfile"
    ragfile.build([Document("a.md", "no link"), Document("b", "[x](a.md)")], out, embedder=None)
    assert sections(out) == sections(out, "hypergraph") == []


def test_links_of_html_pages_have_their_text(tmp_path):
    (tmp_path / "p.html").write_text(
        "<p>x <a\nclass=q HREF='q.md#z'>the <b>q</b> page</a> <a name=y>y</a>"
    )
    out = tmp_path / "kb.ragfile"
    ragfile.build(tmp_path / "p.html", out, embedder=None)
    assert stored(out) == {"p.html": [("link", "q.md", "z", "the q page")]}


def test_several_processes_keep_the_same_links(folder, tmp_path):
    one, two = tmp_path / "1.ragfile", tmp_path / "2.ragfile"
    ragfile.build(folder, one, embedder=None)
    ragfile.build(folder, two, embedder=None, jobs=2)
    assert one.read_bytes() == two.read_bytes()


def test_compaction_gives_the_bytes_of_a_fresh_build(folder, tmp_path):
    out, fresh = tmp_path / "kb.ragfile", tmp_path / "fresh.ragfile"
    ragfile.build(folder, fresh, embedder=None)
    ragfile.build(folder, out, embedder=None)
    with ragfile.edit(out) as editor:
        editor.upsert([Document("z.md", "[a](a.md)")])
    with ragfile.edit(out) as editor:
        editor.delete(["z.md"])
    ragfile.compact(out, renumber=True)
    assert out.read_bytes() == fresh.read_bytes()


def test_links_of_small_commits_are_merged_with_their_segments(tmp_path):
    out = tmp_path / "kb.ragfile"
    with ragfile.create(out) as writer:
        writer.add_documents([Document("d00.md", "[n](d01.md)")])
    for i in range(1, 20):
        with ragfile.edit(out) as editor:
            editor.upsert([Document(f"d{i:02}.md", f"[n](d{i + 1:02}.md) [[alias|x]]")])
    found = stored(out)
    assert len(found) == 20
    assert found["d07.md"] == [("link", "d08.md", "", "n"), ("wikilink", "[[alias", "", "x")]
    assert len(sections(out)) < 10
    assert ragfile.verify(out)[0] == []


def test_a_document_that_is_read_and_written_again_has_the_links_of_its_new_text(folder, tmp_path):
    out = tmp_path / "kb.ragfile"
    ragfile.build(folder, out, embedder=None)
    with ragfile.open(out) as rf:
        document = rf.document("a.md")
    document.text = "[other](b.md)"
    document.links = [Link("sub/c.md", "cites", weight=0.5)]
    with ragfile.edit(out) as editor:
        editor.upsert([document])
    assert stored(out)["a.md"] == [("link", "b.md", "", "other"), ("cites", "sub/c.md", "", "")]
    with ragfile.open(out) as rf:
        assert rf.document("a.md").links == (Link("sub/c.md", "cites", weight=0.5),)
        assert rf.document("b.md").links == ()


def test_features_of_links_survive_edits_and_compaction(tmp_path):
    out = tmp_path / "kb.ragfile"
    links = [
        Link("b", "cites", weight=0.25, features=(1.5, -2.0)),
        Link("c", "cites"),
        Link("b", "is"),
    ]
    with ragfile.create(out) as writer:
        writer.add_documents([Document("a", "text", links=links), Document("b", "other")])
    for _ in range(2):
        with ragfile.open(out) as rf:
            assert rf.document("a").links == tuple(links)
            ((scope, bits, matrix),) = rf.rows.segments[0].stored_links("graph").features()
            assert (scope, bits) == (1, 32)
            np.testing.assert_array_equal(matrix, [[0.25, 1.5, -2.0], [np.nan] * 3])
        with ragfile.edit(out) as editor:
            editor.delete(["b"])
            editor.upsert([Document("b", "other")])
        ragfile.compact(out)


@pytest.mark.parametrize(("link", "what"), [
    (Link(""), "the target of a link of document 'a'"),
    (Link("b", "x" * 5000), "the kind of a link"),
    (Link("b", start=2, end=9), "is outside of its text: 2 to 9"),
])  # fmt: skip
def test_a_malformed_link_is_refused(tmp_path, link, what):
    with ragfile.create(tmp_path / "kb.ragfile") as writer:
        with pytest.raises(ValueError, match=what):
            writer.add_documents([Document("a", "text", links=[link])])
        writer.add_documents([Document("b", "text")])
