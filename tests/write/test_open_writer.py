"""OpenWriter makes the commits that edit() makes, and keeps only what is still true."""

import random
import threading

import numpy as np
import pytest

import ragfile

DIM = 8


def texts(path) -> dict[tuple[str, int], str]:
    """The text of each chunk of a file."""
    with ragfile.open(path) as rf:
        chunks = [rf.chunk(int(row)) for row in rf.live_rows()]
    return {(chunk.doc_id, chunk.chunk_index): chunk.content for chunk in chunks}


def changes(seed: int, count: int) -> list[tuple[list[dict], list[str], bool]]:
    """Random commits: chunks to write, documents to delete, and whether to change the configuration."""
    rng = random.Random(seed)
    found = []
    for number in range(count):
        names = rng.sample(range(40), rng.randint(1, 4))
        chunks = [
            {
                "doc_id": f"d{n:02}",
                "chunk_index": i,
                "content": f"word{rng.randrange(30)} n{number}",
            }
            for n in names
            for i in range(rng.randint(1, 3))
        ]
        found.append((chunks, [f"d{rng.randrange(40):02}"], rng.random() < 0.1))
    return found


def carry_out(writer, number: int, change: tuple[list[dict], list[str], bool]) -> None:
    chunks, gone, sets_keep = change
    written = {chunk["doc_id"] for chunk in chunks}
    writer.delete([name for name in gone if name not in written])
    vectors = np.random.default_rng(number).standard_normal((len(chunks), DIM)).astype(np.float32)
    writer.upsert(chunks, vectors)
    if sets_keep:
        writer.record["keep"] = number + 2


@pytest.mark.parametrize("seed", range(4))
def test_an_open_writer_makes_the_bytes_that_single_edits_make(tmp_path, seed):
    one, other = tmp_path / "one.ragfile", tmp_path / "other.ragfile"
    for path in (one, other):
        ragfile.create(path, dim=DIM, keep="all").close()
    with ragfile.writer(one) as kb:
        for number, change in enumerate(changes(seed, 60)):
            with kb.edit(created=1, message=f"{number}") as w:
                carry_out(w, number, change)
            with ragfile.edit(other, created=1, message=f"{number}") as w:
                carry_out(w, number, change)
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("seed", range(3))
def test_two_open_writers_and_edits_in_between_lose_nothing(tmp_path, seed):
    path, plain = tmp_path / "shared.ragfile", tmp_path / "plain.ragfile"
    for each in (path, plain):
        ragfile.create(each, dim=DIM).close()
    rng = random.Random(seed)
    with ragfile.writer(path) as one, ragfile.writer(path) as two:
        for number, change in enumerate(changes(seed + 10, 80)):
            start = rng.choice([one.edit, two.edit, lambda **o: ragfile.edit(path, **o)])
            with start(created=1) as w:
                carry_out(w, number, change)
            with ragfile.edit(plain, created=1) as w:
                carry_out(w, number, change)
            if rng.random() < 0.05:  # the file is another one from now on
                ragfile.compact(path)
    assert texts(path) == texts(plain)
    assert not ragfile.verify(path)[0]


def test_no_lock_is_held_between_edits(tmp_path):
    path = tmp_path / "kb.ragfile"
    ragfile.create(path, dim=DIM).close()
    with ragfile.writer(path) as kb:
        with kb.edit() as w:
            w.upsert([{"doc_id": "a", "chunk_index": 0, "content": "one"}], [np.ones(DIM)])
        with ragfile.edit(path, wait=0) as w:
            w.upsert([{"doc_id": "b", "chunk_index": 0, "content": "two"}], [np.ones(DIM)])
        with kb.edit() as w:
            assert w.take("b") is not None
            w.delete(["a", "b"])
    assert len(ragfile.open(path)) == 0


def test_a_failed_edit_leaves_nothing_behind(tmp_path):
    path = tmp_path / "kb.ragfile"
    ragfile.create(path, dim=DIM).close()
    with ragfile.writer(path) as kb:
        with pytest.raises(RuntimeError), kb.edit() as w:
            w.upsert([{"doc_id": "a", "chunk_index": 0, "content": "one"}], [np.ones(DIM)])
            raise RuntimeError
        with kb.edit() as w:
            w.upsert([{"doc_id": "b", "chunk_index": 0, "content": "two"}], [np.ones(DIM)])
    assert texts(path) == {("b", 0): "two"}


def test_threads_share_an_open_writer(tmp_path):
    path = tmp_path / "kb.ragfile"
    ragfile.create(path, dim=DIM).close()
    kb = ragfile.writer(path, wait=60)

    def put(thread: int) -> None:
        for number in range(20):
            with kb.edit() as w:
                chunk = {"doc_id": f"{thread}-{number}", "chunk_index": 0, "content": "text"}
                w.upsert([chunk], [np.ones(DIM)])

    threads = [threading.Thread(target=put, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ragfile.open(path)) == 80


def test_the_last_layer_takes_the_changes_of_an_open_writer(tmp_path):
    below, top = tmp_path / "team.ragfile", tmp_path / "mine.ragfile"
    with ragfile.create(below, dim=DIM) as w:
        w.add([{"doc_id": "a", "chunk_index": 0, "content": "theirs"}], [np.ones(DIM)])
    with ragfile.writer([below, top]) as kb:
        for text in ("one", "two"):
            with kb.edit() as w:
                w.upsert([{"doc_id": "a", "chunk_index": 0, "content": text}], [np.ones(DIM)])
    with ragfile.open([below, top]) as rf:
        assert [hit.text for hit in rf.search("two", mode="bm25")] == ["two"]
        assert len(rf) == 1
