"""A reader beside a writer that is at work: it maps what the writer found, and does not look for commits in what it writes."""

import fcntl
import os
import resource
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from crash import kill

from ragfile import _core

LOCK_AT = 1 << 61
linux = pytest.mark.skipif(sys.platform != "linux", reason="struct flock is laid out by the system")
HOLDER = """
import sys
from ragfile import _core
w = _core.FileWriter.edit(sys.argv[1])
w.begin("rag.a"); w.write(bytes(5 << 20)); w.end()
print(1, flush=True)
if input() == "commit":
    w.commit()
    print(2, flush=True)
    input()
"""


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / "a.ragfile")
    for serial in (1, 2):
        writer = _core.FileWriter.create(path) if serial == 1 else _core.FileWriter.edit(path)
        kill.fill(writer, serial)
        writer.commit()
    return path


@pytest.fixture
def holder(path):
    """A process that has written five megabytes and not committed them."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "1\n"
    yield process
    process.kill()
    process.communicate()


def lock_length(path):
    """Of the lock that another process has there, 0 for none."""
    with open(path, "rb") as file:
        asked = struct.pack("hhqqixxxx", fcntl.F_WRLCK, os.SEEK_SET, LOCK_AT, 1, 0)
        kind, _, start, length, _ = struct.unpack(
            "hhqqixxxx", fcntl.fcntl(file, fcntl.F_GETLK, asked)
        )
        return 0 if kind == fcntl.F_UNLCK or start != LOCK_AT else length


def seen(path):
    mapped = _core.Map(path)
    reader = _core.Reader(mapped)
    return (
        len(mapped),
        reader.commit["generation"],
        reader.commit["tail"],
        reader.commit["lost_generation"],
    )


def test_what_another_process_has_not_committed_is_not_mapped(path, holder):
    size = os.path.getsize(path)
    assert size > 5 << 20
    length, generation, tail, lost = seen(path)
    assert (generation, tail, lost) == (2, 0, 0)
    assert length <= size - (5 << 20)
    assert _core.writer_pid(path) == holder.pid
    holder.stdin.write("commit\n")
    holder.stdin.flush()
    assert holder.stdout.readline() == "2\n"
    assert seen(path) == (os.path.getsize(path), 3, 0, 0)


def test_what_a_killed_writer_wrote_is_a_tail_again(path, holder):
    before = seen(path)[0]
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    size = os.path.getsize(path)
    assert seen(path) == (size, 2, size - before, 0)


def test_what_this_process_has_not_committed_is_not_mapped(path):
    before = seen(path)
    writer = _core.FileWriter.edit(path)
    writer.add("rag.a", bytes(1 << 20))
    assert os.path.getsize(path) > before[0]
    for _ in range(3):  # every close of a descriptor costs a process its record locks
        assert seen(path) == before
    writer.commit()
    assert seen(path)[:2] == (os.path.getsize(path), 3)


def test_a_damaged_commit_is_told_of_while_the_next_is_written(path):
    raw = bytearray(Path(path).read_bytes())
    raw[-60] ^= 1
    Path(path).write_bytes(raw)
    assert seen(path)[1:] == (1, len(raw) - seen_end(path), 2)
    writer = _core.FileWriter.edit(path)
    writer.add("rag.a", bytes(1 << 20))
    assert seen(path)[1::2] == (1, 2)
    writer.close()


def seen_end(path):
    return _core.Reader(_core.Map(path)).commit["end"]


@linux
def test_the_word_is_taken_back_before_the_footer_is_written(path, tmp_path):
    """For from then on there may be something to find. The footer is made to fail, which leaves its writer as it is there."""
    copy = tmp_path / "copy"
    copy.write_bytes(Path(path).read_bytes())
    writer = _core.FileWriter.edit(copy)
    kill.fill(writer, 3)
    writer.commit()
    told, tell = os.pipe()
    go_on, end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            writer = _core.FileWriter.edit(path)
            kill.fill(writer, 3)
            os.write(tell, b"1")
            os.read(go_on, 1)
            resource.setrlimit(resource.RLIMIT_FSIZE, (copy.stat().st_size - 64,) * 2)
            with pytest.raises(OSError, match="too large"):
                writer.commit()
            os.write(tell, b"2")
            os.read(go_on, 1)
        finally:
            os._exit(0)
    assert os.read(told, 1) == b"1"
    assert lock_length(path) == 1 + seen(path)[0]
    os.write(end, b"1")
    assert os.read(told, 1) == b"2"
    assert lock_length(path) == 1
    assert seen(path)[:2] == (copy.stat().st_size - 64, 2)
    os.write(end, b"1")
    os.waitpid(child, 0)
    assert lock_length(path) == 0


@linux
@pytest.mark.parametrize("start", [0, LOCK_AT - 64, LOCK_AT, LOCK_AT + 64])
def test_a_lock_that_says_what_cannot_be_is_not_believed(path, start):
    size = os.path.getsize(path)
    code = (
        "import fcntl, sys\nfile = open(sys.argv[1], 'r+b')\nfor line in sys.stdin:\n"
        " fcntl.lockf(file, fcntl.LOCK_UN)\n"
        f" fcntl.lockf(file, fcntl.LOCK_EX, int(line), {start})\n print(1, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as liar:
        for length in (0, 1, 2, 64, 65, 4097, size // 64 * 64, size + 2, size + 65, 1 << 50):
            liar.stdin.write(f"{length}\n")
            liar.stdin.flush()
            assert liar.stdout.readline() == "1\n"
            assert seen(path) == (size, 2, 0, 0)
        liar.stdin.close()


@linux
def test_who_may_only_read_a_file_does_not_tell_others_what_to_see(path):
    """A shared lock in the place and the length of a writer's, from where the file's first commit ends."""
    size, settled = os.path.getsize(path), _core.Reader(_core.Map(path), 1).commit["end"]
    assert settled < size
    code = (
        "import fcntl, sys\nfile = open(sys.argv[1], 'rb')\n"
        f"fcntl.lockf(file, fcntl.LOCK_SH, {settled + 1}, {LOCK_AT})\nprint(1, flush=True)\nsys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as liar:
        assert liar.stdout.readline() == "1\n"
        assert seen(path) == (size, 2, 0, 0)
        assert _core.writer_pid(path) == 0
        writer = _core.FileWriter.edit(path)
        kill.fill(writer, 3)
        writer.commit()
        writer.close()
        assert seen(path)[1] == 3
        liar.stdin.close()
