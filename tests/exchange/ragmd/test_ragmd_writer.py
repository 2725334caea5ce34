"""Saves are atomic and exclusive, and a version control system shows what changed."""

import base64
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from oracles.ragmd_examples import EPOCH, collection, rendered
from places import TESTS

from ragfile.errors import FormatError, LockedError
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.ragmd import ragmd_reader

# ------------------------------------------------------------------------------------------------------- one writer ---


def child(code, *arguments):
    command = [sys.executable, "-c", textwrap.dedent(code), *map(os.fspath, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


HOLD = """
    import sys, time
    from ragfile.exchange.ragmd import ragmd_reader as ragmd
    with ragmd.lock(sys.argv[1]):
        print("held", flush=True)
        time.sleep(60)
"""


def test_a_second_writer_is_refused_and_told_who_holds_the_file(tmp_path):
    path = tmp_path / "x.ragmd"
    ragmd_reader.save(path, collection())
    before = path.read_bytes()
    holder = child(HOLD, path)
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LockedError) as caught:
            ragmd_reader.save(path, collection(documents=5))
        assert str(caught.value) == f"{path}: another writer holds the file (process {holder.pid})"
        assert path.read_bytes() == before
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    ragmd_reader.save(path, collection(documents=5))
    assert len(ragmd_reader.load(path).documents) == 5


def test_a_second_writer_of_the_same_process_is_refused(tmp_path):
    with ragmd_reader.lock(tmp_path / "x.ragmd"), pytest.raises(LockedError):
        ragmd_reader.save(tmp_path / "x.ragmd", collection())


def test_whoever_holds_the_lock_may_save(tmp_path):
    with ragmd_reader.lock(tmp_path / "x.ragmd") as held:
        ragmd_reader.save(tmp_path / "x.ragmd", collection(), held=held)
        ragmd_reader.save(tmp_path / "x.ragmd", collection(documents=2), held=held)
    assert len(ragmd_reader.load(tmp_path / "x.ragmd").documents) == 2
    assert os.listdir(tmp_path) == ["x.ragmd"]


# ----------------------------------------------------------------------------------------------------- all or nothing ---


def test_there_is_one_file_before_and_after_a_save(tmp_path):
    path = tmp_path / "x.ragmd"
    ragmd_reader.save(path, collection())
    found = ragmd_reader.load(path)
    assert os.listdir(tmp_path) == ["x.ragmd"]
    ragmd_reader.save(path, found)
    assert os.listdir(tmp_path) == ["x.ragmd"]


FULL = f"""
    import resource, sys
    sys.path.insert(0, {str(TESTS)!r})
    from oracles.ragmd_examples import collection
    from ragfile.exchange.ragmd import ragmd_reader as ragmd
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        ragmd.save(sys.argv[1], collection(documents=90))
    except OSError as error:
        print(error)
"""


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "x.ragmd"
    ragmd_reader.save(path, collection())
    before = path.read_bytes()
    with child(FULL, path) as writer:
        assert writer.stdout.read() == f"[Errno 27] File too large: '{path}'\n"
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.ragmd"]


REWRITE = f"""
    import sys
    sys.path.insert(0, {str(TESTS)!r})
    from oracles.ragmd_examples import collection
    from ragfile.exchange.ragmd import ragmd_reader as ragmd
    few, many = collection(documents=40, dim=256), collection(documents=80, dim=256)
    print("go", flush=True)
    while True:
        ragmd.save(sys.argv[1], few)
        ragmd.save(sys.argv[1], many)
"""


def test_a_reader_sees_whole_files_while_a_writer_is_killed_at_any_moment(tmp_path):
    path = tmp_path / "x.ragmd"
    ragmd_reader.save(path, collection(documents=40, dim=256))
    for pause in (0.0, 0.003, 0.01, 0.03):
        writer = child(REWRITE, path)
        assert writer.stdout.readline() == "go\n"
        threading.Event().wait(pause)
        for _ in range(10):
            assert len(ragmd_reader.load(path).documents) in (40, 80)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        assert len(ragmd_reader.load(path).documents) in (40, 80)
    ragmd_reader.save(path, collection())
    assert os.listdir(tmp_path) == ["x.ragmd"]


def test_a_link_stays_a_link_and_permissions_stay(tmp_path):
    ragmd_reader.save(tmp_path / "real.ragmd", collection())
    os.chmod(tmp_path / "real.ragmd", 0o640)
    os.symlink("real.ragmd", tmp_path / "link.ragmd")
    ragmd_reader.save(tmp_path / "link.ragmd", collection(documents=2))
    assert os.path.islink(tmp_path / "link.ragmd")
    assert os.stat(tmp_path / "real.ragmd").st_mode & 0o777 == 0o640
    assert len(ragmd_reader.load(tmp_path / "real.ragmd").documents) == 2


def test_a_collection_that_contradicts_itself_is_not_saved(tmp_path):
    of = collection()
    of.refs.pop()
    with pytest.raises(FormatError, match="11 chunk references for an index of 12 vectors"):
        ragmd_reader.save(tmp_path / "x.ragmd", of)
    assert os.listdir(tmp_path) == []


# --------------------------------------------------------------------------------------------------------------- times ---


def test_a_change_moves_the_time_of_the_update_only(tmp_path, monkeypatch):
    of = collection()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    of.touch()
    found = ragmd_reader.parse(rendered(of))
    assert (found.created_at, found.updated_at) == (EPOCH, "2027-01-15T08:00:00Z")


# ---------------------------------------------------------------------------------------------------------------- diffs ---


def changed_lines(before, after, folder):
    """The lines that git shows as added or removed."""
    for name, data in (("a", before), ("b", after)):
        (folder / name).write_bytes(data)
    done = subprocess.run(
        ["git", "diff", "--no-index", "-U0", "a", "b"], cwd=folder, capture_output=True, check=False
    )
    assert b"Binary files" not in done.stdout
    return [
        line.decode() for line in done.stdout.split(b"\n") if re.match(rb"[+-](?!\+\+ |-- )", line)
    ]


def test_a_new_title_is_three_lines_of_a_diff(tmp_path):
    of = collection(documents=20)
    before = rendered(of)
    of.documents["doc-007"]["content"]["title"] = "Another title"
    of.touch(now=1.8e9)
    lines = changed_lines(before, rendered(of), tmp_path)
    assert len([line for line in lines if line.startswith("+")]) == 3
    assert len(lines) == 6


@pytest.mark.parametrize("dim", [48, 100, 256, 384, 768])
def test_a_new_vector_changes_its_own_lines_only(tmp_path, dim):
    of = collection(documents=50, dim=dim)
    before = rendered(of)
    vectors = of.index.vectors.copy()
    vectors[17] += 1
    of.index = Index.of(vectors)
    lines = changed_lines(before, rendered(of), tmp_path)
    own = (
        -(-4 * dim // 48) + 2
    )  # a row that is not a multiple of three bytes shares a group with its neighbours
    assert len([line for line in lines if line.startswith("+")]) <= own + 1
    if dim % 3 == 0:
        assert len([line for line in lines if line.startswith("+")]) == -(-4 * dim // 48) + 1


def test_a_vector_put_in_front_leaves_the_lines_of_all_others(tmp_path):
    of = collection(documents=50, dim=96)
    of.index = Index.of(of.index.vectors[1:])
    of.refs = of.refs[1:]
    old = set(rendered(of).split(b"```base64\n")[1].split(b"\n")[1:])
    new = set(rendered(collection(documents=50, dim=96)).split(b"```base64\n")[1].split(b"\n")[1:])
    assert old <= new


@pytest.mark.parametrize("dim", [1, 5, 48, 100, 384, 768])
def test_any_base64_decoder_reads_the_vectors(dim):
    of = collection(documents=3, dim=dim)
    text = rendered(of).split(b"```base64\n")[1].split(b"```")[0]
    assert base64.b64decode(text) == of.index.data.tobytes()
    assert max(map(len, text.split(b"\n"))) <= 64
    done = subprocess.run(["base64", "-d"], input=text, capture_output=True, check=True)
    assert done.stdout == of.index.data.tobytes()


@pytest.mark.parametrize("dim", [48, 64, 96, 256, 384, 768, 1024, 1536])
def test_base64_takes_little_more_than_a_third(dim):
    of = collection(documents=300, chunks=1, dim=dim)
    text = rendered(of).split(b"```base64\n")[1].split(b"```")[0]
    assert 1.333 < len(text) / len(of.index.data) <= 1.36


def test_vectors_can_be_looked_at_with_three_lines_of_python():
    of = collection()
    text = rendered(of).split(b"```base64\n")[1].split(b"```")[0]
    rows = np.frombuffer(base64.b64decode(text)[45:], "<f4").reshape(-1, of.dim)
    assert np.array_equal(rows, of.index.vectors)
