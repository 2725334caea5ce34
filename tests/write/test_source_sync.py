"""sync and add: the file follows its folder, with as little work as the change asks for."""

import hashlib
import os
from contextlib import closing

import pytest
from write.test_editor import Letters

import ragfile
from ragfile import _core
from ragfile.embedding.protocol import Model
from ragfile.records import Segment


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs").mkdir()
    for name in "abc":
        (tmp_path / "docs" / f"{name}.md").write_text(
            f"# {name}\n\nThe text of {name}, " + f"{name} word. " * 30
        )
    return tmp_path / "docs"


@pytest.fixture
def path(tmp_path, folder):
    ragfile.build([folder], tmp_path / "kb.ragfile", embedder=Letters())
    return tmp_path / "kb.ragfile"


def ids(path):
    with ragfile.open(path) as rf:
        return sorted(document.id for document in rf.documents())


def state(path):
    with ragfile.open(path) as rf:
        return {d.id: (d.text, [rf.vector(rf.row(f"{d.id}#{i}")).tolist() for i in range(9) if rf.row(f"{d.id}#{i}") is not None])
                for d in rf.documents()}  # fmt: skip


def change(folder):
    (folder / "a.md").write_text("another text for a")
    (folder / "b.md").unlink()
    (folder / "sub").mkdir()
    (folder / "c.md").rename(folder / "sub" / "see.md")
    (folder / "new.md").write_text("something new")


def test_sync_makes_the_file_equal_to_the_folder(path, folder, tmp_path):
    change(folder)
    report = ragfile.sync(path, [folder], embedder=Letters(), message="monday")
    assert (report.added, report.changed, report.removed) == (["new.md"], ["a.md"], ["b.md"])
    assert report.moved == [("c.md", "sub/see.md")]
    assert report.embedded == 2
    assert [gone["id"] for gone in report.deletions] == ["b.md"]
    ragfile.build([folder], tmp_path / "fresh", embedder=Letters())
    assert state(path) == state(tmp_path / "fresh")
    ragfile.compact(path, renumber=True)
    assert path.read_bytes() == (tmp_path / "fresh").read_bytes()


def test_documents_that_are_read_anew_get_the_tags_and_metadata_of_the_build(folder, tmp_path):
    path, labels = tmp_path / "kb", {"tags": ["handbook"], "metadata": {"team": "ops"}}
    ragfile.build([folder], path, embedder="none", **labels)
    change(folder)
    ragfile.sync(path, [folder])
    with ragfile.open(path) as rf:
        assert rf.file.config["labels"] == labels
        assert len(
            rf.search("the text something", 50, tags_any=["handbook"], where={"team": "ops"})
        ) == len(rf)
    ragfile.build([folder], tmp_path / "fresh", embedder="none", **labels)
    ragfile.compact(path, renumber=True)
    assert path.read_bytes() == (tmp_path / "fresh").read_bytes()
    (folder / "a.md").write_text("a third text")
    ragfile.sync(path, [folder], tags=["other"])
    with ragfile.open(path) as rf:
        assert (rf.document("a.md").tags, rf.document("a.md").metadata["team"]) == (
            ("other",),
            "ops",
        )


def test_a_dry_run_tells_the_plan_and_writes_nothing(path, folder):
    before = path.read_bytes()
    change(folder)
    plan = ragfile.sync(path, [folder], dry_run=True)
    assert path.read_bytes() == before
    done = ragfile.sync(path, [folder], embedder=Letters())
    for name in ("added", "changed", "moved", "removed", "unchanged"):
        assert getattr(plan, name) == getattr(done, name)


def test_a_second_sync_commits_nothing_and_embeds_nothing(path, folder):
    embedder = Letters()
    for name in "abc":
        os.utime(folder / f"{name}.md", (1, 1))
    report = ragfile.sync(path, [folder], embedder=embedder)
    assert (report.is_empty, report.unchanged, report.generation, embedder.asked) == (
        True,
        3,
        1,
        [],
    )


def test_add_removes_nothing(path, folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "d.txt").write_text("one more")
    report = ragfile.add(path, [other], embedder=Letters(), tags=["late"], metadata={"year": 3})
    assert report.added == ["d.txt"]
    assert ids(path) == ["a.md", "b.md", "c.md", "d.txt"]
    with ragfile.open(path) as rf:
        assert [
            hit.doc_id
            for hit in rf.search("one", mode="bm25", where={"year": 3}, tags_any=["late"])
        ] == ["d.txt"]


