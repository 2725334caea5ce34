"""Changes of threads that wait together become one commit; each has its own result or error."""

import gc
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import ragfile
from ragfile.adapters.passages import Passage, PassageStore
from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.tools import Tools
from ragfile.write.group_commit import KEPT, CommitLine, GroupCommits

HOLD = """
    import sys
    import ragfile
    with ragfile.edit(sys.argv[1]):
        print("held", flush=True)
        sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path, created=1) as writer:
        writer.add_documents([{"id": "a", "text": "one two three"}])
    return path


@pytest.fixture
def holder(path):
    """A process that writes to the file until its standard input ends."""
    command = [sys.executable, "-c", textwrap.dedent(HOLD), str(path)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.stdin.close()


def put(doc_id):
    return lambda writer: writer.upsert([{"id": doc_id, "text": f"words of {doc_id}"}]) or doc_id


def outcomes(pending):
    """What each change returned or raised, each asked by a thread of its own."""

    def outcome(one):
        try:
            return one.result()
        except Exception as error:  # noqa: BLE001 - compared by the test
            return error

    with ThreadPoolExecutor(len(pending)) as pool:
        return list(pool.map(outcome, pending))


def ids(path):
    with ragfile.open(path) as rf:
        return rf.document_ids()


def test_changes_that_wait_together_are_one_commit_and_each_has_its_result(path):
    commits = GroupCommits()
    pending = [commits.begin(path, put(f"d{i}"), message=f"put d{i}") for i in range(10)]
    assert outcomes(pending) == [f"d{i}" for i in range(10)]
    assert ids(path) == ["a", *(f"d{i}" for i in range(10))]
    log = ragfile.log(path)
    assert [commit["added"] for commit in log] == [10, 1]
    assert log[0]["message"].endswith(" and 9 more")


def test_a_change_that_fails_has_its_own_error_and_leaves_nothing(path):
    def fails(writer):
        writer.upsert([{"id": "half", "text": "not to be seen"}])
        raise ZeroDivisionError("mine")

    commits = GroupCommits()
    given = [put("b"), fails, put("c"), lambda writer: writer.update("none"), put("d")]
    found = outcomes([commits.begin(path, change) for change in given])
    assert [type(one) for one in found] == [str, ZeroDivisionError, str, KeyError, str]
    assert ids(path) == ["a", "b", "c", "d"]


def test_changes_of_one_document_take_effect_in_order(path):
    commits = GroupCommits()
    given = [put("b"), lambda w: w.delete(["b"]), put("b"), lambda w: w.delete(["b", "none"])]
    found = outcomes([commits.begin(path, change) for change in given])
    assert sorted(map(str, found)) == sorted(["b", "['b']", "b", "['b']"])
    assert ids(path) == ["a"]


def test_each_change_waits_as_long_as_its_caller_says(path, holder):
    commits = GroupCommits()
    long = commits.begin(path, put("b"), wait=1e6)
    with ThreadPoolExecutor(1) as pool:
        leader = pool.submit(long.result)
        for wait in (0, 0.05):
            with pytest.raises(ragfile.LockedError, match=f"process {holder.pid}"):
                commits.run(path, put("c"), wait=wait)
        holder.stdin.close()
        assert leader.result() == "b"
    assert ids(path) == ["a", "b"]


def test_the_change_after_one_that_gave_up_is_carried_out(path, holder):
    commits = GroupCommits()
    first, second = commits.begin(path, put("b"), wait=0), commits.begin(path, put("c"))
    with pytest.raises(ragfile.LockedError, match=f"process {holder.pid}"):
        first.result()
    holder.stdin.close()
    assert second.result() == "c"
    assert ids(path) == ["a", "c"]


def test_a_change_within_a_change_is_refused_instead_of_waiting_for_itself(path):
    commits = GroupCommits()
    with pytest.raises(ragfile.LockedError, match="this thread is writing to the file already"):
        commits.run(path, lambda _: commits.run(path, put("b")))
    assert commits.run(path, put("c")) == "c"


def test_an_interrupt_ends_the_thread_that_leads_and_loses_no_other_change_silently(path):
    def interrupted(_):
        raise KeyboardInterrupt

    commits = GroupCommits()
    mine, other = commits.begin(path, interrupted), commits.begin(path, put("b"))
    with pytest.raises(KeyboardInterrupt):
        mine.result()
    with pytest.raises(ragfile.RagfileError, match="was interrupted; try again"):
        other.result()
    assert commits.run(path, put("b")) == "b"


class Joined:
    """Counts the changes that were handed in to `commits`."""

    def __init__(self, commits, count):
        self._begin, self._left = commits.begin, threading.Semaphore(0)
        self._count = count
        commits.begin = self

    def __call__(self, *given, **options):
        pending = self._begin(*given, **options)
        self._left.release()
        return pending

    def wait(self):
        for _ in range(self._count):
            self._left.acquire()


def test_tools_of_many_threads_share_a_commit(path, holder):
    files = Files([str(path)])
    tools, joined = Tools(files, can_write=True), Joined(files.commits, 8)
    with ThreadPoolExecutor(8) as pool:
        calls = [
            pool.submit(tools.call, "put", {"id": f"d{i}", "text": f"memory {i}"}) for i in range(7)
        ]
        calls.append(pool.submit(tools.call, "delete", {"id": "a"}))
        joined.wait()
        holder.stdin.close()
        texts = [call.result()["content"][0]["text"] for call in calls]
    assert texts == [*(f"Stored d{i}, generation 2" for i in range(7)), "Deleted a, generation 2"]
    assert ids(path) == [f"d{i}" for i in range(7)]


def test_stores_of_adapters_lose_no_add_of_any_thread(tmp_path):
    path = tmp_path / "new.ragfile"
    stores = [PassageStore(path), PassageStore(path)]
    with ThreadPoolExecutor(8) as pool:
        for call in [
            pool.submit(stores[i % 2].put, [Passage(f"p{i:02d}", f"text {i}")]) for i in range(40)
        ]:
            call.result()
    assert ids(path) == [f"p{i:02d}" for i in range(40)]


def test_nothing_is_kept_of_files_that_no_thread_writes(tmp_path):
    commits = GroupCommits()
    for i in range(KEPT + 3):
        path = tmp_path / f"{i}.ragfile"
        ragfile.create(path).close()
        assert commits.run(path, put("a")) == "a"
    gc.collect()
    assert not [each for each in gc.get_objects() if isinstance(each, CommitLine)]
