"""Groups by document against a ranking of all rows of the file."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from oracles import evidence
from oracles.search_cases import DIM, question

from ragfile.search import fusion


def every_score(rf, text, vector, mode, where):
    """{row: score} of all rows that can be found, however deep."""
    mask = rf.rows.mask(where)
    rows = rf.live_rows() if mask is None else np.flatnonzero(mask)
    bm25, near = rf.score(rows, text=text), rf.score(rows, vector=vector)
    if mode == "bm25":
        return {int(r): float(s) for r, s in zip(rows, bm25, strict=True) if s > 0}
    if mode == "vector":
        return {int(r): float(s) for r, s in zip(rows, near, strict=True)}
    mean, deviation = rf.rows.sample_statistics(vector)
    found, scores = fusion.calibrated(rows, bm25, near, mean=mean, deviation=deviation, w=6.0)
    return dict(zip(found.tolist(), scores.tolist(), strict=True))


def key(rf, row):
    doc_id, _, index = rf.hit(row).id.rpartition("#")
    return doc_id.encode(), int(index)


def groups(rf, scores, k, passages, offset=0, share=0.0):
    """[(id, score)]: the passages of the best documents."""
    ranked = sorted(scores, key=lambda row: (-scores[row], key(rf, row)))
    documents, chunks = {}, Counter(rf.hit(row).doc_id for row in rf.live_rows().tolist())
    for row in ranked:
        documents.setdefault(rf.hit(row).doc_id, []).append(row)
    if share:
        weighed = evidence.of_documents(
            [(row, scores[row]) for row in ranked],
            lambda row: rf.hit(row).doc_id,
            chunks.__getitem__,
            share,
        )
        best = sorted(documents, key=lambda name: (-weighed[name], key(rf, documents[name][0])))
        documents = {name: documents[name] for name in best}
    chosen = list(documents.values())[offset : offset + k]
    return [(rf.hit(row).id, scores[row]) for rows in chosen for row in rows[:passages]]


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
@pytest.mark.parametrize("seed", range(4))
def test_groups_are_those_of_the_whole_file(asked_file, mode, seed):
    rng = np.random.default_rng(seed)
    text, vector = question(rng)
    where = {"year": {"$gte": 2004}} if seed % 2 else None
    scores = every_score(asked_file, text, vector, mode, where)
    for k, passages, pool, offset in ((5, 2, 5, 0), (3, 1, 1, 2), (200, 9, 10, 0)):
        found = asked_file.search(
            text, k, vector=vector, mode=mode, where=where, group=passages, pool=pool, offset=offset,
            fusion=("calibrated", {"w": 6.0}),
        )  # fmt: skip
        share = 0.05 if mode == "hybrid" else 0.0
        expected = groups(asked_file, scores, k, passages, offset, share)
        assert [hit.id for hit in found] == [one for one, _ in expected]
        assert [hit.score for hit in found] == pytest.approx([s for _, s in expected], rel=1e-12)


@pytest.mark.parametrize("method", ["rrf", "blend"])
def test_fusions_of_a_pool_have_the_groups_of_their_pool(asked_file, method):
    text, vector = question(np.random.default_rng(9))
    pool = asked_file.search(text, 80, vector=vector, fusion=method, pool=40, cache=False)
    found = asked_file.search(text, 4, vector=vector, fusion=method, pool=40, group=2)
    wide = {}
    for hit in pool:
        wide.setdefault(hit.doc_id, []).append(hit.id)
    assert [h.doc_id for h in found] == [
        h.doc_id
        for h in sorted(
            found, key=lambda h: list(dict.fromkeys(x.doc_id for x in found)).index(h.doc_id)
        )
    ]
    assert len({h.doc_id for h in found}) == 4
    assert max(sum(h.doc_id == d for h in found) for d in {h.doc_id for h in found}) <= 2


def test_the_hits_of_a_group_stand_together(asked_file):
    hits = asked_file.search("waa wab", 6, group=3, vector=np.ones(DIM, np.float32))
    documents = [hit.doc_id for hit in hits]
    assert len(set(documents)) == 6
    assert sum(a != b for a, b in pairwise(documents)) == 5
    assert [[h.doc_id for h in part] for part in hits.groups()] == [
        [d] * documents.count(d) for d in dict.fromkeys(documents)
    ]
