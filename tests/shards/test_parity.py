"""Datasets with parity: every shard can be repaired by itself, and is then the object of its name again."""

import hashlib

import pytest
from shards import collections

import ragfile
from ragfile import dataset


@pytest.fixture
def kb(tmp_path):
    dataset.build(collections.write(tmp_path / "sources", 30), tmp_path / "kb", shards=3, parity=5)
    return tmp_path / "kb"


def damaged(kb):
    """Every shard with a bad stretch, and how it was."""
    before = {path: path.read_bytes() for path in sorted((kb / "shards").iterdir())}
    for path, data in before.items():
        path.write_bytes(data[:5000] + bytes(3000) + data[8000:])
    return before


def test_every_shard_is_repaired_to_the_bytes_of_its_name(kb):
    before = damaged(kb)
    assert dataset.verify(kb)[0]
    for path, data in before.items():
        assert ragfile.repair(path).restored
        assert path.read_bytes() == data
        assert hashlib.sha256(data).hexdigest() == path.stem
    assert dataset.verify(kb)[0] == []


def test_changes_and_conversions_keep_the_parity(kb, tmp_path):
    ragfile.build(tmp_path / "sources", tmp_path / "one.ragfile", parity=5)
    dataset.convert(kb, tmp_path / "joined.ragfile")
    assert (tmp_path / "joined.ragfile").read_bytes() == (tmp_path / "one.ragfile").read_bytes()
    dataset.convert(tmp_path / "one.ragfile", tmp_path / "dealt", shards=2)
    dataset.add(kb, documents=[{"id": "new", "text": "a new pod"}])
    dataset.reindex(kb, chunking="words:20/0")
    dataset.compact(kb, shards=2)
    dataset.vacuum(kb, days=0, keep=1, dry_run=False)
    for folder in (kb, tmp_path / "dealt"):
        for path, data in damaged(folder).items():
            ragfile.repair(path)
            assert path.read_bytes() == data
        assert dataset.verify(folder)[0] == []
