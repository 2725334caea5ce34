"""Bundles of the Open Knowledge Format: they are recognised, come back byte for byte, and their lists are not ranked."""

from datetime import date

import pytest

import ragfile
from ragfile import dataset
from ragfile.exchange.folder_diff import folder_diff
from ragfile.ingest.bundle_rules import broken_rules
from ragfile.ingest.bundles import is_bundle
from ragfile.records import standing_of

ORDERS = """\
---
type: BigQuery Table
stale_after: 2026-09-23
verified: { by: human:ann, at: 2026-06-25T09:00:00Z }
sources:
  - { id: schema, title: Export schema, resource: /policies/export.md }
---

# Schema\x20\x20

One row per order.\x20
"""
FILES = {
    "index.md": '---\nokf_version: "0.2"\n---\n\n# Acme\n\n- [orders](/tables/orders.md), one row per order\n',
    "log.md": "# History\n\n## 2026-07-01\n\n* **Update**: one row per order\n\n## 2026-05-02\n",
    "tables/index.md": "# Tables\n\n* [orders](orders.md)\n",
    "tables/orders.md": ORDERS,
    "attesters/sql.py": "def attest(receipt):\n    return True\n",
    "viz.html": "<html><body><p>orders   by day</p></body></html>",
    "logo.bin": "\0\1logo",
}


@pytest.fixture
def bundle(tmp_path):
    return written(tmp_path / "bundle", FILES)


def written(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


def tree(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("build", [ragfile.build, dataset.build], ids=["file", "dataset"])
def test_a_bundle_comes_back_and_its_lists_are_not_ranked(bundle, tmp_path, build):
    out = tmp_path / ("kb.ragfile" if build is ragfile.build else "kb")
    build(bundle, out, embedder=None)
    with ragfile.open(out) as rf:
        found = {hit.doc_id for hit in rf.search("orders row history tables attest", k=50)}
        assert found == {"tables/orders.md", "attesters/sql.py", "viz.html"}
        assert "orders" in rf.document("index.md").text
    assert ragfile.unpack(out, tmp_path / "copy").unrestored == []
    assert tree(tmp_path / "copy") == tree(bundle)


def test_a_sync_and_a_new_chunk_policy_leave_the_lists_unranked(bundle, tmp_path):
    out = tmp_path / "kb.ragfile"
    ragfile.build(bundle, out, embedder=None)
    (bundle / "log.md").write_text(FILES["log.md"] + "\n* a zebra\n")
    (bundle / "tables" / "log.md").write_text("# Log\n\n## 2026-01-01\n\n* a zebra\n")
    (bundle / "map.html").write_text("<p>zoo   map</p>")
    ragfile.sync(out, bundle)
    ragfile.reindex(out, chunking="words:20/0")
    with ragfile.open(out) as rf:
        assert not rf.search("zebra")
        assert "zebra" in rf.document("log.md").text
    assert ragfile.unpack(out, tmp_path / "copy").unrestored == []
    assert tree(tmp_path / "copy") == tree(bundle)


def test_links_of_an_index_are_kept(bundle, tmp_path):
    ragfile.build(bundle, tmp_path / "kb.ragfile", embedder=None)
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert {link.source for link in rf.backlinks("tables/orders.md")} == {
            "index.md", "tables/index.md",
        }  # fmt: skip


def test_only_a_folder_that_declares_a_version_is_a_bundle(bundle, tmp_path):
    assert is_bundle(bundle)
    assert is_bundle([str(bundle)])
    assert not is_bundle([bundle, tmp_path])
    assert not is_bundle(bundle / "tables")
    (bundle / "index.md").write_text("# Acme\n")
    assert not is_bundle(bundle)
    ragfile.build(bundle, tmp_path / "kb.ragfile", embedder=None)
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert "index.md" in {hit.doc_id for hit in rf.search("acme")}


def test_broken_rules_name_the_file(bundle):
    broken = {
        "tables/bare.md": "no front matter\n",
        "tables/untyped.md": "---\ntitle: x\n---\ny\n",
        "tables/empty.md": "---\ntype: ' '\n---\ny\n",
        "tables/index.md": "---\ntype: x\n---\n* [orders](orders.md)\n",
        "tables/log.md": "# Log\n\n## May 2026\n\n## 2026-01-01\n\n## 2026-02-01\n",
    }
    written(bundle, broken)
    documents = [
        ragfile.Document(name, text, metadata={"path": name})
        for name, text in {**FILES, **broken}.items()
    ]
    assert [(one.path, one.rule) for one in broken_rules(documents)] == [
        ("tables/bare.md", "it needs front matter"),
        ("tables/empty.md", "its front matter needs a type"),
        ("tables/index.md", "an index below the root has no front matter"),
        ("tables/index.md", "an index groups its entries under headings"),
        ("tables/log.md", "the heading 'May 2026' of a log is a date, such as 2026-05-22"),
        ("tables/log.md", "the newest entries of a log come first"),
        ("tables/untyped.md", "its front matter needs a type"),
    ]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"stale_after": "2026-09-23"}, ["stale since 2026-09-23", "unverified"]),
        ({"stale_after": "2026-09-23T00:00:00Z"}, ["stale since 2026-09-23", "unverified"]),
        ({"stale_after": "2026-09-24"}, ["unverified"]),
        ({"stale_after": "soon", "status": "draft"}, ["draft", "unverified"]),
        ({"verified": {"by": "human:ann"}}, ["human-reviewed"]),
        ({"verified": [{"by": "process:n"}, {"by": "human:a"}]}, ["human-reviewed"]),
        ({"verified": [{"by": "process:n"}], "status": "deprecated"}, ["deprecated", "machine-confirmed"]),
        ({"verified": True}, ["unverified"]),
        ({"status": "draft"}, []),
        ({"type": 7, "stale_after": "2026-01-01"}, []),
    ],
)  # fmt: skip
def test_front_matter_tells_currency_and_trust(fields, words):
    assert standing_of({"type": "Metric", **fields}, date(2026, 9, 23)) == ", ".join(words)


