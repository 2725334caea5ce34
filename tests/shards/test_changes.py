"""Datasets that change: whatever the history, the answers are the bits of a fresh build; writers that race lose nothing."""

import itertools
import os
import random
import shutil
import threading
import time
from dataclasses import replace

import pytest
from shards import collections

import ragfile
from ragfile import dataset
from ragfile.errors import ConflictError
from ragfile.shards import dataset_commit, manifest, stores
from ragfile.shards.history import log
from ragfile.write.builder import PAGES

QUESTIONS, told = collections.QUESTIONS, collections.told
MODES = ["hybrid", "vector", "bm25"]


def documents(numbers, seed=1):
    rng = random.Random(seed)
    return {
        f"d{n:03}": {
            "id": f"d{n:03}", "text": collections.text(rng, n), "metadata": {"year": 2000 + n % 9},
            "tags": (f"t{n % 3}",),
        }
        for n in numbers
    }  # fmt: skip


def built(folder, kept, shards=3, **options):
    """A dataset of documents in memory: a page to begin with, which goes, and then the documents."""
    source = folder.parent / f"{folder.name}.seed"
    source.mkdir()
    for number in range(shards):
        (source / f"d{number * 30:03}.md").write_text("seed")
    dataset.build(source, folder, shards=shards, **options)
    dataset.add(folder, documents=kept.values(), created=0)
    dataset.delete(folder, [f"d{number * 30:03}.md" for number in range(shards)], created=0)
    return folder


@pytest.fixture
def same(tmp_path):
    """Says whether a dataset answers as one file that is built at once."""
    count = iter(range(1000))

    def check(folder, kept):
        path = tmp_path / f"one-{next(count)}.ragfile"
        with ragfile.create(path, embedder="default", chunking="markdown", analysis=PAGES) as w:
            w.add_documents(kept.values())
        with ragfile.open(path) as one, ragfile.open(folder) as rf:
            assert rf.document_ids() == sorted(kept)
            for fusion in (None, "rrf", "blend"):
                for where in (None, {"year": {"$gte": 2004}}):
                    mine = rf.search_batch(QUESTIONS, 6, fusion=fusion, where=where)
                    theirs = one.search_batch(QUESTIONS, 6, fusion=fusion, where=where)
                    assert [told(hits) for hits in mine] == [told(hits) for hits in theirs]

    return check


@pytest.mark.parametrize("seed", range(4))
def test_random_histories_give_the_bits_of_a_fresh_build(tmp_path, same, seed):
    rng, kept = random.Random(seed), documents(range(0, 40, 2))
    by = ["range", "hash"][seed % 2]
    folder = built(tmp_path / "kb", kept, by=by)
    same(folder, kept)
    for step in range(6):
        kind = rng.choice(["add", "change", "delete", "where", "compact"])
        if kind in ("add", "change"):
            numbers = rng.sample(range(60), 5)
            new = documents(numbers, seed=100 * seed + step)
            dataset.add(folder, documents=new.values())
            kept |= new
        elif kind == "delete" and kept:
            gone = rng.sample(sorted(kept), min(4, len(kept) - 1))
            assert sorted(dataset.delete(folder, [*gone, "nobody"])) == sorted(gone)
            kept = {name: one for name, one in kept.items() if name not in gone}
        elif kind == "where":
            gone = dataset.delete(folder, where={"year": 2003})
            assert set(gone) == {n for n, one in kept.items() if one["metadata"]["year"] == 2003}
            kept = {name: one for name, one in kept.items() if name not in gone}
        else:
            dataset.compact(folder, shards=rng.randint(1, 6), by=rng.choice(["range", "hash"]))
        same(folder, kept)
    assert ragfile.verify(folder)[0] == []


def test_a_history_ends_with_the_bytes_of_a_fresh_build(tmp_path):
    collections.write(tmp_path / "sources", 20)
    dataset.build(tmp_path / "sources", tmp_path / "kb", shards=3)
    collections.write(tmp_path / "more", 26)
    dataset.sync(tmp_path / "kb", tmp_path / "more")
    dataset.sync(tmp_path / "kb", tmp_path / "sources")
    with ragfile.open(tmp_path / "kb", generation=1) as before, ragfile.open(tmp_path / "kb") as rf:
        assert rf.generation == 3
        same = {shard.sha256 for shard in before.manifest.shards}
        assert {shard.sha256 for shard in rf.manifest.shards} == same
        assert rf.manifest.statistics.sha256 == before.manifest.statistics.sha256


