"""The promises of the seam to the operating system."""

import contextlib
import faulthandler
import mmap
import os
import resource
import stat
import subprocess
import sys
import threading

import pytest
from sanitizers import SANITIZED

from ragfile.ground import system
from ragfile.shards.stores import FolderStore
from ragfile.write.spool import Spool


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@contextlib.contextmanager
def full_after_ten():
    """Let files of this process end at ten bytes: a write that begins before writes a part of its bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_bytes_that_do_not_fit_are_an_error_and_never_left_out(tmp_path):
    descriptor = system.create_private(tmp_path / "a")
    with full_after_ten():
        with pytest.raises(OSError, match="too large"):
            system.write_at(descriptor, b"x" * 20, 0)
        with pytest.raises(OSError, match="too large"):
            system.write(descriptor, b"x" * 20)
    system.close(descriptor)


def test_a_spool_that_is_full_is_an_error(tmp_path):
    spool = Spool(str(tmp_path))
    with full_after_ten(), pytest.raises(OSError, match="temporary file"):
        spool.put(0, b"x" * 20)
    spool.close()


def test_reads_and_writes_at_offsets_leave_the_position_alone(tmp_path):
    descriptor = system.open_private(tmp_path / "a")
    system.write(descriptor, memoryview(b"abc"))
    system.write_at(descriptor, bytearray(b"XY"), 1)
    system.write(descriptor, b"d")
    assert (system.read_at(descriptor, 9, 0), system.read_at(descriptor, 1, 3)) == (b"aXYd", b"d")
    system.close(descriptor)


def test_private_files_belong_to_their_owner_alone(tmp_path):
    for number, make in enumerate((system.create_private, system.open_private)):
        descriptor = make(tmp_path / str(number))
        assert mode_of(tmp_path / str(number)) == 0o600
        assert not os.get_inheritable(descriptor)
        system.close(descriptor)
    with pytest.raises(FileExistsError):
        system.create_private(tmp_path / "0")


def test_private_files_are_not_opened_through_links(tmp_path):
    (tmp_path / "target").write_bytes(b"precious")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    for make in (system.create_private, system.open_private):
        with pytest.raises(OSError, match=r"File exists|symbolic links"):
            make(tmp_path / "link")
    assert (tmp_path / "target").read_bytes() == b"precious"


def test_a_name_is_claimed_once(tmp_path):
    assert system.holder_of(tmp_path / "mark") is None
    assert system.claim(tmp_path / "mark", "first")
    assert not system.claim(tmp_path / "mark", "second")
    assert system.holder_of(tmp_path / "mark") == "first"
    system.remove(tmp_path / "mark")
    assert system.claim(tmp_path / "mark", "second")


def test_readers_keep_what_they_have_mapped(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "b").write_bytes(b"new")
    before = system.mapped(tmp_path / "a")
    system.replace(tmp_path / "b", tmp_path / "a")
    assert (before[:], (tmp_path / "a").read_bytes()) == (b"old", b"new")
    system.remove(tmp_path / "a")
    assert before[:] == b"old"


def test_a_sparse_file_takes_no_room_and_has_no_name(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with system.sparse_file(1 << 30) as file:
        assert os.fstat(file.fileno()).st_size == 1 << 30
        assert os.fstat(file.fileno()).st_blocks < 100
        assert os.listdir(tmp_path) == []


def test_unused_paths_differ(tmp_path):
    paths = {system.unused_path(tmp_path, "a", ".b") for _ in range(100)}
    assert len(paths) == 100
    assert all(os.path.dirname(path) == str(tmp_path) for path in paths)


def test_memory_is_shared_with_children_or_copied():
    shared, copied = system.shared_memory(mmap.PAGESIZE), system.large_memory(mmap.PAGESIZE)
    pid = system.fork()
    if not pid:
        shared[0] = copied[0] = 7
        system.exit_now(0)
    system.await_end(pid)
    assert (shared[0], copied[0]) == (7, 0)


def test_a_line_carries_a_bell_and_the_end_of_its_senders():
    line, life = system.Line(), system.Line()
    assert not line.is_rung(0)
    pid = system.fork()
    if not pid:
        life.leave()
        line.ring()
        life.await_end()  # its parent leaves, too: no sender is left
        system.exit_now(3)
    assert line.is_rung(10)
    assert not system.has_ended(pid)
    life.leave()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3


def test_stdout_is_taken_from_all_that_prints():
    script = """
