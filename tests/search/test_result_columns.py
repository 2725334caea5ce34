"""The answers to a batch as arrays say what its hits say."""

import numpy as np
import pytest
from oracles.search_cases import question

import ragfile


def texts(seed, count=8):
    rng = np.random.default_rng(seed)
    return [question(rng)[0] for _ in range(count)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "bm25"},
        {"mode": "vector"},
        {"mode": "keyword"},
        {"fusion": "rrf"},
        {"drop_repeats": True},
    ],
)
@pytest.mark.parametrize("k", [0, 1, 9])
def test_columns_are_the_hits(asked_file, options, k):
    asked = [*texts(1), "d001#1", ""]
    hits = asked_file.search_batch(asked, k, **options)
    found = asked_file.search_batch(asked, k, columns=True, **options)
    assert (found.rows.dtype, found.scores.dtype) == (np.int64, np.float64)
    assert len(found) == len(asked)
    for i, answer in enumerate(hits):
        count = len(answer)
        assert found.rows[i, :count].tolist() == [asked_file.row(hit.id) for hit in answer]
        assert found.scores[i, :count].tolist() == [hit.score for hit in answer]
        for at, hit in enumerate(answer):
            assert hit.scores == {
                n: part[i, at] for n, part in found.parts.items() if n in hit.scores
            }
        assert (found.rows[i, count:] == -1).all()
        assert (found.scores[i, count:] == -np.inf).all()
        assert all(np.isnan(part[i, count:]).all() for part in found.parts.values())
        assert found.ids[i] == [hit.id for hit in answer]
        assert list(found.hits(i)) == list(answer)
        assert {hit.score_type for hit in answer} <= {found.score_type}


def test_filters_for_each_question_come_in_their_places(asked_file):
    asked, wheres = texts(2), [{"lang": "en"}, None, {"year": 2003}, {"lang": "xx"}] * 2
    hits = asked_file.search_batch(asked, 5, where=wheres)
    found = asked_file.search_batch(asked, 5, where=wheres, columns=True)
    assert [list(found.hits(i)) for i in range(len(found))] == [list(answer) for answer in hits]


def test_columns_as_an_arrow_table(asked_file):
    pytest.importorskip("pyarrow", reason="pyarrow, which tables are made with, is not installed")
    found = asked_file.search_batch(texts(3), 4, columns=True)
    table = found.to_arrow().to_pylist()
    lines = [
        {"question": i, "rank": rank, "row": asked_file.row(hit.id), "id": hit.id, "score": hit.score, **hit.scores}
        for i in range(len(found))
        for rank, hit in enumerate(found.hits(i), 1)
    ]  # fmt: skip
    assert table == lines


def test_an_empty_file_and_no_questions_have_empty_columns(tmp_path, asked_file):
    with ragfile.create(tmp_path / "empty.ragfile"):
        pass
    with ragfile.open(tmp_path / "empty.ragfile") as rf:
        found = rf.search_batch(["a", "b"], 5, columns=True)
        assert (found.rows.shape, found.ids, len(found.hits(1))) == ((2, 0), [[], []], 0)
    assert asked_file.search_batch([], 5, columns=True).rows.shape[0] == 0
