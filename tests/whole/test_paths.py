"""Files as the system has them: modes, owners, links, odd names, what is no file at all, and a file that changes hands."""

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from crash import life
from whole.test_life import in_child

import ragfile
from ragfile import _core
from ragfile.errors import FormatError

NAMES = [
    "new\nline",
    "émoji 🐋",
    "-rf",
    " ",
    "a" * 246,
    "a" * 255,
    "ü" * 127,
    "%s%n",
    os.fsdecode(b"\xff\xfe latin"),
    "'; $(x)",
]
is_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def path(tmp_path):
    life.make(tmp_path / "kb")
    return tmp_path / "kb"


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def with_umask(mask, work):
    before = os.umask(mask)
    try:
        work()
    finally:
        os.umask(before)


# --------------------------------------------------------------------------------------------------- modes and owners --


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path, mask):
    with_umask(mask, lambda: life.make(tmp_path / "kb"))
    assert mode_of(tmp_path / "kb") == 0o666 & ~mask


def test_a_new_file_does_not_take_over_the_mode_of_what_a_killed_writer_left(tmp_path):
    (tmp_path / ".kb.partial").write_bytes(b"secret")
    (tmp_path / ".kb.partial").chmod(0o777)
    with_umask(0o077, lambda: life.make(tmp_path / "kb"))
    assert mode_of(tmp_path / "kb") == 0o600
    assert os.listdir(tmp_path) == ["kb"]


def test_a_link_in_the_place_of_the_new_file_is_not_followed(tmp_path):
    (tmp_path / "victim").write_bytes(b"precious")
    (tmp_path / ".kb.partial").symlink_to(tmp_path / "victim")
    life.make(tmp_path / "kb")
    assert (tmp_path / "victim").read_bytes() == b"precious"
    assert not (tmp_path / "kb").is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o604])
def test_edits_and_compactions_keep_the_mode(path, tmp_path, mode):
    path.chmod(mode)
    for work in (
        lambda: life.commit(path, 1, tmp_path / "s"),
        lambda: ragfile.compact(path),
        lambda: life.make(path),
    ):
        with_umask(0o077, work)
        assert mode_of(path) == mode


@is_root
def test_compaction_by_root_leaves_the_file_with_its_owner(path):
    os.chown(path, 12345, 54321)
    path.chmod(0o640)
    ragfile.compact(path)
    assert (path.stat().st_uid, path.stat().st_gid, mode_of(path)) == (12345, 54321, 0o640)


@is_root
def test_a_group_that_cannot_be_kept_leaves_its_rights_to_nobody(tmp_path):
    folder = Path("/tmp") / f"ragfile-{os.getpid()}"
    folder.mkdir()
    try:
        life.make(folder / "kb")
        os.chown(folder / "kb", 12345, 54321)
        (folder / "kb").chmod(0o664)
        folder.chmod(0o777)

        def by_another():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(12345)
            ragfile.compact(folder / "kb")

        assert in_child(by_another) == 0
        found = (folder / "kb").stat()
        assert (found.st_uid, found.st_gid, mode_of(folder / "kb")) == (12345, 65534, 0o604)
    finally:
        for left in folder.iterdir():
            left.unlink()
        folder.rmdir()


@is_root
def test_a_read_only_file_is_read_and_not_changed():
    folder = Path("/tmp") / f"ragfile-{os.getpid()}"
    folder.mkdir()
    try:
        life.make(folder / "kb")
        assert life.number_of(folder / "kb") == 0  # which imports what nobody may not
        (folder / "kb").chmod(0o444)
        folder.chmod(0o777)

        def by_another():
            os.setgid(65534)
            os.setuid(65534)
            assert life.number_of(folder / "kb") == 0
            for change in (ragfile.edit, ragfile.compact):
                with pytest.raises(PermissionError, match="kb"):
                    change(folder / "kb")

        assert in_child(by_another) == 0
        assert os.listdir(folder) == ["kb"]
    finally:
        (folder / "kb").unlink()
        folder.rmdir()


# -------------------------------------------------------------------------------------------------------------- links --


