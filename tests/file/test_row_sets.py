"""Filters that a caller can spell: fields of a hit, ids, one for each question, deep values; and what nobody has."""

import warnings

import numpy as np
import pytest

import ragfile
from ragfile.errors import FilterWarning

WORDS = ["alpha", "beta", "gamma", "delta"]


@pytest.fixture(scope="module")
def rf(tmp_path_factory):
    path = tmp_path_factory.mktemp("kb") / "kb"
    with ragfile.create(path, dim=2) as w:
        for i, word in enumerate(WORDS):
            document = ragfile.Document(
                word, f"{word} pods", f"/docs/{word}.md", {"n": i, "lang": "en" if i % 2 else "de"}
            )
            chunks = [ragfile.Chunk(word, j, f"{word} pods {j}") for j in range(2)]
            w.add_document(document, chunks, np.array([[1, i], [1, -i]], np.float32))
    with ragfile.edit(path) as w:
        document = ragfile.Document(
            "own", "own pods", "/docs/own.md", {"source": "a book", "id": 7}
        )
        w.add_document(document, [ragfile.Chunk("own", 0, "own pods")], [[2.0, 0.0]])
    with ragfile.open(path, embedder="none") as opened:
        yield opened


def found(rf, where):
    return sorted(hit.id for hit in rf.search("pods", mode="bm25", where=where))


def test_fields_of_a_hit_are_filters(rf):
    assert found(rf, {"doc_id": "beta"}) == ["beta#0", "beta#1"]
    assert found(rf, {"id": "beta#1"}) == ["beta#1"]
    assert found(rf, {"source": "/docs/gamma.md"}) == ["gamma#0", "gamma#1"]
    assert found(rf, {"doc_id": {"$in": ["own", "alpha"]}, "n": {"$exists": False}}) == ["own#0"]
    assert found(rf, {"source": {"$contains": "docs"}, "id": {"$gt": "gamma"}}) == [
        "gamma#0",
        "gamma#1",
    ]


def test_metadata_of_that_name_come_before_the_field(rf):
    assert found(rf, {"source": "a book"}) == ["own#0"]
    assert found(rf, {"source": "/docs/own.md"}) == []
    assert found(rf, {"id": 7}) == ["own#0"]


def test_a_list_of_ids_names_chunks_and_documents(rf):
    assert found(rf, ["beta", "gamma#1", "nobody", "nobody#3"]) == ["beta#0", "beta#1", "gamma#1"]
    assert found(rf, {"own"}) == ["own#0"]
    assert found(rf, ["nobody"]) == []


def test_every_question_can_have_a_filter_of_its_own(rf):
    wheres = [{"lang": "en"}, None, [0], {"lang": "en"}, ["own"], np.zeros(9, bool)]
    texts, vectors = ["pods", "alpha", "pods", "delta", "pods", "pods"], np.ones((6, 2))
    for mode in ("bm25", "vector", "hybrid"):
        together = rf.search_batch(texts, mode=mode, where=wheres, vectors=vectors)
        alone = [
            rf.search(text, mode=mode, where=where, vector=vector)
            for text, where, vector in zip(texts, wheres, vectors, strict=True)
        ]
        assert together == alone
        assert (
            len(together[1]) > len(together[2]) > len(together[5]) == 0 if mode == "vector" else 1
        )
    for batch, one in ((rf.nearest(vectors, 4, where=wheres), lambda i: rf.nearest(vectors[i], 4, where=wheres[i])),
                       (rf.match(texts, 4, where=wheres), lambda i: rf.match(texts[i], 4, where=wheres[i]))):  # fmt: skip
        for i in range(6):
            rows, scores = one(i)
            assert batch[0][i].tolist() == rows[0].tolist()
            assert batch[1][i].tolist() == scores[0].tolist()


def test_filters_are_as_many_as_questions(rf):
    for ask in (
        lambda: rf.search_batch(["a", "b"], where=[None]),
        lambda: rf.nearest(np.ones((2, 2)), 1, where=[None]),
        lambda: rf.match(["a", "b"], 1, where=[{}, {}, {}]),
    ):
        with pytest.raises(ValueError, match="filters for 2 questions"):
            ask()


def test_what_is_no_filter_is_refused_with_what_is_one(rf):
    for where in ("beta", 3.5, [1.5]):
        with pytest.raises(TypeError, match="a bool for each row, row numbers, or ids"):
            rf.search("pods", where=where)


def test_a_key_that_no_chunk_has_is_told_once(rf):
    with pytest.warns(FilterWarning, match="no chunk has 'lnag' in its metadata"):
        assert found(rf, {"lnag": "en"}) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found(rf, {"lnag": "de"}) == []
        assert found(rf, {"lang": "fr"}) == []
        assert found(rf, {"doc_id": "x", "source": "y", "id": "z"}) == []
        assert rf.search("nothing", mode="keyword") == []
        with pytest.raises(FilterWarning, match="'other'"):
            found(rf, {"$or": [{"lang": "en"}, {"other": 1}]})


def test_values_as_deep_as_can_be_written_can_be_filtered(tmp_path):
    value = "bottom"
    for level in range(250):
        value = [value] if level % 2 else {"k": value}
    with ragfile.create(tmp_path / "kb") as w:
        w.add([ragfile.Chunk("a", 0, "pods", (), {"deep": value}), ragfile.Chunk("b", 0, "pods")])
    with ragfile.open(tmp_path / "kb") as rf:
        assert found(rf, {"deep": {"$exists": True}}) == ["a#0"]
        assert found(rf, {"deep": value}) == ["a#0"]
        assert found(rf, {"deep": 1}) == []