def test_add_keeps_the_documents_of_another_folder(tmp_path):
    for name in ("docs", "manuals"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"The keys of the {name}.")
    dataset.build(tmp_path / "docs", tmp_path / "kb", shards=2, embedder="none")
    with pytest.raises(ValueError, match="pass replace=True"):
        dataset.add(tmp_path / "kb", tmp_path / "manuals")
    dataset.add(tmp_path / "kb", tmp_path / "manuals", prefix="manuals")
    with ragfile.open(tmp_path / "kb") as rf:
        assert sorted(document.id for document in rf.documents()) == ["a.md", "manuals/a.md"]
    dataset.add(tmp_path / "kb", tmp_path / "manuals", replace=True)
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.document("a.md").text == "The keys of the manuals."


def test_sync_touches_the_shards_of_what_changed(tmp_path, same):
    sources = collections.write(tmp_path / "sources", 30)
    dataset.build(sources, tmp_path / "kb", shards=6)
    with ragfile.open(tmp_path / "kb") as rf:
        before = {shard.sha256 for shard in rf.manifest.shards}
    (sources / "a/d001.md").write_text("# Changed\n\nanother pod\n")
    (sources / "a/new.md").write_text("# New\n\na new node\n")
    os.rename(sources / "a/d002.md", sources / "a/d002x.md")
    (sources / "b/d003.md").unlink()
    report = dataset.sync(tmp_path / "kb", sources, dry_run=True)
    assert report.added == ["a/new.md"]
    assert report.changed == ["a/d001.md"]
    assert report.moved == [("a/d002.md", "a/d002x.md")]
    assert report.removed == ["b/d003.md"]
    report = dataset.sync(tmp_path / "kb", sources, message="the news")
    assert report.generation == 2
    ragfile.build(sources, tmp_path / "one.ragfile")
    with ragfile.open(tmp_path / "kb") as rf, ragfile.open(tmp_path / "one.ragfile") as one:
        assert rf.info["message"] == "the news"
        assert 0 < len({shard.sha256 for shard in rf.manifest.shards} - before) < 6
        assert rf.document_ids() == one.document_ids()
        for question in QUESTIONS:
            assert told(rf.search(question)) == told(one.search(question))
    assert dataset.sync(tmp_path / "kb", sources).is_empty
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.generation == 2


def test_a_source_that_cannot_be_read_keeps_its_documents(tmp_path):
    sources = collections.write(tmp_path / "sources", 9)
    dataset.build(sources, tmp_path / "kb", shards=2)
    (sources / "a/d001.md").write_bytes(b"\xff\xfe\xff\xff" * 5 + b"\x81")
    report = dataset.sync(tmp_path / "kb", sources)
    assert len(report.failures) == 1
    with ragfile.open(tmp_path / "kb") as rf:
        assert len(rf.document_ids()) == 9


def test_generations_stay_readable_until_vacuum(tmp_path):
    sources = collections.write(tmp_path / "sources", 12)
    dataset.build(sources, tmp_path / "kb", shards=3)
    with ragfile.open(tmp_path / "kb") as rf:
        first = told(rf.search("pod drain"))
        gone = rf.document_ids()[4]
        dataset.delete(tmp_path / "kb", gone)
        assert told(rf.search("pod drain", cache=False)) == first
        assert rf.refresh()
        assert rf.generation == 2
        assert rf.document(gone) is None
        assert not rf.refresh()
    with ragfile.open(tmp_path / "kb", generation=1) as old:
        assert told(old.search("pod drain")) == first
        assert old.document(gone) is not None
    with pytest.raises(ValueError, match="no generation 9"):
        ragfile.open(tmp_path / "kb", generation=9)
    assert dataset.vacuum(tmp_path / "kb", keep=1) == []  # all of it is young
    spare = dataset.vacuum(tmp_path / "kb", keep=1, days=0)
    assert len(spare) == 3  # a shard, the statistics, the manifest
    assert dataset.vacuum(tmp_path / "kb", keep=1, days=0, dry_run=False) == spare
    with pytest.raises(ValueError, match="no generation 1"):
        ragfile.open(tmp_path / "kb", generation=1)
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.document(gone) is None
    assert ragfile.verify(tmp_path / "kb")[0] == []


