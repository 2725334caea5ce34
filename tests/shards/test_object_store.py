"""Datasets under a prefix of a bucket: built, asked, changed and raced for over S3, against moto's server on loopback."""

import logging
import os
import threading
import time

import pytest
from servers import buckets
from shards import collections

import ragfile
from ragfile import dataset
from ragfile.errors import RemoteError
from ragfile.shards import shards, stores

buckets.require()
QUESTIONS, told = collections.QUESTIONS, collections.told


@pytest.fixture(scope="module")
def endpoint():
    with buckets.served() as url:
        yield url


@pytest.fixture
def bucket(endpoint, monkeypatch, request):
    """The URL of an empty bucket."""
    name = f"b-{abs(hash(request.node.name))}"
    buckets.bucket(endpoint, name, monkeypatch)
    shards.forget()
    return f"s3://{name}"


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return collections.write(tmp_path_factory.mktemp("sources"), 24)


def same(rf, one):
    for where in (None, {"year": {"$gte": 2010}}):
        mine = rf.search_batch(QUESTIONS, 6, where=where)
        assert [told(hits) for hits in mine] == [
            told(hits) for hits in one.search_batch(QUESTIONS, 6, where=where)
        ]
    assert rf.document_ids() == one.document_ids()


def test_a_dataset_in_a_bucket_answers_as_the_local_file_does(bucket, sources, one, tmp_path):
    url = f"{bucket}/some/prefix/"
    dataset.build(sources, url, shards=3)
    with ragfile.open(url) as rf:
        same(rf, one)
    with ragfile.open(url, executor="process", workers=2) as rf:
        same(rf, one)
    assert dataset.verify(url)[0] == []
    dataset.build(sources, tmp_path / "local", shards=3)
    local = {found.name for found in stores.place(tmp_path / "local").names()}
    assert {found.name for found in stores.place(url).names()} == local


def test_changes_in_a_bucket_give_the_bits_of_a_fresh_build(bucket, tmp_path):
    url, sources = f"{bucket}/kb/", collections.write(tmp_path / "sources", 18)
    dataset.build(sources, url, shards=3, by="hash")
    collections.write(sources, 24)
    ragfile.build(sources, tmp_path / "one.ragfile")
    report = dataset.sync(url, sources)
    assert report.generation == 2
    assert report.added
    with ragfile.open(url) as rf, ragfile.open(tmp_path / "one.ragfile") as one:
        same(rf, one)
        gone = rf.document_ids()[3]
        dataset.delete(url, gone)
        assert rf.refresh()
        assert rf.document(gone) is None
        dataset.sync(url, sources)
        dataset.compact(url, shards=2)
        assert rf.refresh()
        assert len(rf.manifest.shards) == 2
        same(rf, one)
        time.sleep(1.1)  # the store's times are whole seconds
        assert dataset.vacuum(url, keep=1, days=0, dry_run=False)
        same(rf, one)
    assert dataset.verify(url)[0] == []