def test_a_linked_path_stays_a_link_to_what_is_edited_and_compacted(path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to("kb")
    life.commit(link, 1, tmp_path / "s")
    ragfile.compact(link)
    assert link.is_symlink()
    assert life.number_of(link) == life.number_of(path) == 1
    assert _core.Reader(_core.Map(link)).commit["generation"] == 1


def test_a_second_name_sees_edits_and_keeps_what_compaction_leaves_behind(path, tmp_path):
    other = tmp_path / "other"
    other.hardlink_to(path)
    life.commit(path, 1, tmp_path / "s")
    assert life.number_of(other) == 1
    ragfile.compact(path)
    life.commit(path, 2, tmp_path / "s")
    assert (life.number_of(path), life.number_of(other)) == (2, 1)


def test_a_loop_of_links_is_an_error(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for work in (ragfile.open, ragfile.edit, life.make):
        with pytest.raises(OSError, match="symbolic links"):
            work(tmp_path / "a")


# -------------------------------------------------------------------------------------------------------------- names --


@pytest.mark.parametrize("name", NAMES)
def test_a_name_may_be_anything_that_the_system_takes(tmp_path, name):
    folder = tmp_path / "kb"
    folder.mkdir()
    path = folder / name
    life.make(path)
    life.commit(path, 1, tmp_path / "s")
    with pytest.raises(OSError, match="writing"), ragfile.edit(path):
        ragfile.edit(path)
    ragfile.compact(path)
    assert life.number_of(path) == 1
    assert os.listdir(folder) == [name]
    done = subprocess.run(
        [sys.executable, "-m", "ragfile", "info", path], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with pytest.raises(FormatError):
        path.write_bytes(b"RAGFILE\1\0\0\0")
        ragfile.open(path)


@pytest.mark.parametrize("name", NAMES)
def test_sources_may_have_any_name(tmp_path, name):
    sources, path = tmp_path / "sources", tmp_path / "kb"
    life.fill(sources, {name[:100] + ".txt": "fed a cad"})
    ragfile.build([sources], path)
    ragfile.sync(path, [sources])
    with ragfile.open(path) as rf:
        assert [document.text for document in rf.documents()] == ["fed a cad"]
        assert (
            rf.search("fed", mode="bm25")[0].doc_id
            == os.fsencode(name[:100]).decode("utf-8", "replace") + ".txt"
        )


def test_a_name_that_is_too_long_or_holds_a_null_is_refused(tmp_path):
    with pytest.raises(OSError, match="too long"):
        life.make(tmp_path / ("a" * 256))
    life.make(tmp_path / "kb")
    for work in (
        ragfile.open,
        ragfile.edit,
        ragfile.compact,
        life.make,
        _core.Map,
        _core.file_identity,
        ragfile.log,
    ):
        with pytest.raises(ValueError, match="null"):
            work(f"{tmp_path}/kb\0evil")
    assert os.listdir(tmp_path) == ["kb"]


# ------------------------------------------------------------------------------------------------- what is not a file --


def nothing(path):
    pass


def a_socket(path):
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


OTHERS = {"folder": Path.mkdir, "pipe": os.mkfifo, "socket": a_socket, "nothing": nothing}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_not_a_file_is_refused_at_once_and_left_alone(tmp_path, kind):
    path = tmp_path / "x"
    OTHERS[kind](path)
    before = path.lstat().st_mode if kind != "nothing" else None
    signal.alarm(20)  # a pipe that is waited for
    try:
        readers = [
            ragfile.open,
            ragfile.verify,
            ragfile.edit,
            ragfile.compact,
            ragfile.log,
            ragfile.stale,
        ]
        for work in readers if kind == "nothing" else [*readers, life.make]:
            with pytest.raises(OSError, match="x"):
                work(path)
        assert _core.writer_pid(path) == 0
    finally:
        signal.alarm(0)
    assert before is None or path.lstat().st_mode == before
    assert os.listdir(tmp_path) == ([] if before is None else ["x"])


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_a_device_is_not_read(device):
    """Nor replaced, as a pipe above; that is not tried on these."""
    for work in (ragfile.open, ragfile.edit, ragfile.log):
        with pytest.raises(OSError, match=device):
            work(device)


# ------------------------------------------------------------------------------------------------------ changing hands --


def test_a_file_that_was_replaced_during_an_edit_is_not_changed(path, tmp_path):
    other = tmp_path / "other"
    life.make(other)
    held = path.read_bytes()
    with (
        pytest.raises(ValueError, match="replaced"),
        ragfile.edit(path, embedder=life.Letters()) as w,
    ):
        w.upsert([life.edited("edit1", "fed")])
        other.rename(path)
    assert life.number_of(path) == 0
    assert path.read_bytes() == held
    life.commit(path, 1, tmp_path / "s")


def test_a_file_that_was_removed_during_an_edit_is_told_of(path):
    with (
        pytest.raises(FileNotFoundError, match="kb"),
        ragfile.edit(path, embedder=life.Letters()) as w,
    ):
        w.upsert([life.edited("edit1", "fed")])
        path.unlink()
    assert not path.exists()


def test_a_folder_that_was_removed_during_a_build_is_told_of(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileNotFoundError), ragfile.create(tmp_path / "folder" / "kb") as w:
        w.add_documents([{"id": "a", "text": "fed"}])
        (tmp_path / "folder" / ".kb.partial").unlink()
        (tmp_path / "folder").rmdir()


def test_a_clock_that_goes_backwards_changes_nothing(path, monkeypatch):
    for number, now in ((1, 2 * 10**18), (2, 10**18), (3, 0), (4, 1)):
        monkeypatch.setattr("time.time_ns", lambda now=now: now)
        os.utime(path, (now // 10**9, now // 10**9))
        with ragfile.open(path) as rf:
            life.commit(path, number, path.parent / "s")
            assert rf.refresh()
            assert rf.generation == number + 1
    assert [commit["created"] for commit in ragfile.log(path)][:2] == [1, 0]
    assert life.number_of(path) == 4
