"""Boosts, least scores, diversity and pages against plain loops over the candidates."""

import datetime
from decimal import Decimal

import numpy as np
import pytest
from oracles.search_cases import DIM, question

MODES = [{}, {"mode": "bm25"}, {"mode": "vector"}, {"fusion": "rrf"}]


def asked(seed):
    text, vector = question(np.random.default_rng(seed))
    return {"query": text, "vector": vector}


def candidates(rf, seed, **options):
    """All that the retrievers propose, in order."""
    return rf.search(**asked(seed), k=len(rf), cache=False, **options)


def plain(hits):
    return [(hit.id, hit.score) for hit in hits]


@pytest.mark.parametrize("options", MODES)
@pytest.mark.parametrize("seed", range(4))
def test_pages_are_cuts_of_one_ranking(asked_file, options, seed):
    pool, k = 20, 7
    whole = asked_file.search(**asked(seed), k=20, pool=pool, cache=False, **options)
    pages = [
        asked_file.search(**asked(seed), k=k, offset=first, pool=pool, cache=False, **options)
        for first in (0, 7, 14)
    ]
    assert plain([hit for page in pages for hit in page])[:20] == plain(whole)
    assert {page.generation for page in pages} == {asked_file.generation}
    assert asked_file.search(**asked(seed), k=k, offset=10_000, pool=pool, **options) == []


@pytest.mark.parametrize("options", MODES)
@pytest.mark.parametrize("seed", range(3))
def test_least_leaves_out_what_scores_less(asked_file, options, seed):
    whole = candidates(asked_file, seed, **options)
    min_score = whole[len(whole) // 2].score
    found = candidates(asked_file, seed, min_score=min_score, **options)
    assert plain(found) == [(i, s) for i, s in plain(whole) if s >= min_score] != []


def gain(metadata, boost):
    value = metadata.get(boost["field"])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    halvings = abs(value - boost["reference"]) / boost["half_life"]
    return boost["weight"] * float(Decimal("0.5") ** Decimal(halvings))


@pytest.mark.parametrize("options", MODES)
@pytest.mark.parametrize("seed", range(3))
def test_a_boost_raises_scores_by_its_formula(asked_file, options, seed):
    boosts = [
        {"field": "year", "weight": 0.5, "reference": 2009, "half_life": 2},
        {"field": "absent", "weight": 9.0, "reference": 0, "half_life": 1},
    ]
    whole = candidates(asked_file, seed, **options)
    expected = [(h.id, h.score + sum(gain(h.metadata, b) for b in boosts)) for h in whole]
    expected = sorted(expected, key=lambda pair: -pair[1])
    found = candidates(asked_file, seed, boost=boosts, **options)
    assert plain(found) == expected
    assert found[:5] == asked_file.search(**asked(seed), k=5, pool=300, boost=boosts, **options)[:5]


def test_dates_are_boosted_by_days(tmp_path):
    import ragfile

    days = ["2026-01-01", "2025-12-22", "2025-12-22T00:00:00+00:00", "not a day", 7]
    with ragfile.create(tmp_path / "kb.ragfile") as w:
        w.add(
            {"doc_id": f"d{i}", "chunk_index": 0, "content": "same words", "metadata": {"day": day}}
            for i, day in enumerate(days)
        )
    boost = {"field": "day", "weight": 1.0, "reference": "2026-01-01", "half_life": 10}
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        before = rf.search("words", mode="bm25")[0].score
        found = rf.search("words", mode="bm25", boost=boost)
    assert {h.doc_id: h.score - before for h in found} == {
        "d0": 1,
        "d1": 0.5,
        "d2": 0.5,
        "d3": 0,
        "d4": 0,
    }
    assert datetime.date.fromisoformat(days[0]).year == 2026


def spread(rf, hits, k, share):
    """Maximal marginal relevance, a place at a time."""
    low, high = min(h.score for h in hits), max(h.score for h in hits)
    units = {
        h.id: h.vector.astype(np.float64) / np.linalg.norm(h.vector.astype(np.float64))
        for h in hits
    }
    chosen = []
    while len(chosen) < min(k, len(hits)):

        def worth(hit):
            relevance = (hit.score - low) / (high - low) if high > low else 1.0
            near = max((float(units[hit.id] @ units[other.id]) for other in chosen), default=0.0)
            return (1 - share) * relevance - share * near

        chosen.append(max((h for h in hits if h not in chosen), key=worth))
    return chosen


@pytest.mark.parametrize("options", MODES)
@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_diversity_is_maximal_marginal_relevance(asked_file, options, share):
    for seed in range(3):
        found = asked_file.search(**asked(seed), k=8, pool=300, diversity=share, **options)
        whole = candidates(asked_file, seed, **options)
        assert plain(found) == plain(spread(asked_file, whole, 8, share))
        assert len(found) == min(8, len(whole))


def test_diversity_keeps_near_copies_apart(asked_file):
    """A third of the rows repeat a vector: the more diversity, the more distinct vectors."""
    counts = []
    for share in (0.0, 0.9):
        hits = asked_file.search(**asked(1), k=20, diversity=share, mode="vector")
        counts.append(len({hit.vector.tobytes() for hit in hits}))
    assert counts[1] > counts[0]
    assert counts[1] == 20


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"offset": -1}, "offset"),
        ({"diversity": 1.5}, "diversity"),
        ({"min_score": float("nan")}, "min_score"),
        ({"boost": {"field": "year"}}, "a boost has"),
        ({"boost": {"field": "y", "weight": 1, "reference": "soon", "half_life": 1}}, "reference"),
        ({"boost": {"field": "y", "weight": 1, "reference": 1, "half_life": 0}}, "half_life"),
        ({"group": -1}, "group"),
        ({"group": 2, "diversity": 0.5}, "group cannot be combined with"),
        ({"group": 2, "mode": "keyword"}, "group cannot be combined with"),
        ({"rewrites": "one"}, "rewrites"),
        ({"rewrites": ["one"], "query_syntax": True}, "rewrites"),
        ({"rewrites": ["one"], "mode": "keyword"}, "rewrites"),
    ],
)
def test_options_that_make_no_sense_are_refused(asked_file, options, said):
    with pytest.raises((ValueError, TypeError), match=said):
        asked_file.search(
            "waa", vector=np.ones(DIM, np.float32) if "rewrites" not in options else None, **options
        )


def test_a_batch_is_refined_as_single_questions_are(asked_file):
    texts = [question(np.random.default_rng(seed))[0] for seed in range(5)]
    options = {
        "offset": 2,
        "min_score": -1.0,
        "diversity": 0.3,
        "boost": {"field": "year", "weight": 1, "reference": 2005, "half_life": 3},
    }
    together = asked_file.search_batch(texts, 6, **options)
    assert [plain(hits) for hits in together] == [
        plain(asked_file.search(t, 6, **options)) for t in texts
    ]
