"""A file that grows while threads ask it: each call answers from one commit, and a refresh that fails changes nothing."""

import threading

import numpy as np
import pytest

import ragfile
from ragfile.archive import Archive
from ragfile.errors import FormatError


def _chunks(tag, count):
    return [{"doc_id": f"{tag}{i}", "chunk_index": 0, "content": "pods", "metadata": {"of": tag}} for i in range(count)]


def _made(path, tag, count):
    with ragfile.create(path, dim=2) as w:
        w.add(_chunks(tag, count), np.ones((count, 2), np.float32))


def test_a_search_that_a_refresh_overtakes_answers_from_the_commit_that_it_began_with(tmp_path, monkeypatch):
    path = tmp_path / "kb"
    _made(path, "a", 3)
    kb, mask = ragfile.open(path), Archive.mask

    def overtaken(self, *args):
        found = mask(self, *args)
        monkeypatch.setattr(Archive, "mask", mask)
        with ragfile.edit(path) as w:
            w.delete(["a0"])
            w.add(_chunks("b", 5), np.ones((5, 2), np.float32))
        thread = threading.Thread(target=kb.refresh)
        thread.start()
        thread.join()
        return found

    monkeypatch.setattr(Archive, "mask", overtaken)
    hits = kb.search("pods", vector=[1.0, 1.0], where={"of": "a"})
    assert [hit.doc_id for hit in hits] == ["a0", "a1", "a2"]
    assert [hit.doc_id for hit in kb.search("pods", vector=[1.0, 1.0], where={"of": "a"})] == ["a1", "a2"]
    assert len(kb.search("pods", vector=[1.0, 1.0])) == 7


def test_metadata_that_was_read_of_one_file_is_not_that_of_the_next(tmp_path):
    path = tmp_path / "kb"
    _made(path, "a", 1)
    kb = ragfile.open(path)
    rows = kb._segments[0]
    kb.hit(0)
    _made(path, "b", 1)
    assert kb.refresh()
    assert kb._document_fields(rows, 0, rows.records.document(0)) is not None
    assert kb.hit(0).metadata == {"of": "b"}


def test_a_refresh_that_fails_leaves_the_old_commit_open(tmp_path):
    path = tmp_path / "kb"
    _made(path, "a", 3)
    kb = ragfile.open(path)
    (tmp_path / "other").write_bytes(b"RAGFILE\1" + bytes(5000))
    (tmp_path / "other").rename(path)
    for _ in range(2):
        with pytest.raises(FormatError):
            kb.refresh()
        assert len(kb.search("pods", vector=[1.0, 1.0])) == 3


def test_threads_ask_while_the_file_grows(tmp_path):
    path, wrong, over = tmp_path / "kb", [], threading.Event()
    _made(path, "a", 50)
    kb = ragfile.open(path)

    def ask():
        try:
            while not over.is_set():
                hits = kb.search("pods", 10, mode="bm25", where={"of": "a"}, cache=False)
                assert [hit.metadata for hit in hits] == [{"of": "a"}] * 10
                kb.nearest([1.0, 0.0], 3, where={"of": "a"})
        except BaseException as error:  # noqa: BLE001 - told by the main thread
            wrong.append(error)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for n in range(12):
        with ragfile.edit(path) as w:
            w.add(_chunks(f"b{n}-", 9), np.ones((9, 2), np.float32))
        if n % 5 == 4:
            ragfile.compact(path)
        kb.refresh()
    over.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_older_generation_stays_what_it_is_whatever_becomes_of_the_file(tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path) as w:
        w.add_documents([{"id": "d", "text": "first"}])
    with ragfile.edit(path) as w:
        w.upsert([{"id": "d", "text": "second"}])
    with ragfile.open(path, generation=1) as rf:
        for change in (lambda: ragfile.edit(path).close(), lambda: ragfile.compact(path)):
            change()
            assert rf.refresh() is False
            assert rf.document("d").text == "first"
