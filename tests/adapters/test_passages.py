"""The store that adapters stand on, by itself: no framework is needed."""

import numpy as np
import pytest

import ragfile
from ragfile.adapters.passages import Passage, PassageStore


@pytest.fixture
def store(tmp_path):
    return PassageStore(tmp_path / "kb.ragfile")


def test_a_store_without_a_file_answers_nothing_and_makes_none(store, tmp_path):
    assert (len(store), store.get(["a"]), store.delete(["a"])) == (0, [], [])
    assert store.search("keys", 3, mode="bm25") == []
    store.put([])
    assert list(tmp_path.iterdir()) == []


def test_the_last_of_equal_ids_counts_and_replaces_what_was_there(store):
    store.put([Passage("a", "old"), Passage("b", "stays"), Passage("a", "new", {"n": 1})])
    store.put([Passage("b", "changed")])
    found = [(p.id, p.text, p.metadata) for p in store.get(["b", "nosuch", "a"])]
    assert found == [("b", "changed", {}), ("a", "new", {"n": 1})]
    assert [hit.doc_id for hit in store.search("new", 3, mode="bm25")] == ["a"]
    assert (store.delete(["a", "nosuch"]), len(store)) == (["a"], 1)


def test_vectors_that_do_not_fit_write_nothing(store):
    store.put([Passage("a", "text")], [np.ones(3)])
    for passages, vectors in (
        ([Passage("b", "x")], []),
        ([Passage("b", "x"), Passage("c", "y")], [np.ones(3), np.ones(4)]),
    ):
        with pytest.raises(ValueError, match="need as many vectors, all of one dimension"):
            store.put(passages, vectors)
    assert (len(store), store.get(["b"])) == (1, [])


def test_a_file_of_pairs_is_not_a_store(tmp_path):
    ragfile.write_pairs(tmp_path / "kb.ragfile", [("alpha", "first")])
    store = PassageStore(tmp_path / "kb.ragfile")
    with pytest.raises(ValueError, match=r"a store needs a .ragfile of format 1.0"):
        len(store)


def test_a_closed_store_opens_its_file_again(store):
    store.put([Passage("a", "text")])
    assert len(store) == 1
    store.close()
    store.close()
    assert len(store) == 1
