"""The measures equal hand-computed values, and trec_eval's where it is installed."""

import json
import math
import random

import pytest

from ragfile.evaluation.measures import evaluate, ndcg, read_collection, recall, reciprocal_rank


def test_ndcg_equals_values_computed_by_hand():
    judged = {"a": 3, "b": 2, "c": 1}
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    assert ndcg(["a", "b", "c"], judged) == 1.0
    assert ndcg(["x", "a"], judged) == pytest.approx((3 / math.log2(3)) / ideal)
    assert ndcg(["c", "x", "b"], judged) == pytest.approx((1 + 2 / 2) / ideal)
    assert ndcg(["x"] * 10 + ["a"], judged) == 0.0
    assert ndcg([], judged) == 0.0


def test_recall_and_reciprocal_rank_equal_values_computed_by_hand():
    judged = {"a": 1, "b": 2, "no": 0}
    assert recall(["no", "a", "x"], judged) == 0.5
    assert recall(["x", "a", "b"], judged, k=2) == 0.5
    assert reciprocal_rank(["no", "x", "b"], judged) == pytest.approx(1 / 3)
    assert reciprocal_rank(["no"], judged) == 0.0


def test_a_query_without_an_answer_counts_zero_and_one_without_relevant_documents_not_at_all():
    qrels = {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 0}}
    assert evaluate({"1": ["a"]}, qrels) == dict.fromkeys(
        ("ndcg@10", "recall@100", "mrr", "mrr@10", "first"), 0.5
    )
    assert set(evaluate({}, {}).values()) == {0.0}


def test_chunks_of_a_document_count_where_its_best_one_stands():
    assert evaluate({"1": ["x", "x", "a", "x", "a"]}, {"1": {"a": 1}})["mrr"] == 0.5


def test_measures_equal_trec_eval():
    measures = pytest.importorskip("ir_measures", reason="ir-measures is not installed")
    rng = random.Random(5)
    docs = [f"d{i}" for i in range(300)]
    qrels = {f"q{i}": {d: rng.randint(0, 3) for d in rng.sample(docs, 30)} for i in range(20)}
    run = {q: rng.sample(docs, 150) for q in qrels}
    scored = {q: {d: float(1000 - i) for i, d in enumerate(ranked)} for q, ranked in run.items()}
    theirs = measures.calc_aggregate(
        [measures.nDCG @ 10, measures.R @ 100, measures.RR], qrels, scored
    )
    expected = {str(name).lower(): value for name, value in theirs.items()}
    ours = evaluate(run, qrels)
    assert ours["ndcg@10"] == pytest.approx(expected["ndcg@10"], abs=1e-9)
    assert ours["recall@100"] == pytest.approx(expected["r@100"], abs=1e-9)
    assert ours["mrr"] == pytest.approx(expected["rr"], abs=1e-9)


@pytest.fixture
def collection(tmp_path):
    lines = [
        {"_id": "1", "title": "T", "text": "body"},
        {"_id": "2", "title": "T", "text": "T again"},
        {"_id": 3, "text": "x"},
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "one"}\n{"_id": "q2", "text": "unjudged"}\n'
    )
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\t1\t2\nq1\t3\t-1\n"
    )
    return tmp_path


def test_a_collection_in_beir_layout_is_read(collection):
    read = read_collection(collection)
    assert read.queries == {"q1": "one"}
    assert read.qrels == {"q1": {"1": 2, "3": -1}}
    assert [(d.id, d.text) for d in read.documents()] == [
        ("1", "body"),
        ("2", "T again"),
        ("3", "x"),
    ]


def test_a_broken_collection_says_where(collection):
    (collection / "qrels" / "test.tsv").write_text("q1 1 2\nq1\t1\n")
    with pytest.raises(ValueError, match="line 2"):
        read_collection(collection)
    (collection / "qrels" / "test.tsv").write_text("q9\t1\t1\n")
    with pytest.raises(ValueError, match="unknown queries, such as q9"):
        read_collection(collection)
    (collection / "qrels" / "test.tsv").write_text("q1\t1\t1\n")
    (collection / "queries.jsonl").write_text("{oops\n")
    with pytest.raises(ValueError, match=r"queries\.jsonl, line 1"):
        read_collection(collection)
