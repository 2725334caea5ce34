"""s3:// against moto's server on loopback: the same answers, one error each."""

import multiprocessing
import sys

import numpy as np
import pytest
from servers import buckets
from servers.built_files import large_file

import ragfile
from ragfile.errors import ChangedError, RemoteError

buckets.require()


@pytest.fixture(scope="module")
def endpoint():
    with buckets.served() as url:
        yield url


@pytest.fixture
def bucket(endpoint, monkeypatch):
    return buckets.bucket(endpoint, "bucket", monkeypatch)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return large_file(tmp_path_factory.mktemp("s3") / "kb")


def _put(bucket, path, key="folder/kb 1.ragfile"):
    with open(path, "rb") as file:
        bucket.put_object(Bucket="bucket", Key=key, Body=file.read())
    return f"s3://bucket/{key}"


def test_a_file_in_a_bucket_answers_as_the_local_file_does(bucket, path, tmp_path):
    url, vector = (
        _put(bucket, path),
        np.random.default_rng(1).standard_normal(64).astype(np.float32),
    )
    for cache in (None, tmp_path / "kept", tmp_path / "kept"):
        with ragfile.open(path) as local, ragfile.open(url, cache=cache) as far:
            for mode in ("bm25", "vector", "hybrid"):
                expected = local.search("word5 text99", mode=mode, vector=vector)
                assert far.search("word5 text99", mode=mode, vector=vector) == expected
            assert {**far.info, "path": 0} == {**local.info, "path": 0}
            assert not far.refresh()
    assert ragfile.verify(url)[0] == []


def test_a_changed_object_is_an_error_and_refresh_opens_it(bucket, path, tmp_path):
    url = _put(bucket, path)
    far = ragfile.open(url)
    smaller = str(tmp_path / "kb")
    with ragfile.create(smaller, dim=None) as w:
        w.add([{"doc_id": "a", "chunk_index": 0, "content": "word5"}])
    _put(bucket, smaller)
    with pytest.raises(ChangedError, match="is not the file"):
        far.search("word5 text99", mode="bm25")
    assert far.refresh()
    assert [hit.doc_id for hit in far.search("word5", mode="bm25")] == ["a"]


def test_what_is_not_there_or_empty_is_an_error(bucket, path):
    with pytest.raises(RemoteError, match="no such object") as caught:
        ragfile.open("s3://bucket/nothing")
    assert caught.value.status == 404
    with pytest.raises(RemoteError):
        ragfile.open("s3://no-such-bucket/kb")
    bucket.put_object(Bucket="bucket", Key="empty", Body=b"")
    with pytest.raises(RemoteError, match="s3://bucket/empty"):
        ragfile.open("s3://bucket/empty")
    for url in ("s3://bucket", "s3:///key"):
        with pytest.raises(ValueError, match="s3://BUCKET/KEY"):
            ragfile.open(url)
    with pytest.raises(ValueError, match="there is no manifest"):
        ragfile.open("s3://bucket/")  # which would be a dataset


def _in_child(far, connection):
    try:
        connection.send(len(far.search("word9 text7", mode="bm25")))
    except RemoteError as error:
        connection.send(str(error))
    connection.close()


def test_a_forked_child_is_told_to_open_for_itself(bucket, path):
    far, context = ragfile.open(_put(bucket, path)), multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_in_child, args=(far, there))
    child.start()
    assert here.poll(30)
    assert "forked" in here.recv()
    child.join(30)


def test_the_extra_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(ImportError, match=r"ragfile\[s3\]"):
        ragfile.open("s3://bucket/kb.ragfile")
