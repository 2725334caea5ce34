"""A vault of notes as a person keeps one in Obsidian: its links, blocks, embeds, aliases, orphans and mentions."""

import shutil

import pytest

import ragfile

VAULT = {
    "Home.md": "# Home\n\nStart at [[Projects/Garden|the garden]], then [[Bees]].\n\n![[Garden#Beds]]\n",
    "Projects/Garden.md": "---\naliases: [Allotment, \"Plot 7\"]\nup: \"[[Home]]\"\nrelated:\n  - \"[[Bees]]\"\n"
    "---\n# Garden\n\n## Beds\n\nThree beds of beans. ^beds\n\nSee [[Bees#^swarm]] and ![[plan.png]].\n",
    "Bees.md": "# Bees\n\nThey swarm in May. ^swarm\n\n- [ ] ask about the [[allotment]]\n- [[Missing note]]\n",
    "Daily/2026-05-01.md": "Sowed beans in the garden. Read [Bees](../Bees.md#swarm).\n\n> [!note] [[plot 7#^beds]]\n",
    "Daily/2026-05-02.md": "The allotment was wet, and the bees stayed in.\n\n`[[Bees]]` is how to link.\n",
    "Archive/Garden.md": "# Old garden\n\nGiven up.\n",
    "Templates/Daily.md": "# {{date}}\n\nNothing yet.\n",
    ".obsidian/app.json": "{}",
}  # fmt: skip


@pytest.fixture
def vault(tmp_path):
    for name, text in VAULT.items():
        path = tmp_path / "vault" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "vault"


@pytest.fixture
def rf(vault, tmp_path):
    ragfile.build(vault, tmp_path / "vault.ragfile", embedder=None)
    with ragfile.open(tmp_path / "vault.ragfile") as found:
        yield found


def told(links):
    return [(link.kind, link.document or link.target, link.fragment, link.text) for link in links]


def test_links_lead_where_obsidian_leads(rf):
    garden = "Projects/Garden.md"
    assert told(rf.links("Home.md")) == [
        ("wikilink", garden, "", "the garden"),
        ("wikilink", "Bees.md", "", ""),
        (
            "embed",
            "Archive/Garden.md",
            "Beds",
            "",
        ),  # of two at one depth, the first by its path
    ]
    assert {(link.kind, link.document, link.fragment) for link in rf.links(garden)} == {
        ("wikilink", "Bees.md", "^swarm"),
        ("up", "Home.md", ""),
        ("related", "Bees.md", ""),
    }
    assert {(link.document, link.fragment) for link in rf.links("Daily/2026-05-01.md")} == {
        ("Bees.md", "swarm"),
        (garden, "^beds"),
    }
    assert rf.links("Daily/2026-05-02.md") == []


def test_backlinks_blocks_and_broken_links(rf):
    sources = [(link.source, link.fragment) for link in rf.backlinks("Bees.md")]
    assert sources == [
        ("Daily/2026-05-01.md", "swarm"), ("Home.md", ""), ("Projects/Garden.md", "^swarm"),
        ("Projects/Garden.md", ""),
    ]  # fmt: skip
    aliased = [link.source for link in rf.backlinks("Projects/Garden.md")]
    assert aliased == ["Bees.md", "Daily/2026-05-01.md", "Home.md"]
    assert [(link.source, link.target) for link in rf.broken_links()] == [
        ("Bees.md", "[[Missing note")
    ]


def test_orphans_and_unlinked_mentions(rf):
    assert rf.graph.orphans() == ["Daily/2026-05-02.md", "Templates/Daily.md"]
    assert [hit.doc_id for hit in rf.graph.mentions("Projects/Garden.md")] == [
        "Archive/Garden.md",
        "Daily/2026-05-02.md",
    ]
    assert [hit.doc_id for hit in rf.graph.mentions("Bees.md")] == ["Daily/2026-05-02.md"]


def test_a_new_note_mends_a_link_and_a_moved_one_keeps_its_name(vault, rf, tmp_path):
    (vault / "Missing note.md").write_text("# Found\n")
    shutil.move(vault / "Bees.md", vault / "Projects/Bees.md")
    ragfile.sync(rf.path, vault)
    with ragfile.open(rf.path) as now:
        assert [link.target for link in now.broken_links()] == [
            "Bees.md"
        ]  # a path, from the daily note
        sources = {link.source for link in now.backlinks("Projects/Bees.md")}
        assert sources == {"Home.md", "Projects/Garden.md"}
        assert now.graph.path("Daily/2026-05-01.md", "Home.md") == [
            "Daily/2026-05-01.md",
            "Projects/Garden.md",
            "Home.md",
        ]
