"""A file that is written over while a reader has it open: no answer mixes both, and refresh() finds the new one."""

import os
import shutil

import pytest

import ragfile


def made(path, words, texts=40):
    """Files of the same number of texts of one length, so that most are of the same size."""
    with ragfile.create(path) as w:
        w.add([ragfile.Chunk(f"d{i}", 0, f"{words} {i:04d}") for i in range(texts)])
    return path


def written_over(path, other):
    """As cp does: the same inode gets other bytes."""
    inode = os.stat(path).st_ino
    shutil.copyfile(other, path)
    later = os.stat(path).st_mtime_ns + 1_000_000_000
    os.utime(path, ns=(later, later))
    assert os.stat(path).st_ino == inode


DOORS = {
    "search": lambda rf: rf.search("alpha", cache=False),
    "a kept answer": lambda rf: rf.search("alpha"),
    "search_batch": lambda rf: rf.search_batch(["alpha"]),
    "match": lambda rf: rf.match(["alpha"]),
    "score": lambda rf: rf.score([0], text="alpha"),
    "hit": lambda rf: rf.hit(0),
    "chunk": lambda rf: rf.chunk(0),
    "document": lambda rf: rf.document("d1"),
}


@pytest.mark.parametrize("ask", DOORS.values(), ids=DOORS)
@pytest.mark.parametrize("texts", [40, 2], ids=["of the same size", "smaller"])
def test_nobody_answers_from_a_file_that_was_written_over(tmp_path, ask, texts):
    path, other = made(tmp_path / "kb", "alpha"), made(tmp_path / "other", "betas", texts)
    if texts == 40:
        assert os.path.getsize(path) == os.path.getsize(other)
    else:
        assert os.path.getsize(path) > os.path.getsize(other)
    with ragfile.open(path, embedder="none") as rf:
        assert len(rf.search("alpha")) == 12
        written_over(path, other)
        with pytest.raises(ragfile.ChangedError, match=r"refresh\(\)"):
            ask(rf)
        assert rf.refresh()
        assert rf.search("alpha") == []
        assert rf.search("betas", 1)[0].text == rf.hit(0).text == "betas 0000"
        assert not rf.refresh()


def test_commits_replacements_and_touching_disturb_nobody(tmp_path):
    path = made(tmp_path / "kb", "alpha")
    with ragfile.open(path, embedder="none") as rf:
        before = rf.search("alpha", cache=False)
        with ragfile.edit(path) as w:
            w.delete(["d0"])
        assert rf.search("alpha", cache=False) == before
        os.utime(path)
        assert rf.search("alpha", cache=False) == before
        ragfile.compact(path)
        assert rf.search("alpha", cache=False) == before
        os.unlink(path)
        assert rf.search("alpha", cache=False) == before