def test_vacuum_takes_leftovers_and_nothing_that_is_young_or_needed(tmp_path):
    sources = collections.write(tmp_path / "sources", 9)
    dataset.build(sources, tmp_path / "kb", shards=2)
    shard = next((tmp_path / "kb/shards").iterdir())
    old = tmp_path / "kb/shards" / f"{'0' * 64}.ragfile"
    shutil.copy(shard, old)
    (tmp_path / "kb/shards/.half.part").write_bytes(b"x")
    assert dataset.vacuum(tmp_path / "kb", dry_run=False) == []
    long_ago = time.time() - 9 * 86400
    for path in (tmp_path / "kb").rglob("*"):
        os.utime(path, (long_ago, long_ago))
    names = [found.name for found in dataset.vacuum(tmp_path / "kb", dry_run=False)]
    assert names == ["shards/.half.part", f"shards/{'0' * 64}.ragfile"]
    assert ragfile.verify(tmp_path / "kb")[0] == []


def test_the_time_is_that_of_the_store(tmp_path, monkeypatch):
    """A clock of this machine that is years ahead does not make young objects old."""
    sources = collections.write(tmp_path / "sources", 6)
    dataset.build(sources, tmp_path / "kb", shards=2)
    (tmp_path / "kb/shards" / f"{'0' * 64}.ragfile").write_bytes(b"x")
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 3 * 365 * 86400)
    assert dataset.vacuum(tmp_path / "kb", dry_run=False) == []


