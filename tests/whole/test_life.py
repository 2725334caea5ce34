"""Real operations — edits, deletions, syncs, compactions — on real files: killed, crashed, starved, and read meanwhile."""

import asyncio
import concurrent.futures
import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from crash import interrupts, kill_life, life, replay, script_life
from places import TESTS

import ragfile

HERE = TESTS / "crash"
linux = pytest.mark.skipif(sys.platform != "linux", reason="preloaded by the Linux dynamic linker")


def test_the_lives_of_these_tests_have_commits_of_every_shape(tmp_path):
    command = [sys.executable, HERE / "life.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        "rag.deleted", "rag.merged", "rag.parity.step", "rag.past", "rag.sections",
    ]  # fmt: skip


@pytest.mark.parametrize("rounds", [3, pytest.param(12, marks=pytest.mark.stress)])
def test_killed_writers_lose_no_commit_and_leave_nothing_beside_the_file(tmp_path, rounds):
    known, told, looks = kill_life.kill_rounds(str(tmp_path), rounds, seed=3, at_least=1)
    assert known >= rounds
    assert looks > rounds
    assert all(reads > 0 for reads, _, _ in told)


@pytest.mark.parametrize(
    ("readers", "rounds"), [(4, 1), pytest.param(8, 3, marks=pytest.mark.stress)]
)
def test_many_readers_see_whole_commits_while_writers_are_killed(tmp_path, readers, rounds):
    known, told, _ = kill_life.kill_rounds(str(tmp_path), rounds, 4, readers=readers, at_least=5)
    assert known >= 5 * rounds
    assert len(told) == readers
    assert all(reads > 0 for reads, _, _ in told)


