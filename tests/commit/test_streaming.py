"""Chunks and vectors that come from generators are taken some at a time, and give the file that lists give."""

import numpy as np
import pytest

import ragfile
from ragfile.commit.draft import BATCH

COUNT, DIM = 2 * BATCH + 77, 3


def chunks(count=COUNT):
    return (
        {"doc_id": f"d{i:05d}", "chunk_index": 0, "content": f"word{i % 50} text"}
        for i in range(count)
    )


def vectors(count=COUNT):
    return (np.array([1, i, i * i % 97], np.float32) for i in range(count))


def test_generators_give_the_bytes_of_lists(tmp_path):
    with ragfile.create(tmp_path / "a.ragfile", dim=DIM) as w:
        w.add(chunks(), vectors())
    with ragfile.create(tmp_path / "b.ragfile", dim=DIM) as w:
        w.add(list(chunks()), np.array(list(vectors())))
    assert (tmp_path / "a.ragfile").read_bytes() == (tmp_path / "b.ragfile").read_bytes()


def test_no_more_is_held_than_a_batch(tmp_path):
    """How far a generator was drawn when its first chunk reached the file's staging area."""
    drawn, reached = [], []
    with ragfile.create(tmp_path / "a.ragfile", dim=DIM) as w:
        add = w.draft.add_chunks

        def noted(batch, given):
            reached.append((len(drawn), len(batch)))
            add(batch, given)

        w.draft.add_chunks = noted
        w.add((drawn.append(1) or chunk for chunk in chunks()), vectors())
    assert [size for _, size in reached] == [BATCH, BATCH, 77]
    assert reached[0][0] <= BATCH + 1


def test_an_edit_takes_generators_too(tmp_path):
    path = tmp_path / "a.ragfile"
    with ragfile.create(path, dim=DIM) as w:
        w.add(chunks(10), vectors(10))
    with ragfile.edit(path) as w:
        w.add(
            (
                {"doc_id": f"e{i // 4:05d}", "chunk_index": i % 4, "content": f"more {i}"}
                for i in range(BATCH + 9)
            ),
            vectors(BATCH + 9),
        )
    with ragfile.open(path) as rf:
        assert len(rf) == BATCH + 19
        assert rf.search("more 1032", mode="bm25")[0].id == "e00258#0"


@pytest.mark.parametrize("count", [COUNT - 1, COUNT + 1])
def test_chunks_and_vectors_of_other_numbers_are_refused(tmp_path, count):
    with (
        pytest.raises(ValueError, match="vectors"),
        ragfile.create(tmp_path / "a.ragfile", dim=DIM) as w,
    ):
        w.add(chunks(), vectors(count))
    assert not (tmp_path / "a.ragfile").exists()
