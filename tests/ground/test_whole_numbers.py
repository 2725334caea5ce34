"""Rows, counts and sizes are whole numbers: 1.5 is not row 1, and -1 is not the last one."""

import numpy as np
import pytest

import ragfile
from ragfile.ground.whole_numbers import whole


@pytest.fixture(scope="module")
def rf(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "kb"
    with ragfile.create(path, embedder="default") as w:
        w.add_documents(
            {"id": f"d{i}", "text": f"Pods are number {i}. Nodes too."} for i in range(9)
        )
    with ragfile.open(path) as rf:
        yield rf


CALLS = {
    "hit": lambda rf, n: rf.hit(n),
    "chunk": lambda rf, n: rf.chunk(n),
    "vector": lambda rf, n: rf.vector(n),
    "vectors": lambda rf, n: rf.vectors(n),
    "explain": lambda rf, n: rf.explain("pods", n),
    "highlights": lambda rf, n: rf.highlights("pods", n),
    "excerpt": lambda rf, n: rf.excerpt("pods", n),
    "excerpt size": lambda rf, n: rf.excerpt("pods", 0, n),
    "context before": lambda rf, n: rf.context("d1#0", before=n),
    "context after": lambda rf, n: rf.context("d1#0", after=n),
    "similar_to": lambda rf, n: rf.search("pods", similar_to=n),
    "nearest": lambda rf, n: rf.nearest(rf.vector(0), n),
    "match": lambda rf, n: rf.match("pods", n),
    "match threads": lambda rf, n: rf.match("pods", threads=n),
    "nearest threads": lambda rf, n: rf.nearest(rf.vector(0), threads=n),
    "search k": lambda rf, n: rf.search("pods", n),
    "search threads": lambda rf, n: rf.search("pods", threads=n, cache=False),
    "generation": lambda rf, n: ragfile.open(rf.path, generation=n),
    "score": lambda rf, n: rf.score([n], text="pods"),
}


@pytest.mark.parametrize("number", [1.5, 1.0, np.float64(1), float("nan"), "1", [1], 1j, object()])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_not_a_whole_number_is_refused(rf, call, number):
    if call is CALLS["explain"] and number == "1":
        pytest.skip("explain takes an id, too")
    if call is CALLS["similar_to"] and number == "1":
        pytest.skip("similar_to takes an id, too")
    with pytest.raises(TypeError):
        call(rf, number)


@pytest.mark.parametrize("number", [-1, -(2**70)])
@pytest.mark.parametrize("call", [c for n, c in CALLS.items() if n != "score"])
def test_negative_numbers_are_refused(rf, call, number):
    with pytest.raises((IndexError, ValueError)):
        call(rf, number)


@pytest.mark.parametrize("number", [9, 2**31, 2**63, 2**70, np.uint64(2**63)])
@pytest.mark.parametrize(
    "name", ["hit", "chunk", "vector", "vectors", "explain", "highlights", "excerpt", "similar_to"]
)
def test_rows_after_the_last_are_refused(rf, name, number):
    with pytest.raises(IndexError):
        CALLS[name](rf, number)


def test_integers_of_numpy_are_whole_numbers(rf):
    assert rf.hit(np.int64(1)).id == rf.hit(np.uint8(1)).id == rf.hit(1).id
    assert whole(np.int32(5), "k") == 5


def test_tags_and_models_of_another_type_are_refused(rf):
    for tags in ([1], [None], [["a"]], [1.5], b"a"):
        with pytest.raises(TypeError, match="tags must be a list of strings"):
            rf.search("pods", tags_any=tags)
    for model in (5, 1.5, object(), ["x"]):
        with pytest.raises(TypeError, match="rerank is the name of a model"):
            rf.search("pods", rerank=model)
    for text in (b"pods", (), ["pods"], 5):
        with pytest.raises(TypeError, match="text is a str"):
            rf.score([0], text=text)
