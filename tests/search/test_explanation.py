"""Every number of an explanation against the searches that it explains."""

import json
import math

import numpy as np
import pytest
from oracles.search_cases import question

import ragfile


@pytest.mark.parametrize("seed", range(5))
def test_contributions_sum_to_the_score_to_the_bit(asked_file, seed):
    text, vector = question(np.random.default_rng(seed))
    text += " " + text.split()[0]
    for row in asked_file.live_rows()[::37].tolist():
        found = asked_file.explain(text, row, vector=vector)
        total = 0.0
        for share in found.terms:
            total += share.contribution
        assert (
            np.float32(total)
            == np.float32(found.scores["bm25"])
            == asked_file.score([row], text=text)[0]
        )
        words = asked_file.hit(row).text.split()
        assert {t.term: t.tf for t in found.terms} == {
            t: words.count(t) for t in dict.fromkeys(text.split())
        }
        assert found.length == len(words)


@pytest.mark.parametrize("seed", range(4))
def test_places_are_those_of_the_searches(asked_file, seed):
    text, vector = question(np.random.default_rng(seed))
    hits = asked_file.search(text, 60, vector=vector, cache=False)
    words = asked_file.search(text, len(asked_file), mode="bm25")
    near = asked_file.search(text, len(asked_file), mode="vector", vector=vector)
    for place in (0, 5, len(hits) - 1):
        found = asked_file.explain(text, hits[place].id, 60, vector=vector)
        assert (found.rank, found.score, found.score_type) == (
            place + 1,
            hits[place].score,
            "calibrated",
        )
        assert found.scores == hits[place].scores
        ids = {"bm25": [h.id for h in words], "vector": [h.id for h in near]}
        for name, listed in ids.items():
            expected = listed.index(found.id) + 1 if found.id in listed else None
            assert found.ranks[name] == expected
        scale = found.scale
        z = (found.scores["vector"] - scale["mean"]) / scale["deviation"] / scale["weight"]
        share = found.scores["bm25"] / scale["best"] if scale["best"] else 0.0
        whole = share + z + scale.get("evidence", 0.0)
        assert math.isclose(whole, found.score, rel_tol=1e-9, abs_tol=1e-9)
        json.dumps(found.to_dict())
        assert found.id in str(found)


def test_what_leaves_a_row_out_is_named(asked_file):
    row = int(asked_file.live_rows()[3])
    year = asked_file.hit(row).metadata["year"]
    where = {"year": {"$gt": year}, "lang": {"$exists": True}}
    found = asked_file.explain("waa", row, where=where, tags_all=["absent"])
    assert (found.excluded_by, found.rank) == (["where: year", "tags_all"], None)
    assert asked_file.explain("waa", row, where=[row]).excluded_by == []
    assert asked_file.explain("waa", row, where=[row + 1]).excluded_by == ["where"]


def test_one_retriever_is_explained_alone(asked_file):
    hits = asked_file.search("waa wab", 5, mode="bm25")
    found = asked_file.explain("waa wab", hits[2].id, mode="bm25")
    assert (found.rank, list(found.scores), found.scale) == (3, ["bm25"], {})
    with pytest.raises(KeyError, match="no chunk"):
        asked_file.explain("waa", "nobody#0")
    with pytest.raises(ValueError, match="keyword"):
        asked_file.explain("waa", 0, mode="keyword")


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
@pytest.mark.parametrize("dim", [8, 70, 256])
def test_scores_lie_within_the_bounds_of_the_shadow(tmp_path, metric, dim):
    draw = np.random.default_rng(dim)
    vectors = draw.standard_normal((400, dim)) @ np.diag(np.geomspace(1, 0.01, dim))
    vectors *= 10.0 ** draw.integers(-3, 4, size=(400, 1))
    vectors[0], vectors[1], vectors[2] = 0, vectors[5], 1e-30
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path, dim=dim, metric=metric) as writer:
        chunks = [{"doc_id": f"d{n:03}", "chunk_index": 0, "content": "x"} for n in range(400)]
        writer.add(chunks, vectors.astype(np.float32))
    with ragfile.open(path) as rf:
        (segment,) = rf.rows.segments
        rows, widths = np.arange(400), []
        for query in (*vectors[3:9], draw.standard_normal(dim), np.zeros(dim)):
            query = query.astype(np.float32)
            bounds, scores = segment.matrix.bounds(rows, query), rf.score(rows, vector=query)
            assert (bounds[:, 0] <= scores).all()
            assert (scores <= bounds[:, 1]).all()
            widths.append(bounds[:, 1] - bounds[:, 0])
        if metric == "cosine":
            assert np.median(widths[0]) < 0.05  # bounds that say something
        hit = rf.search("", 1, mode="vector", vector=vectors[7])[0]
        why = rf.explain("x", hit.id, mode="vector", vector=vectors[7])
        assert why.bounds[0] <= why.score <= why.bounds[1]
        assert "bounds" in str(why)
        with pytest.raises(ValueError, match="no such row"):
            segment.matrix.bounds([400], vectors[7])
        with pytest.raises(ValueError, match="bounds takes one query"):
            segment.matrix.bounds([1], vectors[:2])


def test_rows_without_a_shadow_have_no_bounds(tmp_path):
    with ragfile.create(tmp_path / "kb.ragfile", embedder="none") as writer:
        writer.add([{"doc_id": "d", "chunk_index": 0, "content": "words"}])
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert rf.explain("words", 0).bounds is None