def test_eight_committers_lose_nothing_and_mix_nothing(tmp_path, same):
    kept = documents(range(0, 30, 3))
    folder = built(tmp_path / "kb", kept)
    new, failed = documents(range(100, 124), seed=5), []

    def add(mine):
        try:
            for doc_id in mine:
                dataset.add(folder, documents=[new[doc_id]])
        except Exception as error:  # noqa: BLE001 - a thread's errors are looked at by the test
            failed.append(error)

    names = sorted(new)
    threads = [threading.Thread(target=add, args=(names[i::8],)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    same(folder, kept | new)
    with ragfile.open(folder) as rf:
        assert rf.generation == 3 + len(new)
    assert ragfile.verify(folder)[0] == []


def test_of_two_who_change_a_document_one_is_told(tmp_path, monkeypatch):
    kept = documents(range(9))
    folder = built(tmp_path / "kb", kept)
    real, raced = dataset_commit.publish, []

    def slow(place, made):
        if not raced:
            raced.append(True)
            dataset.add(folder, documents=documents([4], seed=7).values())
        return real(place, made)

    monkeypatch.setattr(dataset_commit, "publish", slow)
    with pytest.raises(ConflictError, match="d004"):
        dataset.add(folder, documents=documents([4, 5], seed=8).values())
    raced.clear()
    dataset.add(folder, documents=documents([5], seed=8).values())  # another document: made again
    monkeypatch.undo()
    with ragfile.open(folder) as rf:
        assert rf.document("d004").text == documents([4], seed=7)["d004"]["text"]
        assert rf.document("d005").text == documents([5], seed=8)["d005"]["text"]


def test_a_writer_that_dies_leaves_the_dataset_as_it_was(tmp_path, monkeypatch, same):
    kept = documents(range(9))
    folder = built(tmp_path / "kb", kept)

    def dies(*_):
        raise KeyboardInterrupt

    for what in ("read", "put", "put_new"):
        with monkeypatch.context() as patched, pytest.raises((KeyboardInterrupt, RuntimeError)):
            patched.setattr(stores.FolderStore, what, dies)
            dataset.add(folder, documents=documents([20], seed=8).values())
        same(folder, kept)
    assert ragfile.verify(folder)[0] == []


def test_what_a_commit_touched_is_listed_or_a_range():
    few, many = (
        dataset_commit.touched(["b", "a"]),
        dataset_commit.touched([f"{i:05}" for i in range(2000)]),
    )
    assert few == {"ids": ["a", "b"]}
    assert many == {"first": "00000", "last": "01999"}
    assert dataset_commit.clash(few, few) == "a"
    assert dataset_commit.clash(few, dataset_commit.touched(["c"])) is None
    assert dataset_commit.clash(many, dataset_commit.touched(["00500"])) == "00500"
    assert dataset_commit.clash(many, dataset_commit.touched(["x"])) is None
    assert dataset_commit.clash(many, many)
    assert dataset_commit.clash(dataset_commit.touched([]), many) is None


def test_a_dataset_of_a_newer_writer_is_read_and_not_changed(tmp_path):
    folder = built(tmp_path / "kb", documents(range(6)))
    place = stores.place(folder)
    newest = dataset_commit.read(place)
    place.put_new(
        manifest.name_of(newest.generation + 1),
        replace(newest, **dataset_commit.following(newest), writer_flags=("moon",)).dump(),
    )
    with ragfile.open(folder) as rf:
        assert rf.search("pod")
    with pytest.raises(ragfile.VersionError, match="moon"):
        dataset.delete(folder, "d001")


def test_wrong_changes_are_refused(tmp_path):
    folder = built(tmp_path / "kb", documents(range(6)))
    with pytest.raises(ValueError, match="empty filter"):
        dataset.delete(folder, where={})
    with pytest.raises(ValueError, match="at least one"):
        dataset.compact(folder, shards=0)
    with pytest.raises(ValueError, match="one chunk policy"):
        dataset.add(folder, documents=[], chunking="words:9/1")
    with pytest.raises(ValueError, match="at least one generation"):
        dataset.vacuum(folder, keep=0)
    with pytest.raises(ragfile.FormatError):
        dataset.delete(tmp_path, "x")
    assert dataset.delete(folder, "nobody") == []


def test_everything_can_be_deleted(tmp_path):
    kept = documents(range(6))
    folder = built(tmp_path / "kb", kept)
    assert sorted(dataset.delete(folder, sorted(kept))) == sorted(kept)
    with ragfile.open(folder) as rf:
        assert len(rf) == 0
        assert rf.search("pod") == []
        assert rf.document_ids() == []
    assert ragfile.verify(folder)[0] == []
    with pytest.raises(ValueError, match="empty"):
        dataset.add(folder, documents=kept.values())


def test_a_writer_whose_clock_is_wrong_commits_in_order(tmp_path, monkeypatch, same):
    """Generations are counted. The clock is only told, and vacuum asks the store's."""
    kept = documents(range(6))
    folder = built(tmp_path / "kb", kept)
    clock, real = [0], time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + clock[0])
    year = 365 * 86400 * 10**9
    for number, skew in enumerate((40 * year, -20 * year, 0), 30):
        clock[0] = skew
        new = documents([number])
        dataset.add(folder, documents=new.values())
        kept |= new
        same(folder, kept)
    assert [one["generation"] for one in log(folder)] == [6, 5, 4, 3, 2, 1]
    monkeypatch.setattr(time, "time", lambda: 4e9)
    assert dataset.vacuum(folder) == []
    same(folder, kept)


@pytest.mark.stress
@pytest.mark.parametrize("fusion", ["calibrated", "rrf", "blend"])
def test_ten_thousand_questions_after_a_history_have_the_bits_of_one_file(tmp_path, fusion):
    """Documents come, change and go, shards are dealt out again; then each mode, with filters."""
    rng, kept = random.Random(fusion), documents(range(0, 200, 2))
    folder = built(tmp_path / "kb", kept)
    for step in range(8):
        new = documents(rng.sample(range(300), 20), seed=500 + step)
        dataset.add(folder, documents=new.values())
        kept |= new
        gone = rng.sample(sorted(kept), 15)
        dataset.delete(folder, gone)
        kept = {name: one for name, one in kept.items() if name not in gone}
        if step % 3 == 2:
            dataset.compact(folder, shards=rng.randint(2, 12), by=rng.choice(["range", "hash"]))
    one = tmp_path / "one.ragfile"
    with ragfile.create(one, embedder="default", chunking="markdown", analysis=PAGES) as writer:
        writer.add_documents(kept.values())
    words = collections.WORDS
    asked = [" ".join(rng.choices(words, k=rng.randint(1, 6))) for _ in range(10_000)]
    with ragfile.open(folder) as rf, ragfile.open(one) as whole:
        for mode, where in itertools.product(MODES, collections.FILTERS[:4]):
            options = {"mode": mode, "fusion": fusion, "where": where, "pool": 20}
            mine = rf.search_batch(asked, 8, columns=True, **options)
            theirs = whole.search_batch(asked, 8, columns=True, **options)
            assert mine.scores.tobytes() == theirs.scores.tobytes()
            assert mine.ids == theirs.ids


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="looks for open files in /proc")
def test_an_object_gets_its_name_when_it_is_closed(tmp_path, monkeypatch):
    """Windows renames no open file."""
    real, seen = stores.system.replace, []

    def replaces(source, target):
        seen.append(
            {os.path.realpath(f"/proc/self/fd/{one}") for one in os.listdir("/proc/self/fd")}
        )
        assert os.fspath(source) not in seen[-1]
        real(source, target)

    monkeypatch.setattr(stores.system, "replace", replaces)
    (tmp_path / "source").write_bytes(b"content")
    store = stores.FolderStore(tmp_path)
    store.put("folder/object", str(tmp_path / "source"))
    assert seen
    assert store.read("folder/object") == b"content"