@pytest.fixture
def manuals(tmp_path):
    """A second folder, with one name of the first."""
    (tmp_path / "manuals").mkdir()
    (tmp_path / "manuals" / "a.md").write_text("the manual of a")
    (tmp_path / "manuals" / "d.md").write_text("the manual of d")
    return tmp_path / "manuals"


@pytest.mark.parametrize("dry_run", [False, True])
def test_add_refuses_a_folder_whose_files_would_replace_documents(path, manuals, dry_run):
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"1 of these ids \(a.md\): pass replace=True .*prefix="):
        ragfile.add(path, manuals, dry_run=dry_run)
    assert path.read_bytes() == before


def test_a_prefix_keeps_the_documents_of_two_folders(path, folder, manuals):
    report = ragfile.add(path, manuals, prefix="manuals", embedder=Letters())
    assert report.added == ["manuals/a.md", "manuals/d.md"]
    assert ids(path) == ["a.md", "b.md", "c.md", "manuals/a.md", "manuals/d.md"]
    with ragfile.open(path) as rf:
        assert rf.document("manuals/a.md").source == "manuals/a.md"
    (manuals / "a.md").write_text("the new manual of a")
    with pytest.raises(ValueError, match=r"manuals/a\.md"):
        ragfile.add(path, manuals, prefix="manuals")
    again = ragfile.add(path, manuals, prefix="manuals", replace=True, embedder=Letters())
    assert (again.changed, again.added, again.unchanged) == (["manuals/a.md"], [], 1)
    ragfile.sync(path, [folder, manuals], embedder=Letters())
    assert ids(path) == sorted(["b.md", "c.md", "d.md", "manuals/a.md", f"{folder.name}/a.md"])


def test_add_replaces_changed_files_on_request(path, folder):
    (folder / "a.md").write_text("another text for a")
    assert ragfile.add(path, folder, replace=True, embedder=Letters()).changed == ["a.md"]
    assert ids(path) == ["a.md", "b.md", "c.md"]


@pytest.mark.parametrize("prefix", ["/", "..", "a//b", " ", "../up", "/abs"])
def test_a_prefix_is_the_name_of_a_folder(path, manuals, prefix):
    with pytest.raises(ValueError, match="not a folder's name"):
        ragfile.add(path, manuals, prefix=prefix)


def test_dedupe_leaves_out_what_is_there_already(path, folder):
    known = next(p for p in sorted(folder.rglob("*.md")))
    for name in ("copy.md", "other.md"):
        (folder / name).write_bytes(known.read_bytes())
    (folder / "new.md").write_text("# New\n\nNothing has these bytes.\n")
    (folder / "new2.md").write_text("# New\n\nNothing has these bytes.\n")
    before = ids(path)
    for way in (ragfile.add, ragfile.sync):
        report = way(path, folder, dedupe=True, embedder=Letters())
        first = str(known.relative_to(folder))
        assert {("copy.md", first), ("other.md", first), ("new2.md", "new.md")} <= set(
            report.duplicates
        )
        assert set(ids(path)) == {*before, "new.md"}
    known.unlink()
    assert ragfile.sync(path, folder, dedupe=True, embedder=Letters()).moved == [(first, "copy.md")]
    assert ragfile.add(path, folder, embedder=Letters()).added == ["new2.md", "other.md"]


def test_documents_that_were_sent_to_a_server_stay(path, folder):
    with ragfile.edit(path, embedder=Letters()) as w:
        sent = {"id": "sent.md", "text": "Sent.", "metadata": {"checksum": "c", "upload": "u"}}
        w.upsert([sent])
    assert ragfile.sync(path, folder).is_empty
    assert "sent.md" in ids(path)


