"""The log of a file: one walk back through its commits, the same as opening each by its number."""

import random

import pytest

import ragfile
from ragfile import _core


@pytest.fixture
def path(tmp_path):
    """A file of 40 commits: additions, updates, deletions and remains of a dead writer."""
    path, draw = tmp_path / "kb.ragfile", random.Random(5)
    ragfile.create(path, created=1).close()
    for turn in range(2, 41):
        with ragfile.edit(path, created=turn, message=f"turn {turn}") as w:
            some = [f"d{draw.randrange(12)}" for _ in range(draw.randrange(1, 4))]
            w.delete([name for name in some if draw.random() < 0.4])
            w.upsert([{"id": f"n{turn}", "text": f"words of turn {turn}"}])
            w.upsert({"id": name, "text": f"{name} {turn}"} for name in set(some) if w.take(name))
        if turn % 9 == 0:
            with open(path, "ab") as file:
                file.write(bytes(draw.randbytes(300)))
    return path


def test_each_step_back_is_the_commit_that_its_number_opens(path):
    mapped = _core.Map(path)
    reader = _core.Reader(mapped)
    for generation in range(40, 0, -1):
        by_number = _core.Reader(mapped, generation)
        assert reader.commit | {"tail": 0, "lost_generation": 0} == (
            by_number.commit | {"tail": 0, "lost_generation": 0}
        )
        assert reader.segments == by_number.segments
        assert reader.entries == by_number.entries
        reader = reader.previous() if generation > 1 else reader
    with pytest.raises(ValueError, match="no such generation"):
        reader.previous()


def test_the_log_counts_what_each_commit_added_and_deleted(path):
    log = ragfile.log(path)
    assert [c["generation"] for c in log] == list(range(40, 0, -1))
    assert [c["created"] for c in log] == list(range(40, 0, -1))
    before = 0
    for commit in reversed(log):
        with ragfile.open(path, generation=commit["generation"]) as rf:
            assert commit["chunks"] == len(rf)
        assert commit["chunks"] == before + commit["added"] - commit["deleted"]
        before = commit["chunks"]
    assert log[0]["message"] == "turn 40"


def test_a_broken_chain_of_commits_is_named(path):
    mapped = _core.Map(path)
    at = _core.Reader(mapped, 20).commit["end"] - 64
    del mapped
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(bytes(64))
    with pytest.raises(ragfile.CorruptError, match="the chain of commits is broken"):
        ragfile.log(path)