def test_the_prompt_marks_a_passage_that_tells_its_trust(bundle, tmp_path):
    class Model:
        def chat(self, messages):
            self.messages = messages
            return ["One row [1]."]

    ragfile.build(bundle, tmp_path / "kb.ragfile", embedder=None)
    model = Model()
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        answer = rf.ask("one row per what?", model=model)
    assert answer.sources[0].standing.endswith("human-reviewed")
    prompt = "\n".join(message["content"] for message in model.messages)
    assert f'standing: "{answer.sources[0].standing}"' in prompt
    assert "say so" in prompt


def test_a_diff_lists_files_and_their_lines(bundle, tmp_path):
    out = tmp_path / "kb.ragfile"
    ragfile.build(bundle, out, embedder=None, keep="all")
    (bundle / "tables" / "orders.md").write_text(ORDERS.replace("order.", "line."))
    (bundle / "viz.html").write_text("<p>other</p>")
    (bundle / "log.md").unlink()
    (bundle / "new.md").write_text("---\ntype: x\n---\nnew")
    ragfile.sync(out, bundle)
    with ragfile.open(out, generation=1) as old, ragfile.open(out) as new:
        changes = folder_diff(old.documents(), new.documents())
        assert folder_diff(new.documents(), new.documents()) == []
    assert [(one.path, one.how) for one in changes] == [
        ("log.md", "removed"), ("new.md", "added"), ("tables/orders.md", "changed"), ("viz.html", "changed"),
    ]  # fmt: skip
    assert list(changes[1].patch()) == [
        "--- /dev/null", "+++ b/new.md", "@@ -0,0 +1,4 @@", "+---", "+type: x", "+---", "+new",
        "\\ No newline at end of file",
    ]  # fmt: skip
    assert list(changes[2].patch())[-2:] == ["-One row per order. ", "+One row per line. "]