def test_rows_of_a_table_that_are_gone_are_removed(tmp_path, folder):
    (folder / "t.jsonl").write_text('{"id": "x", "text": "one"}\n{"id": "y", "text": "two"}\n')
    ragfile.build([folder], tmp_path / "kb", embedder="none")
    before = ids(tmp_path / "kb")
    assert len(before) == 5
    (folder / "t.jsonl").write_text('{"id": "y", "text": "two"}\n{"id": "z", "text": "three"}\n')
    assert ragfile.sync(tmp_path / "kb", [folder]).changed == ["t.jsonl"]
    (folder / "t.jsonl").rename(folder / "u.jsonl")
    assert ragfile.sync(tmp_path / "kb", [folder]).moved == [("t.jsonl", "u.jsonl")]
    ragfile.build([folder], tmp_path / "fresh", embedder="none")
    assert ids(tmp_path / "kb") == ids(tmp_path / "fresh")


def test_a_file_that_cannot_be_read_keeps_its_documents(path, folder):
    (folder / "a.md").write_bytes("größer: ".encode() + b"\xff and so on")
    report = ragfile.sync(path, [folder], embedder=Letters())
    assert [failure.path for failure in report.failures] == [str(folder / "a.md")]
    assert "a.md" in ids(path)


def test_a_folder_that_cannot_be_listed_keeps_its_documents(path, folder, monkeypatch):
    (folder / "sub").mkdir()
    (folder / "sub" / "e.md").write_text("below")
    ragfile.sync(path, [folder], embedder=Letters())
    (folder / "a.md").unlink()
    listed = os.listdir

    def listdir(name):
        if str(name).endswith("sub"):
            raise PermissionError(13, "Permission denied", name)
        return listed(name)

    monkeypatch.setattr(os, "listdir", listdir)
    report = ragfile.sync(path, [folder], embedder=Letters())
    assert report.removed == ["a.md"]
    assert [failure.path for failure in report.failures] == [str(folder / "sub")]
    assert ids(path) == ["b.md", "c.md", "sub/e.md"]


def test_an_empty_folder_removes_nothing_by_mistake(path, folder):
    for name in "abc":
        (folder / f"{name}.md").unlink()
    with pytest.raises(ValueError, match="would remove all 3"):
        ragfile.sync(path, [folder], embedder=Letters())
    assert len(ids(path)) == 3


def test_documents_that_did_not_come_from_files_stay(path, folder):
    with ragfile.edit(path, embedder=Letters()) as w:
        w.upsert([{"id": "note", "text": "by hand"}])
    assert ragfile.sync(path, [folder], embedder=Letters()).is_empty
    assert "note" in ids(path)


def test_stale_documents_are_listed_cut_again_and_forgotten(path, folder):
    assert ragfile.stale(path) == {}
    with ragfile.edit(path, embedder=Letters(), chunking="characters:90/10") as w:
        w.upsert([{"id": "note", "text": "short " * 40}])
    assert sorted(ragfile.stale(path)) == ["a.md", "b.md", "c.md"]
    assert "cut by markdown:1000/200, not characters:90/10" in ragfile.stale(path)["a.md"]
    assert ragfile.sync(path, [folder], dry_run=True).recut == ["a.md", "b.md", "c.md"]
    with ragfile.edit(path) as w:
        w.delete(["b.md"])
    ragfile.compact(path)
    with ragfile.open(path) as rf:
        assert rf.info["stale"] == 2
    (folder / "b.md").unlink()
    report = ragfile.sync(path, [folder], embedder=Letters())
    assert report.recut == ["a.md", "c.md"]
    assert ragfile.stale(path) == {}
    with ragfile.open(path) as rf:
        assert "rag.stale" not in rf.file.strategies
        assert all(
            len(rf.chunk(row).content) <= 90
            for row in rf.live_rows().tolist()
            if rf.rows.segments[-1].base <= row
        )


def test_reindex_with_another_policy_gives_the_file_of_a_fresh_build(tmp_path):
    documents = [{"id": f"d{i}", "text": f"word{i} " * (i * 9)} for i in range(12)]
    for policy, name in (("words:20/5", "kb"), ("characters:77/7", "fresh")):
        with ragfile.create(tmp_path / name, embedder=Letters(), chunking=policy) as w:
            w.add_documents(documents)
    assert len(ragfile.stale(tmp_path / "kb", chunking="characters:77/7")) == 12
    told = ragfile.reindex(tmp_path / "kb", chunking="characters:77/7", embedder=Letters())
    assert told["recut"] == 12
    ragfile.compact(tmp_path / "kb", renumber=True)
    assert (tmp_path / "kb").read_bytes() == (tmp_path / "fresh").read_bytes()


