"""Several wordings, and passages like one that is there."""

import numpy as np
import pytest
from oracles.search_cases import question

from ragfile.search import fusion


def texts(seed, count=3):
    rng = np.random.default_rng(seed)
    return [question(rng)[0] for _ in range(count)]


def ranks_fused(rf, asked, pool, **options):
    """{id: score}: the sum of 1 / (60 + rank) over the answers to all wordings."""
    scores = {}
    for text in asked:
        hits = rf.search(text, pool, pool=pool, cache=False, **options)
        for rank, hit in enumerate(hits, 1):
            scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (fusion.RRF_K + rank)
    return scores


@pytest.mark.parametrize("options", [{}, {"mode": "bm25"}, {"mode": "vector"}])
@pytest.mark.parametrize("seed", range(3))
def test_wordings_are_fused_by_ranks(asked_file, options, seed):
    asked = texts(seed)
    scores = ranks_fused(asked_file, asked, 30, **options)
    found = asked_file.search(asked[0], 9, pool=30, rewrites=asked[1:], **options)
    again = asked_file.search(asked[0], 9, pool=30, rewrites=lambda _: iter(asked[1:]), **options)
    assert found == again
    assert [h.score for h in found] == sorted(scores.values(), reverse=True)[:9]
    for hit in found:
        assert hit.score == scores[hit.id]
        row = [asked_file.row(hit.id)]
        if "bm25" in hit.scores:
            assert hit.scores["bm25"] == asked_file.score(row, text=asked[0])[0]
    assert found.generation == asked_file.generation


def test_no_variants_is_the_question_alone(asked_file):
    assert asked_file.search("waa wab", rewrites=[]) == asked_file.search("waa wab", cache=False)


def test_vectors_of_several_wordings_are_given_together(asked_file):
    asked, rng = texts(4), np.random.default_rng(4)
    vectors = rng.standard_normal((3, asked_file.rows.dim)).astype(np.float32)
    found = asked_file.search(
        asked[0], 5, rewrites=asked[1:], vector=vectors, mode="vector", pool=5
    )
    parts = [
        asked_file.search(t, 5, vector=v, mode="vector", pool=5)
        for t, v in zip(asked, vectors, strict=True)
    ]
    assert {h.id for h in found} <= {h.id for part in parts for h in part}
    with pytest.raises(ValueError, match="vector each"):
        asked_file.search(asked[0], rewrites=asked[1:], vector=vectors[:2])


@pytest.mark.parametrize("mode", ["hybrid", "vector", "bm25"])
def test_passages_like_one_are_those_of_its_text_and_vector(asked_file, mode):
    for row in asked_file.live_rows()[[0, 17, 101]].tolist():
        hit = asked_file.hit(row)
        found = asked_file.search("", similar_to=hit.id, k=6, mode=mode)
        assert found == asked_file.search("", similar_to=row, k=6, mode=mode)
        mask = np.ones(asked_file.rows.count, bool)
        mask[row] = False
        expected = asked_file.search(
            hit.text, 6, vector=asked_file.vector(row), where=mask, mode=mode
        )
        assert found == expected
        assert hit.id not in [h.id for h in found]


def test_what_is_like_nothing_is_refused(asked_file):
    with pytest.raises(KeyError, match="no chunk"):
        asked_file.search("", similar_to="nobody#0")
    with pytest.raises(IndexError):
        asked_file.search("", similar_to=10**9)
