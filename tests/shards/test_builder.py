"""Datasets are built shard by shard: the same bytes on any number of workers, and from where a build was killed."""

import json
import os
import shutil

import pytest
from shards import collections

import ragfile
from ragfile import dataset
from ragfile.ingest.source_files import find
from ragfile.shards import builder, shard_assignment, stores


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return collections.write(tmp_path_factory.mktemp("sources"), 24)


def content(folder):
    """{name: bytes} of everything below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_same_sources_give_the_same_bytes_on_any_workers(sources, tmp_path):
    dataset.build(sources, tmp_path / "a", shards=3)
    dataset.build(sources, tmp_path / "b", shards=3)
    dataset.build(sources, tmp_path / "c", shards=3, executor="process", workers=2)
    assert content(tmp_path / "a") == content(tmp_path / "b") == content(tmp_path / "c")
    assert ragfile.verify(tmp_path / "a")[0] == []


def test_objects_are_named_by_their_content_and_open_by_themselves(sources, tmp_path):
    report = dataset.build(sources, tmp_path / "kb", shards=3)
    assert (report.documents, report.files, report.failures) == (24, 24, [])
    for name, data in content(tmp_path / "kb").items():
        if name.startswith(("shards/", "statistics/")):
            assert name.split("/")[1] == f"{builder.hashlib.sha256(data).hexdigest()}.ragfile"
            assert ragfile.verify(tmp_path / "kb" / name)[0] == []
    shards = sorted((tmp_path / "kb/shards").iterdir())
    with ragfile.open(shards[0]) as rf:
        assert len(rf.search("pod")) > 0
    assert not (tmp_path / "kb/building").exists()


def test_a_shard_is_the_file_that_its_documents_would_make(sources, tmp_path):
    dataset.build(sources, tmp_path / "kb", shards=1)
    ragfile.build(sources, tmp_path / "one.ragfile")
    (shard,) = (tmp_path / "kb/shards").iterdir()
    assert shard.read_bytes() == (tmp_path / "one.ragfile").read_bytes()


def test_labels_models_and_policies_are_those_of_a_file(sources, tmp_path):
    options = {"embedder": "none", "chunking": "words:20/5", "tags": ["x"], "metadata": {"y": 1}}
    dataset.build(sources, tmp_path / "kb", shards=2, **options)
    ragfile.build(sources, tmp_path / "one.ragfile", **options)
    with ragfile.open(tmp_path / "kb") as rf, ragfile.open(tmp_path / "one.ragfile") as one:
        assert rf.file.config == one.file.config
        mine, theirs = rf.search("pod drain"), one.search("pod drain")
        assert collections.told(mine) == collections.told(theirs)
        assert mine.degraded == theirs.degraded
        assert mine[0].metadata["y"] == 1
        assert "x" in mine[0].tags


def test_datasets_without_bm25_answer_like_files_without_it(sources, tmp_path):
    dataset.build(sources, tmp_path / "kb", shards=2, analysis=None)
    ragfile.build(sources, tmp_path / "one.ragfile", analysis=None)
    with ragfile.open(tmp_path / "kb") as rf, ragfile.open(tmp_path / "one.ragfile") as one:
        mine, theirs = rf.search("pod drain"), one.search("pod drain")
        assert collections.told(mine) == collections.told(theirs)
        assert mine.degraded == theirs.degraded
        with pytest.raises(ValueError, match=r"rag\.terms"):
            rf.match("pod")
    assert ragfile.verify(tmp_path / "kb")[0] == []


def test_a_build_goes_on_where_it_was_killed(sources, tmp_path, monkeypatch):
    dataset.build(sources, tmp_path / "whole", shards=4)
    written, real = [], builder.build_shard

    def dies(job):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(job)
        return real(job)

    monkeypatch.setattr(builder, "build_shard", dies)
    with pytest.raises(KeyboardInterrupt):
        dataset.build(sources, tmp_path / "kb", shards=4)
    with pytest.raises(IsADirectoryError):
        ragfile.open(tmp_path / "kb")
    monkeypatch.setattr(builder, "build_shard", real)
    report = dataset.build(sources, tmp_path / "kb", shards=4)
    assert report.reused > 0
    assert report.documents == 24
    assert content(tmp_path / "kb") == content(tmp_path / "whole")


def test_a_note_without_its_shard_is_not_believed(sources, tmp_path, monkeypatch):
    monkeypatch.setattr(builder.dataset_commit, "publish", lambda *_: False)
    with pytest.raises(FileExistsError):
        dataset.build(sources, tmp_path / "kb", shards=2)
    monkeypatch.undo()
    shutil.rmtree(tmp_path / "kb/shards")
    assert dataset.build(sources, tmp_path / "kb", shards=2).reused == 0
    assert ragfile.verify(tmp_path / "kb")[0] == []


def test_bad_sources_are_reported_and_the_rest_is_built(sources, tmp_path):
    folder = shutil.copytree(sources, tmp_path / "sources")
    (folder / "a/bad.md").write_bytes(b"\xff\xfe\xff" * 9)
    (folder / "zz.pdf").write_bytes(b"%PDF-1.4 nothing")
    report = dataset.build(folder, tmp_path / "kb", shards=5)
    assert {os.path.basename(f.path) for f in report.failures} >= {"bad.md"}
    assert report.documents == 24


def test_sources_without_documents_leave_no_dataset(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no document"):
        dataset.build(tmp_path / "empty", tmp_path / "kb")
    with pytest.raises(IsADirectoryError):
        ragfile.open(tmp_path / "empty")


def test_a_build_spares_what_is_there(sources, tmp_path):
    dataset.build(sources, tmp_path / "kb", shards=2)
    with pytest.raises(FileExistsError, match="dataset already"):
        dataset.build(sources, tmp_path / "kb", shards=2)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear")
    with pytest.raises(FileExistsError, match="letter"):
        dataset.build(sources, tmp_path / "mine", shards=2)


def test_duplicates_are_left_out_across_shards(sources, tmp_path):
    folder = shutil.copytree(sources, tmp_path / "sources")
    shutil.copy(folder / "a/d001.md", folder / "zzz.md")
    report = dataset.build(folder, tmp_path / "kb", shards=6, dedupe=True)
    assert [os.path.basename(d.path) for d in report.duplicates] == ["zzz.md"]
    assert report.documents == 24


def test_progress_ends_at_everything(sources, tmp_path):
    seen = []
    dataset.build(sources, tmp_path / "kb", shards=3, progress=lambda *told: seen.append(told))
    assert len(seen) == 3
    assert seen[-1][0] == 24
    assert seen[-1][2] == 1


def test_ranges_are_of_about_the_same_weight_and_follow_one_another(sources):
    weights = sorted((source.id, 10) for source in find(str(sources)))
    found = shard_assignment.by_range(weights, 5)
    slots = [shard_assignment.slot_of(found, name) for name, _ in weights]
    assert slots == sorted(slots)
    assert set(slots) == set(range(5))
    assert max(map(slots.count, range(5))) <= 6
    assert shard_assignment.slot_of(found, "") == 0
    assert shard_assignment.by_range([("a", 1)], 9) == {"by": "range", "from": [""]}


def test_records_of_one_file_share_a_shard(tmp_path):
    folder = tmp_path / "sources"
    folder.mkdir()
    lines = [json.dumps({"id": f"r{i}", "text": f"pod {i}"}) for i in range(20)]
    (folder / "many.jsonl").write_text("\n".join(lines))
    (folder / "many.md").write_text("pod")
    for by in ("range", "hash"):
        dataset.build(folder, tmp_path / by, shards=4, by=by)
        with ragfile.open(tmp_path / by) as rf:
            assert len(rf.manifest.shards) <= 2
            assert len(rf) == 21


def test_a_folder_creates_an_object_once(tmp_path):
    place = stores.place(tmp_path)
    assert place.put_new("manifests/1.json", b"one")
    assert not place.put_new("manifests/1.json", b"two")
    assert place.read("manifests/1.json") == b"one"
    assert [found.name for found in place.names()] == ["manifests/1.json"]


def test_wrong_options_are_refused(sources, tmp_path):
    for options, told in (
        ({"shards": 0}, "at least one"), ({"by": "moon"}, "'range'"), ({"executor": "moon"}, "unknown executor"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=told):
            dataset.build(sources, tmp_path / "kb", **options)