class Vowels(Letters):
    """Another model, of other dimensions."""

    model = Model("vowels", 3)

    def embed(self, texts, role="document"):
        return super().embed(texts)[:, :3]


def test_another_model_is_refused_by_an_edit_and_taken_by_reindex(tmp_path):
    documents = [{"id": f"d{i}", "text": f"abc def {i} " * i} for i in range(9)]
    for embedder, name in ((Letters(), "kb"), (Vowels(), "fresh")):
        with ragfile.create(tmp_path / name, embedder=embedder) as w:
            w.add_documents(documents)
    with pytest.raises(ragfile.ModelError, match="letters, not vowels"):
        ragfile.edit(tmp_path / "kb", embedder=Vowels())
    assert len(ragfile.stale(tmp_path / "kb", embedder=Vowels())) == 8
    assert ragfile.reindex(tmp_path / "kb", embedder=Vowels()) == {"recut": 0, "embedded": 8}
    with ragfile.open(tmp_path / "kb", embedder=Vowels()) as rf:
        assert rf.search("abc", mode="vector")[0].text.startswith("abc")
    ragfile.compact(tmp_path / "kb", renumber=True)
    assert (tmp_path / "kb").read_bytes() == (tmp_path / "fresh").read_bytes()


def test_pages_survive_reindex(tmp_path):
    text = "page one. " * 20 + "\n\n" + "page two. " * 20
    pages = [Segment(0, 200, {"page": 1}), Segment(202, len(text), {"page": 2})]
    with ragfile.create(tmp_path / "kb") as w:
        w.add_documents([{"id": "d", "text": text, "segments": pages, "metadata": {"lang": "en"}}])
    ragfile.reindex(tmp_path / "kb", chunking="characters:60/0")
    with ragfile.open(tmp_path / "kb") as rf:
        chunks = [
            rf.chunk(row) for row in rf.live_rows().tolist() if row >= rf.rows.segments[-1].base
        ]
        assert {chunk.metadata["page"] for chunk in chunks} == {1, 2}
        assert all(
            ("one" in chunk.content) == (chunk.metadata["page"] == 1)
            for chunk in chunks
            if len(chunk.content) > 9
        )


