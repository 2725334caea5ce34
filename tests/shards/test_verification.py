"""verify finds what is wrong with a dataset: objects, manifests, statistics; and says which of them it is."""

import json
import os

import pytest
from shards import collections

import ragfile
from ragfile import dataset
from ragfile.shards import shards


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return str(collections.write(tmp_path_factory.mktemp("sources"), 60))


@pytest.fixture
def kb(sources, tmp_path):
    dataset.build(sources, tmp_path / "kb", shards=3)
    shards.forget()
    return tmp_path / "kb"


def manifest_of(kb, generation=1):
    files = (kb / "manifests").iterdir()
    return next(f for f in files if json.loads(f.read_text())["generation"] == generation)


def told(kb, **options):
    """What verify says, one fault a line; the counts agree with it."""
    faults, counts = dataset.verify(kb, **options)
    assert counts["faults"] == len(faults)
    return [f"{kind}: {what}" for kind, _, what, _ in faults]


def lie(kb, change):
    """Changes what the manifest says."""
    path = manifest_of(kb)
    said = json.loads(path.read_text())
    change(said)
    path.write_text(json.dumps(said))


def flipped(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.chmod(0o644)
    path.write_bytes(data)


def test_a_whole_dataset_has_no_faults_and_a_part_can_be_looked_at(kb):
    faults, counts = dataset.verify(kb)
    assert (faults, counts["shards"]) == ([], 3)
    assert dataset.verify(kb, sample=1)[1]["shards"] == 1
    assert dataset.verify(kb, sample=9)[1]["shards"] == 3


def test_an_object_that_is_damaged_missing_or_short_is_named(kb):
    first, second, third = sorted((kb / "shards").glob("*.ragfile"))
    flipped(first, first.stat().st_size // 2)
    os.truncate(second, second.stat().st_size - 4096)
    third.unlink()
    found = told(kb)
    assert len(found) == 3
    for path, what in (
        (first, "its SHA-256 differs"),
        (second, "bytes, not"),
        (third, "No such file"),
    ):
        (line,) = (line for line in found if path.name in line)
        assert what in line


@pytest.mark.parametrize(
    ("field", "value"),
    [("first", ""), ("last", "zzz"), ("tags", ["other"]), ("identity", "0" * 32), ("bounds", {})],
)
def test_what_a_manifest_says_of_a_shard_must_be_so(kb, field, value):
    lie(kb, lambda said: said["shards"][1].update({field: value}))
    (found,) = told(kb)
    assert f"the manifest's field {field!r} differs from the shard" in found


def test_statistics_are_counted_anew(kb, tmp_path):
    other = tmp_path / "other"
    dataset.build(str(collections.write(tmp_path / "else", 60, seed=7)), other, shards=3)
    theirs = json.loads(manifest_of(other).read_text())["statistics"]["file"]
    (kb / theirs["path"]).write_bytes((other / theirs["path"]).read_bytes())
    lie(kb, lambda said: said["statistics"].update(file=theirs))
    found = told(kb)
    assert any("the frequencies of terms differ from those of the shards" in line for line in found)
    assert any("the sample differs from that of the shards" in line for line in found)


def test_the_manifest_before_is_the_one_that_is_named(kb):
    dataset.delete(kb, [next(iter(ragfile.open(kb).document_ids()))])
    assert told(kb) == []
    path = manifest_of(kb)
    path.chmod(0o644)
    path.write_text(path.read_text() + "\n")
    (found,) = told(kb)
    assert "is not the manifest that the next generation follows" in found
    path.unlink()  # as vacuum does
    assert told(kb) == []


def test_a_shard_that_says_two_things_is_named(kb):
    lie(kb, lambda said: said["shards"].append(said["shards"][0]))
    with pytest.raises(ragfile.FormatError):
        dataset.verify(kb)


LIES = [
    (lambda said: said["shards"][0].update(live=said["shards"][0]["rows"] + 1), "more live rows"),
    (lambda said: said["shards"][0].update(total_length=0), "lengths do not add up"),
    (lambda said: said["shards"].__setitem__(1, said["shards"][0]), None),
    (lambda said: said.update(deep=nested(300)), "not JSON"),
]


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(("change", "says"), LIES)
def test_a_manifest_that_cannot_be_is_refused(kb, change, says):
    lie(kb, change)
    with pytest.raises(ragfile.FormatError, match=says):
        ragfile.open(kb)


def test_a_dataset_shows_what_it_is_and_what_its_shards_hold(kb):
    with ragfile.open(kb) as rf:
        assert repr(rf) == f"<Dataset {kb}, {len(rf):,} chunks in 3 shards, generation 1>"
        names = [entry["name"] for entry in rf.file.entries]
        assert names.count("rag.config") == 3
        assert {entry["segment"] for entry in rf.file.entries} == {1, 2, 3}
        for number, record in enumerate(rf.manifest.shards, 1):
            with ragfile.open(kb / record.path) as shard:
                there = bytes(shard.file.section("rag.chunks"))
            assert bytes(rf.file.section("rag.chunks", number)) == there
        assert rf.file.section("nosuch") is None
        assert bytes(rf.file.section("rag.config")) == bytes(rf.file.section("rag.config", 1))
        parts = [rf.file.rows_in(start, start + 7) for start in range(0, rf.rows.count, 7)]
        assert [row for part in parts for row in part] == rf.live_rows().tolist()
        with pytest.raises(IndexError, match=f"row {rf.rows.count} of {rf.rows.count}"):
            rf.hit(rf.rows.count)
    assert repr(rf) == f"<Dataset {kb}, closed>"
    for ask in (rf.refresh, rf.document_ids, lambda: rf.search("pod"), lambda: rf.hit(0)):
        with pytest.raises(ValueError, match="is closed"):
            ask()


def test_what_a_dataset_has_of_a_missing_shard_is_said(kb):
    with ragfile.open(kb) as rf:
        record, vectors = rf.manifest.shards[0], rf.rows.has_vectors
    os.rename(kb / record.path, kb / "away")
    shards.forget()
    with ragfile.open(kb, allow_partial=True) as rf:
        with pytest.raises(IndexError, match="row 0 is in a shard that is missing"):
            rf.hit(0)
        assert rf.hit(record.rows).text
        assert not rf.vector_mask()[: record.rows].any()
        assert rf.vector_mask()[record.rows :].all() == vectors
        names = {entry["segment"] for entry in rf.file.entries}
        assert names == {2, 3}


def test_an_older_generation_stays_where_it_is(kb):
    with ragfile.open(kb, generation=1) as older:
        dataset.delete(kb, [next(iter(older.document_ids()))])
        count = len(older)
        assert older.refresh() is False
        assert len(older) == count
    with ragfile.open(kb) as newer:
        assert (newer.generation, len(newer) < count) == (2, True)
