"""Vacuum beside writers: no object that a new generation lists is removed, wherever the two meet."""

import contextlib
import os
import shutil
import sys
import time

import pytest
from checks import vacuum_races

import ragfile
from ragfile import dataset
from ragfile.shards import dataset_commit, vacuum
from ragfile.shards.manifest import SHARDS, added_by, object_name
from ragfile.shards.stores import FolderStore

FULL = bool(os.environ.get("VACUUM_FULL"))
HASH = "0" * 64


class Stopping(FolderStore):
    """A folder that calls a function before one of its calls; each listed name counts as one."""

    def __init__(self, root, stop, then):
        super().__init__(root)
        self.left, self.then, self.calls = stop, then, 0

    def count(self):
        self.calls += 1
        if self.calls == self.left:
            self.then()

    def read(self, name):
        self.count()
        return super().read(name)

    def newest(self, prefix):
        self.count()
        return super().newest(prefix)

    def now(self):
        self.count()
        return super().now()

    def names(self, prefix=""):
        self.count()
        for found in super().names(prefix):
            yield found
            self.count()

    def delete(self, name):
        self.count()
        super().delete(name)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """Return a folder with a dataset whose second generation lacks d3.md, and sources that have it again."""
    folder = tmp_path_factory.mktemp("template")
    sources = folder / "sources"
    sources.mkdir()
    for number in range(6):
        (sources / f"d{number}.md").write_text(f"# Title {number}\n\nA pod on node {number}.\n")
        os.utime(sources / f"d{number}.md", (1_700_000_000, 1_700_000_000))
    text = (sources / "d3.md").read_text()
    dataset.build(sources, folder / "kb", shards=3)
    (sources / "d3.md").unlink()
    dataset.sync(folder / "kb", sources)
    (sources / "d3.md").write_text(text)
    os.utime(sources / "d3.md", (1_700_000_000, 1_700_000_000))
    (folder / "kb/shards" / f"{HASH}.ragfile").write_bytes(b"x")
    return folder


def age(kb):
    """Make every object of a dataset old."""
    for path in kb.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))


def swept(template, folder, stop, monkeypatch, change):
    """Vacuum a copy of the template and change it before the call number `stop`; return the number of calls."""
    shutil.copytree(template, folder)
    age(folder / "kb")
    store = Stopping(folder / "kb", stop, lambda: change(folder, template))
    with monkeypatch.context() as patch:
        patch.setattr(vacuum, "place", lambda path: store)
        dataset.vacuum(folder / "kb", keep=1, dry_run=False)
    return store.calls


def brought_back(folder, template):
    """Run a sync that brings back the content of generation 1."""
    dataset.sync(folder / "kb", template / "sources")


def twice(folder, template):
    """Bring d3.md back, then delete d1.md."""
    brought_back(folder, template)
    dataset.delete(folder / "kb", "d1.md")


@pytest.mark.parametrize("change", [brought_back, twice] if FULL else [brought_back])
def test_a_sync_in_each_gap_of_a_vacuum_keeps_all_of_its_objects(
    template, tmp_path, monkeypatch, change
):
    calls = swept(template, tmp_path / "all", 0, monkeypatch, change)
    assert not (tmp_path / "all/kb/shards" / f"{HASH}.ragfile").exists()
    for stop in range(1, calls + 1):
        folder = tmp_path / str(stop)
        swept(template, folder, stop, monkeypatch, change)
        assert ragfile.verify(folder / "kb")[0] == []
        with ragfile.open(folder / "kb") as rf:
            assert rf.search("node 3", mode="bm25")[0].doc_id == "d3.md"
        shutil.rmtree(folder)


def test_what_a_job_has_stored_for_the_next_generation_stays_at_any_age(template, tmp_path):
    shutil.copytree(template, tmp_path / "it")
    kb = tmp_path / "it/kb"
    mine, late = (kb / object_name(SHARDS, HASH, number) for number in (3, 2))
    mine.write_bytes(b"x")
    late.write_bytes(b"x")
    age(kb)
    dataset.vacuum(kb, dry_run=False)
    assert mine.exists()
    assert not late.exists()
    brought_back(tmp_path / "it", template)
    dataset.vacuum(kb, dry_run=False)
    assert not mine.exists()


def test_a_writer_that_slept_through_commits_and_a_vacuum_is_not_told_that_it_committed(
    template, tmp_path, monkeypatch
):
    """Its generation was taken and removed since: creating it again succeeds, and would be lost."""
    shutil.copytree(template, tmp_path / "it")
    kb, create = tmp_path / "it/kb", FolderStore.put_new

    def slow(store, name, data):
        monkeypatch.setattr(FolderStore, "put_new", create)
        for number in range(2):
            dataset.add(kb, documents=[{"id": f"other{number}", "text": "committed meanwhile"}])
        age(kb)
        dataset.vacuum(kb, keep=1, dry_run=False)
        return store.put_new(name, data)

    monkeypatch.setattr(FolderStore, "put_new", slow)
    with contextlib.suppress(ragfile.ConflictError):
        dataset.add(kb, documents=[{"id": "mine", "text": "acknowledged"}])
        with ragfile.open(kb) as rf:
            assert rf.document("mine") is not None
    with ragfile.open(kb) as rf:
        assert rf.generation == 4
        assert {"other0", "other1"} <= set(rf.document_ids())
    assert ragfile.verify(kb)[0] == []


def test_a_folder_without_a_manifest_is_not_vacuumed(tmp_path):
    """A build may be running there, and continue from what a killed one has left."""
    (tmp_path / "shards").mkdir()
    left = tmp_path / "shards" / f"{HASH}.ragfile"
    left.write_bytes(b"x")
    with pytest.raises(ragfile.FormatError, match="not a ragfile dataset"):
        dataset.vacuum(tmp_path, days=0, dry_run=False)
    assert left.exists()


def test_an_object_that_stays_keeps_its_name(template, tmp_path):
    shutil.copytree(template, tmp_path / "it")
    kb = tmp_path / "it/kb"
    brought_back(tmp_path / "it", template)
    one, two, three = (dataset_commit.read(FolderStore(kb), number).shards for number in (1, 2, 3))
    assert [shard.sha256 for shard in one] == [shard.sha256 for shard in three]
    assert {added_by(shard.path) for shard in one} == {1}
    assert sorted(added_by(shard.path) for shard in two) == [1, 1, 2]
    assert sorted(added_by(shard.path) for shard in three) == [1, 1, 3]


def test_a_name_of_a_generation_to_come_is_refused(template, tmp_path):
    shutil.copytree(template, tmp_path / "it")
    path = next((tmp_path / "it/kb/manifests").iterdir())
    raw = path.read_bytes()
    assert b"-2.ragfile" in raw
    for name in (b"-3", b"-1", b"-02", b"-0", b"-"):
        path.write_bytes(raw.replace(b"-2.ragfile", name + b".ragfile"))
        with pytest.raises(ragfile.CorruptError, match=r"an object of .* is named"):
            ragfile.open(tmp_path / "it/kb")


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_vacuum_and_a_sync_in_two_processes_lose_nothing():
    began = time.monotonic()
    assert vacuum_races.races("disk", 1, 2000, 0.0, int(began)) == 0