def test_the_log_lists_commits_with_time_message_and_counts(path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    with ragfile.edit(path, embedder=Letters(), message="second") as w:
        w.upsert([{"id": "note", "text": "abc"}])
        w.delete(["a.md"])
    newest, first = ragfile.log(path)
    assert (newest["generation"], newest["created"], newest["message"]) == (
        2,
        86400 * 10**9,
        "second",
    )
    assert (newest["added"], newest["deleted"], newest["chunks"]) == (1, 1, 3)
    assert (first["generation"], first["added"], first["deleted"]) == (1, 3, 0)
    assert newest["size"] == path.stat().st_size
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    with ragfile.edit(path) as w:
        w.delete(["note"])
    assert ragfile.log(path)[0]["created"] > 10**18


def test_a_clock_that_goes_backwards_changes_nothing_but_the_log(path):
    for n, created in enumerate((5000, 400, 30), 2):
        with ragfile.edit(path, embedder=Letters(), created=created) as w:
            w.upsert([{"id": f"note{n}", "text": "abc"}])
    with ragfile.open(path, strict=True) as rf:
        assert (rf.generation, rf.info["created"], rf.document("note4").text) == (4, 30, "abc")
    assert [commit["created"] for commit in ragfile.log(path)] == [30, 400, 5000, 0]


def test_documents_are_deleted_by_checksum_and_by_filter(path, folder):
    with ragfile.open(path) as rf:
        checksum = rf.document("a.md").metadata["checksum"]
    with ragfile.edit(path) as w:
        assert w.delete(checksums=checksum) == ["a.md"]
        assert w.delete(where={"name": "b.md"}) == ["b.md"]
        assert w.delete(["a.md"], where={"name": {"$in": ["a.md", "b.md"]}}) == []
    assert [(gone["id"], gone["chunks"]) for gone in w.deletions] == [("a.md", 1), ("b.md", 1)]
    assert w.deletions[0]["checksum"] == checksum
    assert ids(path) == ["c.md"]


def test_an_edit_uses_the_model_that_the_file_records(tmp_path):
    ragfile.build([__file__], tmp_path / "kb", chunking="words:200/40")
    with ragfile.edit(tmp_path / "kb") as w:
        w.upsert([{"id": "d", "text": "vowels and consonants"}])
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.search("vowel", mode="vector", k=1)[0].doc_id == "d"


def test_chunks_with_and_without_vectors_never_mix(tmp_path):
    with ragfile.create(tmp_path / "with", embedder=Letters()) as w:
        w.add_documents([{"id": "d", "text": "abc"}])
    with pytest.raises(ragfile.ModelError, match="need some"), ragfile.edit(tmp_path / "with") as w:
        w.upsert([{"id": "e", "text": "abc"}])
    with ragfile.create(tmp_path / "without") as w:
        w.add_documents([{"id": "d", "text": "abc"}])
    with pytest.raises(ragfile.ModelError, match="without vectors"):
        ragfile.edit(tmp_path / "without", embedder=Letters())
    assert ragfile.reindex(tmp_path / "without", embedder=Letters()) == {"recut": 0, "embedded": 1}
    with ragfile.open(tmp_path / "without") as rf:
        assert rf.rows.has_vectors


def test_a_file_says_when_compaction_pays(tmp_path):
    with ragfile.create(tmp_path / "kb") as w:
        w.add_documents([{"id": f"d{i}", "text": os.urandom(6000).hex()} for i in range(40)])
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.info["compaction"] == ""
    with ragfile.edit(tmp_path / "kb") as w:
        w.delete([f"d{i}" for i in range(20)])
    with ragfile.open(tmp_path / "kb") as rf:
        assert "of the past" in rf.info["compaction"]
    ragfile.compact(tmp_path / "kb")
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.info["compaction"] == ""


def test_many_segments_are_a_reason_to_compact(tmp_path):
    with ragfile.create(tmp_path / "kb") as w:
        w.add_documents([{"id": "d", "text": os.urandom(1_000_000).hex()}])
    for number in range(32):
        with ragfile.open(tmp_path / "kb") as rf:
            assert rf.info["compaction"] == ""
        with ragfile.edit(tmp_path / "kb") as w:
            w.upsert([{"id": f"e{number}", "text": "one more"}])
        with closing(_core.FileWriter.edit(tmp_path / "kb")) as writer:
            writer.add("other.notes", b"", segment=number + 2)  # which no commit can merge
            writer.commit()
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.info["compaction"] == "the rows lie in 33 segments"


def test_a_deletion_tells_the_hash_of_the_text_that_is_gone(tmp_path):
    with ragfile.create(tmp_path / "kb") as w:
        w.add_documents([{"id": "d", "text": "Grüße"}])
    with ragfile.edit(tmp_path / "kb") as w:
        w.delete("d")
    sha256 = hashlib.sha256("Grüße".encode()).hexdigest()
    assert w.deletions == [
        {"id": "d", "source": "", "chunks": 1, "checksum": None, "sha256": sha256}
    ]


def test_a_file_that_was_emptied_still_knows_its_model(tmp_path):
    with ragfile.create(tmp_path / "kb", embedder="default") as w:
        w.add_documents([{"id": "d", "text": "old"}, {"id": "empty", "text": ""}])
    with ragfile.edit(tmp_path / "kb") as w:
        w.delete(["d"])
    with ragfile.edit(tmp_path / "kb") as w:
        w.upsert([{"id": "e", "text": "vowels and consonants"}])
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.search("vowel", mode="vector", k=1)[0].doc_id == "e"


# ------------------------------------------------------------------------------- nothing is lost ---


def test_a_document_written_by_hand_stays_until_it_is_deleted(path, folder):
    with ragfile.edit(path, embedder=Letters()) as w:
        w.upsert([{"id": "a.md", "text": "corrected by hand"}])
    (folder / "a.md").write_text("changed in the folder, too")
    for way in (ragfile.sync, ragfile.add):
        report = way(path, [folder], embedder=Letters())
        assert (report.kept, report.added, report.changed, report.removed) == (["a.md"], [], [], [])
        with ragfile.open(path) as rf:
            assert rf.document("a.md").text == "corrected by hand"
    with ragfile.edit(path, embedder=Letters()) as w:
        w.delete("a.md")
    report = ragfile.sync(path, [folder], embedder=Letters())
    assert (report.kept, report.added) == ([], ["a.md"])


def test_one_record_written_by_hand_stays_when_its_file_changes(path, folder):
    (folder / "n.jsonl").write_text('{"id": "x", "text": "one"}\n{"id": "y", "text": "two"}\n')
    ragfile.sync(path, [folder], embedder=Letters())
    with ragfile.edit(path, embedder=Letters()) as w:
        w.upsert([{"id": "n.jsonl#x", "text": "corrected by hand"}])
    (folder / "n.jsonl").write_text('{"id": "x", "text": "three"}\n{"id": "y", "text": "four"}\n')
    report = ragfile.sync(path, [folder], embedder=Letters())
    assert (report.kept, report.changed) == (["n.jsonl#x"], ["n.jsonl"])
    with ragfile.open(path) as rf:
        texts = [rf.document(f"n.jsonl#{name}").text for name in "xy"]
    assert texts == ["corrected by hand", "four"]


def test_a_folder_does_not_replace_what_was_uploaded(path, folder):
    with ragfile.edit(path, embedder=Letters()) as w:
        uploaded = {"id": "up.md", "text": "uploaded", "metadata": {"checksum": "x", "upload": "u"}}
        w.upsert([uploaded])
    (folder / "up.md").write_text("of the folder")
    assert ragfile.sync(path, [folder], embedder=Letters()).kept == ["up.md"]
    with ragfile.open(path) as rf:
        assert rf.document("up.md").text == "uploaded"


@pytest.fixture
def two(tmp_path, folder):
    """A file of two folders, each with three documents, and those folders."""
    other = tmp_path / "other"
    (other / "deep").mkdir(parents=True)
    for name in ("x", "y", "deep/z"):
        (other / f"{name}.md").write_text(f"the text of {name}")
    ragfile.build([folder, other], tmp_path / "kb2.ragfile", embedder=Letters())
    return tmp_path / "kb2.ragfile", folder, other


def test_an_emptied_folder_beside_another_removes_nothing(two, monkeypatch):
    path, folder, other = two
    other.rename(other.parent / "away")
    other.mkdir()  # as an unmounted file system leaves it
    with pytest.raises(ValueError, match=r"no file in .*other: sync would remove all 3 documents"):
        ragfile.sync(path, [folder, other], embedder=Letters())
    assert len(ids(path)) == 6


@pytest.mark.parametrize("call", range(1, 12))
def test_a_folder_that_disappears_half_way_removes_nothing(two, monkeypatch, call):
    """It disappears before each of the calls that look into it."""
    path, folder, other = two
    left = call

    def vanishing(real):
        def looked(path, *rest):
            nonlocal left
            if str(path).startswith(str(other)):
                left -= 1
                if left == 0:
                    other.rename(other.parent / "away")
            return real(path, *rest)

        return looked

    with monkeypatch.context() as patch:
        for name in ("listdir", "lstat", "stat"):
            patch.setattr(os, name, vanishing(getattr(os, name)))
        try:
            report = ragfile.sync(path, [folder, other], embedder=Letters())
        except (OSError, ValueError):
            report = None
    if report is not None and (other.parent / "away").exists():
        assert report.removed == []
        assert report.failures
    assert len(ids(path)) == 6


def test_a_deleted_file_beside_a_folder_that_cannot_be_listed_is_removed(two, monkeypatch):
    path, folder, other = two
    real = os.listdir
    (folder / "a.md").unlink()

    def listed(path):
        if str(path).endswith("deep"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "listdir", listed)
    report = ragfile.sync(path, [folder, other], embedder=Letters())
    assert report.removed == ["a.md"]
    assert "deep/z.md" in ids(path)


def test_a_folder_that_cannot_be_listed_keeps_nothing_of_another_folder(two, monkeypatch):
    """Both folders have one named deep; what was deleted from the first is removed."""
    path, folder, other = two
    (folder / "deep").mkdir()
    (folder / "deep" / "q.md").write_text("the text of q")
    ragfile.sync(path, [folder, other], embedder=Letters())
    (folder / "deep" / "q.md").unlink()
    real = os.listdir

    def listed(name):
        if str(name) == str(other / "deep"):
            raise PermissionError(13, "Permission denied")
        return real(name)

    monkeypatch.setattr(os, "listdir", listed)
    report = ragfile.sync(path, [folder, other], embedder=Letters())
    assert report.removed == ["deep/q.md"]
    assert "deep/z.md" in ids(path)