from ragfile.ground import system
import os
with system.take_stdout() as out:
    print("printed", flush=True)
    os.write(1, b"written")
    out.write(b"answer")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"answer", b"printed\nwritten")


def in_child(work):
    """The exit code of a forked child that does this work, which returns it."""
    pid = system.fork()
    if not pid:
        code = 99
        try:
            code = work()
        finally:
            system.exit_now(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit")
@pytest.mark.skipif(SANITIZED, reason="sanitizers take memory")
def test_memory_beyond_the_limit_is_refused():
    def work():
        system.limit_address_space(system.address_space() + (64 << 20))
        bytes(16 << 20)
        try:
            bytes(256 << 20)
        except MemoryError:
            return 7
        return 1

    assert in_child(work) == 7


def test_peak_memory_is_in_bytes():
    before = system.peak_memory()
    b"x" * (before + (64 << 20))
    assert before + (64 << 20) <= system.peak_memory() < 4 * before + (1 << 30)


def test_a_crash_leaves_no_core(tmp_path):
    def work():
        faulthandler.disable()  # pytest's would print where the child stood
        os.chdir(tmp_path)
        system.forbid_core_dumps()
        os.abort()

    assert system.signal_of(in_child(work)) == "SIGABRT"
    assert os.listdir(tmp_path) == []
    assert system.signal_of(3) is None


def test_hooks_run_around_a_fork():
    script = """
from ragfile.ground import system
import os
ran = []
system.before_fork(lambda: ran.append("before"))
system.after_fork(lambda: ran.append("after"))
pid = system.fork()
if not pid:
    system.exit_now(0 if ran == ["before", "after"] and system.parent() else 1)
assert ran == ["before"], ran
assert os.waitpid(pid, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_file_that_is_open_is_known_without_its_name(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    descriptor = system.open_to_read(tmp_path / "a")
    system.remove(tmp_path / "a")
    assert (os.fstat(descriptor).st_size, system.read_at(descriptor, 9, 1)) == (3, b"bc")
    system.close(descriptor)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_objects_of_a_folder_have_the_mode_that_the_umask_leaves(tmp_path, mask):
    (tmp_path / "source").write_bytes(b"data")
    before = os.umask(mask)
    try:
        FolderStore(tmp_path / "store").put("a/b", str(tmp_path / "source"))
        assert FolderStore(tmp_path / "store").put_new("a/c", b"data")
    finally:
        os.umask(before)
    assert {mode_of(tmp_path / "store/a" / name) for name in "bc"} == {0o666 & ~mask}


def test_the_files_of_other_threads_keep_their_mode_while_objects_are_stored(tmp_path):
    """The umask belongs to the whole process, and was 0 for moments."""
    ended, modes = threading.Event(), set()

    def make_files():
        number = 0
        while not ended.is_set():
            path = tmp_path / f"other-{number}"
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o666))
            modes.add(mode_of(path))
            os.unlink(path)
            number += 1

    before = os.umask(0o077)
    other = threading.Thread(target=make_files)
    interval = sys.getswitchinterval()
    try:
        sys.setswitchinterval(1e-6)
        other.start()
        store = FolderStore(tmp_path / "store")
        for number in range(300):
            store.put_new(f"{number}", b"")
    finally:
        sys.setswitchinterval(interval)
        ended.set()
        other.join()
        os.umask(before)
    assert modes == {0o600}


def test_storing_objects_never_changes_the_umask(tmp_path, monkeypatch):
    (tmp_path / "source").write_bytes(b"data")
    monkeypatch.delattr(os, "umask")
    FolderStore(tmp_path / "store").put("a", str(tmp_path / "source"))
    assert FolderStore(tmp_path / "store").put_new("b", b"data")
