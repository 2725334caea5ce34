"""Chunks without vectors in a dataset: the answers are those of one file, whatever shards the chunks lie in."""

import json

import numpy as np
import pytest
from shards.collections import QUESTIONS, WORDS, told

import ragfile
from ragfile import dataset
from ragfile.shards import dataset_commit, ray_data
from ragfile.shards.builder import assignment_of, first_manifest
from ragfile.shards.stores import place

DIM = 5


def rows():
    """Chunks, every third one without a vector, and none of the first documents with one."""
    rng = np.random.default_rng(4)
    for i in range(120):
        text = " ".join(rng.choice(WORDS, 6)) if i % 4 else "the same text about a pod"
        vector = None if i < 40 or i % 3 == 0 else rng.standard_normal(DIM).astype(np.float32)
        yield f"d{i // 2:03d}#{i % 2}", text, vector


def made(root, shards):
    """What write_ragfile does, without Ray."""
    found, store = list(rows()), place(root)
    ids = sorted({name.rpartition("#")[0] for name, _, _ in found})
    assignment, slot = assignment_of([(name, 1) for name in ids], shards, "range")
    built = []
    for number in range(shards):
        part = [r for r in found if slot(r[0].rpartition("#")[0]) == number]
        batch = {
            "node_id": [name for name, _, _ in part], "text": [text for _, text, _ in part],
            "metadata_": [json.dumps({"n": number})] * len(part),
            "doc_id": [name.rpartition("#")[0] for name, _, _ in part],
            "embedding": [vector for _, _, vector in part],
        }  # fmt: skip
        built.append(ray_data._written(store, batch, {"embedder": None, "created": 0, "dim": DIM}))
    assert dataset_commit.publish(store, first_manifest(store, built, assignment, 0, ""))


@pytest.fixture
def both(tmp_path):
    made(tmp_path / "many", 4)
    with ragfile.create(tmp_path / "one", dim=DIM, created=0) as w:
        chunks = [
            {"doc_id": n.rpartition("#")[0], "chunk_index": int(n[-1]), "content": text}
            for n, text, _ in rows()
        ]
        w.add(chunks, [vector for _, _, vector in rows()])
    return tmp_path / "many", tmp_path / "one"


def check(many, one):
    assert dataset.verify(many)[0] == []
    with ragfile.open(many) as far, ragfile.open(one) as near:
        assert (
            far.vector_mask()[far.live_rows()].tolist()
            == near.vector_mask()[near.live_rows()].tolist()
        )
        rng = np.random.default_rng(2)
        for text in QUESTIONS:
            vector = rng.standard_normal(DIM).astype(np.float32)
            assert far.rows.sample_statistics(vector) == near.rows.sample_statistics(vector)
            for fusion in ("calibrated", "rrf", "blend"):
                asked = {"vector": vector, "k": 12, "fusion": fusion, "cache": False}
                plain = [
                    [(*t[:4], *t[4:6]) for t in told(rf.search(text, **asked))]
                    for rf in (far, near)
                ]
                assert plain[0] == plain[1]
            found = [rf.search(text, vector=vector, mode="vector", k=200) for rf in (far, near)]
            assert [h.id for h in found[0]] == [h.id for h in found[1]]
            assert len(found[0]) == int(near.vector_mask().sum())


def test_a_dataset_answers_as_one_file(both):
    check(*both)


def test_deleting_and_dealing_out_again_keep_it_so(both):
    many, one = both
    gone = [f"d{i:03d}" for i in range(0, 60, 7)]
    dataset.delete(many, gone)
    with ragfile.edit(one) as w:
        w.delete(gone)
    check(many, one)
    dataset.compact(many, shards=3)
    check(many, one)
