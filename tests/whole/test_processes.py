"""Several processes on one file: readers never wait or see half a commit, killed writers take nothing with them."""

import os
import signal
import subprocess
import sys

import pytest
from crash import kill

from ragfile import _core


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "a.ragfile")


def test_readers_see_whole_generations_during_commits_and_compactions(path):
    told = kill.read_rounds(path, commits=100)
    assert len(told) == 8
    assert all(reads > 0 and seen > 0 for reads, seen, _ in told)


def test_killed_writers_lose_no_commit_and_leave_no_lock(path):
    known, told = kill.kill_rounds(path, rounds=20, seed=7)
    assert known > 20
    assert all(reads > 0 for reads, _, _ in told)


@pytest.mark.parametrize("way", ["create", "edit"])
def test_lock_of_a_killed_writer_is_free_at_once(path, way):
    _core.FileWriter.create(path).commit()
    code = f"from ragfile import _core; w = _core.FileWriter.{way}({path!r}); w.add('rag.x', b'x'); print(1, flush=True); input()"
    holder = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    holder.stdout.readline()
    with pytest.raises(OSError, match=f"process {holder.pid}"):
        getattr(_core.FileWriter, way)(path)
    if way == "edit":
        assert _core.writer_pid(path) == holder.pid
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    writer = getattr(_core.FileWriter, way)(path)
    writer.add("rag.y", b"y")
    writer.commit()
    reader = _core.Reader(_core.Map(path))
    assert reader.verify()[0] == []
    assert [e["name"] for e in reader.entries] == ["rag.y"]
    assert os.listdir(os.path.dirname(path)) == ["a.ragfile"]


def test_reader_of_one_process_outlives_commits_and_compactions_of_another(path):
    writer = _core.FileWriter.create(path)
    kill.fill(writer, 1)
    writer.commit()
    reader = _core.Reader(_core.Map(path))
    subprocess.run(
        [sys.executable, kill.__file__, "writer", path, "12", "5"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert kill.serial_of(reader) == 1
    assert reader.verify()[0] == []
    assert kill.serial_of(_core.Reader(_core.Map(path))) == 13
