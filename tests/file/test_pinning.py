"""Files that are opened with pin=True answer as others do, and say what they took."""

import os

import numpy as np
import pytest

import ragfile
from ragfile.errors import CorruptError


def write(path, count, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((count, 96)).astype(np.float32)
    with ragfile.create(path, dim=96) as writer:
        writer.add(chunks(range(count)), vectors=rows)
    return rows


def chunks(numbers):
    return [{"doc_id": f"{i:05}", "chunk_index": 0, "content": "x"} for i in numbers]


def shadow_of(rf):
    return next(e for e in rf.file.entries if e["name"] in ("rag.shadow", "rag.planes"))


def test_answers_are_the_same_and_the_memory_is_counted(tmp_path):
    rows = write(tmp_path / "kb", 3000)
    with ragfile.open(tmp_path / "kb") as plain, ragfile.open(tmp_path / "kb", pin=True) as pinned:
        assert pinned.info["pinned"] == 0
        for k in (1, 50):
            ours, theirs = pinned.nearest(rows[:40], k), plain.nearest(rows[:40], k)
            assert all((a == b).all() for a, b in zip(ours, theirs, strict=True))
        assert plain.info["pinned"] == 0
        assert pinned.info["pinned"] == shadow_of(pinned)["size"] > 0


def test_a_newer_commit_is_pinned_in_its_turn(tmp_path):
    rows = write(tmp_path / "kb", 3000)
    with ragfile.open(tmp_path / "kb", pin=True) as rf:
        rf.nearest(rows[:1], 1)
        with ragfile.edit(tmp_path / "kb") as writer:
            writer.add(chunks(range(3000, 6000)), vectors=-rows)
            writer.delete(["00001"])
        assert rf.refresh()
        found, _ = rf.nearest(-rows[7], 1)
        assert found[0][0] == 3007
        sizes = [e["size"] for e in rf.file.entries if e["name"] in ("rag.shadow", "rag.planes")]
        assert len(sizes) == 2
        assert rf.info["pinned"] == sum(sizes)


def test_a_forked_child_reads_the_copy_of_its_parent(tmp_path):
    rows = write(tmp_path / "kb", 3000)
    with ragfile.open(tmp_path / "kb", pin=True) as rf:
        assert rf.nearest(rows[5], 1)[0][0][0] == 5
        child = os.fork()
        if not child:
            os._exit(0 if rf.nearest(rows[9], 1, threads=1)[0][0][0] == 9 else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_a_copy_outlives_the_file_that_is_closed_or_replaced(tmp_path):
    rows = write(tmp_path / "kb", 3000)
    rf = ragfile.open(tmp_path / "kb", pin=True)
    rf.nearest(rows[:1], 1)
    write(tmp_path / "new", 3000, seed=1)
    os.replace(tmp_path / "new", tmp_path / "kb")
    assert rf.nearest(rows[5], 1)[0][0][0] == 5
    rf.close()
    with pytest.raises(ValueError, match="closed"):
        rf.nearest(rows[5], 1)


def test_damage_is_noticed_before_it_is_copied(tmp_path):
    rows = write(tmp_path / "kb", 3000)
    with ragfile.open(tmp_path / "kb") as rf:
        entry = shadow_of(rf)
    with open(tmp_path / "kb", "r+b") as file:
        file.seek(entry["at"] + entry["size"] - 100)
        flipped = bytes([file.read(1)[0] ^ 1])
        file.seek(-1, 1)
        file.write(flipped)
    with ragfile.open(tmp_path / "kb", pin=True) as rf:
        with pytest.raises(CorruptError, match="checksum"):
            rf.nearest(rows[:1], 1)
        assert rf.info["pinned"] == 0


def test_a_file_without_vectors_has_nothing_to_pin(tmp_path):
    with ragfile.create(tmp_path / "kb") as writer:
        writer.add(chunks(range(3)))
    with ragfile.open(tmp_path / "kb", pin=True) as rf:
        assert len(rf.search("x", mode="bm25")) == 3
        assert rf.info["pinned"] == 0


def test_only_local_files_of_version_1_are_pinned(tmp_path):
    ragfile.write_pairs(tmp_path / "pairs", [("a", "b")])
    with pytest.raises(ValueError, match=r"pin=True is for files of version 1\.0"):
        ragfile.open(tmp_path / "pairs", pin=True)
    with pytest.raises(ValueError, match="pin=True is for a local file, not a URL or a dataset"):
        ragfile.open("http://127.0.0.1:9/kb", pin=True)