def test_committers_race_for_a_manifest_and_none_is_lost(bucket, sources):
    url = f"{bucket}/kb/"
    dataset.build(sources, url, shards=2)
    failed = []

    def add(number):
        try:
            document = {"id": f"new{number}", "text": f"a new pod {number}"}
            dataset.add(url, documents=[document])
        except Exception as error:  # noqa: BLE001 - a thread's errors are looked at by the test
            failed.append(error)

    threads = [threading.Thread(target=add, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    with ragfile.open(url) as rf:
        assert rf.generation == 9
        assert {f"new{i}" for i in range(8)} <= set(rf.document_ids())
    assert dataset.verify(url)[0] == []


def test_a_manifest_is_created_once_and_a_retry_of_the_same_bytes_is_no_loss(bucket):
    place = stores.place(f"{bucket}/kb/")
    assert place.put_new("manifests/1.json", b"one")
    assert place.put_new("manifests/1.json", b"one")
    assert not place.put_new("manifests/1.json", b"two")
    assert place.read("manifests/1.json") == b"one"
    assert place.size("manifests/1.json") == 3
    assert place.size("nothing") is None
    assert abs(place.now() - os.times().elapsed) > 0


def test_opening_a_dataset_of_a_thousand_shards_takes_three_requests_at_most(
    bucket, sources, caplog
):
    url = f"{bucket}/kb/"
    dataset.build(sources, url, shards=2)
    place = stores.place(url)
    from dataclasses import replace

    from ragfile.shards import dataset_commit

    manifest = dataset_commit.read(place)
    first = manifest.shards[0]
    many = [
        replace(first, sha256=f"{i:064x}", path=f"shards/{i:064x}.ragfile", live=1, rows=1, total_length=1)
        for i in range(1000)
    ]  # fmt: skip
    whole = replace(
        manifest.with_shards(many),
        **dataset_commit.following(manifest),
        rows=1000,
        total_length=1000,
    )
    assert dataset_commit.publish(place, whole)
    with caplog.at_level(logging.INFO, logger="werkzeug"):
        caplog.clear()
        with ragfile.open(url) as rf:
            requests = [r for r in caplog.records if "HTTP/1" in r.getMessage()]
            assert len(rf.manifest.shards) == 1000
    assert 0 < len(requests) <= 3


def test_the_first_question_brings_each_small_object_in_one_request(bucket, sources, one, caplog):
    """The manifest says how long a shard is, and where what every question reads begins."""
    url = f"{bucket}/kb/"
    dataset.build(sources, url, shards=3)
    shards.forget()
    with caplog.at_level(logging.INFO, logger="werkzeug"):
        caplog.clear()
        with ragfile.open(url) as rf:
            assert told(rf.search("pod drain")) == told(one.search("pod drain"))
            told(rf.search_batch(QUESTIONS, query_syntax=True, drop_repeats=True)[0])
        requests = [r.getMessage() for r in caplog.records if "HTTP/1" in r.getMessage()]
    assert len(requests) == 2 + 1 + 3  # a listing, a manifest, statistics, shards


def test_a_dataset_in_a_bucket_is_signed_converted_and_reindexed(bucket, sources, one, tmp_path):
    signing_keys = pytest.importorskip("ragfile.ground.signing_keys")
    pytest.importorskip("cryptography", reason="the extra sign is not installed")
    signing_keys.new_key(tmp_path / "key")
    url, keys = f"{bucket}/kb/", [f"{tmp_path}/key.pub"]
    dataset.convert(one.path, url, shards=3)
    ragfile.sign(url, tmp_path / "key", signer="Ada")
    with ragfile.open(url, trusted=keys) as rf:
        same(rf, one)
        assert rf.file.signatures[0].signer == "Ada"
    assert dataset.verify(url, keys=keys)[0] == []
    seal = next(found.name for found in stores.place(url).names("seals/"))
    stores.place(url).delete(seal)
    shards.forget()
    with ragfile.open(url, trusted=keys) as rf, pytest.raises(ragfile.SignatureError):
        rf.search("pod", 100)
    dataset.convert(url, tmp_path / "back.ragfile")
    with open(one.path, "rb") as file:
        assert (tmp_path / "back.ragfile").read_bytes() == file.read()
    assert dataset.reindex(url, chunking="words:9/2")["recut"] > 0
    assert dataset.verify(url)[0] == []


def test_what_a_first_request_brings():
    from ragfile.net.fetcher import WINDOW
    from ragfile.shards.manifest import ShardRecord
    from ragfile.shards.query_plan import window_of

    def shard(size, at):
        sections = [["vector", 1, 4096, 9], ["rag.chunks", 1, at, 9], ["rag.terms", 1, at + 9, 9]]
        return ShardRecord("", size, "", "", 1, 1, 1, 1, 1, "a", "b", sections=sections)

    assert window_of(shard(900_000, 8192)) == 900_000
    assert window_of(shard(50 << 20, 45 << 20)) == 5 << 20
    assert window_of(shard(50 << 20, 20 << 20)) == WINDOW
    assert window_of(shard(50 << 20, (50 << 20) - 5000)) == WINDOW


def test_a_missing_shard_in_a_bucket_is_an_error_or_said(bucket, sources):
    url = f"{bucket}/kb/"
    dataset.build(sources, url, shards=3)
    with ragfile.open(url) as rf:
        name = rf.manifest.shards[1].path
    stores.place(url).delete(name)
    with ragfile.open(url) as rf, pytest.raises(RemoteError, match="no such object"):
        rf.search("pod")
    with ragfile.open(url, allow_partial=True) as rf:
        hits = rf.search("pod")
        assert hits
        assert not hits.complete
        assert "1 of 3" in hits.degraded


def test_offline_opens_no_socket(bucket):
    with pytest.raises(RemoteError, match="offline"):
        ragfile.open(f"{bucket}/kb/", offline=True)
