"""Writers wait for one another: everywhere, in order, for as long as they are told."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

import ragfile
from ragfile.adapters.passages import Passage, PassageStore
from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.tools import Tools
from ragfile.doors.server.collections import Collections

TESTS = Path(__file__).parent.parent
HOLD = """
    import sys
    import ragfile
    with ragfile.edit(sys.argv[1]):
        print("held", flush=True)
        sys.stdin.readline()
"""


def started(program, *arguments):
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, text=True)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path, parity=20, created=1) as writer:
        writer.add_documents([{"id": "a", "text": "one two three"}])
    return path


@pytest.fixture
def holder(path):
    """A process that writes to the file until its standard input ends."""
    with started(HOLD, path) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.stdin.close()


def key():
    serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    return ed25519.Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def text_file(path):
    source = path.parent / "new.md"
    source.write_text("a new page")
    return source


WRITERS = {
    "edit": lambda path, wait: ragfile.edit(path, **wait).close(),
    "compact": lambda path, wait: ragfile.compact(path, **wait),
    "reindex": lambda path, wait: ragfile.reindex(path, **wait),
    "add": lambda path, wait: ragfile.add(path, [text_file(path)], **wait),
    "sync": lambda path, wait: ragfile.sync(path, [text_file(path)], **wait),
    "sign": lambda path, wait: ragfile.sign(path, key(), **wait),
    "repair": lambda path, wait: ragfile.repair(path, **wait),
}


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_every_writer_waits_unless_it_is_told_not_to(writer, path, holder):
    with pytest.raises(ragfile.LockedError, match=rf"another writer .*process {holder.pid}\)"):
        writer(path, {"wait": 0})
    threading.Timer(0.1, holder.stdin.close).start()
    writer(path, {})


def put_by_tool(path):
    result = Tools(Files([str(path)]), can_write=True).call("put", {"id": "b", "text": "new"})
    return result["content"][0]["text"] if result["isError"] else ""


def put_by_adapter(path):
    PassageStore(path).put([Passage("b", "new")])


def delete_by_command(path):
    command = [sys.executable, "-m", "ragfile", "delete", path, "a"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr


DOORS = {"mcp": put_by_tool, "adapter": put_by_adapter, "command line": delete_by_command}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_every_door_waits_by_default(door, path, holder):
    threading.Timer(0.1, holder.stdin.close).start()
    assert not door(path)


def test_servers_and_mcp_wait_a_minute_unless_the_environment_names_another_time(path, monkeypatch):
    for files in (Files, Collections):
        assert files([str(path)]).editing["wait"] == 60
    monkeypatch.setenv("RAGFILE_WAIT", "1.5")
    for files in (Files, Collections):
        assert files([str(path)]).editing["wait"] == 1.5


def test_the_environment_tells_how_long_writers_wait(path, holder, monkeypatch):
    monkeypatch.setenv("RAGFILE_WAIT", "0")
    with pytest.raises(ragfile.LockedError, match=f"process {holder.pid}"):
        ragfile.edit(path)
    monkeypatch.setenv("RAGFILE_WAIT", "soon")
    with pytest.raises(ValueError, match="RAGFILE_WAIT is 'soon': give a number of seconds"):
        ragfile.edit(path)


def test_the_command_line_refuses_at_once_if_it_is_told_so(path, holder):
    command = [sys.executable, "-m", "ragfile", "delete", str(path), "a", "--wait", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"process {holder.pid}" in done.stderr


def test_a_thread_is_not_kept_waiting_for_itself(path):
    with ragfile.edit(path) as w:
        with pytest.raises(ragfile.LockedError, match="this thread is writing to the file already"):
            ragfile.edit(path, wait=1e9)
        w.delete(["a"])
    with ragfile.edit(path) as w:
        assert w.take("a") is None


def test_threads_wait_for_one_another_and_lose_nothing(path):
    def put(thread):
        for i in range(8):
            with ragfile.edit(path) as w:
                w.upsert([{"id": f"{thread}-{i}", "text": "some words"}])

    threads = [threading.Thread(target=put, args=(i,)) for i in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    with ragfile.open(path) as rf:
        assert len(rf.document_ids()) == 1 + 6 * 8


def test_control_c_ends_the_wait(path, holder):
    waiter = """
        import signal, sys
        import ragfile
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
        print("begun", flush=True)
        ragfile.edit(sys.argv[1], wait=1e9)
    """
    with started(waiter, path) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert "KeyboardInterrupt" in said


def test_a_file_that_is_replaced_meanwhile_is_edited_as_it_is_then(path):
    compacter = """
        import sys
        import ragfile
        from ragfile.write import compaction
        held = compaction._rewrite
        def waits(*given):
            print("held", flush=True)
            sys.stdin.readline()
            held(*given)
        compaction._rewrite = waits
        ragfile.compact(sys.argv[1], renumber=True)
    """
    before = os.stat(path).st_ino
    with started(compacter, path) as process:
        assert process.stdout.readline() == "held\n"
        threading.Timer(0.1, process.stdin.close).start()
        with ragfile.edit(path) as w:
            w.upsert([{"id": "b", "text": "four"}])
    assert os.stat(path).st_ino != before
    with ragfile.open(path) as rf:
        assert rf.document_ids() == ["a", "b"]


@pytest.mark.parametrize("door", ["edit", "mcp", "adapter"])
def test_processes_that_write_at_once_are_not_refused_and_lose_nothing(door):
    check = TESTS / "checks" / "writers_in_turn.py"
    command = [sys.executable, check, "--door", door, "--puts", "25"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 refused, 0 lost" in done.stdout