@pytest.mark.parametrize("rounds", [20, pytest.param(200, marks=pytest.mark.stress)])
def test_interrupts_anywhere_lose_no_commit_and_leave_neither_lock_nor_file(tmp_path, rounds):
    hits, known = interrupts.interrupt_rounds(tmp_path, rounds, 1)
    assert hits > rounds // 6
    assert known > rounds // 20
    assert interrupts.interrupt_builds(tmp_path, rounds // 10, 2) <= rounds // 10


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_writers_that_are_told_to_end_lose_no_commit(tmp_path, how):
    assert interrupts.terminate_rounds(tmp_path, 4, 3, how) >= 0


@pytest.fixture(scope="module")
def operations(tmp_path_factory):
    return replay.record(tmp_path_factory.mktemp("life"), "script_life.py")


def checked(folder):
    """A check of what a crash left, by everything that a reader can be told."""
    path = Path(folder) / "left"

    def check(left, committed, coming, states):
        data = left.get(replay.NAME)
        if data is None:
            assert committed == 0, "the file is gone"
            return
        path.write_bytes(data)
        found = script_life.fingerprint(path)
        assert found in (states.get(committed), states.get(coming)), (
            f"neither state {committed} nor {coming}"
        )

    return check


def edited_again(left, folder):
    """The next edit and compaction after a crash."""
    if replay.NAME not in left:
        return
    path = Path(folder) / replay.NAME
    path.write_bytes(left[replay.NAME])
    with ragfile.edit(path, embedder=life.Letters()) as w:
        w.upsert([life.edited("edit99", "fed after the crash")])
    ragfile.compact(path)
    assert ragfile.verify(path)[0] == []
    with ragfile.open(path) as rf:
        assert rf.document("edit99").text == "fed after the crash"


@linux
def test_power_cuts_during_edits_syncs_and_compactions_leave_a_whole_state(operations, tmp_path):
    cases = int(os.environ.get("CASES", "1"))
    done = replay.replay(
        operations, cases, 5, tmp_path, check=checked(tmp_path), go_on=edited_again
    )
    assert done == cases * len(operations)


@linux
def test_every_failing_call_is_told_and_loses_nothing(tmp_path):
    library = tmp_path / "faults.so"
    subprocess.run(
        [
            os.environ.get("CC", "cc"),
            "-shared",
            "-fPIC",
            "-O1",
            HERE / "faults.c",
            "-o",
            library,
            "-ldl",
        ],
        check=True,
    )
    (tmp_path / "work").mkdir()
    preload = ":".join(filter(None, [os.environ.get("LD_PRELOAD"), str(library)]))
    done = subprocess.run(
        [sys.executable, HERE / "faults_life.py", tmp_path / "work", "1"],
        env={**os.environ, "LD_PRELOAD": preload},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > 50


def in_child(work):
    """Runs work in a forked child; what it raised is its exit code."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:  # noqa: BLE001 - a child has nobody to raise to
            os.write(2, repr(error).encode())
            os._exit(1)
    return os.waitpid(child, 0)[1]


def test_file_size_limit_at_any_byte_leaves_the_last_commit(tmp_path):
    path = tmp_path / "kb"
    life.make(path)
    before, size = path.read_bytes(), path.stat().st_size

    def edit():
        life.commit(path, 1, tmp_path / "sources")

    life.commit(path, 1, tmp_path / "sources")
    whole = path.stat().st_size

    def limited(limit):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        with pytest.raises(OSError, match="File too large"):
            edit()

    for limit in [*range(size, whole, 997), *range(whole - 64, whole, 7), whole - 1]:
        path.write_bytes(before)
        assert in_child(lambda limit=limit: limited(limit)) == 0
        with ragfile.open(path, strict=True) as rf:
            assert rf.document(life.SERIAL).text == "0"
        edit()
        assert life.number_of(path) == 1


def test_read_only_folder_is_named_in_the_error(tmp_path):
    folder = tmp_path / "kb"
    folder.mkdir()
    path = folder / "a.ragfile"
    life.make(path)
    for opened in (tmp_path, *tmp_path.parents):
        if opened.stat().st_uid == os.geteuid() and opened != Path(tempfile.gettempdir()):
            opened.chmod(opened.stat().st_mode | 0o711)
    path.chmod(0o444)
    folder.chmod(0o555)

    def refused():
        if os.geteuid() == 0:
            os.setuid(65534)
        assert ragfile.open(path).document(life.SERIAL).text == "0"
        for change in (ragfile.edit, ragfile.compact, lambda p: ragfile.create(folder / "other")):
            with pytest.raises(PermissionError, match=r"Permission denied.*kb"):
                change(path)

    assert in_child(refused) == 0
    folder.chmod(0o755)
    assert life.number_of(path) == 0


# ------------------------------------------------------------------------------------------------- readers in processes --


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Several segments and deleted rows."""
    folder = tmp_path_factory.mktemp("kb")
    life.make(folder / "kb")
    for number in range(1, 8):
        life.commit(folder / "kb", number, folder / "sources")
    return folder / "kb"


def test_forked_children_ask_the_reader_of_their_parent(path):
    rf = ragfile.open(path, embedder=life.Letters())
    expected = life.asked(rf)

    def same():
        assert life.asked(rf) == expected

    assert [in_child(same) for _ in range(8)] == [0] * 8
    assert life.asked(rf) == expected


def test_children_forked_while_threads_are_inside_a_reader_answer(path):
    """A thread holds the lock of the reader, others open and close files: in a child none of them is there to let go."""
    rf, stop = ragfile.open(path, embedder=life.Letters()), threading.Event()
    expected = life.asked(rf)

    def hold():
        with rf._current.swap:
            stop.wait()

    def reopen():
        while not stop.is_set():
            ragfile.open(path).close()

    def same():
        signal.alarm(60)  # ends a child that waits for ever
        assert life.asked(rf) == expected == life.asked_of_path(path)

    threads = [threading.Thread(target=each) for each in (hold, reopen, reopen)]
    for thread in threads:
        thread.start()
    try:
        codes = [in_child(same) for _ in range(16)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert codes == [0] * 16
    assert life.asked(rf) == expected


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_pickled_readers_answer_in_fresh_processes(path, method):
    rf = ragfile.open(path, embedder=life.Letters())
    assert life.asked(pickle.loads(pickle.dumps(rf))) == life.asked(rf)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(life.asked, [rf] * 4) == [life.asked(rf)] * 4
        assert pool.map(life.asked_of_path, [path] * 2) == [life.asked(rf)] * 2


def test_threads_share_a_reader_while_the_file_is_edited_and_compacted(path, tmp_path):
    copy = tmp_path / "kb"
    copy.write_bytes(path.read_bytes())
    rf = ragfile.open(copy, embedder=life.Letters())
    expected = life.asked(rf)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(life.asked, rf) for _ in range(64)]
        life.commit(copy, 8, tmp_path / "sources")
        ragfile.compact(copy)
        assert all(one.result() == expected for one in waiting)
    assert rf.refresh()
    assert life.asked(rf) == life.asked_of_path(copy)


def test_to_thread_answers_beside_an_event_loop(path):
    rf = ragfile.open(path, embedder=life.Letters())

    async def many():
        return await asyncio.gather(*(asyncio.to_thread(life.asked, rf) for _ in range(16)))

    assert asyncio.run(many()) == [life.asked(rf)] * 16


def test_data_loader_workers_ask_the_reader(path):
    data = pytest.importorskip("torch.utils.data", reason="torch is not installed")

    class Questions(data.Dataset):
        def __init__(self):
            self.rf = ragfile.open(path, embedder=life.Letters())

        def __len__(self):
            return 8

        def __getitem__(self, i):
            return len(life.asked(self.rf)) + 0 * i

    assert [n.item() for n in data.DataLoader(Questions(), num_workers=2, batch_size=1)] == [
        len(life.asked(ragfile.open(path, embedder=life.Letters())))
    ] * 8


def test_another_process_sees_a_commit_at_its_next_refresh(path, tmp_path):
    copy = tmp_path / "kb"
    copy.write_bytes(path.read_bytes())
    code = (
        f"import ragfile; rf = ragfile.open({str(copy)!r}); print(rf.refresh(), flush=True); input();"
        "print(rf.refresh(), rf.document('late').text, flush=True); input(); print(rf.refresh(), rf.generation, flush=True)"
    )
    reader = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert reader.stdout.readline() == "False\n"
    with ragfile.edit(copy, embedder=life.Letters()) as w:
        w.upsert([life.edited("late", "fed")])
    reader.stdin.write("\n")
    reader.stdin.flush()
    assert reader.stdout.readline() == "True fed\n"
    ragfile.compact(copy)
    assert reader.communicate("\n")[0] == "True 9\n"
