"""A file that is open with trusted keys and changed in place: no answer has bytes that the key did not sign."""

import os
import time

import pytest

import ragfile
from ragfile.file import sealed_file

KEYS = "trusted.key"


@pytest.fixture
def kb(tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path, embedder="none", chunking="words:30/0") as w:
        w.add_documents({"id": f"EV-{i:05d}", "text": f"alpha {i}"} for i in range(300))
    ragfile.new_key(tmp_path / KEYS)
    ragfile.sign(path, tmp_path / KEYS)
    return path


def opened(path, **options):
    return ragfile.open(path, embedder="none", trusted=[path.parent / f"{KEYS}.pub"], **options)


def forge(path, old=b"EV-00007", new=b"EV#FORGD"):
    """Change bytes in place, without a trace in the time of the last write."""
    before = os.stat(path)
    with open(path, "r+b", buffering=0) as file:
        at = file.read().index(old)
        file.seek(at)
        file.write(new)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


CALLS = {
    "search": lambda rf: rf.search("alpha 7", 1, cache=False)[0].id,
    "a kept answer": lambda rf: rf.search("alpha 7", 1)[0].id,
    "search_batch": lambda rf: rf.search_batch(["alpha 7"], 1)[0][0].id,
    "match": lambda rf: rf.match(["alpha 7"]),
    "score": lambda rf: rf.score([0], text="alpha"),
    "hit": lambda rf: rf.hit(7).id,
    "chunk": lambda rf: rf.chunk(7),
    "document": lambda rf: rf.document("EV-00007"),
    "documents": lambda rf: [document.id for document in rf.documents()],
    "document_ids": lambda rf: rf.document_ids(),
    "row": lambda rf: rf.row("EV-00007#0"),
    "context": lambda rf: rf.context("EV-00007#0"),
    "ask": lambda rf: rf.ask("What is alpha 7?").text,
    "explain": lambda rf: rf.explain("alpha", 7),
    "excerpt": lambda rf: rf.excerpt("alpha", 7),
    "arrow": lambda rf: rf.__arrow_c_stream__(),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_after_a_change_raises_changed_error(kb, call):
    with opened(kb) as rf:
        call(rf)
        rf.hit(7).read()
        forge(kb)
        with pytest.raises(ragfile.ChangedError, match="in place"):
            call(rf)


def test_a_hit_that_is_read_after_a_change_raises_changed_error(kb):
    with opened(kb) as rf:
        (hit,) = rf.search("alpha 7", 1)
        rf.hit(7).read()
        forge(kb)
        with pytest.raises(ragfile.ChangedError):
            _ = hit.id


def test_a_change_during_a_call_is_noticed_by_that_call(kb, monkeypatch):
    with opened(kb) as rf:
        rf.hit(7)
        find = type(rf.rows).find

        def slow(rows, doc_id):
            forge(kb)
            return find(rows, doc_id)

        monkeypatch.setattr(type(rf.rows), "find", slow)
        with pytest.raises(ragfile.ChangedError):
            rf.document("EV-00008")


def test_a_file_is_watched_after_its_name_moved_on(kb):
    with opened(kb) as rf:
        rf.hit(7)
        os.rename(kb, f"{kb}.old")
        forge(f"{kb}.old")
        with pytest.raises(ragfile.ChangedError):
            rf.hit(7)


def test_two_changes_in_one_tick_of_the_clock_are_noticed(kb, monkeypatch):
    """The status of a file that was written to a moment ago is not remembered as checked."""
    status = list(os.stat(kb))
    with opened(kb) as rf:
        rf.hit(7)
        monkeypatch.setattr(
            sealed_file.SealedFile, "_status", lambda self: (*status, time.time_ns())
        )
        watched = rf.rows.snapshot.sealed
        watched.note(watched._status())
        assert watched._settled == ()


def test_bytes_that_come_back_and_commits_of_others_disturb_nobody(kb):
    with opened(kb) as rf:
        assert rf.hit(7).id == "EV-00007#0"
        forge(kb)
        forge(kb, b"EV#FORGD", b"EV-00007")
        assert rf.hit(7).id == "EV-00007#0"
        with ragfile.edit(kb) as w:
            w.delete(["EV-00001"])
        assert rf.hit(1).id == "EV-00001#0"
        ragfile.compact(kb)
        assert rf.hit(1).id == "EV-00001#0"


def test_refresh_never_switches_to_forged_bytes(kb):
    with opened(kb) as rf:
        rf.hit(7)
        forge(kb)
        assert not rf.refresh()
        with pytest.raises(ragfile.ChangedError):
            rf.hit(7)


def test_a_truncated_file_is_changed(kb):
    with opened(kb) as rf:
        rf.hit(7)
        os.truncate(kb, os.path.getsize(kb) - 64)
        with pytest.raises(ragfile.ChangedError, match="truncated"):
            rf.hit(7)


def test_a_table_of_contents_that_was_changed_is_noticed(kb):
    with opened(kb) as rf:
        rf.hit(7)
        forge(kb, b"rag.documents", b"rag.documentz")
        with pytest.raises(ragfile.ChangedError):
            rf.hit(7)


def test_descriptors_end_with_their_files(kb):
    before = len(os.listdir("/dev/fd"))
    for _ in range(20):
        with opened(kb) as rf:
            rf.hit(7)
    del rf
    assert len(os.listdir("/dev/fd")) <= before + 1
